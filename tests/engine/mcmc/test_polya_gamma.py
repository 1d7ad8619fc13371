"""Pólya-Gamma variables: moments, Laplace transform, and two ways to draw them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import ks_2samp, kstest

from sparsebayes.engine.mcmc import polya_gamma
from sparsebayes.engine.mcmc.polya_gamma import draw_polya_gamma, polya_gamma_mean

CASES = [(b, z) for b in (1.0, 3.0, 0.37, 12.5) for z in (0.0, 0.7, -4.0, 30.0)]


def log_cosh(x):
    return np.logaddexp(x, -x) - np.log(2.0)


def moments(b, z):
    """Mean and variance as minus the slope and the curvature of the log Laplace transform at 0."""
    step = 1e-3

    def log_transform(s):  # cosh of an imaginary number is a cosine
        square = 0.5 * s + 0.25 * z**2
        root = np.sqrt(abs(square))
        below = log_cosh(root) if square >= 0 else np.log(np.cos(root))
        return b * (log_cosh(0.5 * z) - below)

    up, here, down = log_transform(step), log_transform(0.0), log_transform(-step)
    return -(up - down) / (2 * step), (up - 2 * here + down) / step**2


def standard_scores(draws, b, z):
    """How far mean, variance and Laplace transform of draws are off, in standard errors."""
    mean, variance = moments(b, z)
    s = 1.5 / mean
    transform = np.exp(b * (log_cosh(0.5 * z) - log_cosh(np.sqrt(0.5 * s + 0.25 * z**2))))
    pairs = [(draws, mean), ((draws - mean) ** 2, variance), (np.exp(-s * draws), transform)]
    return [(v.mean() - exact) / (v.std() / np.sqrt(v.size)) for v, exact in pairs]


@pytest.mark.parametrize(("b", "z"), CASES)
def test_mean_and_variance(b, z):
    mean, variance = moments(b, z)
    assert_allclose(polya_gamma_mean(b, np.array(z)), mean, rtol=1e-5)
    own = polya_gamma._polya_gamma_variance(np.array(b), np.abs(z))
    assert_allclose(own, variance, rtol=1e-3)


@pytest.mark.parametrize("z", [0.0049, 0.0051])
def test_variance_near_zero_keeps_its_digits(z):
    """The series needs it to better than what its terms leave out, 3e-9."""
    expansion = (1.0 - z**2 / 5.0 + 17.0 * z**4 / 560.0) / 24.0
    own = polya_gamma._polya_gamma_variance(np.ones(()), np.array(z))
    assert_allclose(own, expansion, atol=3e-11)


@pytest.mark.parametrize(("b", "z"), CASES)
def test_draws_have_the_moments_and_the_transform(b, z):
    rng = np.random.default_rng(1)
    draws = draw_polya_gamma(np.full(20_000, b), np.full(20_000, z), rng)
    assert np.all(draws > 0)
    assert np.abs(standard_scores(draws, b, z)).max() < 4.0


def test_a_wrong_scale_is_told():
    draws = draw_polya_gamma(np.ones(20_000), np.full(20_000, 0.7), np.random.default_rng(1))
    assert np.abs(standard_scores(1.02 * draws, 1.0, 0.7)).max() > 3.0


def density(x, z):
    """Of PG(1, z) by one of its series, which converges for every x."""
    n = np.arange(60)[:, None]
    odd = 2 * n + 1
    terms = (-1.0) ** n * odd / np.sqrt(2 * np.pi * x**3) * np.exp(-(odd**2) / (8 * x))
    return np.cosh(0.5 * z) * np.exp(-0.5 * z**2 * x) * terms.sum(axis=0)


@pytest.mark.parametrize("z", [0.0, 2.0, 8.0])
def test_exact_draws_follow_the_density(z):
    draws = draw_polya_gamma(np.ones(4000), np.full(4000, z), np.random.default_rng(2))
    grid = np.linspace(1e-4, 2.5, 20_001)
    values = density(grid, z)
    assert quad(lambda x: density(np.array([x]), z)[0], 1e-4, 2.5)[0] == pytest.approx(1, abs=1e-4)
    below = np.cumsum(values) / values.sum()
    assert kstest(draws, lambda x: np.interp(x, grid, below)).pvalue > 1e-3


@pytest.mark.parametrize("z", [0.0, 0.02, 3.0, 200.0])
def test_both_ways_draw_the_same(z):
    rng = np.random.default_rng(3)
    exact = polya_gamma._draw_single(np.full(5000, z), rng)
    series = polya_gamma._draw_series(np.ones(5000), np.full(5000, z), rng)
    assert ks_2samp(exact, series).pvalue > 1e-3


def test_shapes_signs_and_seeds():
    b, z = np.array([[1.0], [2.0], [0.5], [40.0]]), np.array([-1.0, 0.0, 700.0])
    one, again = (draw_polya_gamma(b, z, np.random.default_rng(0)) for _ in range(2))
    assert one.shape == (4, 3)
    assert_array_equal(one, again)
    assert np.isfinite(one).all() and np.all(one > 0)
    assert_array_equal(draw_polya_gamma(b, -z, np.random.default_rng(0)), one)
