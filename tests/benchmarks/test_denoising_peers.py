"""The other ways to denoise: against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.signal import savgol_filter
from scipy.stats import norm

from benchmarks.peers import denoisers, ebayes


def test_universal_threshold_removes_noise_and_keeps_the_length():
    noise = np.random.default_rng(0).normal(size=2001)
    step = np.repeat([0.0, 50.0], [1000, 1001])
    for mode in ("hard", "soft"):
        assert np.mean(denoisers.thresholded(noise, mode) ** 2) < 0.03
        assert np.mean((denoisers.thresholded(step + noise, mode) - step) ** 2) < 1.0


def test_savgol_error_of_left_out_samples_is_that_of_a_fit_without_them():
    y = np.random.default_rng(0).normal(size=30)
    window = 9
    direct = []
    for n in range(4, 26):
        others = np.delete(np.arange(n - 4, n + 5), 4)
        fit = np.polynomial.Polynomial.fit(others, y[others], 3)
        direct.append((y[n] - fit(n)) ** 2)
    estimate = savgol_filter(y, window, 3)
    assert_allclose(denoisers.left_out(y, estimate, window), np.mean(direct))


def test_savgol_window_follows_the_signal():
    t, rng = np.linspace(0, 1, 1024), np.random.default_rng(0)
    noise = 0.1 * rng.normal(size=t.size)
    assert denoisers.windows(1024) == [5, 9, 17, 33, 65, 129]
    assert max(denoisers.windows(2**22)) == 33
    for truth, window in ((t**2, 129), (np.sin(2 * np.pi * 100 * t), 5)):
        expected = savgol_filter(truth + noise, window, 3)
        assert_array_equal(denoisers.smoothed(truth + noise), expected)


def stein(x, threshold):
    """Stein's unbiased estimate of the risk of a soft threshold, unit noise."""
    small = np.abs(x) <= threshold
    return x.size - 2 * small.sum() + np.sum(np.minimum(np.abs(x), threshold) ** 2)


def test_sure_threshold_has_the_least_risk_unless_the_level_is_sparse():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=200) + 3 * rng.normal(size=200)
    found = denoisers.sure_threshold(dense)
    others = np.linspace(0, np.sqrt(2 * np.log(200)), 500)
    assert stein(dense, found) <= min(stein(dense, other) for other in others)
    assert 0 < found < np.sqrt(2 * np.log(200))
    assert_allclose(denoisers.sure_threshold(rng.normal(size=200)), np.sqrt(2 * np.log(200)))


def test_spinning_is_the_mean_over_shifts(monkeypatch):
    monkeypatch.setattr(denoisers, "SHIFTS", 3)
    y = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    assert_allclose(denoisers.spun(y, lambda one: one), y)
    only_first = denoisers.spun(y, lambda one: one * (np.arange(5) == 0))
    assert_allclose(only_first, [1 / 3, 0, 0, 8 / 3, 16 / 3])


# EbayesThresh: what follows from the definition, by integration

SCALE, WEIGHT = 0.5, 0.2


def slab(theta, scale):
    return 0.5 * scale * np.exp(-scale * abs(theta))


def integral(x, scale, low, high):
    """Of the slab times the likelihood."""
    points = [point for point in (0.0, x) if low < point < high]
    return quad(lambda u: slab(u, scale) * norm.pdf(x - u), low, high, points=points, limit=200)[0]


