"""Linear autoregressions against dense formulas, loops and draws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_t

from sparsebayes.forecasting.candidates import linear
from sparsebayes.forecasting.candidates.linear import (
    LinearAutoregression,
    Posterior,
    lags_of,
    try_out,
)
from sparsebayes.forecasting.candidates.record import Guesses, Record
from sparsebayes.forecasting.candidates.seasons import NONE, Seasons
from sparsebayes.forecasting.lags import Differences
from sparsebayes.forecasting.transforms import LEVEL, LOG

PERIODS = [(), (1,), (1, 4)]


def series(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.zeros(n)
    for t in range(2, n):
        y[t] = 0.5 * y[t - 1] - 0.3 * y[t - 2] + rng.standard_normal()
    return 20 + y + np.array([1.0, -1.0, 2.0, -2.0])[np.arange(n) % 4]


def plain_rows(model, y, inputs, times):
    """Rows and targets, one after another."""
    changes = (model.differences.apply(model.transform.of(y)) - model.center) / model.scale
    order = model.differences.order
    rows = [[1.0, *(changes[t - order - lag] for lag in model.lags), *inputs[t]] for t in times]
    return np.array(rows), changes[np.array(times) - order]


@pytest.mark.parametrize("periods", PERIODS)
def test_weights_and_evidence_are_those_of_dense_formulas(monkeypatch, periods):
    """Shares are ratios of Student densities of all targets."""
    monkeypatch.setattr(linear, "_KEPT", 100)
    y, inputs = series(), np.random.default_rng(1).standard_normal((90, 2))
    model = LinearAutoregression.of(y, LEVEL, Differences(periods), 4)
    found = model.learn(Record(y, inputs), np.array([90]))[0]
    rows, targets = plain_rows(model, y, inputs, range(model.n_past, 90))
    dense = []
    for precision in model._precisions(2):
        cov = np.eye(len(rows)) + (rows / precision) @ rows.T
        frozen = multivariate_t(np.zeros(len(rows)), linear._SCALE * cov, df=linear._DEGREES)
        inverse = np.linalg.inv(rows.T @ rows + np.diag(precision))
        rest = linear._DEGREES * linear._SCALE + targets @ np.linalg.solve(cov, targets)
        noise = rest / (linear._DEGREES + len(rows) - 2)
        dense.append((frozen.logpdf(targets), inverse @ rows.T @ targets, inverse, noise))
    dense.sort(key=lambda one: -one[0])
    assert len(found.share) == len(dense) == 12
    evidence = np.array([one[0] for one in dense])
    share = np.exp(evidence - evidence.max())
    np.testing.assert_allclose(found.share, share / share.sum(), rtol=1e-6)
    for k, (_, weights, inverse, noise) in enumerate(dense):
        np.testing.assert_allclose(found.weights[k], weights, atol=1e-9)
        np.testing.assert_allclose(found.inverse[k], inverse, atol=1e-9)
        assert found.variance[k] == pytest.approx(noise)


def test_the_prior_knows_of_seasons():
    model = LinearAutoregression.of(series(), LEVEL, Differences(()), 12)
    by_lag = dict(
        zip(model.lags.tolist(), model._precisions(0)[-1][1:], strict=True)
    )  # s = 2, k = 2
    assert by_lag[1] == by_lag[12] == by_lag[24] == 0.5
    assert by_lag[2] == by_lag[11] == by_lag[13] == 2.0
    assert by_lag[4] == 8.0


def test_each_origin_learns_from_what_came_before():
    y, inputs = series(), np.random.default_rng(1).standard_normal((90, 1))
    model = LinearAutoregression.of(y, LEVEL, Differences((1,)), 4)
    for posterior, origin in zip(
        model.learn(Record(y, inputs), np.array([30, 55, 90])), (30, 55, 90), strict=True
    ):
        alone = model.learn(Record(y[:origin], inputs), np.array([origin]))[0]
        for name in ("weights", "inverse", "variance", "share"):
            np.testing.assert_allclose(getattr(posterior, name), getattr(alone, name), atol=1e-9)


def test_guesses_are_lags_and_no_targets():
    y, inputs = series(), np.empty((90, 0))
    values, places = y.copy(), np.array([20, 21, 60])
    values[places] = np.nan
    guesses = Guesses(places, y[places] + 0.3, 0.1 * np.eye(3), LEVEL)
    record = Record(values, inputs, guesses)
    model = LinearAutoregression.of(record.filled, LEVEL, Differences((1,)), 4)
    found = model.learn(record, np.array([90]))[0]
    times = [t for t in range(model.n_past, 90) if t not in places]
    rows, targets = plain_rows(model, record.filled, inputs, times)
    precision = 1.0 / np.diagonal(np.linalg.inv(np.linalg.inv(found.inverse[0]) - rows.T @ rows))
    expected = np.linalg.solve(rows.T @ rows + np.diag(precision), rows.T @ targets)
    np.testing.assert_allclose(found.weights[0], expected, atol=1e-6)
    assert np.abs(model._precisions(0) / precision - 1).sum(axis=1).min() < 1e-6


def frame(periods, lags=(1, 2, 5), scale=1.7, transform=LEVEL):
    return LinearAutoregression(transform, Differences(periods), np.array(lags), 4, 0.8, scale)


def posterior(seed=0, spread=0.0, variance=0.5, n_inputs=1):
    rng = np.random.default_rng(seed)
    weights = np.concatenate([[0.2, 0.4, -0.3, 0.2], rng.standard_normal(n_inputs)])
    root = np.sqrt(spread) * rng.standard_normal((len(weights), len(weights)))
    return Posterior(weights[None], (root @ root.T)[None], np.array([variance]), np.ones(1))


def follow(model, weights, past, inputs, errors):
    """One path of the levels, step by step."""
    levels, changes = list(past), None
    path = []
    polynomial = model.differences.polynomial()
    for h, error in enumerate(errors):
        changes = (model.differences.apply(np.array(levels)) - model.center) / model.scale
        row = [1.0, *(changes[-lag] for lag in model.lags), *inputs[h]]
        change = model.center + model.scale * (weights @ row + error)
        level = change - sum(polynomial[j] * levels[-j] for j in range(1, len(polynomial)))
        levels.append(level)
        path.append(level)
    return np.array(path)


@pytest.mark.parametrize("periods", PERIODS)
def test_means_are_those_of_a_loop(periods):
    model, known = frame(periods), posterior()
    rng = np.random.default_rng(1)
    past, inputs = rng.standard_normal((2, 15)), rng.standard_normal((2, 8, 1))
    found = model.paths([known, known], past, inputs)
    for i in range(2):
        expected = follow(model, known.weights[0], past[i], inputs[i], np.zeros(8))
        np.testing.assert_allclose(found.mean[i], expected, atol=1e-10)


@pytest.mark.parametrize("periods", PERIODS)
def test_errors_of_the_series_are_carried_along(periods):
    model, known = frame(periods), posterior()
    past, inputs = np.random.default_rng(1).standard_normal((1, 15)), np.zeros((1, 8, 1))
    base = follow(model, known.weights[0], past[0], inputs[0], np.zeros(8))
    effects = np.array(
        [follow(model, known.weights[0], past[0], inputs[0], e) - base for e in np.eye(8)]
    )
    found = model.paths([known], past, inputs)
    np.testing.assert_allclose(found.cov[0], 0.5 * effects.T @ effects, atol=1e-10)
    np.testing.assert_array_equal(found.variance[0], np.diagonal(found.cov[0]))


@pytest.mark.slow
@pytest.mark.parametrize("periods", PERIODS)
def test_errors_of_the_weights_are_the_same_at_all_steps(periods):
    """Means and covariances of drawn weights and errors."""
    model, known = frame(periods), posterior(spread=0.5, variance=1e-5)
    rng = np.random.default_rng(2)
    past, inputs = 2 + rng.standard_normal((1, 15)), rng.standard_normal((1, 6, 1))
    found = model.paths([known], past, inputs)
    root = np.linalg.cholesky(1e-5 * known.inverse[0])
    paths = np.array(
        [
            follow(
                model,
                known.weights[0] + root @ rng.standard_normal(5),
                past[0],
                inputs[0],
                np.sqrt(1e-5) * rng.standard_normal(6),
            )
            for _ in range(6000)
        ]
    )
    std = paths.std(axis=0)
    np.testing.assert_allclose(found.mean[0] / std, paths.mean(axis=0) / std, atol=0.06)
    scaled = np.outer(std, std)
    np.testing.assert_allclose(found.cov[0] / scaled, np.cov(paths.T) / scaled, atol=0.07)
    sure = model.paths([replace(known, inverse=0 * known.inverse)], past, inputs)
    assert found.variance[0, -1] > 1.2 * sure.variance[0, -1]  # they matter here


@pytest.mark.parametrize("periods", PERIODS)
def test_guessed_values_add_what_they_move(periods):
    model, known = frame(periods), posterior()
    rng = np.random.default_rng(3)
    n_past = model.n_past
    past, inputs = rng.standard_normal((1, n_past + 3)), rng.standard_normal((1, 6, 1))
    root = np.zeros((n_past, n_past))
    root[[0, 2, n_past - 1]] = rng.standard_normal((3, n_past))
    doubt = (root @ root.T)[None]
    base = follow(model, known.weights[0], past[0], inputs[0], np.zeros(6))
    moved = []
    for place in range(n_past):
        other = past[0].copy()
        other[place + 3] += 1.0
        moved.append(follow(model, known.weights[0], other, inputs[0], np.zeros(6)) - base)
    sure, found = (model.paths([known], past, inputs, guess) for guess in (None, doubt))
    extra = np.array(moved).T @ doubt[0] @ np.array(moved)
    np.testing.assert_allclose(found.cov[0] - sure.cov[0], extra, atol=1e-9)
    np.testing.assert_array_equal(found.mean, sure.mean)
    alone = model.paths([known], past, inputs, doubt, with_cov=False)
    np.testing.assert_allclose(alone.variance, found.variance)


def test_a_grid_is_one_gaussian_with_its_moments():
    model = frame((1,))
    one, other = posterior(0), posterior(5, variance=2.0)
    both = Posterior(
        *(
            np.concatenate([getattr(p, name) for p in (one, other)])
            for name in ("weights", "inverse")
        ),
        np.array([0.5, 2.0]),
        np.array([0.3, 0.7]),
    )
    past, inputs = np.random.default_rng(1).standard_normal((1, 9)), np.ones((1, 5, 1))
    parts = [model.paths([p], past, inputs) for p in (one, other)]
    found = model.paths([both], past, inputs)
    mean = 0.3 * parts[0].mean + 0.7 * parts[1].mean
    apart = [part.mean[0] - mean[0] for part in parts]
    cov = sum(
        w * (part.cov[0] + np.outer(a, a))
        for w, part, a in zip((0.3, 0.7), parts, apart, strict=True)
    )
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.cov[0], cov)


def test_unstable_weights_stay_finite():
    weights = np.array([[0.1, 40.0, 0.0, 0.0]])
    known = Posterior(weights, 1e-3 * np.eye(4)[None], np.ones(1), np.ones(1))
    found = frame(()).paths([known], np.ones((1, 6)), np.zeros((1, 400, 0)))
    assert np.isfinite(found.mean).all() and np.isfinite(found.cov).all()


def test_tried_out_from_the_past():
    y = np.exp(0.05 * series(120))
    origins = np.array([3, 40, 80, 119])
    trials = try_out(Record(y, np.empty((120, 0))), origins, 6, [LEVEL, LOG], PERIODS, 4, NONE)
    names = [str(trial.model) for trial in trials]
    assert names[0] == "autoregression" and "log autoregression of differences 1, 4" in names
    assert len(set(names)) == 6
    for trial in trials:
        assert np.isnan(trial.past.mean[0]).all()  # too little to learn from
        assert np.isfinite(trial.past.mean[1:]).all() and trial.past.mean.shape == (4, 6)
        model = replace(trial.model, posterior=None)
        alone = model.learn(Record(y[:40], np.empty((40, 0))), np.array([40]))[0]
        again = replace(model, posterior=alone)
        record = Record(y[:40], np.empty((46, 0)))
        found = again.forecasts(record, np.array([40]), 6, "auto")
        np.testing.assert_allclose(found.mean[0], trial.past.mean[1], rtol=1e-8)
        np.testing.assert_allclose(found.variance[0], trial.past.variance[1], rtol=1e-8)
    assert (
        try_out(Record(y[:6], np.empty((6, 0))), np.array([5]), 2, [LEVEL], [(1,)], 1, NONE) == []
    )


def test_forecasts_cover_what_comes():
    rng = np.random.default_rng(7)
    z = []
    for seed in range(8):
        y = series(140, seed + 20)
        trials = try_out(
            Record(y[:120], np.empty((120, 0))), np.array([100]), 2, [LEVEL], [()], 4, NONE
        )
        record = Record(y[:120], np.empty((140, 0)))
        found = trials[0].model.forecasts(record, np.array([120]), 20, "auto")
        z.append((y[120:] - found.mean[0]) / found.std[0])
        paths = trials[0].model.sample(record, 20, 4000, rng)
        np.testing.assert_allclose(paths.std(axis=0), found.std[0], rtol=0.06)
    assert 0.85 < np.sqrt(np.mean(np.square(z))) < 1.15


def test_lags_and_useful_lags():
    np.testing.assert_array_equal(lags_of(6, 1), [1])
    assert lags_of(90, 12).tolist() == [*range(1, 9), 11, 12, 13, 24]
    assert lags_of(1000, 1).tolist() == list(range(1, 25))
    rng = np.random.default_rng(3)
    y = np.zeros(400)
    for t in range(5, 400):
        y[t] = 0.5 * y[t - 1] - 0.4 * y[t - 5] + rng.standard_normal()
    record = Record(y, np.empty((400, 0)))
    useful = LinearAutoregression.of(y, LEVEL, Differences(()), 1).useful(record)
    assert {1, 5} <= set(useful) and len(useful) <= 4


@pytest.mark.parametrize("periods", PERIODS)
def test_units_of_the_series_do_not_matter(periods):
    """Also far from 0, where sums of squares would have no digits left."""
    y, origins = series(), np.array([50, 70])
    inputs = np.empty((90, 0))
    (one,), (other,) = (
        try_out(Record(values, inputs), origins, 6, [LEVEL], [periods], 4, NONE)
        for values in (y, 1e7 + 4.0 * y)
    )
    np.testing.assert_allclose(other.past.mean - 1e7, 4.0 * one.past.mean, rtol=1e-5)
    np.testing.assert_allclose(other.past.variance, 16.0 * one.past.variance, rtol=1e-5)


def test_constant_series_far_from_nothing():
    for value in (0.0, 1e8, -1e12):
        record = Record(np.full(30, value), np.empty((30, 0)))
        for trial in try_out(record, np.array([20]), 4, [LEVEL], PERIODS, 4, NONE):
            np.testing.assert_allclose(trial.past.mean, value, rtol=1e-9)
            assert np.isfinite(trial.past.variance).all()


def test_waves_of_a_long_season_are_inputs():
    """The same as giving them."""
    y, origins = series(), np.array([60, 75])
    waves = Seasons((31.5,), (2,))
    given = np.random.default_rng(1).standard_normal((96, 1))
    both = np.hstack([given, waves.rows(np.arange(96))])
    (one,) = try_out(Record(y, given), origins, 6, [LEVEL], [(1,)], 4, waves)
    (other,) = try_out(Record(y, both), origins, 6, [LEVEL], [(1,)], 4, NONE)
    assert str(one.model) == "autoregression of differences 1, season 31.5 in 2 waves"
    np.testing.assert_allclose(one.past.mean, other.past.mean, rtol=1e-9)
    end = np.array([90])
    found, expected = (
        trial.model.forecasts(Record(y, inputs), end, 6, "auto")
        for trial, inputs in ((one, given), (other, both))
    )
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-9)
    np.testing.assert_allclose(found.cov, expected.cov, rtol=1e-9)
