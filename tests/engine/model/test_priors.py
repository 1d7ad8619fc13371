"""One precision at a time: optimum, gain and derivatives of every prior."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.engine import Dense, Exact, Flat, Gamma, Gaussian, Smoothness, Trace
from sparsebayes.engine.model.prior import Separable
from sparsebayes.engine.model.priors import likelihood_gain
from tests.engine.conftest import PRIORS


def cases(n=400, seed=0):
    rng = np.random.default_rng(seed)
    s = np.exp(2 * rng.standard_normal(n))
    return s, s * np.exp(2 * rng.standard_normal(n)), s * (1 + np.exp(rng.standard_normal(n)))


def test_no_point_of_a_grid_beats_the_optimum(prior):
    s, q2, g = cases()
    alpha, gain = prior.optimum(s, q2, g), prior.best_gain(s, q2, g)
    grid = np.exp(np.linspace(-25, 25, 4001))[:, None]
    on_grid = prior.gain(grid, s, q2, g).max(axis=0)
    assert np.all(on_grid <= gain + 1e-9)
    inside = gain > 0
    assert 50 < inside.sum() < 350
    assert_allclose(gain[inside], prior.gain(alpha[inside], s[inside], q2[inside], g[inside]))
    assert np.all(on_grid[inside] >= gain[inside] - 1e-3)


@pytest.mark.parametrize("prior", [p for p in PRIORS.values() if isinstance(p, Separable)], ids=str)
def test_derivatives_match_finite_differences(prior):
    alpha, g = np.exp(np.linspace(-3, 3, 7)), np.full(7, 1.3)
    step = 1e-5
    up, down = (prior.derivatives(alpha * np.exp(e), g) for e in (step, -step))
    value, first, second = prior.derivatives(alpha, g)
    assert_allclose(first, (up[0] - down[0]) / (2 * step), atol=1e-8)
    assert_allclose(second, (up[1] - down[1]) / (2 * step), atol=1e-8)
    push, rate = prior.split(alpha, g)
    assert_allclose(push - rate * alpha, first, atol=1e-12)
    assert np.all(push >= 0) and np.all(rate >= 0)
    state = SimpleNamespace(alpha=alpha, scale=g)
    assert_allclose(prior.log_density(state), value.sum())


def test_c_zero_and_gamma_zero_are_flat():
    s, q2, g = cases()
    for prior in (Smoothness(0.0), Gamma(0.0, 0.0)):
        assert_allclose(prior.optimum(s, q2, g), Flat().optimum(s, q2, g), rtol=1e-12)
        assert_allclose(
            prior.best_gain(s, q2, g), Flat().best_gain(s, q2, g), rtol=1e-10, atol=1e-14
        )


@pytest.mark.parametrize("c", [0.5, 1.0, 3.0, 6.9])
def test_smoothness_in_the_orthonormal_case_has_the_closed_form(c):
    # s = g: keep iff q²/s > 1 + 2c, and α = s/(q²/s − 1 − 2c).
    s = np.full(50, 2.5)
    ratio = np.linspace(1.01, 30, 50)
    alpha = Smoothness(c).optimum(s, ratio * s, s)
    expected = np.full(50, np.inf)
    keep = ratio > 1 + 2 * c
    expected[keep] = 2.5 / (ratio[keep] - 1 - 2 * c)
    assert_allclose(alpha, expected, rtol=1e-9)


def test_smoothness_is_never_less_sparse_than_flat():
    s, q2, g = cases()
    flat = Flat().optimum(s, q2, g)
    for c in (0.1, 1.0, 5.0):
        assert np.all(Smoothness(c).optimum(s, q2, g) >= flat)


def test_the_gamma_prior_can_be_less_sparse_than_flat():
    # S08 Fig. 2.28: the likelihood alone would remove the function.
    s, q2 = np.array([2.0]), np.array([1.0])
    assert np.isinf(Flat().optimum(s, q2, s)[0])
    assert np.isfinite(Gamma(1.0, 2.0).optimum(s, q2, s)[0])


def test_relative_priors_do_not_see_units():
    s, q2, g = cases()
    prior = Smoothness(2.0)
    unit = 1e12
    assert_allclose(
        prior.optimum(unit * s, unit * q2, unit * g), unit * prior.optimum(s, q2, g), rtol=1e-9
    )
    assert_allclose(
        prior.best_gain(unit * s, unit * q2, unit * g),
        prior.best_gain(s, q2, g),
        rtol=1e-9,
        atol=1e-12,
    )


def test_likelihood_gain_vanishes_at_infinity():
    assert abs(likelihood_gain(np.array([1e300]), np.array([1.0]), np.array([2.0]))[0]) < 1e-290


@pytest.mark.parametrize("a, b", [(-1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (np.nan, 1.0)])
def test_gamma_refuses_improper_parameters(a, b):
    with pytest.raises(ValueError, match="both positive or both zero"):
        Gamma(a, b)


@pytest.mark.parametrize("c", [-1.0, np.inf, np.nan])
def test_smoothness_refuses_a_bad_c(c):
    with pytest.raises(ValueError, match=r"c of Smoothness must be a (finite )?number"):
        Smoothness(c)


@pytest.mark.parametrize("prior", [*PRIORS.values(), Gamma(0.0, 0.0)], ids=str)
def test_the_price_is_that_of_an_effective_parameter_of_an_orthonormal_design(prior):
    matrix = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 6)))[0]
    problem = Exact(Dense(matrix), prior, Gaussian(np.arange(12.0), np.ones(12), 0.3))
    state = problem.evaluate(np.arange(4), np.array([0.1, 1.0, 5.0, 40.0]), 1.0 / 0.3)
    if prior.price is None:
        assert isinstance(prior, Gamma)
    else:
        assert_allclose(prior.log_density(state), -prior.price * state.n_determined, atol=1e-12)


@pytest.mark.parametrize("prior", [*PRIORS.values(), Gamma(0.0, 0.0)], ids=str)
def test_a_relative_prior_moves_with_the_scale_of_the_functions(prior):
    rng = np.random.default_rng(0)
    matrix, target = rng.standard_normal((12, 6)), rng.standard_normal(12)
    alpha = np.array([0.1, 1.0, 5.0, 40.0])
    values = []
    for unit in (1.0, 100.0):
        problem = Exact(Dense(unit * matrix), prior, Gaussian(target, np.ones(12), 0.3))
        state = problem.evaluate(np.arange(4), unit**2 * alpha, 1.0 / 0.3)
        values.append(prior.log_density(state))
    assert prior.relative == np.isclose(*values)


@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize("prior", [Gamma(0.3, 0.5), Gamma(4.0, 1.0), Gamma(0.0, 0.0)], ids=str)
def test_the_mass_of_a_gamma_is_its_integral(prior, power):
    g = np.array([0.2, 1.0, 3.0])
    found = prior.log_mass(1e-2, 10.0, g, power=power)
    assert_allclose(found, Separable.log_mass(prior, 1e-2, 10.0, g, power=power), rtol=1e-10)
    x = np.linspace(np.log(1e-2), np.log(10.0), 100_001)
    for one, value in zip(g, found, strict=True):
        f = prior.derivatives(one * np.exp(x), np.full(x.size, one))[0]
        assert_allclose(value, np.log(np.trapezoid(np.exp(f + power * x), x)), atol=1e-7)


def test_only_the_trace_weighs_candidates_by_what_the_others_leave():
    scale, s, half = np.array([4.0, 5.0]), np.array([3.0, 2.0]), np.ones((1, 2))
    problem = Exact(Dense(np.eye(3)), Flat(), Gaussian(np.ones(3), np.ones(3), 1.0))
    state = problem.evaluate(np.array([0]), np.array([2.0]), 1.0)
    for prior in PRIORS.values():
        weight = prior.candidate_weight(state, scale, s, half)
        left = prior.reduced_weight(weight, s, np.array([0.3, 3.0]))
        if isinstance(prior, Trace):  # s − x²α with x = L⁻ᵀ half, L² = 1 + 2
            assert_allclose(weight, s - 2.0 / 3.0)
            assert_allclose(left, [0.9 * weight[0], 0.0])
        else:
            assert weight is scale and left is scale
