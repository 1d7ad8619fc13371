"""Displays: what they draw, and that they leave pyplot alone."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_friedman1, make_sinc
from sparsebayes.plots import ClassificationDisplay, EvidenceDisplay, RegressionDisplay
from tests.classical import classical


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def sinc():
    X, y, _ = make_sinc(60, random_state=0)
    return RVR(RBF(2.0)).fit(X, y), X, y


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(80, noise=0.2, random_state=0)
    return classical(RBF(0.6)).fit(X, y), X, y


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(90, centers=3, cluster_std=2.2, random_state=1)
    y = np.array(["red", "green", "blue"])[y]
    return classical(RBF(3.0)).fit(X, y), X, y


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


@pytest.mark.slow
def test_the_objective_is_named_after_the_prior():
    X, y, _ = make_sinc(60, random_state=0)
    model = RVR(RBF(2.0), prior="bic").fit(X, y)
    assert "log prior" in EvidenceDisplay.from_estimator(model).ax_.get_ylabel()


def on_boundary(display):
    """Points of the drawn decision boundary."""
    return np.vstack([path.vertices for drawn in display.boundary_ for path in drawn.get_paths()])


def test_two_classes_are_shaded_by_the_probability_of_the_second(moons):
    model, X, y = moons
    display = ClassificationDisplay.from_estimator(model, X, y, grid_resolution=30, margin=0.25)
    low, high = X.min(axis=0), X.max(axis=0)
    assert_allclose([display.xx0[0, 0], display.xx1[0, 0]], low - 0.25 * (high - low))
    assert_allclose([display.xx0[-1, -1], display.xx1[-1, -1]], high + 0.25 * (high - low))
    assert display.probability.shape == (30, 30, 2)
    at = np.array([[display.xx0[4, 20], display.xx1[4, 20]]])
    assert_allclose(display.probability[4, 20], model.predict_proba(at)[0])
    (surface,) = display.surface_
    assert_allclose(surface.levels, np.linspace(0, 1, 11))
    assert_allclose(surface.get_array(), surface.levels[:-1] + 0.05)  # from the first to the second
    inner = np.s_[1:-1, 1:-1]
    points = np.column_stack([display.xx0[inner].ravel(), display.xx1[inner].ravel()])
    p = model.predict_proba(points)[:, 1]
    assert_array_equal(surface.get_paths()[0].contains_points(points), p < 0.1)
    assert_array_equal(surface.get_paths()[-1].contains_points(points), p > 0.9)
    assert 0.1 < np.mean(p < 0.1) < 0.6 and 0.1 < np.mean(p > 0.9) < 0.6
    red, _, blue = surface.to_rgba([0.02, 0.98])[:, :3].T
    assert blue[0] > red[0] and red[1] > blue[1]
    assert display.colorbar_.ax.get_ylabel() == "probability of class 1"


def test_boundary_is_where_the_decision_changes(moons):
    model, X, y = moons
    display = ClassificationDisplay.from_estimator(model, X, y, grid_resolution=200)
    points = on_boundary(display)
    assert len(points) > 100
    assert_allclose(model.predict_proba(points)[:, 1], 0.5, atol=0.02)


@pytest.mark.slow
def test_several_classes_are_drawn_where_they_lead(blobs):
    model, X, y = blobs
    display = ClassificationDisplay.from_estimator(model, X, y, grid_resolution=40)
    assert len(display.surface_) == 3 and display.probability.shape == (40, 40, 3)
    inner = np.s_[1:-1, 1:-1]
    grid = np.column_stack([display.xx0[inner].ravel(), display.xx1[inner].ravel()])
    grid = display.ax_.transData.transform(grid)  # in pixels
    best = display.probability.argmax(axis=2)[inner].ravel()
    for k, surface in enumerate(display.surface_):
        path, affine = surface.get_clip_path().get_transformed_path_and_affine()
        inside = affine.transform_path(path).contains_points(grid)
        assert_array_equal(inside, best == k)
    top_two = np.sort(model.predict_proba(on_boundary(display)), axis=1)[:, -2:]
    assert np.median(np.diff(top_two)) < 0.02


def test_data_are_drawn_by_class(blobs):
    model, X, y = blobs
    display = ClassificationDisplay.from_estimator(model, X, y, grid_resolution=10)
    assert [drawn.get_label() for drawn in display.data_] == ["blue", "green", "red"]
    for label, drawn in zip(model.classes_, display.data_, strict=True):
        assert_array_equal(drawn.get_offsets(), X[y == label])
    looks = {(tuple(d.get_facecolor()[0]), len(d.get_paths()[0].vertices)) for d in display.data_}
    assert len(looks) == 3  # told apart by colour and by shape
    display = ClassificationDisplay.from_estimator(model, X, grid_resolution=10)
    assert_array_equal(display.data_[0].get_offsets(), X)


@pytest.mark.slow
def test_classifiers_circle_their_relevance_vectors(moons):
    model, X, y = moons
    display = ClassificationDisplay.from_estimator(model, X[:9], y[:9], grid_resolution=10)
    assert_array_equal(display.relevance_.get_offsets(), model.relevance_vectors_)
    label = f"relevance vectors ({len(model.relevance_vectors_)})"
    assert label in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    scaled = make_pipeline(StandardScaler(), classical(RBF(0.7))).fit(100 * X + 7, y)
    for estimator in (scaled, GridSearchCV(scaled, {"rvc__prior": ["flat"]}).fit(100 * X + 7, y)):
        display = ClassificationDisplay.from_estimator(
            estimator, 100 * X + 7, y, grid_resolution=10
        )
        expected = scaled[0].inverse_transform(scaled[-1].relevance_vectors_)
        assert_allclose(display.relevance_.get_offsets(), expected)
        assert len(expected) > 2
    squares = make_pipeline(PolynomialFeatures(2), classical("linear")).fit(X, y)
    display = ClassificationDisplay.from_estimator(squares, X, y, grid_resolution=10)
    assert len(display.relevance) == 0
    other = LogisticRegression().fit(X, y)
    assert len(ClassificationDisplay.from_estimator(other, X, y, grid_resolution=10).relevance) == 0


def test_classification_labels(moons):
    _, X, y = moons
    frame, series = pd.DataFrame(X, columns=["volts", "amps"]), pd.Series(y == 1, name="good")
    model = classical(RBF(0.6)).fit(frame, series)
    display = ClassificationDisplay.from_estimator(model, frame, series, grid_resolution=10)
    ax = display.ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("volts", "amps")
    assert ax.get_legend().get_title().get_text() == "good"
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["False", "True"]
    again = display.plot(colorbar=False)
    assert again.colorbar_ is None and again.ax_ is not ax
    display = ClassificationDisplay.from_estimator(
        model, frame, feature_names=("s", "t"), target_name="u", grid_resolution=10
    )
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("s", "t")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_without_functions_and_one_input_value(n_classes):
    X = np.column_stack([np.arange(30.0), np.full(30, 5.0)])
    y = np.arange(30) % n_classes
    model = classical("linear", prior=50.0).fit(X, y)
    display = ClassificationDisplay.from_estimator(model, X, y, grid_resolution=10)
    assert len(model.relevance_) == 0 and display.boundary_ == []
    assert_allclose(display.ax_.get_ylim(), [4.5, 5.5])


def test_given_axes_are_used_and_no_figure_is_opened(sinc, moons):
    model, X, y = sinc
    backend = matplotlib.get_backend()
    figure = matplotlib.figure.Figure()
    left, right = figure.subplots(1, 2)
    assert RegressionDisplay.from_estimator(model, X, y, ax=left).figure_ is figure
    assert EvidenceDisplay.from_estimator(model, ax=right).ax_ is right
    classifier, X, y = moons
    display = ClassificationDisplay.from_estimator(classifier, X, y, ax=left, grid_resolution=10)
    assert display.ax_ is left and display.figure_ is figure
    assert EvidenceDisplay.from_estimator(classifier, ax=right).path.size > 0
    assert plt.get_fignums() == []
    assert matplotlib.get_backend() == backend


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


def test_classification_refusals(moons, sinc):
    model, X, y = moons
    draw = ClassificationDisplay.from_estimator
    with pytest.raises(ValueError, match=r"two inputs: X must have shape .* got \(80, 3\)"):
        draw(model, np.column_stack([X, y]), y)
    with pytest.raises(ValueError, match=r"got \(80,\)"):
        draw(model, X[:, 0], y)
    with pytest.raises(ValueError, match=r"y must have shape \(80,\) like X, got \(5,\)"):
        draw(model, X, y[:5])
    with pytest.raises(ValueError, match="does not know: 2, 3; its classes are 0, 1"):
        draw(model, X, np.append([2, 3], y[2:]))
    with pytest.raises(ValueError, match="NaN"):
        draw(model, np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match=r"grid_resolution must be .* >= 2, got 1"):
        draw(model, X, y, grid_resolution=1)
    with pytest.raises(ValueError, match=r"margin must be a number >= 0 and .* got -1"):
        draw(model, X, y, margin=-1)
    with pytest.raises(ValueError, match="feature_names must be two names, got 'ab'"):
        draw(model, X, y, feature_names="ab")
    with pytest.raises(ValueError, match="needs a classifier with predict_proba, got RVR"):
        draw(sinc[0], X, y)
    with pytest.raises(NotFittedError):
        draw(classical(), X, y)


def test_without_matplotlib_the_extra_is_named(sinc, monkeypatch):
    model, X, y = sinc
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[plots\]"'):
        RegressionDisplay.from_estimator(model, X, y)
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[plots\]"'):
        EvidenceDisplay.from_estimator(model)
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[plots\]"'):
        ClassificationDisplay.from_estimator(model, X, y)
