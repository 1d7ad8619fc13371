"""Lags, differences, the index of a series, and what is chosen by the evidence."""

import numpy as np
import pytest

from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.lag_choice import Choice, choose
from sparsebayes.forecasting.lags import Differences, Embedding, as_exog_lags, as_lags, as_periods
from sparsebayes.forecasting.transforms import LEVEL, LOG
from tests.sweeps import thinned


def auto(y, season=1, step=1, **given):
    given = {"lags": None, "periods": None, "transform": None} | given
    return choose(Record(y, np.empty((len(y), 0))), (), season, step, Choice(**given))


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
    embedding = Embedding((1, 3), (0, 2))
    rows = embedding.rows(series, embedding.lagged(inputs), np.arange(3, 10))
    assert rows.shape == (7, 6)
    np.testing.assert_array_equal(rows[0], [2, 0, 6, 7, 2, 3])
    np.testing.assert_array_equal(rows[-1], [8, 6, 18, 19, 14, 15])


def test_lagged_inputs_reach_as_far_ahead_as_they_are_known():
    inputs = np.arange(20.0).reshape(10, 2)
    lagged = Embedding((1,), (2, 3)).lagged(inputs)
    assert lagged.shape == (12, 4)  # the last rows tell of two steps more
    np.testing.assert_array_equal(lagged[11], [18, 19, 16, 17])
    np.testing.assert_array_equal(lagged[5], [6, 7, 4, 5])
    np.testing.assert_array_equal(lagged[2], [0, 1, 0, 1])  # before the beginning the first stands
    assert Embedding((1,), ()).lagged(np.empty((10, 0))).shape == (10, 0)
    assert [Embedding((1,), (2, 3)).rows_needed(h) for h in (1, 2, 5)] == [0, 0, 3]


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


def seasonal(n=120, seed=0):
    """Growth and a yearly cycle that grows with it, as sales have."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    months = 0.2 * rng.standard_normal(12)
    shock = np.convolve(rng.standard_normal(n), 0.6 ** np.arange(20))[:n]
    return 100 * np.exp(0.01 * t + months[t % 12] + 0.02 * shock)


@pytest.mark.slow
def test_chosen_for_a_growing_season():
    for season in (12, 1):  # told by the dates, or found
        choice = auto(seasonal(), season)
        assert choice.transform == LOG and choice.periods == (12,)


@pytest.mark.slow
def test_chosen_for_growth_that_levels_hide():
    """Here levels take no difference, their logarithms do."""
    t = np.arange(120)
    noise = 0.03 * np.random.default_rng(0).standard_normal(120)
    y = np.exp(5 + 0.01 * t + 0.15 * np.sin(np.pi * t / 6) + noise)
    assert auto(y, 12, transform=LEVEL).periods == ()
    choice = auto(y, 12)
    assert choice.transform == LOG and choice.periods == (12,)


@pytest.mark.slow
def test_chosen_for_a_random_walk():
    walk = np.cumsum(np.random.default_rng(0).standard_normal(200))
    choice = auto(walk)
    assert choice.periods == (1,) and choice.transform == LEVEL
    positive = walk - walk.min() + 2.0  # steps do not grow with the level
    choice = auto(positive)
    assert choice.periods == (1,) and choice.transform == LEVEL
    assert auto(np.exp(0.1 * walk)).transform == LOG


@pytest.mark.slow
def test_chosen_for_an_autoregression():
    rng = np.random.default_rng(3)
    y = np.zeros(250)
    for t in range(3, 250):
        y[t] = 0.9 * y[t - 1] - 0.7 * y[t - 3] + rng.standard_normal()
    choice = auto(y)
    assert choice.periods == () and {1, 3} <= set(choice.lags)
    assert all(lag % 3 == 0 for lag in auto(y[:80], step=3).lags)


@pytest.mark.slow
def test_what_is_given_stays():
    y = seasonal(60)
    assert auto(y, lags=(1, 5)).lags == (1, 5)
    assert auto(y, periods=(1, 12)).periods == (1, 12)
    assert auto(y, transform=LEVEL).transform == LEVEL
    assert auto(y, periods=(1,)).transform == LOG
    assert auto(y - y.mean(), periods=(1,)).transform == LEVEL
    assert auto(y, periods=()).transform == LEVEL


def test_short_series_leave_no_choice():
    choice = auto(np.array([3.0, 1.0, 2.0, 5.0]))
    assert choice == Choice((1,), (), LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("seed", thinned(range(3)))
def test_a_wandering_season_takes_two_differences(seed):
    """Its trend and its season walk at random, as in the airline model."""
    shocks = 0.03 * np.random.default_rng(seed).standard_normal(180)
    yearly = np.zeros(180)
    for t in range(180):
        yearly[t] = (yearly[t - 12] if t >= 12 else 0.0) + shocks[t]
    y = np.exp(5.0 + np.cumsum(yearly) / 12.0)
    assert auto(y, 12, transform=LOG).periods == (1, 12)
