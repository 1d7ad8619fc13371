"""The distribution of a band's prior variances, and the errors that follow from it."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid
from scipy.stats import norm

from sparsebayes.engine.orthonormal import shrinkage_prior
from sparsebayes.engine.orthonormal.shrinkage_prior import ShrinkagePrior, estimate

SOME = ShrinkagePrior(np.array([0.0, 3.0, 12.0, 96.0]), np.array([0.7, 0.1, 0.15, 0.05]))
C = 2.5


def kept(z):
    """The factor of the closed form with price C."""
    return np.where(z > 1 + 2 * C, 1 - 1 / np.maximum(z - 2 * C, 1.0), 0.0)


def hard(z):
    return (z > 9.0).astype(float)


def none(z):
    return np.zeros_like(z)


def draw(found, size, precision=1.0, seed=0):
    """Coefficients of the distribution, and what is measured of them, in units of σ."""
    rng = np.random.default_rng(seed)
    variance = rng.choice(found.variances, size, p=found.weights)
    w = np.sqrt(variance) * rng.standard_normal(size)
    return w, w + rng.standard_normal(size) / np.sqrt(precision)


def mixture(size, share, width, seed=0):
    rng = np.random.default_rng(seed)
    w = np.where(rng.uniform(size=size) < share, width * rng.standard_normal(size), 0.0)
    return w, w + rng.standard_normal(size)


@pytest.mark.parametrize("gain", [kept, hard, none])
@pytest.mark.parametrize("precision", [1.0, 0.3, 0.01])
def test_errors_are_those_of_a_simulation(gain, precision):
    w, x = draw(SOME, 400_000, precision)
    z = x**2 * precision
    squared = (gain(z) * x - w) ** 2
    expected = SOME.error(z, gain(z), precision)
    edges = np.array([0.0, 0.5, 2.0, 6.0, 9.0, 15.0, 50.0, np.inf])
    for low, high in pairwise(edges):
        here = (z >= low) & (z < high)
        difference = (squared - expected)[here]
        if here.sum() > 500:
            assert abs(difference.mean()) < 4.5 * difference.std() / np.sqrt(here.sum())
    assert np.std(expected) > 0.01  # there is something to tell


def test_error_is_an_integral_over_the_posterior():
    w = np.linspace(-90.0, 90.0, 400_001)
    for z, gain, precision in ((0.3, 0.0, 1.0), (7.0, 0.6, 1.0), (40.0, 0.9, 0.4)):
        x, noise = np.sqrt(z / precision), 1.0 / np.sqrt(precision)
        zero = SOME.weights[0] * norm.pdf(x, 0, noise)  # a point mass at w = 0
        prior = SOME.weights[1:] @ norm.pdf(w, 0, np.sqrt(SOME.variances[1:, None]))
        joint = prior * norm.pdf(x, w, noise)
        total = zero + trapezoid(joint, w)
        square = zero * (gain * x) ** 2 + trapezoid(joint * (gain * x - w) ** 2, w)
        found = SOME.error(np.array([z]), np.array([gain]), precision)
        assert_allclose(found, square / total, rtol=1e-6)


def test_unmeasured_coefficients_have_their_prior_variance():
    found = SOME.error(np.zeros(1), np.zeros(1), 1e-12)
    assert_allclose(found, SOME.weights @ SOME.variances, rtol=1e-6)
    assert SOME.error(np.zeros(1), np.zeros(1))[0] < 0.2


@pytest.mark.parametrize("gain", [kept, none])
def test_the_table_is_the_direct_sum(gain):
    _, x = draw(SOME, 20_000)
    z = np.concatenate([x**2, [0.0, 1e-8, 1e6]])
    direct = SOME.error(z, gain(z))
    table = SOME.errors(z, gain)
    near = np.abs(z - (1 + 2 * C)) < 0.05 * (1 + 2 * C)  # where the factor begins, steeply
    assert_allclose(table[~near], direct[~near], rtol=0.03)
    assert_allclose(table[:-1].mean(), direct[:-1].mean(), rtol=1e-3)
    few = z[:1000]
    assert_allclose(SOME.errors(few, gain), direct[:1000], rtol=1e-12)


def test_gain_is_the_posterior_mean():
    w, x = draw(SOME, 400_000)
    z = x**2
    for low, high in ((0.1, 0.5), (2.0, 3.0), (5.0, 6.0), (9.0, 11.0), (30.0, 50.0)):
        here = (z > low) & (z < high)
        difference = w[here] * x[here] - SOME.gain(z[here]) * z[here]
        assert abs(difference.mean()) < 4.5 * difference.std() / np.sqrt(here.sum())
    # No other factor has a smaller error.
    factor = SOME.gain(z[:2000])
    least = SOME.error(z[:2000], factor)
    for change in (-0.05, 0.05):
        assert np.all(SOME.error(z[:2000], factor + change) >= least)
    assert_allclose(SOME.gain(z[:20_000])[:2000], factor, atol=0.01)  # from a table


def test_included():
    z = np.linspace(0.0, 60.0, 200)
    probability = SOME.included(z)
    assert np.all(np.diff(probability) > 0) and probability[0] > 0 and probability[-1] > 0.999
    w, x = draw(SOME, 400_000)
    some = (x**2 > 4) & (x**2 < 8)
    share = np.mean(w[some] != 0)
    assert abs(share - SOME.included(x[some] ** 2).mean()) < 4.5 * np.sqrt(0.25 / some.sum())


def evidence(found, z):
    """What EM climbs: the evidence of the band, and that of the dropped ones that were added."""
    levels, counts = shrinkage_prior._BINS.levels(iter([z]))
    total = 1.0 + found.variances
    density = np.exp(-0.5 * levels[:, None] / total) / np.sqrt(total)
    return counts @ np.log(density @ found.weights) + shrinkage_prior._NULLS * np.log(
        found.weights[0]
    )


@pytest.mark.parametrize("seed", range(3))
def test_em_never_lowers_the_evidence(seed, monkeypatch):
    z = mixture(300, (0.0, 0.1, 0.5)[seed], (1.0, 5.0, 30.0)[seed], seed)[1] ** 2
    path = []
    for steps in (1, 2, 3, 5, 8, 13, 30, 100, 300):
        monkeypatch.setattr(shrinkage_prior, "_STEPS", steps)
        found = estimate(z)
        assert_allclose(found.weights.sum(), 1.0)
        path.append(evidence(found, z))
    assert np.all(np.diff(path) >= -1e-9)
    assert path[-1] > path[0] + (1.0 if seed else 0.1)  # without a signal it begins near the end
    # Nothing nearby is better than the end.
    rng = np.random.default_rng(0)
    for _ in range(20):
        moved = found.weights * np.exp(0.2 * rng.standard_normal(found.weights.size))
        other = ShrinkagePrior(found.variances, moved / moved.sum())
        assert evidence(other, z) < path[-1] + 0.05


@pytest.mark.parametrize(("share", "width"), [(0.05, 10.0), (0.3, 6.0), (0.9, 20.0)])
def test_shares_are_found(share, width):
    _, x = mixture(20_000, share, width)
    found = estimate(x**2)
    assert abs(1 - found.weights[0] - share) < 0.02 + 0.05 * share
    assert_allclose(found.weights @ found.variances, share * width**2, rtol=0.1)


def test_noise_alone_is_left_out():
    found = estimate(np.random.default_rng(0).standard_normal(20_000) ** 2)
    assert found.weights[0] > 0.99
    assert found.error(np.ones(1), np.zeros(1))[0] < 0.02


@pytest.mark.parametrize("gain", [kept, hard])
def test_errors_of_a_band_whose_distribution_is_learned(gain):
    # What matters in the end: the mean squared error, of other coefficients than those of the grid.
    for share, width in ((0.02, 15.0), (0.2, 4.0), (0.6, 8.0)):
        w, x = mixture(30_000, share, width, seed=5)
        z = x**2
        squared = (gain(z) * x - w) ** 2
        expected = estimate(z).errors(z, gain)
        assert_allclose(expected.mean(), squared.mean(), rtol=0.15)


@pytest.mark.parametrize("z", [[], [0.0], [0.0] * 100, [1e12], [1.0, 1e30]])
def test_extremes(z):
    found = estimate(np.array(z, dtype=float))
    assert_allclose(found.weights.sum(), 1.0)
    assert found.variances[0] == 0 and np.all(found.weights >= 0)
    errors = found.error(np.array([0.0, 1.0, 1e12]), np.array([0.0, 0.0, 1.0]))
    assert np.all(np.isfinite(errors)) and np.all(errors >= 0)


def test_many_coefficients_are_as_few():
    # Across the boundaries of the chunks in which they are visited.
    z = mixture(140_000, 0.1, 5.0)[1] ** 2
    whole, direct = SOME.error(z, np.zeros(1)), SOME.error(z[-5:], np.zeros(1))
    assert whole.shape == z.shape
    assert_allclose(whole[-5:], direct)
    assert_allclose(estimate(z).weights, estimate(np.tile(z, 2)).weights, atol=1e-3)


def test_the_evidence_is_that_of_the_mixture():
    _, x = mixture(3000, 0.2, 6.0)
    found = estimate(x**2)
    density = [norm.pdf(x, scale=np.sqrt(1 + v)) for v in found.variances]
    assert_allclose(found.log_evidence, np.log(found.weights @ density).sum(), rtol=1e-3)


def test_coefficients_of_several_bases_count_once():
    _, x = mixture(3000, 0.2, 6.0)
    once, twice = estimate(x**2), estimate(np.tile(x**2, 2), n_bases=2)
    assert_allclose(twice.weights, once.weights, atol=1e-12)
    assert_allclose(twice.log_evidence, once.log_evidence)


def test_a_prior_that_gains_too_little_is_one_of_noise_alone():
    z = mixture(300, 0.02, 4.0)[1] ** 2
    found = estimate(z)
    null = -0.5 * (z.sum() + z.size * np.log(2 * np.pi))
    gain = found.log_evidence - null
    assert gain > 1.0 and found.weights[0] < 1.0
    # The price of zeros that were added is off the gain.
    assert estimate(z, least_gain=0.5 * gain).weights[0] < 1.0
    refused = estimate(z, least_gain=1.1 * gain)
    assert refused.weights[0] == 1.0
    assert_allclose(refused.log_evidence, null, rtol=1e-3)


def shared(count, size=40_000):
    """Coefficients in groups that share a prior variance of SOME: true ones and measured ones."""
    rng = np.random.default_rng(count)
    v = rng.choice(SOME.variances, size, p=SOME.weights)
    true = np.sqrt(v)[:, None] * rng.standard_normal((size, count))
    return true, true + rng.standard_normal((size, count))


@pytest.mark.parametrize("count", [1, 3, 9])
def test_what_is_seen_together_is_shrunk_together(count):
    true, x = shared(count)
    mean, variance = SOME.shrinkage((x**2).sum(axis=1), count)
    errors = (mean * x[:, 0] - true[:, 0]) ** 2
    # The promised error is the actual one, also where coefficients are large or small.
    promised = mean + variance * x[:, 0] ** 2
    for some in (mean < 0.3, (mean >= 0.3) & (mean < 0.9), mean >= 0.9):
        assert some.sum() > 500
        assert_allclose(errors[some].mean(), promised[some].mean(), rtol=0.1)
    # The more there are, the better; one alone is as in `gain`.
    if count == 1:
        assert_allclose(mean, SOME.gain(x[:, 0] ** 2), rtol=1e-12)
    else:
        alone = SOME.gain(x[:, 0] ** 2)
        assert errors.mean() < 0.9 * ((alone * x[:, 0] - true[:, 0]) ** 2).mean()


@pytest.mark.slow
def test_coefficients_are_foretold_by_those_around_them():
    _, x = shared(5)
    others = (x[:, 1:] ** 2).sum(axis=1)
    told = SOME.log_predictive(x[:, 0] ** 2, others, 4.0)
    alone = SOME.log_predictive(x[:, 0] ** 2, np.zeros(len(x)), 0.0)
    assert told > alone + 0.02
    # Those of other groups tell nothing: to trust them costs.
    assert SOME.log_predictive(x[:, 0] ** 2, np.roll(others, 1), 4.0) < alone - 0.02
    # It is a density, but for a constant.
    grid = np.linspace(-80.0, 80.0, 20_001)
    for total in (1.0, 30.0):
        values = [
            np.exp(SOME.log_predictive(np.array([g**2]), np.array([total]), 4.0)) for g in grid
        ]
        assert_allclose(trapezoid(values, grid) / np.sqrt(2 * np.pi), 1.0, rtol=1e-6)
