"""Predictions keep their digits where large weights cancel."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import RVR
from sparsebayes._rvm.covariance import Covariance
from sparsebayes.basis import RBF
from sparsebayes.engine import Dense, Exact, Flat, Gaussian
from tests.engine.digits import Digits

WIDTH, NOISE = 2.5, 1e-8
X = np.linspace(-2, 2, 24)[:, None]
Y = np.sin(2.0 * X[:, 0]) + 1e-4 * np.random.default_rng(0).standard_normal(24)
NEW = np.array([[-1.93], [0.13], [1.0], [1.6]])


def fitted(**options):
    return RVR(RBF(WIDTH), noise=NOISE, bias=False, **options, calibrate=None).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def digits(model):
    matrix = RBF(WIDTH).fit(X).columns(X)
    sites = Gaussian(Y - model.offset_, np.ones(24), NOISE)
    problem = Exact(Dense(matrix), Flat(), sites)
    return Digits(problem, problem.evaluate(model.relevance_, model.alpha_, 1.0 / NOISE))


def test_the_error_bars_are_right(model, digits):
    rows = model.basis_.columns(NEW)
    expected = np.sqrt([NOISE + digits.variance(row) for row in rows])
    by_sigma = np.einsum("ns,st,nt->n", rows, model.sigma_, rows)
    assert np.any(np.abs(by_sigma / (expected**2 - NOISE) - 1.0) > 0.01)  # Σ has too few digits
    assert_allclose(model.predict(NEW, return_std=True)[1], expected, rtol=1e-4)
    cov = model.predict(NEW, return_cov=True)[1]
    assert_allclose(np.sqrt(np.diag(cov)), expected, rtol=1e-4)
    assert_array_equal(cov, cov.T)


def test_the_mean_is_right(model, digits):
    assert np.abs(model.weights_).max() > 1e3
    expected = model.basis_.columns(NEW) @ digits.mean() + model.offset_
    assert_allclose(model.predict(NEW), expected, atol=1e-7)
    assert np.abs(model.predict(NEW) - np.sin(2.0 * NEW[:, 0])).max() < 5e-4


def test_draws_vary_as_the_error_bars_say(model):
    std = model.predict(NEW, return_std=True)[1]
    draws = model.sample_y(NEW, 20_000, random_state=0)
    assert_allclose(draws.std(axis=1), std, rtol=0.03)


def test_uncertain_inputs_that_are_certain_give_the_same(model):
    mean, std = model.predict(NEW, return_std=True)
    found = model.predict_uncertain(NEW, np.zeros((1, 1)))
    assert_allclose(found[0], mean, atol=1e-6)
    assert_allclose(found[1], std**2, rtol=1e-3)


@pytest.mark.parametrize("augment", [True, "fast"])
def test_augmented_error_bars_are_no_smaller(model, augment):
    mean, std = model.predict(NEW, return_std=True)
    other = fitted(augment=augment).predict(NEW, return_std=True)
    assert_allclose(other[0], mean, atol=5e-4)
    assert np.all(other[1] >= std * (1 - 1e-9)) and np.all(other[1] < 1e-3)


def test_a_copy_predicts_the_same(model):
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.predict(NEW, return_std=True), model.predict(NEW, return_std=True))


def test_products_are_those_of_the_matrix():
    rng = np.random.default_rng(0)
    root, rows = rng.standard_normal((5, 5)), rng.standard_normal((7, 5))
    matrix = root @ root.T
    for sigma in (Covariance(matrix), Covariance(np.full((5, 5), np.nan), root)):
        assert_allclose(sigma @ rows.T, matrix @ rows.T, atol=1e-12)
        assert_allclose(rows @ sigma, rows @ matrix, atol=1e-12)
        assert_allclose(sigma.between(rows), rows @ matrix @ rows.T, atol=1e-12)
        assert_allclose(sigma.variances(rows), np.diag(rows @ matrix @ rows.T), atol=1e-12)
        assert_allclose(sigma.some_root() @ sigma.some_root().T, matrix, atol=1e-12)
