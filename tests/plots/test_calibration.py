"""The calibration display: flat and diagonal for right predictions, and only for those."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, scores
from sparsebayes.datasets import make_sinc
from sparsebayes.plots import CalibrationDisplay


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=2000), rng.uniform(0.5, 2.0, 2000)
    return rng.normal(mean, std), mean, std


@pytest.fixture(scope="module")
def sinc():
    X, y, _ = make_sinc(120, random_state=0)
    return RVR().fit(X[::2], y[::2]), X[1::2], y[1::2]


def heights(display):
    return np.array([bar.get_height() for bar in display.histogram_])


def edges(band):
    """The lower and the upper edge of a band, at its first point."""
    points = band.get_paths()[0].vertices
    return points[points[:, 0] == points[:, 0].min(), 1]


def outside(display):
    """Where the curve leaves its band, as the mean excess."""
    p, observed = display.line_.get_data()
    low, high = binom.interval(display.band, display.pit.size, p)
    n = display.pit.size
    return np.mean(observed < low / n), np.mean(observed > high / n)


def test_histogram_is_the_density_of_the_pit_values(truth):
    display = CalibrationDisplay.from_predictions(*truth, n_bins=8)
    expected, _ = np.histogram(scores.pit_values(*truth), 8, (0, 1), density=True)
    assert_allclose(heights(display), expected)
    assert_allclose(heights(display).mean(), 1.0)
    low, high = binom.interval(0.95, 2000, 1 / 8)
    edge = edges(display.bands_[0])
    assert_allclose([edge.min(), edge.max()], [low / 250, high / 250])


def test_curve_is_the_coverage_of_the_intervals(truth):
    display = CalibrationDisplay.from_predictions(*truth)
    for p, observed in np.transpose(display.line_.get_data())[::20]:
        assert_allclose(observed, scores.interval_coverage(*truth, coverage=p))


def test_right_predictions_stay_in_the_bands(truth):
    display = CalibrationDisplay.from_predictions(*truth)
    assert max(outside(display)) < 0.1
    low, high = binom.interval(0.999, 2000, 0.1)
    assert np.all((heights(display) >= low / 200) & (heights(display) <= high / 200))


@pytest.mark.parametrize(("factor", "side"), [(0.7, 0), (1.4, 1)])
def test_wrong_spreads_leave_them(truth, factor, side):
    y, mean, std = truth
    display = CalibrationDisplay.from_predictions(y, mean, factor * std)
    assert outside(display)[side] > 0.8
    ends, middle = heights(display)[[0, -1]], heights(display)[4:6]
    assert (ends.min() > middle.max()) if factor < 1 else (ends.max() < middle.min())


def test_a_wider_band_and_fewer_samples_spread(truth):
    few = [v[:50] for v in truth]
    spans = [
        np.ptp(edges(CalibrationDisplay.from_predictions(*data, band=band).bands_[0]))
        for data, band in ((truth, 0.95), (few, 0.8), (few, 0.99))
    ]
    assert spans[0] < spans[1] < spans[2]


def test_estimators_are_asked_for_their_spread(sinc):
    model, X, y = sinc
    display = CalibrationDisplay.from_estimator(model, X, y)
    assert_allclose(display.pit, scores.pit_values(y, *model.predict(X, return_std=True)))
    assert "RVR" in display.line_.get_label() and "n = 60" in display.line_.get_label()
    ridge = make_pipeline(StandardScaler(), BayesianRidge()).fit(X, y)
    display = CalibrationDisplay.from_estimator(ridge, X, y)
    assert display.name == "BayesianRidge" and display.pit.shape == y.shape


def test_given_axes_are_used_and_no_figure_is_opened(truth):
    figure = plt.figure()
    pair = figure.subplots(1, 2)
    before = plt.get_fignums()
    display = CalibrationDisplay.from_predictions(*truth, axes=pair)
    assert list(display.axes_) == list(pair) and display.figure_ is figure
    assert plt.get_fignums() == before
    assert [ax.get_xlabel() for ax in pair] == ["PIT value", "nominal coverage"]


def test_refusals(truth, sinc):
    model, X, y = sinc
    with pytest.raises(ValueError, match="std must be positive"):
        CalibrationDisplay.from_predictions(*truth[:2], np.zeros(2000))
    with pytest.raises(ValueError, match="n_bins must be a whole number >= 1, got 0"):
        CalibrationDisplay.from_predictions(*truth, n_bins=0)
    with pytest.raises(ValueError, match="band must lie between 0 and 1, got 95"):
        CalibrationDisplay.from_estimator(model, X, y, band=95)
    with pytest.raises(ValueError, match="axes must be 2 Axes"):
        CalibrationDisplay.from_predictions(*truth, axes=plt.gca())
    with pytest.raises(NotFittedError):
        CalibrationDisplay.from_estimator(RVR(), X, y)
    classifier = LogisticRegression().fit(X, y > 0)
    with pytest.raises(ValueError, match=r"sklearn\.calibration\.CalibrationDisplay"):
        CalibrationDisplay.from_estimator(classifier, X, y)


def test_without_matplotlib_the_extra_is_named(truth, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"sparsebayes\[plots\]"):
        CalibrationDisplay.from_predictions(*truth)
