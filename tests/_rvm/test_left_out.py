"""The process of what kept functions leave out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes._rvm.left_out import covariance_kernel, left_out, noise_ratio
from sparsebayes.basis import RBF, Laplacian, Linear, LinearSpline

RATIO = 0.05


def both(found, kernel, X, kept, new):
    """Variances and covariance at `new` of what functions at rows of X leave out."""
    functions = kernel.between(new, X[kept])
    return found.variances(new, functions), found.between(new, functions)


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    return rng.uniform(-2, 2, (60, 3)), rng.standard_normal(60), rng.uniform(0.5, 2.0, 60)


def full_variance(kernel, X, weights, new):
    """Of the whole process, by its dense covariance."""
    total = kernel.between(X, X) + np.diag(RATIO / weights)
    cross = kernel.between(X, new)
    return 1.0 - np.einsum("nm,nm->m", cross, np.linalg.solve(total, cross))


@pytest.mark.parametrize("make", [RBF, Laplacian])
def test_with_room_for_all_rows_it_is_the_process(samples, make):
    X, y, weights = samples
    kernel, new = make(0.4).fit(X), np.random.default_rng(1).uniform(-3, 3, (40, 3))
    kept = np.array([3, 5])
    found = left_out(kernel, kept, X, y, weights, RATIO)
    variances = both(found, kernel, X, kept, new)[0]
    assert_allclose(variances, full_variance(kernel, X, weights, new), rtol=1e-6)
    # Functions without a centre have no part in it.
    found = left_out(kernel, np.array([-1, 3, 5]), X, y, weights, RATIO)
    functions = np.hstack([np.full((40, 1), 7.0), kernel.between(new, X[kept])])
    assert_allclose(found.variances(new, functions), variances, rtol=1e-9)


def test_with_few_rows_it_lies_above_the_process_and_below_the_prior(samples):
    X, y, weights = samples
    X = np.random.default_rng(2).uniform(-2, 2, (400, 3))
    y, weights = np.arange(400.0), np.ones(400)
    kernel, new = RBF(0.5).fit(X), np.random.default_rng(1).uniform(-3, 3, (40, 3))
    kept = np.arange(10)
    found = left_out(kernel, kept, X, y, weights, RATIO)
    assert len(found.kernel.centers_) == 64
    least = full_variance(kernel, X, weights, new)
    variances = both(found, kernel, X, kept, new)[0]
    assert np.all(variances > least) and np.all(variances <= 1.0)
    # At the support it is determined nearly as well as by all rows.
    rows = found.kernel.centers_
    variances = both(found, kernel, X, kept, rows)[0]
    assert np.all(variances < full_variance(kernel, X, weights, rows) + RATIO)


def test_covariance(samples):
    X, y, weights = samples
    kernel, kept = RBF(1.0).fit(X), np.arange(5)
    found = left_out(kernel, kept, X, y, weights, RATIO)
    new = np.random.default_rng(1).uniform(-3, 3, (30, 3))
    variances, cov = both(found, kernel, X, kept, new)
    assert_allclose(cov.diagonal(), variances, rtol=1e-9)
    assert np.linalg.eigvalsh(cov)[0] > -1e-12


def test_order_and_repetition_do_not_matter(samples):
    X, y, weights = samples
    kernel, new = RBF(1.0).fit(X), np.random.default_rng(1).uniform(-3, 3, (30, 3))

    def variances(rows, kept, counts):
        """With these rows of the samples, each counted so often."""
        found = left_out(kernel, kept, X[rows], y[rows], counts, RATIO)
        return both(found, kernel, X[rows], kept, new)[0]

    expected = variances(np.arange(60), np.arange(5), weights)
    order = np.random.default_rng(3).permutation(60)
    kept = np.flatnonzero(np.isin(order, np.arange(5)))
    assert_allclose(variances(order, kept, weights[order]), expected, rtol=1e-8)
    twice = np.repeat(np.arange(60), 2)
    assert_allclose(variances(twice, np.arange(0, 10, 2), weights[twice] / 2), expected, rtol=1e-8)


def test_functions_that_are_nearly_equal_leave_digits(samples):
    X, y, weights = samples
    close = np.concatenate([X, X + 1e-9])
    kernel, kept = RBF(30.0).fit(close), np.arange(120)
    found = left_out(kernel, kept, close, np.tile(y, 2), np.tile(weights, 2), 1e-9)
    assert np.isfinite(found.root).all() and found.root.shape[1] < 60
    variances = both(found, kernel, close, kept, close)[0]
    assert np.all(variances >= 0) and variances.max() < 1e-6


def test_which_kernel():
    X = np.random.default_rng(0).standard_normal((20, 2))
    assert isinstance(covariance_kernel((RBF(1.0) + Linear()).fit(X)), RBF)
    for basis in (LinearSpline(), Linear(), RBF(1.0) + RBF(2.0), RBF(1.0) + Laplacian(1.0)):
        assert covariance_kernel(basis.fit(X)) is None


def test_ratio():
    y = np.array([0.0, 2.0, 7.0])
    weights = np.array([1.0, 1.0, 0.0])  # variance 1
    assert noise_ratio(0.1, y, weights) == pytest.approx(0.03)
    assert noise_ratio(100.0, y, weights) == 1.0
    assert noise_ratio(0.0, np.zeros(3), weights) == 1.0
