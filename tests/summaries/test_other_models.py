"""Summaries of Gaussian processes, forecasters, fronts and denoised signals."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from sparsebayes import (
    Denoiser,
    Forecaster,
    LeaveOneOutGPR,
    NoisyInputGPR,
    ParetoClassifier,
    ReducedRankGPR,
    denoise,
)
from sparsebayes.datasets import make_signal
from sparsebayes.uncertain import StochasticEM
from tests.summaries.test_machines import lines, plain


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (60, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)


def test_reduced_rank(data):
    X, y = data
    model = ReducedRankGPR(n_support=24, random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    summary = model.summary()
    head, found = lines(summary), plain(summary)
    assert head["support inputs"] == ["24 of 60 rows, chosen by evidence"]
    assert head["kernel"] == [f"{model.kernel_}"] == [found["kernel"]]
    scales = model.kernel_.k2.length_scale
    assert head["length scales"] == [f"a {scales[0]:.3g}, b {scales[1]:.3g}"]
    assert_allclose(found["length_scales"], [scales])
    assert_allclose(found["noise_std"] ** 2, model.noise_variance_)
    assert head["error bars"] == [f"times {model.calibration_:.3g}, by held-out folds"]
    assert found["log_evidence"] == model.log_evidence_
    assert [row["row"] for row in found["support"]] == model.support_.tolist()
    assert_allclose([row["centre"] for row in found["support"]], model.support_vectors_)
    assert_allclose([row["weight"] for row in found["support"]], model.weights_)
    assert_allclose([row["std"] ** 2 for row in found["support"]], np.diagonal(model.sigma_))
    assert "(4 more, of smaller weight" in str(summary)


@pytest.mark.parametrize("normalize", [False, True])
def test_leave_one_out(data, normalize):
    X, y = data
    model = LeaveOneOutGPR(RBF([1.0, 1.0]) + WhiteKernel(0.1), normalize_y=normalize)
    model.fit(X, 20 * y if normalize else y)
    head, found = lines(model.summary()), plain(model.summary())
    unit = np.std(20 * y) if normalize else 1.0
    assert_allclose(found["noise_std"], [unit * np.sqrt(model.kernel_.k2.noise_level)])
    assert found["loo_log_predictive"] == model.loo_log_predictive_
    assert head["leave-one-out"][0].endswith("standardised targets") == normalize
    assert len(found["length_scales"][0]) == 2 and found["rows"] == 60


def test_noisy_inputs(data):
    X, y = data
    model = NoisyInputGPR(input_noise=[0.04, 0.09], method="slope", random_state=0).fit(X, y)
    head, found = lines(model.summary()), plain(model.summary())
    assert head["noise of inputs"] == ["std 0.2, 0.3, given"]
    assert_allclose(found["input_noise_std"], [0.2, 0.3])
    assert found["log_evidence"] == model.log_evidence_ and found["method"] == "Slope()"
    method = StochasticEM(n_chains=2, max_iter=3, n_samples=6)
    with pytest.warns(UserWarning):
        drawn = NoisyInputGPR(input_noise=0.04, method=method, random_state=0).fit(X[:20], y[:20])
    assert plain(drawn.summary())["n_samples"] == len(drawn.samples_)
    assert "NOT CONVERGED" in str(drawn.summary())


@pytest.fixture(scope="module")
def series():
    t = np.arange(72)
    noise = 0.1 * np.random.default_rng(0).standard_normal(72)
    dates = pd.date_range("2010", periods=72, freq="MS")
    return pd.Series(10 + np.sin(np.pi * t / 6) + noise, dates, name="sales")


def test_one_series(series):
    values = series.copy()
    values.iloc[5] = np.nan
    model = Forecaster(random_state=0).fit(values)
    summary = model.summary()
    head, found = lines(summary), plain(summary)
    assert head["series"] == ["sales: 72 values, 1 missing"]
    assert head["seasons"] == ["12 steps"] and found["seasons"] == [12]
    assert [row["model"] for row in found["candidates"]] == [c.name for c in model.candidates_]
    assert [row["weight"] for row in found["candidates"]] == [c.weight for c in model.candidates_]
    assert [row["score"] for row in found["candidates"]] == [c.score for c in model.candidates_]
    assert found["chosen"] == model.chosen_ and found["past"] in model.chosen_
    assert_allclose(found["calibration"], model.calibration_)


def test_an_autoregression(series):
    inputs = np.cos(np.arange(72.0))[:, None]
    model = Forecaster(lags=[1, 2, 12], difference=None, transform=None, calibrate=4)
    model.fit(series.to_numpy(), X=inputs)
    head, found = lines(model.summary()), plain(model.summary())
    assert head["lags"] == ["1, 2, 12"] and found["lags"] == [1, 2, 12]
    assert head["differences"] == ["none"] and head["inputs"] == ["1, lags 0"]
    assert_allclose(found["noise_std"] ** 2, model.noise_variance_)
    assert found["log_evidence"] == model.log_evidence_
    if (model.calibration_ > 1).any():
        last = len(model.calibration_)
        assert f"{model.calibration_[-1]:.2f} at {last}," in head["error bars"][0]


@pytest.mark.slow
def test_a_panel(series):
    table = pd.DataFrame({f"shop {k}": series * k for k in range(1, 23)})
    model = Forecaster(lags=1, difference=None, transform=None, calibrate=None).fit(table)
    summary = model.summary()
    found = plain(summary)
    assert lines(summary)["series"] == ["22"] and "(2 more)" in str(summary)
    assert [row["series"] for row in found["each"]] == list(table.columns)
    assert found["each"][0]["chosen"] == model.forecasters_["shop 1"].chosen_


def test_a_front(data):
    X, y = data
    model = ParetoClassifier(n_evaluations=500, population=20, random_state=0, seeds=None)
    model.fit(X, np.where(y > 0, "up", "down"))
    summary = model.summary(feature_names=["a", "b"])
    found = plain(summary)
    assert lines(summary)["classes"] == ["down, up (positive)"]
    assert found["rows"] == 60 and found["rows_held_out"] == model.counts_[1].sum()
    assert_allclose([row["tpr"] for row in found["front"]], model.front_.tpr)
    assert_allclose([row["held_out_fpr"] for row in found["front"]], model.front_.held_out_fpr)
    alone = ParetoClassifier(n_evaluations=100, population=20, random_state=0, seeds=None,
                             validation_fraction=None).fit(X, y > 0)  # fmt: skip
    assert plain(alone.summary())["front"][0]["held_out_fpr"] is None
    assert "held-out fpr" not in str(alone.summary())


def test_signals():
    _, y, _ = make_signal("bumps", 128, random_state=0)
    result = denoise(np.stack([y, y[::-1]]), "haar", method="sparse", axes=1)
    found = plain(result.summary())
    assert found["shape"] == [2, 128] and found["n_signals"] == 2
    assert_allclose(found["noise_std"], np.sqrt(result.noise_variance))
    assert found["n_active"] == result.n_active.tolist()
    assert lines(result.summary())["coefficients"] == [f"{result.n_active.sum()} of 256 kept"]
    averaged = denoise(y)
    assert lines(averaged.summary())["method"] == [f"average over {averaged.n_bases} bases"]
    fitted = Denoiser(prior="aic").fit([y])
    assert lines(fitted.summary())["prior"] == ["aic"]
    assert json.loads(json.dumps(fitted.summary().to_dict()))["n_samples"] == 128
