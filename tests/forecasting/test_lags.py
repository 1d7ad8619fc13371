"""Lags, differences, the index of a series, and what is chosen by the evidence."""

import numpy as np
import pandas as pd
import pytest

from sparsebayes.forecasting.lag_choice import Choice, choose
from sparsebayes.forecasting.lags import Differences, Embedding, as_exog_lags, as_lags, as_periods
from sparsebayes.forecasting.timeline import Timeline, read_inputs, read_series


def auto(y, season=1, step=1, **given):
    given = {"lags": None, "periods": None, "log": None} | given
    return choose(y, np.empty((len(y), 0)), (), season, step, Choice(**given))


@pytest.mark.parametrize("periods", [(), (1,), (3,), (1, 4), (2, 2), (1, 1, 5)])
def test_differences_are_undone(periods):
    y = np.random.default_rng(0).standard_normal((3, 30))
    differences = Differences(periods)
    changes = differences.apply(y)
    assert changes.shape == (3, 30 - differences.order)
    c = differences.polynomial()
    again = sum(c[j] * y[:, differences.order - j : 30 - j] for j in range(len(c)))
    np.testing.assert_allclose(changes, again, atol=1e-12)
    known = differences.order + 2
    path = differences.restore(y[:, :known], changes[:, 2:])
    np.testing.assert_allclose(path, y[:, known:], atol=1e-11)


@pytest.mark.parametrize("periods", [(), (1,), (1, 3)])
def test_responses_are_the_linear_part(periods):
    rng = np.random.default_rng(1)
    differences = Differences(periods)
    history, changes = rng.standard_normal((1, 6)), rng.standard_normal((1, 7))
    base = differences.restore(history, np.zeros((1, 7)))
    expected = base[0] + differences.responses(7) @ changes[0]
    np.testing.assert_allclose(differences.restore(history, changes)[0], expected, atol=1e-12)


def test_rows():
    series, inputs = np.arange(10.0), np.arange(20.0).reshape(10, 2)
    rows = Embedding((1, 3), (0, 2)).rows(series, inputs, 3)
    assert rows.shape == (7, 6)
    np.testing.assert_array_equal(rows[0], [2, 0, 6, 7, 2, 3])
    np.testing.assert_array_equal(rows[-1], [8, 6, 18, 19, 14, 15])


def test_numbers_and_lists_of_lags():
    assert as_lags(3, 6) == (6, 12, 18)
    assert as_lags([12, 1], 5) == (1, 12)
    assert as_exog_lags(0, 1) == (0,)
    assert as_exog_lags(np.int64(2), 3) == (3, 6)
    assert as_exog_lags(range(1, 4), 1) == (1, 2, 3)
    assert as_periods(None) == as_periods(0) == ()
    assert as_periods(12) == (12,)
    assert as_periods([1, 12]) == (1, 12)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: as_lags(0, 1), r"lags must be a whole number >= 1, got 0"),
        (lambda: as_lags(True, 1), r"lags must be a whole number"),
        (lambda: as_lags(2.5, 1), r"lags must be a whole number or a list"),
        (lambda: as_lags("12", 1), r"lags must be a whole number or a list.*'12'"),
        (lambda: as_lags([], 1), r"at least one lag"),
        (lambda: as_lags([1, 0], 1), r"lags\[1\] must be a whole number >= 1, got 0"),
        (lambda: as_lags([1, 1], 1), r"lags must be distinct"),
        (lambda: as_lags(2, 0), r"step must be a whole number >= 1"),
        (lambda: as_exog_lags(-1, 1), r"exog_lags must be a whole number >= 0"),
        (lambda: as_periods([1, -12]), r"difference\[1\] must be a whole number >= 1, got -12"),
        (lambda: as_periods("season"), r"difference must be"),
    ],
)
def test_refused_lags(call, match):
    with pytest.raises(ValueError, match=match):
        call()


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
        (DAYS.delete(20), r"gap: 2000-01-21.*before position 20.*asfreq\('D'\)"),
        (DAYS.delete([4, 20]), r"gap: 2000-01-05"),
        (MONTHS.delete(17), r"gap: 2001-06-01.*asfreq\('MS'\)"),
        (MONTHS.delete(2), r"gap: 2000-03-01"),
        (DAYS[[0, 1, 3, 2, 4]], r"not in order: 2000-01-03.*position 3.*sort_index"),
        (DAYS[[0, 1, 1, 2, 3]], r"2000-01-02.*more than once.*position 2.*groupby"),
        (pd.DatetimeIndex([*DAYS[:3], pd.NaT]), r"no time at position 3"),
        (pd.to_datetime(["2000-01-01", "2000-01-02", "2000-01-09", "2000-01-30"]), "irregular"),
        (pd.DatetimeIndex(list(DAYS[:2])), r"2 dates and no frequency"),
        (pd.PeriodIndex(["2000-01", "2000-02", "2000-04"], freq="M"), r"gap: 2000-02.*position 1"),
        (pd.Index([0, 1, 3, 4]), r"gap: 1 at position 1 is followed by 3"),
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
        (lambda: read_series([1.0, np.nan]), r"y has nan at position 1; fill"),
        (lambda: read_series(pd.Series([1.0, None], index=MONTHS[:2])), r"position 1 \(2000-02"),
        (lambda: read_series([np.inf]), r"y has inf at position 0"),
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


