"""What a model makes of each input: coefficients, importances, and selection by scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import polynomial_kernel

from sparsebayes import RVR
from sparsebayes.basis import RBF, Bias, Laplacian, Linear, Polynomial
from sparsebayes.datasets import make_friedman1
from tests.classical import classical

LINEAR = ["linear", Polynomial(1), Linear() + Bias(), Polynomial(1) + Linear()]
CURVED = ["rbf", "polynomial", "precomputed", polynomial_kernel, Linear() + RBF()]
N_DRAWS = 10


def label(value):
    """A name for a test that is the same in every process."""
    return getattr(value, "__name__", str(value))


def planes(n_samples=150, seed=0):
    """Targets that are linear in the first two of four inputs, labels of two and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 4)) * [1.0, 2.0, 1.0, 0.5] + [0.0, 5.0, 0.0, -3.0]
    y = 3.0 * X[:, 0] - X[:, 1] + 40.0 + 0.3 * rng.standard_normal(n_samples)
    return X, y, (y > 35.0).astype(int), np.digitize(y, [33.0, 37.0])


X, Y, TWO, THREE = planes()
FRIEDMAN = make_friedman1(240, noise=1.0, random_state=3)[:2]


def regression(*args, **options):
    """Importances have nothing to do with error bars."""
    return RVR(*args, calibrate=None, **options)


# Coefficients


@pytest.mark.sampled
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("basis", ["bias", *LINEAR], ids=label)
def test_coefficients_make_the_prediction(basis, bias):
    model = regression(basis, bias=bias).fit(X, Y)
    assert model.coef_.shape == (4,) and isinstance(model.intercept_, float)
    assert_allclose(X @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-10)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "model", [classical("linear"), classical("linear", multi_class="ovr")], ids=label
)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_coefficients_make_the_latent_functions(model, labels):
    model.fit(X, labels)
    latent = X @ model.coef_.T + model.intercept_
    mean, _ = model.decision_function(X, return_std=True)
    assert_allclose(latent if latent.shape[1] > 1 else latent[:, 0], mean, rtol=1e-10)
    theirs = LogisticRegression().fit(X, labels)
    assert model.coef_.shape == theirs.coef_.shape
    assert model.intercept_.shape == theirs.intercept_.shape


def test_a_dropped_input_has_no_coefficient():
    model = RVR("linear", prior="bic").fit(X, Y)
    kept = model.relevance_[model.relevance_ > 0] - 1
    assert 2 <= kept.size < 4
    assert_array_equal(np.flatnonzero(model.coef_), kept)
    assert_array_equal(model.coef_[kept], model.weights_[model.relevance_ > 0])


@pytest.mark.sampled
@pytest.mark.parametrize("basis", CURVED, ids=label)
def test_other_bases_have_no_coefficients(basis):
    for model in (regression(basis).fit(X, Y), classical(basis).fit(X, TWO)):
        assert not hasattr(model, "coef_") and not hasattr(model, "intercept_")
        with pytest.raises(AttributeError, match=r"coef_ is only available .* weights_"):
            _ = model.coef_
        with pytest.raises(AttributeError, match="intercept_ is only available"):
            _ = model.intercept_


@pytest.mark.slow
def test_whether_there_are_coefficients_does_not_depend_on_the_data():
    model = RVR(Linear() + RBF(0.01), prior="ric", adapt=None).fit(X, Y)
    assert model.relevance_.max() <= 4  # no kernel was kept
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("model", [RVR("linear"), classical("linear")], ids=label)
@pytest.mark.parametrize("name", ["coef_", "intercept_", "feature_importances_", "length_scale_"])
def test_not_fitted(model, name):
    with pytest.raises(NotFittedError):
        getattr(clone(model), name)


# Importances


def by_definition(predict, inputs):
    """The mean squared change of a function when one input is low or high in all rows."""
    ranks = np.ceil(len(inputs) * np.array([0.1587, 0.8413])).astype(int) - 1
    changes = np.zeros(inputs.shape[1])
    for d in range(inputs.shape[1]):
        for level in np.sort(inputs[:, d])[ranks]:
            moved = inputs.copy()
            moved[:, d] = level
            changes[d] += np.sum((predict(moved) - predict(inputs)) ** 2)
    return changes / changes.sum()


@pytest.mark.sampled
@pytest.mark.parametrize("basis", [*LINEAR, *CURVED, "laplacian"], ids=label)
def test_regression(basis):
    model = regression(basis).fit(X, Y)
    assert_allclose(model.feature_importances_, by_definition(model.predict, X), atol=1e-8)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[:2].sum() > 0.9


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["linear", "rbf", polynomial_kernel], ids=label)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}, {"link": "probit"}], ids=label)
def test_classification(basis, labels, options):
    model = classical(basis, **options).fit(X, labels)

    def latent(inputs):
        mean, _ = model.decision_function(inputs, return_std=True)
        one_model = mean.ndim == 2 and not hasattr(model, "estimators_")
        return mean - mean.mean(axis=1, keepdims=True) if one_model else mean

    assert_allclose(model.feature_importances_, by_definition(latent, X), atol=1e-8)
    assert model.feature_importances_[:2].sum() > 0.9
    for one in getattr(model, "estimators_", []):
        assert one.feature_importances_.sum() == pytest.approx(1.0)


