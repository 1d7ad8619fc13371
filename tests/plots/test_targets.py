"""Displays of regressions with several targets, and of noise with outliers."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as Kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, StudentT, scores
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_sinc
from sparsebayes.plots import CalibrationDisplay, EvidenceDisplay, RegressionDisplay

X, SINC, _ = make_sinc(60, noise=0.1, random_state=0)
Y = np.column_stack([SINC, 50.0 + 10.0 * np.cos(X[:, 0] / 2) + SINC, -SINC])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return RVR(RBF(2.0)).fit(X, Y)


@pytest.fixture(scope="module")
def robust():
    y = SINC.copy()
    y[::9] += 2.0
    return RVR(RBF(2.0), noise=StudentT(3.0)).fit(X, y), y


def extremes(band):
    edge = band.get_paths()[0].vertices[:, 1]
    return [edge.min(), edge.max()]


def test_each_target_has_a_panel_of_its_own_prediction(model):
    display = RegressionDisplay.from_estimator(model, X, Y, coverage=0.8, n_grid=50)
    assert display.ax_.shape == (3,) and list(display.figure_.axes) == list(display.ax_)
    grid = display.line_[0].get_xdata()
    mean, std = model.predict(grid[:, None], return_std=True)
    half = norm.ppf(0.9) * std
    for k in range(3):
        assert display.line_[k].axes is display.ax_[k]
        assert_allclose(display.line_[k].get_data(), [grid, mean[:, k]])
        low, high = mean[:, k] - half[:, k], mean[:, k] + half[:, k]
        assert_allclose(extremes(display.band_[k]), [low.min(), high.max()])
        assert_allclose(display.data_[k].get_offsets(), np.column_stack([X[:, 0], Y[:, k]]))
        for drawn in (display.band_, display.data_, display.relevance_):
            assert drawn[k].axes is display.ax_[k]
        assert display.ax_[k].get_ylim()[1] < Y[:, k].max() + 5.0  # each has its own scale


def test_relevance_vectors_are_circled_in_every_panel(model):
    display = RegressionDisplay.from_estimator(model, X, Y)
    rows = np.flatnonzero(np.isin(X[:, 0], model.relevance_vectors_[:, 0]))
    assert 2 < len(rows) < 30
    for k in range(3):
        circled = np.asarray(display.relevance_[k].get_offsets())
        expected = np.column_stack([X[rows, 0], Y[rows, k]])
        assert_array_equal(circled[np.argsort(circled[:, 0])], expected)


def test_panels_share_inputs_and_legend(model):
    display = RegressionDisplay.from_estimator(model, X, Y)
    assert [ax.get_xlabel() for ax in display.ax_] == ["", "", "x"]
    assert [ax.get_ylabel() for ax in display.ax_] == ["y0", "y1", "y2"]
    assert [ax.get_legend() is None for ax in display.ax_] == [False, True, True]
    display.ax_[0].set_xlim(-3, 3)
    assert display.ax_[2].get_xlim() == (-3, 3)


def test_names_of_targets(model):
    frame = pd.DataFrame(Y, columns=["amps", "volts", 7])
    names = [ax.get_ylabel() for ax in RegressionDisplay.from_estimator(model, X, frame).ax_]
    assert names == ["amps", "volts", "7"]
    for given, shown in (("t", ["t0", "t1", "t2"]), (["a", "b", "c"], ["a", "b", "c"])):
        display = RegressionDisplay.from_estimator(model, X, frame, target_name=given)
        assert [ax.get_ylabel() for ax in display.ax_] == shown


def test_given_panels_are_used_and_no_figure_is_opened(model):
    figure = matplotlib.figure.Figure()
    panels = figure.subplots(1, 3)
    display = RegressionDisplay.from_estimator(model, X, Y, ax=panels)
    assert list(display.ax_) == list(panels) and display.figure_ is figure
    assert [ax.get_xlabel() for ax in panels] == ["x", "x", "x"]  # each has inputs of its own
    square = matplotlib.figure.Figure().subplots(2, 2, sharex=True)
    assert display.plot(square.ravel()[:3]).ax_[2] is square[1, 0]
    assert display.plot(list(panels)).ax_[1] is panels[1]
    assert plt.get_fignums() == []


def test_one_target_in_a_column_has_one_panel():
    model = RVR(RBF(2.0)).fit(X, Y[:, :1])
    display = RegressionDisplay.from_estimator(model, X, Y[:, :1])
    assert display.ax_.shape == (1,) and len(display.line_) == 1
    assert (display.ax_[0].get_xlabel(), display.ax_[0].get_ylabel()) == ("x", "y")
    assert RegressionDisplay.from_estimator(model, X, Y[:, :1], ax=plt.gca()).ax_[0] is plt.gca()


def test_pipelines_constants_and_other_models():
    flat = np.column_stack([SINC, np.full(60, 4.0)])
    pipeline = make_pipeline(StandardScaler(), RVR(RBF(0.35))).fit(X, flat)
    display = RegressionDisplay.from_estimator(pipeline, X, flat)
    assert_allclose(display.line_[1].get_ydata(), 4.0)
    circled = np.asarray(display.relevance_[1].get_offsets())
    assert len(circled) == len(pipeline[-1].relevance_vectors_) > 2
    assert np.all(np.isin(circled[:, 0], X[:, 0]))
    process = GaussianProcessRegressor(Kernel(2.0), alpha=0.01, optimizer=None).fit(X, flat)
    display = RegressionDisplay.from_estimator(process, X, flat)
    assert display.relevance.shape == (0, 3) and len(display.ax_) == 2


def test_the_evidence_of_several_targets_is_one_path(model):
    assert_array_equal(EvidenceDisplay.from_estimator(model).path, model.evidence_path_)


def test_refusals(model):
    draw = RegressionDisplay.from_estimator
    with pytest.raises(ValueError, match=r"y must have shape \(60, 3\) .* 3 targets.* got \(60,\)"):
        draw(model, X, SINC)
    with pytest.raises(ValueError, match=r"y must have shape \(60, 3\) .* got \(60, 2\)"):
        draw(model, X, Y[:, :2])
    with pytest.raises(ValueError, match=r"y must have shape \(60, 3\) .* got \(5, 3\)"):
        draw(model, X, Y[:5])
    one = RVR(RBF(2.0)).fit(X, SINC)
    with pytest.raises(ValueError, match=r"y must have shape \(60,\) .* one target .* \(60, 3\)"):
        draw(one, X, Y)
    with pytest.raises(ValueError, match=r"ax must be an array of 3 .* got <Axes.*subplots\(3\)"):
        draw(model, X, Y, ax=plt.gca())
    with pytest.raises(ValueError, match=r"ax must be an array of 3 matplotlib Axes"):
        draw(model, X, Y, ax=plt.figure().subplots(2))
    with pytest.raises(ValueError, match=r"a list of 3, one for each target, got \['a', 'b'\]"):
        draw(model, X, Y, target_name=["a", "b"])


def test_calibration_says_how_to_draw_one_of_several(model):
    mean, std = model.predict(X, return_std=True)
    with pytest.raises(ValueError, match=r"one target, got estimator with 3; .*y\[:, k\]"):
        CalibrationDisplay.from_estimator(model, X, Y)
    with pytest.raises(ValueError, match=r"one target, got y with 3; choose one"):
        CalibrationDisplay.from_predictions(Y, mean, std)
    with pytest.raises(ValueError, match=r"one target, got mean with 3"):
        CalibrationDisplay.from_predictions(Y[:, 0], mean, std)
    display = CalibrationDisplay.from_predictions(Y[:, 1], mean[:, 1], std[:, 1])
    assert_allclose(display.pit, scores.pit_values(Y[:, 1], mean[:, 1], std[:, 1]))


@pytest.mark.slow
def test_the_band_of_noise_with_outliers_has_heavier_tails(robust):
    model, y = robust
    pipeline = make_pipeline(StandardScaler(), RVR(noise=StudentT(3.0))).fit(X, y)
    for estimator in (model, pipeline):
        display = RegressionDisplay.from_estimator(estimator, X, y, coverage=0.9, n_grid=50)
        assert display.nu == 3.0
        # 68 % are within the standard deviation, as they are of a normal distribution.
        half = student.ppf(0.95, 3) / student.ppf(norm.cdf(1.0), 3) * display.std
        low, high = display.mean - half, display.mean + half
        assert_allclose(extremes(display.band_), [low.min(), high.max()])
        assert (half > 1.1 * norm.ppf(0.95) * display.std).all()


def test_noise_that_has_no_outliers_has_the_usual_band():
    model = RVR(RBF(2.0), noise=StudentT()).fit(X, SINC)
    assert model.nu_ == np.inf
    display = RegressionDisplay.from_estimator(model, X, SINC, n_grid=50)
    half = norm.ppf(0.975) * display.std
    low, high = display.mean - half, display.mean + half
    assert_allclose(extremes(display.band_), [low.min(), high.max()])
    assert_allclose(
        CalibrationDisplay.from_estimator(model, X, SINC).pit,
        scores.pit_values(SINC, *model.predict(X, return_std=True)),
    )


def test_calibration_with_outliers_asks_the_same_distribution(robust):
    model, y = robust
    mean, std = model.predict(X, return_std=True)
    unit = std / student.ppf(norm.cdf(1.0), 3)
    expected = student.cdf(y, 3, mean, unit)
    assert_allclose(CalibrationDisplay.from_estimator(model, X, y).pit, expected)
    assert_allclose(CalibrationDisplay.from_predictions(y, mean, std, nu=3.0).pit, expected)


@pytest.mark.slow
def test_the_band_of_noise_that_varies_is_the_prediction():
    y = SINC + np.random.default_rng(1).normal(scale=np.exp(0.3 * X[:, 0] - 2.0))
    model = RVR(RBF(2.0), noise="varying").fit(X, y)
    display = RegressionDisplay.from_estimator(model, X, y, n_grid=50)
    std = model.predict(display.grid[:, None], return_std=True)[1]
    assert std[-1] > 5.0 * std[0]
    half = norm.ppf(0.975) * std
    assert_allclose(extremes(display.band_)[1], (display.mean + half).max())
