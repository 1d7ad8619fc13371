"""Which rows lie inside the training data."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from sparsebayes import RVR, persistence
from sparsebayes.basis import RBF, Bias, Laplacian, Linear, LinearSpline, Polynomial, Precomputed
from tests.classical import classical

RNG = np.random.default_rng(0)
X = RNG.uniform([0.0, -10.0, 100.0], [1.0, 10.0, 300.0], size=(80, 3))
X[:2] = [0.0, -10.0, 100.0], [1.0, 10.0, 300.0]  # widths 1, 20 and 200
Y = np.sin(5 * X[:, 0]) + 0.1 * X[:, 1] + 0.01 * X[:, 2] + 0.1 * RNG.standard_normal(80)
MIDDLE = np.array([0.5, 0.0, 200.0])
WIDTH = np.array([1.0, 20.0, 200.0])
MODELS = [
    RVR(RBF([0.5, 8.0, 90.0])),
    RVR(RBF([0.5, 8.0, 90.0]), augment=True),
    RVR(Laplacian([0.5, 8.0, 90.0]), noise=0.01),
    RVR("thin_plate"),
    RVR(LinearSpline()),
    RVR("linear"),
    RVR(Linear() + RBF([0.5, 8.0, 90.0])),
    RVR(lambda A, B: (1.0 + A @ B.T) ** 2),
]


def label(value):
    """A name for a test that is the same in every process."""
    basis = value.basis
    name = "callable" if callable(basis) else repr(basis)
    return name + (", augment" if value.augment else "")


def moved(inputs, shares):
    """The middle of the range with some inputs moved by so many widths from it."""
    rows = np.tile(MIDDLE, (len(shares), 1))
    rows[:, inputs] += np.asarray(shares)[:, None] * WIDTH[inputs]
    return rows


@pytest.mark.sampled
@pytest.mark.parametrize("model", MODELS, ids=label)
def test_each_input_has_a_twentieth_of_its_width(model):
    model.fit(X, Y)
    shares = [0.0, 0.5, 0.549, 0.551, 4.0, -0.549, -0.551, -4.0]
    for d in range(3):
        found = model.inside(moved([d], shares))
        assert found.dtype == bool
        assert_array_equal(found, [True, True, True, False, False, True, False, False])


@pytest.mark.slow
def test_one_input_outside_is_enough():
    model = RVR(RBF([0.5, 8.0, 90.0])).fit(X, Y)
    assert_array_equal(model.inside(moved([0, 1, 2], [0.4, 0.6])), [True, False])
    assert model.inside(X).all()


@pytest.mark.slow
def test_rows_without_weight_are_not_training_rows():
    far = np.vstack([X, [[50.0, 0.0, 200.0]]])
    model = RVR(RBF([0.5, 8.0, 90.0]))
    for weight, expected in ((0.0, False), (1.0, True)):
        model.fit(far, np.append(Y, 0.0), sample_weight=np.append(np.ones(80), weight))
        assert model.inside([[20.0, 0.0, 200.0]]) == [expected]


@pytest.mark.slow
def test_dropped_inputs_of_a_linear_model_do_not_count():
    y = X[:, 0] + 1e-3 * RNG.standard_normal(80)
    for basis in ("linear", Linear() + Bias(), Polynomial(2)):
        model = RVR(basis, prior="ric").fit(X, y)
        used = model.feature_importances_ > 0
        assert used[0] and not used.all()
        for d in range(3):
            assert model.inside(moved([d], [1e6])) == [not used[d]]


def test_nothing_kept_has_no_outside():
    model = RVR("linear", prior="ric").fit(X, np.ones(80))
    assert model.inside([[1e9, 1e9, 1e9]]) == [True]
    model = RVR(RBF([0.5, 8.0, 90.0]), augment=True).fit(X, np.ones(80))
    assert model.inside([[1e9, 1e9, 1e9]]) == [False]  # there is a function at the row itself


@pytest.mark.slow
def test_an_input_with_a_long_length_scale_counts_where_it_can_matter():
    y = np.sin(5 * X[:, 0])
    model = RVR(RBF([0.5, 1e5, 1e6])).fit(X, y)
    assert model.feature_importances_[1:].max() < 1e-6
    near, far = moved([1], [4.0, 50.0]), moved([1], [1e5])
    assert model.inside(near).all()
    change = model.predict(near) - model.predict([MIDDLE])
    assert np.abs(change).max() < 0.05 * y.std()
    assert model.inside(far) == [False]
    assert abs(model.predict(far) - model.predict([MIDDLE])) > 0.1 * y.std()


@pytest.mark.slow
def test_long_length_scales_do_not_hide_an_input_that_matters():
    # Functions much wider than the data can make a slope together.
    rows = np.column_stack([X[:, 0], np.linspace(-1, 1, 80)])
    y = np.sin(5 * rows[:, 0]) + rows[:, 1] + 0.01 * RNG.standard_normal(80)
    model = RVR(RBF([0.5, 20.0])).fit(rows, y)
    assert model.feature_importances_[1] > 0.1
    assert model.inside([[0.5, 1.05], [0.5, 1.9]]).tolist() == [True, False]


@pytest.mark.slow
def test_learned_scales_of_an_input_without_effect():
    rows = np.random.default_rng(0).uniform(-3, 3, size=(60, 3))
    y = np.sin(rows[:, 0]) + 0.3 * rows[:, 1] + 0.1 * np.random.default_rng(1).normal(size=60)
    model = RVR().fit(rows, y)
    assert model.length_scale_[2] > 100
    assert_array_equal(model.inside([[0, 0, 9.0], [0, 9.0, 0], [9.0, 0, 0]]), [True, False, False])


@pytest.mark.slow
def test_a_constant_input_holds_its_value():
    rows = X.copy()
    rows[:, 1] = 0.1
    model = RVR(RBF([0.5, 1.0, 90.0])).fit(rows, Y)
    assert_array_equal(model.inside([[0.5, 0.3 - 0.2, 200.0], [0.5, 2.0, 200.0]]), [True, False])
    model = RVR("linear", bias=False).fit(rows, Y)
    assert model.coef_[1] != 0
    assert_array_equal(model.inside([[0.5, 0.3 - 0.2, 200.0], [0.5, 0.11, 200.0]]), [True, False])
    rows[:, 1] = 1.0
    model = RVR("linear").fit(rows, Y)  # the bias stands for it
    assert model.inside([[0.5, 2.0, 200.0]]) == [True]


@pytest.mark.parametrize("basis", ["precomputed", Precomputed() + Linear()], ids=str)
def test_functions_are_no_inputs(basis):
    model = RVR(basis).fit(X, Y)
    with pytest.raises(AttributeError, match="the columns of X are basis functions"):
        model.inside(X)


UNITS = RBF([0.5, 8.0, 90.0])


@pytest.mark.sampled
@pytest.mark.parametrize(
    "model",
    [
        classical(UNITS),
        classical(UNITS, multi_class="ovr"),
        classical("linear"),
        classical(UNITS, augment="fast"),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_classes(model, classes):
    labels = np.digitize(X[:, 0], [0.3, 0.6][: classes - 1])
    model.fit(X, labels)
    assert_array_equal(model.inside(moved([0], [0.0, 0.54, 0.56])), [True, True, False])
    for one in getattr(model, "estimators_", []):
        assert_array_equal(one.inside(moved([0], [0.0, 4.0])), [True, one.relevance_.size == 0])


@pytest.mark.slow
def test_stored_models_can_tell(tmp_path):
    model = RVR(RBF([0.5, 8.0, 90.0])).fit(X, Y)
    persistence.save(model, tmp_path / "m.skops")
    rows = moved([1], [0.2, 0.54, 0.7])
    for copy in (persistence.load(tmp_path / "m.skops"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(copy.inside(rows), [True, True, False])


def test_rows_are_checked():
    with pytest.raises(NotFittedError):
        RVR().inside(X)
    model = RVR("linear").fit(X, Y)
    with pytest.raises(ValueError, match="3 features"):
        model.inside(X[:, :2])
