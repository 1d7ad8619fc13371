"""Series in CSV files: what is missing is put in, rows are put in order, ids are told apart."""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.cli.arguments.tables import OPTIONS
from sparsebayes.cli.series.series_table import read_columns
from sparsebayes.rows.table import TableError
from tests.cli.tables import write_csv

MONTHS = pd.date_range("2012-01-01", periods=12, freq="MS")
CELLS = list(MONTHS.strftime("%b %Y"))


def read(columns, **options):
    write_csv("a.csv", columns)
    given = {"column": "y", "time": "t", "id": None, "exog": None, "date_format": None}
    given |= dict.fromkeys(OPTIONS)
    found, notes = read_columns(Namespace(csv="a.csv", **(given | options)))
    assert notes == []
    return found


def without(values, *places):
    return [value for k, value in enumerate(values) if k not in places]


def test_empty_cells_are_missing(folder):
    (one,) = read({"y": ["1", "", "NA", "nan", "n/a", "6", "", " "]}, time=None)
    assert_array_equal(one.y, [1, np.nan, np.nan, np.nan, np.nan, 6])
    assert one.missing == "4 of 6 values" and one.span == "" and one.key is None
    assert list(one.clock.ahead(np.zeros(2))) == [1, 2]


def test_rows_of_dates_that_are_left_out(folder):
    columns = {"t": without(CELLS, 2, 7), "y": [0, "", *range(3, 7), *range(8, 12)]}
    columns["u"] = without(range(12), 2, 7)
    (one,) = read(columns, exog="u")
    assert one.y.index.equals(MONTHS) and one.y.name == "y"
    expected = np.arange(12.0)
    expected[[1, 2, 7]] = np.nan
    assert_array_equal(one.y, expected)
    assert_array_equal(one.inputs[:, 0], [0, 1, 1, 3, 4, 5, 6, 6, 8, 9, 10, 11])
    assert one.missing == "3 of 12 values (2 without a row)" and one.n_rows == 10
    assert one.span == "Jan 2012 to Dec 2012" and one.later.shape == (0, 1)


@pytest.mark.parametrize(
    ("cells", "span", "next_one"),
    [
        ([str(1900 + k) for k in range(12)], "1900 to 1911", "1912"),
        ([f"{0.5 * k:.1f}" for k in range(12)], "0.0 to 5.5", "6.0"),
        ([f"{1949 + k / 12:.2f}" for k in range(12)], "1949.00 to 1949.92", "1950.00"),
    ],
)
def test_rows_of_numbers_that_are_left_out(folder, cells, span, next_one):
    columns = {"t": without(cells, 1, 2, 7), "y": without(range(12), 1, 2, 7)}
    (one,) = read(columns | {"u": columns["y"]}, exog="u")
    expected = np.arange(12.0)
    expected[[1, 2, 7]] = np.nan
    assert_array_equal(one.y, expected)
    assert_array_equal(one.inputs[:, 0], [0, 0, 0, 3, 4, 5, 6, 6, 8, 9, 10, 11])
    assert_allclose(one.clock.known, np.array(cells, float), atol=0.011)
    assert one.span == span
    assert one.clock.label(one.clock.ahead(np.zeros(1))[0]) == next_one


def test_months_after_a_long_gap_of_rounded_years(folder):
    cells = without([f"{1949 + k / 12:.2f}" for k in range(80)], *range(30, 45))
    (one,) = read({"t": cells, "y": range(65)})
    assert len(one.y) == 80 and np.isnan(np.asarray(one.y)[30:45]).all()


@pytest.mark.parametrize("cells", [CELLS, [str(k) for k in range(12)]])
def test_descending_rows_are_turned_round(folder, cells):
    (up,) = read({"t": cells, "y": [*range(10), "", ""], "u": range(12)}, exog="u")
    down = {"t": cells[::-1], "y": ["", "", *range(9, -1, -1)], "u": range(11, -1, -1)}
    (one,) = read(down, exog="u")
    assert one.turned and not up.turned
    assert_array_equal(one.y, np.arange(10.0))
    assert_array_equal(one.later, up.later)
    assert one.span == up.span


def test_series_that_a_column_tells_apart(folder):
    columns = {
        "shop": [*"ab" * 8, "a", "a"],
        "t": [*np.repeat(CELLS[:8], 2), CELLS[9], CELLS[8]],  # rows in any order
        "y": [*np.column_stack([np.arange(8), 100 + np.arange(8)]).ravel(), 9, 8],
    }
    a, b = read(columns, id="shop")
    assert (a.key, b.key) == ("a", "b")
    assert_array_equal(a.y, np.arange(10.0))
    assert_array_equal(b.y, 100.0 + np.arange(8))
    assert a.span == "Jan 2012 to Oct 2012" and b.span == "Jan 2012 to Aug 2012"
    counted = read({key: columns[key] for key in ("shop", "y")}, id="shop", time=None)
    assert [len(one.y) for one in counted] == [10, 8]


@pytest.mark.parametrize(
    ("columns", "options", "match"),
    [
        ({"t": [1, 2, 3, 9, 10], "y": range(5)}, {}, r"line 5.*9 follows 3.*with few left out"),
        (
            {"t": [*CELLS[:3], CELLS[9], CELLS[11]], "y": range(5)},
            {},
            r"a.csv: The index of y is irregular.*7 of 12",
        ),
        ({"t": [1, 2, 3, 4, 6], "y": [1, 2, 3, 4, ""]}, {}, r"line 6.*6 follows 4, but rows to be"),
        ({"t": ["Jan 2012", "Mar 2012", "Feb 2012"], "y": [1, 2, 3]}, {}, r"not in order"),
        (
            {"t": ["Jan 2012"] * 3, "y": [1, 2, 3], "s": ["a", "b", "a"]},
            {"id": "s"},
            r"line 4, column 't': Jan 2012 is there more than once in series 'a'; keep one row$",
        ),
        (
            {"t": [1, 2, 3], "y": [1, "", ""], "s": ["a", "b", "b"]},
            {"id": "s"},
            r"column 'y' of series 'b' holds no number",
        ),
        ({"y": [1, 2], "step": ["a", "b"]}, {"time": None, "id": "step"}, r"name of a result"),
    ],
)
def test_refused_series(folder, columns, options, match):
    with pytest.raises(TableError, match=match):
        read(columns, **options)
