"""Panels: series are taken out of tables, and results come back in the same form."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sparsebayes.forecasting.tables.panel import as_panel, together
from sparsebayes.forecasting.tables.timeline import Timeline

MONTHS = pd.date_range("2000-01-01", periods=12, freq="MS", name="month")
LATER = pd.date_range("2001-01-01", periods=3, freq="MS", name="month")
A, B = np.arange(12.0), 100.0 + np.arange(12.0)


def wide():
    table = pd.DataFrame({"a": A, "b": B}, MONTHS)
    table.columns.name = "shop"
    return table


def long():
    """Rows of two shops that take turns, the second begins later."""
    table = wide().stack().rename("sales").reset_index()
    return table[(table["shop"] == "a") | (table["month"] >= MONTHS[3])].reset_index(drop=True)


def ahead(panel, index=LATER):
    """As results: the last value of each series, and of intervals one less and one more."""
    mean = {
        name: pd.Series(series.iloc[-1] + np.arange(3.0), index, name=series.name)
        for name, series in zip(panel.names, panel.series, strict=True)
    }
    band = {name: pd.DataFrame({"lower": m - 1, "upper": m + 1}) for name, m in mean.items()}
    return mean, band


@pytest.mark.parametrize(
    "y",
    [[1.0, 2.0], A, A[:, None], pd.Series(A), wide()["a"], wide()[["a"]], pd.Series(A).to_frame()],
)
def test_single_series(y):
    assert as_panel(y) is None


def test_columns_of_a_table():
    table = wide()
    table.iloc[:4, 1] = np.nan
    table.iloc[-2:, 0] = np.nan
    before = table.copy()
    panel = as_panel(table)
    assert panel.names == ["a", "b"] and panel.form == "wide"
    pd.testing.assert_series_equal(panel.series[0], table["a"])  # unknown at the end stays
    pd.testing.assert_series_equal(panel.series[1], table["b"].iloc[4:])
    mean, band = ahead(as_panel(wide()))
    found = together(panel, mean)
    assert found.index.equals(LATER) and found.index.freq == LATER.freq
    assert list(found) == ["a", "b"] and found.columns.name == "shop"
    assert_array_equal(found["b"], [111.0, 112.0, 113.0])
    limits = together(panel, band)
    assert list(limits) == [(n, k) for n in ("a", "b") for k in ("lower", "upper")]
    assert limits.columns.names == ["shop", None]
    assert_array_equal(limits["a", "upper"], [12.0, 13.0, 14.0])
    pair = together(panel, {name: (m, 2 * m) for name, m in mean.items()})
    pd.testing.assert_frame_equal(pair[1], 2 * found)
    pd.testing.assert_frame_equal(table, before)


def test_columns_whose_forecasts_begin_at_other_times():
    panel = as_panel(wide())
    mean, _ = ahead(panel)
    mean["b"].index = LATER.shift(1)
    found = together(panel, mean)
    assert list(found.index) == list(LATER.union(LATER.shift(1)))
    assert np.isnan(found.loc[LATER[0], "b"]) and np.isnan(found["a"].iloc[-1])
    assert found.loc[LATER[1], "b"] == 111.0 and found.loc[LATER[1], "a"] == 12.0


def test_columns_of_several_levels():
    table = wide()
    table.columns = pd.MultiIndex.from_tuples([("x", "a"), ("y", "a")], names=["town", "shop"])
    panel = as_panel(table)
    assert panel.names == [("x", "a"), ("y", "a")]
    mean, band = ahead(panel)
    assert together(panel, mean).columns.equals(table.columns)
    assert together(panel, band).columns.names == ["town", "shop", None]
    assert together(panel, band)["y", "a", "lower"].iloc[0] == 110.0


def test_a_short_column_has_the_grid_of_the_table():
    table = pd.DataFrame(wide().to_numpy(), list(MONTHS), columns=["a", "b"]).drop(MONTHS[5])
    table.loc[table.index < MONTHS[10], "b"] = np.nan
    panel = as_panel(table)
    assert len(panel.series[1]) == 2
    assert list(Timeline(panel.series[1].index).ahead(1)) == [LATER[0]]
    assert np.isnan(panel.series[0].loc[MONTHS[5]])


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("hierarchy", [False, True])
def test_levels_of_an_index(framed, hierarchy):
    y = long().set_index(["shop", "month"]).sort_index(ascending=[False, True])["sales"]
    if hierarchy:
        y = pd.concat({"x": y}, names=["town"])
    panel = as_panel(y.to_frame() if framed else y)
    assert panel.form == "levels"
    assert panel.names == ([("x", "b"), ("x", "a")] if hierarchy else ["b", "a"])  # as they come
    assert_array_equal(panel.series[0], B[3:])
    assert panel.series[0].index.equals(MONTHS[3:]) and panel.series[0].name == "sales"
    mean, band = ahead(panel)
    found = together(panel, mean)
    assert isinstance(found, pd.DataFrame if framed else pd.Series)
    found = found["sales"] if framed else found
    assert found.name == "sales" and found.index.names == y.index.names
    key = ("x", "a") if hierarchy else ("a",)
    assert found.loc[(*key, LATER[1])] == 12.0
    limits = together(panel, band)
    assert list(limits) == ["lower", "upper"] and limits.index.equals(found.index)
    assert limits.loc[(*key, LATER[1]), "lower"] == 11.0


def test_a_long_table():
    table = long().sample(frac=1.0, random_state=0)
    panel = as_panel(table, id="shop")
    assert sorted(panel.names) == ["a", "b"] and panel.form == "long"
    series = dict(zip(panel.names, panel.series, strict=True))
    assert_array_equal(series["a"], A)
    assert list(series["b"].index) == list(MONTHS[3:]) and series["b"].index.name == "month"
    mean, band = ahead(panel)
    found = together(panel, mean)
    assert list(found) == ["shop", "month", "sales"]
    assert list(found["shop"]) == [panel.names[0]] * 3 + [panel.names[1]] * 3
    assert list(found["month"]) == list(LATER) * 2
    assert_array_equal(found.set_index("shop").loc["b", "sales"], [111.0, 112.0, 113.0])
    limits = together(panel, band)
    assert list(limits) == ["shop", "month", "lower", "upper"]
    assert_array_equal(limits["upper"] - limits["lower"], np.full(6, 2.0))


def test_a_long_table_with_times_in_its_index():
    panel = as_panel(long().set_index("month"), id="shop")
    assert panel.labels == ("shop", "month", "sales")
    assert_array_equal(panel.series[1].index, MONTHS[3:])
    years = long().assign(month=lambda table: 1990 + table["month"].dt.month)
    panel = as_panel(years.set_index("month"), id="shop")
    assert list(panel.series[1].index) == list(range(1994, 2003))
    periods = long().assign(month=lambda table: table["month"].dt.to_period("M"))
    panel = as_panel(periods, id="shop")
    assert Timeline(panel.series[1].index).ahead(1)[0] == pd.Period("2001-01")


def test_a_long_table_whose_rows_are_counted():
    panel = as_panel(long()[["sales", "shop"]], id="shop")
    assert [list(series.index) for series in panel.series] == [list(range(12)), list(range(9))]
    assert panel.labels == ("shop", "time", "sales")
    assert_array_equal(panel.series[1], B[3:])


def test_columns_of_an_array():
    y = np.column_stack([A, B])
    y[:2, 1] = np.nan
    y[-1, 0] = np.nan
    panel = as_panel(y)
    assert panel.names == [0, 1]
    assert_array_equal(panel.series[0], y[:, 0])
    assert_array_equal(panel.series[1], B[2:])
    mean = together(panel, {1: np.ones(3), 0: np.zeros(3)})
    assert_array_equal(mean, [[0.0, 1.0]] * 3)
    lower, upper = together(panel, {k: (np.full(3, k), np.full(3, k + 5)) for k in (0, 1)})
    assert_array_equal(lower, mean)
    assert_array_equal(upper, [[5.0, 6.0]] * 3)


EMPTY = wide().assign(b=np.nan)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: as_panel(long()), r"no numbers, 'month', 'shop'; drop them, or give id="),
        (lambda: as_panel(wide()[["a", "a"]]), r"y has the column 'a' more than once"),
        (lambda: as_panel(EMPTY), r"Series 'b' has no value that is known: all 12.*drop it"),
        (lambda: as_panel(EMPTY.to_numpy()), r"Series 1 has no value"),
        (lambda: as_panel(long(), id="store"), r"id='store' must be a column of y.*'shop', 'sal"),
        (lambda: as_panel(A, id="shop"), r"id='shop' needs a long DataFrame, got ndarray"),
        (lambda: as_panel(wide()["a"], id="shop"), r"needs a long DataFrame, got Series"),
        (lambda: as_panel(long().assign(u=1.0), id="shop"), r"besides 'shop', got .*'sales', 'u'"),
        (lambda: as_panel(long().assign(u="x"), id="shop"), r"got .*'u'; choose"),
        (lambda: as_panel(long().assign(u=MONTHS[0]), id="shop"), r"at most one of times"),
        (lambda: as_panel(long()[["shop"]], id="shop"), r"one column of values .* got none"),
        (lambda: as_panel(long().set_index(["shop", "month"]), id="shop"), r"has 2 levels.*leave"),
        (
            lambda: as_panel(long().set_index(["shop", "month"]).assign(u=1.0)),
            r"one column of values besides the levels of its index, got 'sales', 'u'",
        ),
        (lambda: as_panel(long().replace("b", None), id="shop"), r"no 'shop' at position 4"),
        (
            lambda: as_panel(long().replace(MONTHS[4], pd.NaT), id="shop"),
            r"Series 'a' has no 'month' at index 5",
        ),
        (lambda: together(as_panel(wide()), {"a": A}), r"each of the 2 series, got 1 and none for"),
    ],
)
def test_refused_panels(call, match):
    with pytest.raises(ValueError, match=match):
        call()
