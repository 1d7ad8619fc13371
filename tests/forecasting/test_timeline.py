"""Times of series: their grid, their seasons, how they go on, and what is missing."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sparsebayes.forecasting.tables.exogenous import training_inputs
from sparsebayes.forecasting.tables.timeline import Timeline, given_index, read_inputs, read_series

INDEXES = {
    "months": pd.date_range("2000-01-01", periods=10, freq="MS"),
    "month ends": pd.date_range("2000-01-31", periods=10, freq="ME"),
    "business days": pd.date_range("2000-01-03", periods=10, freq="B"),
    "hours, zoned": pd.date_range("2024-01-01", periods=10, freq="h", tz="Europe/Berlin"),
    "half hours": pd.date_range("2024-01-01", periods=10, freq="30min"),
    "quarters": pd.period_range("1990Q1", periods=10, freq="Q"),
    "years": pd.period_range("1990", periods=10, freq="Y"),
    "range": pd.RangeIndex(10),
    "steps of five": pd.RangeIndex(100, 150, 5),
    "integers": pd.Index(np.arange(1900, 1910)),
}


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("keep_freq", [True, False])
def test_an_index_goes_on(name, keep_freq):
    index = INDEXES[name].rename("when")
    if not keep_freq and isinstance(index, pd.DatetimeIndex):
        index = pd.DatetimeIndex(list(index), name="when")
        assert index.freq is None
    timeline = Timeline(index[:6])
    later = timeline.ahead(4)
    assert list(later) == list(index[6:])
    assert later.name == "when"
    longer = timeline.extended(index[6:8], "y_new")
    assert list(longer.ahead(2)) == list(index[8:])


@pytest.mark.parametrize(
    ("freq", "season"),
    [
        ("MS", 12),
        ("ME", 12),
        ("QS-OCT", 4),
        ("W-WED", 52),
        ("D", 7),
        ("B", 5),
        ("h", 24),
        ("YS", 1),
        ("2h", 1),
        ("min", 1),
    ],
)
def test_seasons_of_dates(freq, season):
    assert Timeline(pd.date_range("2000-01-01", periods=20, freq=freq)).season() == season


def test_seasons_of_other_indexes():
    assert Timeline(INDEXES["quarters"]).season() == 4
    assert Timeline(INDEXES["years"]).season() == 1
    assert Timeline(INDEXES["integers"]).season() == 1


DAYS = pd.date_range("2000-01-01", periods=30, freq="D")
MONTHS = pd.date_range("2000-01-01", periods=30, freq="MS")


@pytest.mark.parametrize(
    ("index", "match"),
    [
        (DAYS[[0, 1, 3, 2, 4]], r"not in order: 2000-01-03.*position 3.*sort_index"),
        (DAYS[[0, 1, 1, 2, 3]], r"2000-01-02.*more than once.*position 2.*groupby"),
        (pd.DatetimeIndex([*DAYS[:3], pd.NaT]), r"no time at position 3"),
        (pd.to_datetime(["2000-01-01", "2000-01-02", "2000-01-09", "2000-01-30"]), "irregular"),
        (pd.DatetimeIndex(list(DAYS[:2])), r"2 dates and no frequency"),
        (
            DAYS[[0, 1, 3, 8, 9, 14]],
            r"irregular: with freq='D' from 2000-01-01.*to 2000-01-15.*"
            r"9 of 15 times are missing.*resample\('W'\).mean\(\), or y.asfreq\('D'\)",
        ),
        (
            DAYS[[0, 7, 14, 21]] + pd.to_timedelta([0, 0, 6, 0], "h"),
            r"irregular: 2000-01-08.* position 1 is followed by 2000-01-15 06:00.*resample\('W'\)",
        ),
        (
            pd.to_datetime(["2000-01-03", "2000-02-04", "2000-03-05", "2000-04-05"]),
            r"irregular: 2000-0.*resample\('MS'\)",
        ),
        (
            pd.PeriodIndex(["2000-01", "2000-04", "2000-07"], freq="M"),
            r"irregular: with freq='M' .* 4 of 7 times.*pandas.period_range\(",
        ),
        (pd.Index([0, 1, 2, 10]), r"irregular: with steps of 1 .* 7 of 11.*range\(0, 11, 1\)"),
        (pd.Index([0, 2, 4, 7]), r"irregular: 4 at position 2 is followed by 7"),
        (pd.Index([3, 2, 1]), r"not in order"),
        (pd.Index(["a", "b", "c"]), r"dates, periods or whole numbers.*to_datetime"),
        (pd.Index([0.0, 0.5]), r"dates, periods or whole numbers"),
        (pd.MultiIndex.from_product([[1], [1, 2]]), r"dates, periods or whole numbers"),
    ],
)
def test_refused_indexes(index, match):
    with pytest.raises(ValueError, match=match):
        Timeline(index)


def test_an_index_that_does_not_go_on():
    timeline = Timeline(MONTHS[:10])
    with pytest.raises(ValueError, match=r"y_new must go on.*should be 2000-11-01.*got 2000-12-01"):
        timeline.extended(MONTHS[11:13], "y_new")
    with pytest.raises(ValueError, match=r"must be like that of y \(DatetimeIndex\)"):
        timeline.check_ahead(pd.Index(["x"]), "X")
    with pytest.raises(ValueError, match="must be like that of y"):
        timeline.check_ahead(pd.RangeIndex(10, 12), "X")


def test_series_are_read():
    values, index, name = read_series(pd.Series([1, 2, 3], name="a"))
    assert values.dtype == np.float64 and name == "a" and list(index) == [0, 1, 2]
    values, index, name = read_series(pd.DataFrame({"b": np.float32([1, 2])}))
    assert values.shape == (2,) and name == "b"
    assert read_series(np.ones((4, 1)))[0].shape == (4,)
    assert read_series([1, 2])[1] is None
    assert read_inputs([1, 2])[0].shape == (2, 1)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: read_series([np.inf]), r"y has inf at position 0; put NaN there"),
        (lambda: read_series(pd.Series([1.0, -np.inf], MONTHS[:2])), r"-inf at .* 1 \(2000-02-01"),
        (lambda: read_series([np.nan, None]), r"y has no value that is known: all 2 are missing"),
        (lambda: read_series([1.0, np.nan, 2.0], least=3), r"at least 3 value\(s\), got 2"),
        (lambda: read_series(pd.Series([1.0] * 3, list("abc"))), r"dates, periods or whole"),
        (lambda: read_series([]), r"at least 1 value"),
        (lambda: read_series(np.ones((3, 2))), r"shape \(n_times,\), got \(3, 2\)"),
        (lambda: read_series(pd.DataFrame(np.ones((3, 2)))), r"DataFrame of 2 columns"),
        (lambda: read_series(["a"]), r"y must hold real numbers"),
        (lambda: read_series([1j]), r"y must hold real numbers"),
        (lambda: read_inputs(np.ones((2, 2, 2))), r"X must have shape \(n_times, n_inputs\)"),
        (lambda: read_inputs([[1.0], [np.nan]]), r"X has nan at position 1"),
    ],
)
def test_refused_values(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def bare(index):
    """The same times without a frequency."""
    return index if not isinstance(index, pd.DatetimeIndex) else pd.DatetimeIndex(list(index))


FIFTEENTH = pd.date_range("2000-01-15", periods=40, freq=pd.DateOffset(months=1, day=15))
QUARTERS = pd.date_range("2000-01-15", periods=40, freq=pd.DateOffset(months=3, day=15))
THIRTIETH = pd.date_range("2000-01-30", periods=40, freq=pd.DateOffset(months=1, day=30))
GRIDS = {
    "days": pd.date_range("2000-01-01", periods=40, freq="D"),
    "days at noon": pd.date_range("2000-01-01 12:00", periods=40, freq="D"),
    "second days": pd.date_range("2000-01-01", periods=40, freq="2D"),
    "days, zoned": pd.date_range("2024-03-10", periods=40, freq="D", tz="Europe/Berlin"),
    "hours, zoned": pd.date_range("2024-03-30", periods=40, freq="h", tz="Europe/Berlin"),
    "business days": pd.date_range("2000-01-03", periods=40, freq="B"),
    "weeks": pd.date_range("2000-01-05", periods=40, freq="W-WED"),
    "fortnights": pd.date_range("2000-01-05", periods=40, freq="2W-WED"),
    "month starts": pd.date_range("2000-01-01", periods=40, freq="MS"),
    "month ends": pd.date_range("2000-01-31", periods=40, freq="ME"),
    "last business days": pd.date_range("2000-01-31", periods=40, freq="BME"),
    "first business days": pd.date_range("2000-01-31", periods=40, freq="BMS"),
    "fifteenth": FIFTEENTH,
    "thirtieth": THIRTIETH,
    "third Fridays": pd.date_range("2000-01-01", periods=40, freq="WOM-3FRI"),
    "a Friday of each quarter": pd.date_range("2000-01-01", periods=40, freq="3WOM-4FRI"),
    "quarters": pd.date_range("2000-02-01", periods=40, freq="QS-FEB"),
    "quarter ends": pd.date_range("2000-03-31", periods=40, freq="QE"),
    "quarters on the tenth": QUARTERS - pd.Timedelta(days=5),
    "years": pd.date_range("1950-01-01", periods=40, freq="YS"),
    "year ends": pd.date_range("1950-12-31", periods=40, freq="YE"),
    "hours": pd.date_range("2000-01-01", periods=40, freq="h"),
    "six hours": pd.date_range("2000-01-01", periods=40, freq="6h"),
    "quarter hours": pd.date_range("2000-01-01", periods=40, freq="15min"),
    "seconds": pd.date_range("2000-01-01", periods=40, freq="s"),
    "month periods": pd.period_range("2000-01", periods=40, freq="M"),
    "periods of two hours": pd.period_range("2000-01-01", periods=40, freq="2h"),
    "whole numbers": pd.Index(np.arange(1900, 1940)),
    "fives": pd.RangeIndex(0, 200, 5),
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("missing", [[1], [7], [3, 4, 5, 20], [2, 12, 22, 32], [-2]])
def test_missing_times_are_put_in(name, missing):
    full = GRIDS[name].rename("when")
    numbers = np.arange(1.0, len(full) + 1)
    given = pd.Series(np.delete(numbers, missing), bare(full.delete(missing)), name="a")
    given.index.name = "when"
    before = given.copy()
    values, index, label = read_series(given)
    assert label == "a" and index.name == "when"
    assert list(index) == list(full)
    numbers[missing] = np.nan
    assert_array_equal(values, numbers)
    pd.testing.assert_series_equal(given, before)
    timeline = Timeline(index)
    assert timeline.index.equals(full)
    assert timeline.seasons() == Timeline(full).seasons()
    whole = Timeline(full[:-2])
    assert list(Timeline(bare(full[:-2].delete(missing[:-1] or [4]))).ahead(2)) == list(full[-2:])
    assert list(whole.ahead(2)) == list(full[-2:])


def test_holidays_are_missing_business_days():
    days = pd.date_range("2023-01-02", "2023-12-29", freq="B")
    holidays = pd.to_datetime(["2023-04-07", "2023-04-10", "2023-05-01", "2023-12-25"])
    values, index, _ = read_series(pd.Series(1.0, bare(days.difference(holidays))))
    assert index.equals(days) and index.freqstr == "B"
    assert list(index[np.isnan(values)]) == list(holidays)
    assert Timeline(index).ahead(1)[0] == pd.Timestamp("2024-01-01")
    # A week of its own shows no weekend: days.
    assert Timeline(bare(days[[0, 1, 2, 4]])).step.rule_code == "D"


def test_a_long_outage_of_a_steady_series():
    days = pd.date_range("2023-01-01", periods=200, freq="D")
    values, index, _ = read_series(pd.Series(1.0, bare(days.delete(np.arange(50, 140)))))
    assert index.equals(days) and np.isnan(values).sum() == 90
    with pytest.raises(ValueError, match=r"irregular.*110 of 200 times"):
        read_series(pd.Series(1.0, bare(days.delete(np.arange(50, 160)))))
    # asfreq says that it is meant
    given = pd.Series(1.0, bare(days.delete(np.arange(50, 160)))).asfreq("D")
    assert len(read_series(given)[0]) == 200


def test_a_date_far_off_costs_nothing():
    index = bare(pd.date_range("2023-01-01", periods=50, freq="s"))
    with pytest.raises(ValueError, match="irregular"):
        Timeline(index.append(pd.DatetimeIndex(["2199-01-01"], dtype=index.dtype)))


def test_units_of_dates_stay():
    for unit in ("s", "ms", "ns"):
        index = bare(pd.date_range("2000-01-01", periods=20, freq="D")).as_unit(unit).delete(3)
        assert read_series(pd.Series(1.0, index))[1].unit == unit


@pytest.mark.parametrize(
    "given",
    [
        [1.0, np.nan, 3.0],
        [1, None, 3],
        np.array([1, None, 3], dtype=object),
        np.ma.masked_array([1, 2, 3], [False, True, False]),
        pd.Series([1, None, 3]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="Float32"),
        pd.Series([1, pd.NA, 3], dtype=object),
        pd.Series([1, None, 3], dtype=object),
        pd.DataFrame({"y": pd.Series([1, None, 3], dtype="Int64")}),
    ],
)
def test_missing_values(given):
    values = read_series(given)[0]
    assert values.dtype == np.float64
    assert_array_equal(values, [1.0, np.nan, 3.0])


def test_few_later_times_are_left_as_they_are():
    for count in (1, 2):
        values, index, _ = read_series(pd.Series(1.0, bare(DAYS[:count])))
        assert len(values) == count and index.equals(bare(DAYS[:count]))
    given = bare(DAYS[[0, 1, 9]])
    assert read_series(pd.Series(1.0, given), complete=False)[1].equals(given)


@pytest.mark.parametrize(
    ("freq", "seasons"),
    [
        ("MS", (12,)),
        ("ME", (12,)),
        ("BME", (12,)),
        ("WOM-3FRI", (12,)),
        ("2MS", (6,)),
        ("5MS", ()),
        ("QS-OCT", (4,)),
        ("2QE", (2,)),
        ("YS", ()),
        ("YE", ()),
        ("W-WED", (365.25 / 7,)),
        ("2W", (365.25 / 14,)),
        ("D", (7, 365.25)),
        ("7D", (365.25 / 7,)),
        ("2D", (365.25 / 2,)),
        ("B", (5, 365.25 * 5 / 7)),
        ("h", (24, 168, 8766)),
        ("2h", (12, 84, 4383)),
        ("30min", (48, 336)),
        ("15min", (96, 672)),
        ("5min", (288, 2016)),
        ("min", (60, 1440)),
        ("s", (60, 3600)),
        ("10s", (6, 360)),
        ("ms", ()),
    ],
)
def test_all_seasons_of_dates(freq, seasons):
    found = Timeline(pd.date_range("2000-01-01", periods=20, freq=freq)).seasons()
    assert found == pytest.approx(seasons)
    assert [type(length) for length in found] == [type(length) for length in seasons]


def test_all_seasons_of_other_indexes():
    assert Timeline(INDEXES["quarters"]).seasons() == (4,)
    assert Timeline(pd.period_range("2000", periods=9, freq="M")).seasons() == (12,)
    assert Timeline(pd.period_range("2000", periods=9, freq="2h")).seasons() == (12, 84, 4383)
    assert Timeline(pd.period_range("2000", periods=9, freq="W")).seasons() == (365.25 / 7,)
    assert Timeline(INDEXES["years"]).seasons() == ()
    assert Timeline(INDEXES["integers"]).seasons() == ()
    assert Timeline(bare(FIFTEENTH)).seasons() == (12,)
    assert Timeline(bare(FIFTEENTH)).season() == 12
    assert Timeline(bare(FIFTEENTH[::3])).seasons() == (4,)


@pytest.mark.parametrize("name", GRIDS)
def test_later_times_may_skip_some(name):
    full = GRIDS[name].rename("when")
    k = len(full) - 8
    timeline = Timeline(full[:k])
    index = bare(full[[k + 2, k + 3, k + 6]])
    longer, values = timeline.later(index, np.array([1.0, 2.0, 3.0]), "y_new")
    assert list(longer.index) == list(full[: k + 7]) and len(timeline.index) == k
    assert_array_equal(values, [np.nan, np.nan, 1.0, 2.0, np.nan, np.nan, 3.0])
    assert list(longer.ahead(1)) == [full[k + 7]]
    longer, values = timeline.later(None, np.array([1.0, np.nan]), "y_new")
    assert list(longer.index) == list(full[: k + 2])
    assert_array_equal(values, [1.0, np.nan])
    again = pickle.loads(pickle.dumps(longer))
    assert list(again.ahead(3)) == list(longer.ahead(3))


def test_later_inputs_have_columns():
    values = Timeline(MONTHS[:10]).later(MONTHS[[11]], np.ones((1, 2)), "X_new")[1]
    assert_array_equal(values, [[np.nan, np.nan], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("index", "match"),
    [
        (MONTHS[9:11], r"y_new must go on where y ends, at 2000-10-01.*2000-11-01.* got 2000-10-0"),
        (MONTHS[[12, 11]], r"index of y_new is not in order"),
        (MONTHS[[11, 11]], r"y_new has 2000-12-01.* more than once"),
        (
            pd.DatetimeIndex(["2000-10-08", "2001-01-01"]),
            r"2000-10-08.*position 0.*next one is 2000-11",
        ),
        (pd.DatetimeIndex(["2000-11-01", "2000-12-02"]), r"2000-12-02.*position 1.*2001-01-01"),
        (
            pd.DatetimeIndex(["2000-11-01", "2200-12-01"]),
            r"2200-12-01.* more than 1024 steps",
        ),
        (pd.RangeIndex(2), r"must be like that of y \(DatetimeIndex\)"),
    ],
)
def test_refused_later_times(index, match):
    with pytest.raises(ValueError, match=match):
        Timeline(MONTHS[:10]).later(index, np.ones(2), "y_new")


@pytest.mark.parametrize(
    ("known", "later", "match"),
    [
        (DAYS[:10], DAYS[10:12].tz_localize("UTC"), r"UTC.* where that is of datetime64"),
        (DAYS[:10].to_period("D"), MONTHS[5:7].to_period("M"), r"period\[M\] where that is of per"),
        (DAYS[:10], DAYS[10:12].to_period("D"), r"got PeriodIndex of period\[D\]"),
    ],
)
def test_later_times_of_another_kind(known, later, match):
    for call in (
        Timeline(known).later,
        lambda index, _, name: Timeline(known).extended(index, name),
    ):
        with pytest.raises(ValueError, match=match):
            call(later, np.ones(2), "y_new")


def table(index):
    """Inputs whose first column is the day of the month."""
    return pd.DataFrame({"day": index.day * 1.0, "u": 1.0}, index)


def test_inputs_at_the_times_of_a_series():
    y = pd.Series(1.0, DAYS[:20]).drop(DAYS[[0, 5, 6]])
    values, index, _ = read_series(y)
    days = np.arange(2.0, 21.0)
    for X in (table(DAYS[1:20]), table(DAYS), table(DAYS[::-1])):
        inputs, columns = training_inputs(X, len(values), index)
        assert_array_equal(inputs[:, 0], days)
        assert columns == ["day", "u"]
    days[[4, 5]] = 5.0  # those of the day before
    for X in (table(y.index), table(DAYS.delete([5, 6]))):
        inputs, _ = training_inputs(X, len(values), index, y=values)
        assert_array_equal(inputs[:, 0], days)
    X = table(y.index).to_numpy()
    inputs, columns = training_inputs(X, len(values), index, y=values, given=given_index(y))
    assert_array_equal(inputs[:, 0], days)
    assert columns is None
    inputs, _ = training_inputs(table(DAYS[1:20]).to_numpy(), len(values), index, given=y.index)
    assert_array_equal(inputs[:, 0], np.arange(2.0, 21.0))


def test_inputs_before_the_first_known_come_from_later():
    values = np.array([np.nan, np.nan, 1.0, 2.0])
    inputs, _ = training_inputs(table(DAYS[2:4]), 4, DAYS[:4], y=values)
    assert_array_equal(inputs[:, 0], [3.0, 3.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (table(DAYS[:10].delete(4)), r"X and y must have the same index, but X has no row for 2000-"
         r"01-05.*X.reindex\(y.index\)"),
        (table(DAYS[10:20]), r"X has no row for 2000-01-01"),
        (pd.DataFrame({"u": np.ones(10)}), r"X and y must have the same index"),
        (table(DAYS[[0, 0, *range(1, 10)]]), r"index of X has 2000-01-01.*more than once"),
        (table(DAYS[:10]).replace(4.0, np.nan), r"X has nan at position 3"),
        (np.ones((9, 1)), r"X must have a row for each of the 10 values of y, got 9"),
    ],
)  # fmt: skip
def test_refused_inputs(X, match):
    values = np.ones(10)
    values[2] = np.nan
    with pytest.raises(ValueError, match=match):
        training_inputs(X, 10, DAYS[:10], y=values)


def test_inputs_of_a_series_without_index():
    assert training_inputs(None, 3, None)[0].shape == (3, 0)
    assert training_inputs([1.0, 2.0, 3.0], 3, None)[0].shape == (3, 1)
    assert_array_equal(training_inputs(table(DAYS[:3]), 3, None)[0][:, 0], [1, 2, 3])
