"""Files as laboratories write them: read rightly, or refused in a line that says what to do."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsebayes.rows import CSV
from sparsebayes.rows.dialect import dialect
from sparsebayes.rows.dialect.numerals import Numerals, decimal_told_by, is_missing, unit_of
from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.files import open_file
from sparsebayes.rows.table import TableError
from tests.rows.files_of_laboratories import READ, REFUSED, T, V


def columns_of(file, size=None):
    """All columns: numbers, with NaN where they are missing, or texts."""
    found = {name: [] for name in file.header.columns}
    for table in file.tables([], size):
        for name in found:
            text = name in file.header.text
            found[name] += table.texts(name) if text else table.values([name])[:, 0].tolist()
    return found


def read(folder, content, size=None, **options):
    path = folder / "d.csv"
    path.write_bytes(content)
    file = open_file(path, Reading(**options))
    return columns_of(file, size), file.told


@pytest.mark.sampled
@pytest.mark.parametrize("size", [None, 1, 2])
@pytest.mark.parametrize("name", READ)
def test_files_are_read(tmp_path, name, size):
    content, columns, told = READ[name]
    found, said = read(tmp_path, content, size)
    assert list(found) == list(columns)
    for column, values in columns.items():
        assert_array_equal(found[column], values)  # each number to the last bit
    if told is not ...:
        assert said == (told or said)
        assert told or said in (None, "separated by blanks")


@pytest.mark.sampled
@pytest.mark.parametrize("size", [None, 7])
@pytest.mark.parametrize("name", REFUSED)
def test_files_are_refused(tmp_path, name, size):
    content, options, message = REFUSED[name]
    with pytest.raises(TableError) as caught:
        read(tmp_path, content, size, **options)
    text = str(caught.value)
    assert text.startswith(str(tmp_path / "d.csv")) and "\n" not in text
    assert re.search(message, text), text


@pytest.mark.parametrize(
    ("content", "options", "columns"),
    [
        (b"t;v\n1,234;1\n2,345;2\n", {"decimal": ","}, {"t": [1.234, 2.345], "v": [1, 2]}),
        (b"t;v\n1,234;1\n2,345;2\n", {"decimal": "."}, {"t": [1234, 2345], "v": [1, 2]}),
        (b"t;v\n1.234;1\n2.345;2\n", {"decimal": ","}, {"t": [1234, 2345], "v": [1, 2]}),
        (b"v\n1,5\n2,5\n", {"decimal": ","}, {"v": [1.5, 2.5]}),
        (b"v\n1,5\n2,5\n", {"delimiter": ",", "header": "none"}, {"c1": [1, 2], "c2": [5, 5]}),
        (b"s1,0.1\ns2,0.2\n", {"header": "none"}, {"c1": ["s1", "s2"], "c2": [0.1, 0.2]}),
        (b"s1,0.1\ns2,0.2\n", {"header": 1}, {"s1": ["s2"], "0.1": [0.2]}),
        (b"x\na,b\n3,4\n5,6\n", {"header": 3}, {"3": [5], "4": [6]}),
        (b"# a;b\n3;4\n5;6\n", {"header": 1}, {"a": [3, 5], "b": [4, 6]}),
        (b"a!b\n3!4\n5!6\n", {"delimiter": "!"}, {"a": [3, 5], "b": [4, 6]}),
        (b"a b\tc\n3\t4\n", {"delimiter": "tab"}, {"a b": [3], "c": [4]}),
        (b"a b\n3\t 4\n", {"delimiter": "space"}, {"a": [3], "b": [4]}),
        ("ä,b\n3,4\n".encode("mac-roman"), {"encoding": "mac-roman"}, {"ä": [3], "b": [4]}),
    ],
)
def test_what_is_told_is_not_looked_for(tmp_path, content, options, columns):
    found, _ = read(tmp_path, content, **options)
    assert found == columns


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "ab"}, "delimiter must be one character, such as ';'.*got 'ab'"),
        ({"delimiter": "5"}, "delimiter must be one character"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"encoding": "utf-9"}, "encoding 'utf-9' is not known; utf-8"),
        ({"header": 0}, "header must be the number of a line, 1 or more, or 'none', got 0"),
        ({"header": "first"}, "header must be the number of a line"),
        ({"missing": "keep"}, "missing must be"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, message):
    path = tmp_path / "d.csv"
    path.write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match=message):
        CSV(path, target="y", **options)


@pytest.mark.parametrize("name", ["semicolons, decimal comma", "UTF-16", "gzip", "units below"])
def test_the_same_files_in_chunks(tmp_path, name):
    content, columns, told = READ[name]
    path = tmp_path / "d.csv"
    path.write_bytes(content)
    t, v = columns
    source = CSV(path, target=v, chunk_rows=2)
    assert source.feature_names == [t] and source.told == told
    for _ in range(2):
        X, y = map(np.concatenate, zip(*source, strict=True))
        assert_array_equal(X[:, 0], T)
        assert_array_equal(y, V)


@pytest.mark.parametrize(
    ("cell", "mark"),
    [
        ("1.5", "."), ("0.123", "."), ("1234.567", "."), ("1,234.5", "."), ("1,234,567", "."),
        ("1.234e5", "."), (".5", "."), ("1,5", ","), ("1.234.567", ","), ("1.234,5", ","),
        ("-0,001", ","), ("1.234", "either"), ("-12,345", "either"), ("12", None), ("1 234", None),
        ("1.2.3", None), ("31.12.2024", None), ("12,34,567", None), ("x", None), ("", None),
    ],
)  # fmt: skip
def test_what_a_number_tells_of_the_decimal_mark(cell, mark):
    assert decimal_told_by(cell) == mark


def test_thousands_are_taken_only_where_the_decimal_mark_is_known():
    assert Numerals(".", True).plain("1,234") == "1234"
    assert Numerals(".", False).plain("1,234") is None
    assert Numerals(",", True).plain(" −1 234,5 ") == "-1234.5"
    for cell in ("1,23,456", "1234,567.5", "1'234,567", "01,234.5", "1,,234", ",234"):
        assert Numerals(".", True).plain(cell) is None, cell


def test_signs_of_missing_values_and_units():
    for cell in ("", " ", "NA", "n/a", "#N/A", "NaN", "null"):
        assert is_missing(cell) and is_missing(cell, text=True)
    for cell in ("-", "--", "?", "None"):
        assert is_missing(cell) and not is_missing(cell, text=True)
    assert not is_missing("0") and not is_missing("Na.")
    assert [unit_of(c) for c in ("45%", "3.2 mV", "-4 °C", "5", "x", "1st!")] == [
        "%", "mV", "°C", None, None, None,
    ]  # fmt: skip


def test_a_directory_and_no_file_are_refused(tmp_path):
    with pytest.raises(TableError, match="is a directory; name a file in it"):
        open_file(tmp_path)
    with pytest.raises(TableError, match="no such file"):
        open_file(tmp_path / "none.csv")
    path = tmp_path / "d.parquet"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(TableError, match="a Parquet file says itself how it is written"):
        open_file(path, Reading(decimal=","))
    path = tmp_path / "d.dat"
    path.write_bytes(b"PAR1....")
    with pytest.raises(TableError, match=r"is a Parquet file; let its name end in \.parquet"):
        open_file(path)


def test_a_column_that_is_not_asked_for_may_hold_anything(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("t;v\n1,5;2,5\n" + "1,5;2,5\n" * 2000 + "1,5;2.5\n")
    (table,) = open_file(path).tables(["t"], None)
    assert_array_equal(table.numbers(["t"])[:, 0], 1.5)


def test_fractions_of_a_sheet_stay_fractions(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, book = tmp_path / "d.xlsx", openpyxl.Workbook()
    for row in [["t", "v"], [1.234, "1,5"], [2.345, "2,5"], [3, "3,5"]]:
        book.active.append(row)
    book.save(path)
    with pytest.raises(TableError, match=r"texts with a decimal comma, others fractions; say so"):
        open_file(path)
    found = columns_of(open_file(path, Reading(decimal=",")))
    assert found == {"t": [1.234, 2.345, 3], "v": [1.5, 2.5, 3.5]}


def test_a_line_of_which_the_end_was_not_looked_at_tells_nothing(tmp_path, monkeypatch):
    text = "a;b\n" + "".join(f"{k};{1.5 * k:.1e}\n" for k in range(1, 9))
    path = tmp_path / "d.csv"
    path.write_text(text)
    file, whole = open_file(path), text.split("\n")
    for count in range(text.index("\n3;") + 1, len(text)):
        monkeypatch.setattr(dialect, "_CHARACTERS", count)
        *lines, last = dialect._first_lines(file._bytes, "utf-8")
        assert last == "" and lines == whole[: len(lines)], text[:count]
        assert open_file(path).dialect == file.dialect