def test_of_a_linear_model_with_normal_inputs():
    X, y, _, _ = planes(250, seed=1)
    model = RVR("linear").fit(X, y)
    expected = model.coef_**2 * X.var(axis=0)
    assert_allclose(model.feature_importances_, expected / expected.sum(), atol=0.03)


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["rbf", "linear", "polynomial", "laplacian"])
def test_order(basis):
    importances = regression(basis).fit(*FRIEDMAN).feature_importances_
    found = np.sort(np.argsort(importances)[-5:])
    if basis == "linear":  # the third input enters as a square around its mean
        assert set(found) >= {0, 1, 3, 4}
    else:
        assert_array_equal(found, np.arange(5))
        assert importances[5:].max() < 0.02
    assert importances.argmax() == 3


@pytest.mark.slow
def test_order_with_labels():
    X, y = FRIEDMAN
    model = classical().fit(X[:, [0, 1, 3, 4, 5, 6]], y > np.median(y))
    assert np.sort(np.argsort(model.feature_importances_)[-4:]).tolist() == [0, 1, 2, 3]


@pytest.mark.slow
def test_units_do_not_matter():
    X, y = FRIEDMAN
    unit = 10.0 ** np.arange(-5, 5)
    for model in (regression(), regression("linear")):
        here, there = (clone(model).fit(inputs, y).feature_importances_ for inputs in (X, X * unit))
        assert_allclose(there, here, atol=0.02)


@pytest.mark.sampled
@pytest.mark.parametrize("n_constant", [1, 20])  # distances are computed in two ways
@pytest.mark.parametrize("basis", ["linear", "rbf", "polynomial", "laplacian"])
def test_a_constant_input_has_none(basis, n_constant):
    more = np.column_stack([X, np.full((len(X), n_constant), 0.7)])
    for model in (regression(basis).fit(more, Y), classical(basis).fit(more, TWO)):
        assert np.all(model.feature_importances_[4:] == 0.0)
        assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_a_dropped_input_has_none():
    model = RVR("linear", prior="bic").fit(X, Y)
    assert_array_equal(model.feature_importances_ > 0, model.coef_ != 0)


@pytest.mark.parametrize("basis", ["linear", "rbf", "precomputed"])
def test_a_model_without_functions_has_none(basis):
    model = RVR(basis, bias=False).fit(X, np.full(len(X), 3.0))
    assert model.relevance_.size == 0
    assert_array_equal(model.feature_importances_, np.zeros(4))
    only_bias = RVR(Bias(), bias=False, noise=1.0).fit(X, Y)
    assert_array_equal(only_bias.feature_importances_, np.zeros(4))


@pytest.mark.slow
def test_many_rows_and_many_inputs():
    """Some rows stand for all; the share of an input hardly changes."""
    inputs, y, _, _ = planes(1000)
    model = regression(RBF(5.0), adapt=None, prior="bic").fit(inputs, y)
    assert_allclose(model.feature_importances_, by_definition(model.predict, inputs), atol=0.03)
    wide = np.column_stack([X, np.random.default_rng(1).standard_normal((len(X), 300))])
    model = regression("linear", prior="bic").fit(wide, Y)
    assert_allclose(model.feature_importances_, by_definition(model.predict, wide), atol=0.1)


@pytest.mark.slow
def test_of_functions_that_refuse_such_rows():
    """The fit is as good as any; only the importances are missing."""
    known = {tuple(row) for row in X}

    def kernel(A, B):
        if not {tuple(row) for row in A} <= known:
            raise ValueError("unknown rows")
        return polynomial_kernel(A, B)

    model = RVR(kernel).fit(X, Y)
    assert model.score(X, Y) > 0.99
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=r"one input is changed.*ValueError: unknown rows"):
        _ = model.feature_importances_


# Selection of inputs


def draws(n_draws):
    """Linear targets of four inputs among twelve.

    A draw is left out if a coefficient is within five of its standard errors, noise/√N, of zero:
    one of the eight others may then be estimated as large.
    """
    seed = count = 0
    while count < n_draws:
        inputs, y, truth = make_regression(
            200, 12, n_informative=4, noise=5.0, coef=True, random_state=seed
        )
        if np.abs(truth[truth != 0]).min() > 5 * 5.0 / np.sqrt(200):
            count += 1
            yield inputs, y, truth != 0
        seed += 1


def hits(model, make_selector, n_draws=N_DRAWS):
    """In how many draws the four inputs are found."""
    return sum(
        np.array_equal(make_selector(clone(model)).fit(inputs, y).get_support(), informative)
        for inputs, y, informative in draws(n_draws)
    )


SELECTORS = {
    "RFE": lambda model: RFE(model, n_features_to_select=4),
    "SelectFromModel": lambda model: SelectFromModel(model, threshold=-np.inf, max_features=4),
}


@pytest.mark.sampled
@pytest.mark.parametrize("n_draws", [1, pytest.param(N_DRAWS, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SELECTORS)
def test_selection_by_coefficients(name, n_draws):
    assert hits(regression("linear"), SELECTORS[name], n_draws) == n_draws


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SelectFromModel", pytest.param("RFE", marks=pytest.mark.slow)])
def test_selection_by_importances(name):
    assert hits(regression("polynomial", prior="bic"), SELECTORS[name], 1) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SELECTORS)
def test_selection_with_kernels(name):
    assert hits(regression(), SELECTORS[name]) >= 8


@pytest.mark.slow
def test_selection_with_labels():
    for model in (classical("linear"), classical(Laplacian(3.0))):
        for labels in (TWO, THREE):
            found = SelectFromModel(clone(model), threshold=-np.inf, max_features=2)
            assert found.fit(X, labels).get_support().tolist() == [True, True, False, False]