def seasonal(n=120, seed=0):
    """Growth and a yearly cycle that grows with it, as sales have."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    months = 0.2 * rng.standard_normal(12)
    shock = np.convolve(rng.standard_normal(n), 0.6 ** np.arange(20))[:n]
    return 100 * np.exp(0.01 * t + months[t % 12] + 0.02 * shock)


def test_chosen_for_a_growing_season():
    for season in (12, 1):  # told by the dates, or found
        choice = auto(seasonal(), season)
        assert choice.log and choice.periods == (12,)


def test_chosen_for_growth_that_levels_hide():
    """Here levels take no difference, their logarithms do."""
    t = np.arange(120)
    noise = 0.03 * np.random.default_rng(0).standard_normal(120)
    y = np.exp(5 + 0.01 * t + 0.15 * np.sin(np.pi * t / 6) + noise)
    assert auto(y, 12, log=False).periods == ()
    choice = auto(y, 12)
    assert choice.log and choice.periods == (12,)


def test_chosen_for_a_random_walk():
    walk = np.cumsum(np.random.default_rng(0).standard_normal(200))
    choice = auto(walk)
    assert choice.periods == (1,) and not choice.log
    positive = walk - walk.min() + 2.0  # steps do not grow with the level
    choice = auto(positive)
    assert choice.periods == (1,) and not choice.log
    assert auto(np.exp(0.1 * walk)).log


def test_chosen_for_an_autoregression():
    rng = np.random.default_rng(3)
    y = np.zeros(250)
    for t in range(3, 250):
        y[t] = 0.9 * y[t - 1] - 0.7 * y[t - 3] + rng.standard_normal()
    choice = auto(y)
    assert choice.periods == () and {1, 3} <= set(choice.lags)
    assert all(lag % 3 == 0 for lag in auto(y[:80], step=3).lags)


def test_what_is_given_stays():
    y = seasonal(60)
    assert auto(y, lags=(1, 5)).lags == (1, 5)
    assert auto(y, periods=(1, 12)).periods == (1, 12)
    assert not auto(y, log=False).log
    assert auto(y, periods=(1,)).log
    assert not auto(y - y.mean(), periods=(1,)).log
    assert not auto(y, periods=()).log


def test_short_series_leave_no_choice():
    choice = auto(np.array([3.0, 1.0, 2.0, 5.0]))
    assert choice == Choice((1,), (), False)


@pytest.mark.parametrize("seed", range(3))
def test_a_wandering_season_takes_two_differences(seed):
    """Its trend and its season walk at random, as in the airline model."""
    shocks = 0.03 * np.random.default_rng(seed).standard_normal(180)
    yearly = np.zeros(180)
    for t in range(180):
        yearly[t] = (yearly[t - 12] if t >= 12 else 0.0) + shocks[t]
    given = Choice(None, None, True)
    y = np.exp(5.0 + np.cumsum(yearly) / 12.0)
    assert choose(y, np.empty((180, 0)), (), 12, 1, given).periods == (1, 12)
