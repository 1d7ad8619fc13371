"""Backtests: the same as forecasts made one by one, and scores against those of the package."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import lognorm
from sklearn.base import clone

from sparsebayes import RVR, scores
from sparsebayes.forecasting import Forecaster
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.transforms import LOG

PLAIN = {"difference": None, "transform": None}
SCORES = ["nlpd", "crps", "coverage", "absolute_error", "squared_error"]


def process(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1))
    y = np.zeros(n)
    for t in range(2, n):
        y[t] = 0.8 * np.sin(2 * y[t - 1]) - 0.3 * y[t - 2] + 0.5 * X[t - 1, 0]
        y[t] += 0.2 * rng.standard_normal()
    return y, X


Y, X = process(160, 0)


@pytest.fixture(scope="module", params=[[], [1]], ids=["levels", "differences"])
def model(request):
    model = Forecaster(RVR(adapt=None), lags=2, exog_lags=[1], transform=None, random_state=0)
    return model.set_params(difference=request.param).fit(Y[:120], X[:120])


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["exact", "naive", "taylor"])
def test_all_origins_at_once_are_forecasts_one_by_one(model, method):
    result = model.backtest(Y, 5, step=9, X=X, methods=method)
    np.testing.assert_array_equal(result.origins, [120, 129, 138, 147])
    for i, origin in enumerate(result.origins):
        one = clone(model).fit(Y[:120], X[:120])
        if origin > 120:
            one.update(Y[120:origin], X[120:origin])
        mean, std = one.predict(5, X[origin : origin + 4], return_std=True, method=method)
        np.testing.assert_allclose(result[method].mean[i], mean, atol=1e-9)
        np.testing.assert_allclose(result[method].std[i], std, rtol=1e-6)
        np.testing.assert_array_equal(result.truth[i], Y[origin : origin + 5])


def test_scores_are_those_of_the_package(model):
    result = model.backtest(Y, 4, X=X, coverage=0.8)
    found = result["auto"]
    for k in range(4):
        args = result.truth[:, k], found.mean[:, k], found.std[:, k]
        assert result.nlpd[k] == pytest.approx(scores.negative_log_predictive_density(*args))
        assert result.crps[k] == pytest.approx(scores.crps(*args))
        assert result.coverage[k] == pytest.approx(scores.interval_coverage(*args, coverage=0.8))
        error = result.truth[:, k] - found.mean[:, k]
        assert result.absolute_error[k] == pytest.approx(np.abs(error).mean())
        assert result.squared_error[k] == pytest.approx((error**2).mean())


def test_scores_of_lognormal_forecasts():
    rng = np.random.default_rng(0)
    mean, variance = np.array([[0.3, 1.0]]), np.array([[0.2, 0.5]])
    truth = np.array([[1.1, 4.0]])
    density, crps = Forecasts(mean, variance, LOG).losses(truth)
    draws = np.exp(mean + np.sqrt(variance) * rng.standard_normal((200_000, 2)))
    spread = np.abs(draws[:100_000] - draws[100_000:]).mean(axis=0)
    expected = np.abs(draws - truth).mean(axis=0) - 0.5 * spread
    np.testing.assert_allclose(crps[0], expected, rtol=0.02)
    frozen = lognorm(np.sqrt(variance), scale=np.exp(mean))
    np.testing.assert_allclose(density, -frozen.logpdf(truth))
    level_mean, level_std = Forecasts(mean, variance, LOG).levels()
    np.testing.assert_allclose([level_mean, level_std], [frozen.mean(), frozen.std()])


@pytest.mark.slow
def test_propagation_is_better_than_the_naive_way(model):
    y, inputs = process(400, 7)
    methods = ["exact", "naive", "monte_carlo"]
    result = model.backtest(y, 8, X=inputs, step=2, methods=methods, n_paths=200)
    assert result.methods == methods
    exact, naive, sampled = (result[method] for method in methods)
    assert exact.nlpd[3:].mean() < naive.nlpd[3:].mean() - 0.02
    np.testing.assert_allclose(exact.nlpd, sampled.nlpd, atol=0.15)
    assert np.abs(exact.coverage - 0.95).max() < 0.1


def test_where_the_first_forecast_starts():
    y = Y - Y.min() + 1
    model = Forecaster(RVR("linear"), lags=3, **PLAIN).fit(y[:100])
    assert model.backtest(y, 4).origins[0] == 100  # y begins with the training series
    assert model.backtest(y[5:], 4).origins[0] == 3  # a series of its own
    assert model.backtest(y[:100], 4).origins[0] == 3
    assert model.backtest(y, 4, start=50).origins[0] == 50
    np.testing.assert_array_equal(model.backtest(y, 4, start=150, step=3).origins, [150, 153, 156])

    days = pd.Series(y, pd.date_range("2020-01-01", periods=160))
    model = Forecaster(RVR("linear"), lags=3, **PLAIN).fit(days[:100])
    whole, later = model.backtest(days, 4), model.backtest(days[100:], 4)
    np.testing.assert_array_equal(whole.origins, later.origins)
    np.testing.assert_array_equal(whole.nlpd, later.nlpd)


def test_refit_from_too_few_values_says_where_to_start():
    model = Forecaster(RVR("linear"), lags=2, **PLAIN).fit(Y[:40])
    with pytest.raises(ValueError, match=r"refit=True finds no model of the first 2 .* a larger"):
        model.backtest(Y[50:80], 2, refit=True)


@pytest.mark.slow
def test_refit_fits_each_origin_to_what_came_before():
    model = Forecaster(RVR("linear"), lags=2, **PLAIN).fit(Y[:100])
    result = model.backtest(Y[:124], 3, step=10, refit=True)
    for i, origin in enumerate(result.origins):
        mean, std = clone(model).fit(Y[:origin]).predict(3, return_std=True)
        np.testing.assert_allclose(result["auto"].mean[i], mean)
        np.testing.assert_allclose(result["auto"].std[i], std)
    np.testing.assert_array_equal(model.y_, Y[:100])
    assert (result.nlpd != model.backtest(Y[:124], 3, step=10).nlpd).any()


def test_tables(model):
    result = model.backtest(Y, 5, X=X, methods=["auto", "naive"])
    frame = result.to_frame()
    assert list(frame) == SCORES and len(frame) == 10
    np.testing.assert_array_equal(frame.loc["naive", "crps"], result["naive"].crps)
    lines = str(result).splitlines()
    assert lines[0] == "36 origins, 5 steps ahead, intervals of 95 %"
    assert len(lines) == 12 and lines[2].split()[:2] == ["auto", "1"]
    assert len(str(model.backtest(Y, 30, X=X)).splitlines()) < 14
    assert result.n_origins == 36 and result.horizon == 5 and result.nominal == 0.95


@pytest.mark.parametrize(
    ("args", "options", "error", "match"),
    [
        ((Y[:122], 5), {"X": X[:122]}, ValueError, r"122 values, too few.*first 120"),
        ((Y, 5), {}, ValueError, r"X must be given to backtest"),
        ((Y, 5), {"X": X[1:]}, ValueError, r"X must have shape \(160, 1\)"),
        ((Y, 5), {"X": X, "start": 1}, ValueError, r"start must be a whole number >= [23]"),
        ((Y, 5), {"X": X, "methods": ["best"]}, ValueError, r"methods must be one of"),
        ((Y, 5), {"X": X, "coverage": 2}, ValueError, r"coverage must lie between 0 and 1"),
        ((Y, 0), {"X": X}, ValueError, r"horizon must be"),
    ],
)
def test_refused(model, args, options, error, match):
    with pytest.raises(error, match=match):
        model.backtest(*args, **options)


def test_unknown_method(model):
    with pytest.raises(KeyError, match="only by"):
        model.backtest(Y, 2, X=X)["taylor"]
