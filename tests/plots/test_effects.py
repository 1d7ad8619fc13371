"""`EffectsDisplay`: what it draws is what the model predicts."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, ReducedRankGPR
from sparsebayes.plots import EffectsDisplay
from tests.classical import classical

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (70, 2)) * [1, 10] + [0, 100]
    return X, np.sin(X[:, 0]) + 0.02 * X[:, 1] + 0.1 * rng.standard_normal(70)


@pytest.mark.sampled
@pytest.mark.parametrize("scaled", [False, True])
def test_values_are_predictions_along_an_input(data, scaled):
    X, y = data
    model = RVR(adapt="ard")
    model = make_pipeline(StandardScaler(), model) if scaled else model
    model.fit(X, y)
    shown = EffectsDisplay.from_estimator(model, n_grid=30, coverage=0.9)
    middle = X.min(axis=0) / 2 + X.max(axis=0) / 2
    assert_allclose(shown.at, middle)
    for j in (0, 1):
        rows = np.repeat(middle[None], 30, axis=0)
        rows[:, j] = np.linspace(X[:, j].min(), X[:, j].max(), 30)
        assert_allclose(shown.places[j], rows[:, j])
        assert_allclose(shown.values[j, :, 0], model.predict(rows))
        final, inputs = (model[-1], model[:-1].transform(rows)) if scaled else (model, rows)
        assert_allclose(shown.lower[j, :, 0], final.predict_interval(inputs, 0.9)[0])
        (line,) = [one for one in shown.axes_[j].lines if len(one.get_xdata()) == 30]
        assert_allclose(line.get_ydata(), model.predict(rows))


def test_inputs_are_drawn_on_one_scale(data):
    X, y = data
    axes = mpl.figure.Figure().subplots(1, 2)
    shown = EffectsDisplay.from_estimator(RVR().fit(X, 100 * X[:, 0] + y), axes=axes)
    first, second = (panel.get_ylim() for panel in shown.axes_)
    assert first == second
    assert first[0] <= shown.lower.min() and shown.upper.max() <= first[1]


def test_rows_give_the_range_and_the_middle(data):
    X, y = data
    model = ReducedRankGPR(n_support=5).fit(X, y)
    shown = EffectsDisplay.from_estimator(model, X[:9], feature_names=["a", "b"])
    assert_allclose(shown.at, np.median(X[:9], axis=0))
    assert_allclose(shown.places[1][[0, -1]], [X[:9, 1].min(), X[:9, 1].max()])
    assert [panel.get_xlabel() for panel in shown.axes_] == ["a", "b"]


def test_classes(data):
    X, y = data
    labels = np.digitize(y, [1.8, 2.4])
    model = classical().fit(X, labels)
    shown = EffectsDisplay.from_estimator(model)
    assert_allclose(shown.values.sum(axis=2), 1.0)
    assert shown.outputs == ["0", "1", "2"]
    two = EffectsDisplay.from_estimator(classical().fit(X, labels > 0))
    assert two.outputs == ["probability of True"] and two.values.shape[2] == 1


def test_several_targets_and_a_table(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    table = pandas.DataFrame(X, columns=["time", "dose"])
    model = RVR().fit(table, np.column_stack([y, -y]))
    shown = EffectsDisplay.from_estimator(model, target_names=["up", "down"])
    assert [one.get_text() for one in shown.axes_[0].get_legend().get_texts()] == ["up", "down"]
    assert shown.axes_[1].get_xlabel() == "dose"


@pytest.mark.slow
def test_what_cannot_be_drawn(data):
    X, y = data
    model = RVR(adapt=None).fit(X, y)
    with pytest.raises(ValueError, match="feature_names must be 2 names"):
        EffectsDisplay.from_estimator(model, feature_names=["a"])
    with pytest.raises(ValueError, match="axes must be 2 Axes"):
        EffectsDisplay.from_estimator(model, axes=[mpl.figure.Figure().subplots()])
    for n_components in (1, 2):
        turned = make_pipeline(PCA(n_components), RVR(adapt=None)).fit(X, y)
        with pytest.raises(ValueError, match=r"cannot be gone back, .* is not known; give X"):
            EffectsDisplay.from_estimator(turned)
    assert EffectsDisplay.from_estimator(turned, X).places.shape == (2, 200)
    with pytest.raises(ValueError, match=r"LogisticRegression does not know the range .* give X"):
        EffectsDisplay.from_estimator(LogisticRegression().fit(X, y > 2))
    with pytest.raises(TypeError, match=r"is a BayesianRidge, and must be an RVR, .*PartialDepend"):
        EffectsDisplay.from_estimator(BayesianRidge().fit(X, y), X)


def test_columns_in_another_order_are_refused(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    table = pandas.DataFrame(X, columns=["time", "dose"])
    model = RVR(adapt=None).fit(table, y)
    with pytest.raises(ValueError, match=r"X must have the columns of the fit, \['time', 'dose'\]"):
        EffectsDisplay.from_estimator(model, table[["dose", "time"]])
