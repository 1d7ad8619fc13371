"""The noise from the finest details, and what the evidence may say against it."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.ndimage import gaussian_filter1d

from sparsebayes import denoise
from sparsebayes.denoising.noise_level import believable, noise_of_details


def heartbeats(n=4096, period=300):
    """Beats, each a little other, and the muscles' own current: hardly sparse in wavelets."""
    t, rng = np.arange(n, dtype=float), np.random.default_rng(0)
    f = 8.0 * np.sin(t / 170.0) + 12.0 * gaussian_filter1d(rng.standard_normal(n), 2.0)
    for start in range(40, n, period):
        for place, width, height in ((0, 3, 90), (9, 5, -40), (-30, 11, 15), (60, 20, 25)):
            where = start + place + rng.normal() * 4
            f += height * (1 + 0.1 * rng.normal()) * np.exp(-(((t - where) / width) ** 2) / 2)
    return f


def test_the_bound_is_beyond_the_errors_of_a_median():
    rng, n = np.random.default_rng(0), 256
    found = np.array([noise_of_details(rng.standard_normal(n)) for _ in range(2000)])
    assert_allclose(np.sqrt(found).std(), 1.17 / np.sqrt(n), rtol=0.1)
    assert believable(1.0, (2 * n,)) == 2.0 > found.max()
    assert believable(1.0, (128,)) == np.inf


def test_the_evidence_may_not_put_the_noise_far_above_that_of_the_finest_details():
    f = heartbeats()
    y = f + np.random.default_rng(1).standard_normal(f.size)
    found = denoise(y, "sym8", method="sparse")
    assert found.noise_maxima[0][0] > 2.5  # what the evidence says
    assert found.noise_variance < 2.0 and "finest details" in found.stop_reason
    assert found.converged
    error = np.mean((found.signal - f) ** 2)
    worse = denoise(y, "sym8", method="sparse", noise=found.noise_maxima[0][0])
    assert error < 0.9 * np.mean((worse.signal - f) ** 2)


def test_elsewhere_the_evidence_decides():
    t = np.arange(2048) / 2048
    y = np.sin(9 * t) + (t > 0.4) + 0.1 * np.random.default_rng(0).standard_normal(t.size)
    found = denoise(y, "sym8", method="sparse")
    assert found.noise_variance == found.noise_maxima[0][0]
    assert "evidence" in found.stop_reason and "details" not in found.stop_reason
