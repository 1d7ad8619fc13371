"""Counts and noise that multiplies: transforms, their inverses and bands."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import poisson

from sparsebayes import denoise
from sparsebayes.denoising.observed.counts import Roots
from tests.sweeps import thinned

T = np.linspace(0, 1, 1024)
RATE = 0.1 + np.exp(-((T - 0.3) ** 2) / 0.01) + 0.5 * (T > 0.6)
MEANS = np.array([0.0, 0.01, 0.3, 1.0, 4.0, 50.0, 399.0, 401.0, 2000.0])


def counts(scale, seed=0):
    truth = scale * RATE
    return truth, np.random.default_rng(seed).poisson(truth)


def covered(found, truth):
    return np.mean(np.abs(found.signal - truth) < 1.96 * found.std)


def test_the_inverse_undoes_the_mean_of_the_root():
    k = np.arange(4000)
    for mean in MEANS:
        root = float(np.sum(poisson.pmf(k, mean) * 2.0 * np.sqrt(k + 0.375)))
        assert_allclose(Roots().inverse(np.array(root)), mean, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("read_noise", [0.5, 9.0])
def test_the_inverse_with_gaussian_noise(read_noise):
    rng = np.random.default_rng(0)
    roots = Roots(read_noise)
    for mean in (0.0, 0.5, 5.0, 100.0):
        y = rng.poisson(mean, 400_000) + np.sqrt(read_noise) * rng.standard_normal(400_000)
        found = float(roots.inverse(roots.forward(y).mean()))
        assert abs(found - mean) < 5.0 * np.sqrt((mean + read_noise) / y.size) + 1e-3


@pytest.mark.parametrize("read_noise", [0.0, 4.0])
def test_slopes(read_noise):
    roots = Roots(read_noise)
    d = roots.forward(np.array([1.0, 3.0, 30.0, 395.0, 405.0, 5000.0]))
    by_differences = (roots.inverse(d + 1e-4) - roots.inverse(d - 1e-4)) / 2e-4
    assert_allclose(roots.slope(d), by_differences, rtol=1e-4)
    assert_array_equal(roots.inverse(np.array([-3.0, 0.0])), 0.0)
    assert np.all(roots.slope(np.array([-3.0, 0.0])) > 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.3, 3.0, 100.0])
def test_counts(scale):
    truth, y = counts(scale)
    found = denoise(y, noise_model="poisson")
    left = np.mean((found.signal - truth) ** 2)
    assert left < 0.7 * np.mean((denoise(y).signal - truth) ** 2)
    assert left < 0.1 * truth.mean()
    assert np.all(found.signal >= 0)
    # Of fewer than a count for each sample little can be seen, and bands are too narrow.
    assert scale < 1 or covered(found, truth) > 0.8
    assert found.noise_variance == 1.0 if scale > 1 else 0.2 < found.noise_variance < 0.7


@pytest.mark.sampled
@pytest.mark.parametrize("mean", [0.05, 0.5, 20.0])
def test_even_counts_keep_their_mean(mean):
    y = np.random.default_rng(1).poisson(mean, 20_000)
    found = denoise(y, noise_model="poisson")
    assert abs(found.signal.mean() - mean) < 4.0 * np.sqrt(mean / y.size)


@pytest.mark.slow
def test_counts_with_gaussian_noise():
    truth, y = counts(20.0)
    y = y + 3.0 * np.random.default_rng(2).standard_normal(y.size)
    found = denoise(y, noise_model="poisson", noise=9.0)
    assert np.mean((found.signal - truth) ** 2) < 0.1 * (truth.mean() + 9.0)
    assert covered(found, truth) > 0.85


def test_no_counts_at_all():
    found = denoise(np.zeros(64, dtype=int), noise_model="poisson")
    assert_allclose(found.signal, 0.0, atol=1e-12)
    assert np.all(np.isfinite(found.std))


@pytest.mark.slow
@pytest.mark.parametrize("kind", thinned(["lognormal", "gamma", "exponential"]))
def test_noise_that_multiplies(kind):
    rng, truth = np.random.default_rng(0), 5.0 * np.exp(RATE)
    means, errors, bands = [], [], []
    for _ in range(6):
        noise = {
            "lognormal": np.exp(0.5 * rng.standard_normal(T.size) - 0.125),
            "gamma": rng.gamma(4.0, 0.25, T.size),
            "exponential": rng.exponential(1.0, T.size),
        }[kind]
        found = denoise(truth * noise, noise_model="multiplicative")
        means.append(np.mean(found.signal / truth))
        errors.append(np.mean((found.signal / truth - 1.0) ** 2) / noise.var())
        bands.append(covered(found, truth))
    assert abs(np.mean(means) - 1.0) < 0.04  # of logarithms alone it would be 0.88, 0.87, 0.56
    assert np.mean(errors) < 0.12 and np.mean(bands) > 0.8


@pytest.mark.slow
def test_factors_change_the_units_only():
    y = np.exp(RATE) * np.random.default_rng(0).gamma(4.0, 0.25, T.size)
    found, other = (denoise(c * y, noise_model="multiplicative") for c in (1.0, 1e6))
    assert_allclose(other.signal, 1e6 * found.signal, rtol=1e-8)
    assert_allclose(other.std, 1e6 * found.std, rtol=1e-6)
    assert_allclose(other.noise_variance, found.noise_variance)
    assert_allclose(denoise(np.full(32, 3.0), noise_model="multiplicative").signal, 3.0)


@pytest.mark.sampled
@pytest.mark.parametrize("model", ["poisson", "multiplicative"])
def test_types_channels_and_gaps(model):
    rng = np.random.default_rng(0)
    y = rng.poisson(20.0 + 20.0 * RATE[::8, None] * [1.0, 2.0, 3.0]) + 1.0
    found = denoise(y.astype(np.float32), channel_axis=1, noise_model=model)
    assert found.signal.dtype == found.std.dtype == np.float32
    assert np.all(found.std > 0) and np.all(
        np.abs(found.signal.mean(axis=0) / y.mean(axis=0) - 1) < 0.02
    )
    y[50, 0] = np.nan
    gap = denoise(y[:, 0], noise_model=model)
    assert np.isfinite(gap.signal).all() and np.isfinite(gap.std).all()
    assert abs(gap.signal[50] - 20.0 - 20.0 * RATE[400]) < 15.0


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match="negative samples, which are no counts"):
        denoise([1.0, -1.0, 2.0], noise_model="poisson")
    with pytest.raises(ValueError, match="variance of Gaussian noise that comes with them"):
        denoise([1.0, 1.0, 2.0], noise_model="poisson", noise="per_level")
    with pytest.raises(ValueError, match="needs samples above zero"):
        denoise([1.0, 0.0, 2.0], noise_model="multiplicative")
    with pytest.raises(ValueError, match="noise_model must be one of"):
        denoise([1.0, 0.0, 2.0], noise_model="speckle")
