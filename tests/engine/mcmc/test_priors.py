"""The priors of the samplers, and the density they draw from."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import betabinom, invgamma, multivariate_normal

from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness
from tests.engine.mcmc.enumeration import INPUTS, WEIGHTS, functions, make_posterior

PRIORS = [Flat(), Smoothness(0.0), Smoothness(3.0), Gamma(0.0, 0.0), Gamma(0.3, 0.5), Gamma(4, 1)]
VALUES = np.sin(3 * INPUTS) + 0.1 * np.cos(40 * INPUTS)
SOME = Slab(Smoothness(1.2), 1e-3, 1e3)
SIZES = [InclusionPrior(), InclusionPrior(0.5, 3.0), InclusionPrior(fixed=0.2)]


@pytest.mark.parametrize("per_alpha", [False, True])
@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_density_of_x_integrates_to_one(prior, per_alpha):
    slab = Slab(prior, 1e-4, 1e3, per_alpha)
    for g in (1e-4, 1.0, 70.0, 1e4):
        low, high = slab.ends
        mass = quad(lambda x, g=g: np.exp(slab.log_density(x, g)), low, high, limit=200)[0]
        assert mass == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("a", [0.05, 1.0, 300.0, 1e4])
@pytest.mark.parametrize(("low", "high"), [(1e-10, 1e3), (0.9, 1.2), (40.0, 1e3), (1e-10, 0.02)])
def test_narrow_or_far_gamma_integrates_to_one(a, low, high):
    """With mean 1, also where next to nothing of it is within the bounds."""
    slab = Slab(Gamma(a, a), low, high)
    ends = slab.ends
    peak = np.clip(0.0, *ends)
    width = 1.0 / np.sqrt(a + 1.0) / max(1.0, np.sqrt(a) * abs(np.exp(peak) - 1.0))
    points = np.clip(peak + width * np.array([-60, -15, -4, -1, 1, 4, 15, 60]), *ends)
    edges = np.unique([*ends, *points])
    pieces = [
        quad(lambda x: np.exp(slab.log_density(x, 1.0)), one, two, limit=200)[0]
        for one, two in pairwise(edges)
    ]
    assert sum(pieces) == pytest.approx(1.0, rel=2e-3)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_density_follows_the_prior_of_alpha(prior):
    x, g = np.array([-3.0, -1.0, 0.5, 2.0]), 1.7
    expected = prior.derivatives(g * np.exp(x), np.full(4, g))[0]
    for per_alpha in (False, True):
        log = Slab(prior, 1e-4, 1e3, per_alpha).log_density(x, g)
        np.testing.assert_allclose(np.diff(log), np.diff(expected + per_alpha * x), atol=1e-12)


def test_density_broadcasts_and_knows_where_the_noise_matters():
    x, g = np.linspace(-2, 2, 5), np.array([0.5, 3.0, 8.0])
    for prior in PRIORS:
        slab = Slab(prior, 0.01, 100.0)
        grid = slab.log_density(x, g[:, None])
        assert grid.shape == ((5,) if slab.noise_free else (3, 5))
        grid = np.broadcast_to(grid, (3, 5))
        for row, one in zip(grid, g, strict=True):
            np.testing.assert_allclose(row, [slab.log_density(v, one) for v in x], rtol=1e-12)
        shape = prior.derivatives(np.outer(g, np.exp(x)).ravel(), np.repeat(g, 5))[0].reshape(3, 5)
        same = np.allclose(np.diff(shape, axis=1), np.diff(shape[0]))
        assert slab.noise_free == same


def test_point_has_all_the_mass():
    slab = Slab(Gamma(1.0, 2.0), 0.3, 0.3)
    assert slab.point and slab.noise_free
    assert slab.ends == (np.log(0.3), np.log(0.3))
    np.testing.assert_array_equal(slab.log_density(np.zeros(3), np.ones((2, 1))), np.zeros(3))


@pytest.mark.parametrize("inclusion", SIZES, ids=repr)
def test_all_sets_together_have_probability_one(inclusion):
    each = np.exp([inclusion.log_prior(k, 9) for k in range(10)])
    counts = np.array([comb(9, k) for k in range(10)])
    assert each @ counts == pytest.approx(1.0, rel=1e-12)
    odds = [inclusion.log_odds(k, 9) for k in range(9)]
    np.testing.assert_allclose(odds, np.diff(np.log(each)), rtol=1e-10)
    if inclusion.fixed is None:
        expected = betabinom(9, inclusion.a, inclusion.b).pmf(range(10))
        np.testing.assert_allclose(each * counts, expected, rtol=1e-9)


def test_density_of_the_noise():
    grid = np.array([0.1, 0.5, 2.0])
    found = [NoisePrior(3.0, 0.7).log_density(v) for v in grid]
    np.testing.assert_allclose(found, invgamma(3.0, scale=0.7).logpdf(grid), rtol=1e-12)
    assert NoisePrior(fixed=2.0).log_density(2.0) == 0.0
    differences = np.diff([NoisePrior().log_density(v) for v in grid])  # 1/σ², not normalised
    np.testing.assert_allclose(differences, -np.diff(np.log(grid)), rtol=1e-12)


def dense_log_likelihood(matrix, values, alpha, variance):
    """Log N(t; 0, σ²I + Σ φφᵀ/α)."""
    cov = variance * np.eye(len(values)) + (matrix / alpha) @ matrix.T
    return multivariate_normal(np.zeros(len(values)), cov).logpdf(values)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weighted"])
@pytest.mark.parametrize("prior", [Flat(), Smoothness(2.0), Gamma(0.5, 0.2)], ids=repr)
def test_log_joint_is_that_of_the_dense_model(prior, weights):
    """A row of weight 2 is two rows."""
    matrix = functions(INPUTS)
    rows = np.repeat(np.arange(12), (np.ones(12) if weights is None else weights).astype(int))
    inclusion, noise = InclusionPrior(2.0, 3.0), NoisePrior(1.5, 0.4)
    slab = Slab(prior, 1e-3, 1e3)
    posterior = make_posterior(
        matrix, VALUES, slab, weights=weights, inclusion=inclusion, noise=noise
    )
    active_set = posterior.active_set()
    for active in ([], [4], [6, 1, 3], range(8)):
        active = np.array(active, dtype=int)
        x = np.linspace(-2.0, 1.5, active.size)
        for variance in (0.03, 2.0):
            g = (matrix[rows] ** 2).sum(axis=0)[active] / variance
            expected = dense_log_likelihood(
                matrix[np.ix_(rows, active)], VALUES[rows], g * np.exp(x), variance
            )
            expected += sum(float(slab.log_density(*pair)) for pair in zip(x, g, strict=True))
            expected += inclusion.log_prior(active.size, 8) + noise.log_density(variance)
            active_set.set(active, x)
            assert posterior.log_joint(active_set, 1.0 / variance) == pytest.approx(
                expected, rel=1e-9
            )


def likelihood(posterior, active, x, beta):
    """Log likelihood of a set without what the priors add."""
    active_set = posterior.active_set()
    active_set.set(active, x)
    value = 0.5 * posterior.n_samples * np.log(beta / (2.0 * np.pi))
    return value + 0.5 * (x.sum() - active_set.log_det - beta * active_set.residual)


def integrated(posterior, active, x):
    """The same with the noise integrated out by quadrature over log β."""
    log_beta = np.linspace(-12.0, 12.0, 601)
    logs = [likelihood(posterior, active, x, beta) for beta in np.exp(log_beta)]
    logs = np.array(logs) + [posterior.noise.log_density(v) for v in np.exp(-log_beta)] - log_beta
    return logs.max() + np.log(np.exp(logs - logs.max()).sum())


@pytest.mark.parametrize("noise", [NoisePrior(), NoisePrior(2.0, 0.3)], ids=repr)
def test_gain_is_a_difference_of_likelihoods(noise):
    posterior = make_posterior(functions(INPUTS), VALUES, SOME, weights=WEIGHTS, noise=noise)
    active, x = np.array([5, 2]), np.array([-1.0, 0.7])
    active_set = posterior.active_set()
    active_set.set(active, x)
    without = integrated(posterior, active, x)
    for new, at in ((0, -2.5), (3, 0.0), (7, 4.0)):
        arguments = at, active_set.s[new], active_set.q[new] ** 2, active_set.residual
        both, x_both = np.append(active, new), np.append(x, at)
        for beta in (0.2, 30.0):
            found = likelihood(posterior, both, x_both, beta) - likelihood(
                posterior, active, x, beta
            )
            assert posterior.gain(beta)(*arguments) == pytest.approx(found, rel=1e-9)
        found = integrated(posterior, both, x_both) - without
        assert posterior.gain(None)(*arguments) == pytest.approx(found, rel=1e-6)


def test_draws_of_the_noise_follow_its_density():
    """Given a set and x, by the closed form and by slices."""
    rng = np.random.default_rng(0)
    for prior in (Flat(), Gamma(1.0, 0.5)):
        slab = Slab(prior, 1e-2, 1e2)
        posterior = make_posterior(functions(INPUTS), VALUES, slab, noise=NoisePrior(1.0, 0.1))
        active_set = posterior.active_set()
        active_set.set(np.array([1, 5, 6]), np.array([-1.0, 0.5, 1.0]))
        grid = np.linspace(-6.0, 8.0, 801)
        logs = np.array([posterior.log_joint(active_set, np.exp(v)) - v for v in grid])
        weights = np.exp(logs - logs.max())
        mean = weights @ grid / weights.sum()
        spread = np.sqrt(weights @ (grid - mean) ** 2 / weights.sum())
        beta, draws = np.exp(mean), []
        for _ in range(1000):
            beta = posterior.draw_beta(active_set, beta, rng)
            draws.append(np.log(beta))
        assert np.mean(draws) == pytest.approx(mean, abs=0.2 * spread)
        assert np.std(draws) == pytest.approx(spread, rel=0.15)


def test_sets_are_counted_once():
    """The prior of sets, summed over the sets that contain a function, is its inclusion."""
    inclusion = InclusionPrior(1.0, 3.0)
    total = sum(
        np.exp(inclusion.log_prior(size, 5))
        for size in range(6)
        for chosen in combinations(range(5), size)
        if 2 in chosen
    )
    assert total == pytest.approx(0.25)
