"""Functions come and go in steps of rank one, and all stays as if computed from nothing."""

import numpy as np
import pytest

from sparsebayes.engine.mcmc.active_set import Tableau


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
    return Tableau(matrix.T @ matrix, matrix.T @ values, float(values @ values)), matrix, values


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


def wander(tableau, n_steps, rng, low, high):
    """Random functions come and go, with precisions between these ends of x."""
    for _ in range(n_steps):
        comes = rng.random() < 0.5
        if (comes and tableau.size < tableau.n_functions) or tableau.size == 0:
            tableau.add(int(rng.choice(tableau.others())), rng.uniform(low, high))
        else:
            tableau.remove(int(rng.integers(tableau.size)))


def largest_error(tableau, matrix, values):
    """Of all that the tableau keeps; of covariance and mean in units of the largest variance."""
    s, q, residual, mean, cov, _ = dense(matrix, values, tableau.active, tableau.x)
    scale = max(np.abs(cov).max(initial=0.0), 1.0)
    errors = (
        tableau.s - s,
        tableau.q - q,
        tableau.residual - residual,
        (tableau.root @ tableau.root.T - cov) / scale,
        (tableau.mean - mean) / scale,
    )
    return max(np.abs(error).max(initial=0.0) for error in errors)


@pytest.mark.parametrize("n_samples", [30, 12], ids=["tall", "wide"])
def test_every_step_is_as_from_nothing(n_samples):
    tableau, matrix, values = make(n_samples)
    rng = np.random.default_rng(1)
    for _ in range(60):
        wander(tableau, 1, rng, -5.0, 3.0)
        assert largest_error(tableau, matrix, values) < 1e-11


def test_set_is_the_dense_posterior():
    tableau, matrix, values = make()
    for active in ([], [7], [24, 3, 11], range(25)):
        active = np.array(active, dtype=int)
        x = np.linspace(-3.0, 2.0, active.size)
        tableau.set(active, x)
        assert largest_error(tableau, matrix, values) < 1e-12
        expected = dense(matrix, values, active, x)[-1]
        assert tableau.log_det == pytest.approx(expected, abs=1e-10)
        np.testing.assert_array_equal(tableau.active, active)
        np.testing.assert_array_equal(tableau.x, x)
        outside = np.setdiff1d(np.arange(25), active)
        np.testing.assert_array_equal(tableau.others(), outside)


def test_all_come_and_all_go():
    tableau, matrix, values = make()
    order = np.random.default_rng(3).permutation(25)
    for function in order:
        tableau.add(int(function), -2.0)
    assert tableau.others().size == 0
    assert largest_error(tableau, matrix, values) < 1e-11
    gone = [tableau.remove(0)[0] for _ in range(25)]
    assert sorted(gone) == list(range(25))
    assert tableau.size == 0 and tableau.mean.size == 0
    assert largest_error(tableau, matrix, values) < 1e-11


def test_the_last_function_takes_the_place_of_one_that_goes():
    tableau, _, _ = make()
    tableau.set(np.array([4, 9, 2, 17]), np.array([0.0, 1.0, 2.0, 3.0]))
    assert tableau.remove(1) == (9, 1.0)
    np.testing.assert_array_equal(tableau.active, [4, 17, 2])
    np.testing.assert_array_equal(tableau.x, [0.0, 3.0, 2.0])
    tableau.add(9, 1.0)
    np.testing.assert_array_equal(tableau.active, [4, 17, 2, 9])


@pytest.mark.parametrize("twins", [0.0, 1e-6], ids=["apart", "twins"])
def test_rounding_hardly_adds_up(twins):
    """500 steps at ρ = 1e-8, where twins are told apart by the precision alone."""
    tableau, matrix, values = make(twins=twins)
    low = np.log(1e-8)
    wander(tableau, 500, np.random.default_rng(2), low, low + 2.0)
    drifted = tableau.s.copy(), tableau.q.copy(), tableau.residual
    tableau.refresh()
    for before, after in zip(drifted, (tableau.s, tableau.q, tableau.residual), strict=True):
        np.testing.assert_allclose(before, after, atol=1e-9)
    s, q, residual, *_ = dense(matrix, values, tableau.active, tableau.x)
    np.testing.assert_allclose(tableau.s, s, atol=1e-9)
    np.testing.assert_allclose(tableau.q, q, atol=1e-7)
    assert tableau.residual == pytest.approx(residual, abs=1e-9)


def test_the_same_function_twice():
    rng = np.random.default_rng(0)
    one = rng.standard_normal(10)
    matrix = np.column_stack([one, one, rng.standard_normal(10)])
    matrix /= np.sqrt((matrix**2).sum(axis=0))
    values = one + 0.1 * rng.standard_normal(10)
    tableau = Tableau(matrix.T @ matrix, matrix.T @ values, float(values @ values))
    for function in range(3):
        tableau.add(function, -6.0)
    assert largest_error(tableau, matrix, values) < 1e-11
    tableau.remove(0)
    assert largest_error(tableau, matrix, values) < 1e-11


def test_a_single_function():
    tableau = Tableau(np.ones((1, 1)), np.array([2.0]), 5.0)
    tableau.add(0, 0.0)
    assert tableau.residual == pytest.approx(3.0)
    assert tableau.mean == pytest.approx(1.0)
    assert tableau.remove(0) == (0, 0.0)
    assert tableau.residual == pytest.approx(5.0)


def test_inputs_are_kept():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((12, 5))
    gram, moments = matrix.T @ matrix, matrix.T @ rng.standard_normal(12)
    copies = gram.copy(), moments.copy()
    tableau = Tableau(gram, moments, 20.0)
    active, x = np.array([0, 3]), np.zeros(2)
    tableau.set(active, x)
    wander(tableau, 30, rng, -1.0, 1.0)
    np.testing.assert_array_equal(gram, copies[0])
    np.testing.assert_array_equal(moments, copies[1])
    np.testing.assert_array_equal(active, [0, 3])


def test_functions_that_cannot_be_told_apart_are_an_error_with_a_remedy():
    tableau = Tableau(np.ones((2, 2)), np.ones(2), 1.0)
    with pytest.raises(FloatingPointError, match="raise the lower end of `bounds`"):
        tableau.set(np.array([0, 1]), np.full(2, -80.0))
