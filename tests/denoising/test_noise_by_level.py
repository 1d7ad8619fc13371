"""Noise that is not white: noise="per_level"."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter
from scipy.signal import lfilter

from sparsebayes import Denoiser, denoise
from sparsebayes.datasets import make_signal
from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.noise_by_level import noise_by_level
from sparsebayes.denoising.bands import size_of
from sparsebayes.dictionaries import DCT, MDCT, DualTree, Wavelet

N = 2048


def noise_of(kind, seed, size=N):
    """Noise of variance one."""
    white = np.random.default_rng(seed).standard_normal(2 * size)
    if kind == "pink":
        frequencies = np.fft.rfftfreq(white.size)
        frequencies[0] = frequencies[1]
        noise = np.fft.irfft(np.fft.rfft(white) / np.sqrt(frequencies))
    elif kind == "white":
        noise = white
    else:
        noise = lfilter([1.0], [1.0, -kind], white)
    return noise[size:] / noise[size:].std()


def case(name, kind, seed, snr=5.0):
    truth = make_signal(name, N, snr=None)[2]
    noise = noise_of(kind, seed) * truth.std() / snr
    return truth, truth + noise, np.mean(noise**2)


def errors(name, kind, seed):
    truth, y, _ = case(name, kind, seed)
    return [
        np.mean((denoise(y, "sym8", n_shifts=4, noise=noise).signal - truth) ** 2)
        for noise in ("per_level", "estimate")
    ]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("kind", "most"), [("white", 1.12), (0.6, 0.5), (0.9, 0.65), ("pink", 0.8)]
)
def test_errors(kind, most):
    names = ("heavisine", "doppler", "blocks", "bumps")
    pairs = np.array([errors(name, kind, 3) for name in names])
    assert np.exp(np.mean(np.log(pairs[:, 0] / pairs[:, 1]))) < most
    assert np.all(pairs[:, 0] < 1.3 * pairs[:, 1])


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["white", 0.8])
def test_the_reported_noise_is_that_of_a_sample(kind):
    truth, y, variance = case("heavisine", kind, 0)
    found = denoise(y, noise="per_level")
    assert_allclose(found.noise_variance, variance, rtol=0.25)
    assert np.mean(np.abs(found.signal - truth) < 1.96 * found.std) > 0.85


def test_a_strong_signal_at_coarse_scales_is_not_noise():
    t = np.arange(1 << 14)
    truth = 50.0 * np.sin(2 * np.pi * t / 200)  # fills a band that has many coefficients
    y = truth + noise_of("white", 0, t.size)
    found = denoise(y, "sym8", n_shifts=2, noise="per_level")
    assert np.mean((found.signal - truth) ** 2) < 0.2
    assert found.noise_variance < 1.3


@pytest.mark.parametrize(
    ("dictionary", "shape"),
    [(Wavelet("sym8"), (4096,)), (MDCT(64), (4096,)), (DCT(), (4096,)), (DualTree(), (64, 64))],
)
def test_white_noise_is_the_same_in_all_bands(dictionary, shape):
    transform = dictionary.bind(shape)
    around = Neighbourhoods(transform)
    y = 3.0 * np.random.default_rng(0).standard_normal(shape)
    found = noise_by_level(around, [transform.analyse(y)])
    assert len(found) == len(around.bands)
    sizes = np.array([size_of(band) for band in around.bands])
    assert np.all(np.abs(np.log(found) - np.log(9.0)) < 0.1 + 8.0 / np.sqrt(np.maximum(sizes, 64)))


@pytest.mark.slow
def test_images():
    row, column = np.mgrid[:64, :64]
    truth = 100.0 * ((row - 30) ** 2 + (column - 26) ** 2 < 200)
    noise = gaussian_filter(np.random.default_rng(0).standard_normal((64, 64)), 0.8, mode="wrap")
    y = truth + 15.0 * noise / noise.std()
    left = [
        np.mean((denoise(y, noise=kind).signal - truth) ** 2) for kind in ("per_level", "estimate")
    ]
    assert left[0] < 0.7 * left[1]


def test_odd_inputs():
    assert_array_equal(denoise(np.full(64, 3.0), noise="per_level").signal, 3.0)
    for size in (1, 2, 5, 33):
        y = np.random.default_rng(0).standard_normal(size)
        found = denoise(y, noise="per_level")
        assert np.isfinite(found.signal).all() and np.isfinite(found.std).all()
    steps = np.repeat([0.0, 5.0], 256)
    assert_allclose(denoise(steps, noise="per_level").signal, steps, atol=1e-6)
    rows = np.random.default_rng(0).standard_normal((2, 64))
    assert Denoiser(noise="per_level").fit_transform(rows).shape == (2, 64)


def test_errors_say_what_to_do():
    y = np.random.default_rng(0).standard_normal(64)
    for options in ({"method": "ash"}, {"method": "sparse"}, {"dictionary": "rbf"}):
        with pytest.raises(ValueError, match="noise='per_level' needs method='average'"):
            denoise(y, noise="per_level", **options)
