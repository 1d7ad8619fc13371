"""Functions of a series: what Gaussian forecasts of them say of the series itself."""

import numpy as np
import pytest
from scipy.integrate import quad

from sparsebayes.forecasting.transforms import (
    BOUNDED,
    LEVEL,
    LOG,
    SQRT,
    are_counts,
    by_name,
    worth_trying,
)

ALL = [LEVEL, BOUNDED, LOG, SQRT]
MEAN, STD = np.array([0.7, -0.4, 2.0]), np.array([0.5, 0.8, 0.1])


@pytest.fixture(scope="module")
def drawn():
    return np.random.default_rng(0).standard_normal((400_000, 1)) * STD + MEAN


@pytest.mark.parametrize("transform", ALL, ids=lambda t: t.name)
def test_moments(transform):
    """By integrals over z."""
    mean, variance = transform.moments(MEAN, STD**2)
    for k, (m, s) in enumerate(zip(MEAN, STD, strict=True)):

        def integral(power, m=m, s=s):
            def integrand(z):
                bell = np.exp(-0.5 * ((z - m) / s) ** 2) / (s * np.sqrt(2 * np.pi))
                return bell * transform.back(np.array([z]))[0] ** power

            return quad(integrand, m - 12 * s, m + 12 * s, points=[0.0], limit=200)[0]

        assert mean[k] == pytest.approx(integral(1), rel=1e-7)
        assert variance[k] == pytest.approx(integral(2) - integral(1) ** 2, rel=1e-6)


@pytest.mark.parametrize("transform", ALL, ids=lambda t: t.name)
def test_probabilities_and_densities(transform, drawn):
    y = transform.back(drawn)
    for probability in (0.1, 0.5, 0.9):
        edge = np.quantile(y, probability, axis=0)
        below = transform.below(edge, MEAN, STD)
        share = (y <= edge).mean(axis=0)
        np.testing.assert_allclose(below, share, atol=3e-3)
    inside = np.quantile(y, 0.7, axis=0)
    step = 1e-5 * inside
    slope = transform.below(inside + step, MEAN, STD) - transform.below(inside - step, MEAN, STD)
    density = np.exp(transform.log_density(inside, MEAN, STD))
    np.testing.assert_allclose(slope / (2 * step), density, rtol=1e-4)


def test_nothing_lies_below_the_bound():
    low = np.array([-1.0, -1e-9])
    for transform in (BOUNDED, LOG, SQRT):
        np.testing.assert_array_equal(transform.below(low, 0.5, 1.0), 0.0)
    assert BOUNDED.below(np.zeros(1), 0.0, 1.0) == 0.5  # what is at it
    assert LOG.below(np.zeros(1), 0.0, 1.0) == SQRT.below(np.zeros(1), 0.0, 1.0) == 0.0


@pytest.mark.parametrize("transform", ALL, ids=lambda t: t.name)
def test_covariances(transform):
    rng = np.random.default_rng(1)
    mean = np.array([1.0, 1.5, 0.8])
    root = 0.4 * rng.standard_normal((3, 3))
    cov = root @ root.T
    draws = transform.back(mean + rng.standard_normal((400_000, 3)) @ root.T)
    found = transform.cov(mean[None], cov[None])[0]
    units = np.outer(draws.std(axis=0), draws.std(axis=0))
    # That of values at a bound is taken in units of their moments, which is not exact.
    slack = 0.05 if transform is BOUNDED else 0.02
    np.testing.assert_allclose(found / units, np.cov(draws.T) / units, atol=slack)
    np.testing.assert_allclose(np.diagonal(found), transform.moments(mean, np.diagonal(cov))[1])


@pytest.mark.parametrize("transform", ALL, ids=lambda t: t.name)
def test_there_and_back(transform):
    y = np.array([0.5, 1.0, 7.0, np.nan])
    np.testing.assert_allclose(transform.back(transform.of(y)), y)
    step = 1e-6
    slope = (transform.of(y + step) - transform.of(y - step)) / (2 * step)
    np.testing.assert_allclose(transform.log_slope(y)[:3], np.log(slope[:3]), atol=1e-6)


def test_large_logarithms_are_finite_without_warning():
    """A path that grows without bound is a bad forecast, not an error."""
    mean, variance = np.array([[400.0, 1e6]]), np.array([[5e4, 1e12]])
    for found in LOG.moments(mean, variance):
        assert np.isfinite(found).all()
    assert np.isfinite(LOG.cov(mean, variance[..., None] * np.ones((1, 2, 2)))).all()
    assert np.isfinite(LOG.back(mean)).all()


def test_counts():
    assert are_counts(np.array([0, 3, np.nan, 1, 0.0]))
    assert not are_counts(np.array([0, 3.5, 1]))
    assert not are_counts(np.array([-1.0, 2, 3]))
    assert not are_counts(1000.0 + np.arange(10))  # far from 0
    assert are_counts(np.array([2.0, 9, 4, 7, 1]))


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([1.5, 2.5, 7.0], [LEVEL, LOG]),
        ([-1.0, 2.5, 7.0], [LEVEL]),
        ([0.0, 2.5, 7.0], [LEVEL]),
        ([0.0, 2.0, 7.0, 1.0], [BOUNDED, SQRT]),
        ([1.0, 2.0, 7.0, np.nan], [BOUNDED, LOG]),
        ([100.0, 101.5, 99.0], [LEVEL]),  # the logarithm is nearly linear
        ([0.0, 0.0, 0.0], [BOUNDED]),
    ],
)
def test_what_is_worth_trying(y, expected):
    assert worth_trying(np.array(y)) == expected


def test_names():
    assert by_name(None) == LEVEL and by_name("log") == LOG and by_name("sqrt") == SQRT
    assert [t.parameter for t in ALL] == [None, None, "log", "sqrt"]
    assert [str(t) for t in ALL] == ["", "", "log", "sqrt"]
