"""Functions come and go in steps of rank one, and all stays as if computed from nothing."""

import numpy as np
import pytest

from sparsebayes.engine.mcmc.active_set import ActiveSet
from sparsebayes.engine.mcmc.products import GramProducts


def make(n_samples=30, n_functions=25, *, twins=0.0, seed=0):
    """Unit functions and a target; with `twins` each second one is nearly the one before."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n_samples, n_functions))
    if twins:
        half = n_functions // 2
        noise = rng.standard_normal((n_samples, half))
        matrix[:, 1 : 2 * half : 2] = matrix[:, 0 : 2 * half : 2] + twins * noise
    matrix /= np.sqrt((matrix**2).sum(axis=0))
    values = matrix[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(n_samples)
    return (
        ActiveSet(GramProducts(matrix.T @ matrix, matrix.T @ values, float(values @ values))),
        matrix,
        values,
    )


def dense(matrix, values, active, x):
    """s, q, residual, mean, covariance and log |H| by orthogonal factors, without a Gram matrix."""
    tall = np.vstack([matrix[:, active], np.diag(np.exp(0.5 * x))])
    basis, factor = np.linalg.qr(tall)
    padded = np.vstack([matrix, np.zeros((active.size, matrix.shape[1]))])
    target = np.append(values, np.zeros(active.size))
    rest = padded - basis @ (basis.T @ padded)
    rest -= basis @ (basis.T @ rest)
    left = target - basis @ (basis.T @ target)
    mean = np.linalg.solve(factor, basis.T @ target)
    inverse = np.linalg.inv(factor)
    log_det = 2.0 * np.log(np.abs(factor.diagonal())).sum()
    return (rest**2).sum(axis=0), padded.T @ left, left @ left, mean, inverse @ inverse.T, log_det


def wander(active_set, n_steps, rng, low, high):
    """Random functions come and go, with precisions between these ends of x."""
    for _ in range(n_steps):
        comes = rng.random() < 0.5
        if (comes and active_set.size < active_set.n_functions) or active_set.size == 0:
            active_set.add(int(rng.choice(active_set.others())), rng.uniform(low, high))
        else:
            active_set.remove(int(rng.integers(active_set.size)))


def largest_error(active_set, matrix, values):
    """Of all that the active set keeps; of covariance and mean in units of the largest variance."""
    s, q, residual, mean, cov, _ = dense(matrix, values, active_set.active, active_set.x)
    scale = max(np.abs(cov).max(initial=0.0), 1.0)
    errors = (
        active_set.s - s,
        active_set.q - q,
        active_set.residual - residual,
        (active_set.root @ active_set.root.T - cov) / scale,
        (active_set.mean - mean) / scale,
    )
    return max(np.abs(error).max(initial=0.0) for error in errors)


@pytest.mark.parametrize("n_samples", [30, 12], ids=["tall", "wide"])
def test_every_step_is_as_from_nothing(n_samples):
    active_set, matrix, values = make(n_samples)
    rng = np.random.default_rng(1)
    for _ in range(60):
        wander(active_set, 1, rng, -5.0, 3.0)
        assert largest_error(active_set, matrix, values) < 1e-11


def test_set_is_the_dense_posterior():
    active_set, matrix, values = make()
    for active in ([], [7], [24, 3, 11], range(25)):
        active = np.array(active, dtype=int)
        x = np.linspace(-3.0, 2.0, active.size)
        active_set.set(active, x)
        assert largest_error(active_set, matrix, values) < 1e-12
        expected = dense(matrix, values, active, x)[-1]
        assert active_set.log_det == pytest.approx(expected, abs=1e-10)
        np.testing.assert_array_equal(active_set.active, active)
        np.testing.assert_array_equal(active_set.x, x)
        outside = np.setdiff1d(np.arange(25), active)
        np.testing.assert_array_equal(active_set.others(), outside)


def test_all_come_and_all_go():
    active_set, matrix, values = make()
    order = np.random.default_rng(3).permutation(25)
    for function in order:
        active_set.add(int(function), -2.0)
    assert active_set.others().size == 0
    assert largest_error(active_set, matrix, values) < 1e-11
    gone = [active_set.remove(0)[0] for _ in range(25)]
    assert sorted(gone) == list(range(25))
    assert active_set.size == 0 and active_set.mean.size == 0
    assert largest_error(active_set, matrix, values) < 1e-11


def test_the_last_function_takes_the_place_of_one_that_goes():
    active_set, _, _ = make()
    active_set.set(np.array([4, 9, 2, 17]), np.array([0.0, 1.0, 2.0, 3.0]))
    assert active_set.remove(1) == (9, 1.0)
    np.testing.assert_array_equal(active_set.active, [4, 17, 2])
    np.testing.assert_array_equal(active_set.x, [0.0, 3.0, 2.0])
    active_set.add(9, 1.0)
    np.testing.assert_array_equal(active_set.active, [4, 17, 2, 9])


@pytest.mark.parametrize("twins", [0.0, 1e-6], ids=["apart", "twins"])
def test_rounding_hardly_adds_up(twins):
    """500 steps at ρ = 1e-8, where twins are told apart by the precision alone."""
    active_set, matrix, values = make(twins=twins)
    low = np.log(1e-8)
    wander(active_set, 500, np.random.default_rng(2), low, low + 2.0)
    drifted = active_set.s.copy(), active_set.q.copy(), active_set.residual
    active_set.refresh()
    for before, after in zip(
        drifted, (active_set.s, active_set.q, active_set.residual), strict=True
    ):
        np.testing.assert_allclose(before, after, atol=1e-9)
    s, q, residual, *_ = dense(matrix, values, active_set.active, active_set.x)
    np.testing.assert_allclose(active_set.s, s, atol=1e-9)
    np.testing.assert_allclose(active_set.q, q, atol=1e-7)
    assert active_set.residual == pytest.approx(residual, abs=1e-9)


def test_the_same_function_twice():
    rng = np.random.default_rng(0)
    one = rng.standard_normal(10)
    matrix = np.column_stack([one, one, rng.standard_normal(10)])
    matrix /= np.sqrt((matrix**2).sum(axis=0))
    values = one + 0.1 * rng.standard_normal(10)
    active_set = ActiveSet(
        GramProducts(matrix.T @ matrix, matrix.T @ values, float(values @ values))
    )
    for function in range(3):
        active_set.add(function, -6.0)
    assert largest_error(active_set, matrix, values) < 1e-11
    active_set.remove(0)
    assert largest_error(active_set, matrix, values) < 1e-11


def test_a_single_function():
    active_set = ActiveSet(GramProducts(np.ones((1, 1)), np.array([2.0]), 5.0))
    active_set.add(0, 0.0)
    assert active_set.residual == pytest.approx(3.0)
    assert active_set.mean == pytest.approx(1.0)
    assert active_set.remove(0) == (0, 0.0)
    assert active_set.residual == pytest.approx(5.0)


def test_inputs_are_kept():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((12, 5))
    gram, moments = matrix.T @ matrix, matrix.T @ rng.standard_normal(12)
    copies = gram.copy(), moments.copy()
    active_set = ActiveSet(GramProducts(gram, moments, 20.0))
    active, x = np.array([0, 3]), np.zeros(2)
    active_set.set(active, x)
    wander(active_set, 30, rng, -1.0, 1.0)
    np.testing.assert_array_equal(gram, copies[0])
    np.testing.assert_array_equal(moments, copies[1])
    np.testing.assert_array_equal(active, [0, 3])


def test_functions_that_cannot_be_told_apart_are_an_error_with_a_remedy():
    active_set = ActiveSet(GramProducts(np.ones((2, 2)), np.ones(2), 1.0))
    with pytest.raises(FloatingPointError, match="raise the lower end of `bounds`"):
        active_set.set(np.array([0, 1]), np.full(2, -80.0))
