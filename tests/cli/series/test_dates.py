"""Dates in columns of text: each form is read, and written as it was."""

import pandas as pd
import pytest

from sparsebayes.cli.series.dates import all_numbers, read_dates
from sparsebayes.rows.files import open_file
from sparsebayes.rows.table import TableError
from tests.cli.tables import write_csv

MONTHS = pd.date_range("2011-11-01", periods=16, freq="MS")
DAYS = pd.date_range("2012-01-25", periods=20, freq="D")
QUARTERS = pd.date_range("2011-10-01", periods=7, freq="QS")
WEEKS = pd.date_range("2011-12-05", periods=9, freq="W-MON")
NOONS = pd.date_range("2012-01-25 12:30", periods=20, freq="D")


def bare(days, mark="."):
    return [f"{day.day}{mark}{day.month}{mark}{day.year}" for day in days]


FORMS = {
    "iso days": (DAYS, list(DAYS.strftime("%Y-%m-%d"))),
    "iso months": (MONTHS, list(MONTHS.strftime("%Y-%m"))),
    "iso minutes": (NOONS, list(NOONS.strftime("%Y-%m-%d %H:%M"))),
    "iso seconds": (NOONS, list(NOONS.strftime("%Y-%m-%dT%H:%M:%S"))),
    "iso universal": (NOONS.tz_localize("UTC"), list(NOONS.strftime("%Y-%m-%dT%H:%M:%SZ"))),
    "dots": (DAYS, list(DAYS.strftime("%d.%m.%Y"))),
    "dots, month first": (DAYS, list(DAYS.strftime("%m.%d.%Y"))),
    "dots of months": (MONTHS, list(MONTHS.strftime("%d.%m.%Y"))),
    "dots, no zeros": (DAYS, bare(DAYS)),
    "dots, short years": (DAYS, list(DAYS.strftime("%d.%m.%y"))),
    "dots and minutes": (NOONS, list(NOONS.strftime("%d.%m.%Y %H:%M"))),
    "slashes, day first": (DAYS, list(DAYS.strftime("%d/%m/%Y"))),
    "slashes, month first": (DAYS, list(DAYS.strftime("%m/%d/%Y"))),
    "slashes, no zeros": (DAYS, bare(DAYS, "/")),
    "dashes, day first": (DAYS, list(DAYS.strftime("%d-%m-%Y"))),
    "year first": (DAYS, list(DAYS.strftime("%Y/%m/%d"))),
    "month and year": (MONTHS, list(MONTHS.strftime("%m/%Y"))),
    "short names": (MONTHS, list(MONTHS.strftime("%b %Y"))),
    "loud names": (MONTHS, [cell.upper() for cell in MONTHS.strftime("%b-%Y")]),
    "long names": (MONTHS, list(MONTHS.strftime("%B %Y"))),
    "names after years": (MONTHS, list(MONTHS.strftime("%Y-%b"))),
    "names and short years": (MONTHS, list(MONTHS.strftime("%b-%y"))),
    "days with names": (DAYS, list(DAYS.strftime("%d-%b-%Y"))),
    "days with long names": (DAYS, list(DAYS.strftime("%B %d, %Y"))),
    "only May": (pd.DatetimeIndex(["2013-05-25"]), ["May 25, 2013"]),
    "quarters": (QUARTERS, [f"{day.year}Q{day.quarter}" for day in QUARTERS]),
    "quarters with dashes": (QUARTERS, [f"{day.year}-Q{day.quarter}" for day in QUARTERS]),
    "quarters first": (QUARTERS, [f"Q{day.quarter} {day.year}" for day in QUARTERS]),
    "weeks": (WEEKS, list(WEEKS.strftime("%G-W%V"))),
    "weeks without dashes": (WEEKS, list(WEEKS.strftime("%GW%V"))),
    "M": (MONTHS, list(MONTHS.strftime("%YM%m"))),
    "eight digits": (DAYS, list(DAYS.strftime("%Y%m%d"))),
    "six digits": (MONTHS, list(MONTHS.strftime("%Y%m"))),
}


def column(cells):
    write_csv("a.csv", {"t": cells})
    (table,) = open_file("a.csv").tables([], None)
    return table


@pytest.mark.parametrize("name", FORMS)
def test_forms(folder, name):
    dates, cells = FORMS[name]
    assert not all_numbers(cells)
    found = read_dates(column(cells), "t")
    assert list(found.index) == list(dates) and found.index.name == "t"
    assert [found.write(value) for value in found.index] == cells


@pytest.mark.parametrize(
    ("style", "first"), [("%d/%m/%Y", "2012-01-02"), ("%m/%d/%Y", "2012-02-01")]
)
def test_a_form_that_is_told(folder, style, first):
    found = read_dates(column(["02/01/2012", "03/01/2012"]), "t", style)
    assert found.index[0] == pd.Timestamp(first)
    assert found.write(found.index[1]) == "03/01/2012"


@pytest.mark.parametrize(
    "cells",
    [
        ["2010", "2011", "2012"],
        ["1", "2.5"],
        ["20120131", "20120132"],  # no day
        ["201212", "201213"],
        ["201201", "20120201"],
        ["99990101"],
    ],
)
def test_numbers_that_are_no_dates(cells):
    assert all_numbers(cells)


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (
            ["01/02/2012", "02/02/2012"],
            r"'01/02/2012', of which the day or the month may come first; .*"
            r"--date-format %d/%m/%Y or %m/%d/%Y",
        ),
        (["01-02-2012"], r"--date-format %d-%m-%Y or %m-%d-%Y"),
        (["13/02/2012", "02/13/2012"], r"line 3, column 't': '02/13/2012' is no date in the form"),
        (["13.02.2012", "02.13.2012"], r"line 3, .*'02.13.2012' is no date in the form '%d.%m.%Y'"),
        (
            ["u", "2012-01-01"],
            r"line 2, column 't': 'u' is neither a number nor a date such",
        ),
        (
            ["2012-01-01", "soon"],
            r"line 3.*'soon' is not in the form of '2012-01-01'.*--date",
        ),
        (["2012-01-31", "2012-02-30"], r"line 3, column 't': '2012-02-30' is no date; correct"),
        (["2012Q4", "2012Q5"], r"line 3.*'2012Q5' is not in the form of '2012Q4'"),
        (["2012-W52", "2012-W53"], r"line 3.*'2012-W53' is no week"),
        (["Jan 2012", "Fab 2012"], r"column 't' has dates in several forms|'Fab 2012' is no date"),
        (["31.01.2012", "29.02.2012 10:00"], r"column 't' has dates in several forms"),
    ],
)
def test_refused_dates(folder, cells, match):
    table = column(cells)
    with pytest.raises(TableError, match=match):
        read_dates(table, "t")


def test_refused_by_the_form_that_is_told(folder):
    with pytest.raises(TableError, match=r"line 3.*'x' is no date in the form '%Y'"):
        read_dates(column(["2012", "x"]), "t", "%Y")
    with pytest.raises(TableError, match=r"a.csv.*'2012' is no date in the form 'day'"):
        read_dates(column(["2012"]), "t", "day")
