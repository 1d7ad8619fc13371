"""Forecasts and mixtures of them against draws and integrals."""

import numpy as np
import pytest
from scipy.integrate import quad

from sparsebayes.forecasting.forecasts import ForecastMixture, Forecasts
from sparsebayes.forecasting.transforms import BOUNDED, LEVEL, LOG, SQRT

WEIGHTS = np.array([0.5, 0.3, 0.2])
KINDS = {
    "levels": (LEVEL, LEVEL, LEVEL),
    "positive": (LEVEL, LOG, LOG),
    "counts": (BOUNDED, SQRT, BOUNDED),
}


def gaussian(transform, seed):
    rng = np.random.default_rng(seed)
    root = 0.3 * rng.standard_normal((2, 3, 3))
    cov = root @ root.transpose(0, 2, 1) + 0.02 * np.eye(3)
    mean = 0.9 + 0.4 * rng.standard_normal((2, 3))
    return Forecasts(mean, np.einsum("nhh->nh", cov), transform, cov)


@pytest.fixture(params=KINDS)
def mixture(request):
    return ForecastMixture([gaussian(t, k) for k, t in enumerate(KINDS[request.param])], WEIGHTS)


def draws(mixture, count=200_000):
    """(count, n, H) of the series itself."""
    rng = np.random.default_rng(9)
    paths = []
    for part, share in zip(mixture.parts, (count * mixture.weights).round(), strict=True):
        root = np.linalg.cholesky(part.cov)
        normal = rng.standard_normal((int(share), *part.mean.shape))
        paths.append(part.transform.back(part.location + np.einsum("nhk,snk->snh", root, normal)))
    return np.concatenate(paths)


def test_the_bound_does_not_raise_the_mean():
    mean = np.array([[1e-3, 0.05, 0.4, 1.0, 5.0, 80.0]])
    for variance in (0.01, 1.0, 9.0):
        found = Forecasts(mean, np.full(mean.shape, variance), BOUNDED)
        np.testing.assert_allclose(found.levels()[0], mean, rtol=1e-6)
        np.testing.assert_allclose(found.widened(np.full(6, 1.7)).levels()[0], mean, rtol=1e-6)
    below = Forecasts(np.full((1, 1), -2.0), np.ones((1, 1)), BOUNDED)
    assert 0.0 <= below.levels()[0] < 1e-9 and below.quantile(0.99) == 0.0


@pytest.mark.sampled
def test_moments(mixture):
    paths = draws(mixture)
    mean, std = mixture.levels()
    np.testing.assert_allclose(mean, paths.mean(axis=0), atol=0.02 * std.max())
    np.testing.assert_allclose(std, paths.std(axis=0), rtol=0.03)
    cov = mixture.levels_cov()
    np.testing.assert_allclose(np.sqrt(np.einsum("nhh->nh", cov)), std)
    if BOUNDED not in {part.transform for part in mixture.parts}:
        for i in range(2):
            units = np.outer(std[i], std[i])
            np.testing.assert_allclose(cov[i] / units, np.cov(paths[:, i].T) / units, atol=0.04)


@pytest.mark.sampled
@pytest.mark.parametrize("probability", [0.025, 0.3, 0.5, 0.975])
def test_quantiles(mixture, probability):
    found = mixture.quantile(probability)
    below = mixture.below(found)
    at_the_bound = (found == 0.0) & (mixture.parts[0].transform == BOUNDED)
    np.testing.assert_allclose(below[~at_the_bound], probability, atol=1e-9)
    assert (below[at_the_bound] >= probability).all()
    expected = np.quantile(draws(mixture), probability, axis=0)
    np.testing.assert_allclose(found, expected, atol=0.03)
    for part in mixture.parts:
        own = part.quantile(probability)
        off = part.below(own)[own != 0.0] - probability
        np.testing.assert_allclose(off, 0.0, atol=1e-9)
        alone = ForecastMixture([part], np.ones(1)).quantile(probability)
        np.testing.assert_array_equal(alone, own)


def test_intervals_have_their_coverage(mixture):
    lower, upper = mixture.interval(0.9)
    paths = draws(mixture)
    inside = ((lower <= paths) & (paths <= upper)).mean(axis=0)
    at_the_bound = lower == 0.0
    np.testing.assert_allclose(inside[~at_the_bound], 0.9, atol=0.005)
    assert (inside[at_the_bound] >= 0.895).all()


