"""Autoregressions by an estimator: uncertain pasts, and when a process is tried."""

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge

from sparsebayes import ReducedRankGPR
from sparsebayes.forecasting.candidates.record import Guesses, Record
from sparsebayes.forecasting.candidates.recursive import Recursive, curvature, try_out
from sparsebayes.forecasting.lags import Differences
from sparsebayes.forecasting.propagation import Recursion
from sparsebayes.forecasting.transforms import LEVEL, LOG

PERIODS = [(), (1,), (1, 4)]
WEIGHTS, INTERCEPT, NOISE = np.array([0.5, -0.3, 0.2]), 0.1, 0.4


def linear_recursion(periods, transform=LEVEL, noise=NOISE):
    """A sure linear model of lags 1, 2 and 5, with known noise."""
    model = BayesianRidge().fit(np.eye(3), np.arange(3.0))
    model.coef_, model.intercept_ = WEIGHTS, INTERCEPT
    model.sigma_, model.alpha_ = np.zeros((3, 3)), 1.0 / noise**2
    model.X_offset_ = np.zeros(3)
    return Recursion(model, (1, 2, 5), transform, Differences(periods), 0.3, 1.6)


def follow(recursion, past, errors):
    """One path of the levels, step by step."""
    levels, polynomial = list(past), recursion.differences.polynomial()
    for error in errors:
        changes = recursion.differences.apply(np.array(levels))
        lagged = (changes[[-1, -2, -5]] - recursion.center) / recursion.scale
        change = recursion.center + recursion.scale * (INTERCEPT + WEIGHTS @ lagged + error)
        known = sum(polynomial[j] * levels[-j] for j in range(1, len(polynomial)))
        levels.append(change - known)
    return np.array(levels[len(past) :])


def doubt_of(size, places, rng):
    root = np.zeros((size, size))
    root[places] = rng.standard_normal((len(places), size)) / np.sqrt(size)
    return root @ root.T


@pytest.mark.parametrize("periods", PERIODS)
@pytest.mark.parametrize("surplus", [0, 3])
def test_uncertain_pasts_are_carried_along(periods, surplus):
    recursion = linear_recursion(periods)
    rng = np.random.default_rng(0)
    size = recursion.differences.order + 5 + surplus
    past, known = 10 + rng.standard_normal((2, size)), np.zeros((2, 7, 0))
    doubt = np.array([doubt_of(size, [1, 2, size - 1], rng), doubt_of(size, [size - 2], rng)])
    found = recursion.gaussian(past, known, "taylor", with_cov=True, doubt=doubt)
    for i in range(2):
        base = follow(recursion, past[i], np.zeros(7))
        shocks = np.array([follow(recursion, past[i], e) - base for e in NOISE * np.eye(7)]).T
        moved = np.array([follow(recursion, past[i] + e, np.zeros(7)) - base for e in np.eye(size)])
        expected = shocks @ shocks.T + moved.T @ doubt[i] @ moved
        np.testing.assert_allclose(found.mean[i], base, atol=1e-9)
        np.testing.assert_allclose(found.cov[i], expected, atol=1e-8)
        np.testing.assert_allclose(found.variance[i], np.diagonal(expected), atol=1e-8)
    sure = recursion.gaussian(past, known, "taylor", with_cov=True, doubt=0 * doubt)
    plain = recursion.gaussian(past, known, "taylor", with_cov=True)
    np.testing.assert_allclose(sure.cov, plain.cov, atol=1e-10)


@pytest.mark.parametrize("periods", PERIODS)
@pytest.mark.parametrize("transform", [LEVEL, LOG])
def test_sampled_paths_have_uncertain_pasts_too(periods, transform):
    model = Recursive(linear_recursion(periods, transform, noise=0.1))
    rng = np.random.default_rng(1)
    z = 1 + 0.1 * rng.standard_normal(20)
    values, places = transform.back(z.copy()), np.array([14, 17, 18, 19])
    values[places] = np.nan
    cov = 0.2 * doubt_of(4, range(4), rng) + 0.05
    record = Record(values, np.empty((26, 0)), Guesses(places, z[places], cov, transform))
    found = model.forecasts(record, np.array([20]), 6, "taylor")
    paths = model.sample(record, 6, 20_000, np.random.RandomState(0))
    std = found.std[0]
    np.testing.assert_allclose(paths.mean(axis=0) / std, found.mean[0] / std, atol=0.03)
    units = np.outer(std, std)
    np.testing.assert_allclose(np.cov(paths.T) / units, found.cov[0] / units, atol=0.05)


