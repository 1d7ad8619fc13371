"""The process of what kept functions leave out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes._rvm.left_out import covariance_kernel, left_out, noise_ratio
from sparsebayes.basis import RBF, Laplacian, Linear, LinearSpline

RATIO = 0.05


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
    found = left_out(kernel, np.array([3, 5]), X, y, weights, RATIO)
    assert_allclose(found.variances(new), full_variance(kernel, X, weights, new), rtol=1e-6)


def test_with_few_rows_it_lies_above_the_process_and_below_the_prior(samples):
    X, y, weights = samples
    X = np.random.default_rng(2).uniform(-2, 2, (400, 3))
    y, weights = np.arange(400.0), np.ones(400)
    kernel, new = RBF(0.5).fit(X), np.random.default_rng(1).uniform(-3, 3, (40, 3))
    found = left_out(kernel, np.arange(10), X, y, weights, RATIO)
    assert len(found.root) == 74  # the kept ones and 64 others
    least = full_variance(kernel, X, weights, new)
    assert np.all(found.variances(new) > least) and np.all(found.variances(new) <= 1.0)
    # At the support it is determined nearly as well as by all rows.
    rows = found.kernel.centers_
    assert np.all(found.variances(rows) < full_variance(kernel, X, weights, rows) + RATIO)


def test_covariance(samples):
    X, y, weights = samples
    found = left_out(RBF(1.0).fit(X), np.arange(5), X, y, weights, RATIO)
    new = np.random.default_rng(1).uniform(-3, 3, (30, 3))
    cov = found.between(new)
    assert_allclose(cov.diagonal(), found.variances(new), rtol=1e-9)
    assert np.linalg.eigvalsh(cov)[0] > -1e-12


def test_order_and_repetition_do_not_matter(samples):
    X, y, weights = samples
    kernel, new = RBF(1.0).fit(X), np.random.default_rng(1).uniform(-3, 3, (30, 3))
    expected = left_out(kernel, np.arange(5), X, y, weights, RATIO).variances(new)
    order = np.random.default_rng(3).permutation(60)
    kept = np.flatnonzero(np.isin(order, np.arange(5)))
    moved = left_out(kernel, kept, X[order], y[order], weights[order], RATIO)
    assert_allclose(moved.variances(new), expected, rtol=1e-8)
    twice = np.repeat(np.arange(60), 2)
    again = left_out(kernel, np.arange(0, 10, 2), X[twice], y[twice], weights[twice] / 2, RATIO)
    assert_allclose(again.variances(new), expected, rtol=1e-8)


def test_functions_that_are_nearly_equal_leave_digits(samples):
    X, y, weights = samples
    close = np.concatenate([X, X + 1e-9])
    found = left_out(
        RBF(30.0).fit(close), np.arange(120), close, np.tile(y, 2), np.tile(weights, 2), 1e-9
    )
    assert np.isfinite(found.root).all() and len(found.root) < 60
    assert np.all(found.variances(close) >= 0) and found.variances(close).max() < 1e-6


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
