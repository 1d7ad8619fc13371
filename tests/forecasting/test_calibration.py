"""Bands that are widened by what forecasts of the end of the series tell."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge

from sparsebayes import RVR
from sparsebayes.forecasting import Forecaster, calibration
from sparsebayes.persistence import load, save

LINEAR = RVR("linear")


def drifting(n=160, seed=0):
    """A walk whose slope changes, which a model of one step does not know of."""
    rng = np.random.default_rng(seed)
    slope = np.repeat(rng.standard_normal(n // 20 + 1), 20)[:n]
    return 50 + np.cumsum(0.5 * slope + 0.3 * rng.standard_normal(n))


def pair(y, calibrate=15, X=None, **options):
    """The same forecaster without and with factors."""
    options = {"lags": 2, "difference": 1, "transform": None, "random_state": 0} | options
    model = Forecaster(LINEAR, calibrate=calibrate, **options).fit(y, X)
    return clone(model).set_params(calibrate=None).fit(y, X), model


@pytest.fixture(scope="module")
def models():
    return pair(drifting())


@pytest.mark.slow
def test_factors_widen_and_leave_means_alone(models):
    plain, model = models
    assert plain.calibration_.tolist() == [1.0]
    assert model.calibration_.shape == (24,) and (model.calibration_ >= 1).all()
    assert model.calibration_.max() > 1.2
    (mean, std), (same, wider) = (m.predict(30, return_std=True) for m in models)
    factors = np.append(model.calibration_, np.full(6, model.calibration_[-1]))
    np.testing.assert_array_equal(mean, same)
    np.testing.assert_allclose(wider, factors * std)
    lower, upper = model.predict_interval(30)
    before = plain.predict_interval(30)
    np.testing.assert_allclose(upper - lower, factors * (before[1] - before[0]))
    cov = plain.predict(30, return_cov=True)[1]
    np.testing.assert_allclose(
        model.predict(30, return_cov=True)[1], cov * np.outer(factors, factors), rtol=1e-10
    )


def test_paths_are_widened_about_the_mean_whatever_their_number(models):
    plain, model = models
    factors, mean = model.calibration_[:8], model.predict(8)
    expected = mean + factors * (plain.simulate(8, 50) - mean)
    np.testing.assert_allclose(model.simulate(8, 50), expected)
    np.testing.assert_allclose(model.simulate(8, 1), mean + factors * (plain.simulate(8, 1) - mean))
    drawn = model.predict(8, return_std=True, method="monte_carlo", n_paths=4000)
    np.testing.assert_allclose(drawn[1], model.predict(8, return_std=True)[1], rtol=0.08)


def test_backtests_take_the_factors_too(models):
    plain, model = models
    y = np.append(model.y_, drifting(40, seed=1) - 50 + model.y_[-1])
    found, before = (m.backtest(y, 6, methods=["auto", "naive"]) for m in (model, plain))
    for method in ("auto", "naive"):
        np.testing.assert_array_equal(found[method].mean, before[method].mean)
        np.testing.assert_allclose(
            found[method].std, before[method].std * model.calibration_[:6], rtol=1e-10
        )


def test_logarithms_are_widened_in_the_logarithm():
    plain, model = pair(np.exp(0.1 * drifting()), transform="log")
    assert model.calibration_.max() > 1.2
    wide, narrow = (np.log(m.predict_interval(9)) for m in (model, plain))
    ratio = (wide[1] - wide[0]) / (narrow[1] - narrow[0])
    np.testing.assert_allclose(ratio, model.calibration_[:9])
    np.testing.assert_allclose(wide.sum(axis=0), narrow.sum(axis=0))


def test_right_bands_are_left_about_as_they_are():
    rng = np.random.default_rng(3)
    y = np.zeros(400)
    for t in range(1, 400):
        y[t] = 0.7 * y[t - 1] + rng.standard_normal()
    _, model = pair(y, lags=1, difference=None)
    assert model.calibration_.max() < 1.1


@pytest.mark.slow
def test_coverage_comes_nearer_to_what_is_asked_for():
    inside = {None: [], 15: []}
    for seed in range(6):
        y = drifting(190, seed)
        for calibrate, found in inside.items():
            model = Forecaster(LINEAR, lags=2, difference=1, transform=None, calibrate=calibrate)
            found.append(model.fit(y[:160]).backtest(y, 10, step=4).coverage.mean())
    assert np.mean(inside[None]) + 0.05 < np.mean(inside[15]) <= 1.0


@pytest.mark.slow
def test_factors_are_those_of_held_out_forecasts():
    """One origin and step after another, without the code that does it at once."""
    y = drifting(60)
    _, model = pair(y, calibrate=20, lags=1)
    early = clone(model).set_params(calibrate=None).fit(y[:40])
    whole = clone(model).set_params(calibrate=None).fit(y)
    z = np.full((20, 20), np.nan)
    for i, origin in enumerate(range(40, 60)):
        steps = 60 - origin
        first = clone(early).fit(y[:40])
        if origin > 40:
            first.update(y[40:origin])
        mean, own = first.predict(steps, return_std=True)
        std = np.maximum(own, whole.backtest(y, steps, start=origin)["auto"].std[0])
        z[i, :steps] = np.abs(y[origin:] - mean) / std
    squares = np.pi / 2 * np.nanmean(z, axis=0) ** 2
    h = np.arange(1, 21)
    weight = np.minimum(21 - h, (21 - h) / h)
    near = np.exp(-0.5 * (np.log(h[:, None] / h) / 0.6) ** 2)
    squares = np.array([np.average(squares, weights=weight * row) for row in near])
    common = (5 + 20 * np.average(squares, weights=weight)) / 25
    expected = np.sqrt(np.maximum((5 * common + weight * squares) / (5 + weight), 1))
    assert expected.max() > 1.05
    np.testing.assert_allclose(model.calibration_, expected, rtol=1e-8)


@pytest.mark.slow
def test_inputs_of_held_out_steps_are_used():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 1))
    y = 10.0 * X[:, 0] + 0.1 * rng.standard_normal(240)
    _, model = pair(y, X=X, lags=1, difference=None)
    assert model.calibration_.max() < 1.3
    lagged = pair(y, X=X, lags=1, difference=None, exog_lags=[0, 3])[1]
    assert lagged.calibration_.max() < 1.3


@pytest.mark.slow
def test_the_estimator_is_not_calibrated_besides():
    _, model = pair(drifting(), calibrate=10)
    assert model.estimator_.calibrate is None and model.estimator_.calibration_ == 1.0
    foreign = Forecaster(BayesianRidge(), lags=2, difference=None, transform=None)
    assert foreign.fit(drifting()).calibration_.tolist() == [1.0]  # "auto" costs no second fit
    assert foreign.set_params(calibrate=15).fit(drifting()).calibration_.shape == (24,)


@pytest.mark.slow
def test_short_series_are_left_alone():
    y = drifting(14)
    assert pair(y, calibrate="auto")[1].calibration_.tolist() == [1.0]  # and no warning
    with pytest.warns(UserWarning, match=r"of 14 values is too short.*3 values before.*15 after"):
        assert pair(y, calibrate=5)[1].calibration_.tolist() == [1.0]
    assert len(pair(drifting(18), calibrate=5)[1].calibration_) == 5


def test_a_constant_series_has_no_factor():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, model = pair(np.full(60, 3.0), lags=1, difference=None)
    assert np.isfinite(model.calibration_).all()
    assert np.isfinite(model.predict(5, return_std=True)).all()
    assert calibration.step_factors(np.full((4, 3), np.nan), 10).tolist() == [1.0]


@pytest.mark.parametrize("calibrate", [1, 2.5, "yes", [3], True, np.nan])
def test_what_is_no_way_to_calibrate_is_refused(calibrate):
    with pytest.raises(ValueError, match="calibrate must be 'auto', None or a number of origins"):
        Forecaster(LINEAR, calibrate=calibrate).fit(drifting(40))


def test_files_keep_the_factors(models, tmp_path):
    model = models[1]
    save(model, tmp_path / "model.sbm")
    again = load(tmp_path / "model.sbm")
    np.testing.assert_array_equal(again.calibration_, model.calibration_)
    found, expected = (m.predict(30, return_std=True) for m in (again, model))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_pandas_has_the_same_factors(models):
    index = pd.period_range("2000-01", periods=160, freq="M")
    _, dated = pair(pd.Series(drifting(), index))
    std = dated.predict(30, return_std=True)[1]
    np.testing.assert_array_equal(std, models[1].predict(30, return_std=True)[1])
    assert std.index[0] == pd.Period("2013-05", "M")
