"""A random table, written in a random dialect, is read back bit for bit, or refused."""

import csv
import gzip
import io
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sparsebayes.rows.dialect.numerals import decimal_told_by
from sparsebayes.rows.files import open_file
from sparsebayes.rows.table import TableError

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e4, 1e4).map(lambda value: round(value, 3)),
    st.integers(-10_000, 10_000).map(float),
)
DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from([",", ";", "\t", "|", " "]),
        "decimal": st.sampled_from([".", ","]),
        "thousands": st.sampled_from(["", "other", "'", "\u202f"]),
        "encoding": st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
        "ends": st.sampled_from(["\n", "\r\n", "\r"]),
        "header": st.sampled_from(["names", "none", "units", "above", "comment"]),
        "missing": st.sampled_from(["NA", "", "-", "nan"]),
        "quoted": st.booleans(),
        "packed": st.booleans(),
        "trailing": st.booleans(),
    }
)


@st.composite
def tables(draw):
    width = draw(st.integers(2, 4))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=2, max_size=9))
    values = np.array(rows)
    if draw(st.booleans()):  # a cell is missing, not the first
        values[draw(st.integers(1, len(values) - 1)), draw(st.integers(0, width - 1))] = np.nan
    return values


def written(value, how):
    """A number as a person writes it."""
    if math.isnan(value):
        return how["missing"]
    text = repr(value)
    whole, _, fraction = text.partition(".")
    other = "," if how["decimal"] == "." else "."
    mark = other if how["thousands"] == "other" else how["thousands"]
    if mark and whole.lstrip("-").isdecimal() and "e" not in text:
        whole = f"{int(whole):,}".replace(",", mark) if int(whole) else whole
    text = whole + (how["decimal"] + fraction if fraction else "")
    return text


def possible(how):
    """Whether a person would write so at all: no one puts decimal commas between commas."""
    if how["delimiter"] == " " and (how["missing"] == "" or how["thousands"] == "\u202f"):
        return False
    marks = {how["decimal"]}
    if how["thousands"] == "other":
        marks |= {".", ","}
    if how["thousands"] == "\u202f" and how["encoding"] == "cp1252":
        return False
    return how["quoted"] or how["delimiter"] not in marks


def content(values, how):
    names = [
        f"größe {j}" if how["delimiter"] != " " else f"größe{j}" for j in range(values.shape[1])
    ]
    stream = io.StringIO()
    quoting = csv.QUOTE_ALL if how["quoted"] else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=how["delimiter"], lineterminator="\n", quoting=quoting)
    end = [""] if how["trailing"] and how["delimiter"] != " " else []
    if how["header"] == "above":
        stream.write("Logger no 7\n\n")
    if how["header"] == "comment":
        stream.write("# made by hand\n")
    if how["header"] != "none":
        writer.writerow([*names, *end])
    if how["header"] == "units":
        writer.writerow([*["[mV]"] * len(names), *end])
    for row in values:
        writer.writerow([*(written(float(value), how) for value in row), *end])
    text = stream.getvalue().replace("\n", how["ends"])
    raw = text.encode(how["encoding"])
    if how["header"] == "none":
        names = [f"c{j + 1}" for j in range(len(names))]
    return names, gzip.compress(raw) if how["packed"] else raw


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), DIALECTS)
def test_what_is_written_is_read(tmp_path, values, how):
    if not possible(how):
        return
    names, raw = content(values, how)
    path = tmp_path / "d.csv"
    path.write_bytes(raw)
    try:
        file = open_file(path)
        (table,) = file.tables([], None)
        found = table.values(names)
    except TableError as error:
        # Refused only where no number tells the decimal mark, or there are hardly any numbers.
        cells = [written(float(value), how) for value in values.ravel()]
        assert how["decimal"] not in map(decimal_told_by, cells), error
        return
    assert file.header.columns == names
    assert_array_equal(found, values)
    for small in file.tables(names, 2):
        assert small.values(names).shape == (len(small), len(names))
    joined = np.concatenate([part.values(names) for part in file.tables(names, 2)])
    assert_array_equal(joined, values)