def test_counts_may_be_nothing():
    sure = Forecasts(np.array([[-3.0]]), np.array([[0.1]]), BOUNDED)
    assert sure.interval(0.95) == (np.zeros((1, 1)), np.zeros((1, 1)))
    lower, upper = Forecasts(np.array([[0.5]]), np.array([[1.0]]), BOUNDED).interval(0.95)
    assert lower[0, 0] == 0.0 and upper[0, 0] > 1
    both = ForecastMixture(
        [sure, Forecasts(np.array([[4.0]]), np.array([[0.1]]), BOUNDED)], np.ones(2) / 2
    )
    assert both.interval(0.9)[0][0, 0] == 0.0
    assert both.interval(0.9)[1][0, 0] == pytest.approx(4.0 + 1.2816 * 0.1**0.5, abs=1e-3)


def test_quantiles_of_squares_of_what_may_be_negative():
    """Both signs of a root count: the median of the square of a standard normal is not 0."""
    one = Forecasts(np.array([[0.0, -1.0]]), np.array([[1.0, 4.0]]), SQRT)
    np.testing.assert_allclose(one.quantile(0.5)[0, 0], 0.454936, rtol=1e-5)
    np.testing.assert_allclose(one.quantile(0.95)[0, 0], 3.841459, rtol=1e-5)
    np.testing.assert_allclose(one.below(one.quantile(0.3)), 0.3)


def test_densities_are_mixed(mixture):
    y = np.full((2, 3), 0.8)
    parts = [np.exp(part.log_density(y)) for part in mixture.parts]
    expected = np.log(sum(w * p for w, p in zip(WEIGHTS, parts, strict=True)))
    np.testing.assert_allclose(mixture.log_density(y), expected)
    np.testing.assert_allclose(mixture.losses(y)[0], -expected)


@pytest.mark.sampled
@pytest.mark.parametrize("truth", [0.05, 0.9, 2.5])
def test_crps_of_mixtures(mixture, truth):
    """The integral over all edges of the squared error of the probability."""
    y = np.full((2, 3), truth)
    found, std = mixture.losses(y)[1], mixture.levels()[1]
    for i, h in ((0, 0), (0, 2), (1, 1)):

        def below(edge, i=i, h=h):
            return mixture.below(np.full((2, 3), edge))[i, h]

        low = quad(lambda e: below(e) ** 2, -6, truth, points=[0.0], limit=200)[0]
        high = quad(lambda e: (1 - below(e)) ** 2, truth, truth + 12, limit=200)[0]
        # The mixture's is a sum over thirty quantiles.
        assert found[i, h] == pytest.approx(low + high, abs=0.015 * std[i, h])


@pytest.mark.parametrize("transform", [LEVEL, LOG, BOUNDED, SQRT], ids=lambda t: t.name)
def test_crps_of_one(transform):
    one = gaussian(transform, 3)
    y = np.array([[0.3, 1.0, 4.0], [2.0, 0.1, 0.9]])
    paths = draws(ForecastMixture([one], np.ones(1)), 100_000)
    half = len(paths) // 2
    spread = np.abs(paths[:half] - paths[half:]).mean(axis=0)
    expected = np.abs(paths - y).mean(axis=0) - 0.5 * spread
    np.testing.assert_allclose(one.crps(y), expected, atol=0.02 * one.levels()[1].max())


def test_a_sure_forecast_has_scores():
    sure = Forecasts(np.full((1, 2), 3.0), np.zeros((1, 2)))
    np.testing.assert_allclose(sure.crps(np.array([[3.0, 5.0]])), [[0.0, 2.0]], atol=1e-12)
    assert np.isfinite(sure.log_density(np.array([[3.0, 3.0]]))).all()


def test_widened(mixture):
    factors = np.array([1.0, 1.5, 2.0])
    wider = mixture.widened(factors)
    for part, before in zip(wider.parts, mixture.parts, strict=True):
        np.testing.assert_array_equal(part.mean, before.mean)
        np.testing.assert_allclose(part.std, factors * before.std)
        np.testing.assert_allclose(part.cov, before.cov * np.outer(factors, factors))
    (low, high), (lower, higher) = mixture.interval(0.5), wider.interval(0.5)
    assert ((higher - lower)[:, 1:] > (high - low)[:, 1:]).all()


def test_covariance_must_have_been_kept():
    with pytest.raises(ValueError, match="without covariance"):
        Forecasts(np.zeros((1, 2)), np.ones((1, 2))).levels_cov()