@pytest.mark.parametrize("scale", [0.1, SCALE, 2.0])
@pytest.mark.parametrize("x", [-6.0, -1.0, 0.0, 0.3, 2.5, 7.0])
def test_marginal_density_is_the_integral_over_the_slab(x, scale):
    expected = integral(x, scale, x - 40, x + 40) / norm.pdf(x) - 1
    assert_allclose(ebayes.beta(np.array([x]), scale), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize("x", [1.0, 2.9, 3.2, 4.0, 6.0, -4.0])
def test_posterior_median_halves_the_posterior(x):
    evidence = (1 - WEIGHT) * norm.pdf(x) + WEIGHT * integral(x, SCALE, x - 40, x + 40)

    def below(m):  # P(θ < m | x), the spike at zero counted for m > 0
        share = WEIGHT * integral(x, SCALE, x - 40, m)
        return (share + (m > 0) * (1 - WEIGHT) * norm.pdf(x)) / evidence

    ((found,),) = (ebayes.posterior_median(np.array([x]), WEIGHT, SCALE),)
    if below(-1e-9) <= 0.5 <= below(1e-9):
        assert found == 0.0
    else:
        ends = (1e-9, 10.0) if x > 0 else (-10.0, -1e-9)
        assert_allclose(found, brentq(lambda m: below(m) - 0.5, *ends), rtol=1e-6)


def test_posterior_median_of_a_large_value_is_shifted_by_the_scale():
    x = np.array([12.0, 20.0, 30.0, 60.0, -60.0])
    found = ebayes.posterior_median(x, WEIGHT, SCALE)
    assert_allclose(found, x - SCALE * np.sign(x), rtol=1e-6)


@pytest.mark.parametrize("threshold", [1.0, 3.0, 4.5])
def test_the_weight_of_a_threshold_has_this_threshold(threshold):
    weight = ebayes.weight_of_threshold(threshold, SCALE)
    near = threshold + np.array([-1e-4, 1e-4])
    below, above = ebayes.posterior_median(near, weight, SCALE)
    assert below == 0.0 and above > 0.0


def test_weight_and_scale_have_the_largest_likelihood():
    rng = np.random.default_rng(0)
    theta = np.where(rng.random(4000) < 0.1, rng.laplace(scale=1 / 0.3, size=4000), 0.0)
    x = theta + rng.normal(size=4000)
    scale = ebayes.best_scale(x)
    weight = ebayes.best_weight(x, scale)
    assert 0.2 < scale < 0.45 and 0.06 < weight < 0.15
    best = ebayes.log_likelihood(x, weight, scale)
    for more in (0.9, 1.1):
        assert best > ebayes.log_likelihood(x, more * weight, scale)
        assert best > ebayes.log_likelihood(x, weight, more * scale)


def test_the_weight_has_bounds():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=1000)
    least = ebayes.weight_of_threshold(np.sqrt(2 * np.log(1000)), SCALE)
    assert ebayes.best_weight(0.5 * noise, SCALE) == least
    assert ebayes.best_weight(9 * noise, SCALE) == 1.0


@pytest.mark.parametrize("estimate_scale", [True, False])
def test_ebayes_finds_a_step_and_leaves_no_noise(estimate_scale):
    noise = np.random.default_rng(0).normal(size=1001)
    step = np.repeat([0.0, 50.0], [500, 501])
    assert np.mean(ebayes.ebayes(noise, estimate_scale) ** 2) < 0.05
    assert np.mean((ebayes.ebayes(step + noise, estimate_scale) - step) ** 2) < 0.5
    assert_allclose(ebayes.ebayes(np.ones(64)), 1.0)


# Those of scikit-image


def test_peers_of_images_reduce_the_error():
    pytest.importorskip("skimage")
    t = np.linspace(0, 1, 64)
    truth = 100 * ((t[:, None] - 0.5) ** 2 + (t - 0.4) ** 2 < 0.1) + 50.0
    y = truth + 20 * np.random.default_rng(0).normal(size=truth.shape)
    for name, method in denoisers.of_images().items():
        assert np.mean((method(y) - truth) ** 2) < 200, name
    colours = np.stack([truth, 0.5 * truth, 255 - truth], axis=-1)
    y = colours + 20 * np.random.default_rng(0).normal(size=colours.shape)
    for name, method in denoisers.of_colours().items():
        assert method(y).shape == (64, 64, 3)
        assert np.mean((method(y) - colours) ** 2) < 200, name
