"""Displays: what they draw, and that they leave pyplot alone."""

import doctest
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, plots
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_friedman1, make_sinc
from sparsebayes.plots import EvidenceDisplay, RegressionDisplay


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def sinc():
    X, y, _ = make_sinc(60, random_state=0)
    return RVR(RBF(2.0)).fit(X, y), X, y


def test_curve_and_band_are_the_prediction(sinc):
    model, X, y = sinc
    display = RegressionDisplay.from_estimator(model, X, y, coverage=0.8, n_grid=50)
    grid = display.line_.get_xdata()
    mean, std = model.predict(grid[:, None], return_std=True)
    assert len(grid) == 50 and grid[0] < X.min() and grid[-1] > X.max()
    assert_allclose(display.line_.get_ydata(), mean)
    half = norm.ppf(0.9) * std
    edge = display.band_.get_paths()[0].vertices[:, 1]
    assert_allclose([edge.min(), edge.max()], [(mean - half).min(), (mean + half).max()])
    assert_allclose(display.data_.get_offsets(), np.column_stack([X[:, 0], y]))


def test_relevance_vectors_are_circled_at_their_data(sinc):
    model, X, y = sinc
    display = RegressionDisplay.from_estimator(model, X, y)
    circled = np.asarray(display.relevance_.get_offsets())
    assert_array_equal(circled[:, 0], np.sort(model.relevance_vectors_[:, 0]))
    rows = np.searchsorted(X[:, 0], circled[:, 0])
    assert_array_equal(circled[:, 1], y[rows])
    assert 2 < len(circled) < 20


def test_vectors_outside_the_data_shown_are_not_circled(sinc):
    model, X, y = sinc
    display = RegressionDisplay.from_estimator(model, X[:30], y[:30])
    expected = np.sum(model.relevance_vectors_[:, 0] <= X[29, 0])
    assert len(display.relevance_.get_offsets()) == expected


def test_pipeline_circles_in_the_units_of_the_data():
    X, y, _ = make_sinc(60, random_state=0)
    pipeline = make_pipeline(StandardScaler(), RVR(RBF(0.35))).fit(X, y)
    display = RegressionDisplay.from_estimator(pipeline, X, y)
    circled = np.asarray(display.relevance_.get_offsets())
    assert len(circled) == len(pipeline[-1].relevance_vectors_) > 2
    assert np.all(np.isin(circled[:, 0], X[:, 0]))
    assert EvidenceDisplay.from_estimator(pipeline).path.size > 0


def test_labels(sinc):
    model, X, y = sinc
    frame, series = pd.DataFrame(X, columns=["volts"]), pd.Series(y, name="amps")
    ax = RegressionDisplay.from_estimator(RVR(RBF(2.0)).fit(frame, series), frame, series).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("volts", "amps")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == "95 % interval" and texts[-1].startswith("relevance vectors (")
    ax = RegressionDisplay.from_estimator(model, X, y, feature_name="s", target_name="t").ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("s", "t")


def test_evidence_path_and_its_best_point(sinc):
    model, _, _ = sinc
    display = EvidenceDisplay.from_estimator(model)
    assert_array_equal(display.line_.get_ydata(), model.evidence_path_)
    best = np.asarray(display.best_.get_offsets())[0]
    assert best[1] == max(model.evidence_path_)
    assert model.evidence_path_[int(best[0]) - 1] == best[1]
    assert display.ax_.get_xlabel() == "accepted step"
    assert display.ax_.get_ylabel() == "log evidence (nats)"


def test_the_objective_is_named_after_the_prior():
    X, y, _ = make_sinc(60, random_state=0)
    model = RVR(RBF(2.0), prior="bic").fit(X, y)
    assert "log prior" in EvidenceDisplay.from_estimator(model).ax_.get_ylabel()


def test_given_axes_are_used_and_no_figure_is_opened(sinc):
    model, X, y = sinc
    backend = matplotlib.get_backend()
    figure = matplotlib.figure.Figure()
    left, right = figure.subplots(1, 2)
    assert RegressionDisplay.from_estimator(model, X, y, ax=left).figure_ is figure
    assert EvidenceDisplay.from_estimator(model, ax=right).ax_ is right
    assert plt.get_fignums() == []
    assert matplotlib.get_backend() == backend


def test_examples_in_docstrings():
    result = doctest.testmod(plots)
    assert result.attempted > 0 and result.failed == 0


def test_refusals(sinc):
    model, X, y = sinc
    with pytest.raises(ValueError, match=r"one input: X must have shape .* got \(50, 10\)"):
        X10, y10, _ = make_friedman1(50, random_state=0)
        RegressionDisplay.from_estimator(model, X10, y10)
    with pytest.raises(ValueError, match=r"got \(60,\)"):
        RegressionDisplay.from_estimator(model, X[:, 0], y)
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got 95"):
        RegressionDisplay.from_estimator(model, X, y, coverage=95)
    with pytest.raises(ValueError, match="y must have shape"):
        RegressionDisplay.from_estimator(model, X, y[:5])
    with pytest.raises(NotFittedError):
        RegressionDisplay.from_estimator(RVR(), X, y)
    with pytest.raises(NotFittedError):
        EvidenceDisplay.from_estimator(RVR())


def test_without_matplotlib_the_extra_is_named(sinc, monkeypatch):
    model, X, y = sinc
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[plots\]"'):
        RegressionDisplay.from_estimator(model, X, y)
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[plots\]"'):
        EvidenceDisplay.from_estimator(model)