@pytest.mark.parametrize("periods", PERIODS)
@pytest.mark.parametrize("transform", [LEVEL, LOG])
def test_a_gap_at_the_end_is_a_part_of_the_path(periods, transform):
    """Where guesses are vague, forecasts after it are those from before it."""
    model = Recursive(linear_recursion(periods, transform, noise=0.1))
    z = 1 + 0.1 * np.random.default_rng(1).standard_normal(20)
    values, places = transform.back(z.copy()), np.arange(16, 20)
    values[places] = np.nan
    guesses = Guesses(places, z[places] + 3.0, 25.0 * np.eye(4), transform)
    found = model.forecasts(Record(values, np.empty((26, 0)), guesses), np.array([20]), 6, "taylor")
    before = Record(values[:16], np.empty((26, 0)))
    expected = model.forecasts(before, np.array([16]), 10, "taylor")
    np.testing.assert_allclose(found.mean[0], expected.mean[0, 4:], atol=1e-9)
    np.testing.assert_allclose(found.cov[0], expected.cov[0, 4:, 4:], atol=1e-8)
    sure = Guesses(places, z[places], 1e-9 * np.eye(4), transform)  # these are not replaced
    kept = model.forecasts(Record(values, np.empty((26, 0)), sure), np.array([20]), 6, "taylor")
    complete = Record(transform.back(z), np.empty((26, 0)))
    known = model.forecasts(complete, np.array([20]), 6, "taylor")
    np.testing.assert_allclose(kept.mean, known.mean, atol=1e-9)
    np.testing.assert_allclose(kept.cov, known.cov, atol=1e-6)


def chaos(n=200, noise=0.01, seed=0):
    rng = np.random.default_rng(seed)
    y = np.full(n, 0.4)
    for t in range(1, n):
        y[t] = np.clip(3.7 * y[t - 1] * (1 - y[t - 1]) + noise * rng.standard_normal(), 0.01, 1)
    return y


def record_of(y):
    return Record(y, np.empty((len(y), 0)))


def test_curvature_is_rarely_found_where_there_is_none():
    rng = np.random.default_rng(0)
    chances = []
    for _ in range(300):
        y = np.zeros(120)
        errors = rng.standard_normal(120)
        for t in range(1, 120):
            y[t] = 0.7 * y[t - 1] + errors[t]
        chances.append(curvature(record_of(y), LEVEL, 1))
    shares = [np.mean(np.array(chances) < level) for level in (0.05, 0.25, 0.5)]
    np.testing.assert_allclose(shares, [0.05, 0.25, 0.5], atol=0.08)
    assert curvature(record_of(chaos()), LEVEL, 1) < 1e-12
    assert curvature(record_of(np.full(60, 3.0)), LEVEL, 1) == 1.0
    assert curvature(record_of(chaos(4)), LEVEL, 1) == 1.0  # too few


@pytest.mark.slow
def test_a_process_is_tried_where_the_series_is_curved():
    y, origins = chaos(), np.array([70, 120, 150, 180])
    (trial,) = try_out(record_of(y), origins, 4, [LEVEL], (), 1, 0)
    assert str(trial.model) == "autoregression by ReducedRankGPR"
    assert isinstance(trial.model.recursion.model, ReducedRankGPR)
    assert np.isnan(trial.past.mean[:2]).all()  # it learned from the first two thirds
    truth = y[origins[2:, None] + np.arange(4)]
    assert np.abs(trial.past.mean[2:, 0] - truth[:, 0]).max() < 0.05
    noise = np.random.default_rng(0).standard_normal(200)
    assert try_out(record_of(noise), origins, 4, [LEVEL], (), 1, 0) == []
    assert try_out(record_of(y[:30]), np.array([25]), 4, [LEVEL], (), 1, 0) == []
