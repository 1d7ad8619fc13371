"""One model for all series of a panel."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import RVR
from sparsebayes.forecasting import Forecaster, pooling
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.lag_choice import Choice, choose_common
from sparsebayes.gp import ReducedRankGPR

H = 4
GIVEN = {"lags": 2, "difference": None, "transform": None}


def oscillating(n=25, count=30, seed=0):
    """AR(2) series of different levels and units."""
    rng = np.random.default_rng(seed)
    y = np.zeros((60 + n, count))
    for t in range(2, 60 + n):
        y[t] = 1.2 * y[t - 1] - 0.8 * y[t - 2] + rng.standard_normal(count)
    return rng.uniform(-50, 50, count) + rng.uniform(1, 10, count) * y[60:]


def chaotic(n=25, count=30, seed=0):
    """A nonlinear law, with little noise."""
    rng = np.random.default_rng(seed)
    y = np.empty((60 + n, count))
    y[0] = rng.uniform(0.2, 0.8, count)
    for t in range(1, 60 + n):
        step = 3.8 * y[t - 1] * (1 - y[t - 1]) + 0.005 * rng.standard_normal(count)
        y[t] = np.clip(step, 0.01, 0.99)
    return rng.uniform(1, 10, count) * y[60:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "model", "steps"),
    [
        (oscillating, RVR, H),
        pytest.param(chaotic, ReducedRankGPR, 2, marks=pytest.mark.slow),
    ],
)
def test_short_series_of_one_law_learn_from_each_other(law, model, steps):
    y = law(25 + steps)
    scale, truth = y[:25].std(axis=0), y[25:]
    pooled = Forecaster(pool=True).fit(y[:25])
    assert all(isinstance(one.estimator_, model) for one in pooled.forecasters_.values())
    mean, std = pooled.predict(steps, return_std=True)
    assert mean.shape == std.shape == (steps, 30)
    errors = [
        np.abs((found - truth) / scale).mean()
        for found in (mean, Forecaster().fit(y[:25]).predict(steps))
    ]
    assert errors[0] < 0.85 * errors[1]
    inside = np.abs(mean - truth) < 1.96 * std
    assert inside.mean() > 0.85


def test_one_model_in_the_units_of_each_series():
    y = oscillating()
    model = Forecaster(RVR("linear"), pool=True, **GIVEN).fit(y)
    shared = {id(one.estimator_) for one in model.forecasters_.values()}
    assert len(shared) == 1
    z = (y - y.mean(axis=0)) / y.std(axis=0)
    rows = np.concatenate([np.column_stack([s[1:-1], s[:-2]]) for s in z.T])
    targets = np.concatenate([s[2:] for s in z.T])
    alone = RVR("linear", calibrate=None).fit(rows, targets)
    expected = y.mean(axis=0) + y.std(axis=0) * alone.predict(z[[-1, -2]].T)
    assert_allclose(model.predict(1)[0], expected)
    noise = y[:, 3].std() ** 2 * alone.noise_variance_
    assert_allclose(model.forecasters_[3].noise_variance_, noise)
    assert model.forecasters_[3].chosen_ == "1.00 pooled autoregression by RVR"
    assert model.forecasters_[3].lags_ == [1, 2]


@pytest.mark.slow
def test_series_of_different_lengths_with_gaps_and_inputs():
    rng = np.random.default_rng(1)
    y = oscillating(40, 6)
    u = rng.standard_normal(40 + H)
    y += 30.0 * u[:40, None]
    times = pd.date_range("2020-01-01", periods=40 + H, freq="MS")
    table = pd.DataFrame(y, times[:40], list("abcdef"))
    table.iloc[:28, 1] = np.nan
    table.iloc[20, 2] = np.nan
    X = pd.DataFrame({"u": u}, times)
    model = Forecaster(pool=True, lags=2, difference=None, transform=None).fit(table, X)
    assert [one.n_times_ for one in model.forecasters_.values()] == [40, 12, 40, 40, 40, 40]
    found = model.predict(H, X)
    assert found.index.equals(times[40:]) and np.isfinite(found.to_numpy()).all()
    swing = model.predict(1, pd.DataFrame({"u": [1.0]}, times[40:41]))
    swing = swing - model.predict(1, pd.DataFrame({"u": [0.0]}, times[40:41]))
    assert_allclose(swing.mean(axis=1), 30.0, rtol=0.3)
    limits = model.predict_interval(H, 0.9, X)
    assert (limits["b", "lower"] < found["b"]).all() and (found["b"] < limits["b", "upper"]).all()
    model.update(table.iloc[-1:].set_axis(times[40:41]), X)
    assert model.forecasters_["b"].n_times_ == 12 and len(model.forecasters_["b"].y_) == 13
    assert set(model.simulate(2, 5, X[41:])) == set("abcdef")


@pytest.mark.slow
def test_nothing_reaches_further_than_the_shortest_series():
    pattern = np.tile(np.random.default_rng(3).uniform(-100, 100, 12), 5)
    y = pattern[:, None] + oscillating(60, 8)
    whole = Forecaster(pool=True, seasons=12).fit(y)
    y[:54, 2] = np.nan
    model = Forecaster(pool=True, seasons=12).fit(y)
    past = {one.n_past_ for one in model.forecasters_.values()}
    assert len(past) == 1 and past.pop() <= 5
    assert whole.forecasters_[0].n_past_ >= 12
    assert np.isfinite(model.predict(H)).all()


@pytest.mark.slow
def test_calibration_by_the_last_third_of_all_series():
    y = oscillating(60, 10)
    y[40:] += np.cumsum(np.full((20, 10), 8.0), axis=0)  # what no model has learned
    plain, wide = (Forecaster(pool=True, calibrate=c, **GIVEN).fit(y) for c in (None, 5))
    assert_array_equal(plain.forecasters_[0].calibration_, [1.0])
    assert all(one.calibration_[-1] > 1.0 for one in wide.forecasters_.values())
    assert_array_equal(wide.predict(H), plain.predict(H))


def test_the_law_is_chosen_by_all_series():
    records = [Record(y, np.empty((25, 0))) for y in oscillating().T]
    choice = choose_common(records, (), 1, 1, Choice(None, None, None))
    assert choice.lags[:2] == (1, 2) and choice.periods == ()
    walks = np.cumsum(np.random.default_rng(0).normal(2.0, 1.0, (25, 30)), axis=0)
    records = [Record(y, np.empty((25, 0))) for y in walks.T]
    assert choose_common(records, (), 1, 1, Choice(None, None, None)).periods == (1,)
    assert choose_common(records, (), 1, 1, Choice(None, None, None), reach=2).lags == (1,)


@pytest.mark.slow
def test_many_rows_are_sampled_with_the_seed(monkeypatch):
    y = oscillating(60, 20)
    every = Forecaster(pool=True, **GIVEN).fit(y).predict(1)
    monkeypatch.setattr(pooling, "_ROWS", 200)
    first, again, other = (
        Forecaster(pool=True, random_state=seed, **GIVEN).fit(y) for seed in (0, 0, 1)
    )
    assert_array_equal(first.predict(1), again.predict(1))
    assert not np.array_equal(first.predict(1), other.predict(1))
    assert_allclose(first.predict(1), every, atol=0.2 * y.std())


@pytest.mark.slow
def test_a_series_alone_is_the_same_autoregression():
    model = Forecaster(pool=True).fit(oscillating())
    one = model.forecasters_[4]
    assert not one.pool and one.lags == one.lags_ and one.transform is None
    refitted = one.backtest(oscillating()[:, 4], 2, 2, start=20, refit=True)
    assert refitted.n_origins == 2 and np.isfinite(refitted.crps).all()


@pytest.mark.parametrize(
    ("y", "options", "match"),
    [
        (oscillating()[:, 0], {}, r"pool=True is for several series .* pool=False"),
        (oscillating(5), {"lags": 5}, r"Series 0 has 5 values, too few for lags=\[1, 2, 3, 4, 5\]"),
        (-1.0 - chaotic(), {"transform": "log"}, r"Series 0: y has -.* no logarithm"),
    ],
)
def test_refused(y, options, match):
    with pytest.raises(ValueError, match=match):
        Forecaster(pool=True, **options).fit(y)


def test_too_few_rows():
    inputs = np.arange(3.0)[:, None]
    with pytest.raises(ValueError, match=r"y has 6 values in 2 series.*after the first 3 of their"):
        Forecaster(pool=True, exog_lags=[0, 3], **GIVEN | {"lags": 1}).fit(
            oscillating(3, 2), inputs
        )
