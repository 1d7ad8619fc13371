"""The experiments with uncertain inputs and forecasts, on small data."""

import sys

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from experiments.__main__ import main
from experiments.forecasting import calibration, series
from experiments.quinonero2004 import forecasts, ph
from tests.experiments.records import numbers, table


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_uncertain_input_agrees_with_draws(tmp_path):
    pytest.importorskip("matplotlib")
    name = "quinonero2004.uncertain_input"
    assert main([name, "--quick", "--results", str(tmp_path)]) == 0
    rows = table(tmp_path, name)
    exact, taylor, drawn = (
        float(rows[f"standard deviation, {label}"][2])
        for label in ("exact", "Taylor", "Monte Carlo, 20000 draws")
    )
    assert exact == pytest.approx(drawn, rel=0.03)
    assert taylor > 1.3 * exact
    assert is_png(tmp_path / f"{name}.png")


@pytest.mark.slow
def test_forecasts_on_a_short_series(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(forecasts, "LENGTH", 400)
    monkeypatch.setattr(forecasts, "AFTER", 100)
    monkeypatch.setattr(forecasts, "N_TRAIN", 40)
    monkeypatch.setattr(forecasts, "HORIZON", 12)
    monkeypatch.setattr(forecasts, "STEPS", (1, 12))
    monkeypatch.setattr(forecasts, "N_PATHS", 10)
    few = {k: forecasts.MODELS[k] for k in (forecasts.PROCESS, "RVR, noisy inputs")}
    monkeypatch.setattr(forecasts, "MODELS", few)
    name = "quinonero2004.forecasts"
    assert main([name, "--quick", "--repetitions", "2", "--results", str(tmp_path)]) == 0
    rows = table(tmp_path, name)
    assert rows["exact: minus log density"][1] == "0.8473"
    assert float(rows["naive: minus log density"][2]) > float(rows["exact: minus log density"][2])
    assert rows["naive: absolute error"][2] == rows["Taylor: absolute error"][2]
    assert "RVR, noisy inputs: squared error" in rows
    assert "exact <= Taylor <= naive" in capsys.readouterr().out
    assert is_png(tmp_path / f"{name}_fig4_2.png") and is_png(tmp_path / f"{name}_fig4_3.png")


def test_sampled_paths_and_moments_begin_alike(monkeypatch):
    monkeypatch.setattr(forecasts, "LENGTH", 400)
    monkeypatch.setattr(forecasts, "AFTER", 100)
    monkeypatch.setattr(forecasts, "N_TRAIN", 40)
    means, stds, paths, truth = forecasts.sampled(0, (0, 5), 6)
    assert means.shape == stds.shape == (2, 2, 6) and paths.shape == (2, forecasts.N_PATHS, 6)
    np.testing.assert_array_equal(truth[0, 5:], truth[1, :1])  # five steps later
    np.testing.assert_allclose(means[0, :, 0], means[1, :, 0])  # the first input is certain
    np.testing.assert_allclose(stds[0, :, 0], stds[1, :, 0])
    error = stds[0, :, 0] / np.sqrt(forecasts.N_PATHS)
    assert np.all(np.abs(paths[:, :, 0].mean(axis=1) - means[0, :, 0]) < 4 * error)


class Last:
    """Says that the latest value stays."""

    def predict(self, X, return_std=False):
        return X[:, 0], np.ones(len(X))


@pytest.mark.parametrize("noisy", [False, True])
def test_inputs_and_histories_agree(noisy):
    X, y, past, truth = forecasts.task(0, noisy, 30, 5)
    mean, _ = forecasts.forecast(Last(), past, 5, "naive", 0)
    np.testing.assert_array_equal(mean, np.repeat(past[:, -1:], 5, axis=1))
    assert np.mean((X[:, 0] - y) ** 2) < np.mean((X[:, 1] - y) ** 2) < np.mean((X[:, 2] - y) ** 2)
    assert np.mean((past[:, -1] - truth[:, 0]) ** 2) < np.mean((past[:, 0] - truth[:, 0]) ** 2)
    # Clean histories are smooth: their third differences are much smaller than the noise.
    rough = np.diff(past, 3, axis=1).std() > np.sqrt(forecasts.NOISE)
    assert rough == noisy


def test_losses_are_those_of_a_normal_distribution():
    rng = np.random.default_rng(0)
    mean, truth = rng.standard_normal((2, 8, 3))
    variance = rng.uniform(0.2, 0.6, (8, 3))
    found = forecasts.losses(mean, variance, truth)
    density = -norm.logpdf(truth, mean, np.sqrt(variance)).mean(axis=0)
    np.testing.assert_allclose(found[2], density)
    inside = np.abs(norm.cdf(truth, mean, np.sqrt(variance)) - 0.5) < 0.475
    np.testing.assert_allclose(found[3], inside.mean(axis=0))


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """Data of a small plant, and where they are."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1.0, 1.0, (260, 2)).cumsum(axis=0) % 2.0
    y = np.zeros(260)
    for t in range(1, 260):
        y[t] = 0.8 * y[t - 1] + np.tanh(u[t - 1, 0] - u[t - 1, 1]) + 0.05 * rng.standard_normal()
    np.savez(tmp_path / "daisy_ph.npz", t=np.arange(260.0), u=u, y=y)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    return y, u


@pytest.mark.slow
def test_ph_on_a_small_plant(tmp_path, monkeypatch, plant):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(ph, "SIZES", {True: (130, 40, 40)})
    monkeypatch.setattr(ph, "SCALES", (5.0,))
    few = ((ph.PROCESS, "first"), ("RVR", "first"), (ph.PROCESS, "turns"))
    monkeypatch.setattr(ph, "TASKS", few)
    name = "quinonero2004.ph"
    assert main([name, "--quick", "--results", str(tmp_path / "r")]) == 0
    rows = table(tmp_path / "r", name)
    label = "Gaussian process, first part teaches"
    assert rows[f"{label}, naive: minus log density"][1] == "1980.2, other data"
    assert rows["RVR, first part teaches, exact: minus log density"][1] == ""
    naive, taylor = (rows[f"{label}, {way}: absolute error"][4] for way in ("naive", "Taylor"))
    assert naive == taylor  # the same starts
    assert np.isfinite(list(numbers(tmp_path / "r", name).values())).all()
    assert is_png(tmp_path / "r" / f"{name}.png")


def test_ph_rows_hold_the_past(plant):
    y, u = plant
    X, target = ph.rows(y, u, np.arange(8, 260))
    assert X.shape == (252, 24) and target[0] == y[8]
    np.testing.assert_array_equal(X[0, :8], y[7::-1])
    np.testing.assert_array_equal(X[0, 8:12], [*u[7], *u[6]])


@pytest.mark.parametrize("split", list(ph.SPLITS))
def test_ph_never_learns_what_it_forecasts(plant, split):
    data = ph.divided(*plant, split, 120)
    targets = data.starts[:, None] + np.arange(ph.HORIZON)
    assert len(data.train) == 120 and len(data.starts) > 40
    assert targets.max() < len(data.y) and data.starts.min() >= ph.N_LAGS
    assert not np.isin(targets, data.train).any()
    assert data.y[data.train].mean() == pytest.approx(0) and data.u[data.train].std() > 0.9


def test_ph_evidence_is_that_of_scikit_learn(plant):
    X, y = ph.rows(*plant, np.arange(8, 60))
    log = np.random.default_rng(0).uniform(-1.0, 2.0, 25)
    kernel = RBF(np.exp(log[:-1])) + WhiteKernel(np.exp(log[-1]))
    model = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
    value, slope = model.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    found, gradient = ph.negative_evidence(log, X, y)
    assert found == pytest.approx(-value)
    np.testing.assert_allclose(gradient, -slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["quinonero2004.ph", "forecasting.series"])
def test_without_data_is_one_clear_line(name, tmp_path, capsys, monkeypatch):
    pytest.importorskip("statsmodels")
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    assert main([name, "--quick", "--results", str(tmp_path / "r")]) == 2
    assert "SPARSEBAYES_DATA" in capsys.readouterr().err


def test_series_without_statsmodels_names_the_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    assert main(["forecasting.series", "--quick", "--results", str(tmp_path)]) == 2
    assert "sparsebayes[bench]" in capsys.readouterr().err


@pytest.mark.slow
def test_series_on_made_up_data(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("statsmodels")
    rng = np.random.default_rng(0)
    t = np.arange(144)
    airline = np.exp(5 + 0.01 * t + 0.2 * np.sin(t * np.pi / 6) + 0.03 * rng.standard_normal(144))
    year = 50 + 40 * np.sin(np.arange(289) * 2 * np.pi / 11) + 10 * rng.standard_normal(289)
    np.savez(tmp_path / "timeseries_classic.npz", airline=airline, sunspot_year=year)
    monkeypatch.setenv("SPARSEBAYES_DATA", str(tmp_path))
    kept = {k: series.MODELS[k] for k in ("Forecaster, linear RVR", "ARIMA", "seasonal naive")}
    monkeypatch.setattr(series, "MODELS", kept | {"ETS": series.ets})
    assert main(["forecasting.series", "--quick", "--results", str(tmp_path / "r")]) == 0
    rows = table(tmp_path / "r", "forecasting.series")
    line = rows["airline, steps 1 to 12: Forecaster, linear RVR"]
    assert line[4] == "5" and "coverage" in line[2]
    assert "sunspot_year, steps 5 to 12: ETS" in rows
    assert is_png(tmp_path / "r" / "forecasting.series.png")


def test_seasonal_forecast_repeats_the_last_season():
    case = series.CASES["airline"]
    y = np.tile(np.arange(12.0), 12)
    y[:3] += 1.0  # so that there are errors to learn from
    found = series.seasonal(case, y, np.array([100, 110]))
    truth = y[np.array([100, 110])[:, None] + np.arange(24)]
    np.testing.assert_array_equal(found.mean, truth)
    assert found.variance[0, 0] > 0


@pytest.mark.slow
def test_calibration_on_made_up_series(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    walks = np.cumsum(np.repeat(rng.standard_normal((2, 8)), 10, axis=1), axis=1)
    groups = {"a": walks[0], "short": walks[0, :14]}, {"b": walks[1], "other": walks[1]}
    groups[0]["a"][:] += 0.1 * rng.standard_normal(80)
    monkeypatch.setattr(calibration, "collect", lambda: groups)
    monkeypatch.setattr(calibration, "QUICK", ("a", "short", "b"))
    name = "forecasting.calibration"
    assert main([name, "--quick", "--results", str(tmp_path)]) == 0
    rows = table(tmp_path, name)
    assert rows["a: calibrate=None"][4] == "3" and rows["held out: calibrate=auto"][4] == "1"
    assert "CRPS 1.000" in rows["b: calibrate=None"][2]
    assert not any(row.startswith(("short", "other")) for row in rows)


def test_scores_of_cuts_are_averaged():
    steps = np.arange(6.0)
    rows = {
        "None": np.array([steps / 6, steps + 1, steps]),
        "auto": np.array([steps, steps, -steps]),
    }
    found = calibration.summary([rows, rows], "auto")
    np.testing.assert_allclose(found, [2.5, 4.5, np.log(2.5 / 3.5), -2.5])
