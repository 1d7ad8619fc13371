"""The default of `denoise`, from samples to estimates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import denoise
from sparsebayes.datasets import make_signal
from sparsebayes.denoising.noise_level import white_noise
from sparsebayes.dictionaries import MDCT, DualTree, Wavelet


def error(found, f):
    return float(np.mean((found.signal - f) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sinc", "heavisine", "doppler", "blocks", "bumps"])
def test_it_beats_the_average_in_one_basis(name):
    ours, other = 0.0, 0.0
    for seed in range(3):
        _, y, f = make_signal(name, 1024, snr=5, random_state=seed)
        ours += error(denoise(y), f)
        other += error(denoise(y, method="ash"), f)
    assert ours < 0.9 * other


@pytest.mark.slow
def test_images():
    rows, columns = np.mgrid[:96, :80] / 96
    clean = np.sin(20 * (rows + 0.5 * columns)) * (columns > 0.3) + 2.0 * (rows > columns)
    noisy = clean + 0.5 * np.random.default_rng(0).standard_normal(clean.shape)
    found = denoise(noisy)
    assert found.dictionary == DualTree() and found.method == "average"
    assert error(found, clean) < 0.7 * error(denoise(noisy, method="ash"), clean)
    assert 0.85 < np.mean(np.abs(found.signal - clean) < 1.96 * found.std) < 0.99
    assert_allclose(found.noise_variance, 0.25, rtol=0.1)


def test_more_shifts_err_less():
    errors = np.zeros(3)
    for seed in range(4):
        _, y, f = make_signal("doppler", 512, snr=5, random_state=seed)
        found = [denoise(y, "sym8", n_shifts=count) for count in (1, 4, 16)]
        assert [one.n_shifts for one in found] == [1, 4, 16]
        errors += [error(one, f) for one in found]
    assert errors[2] < 0.95 * errors[1] < 0.95 * 0.95 * errors[0]


def test_a_dictionary_that_suits():
    _, y, _ = make_signal("blocks", 1024, snr=5, random_state=0)
    assert denoise(y).dictionary == Wavelet("haar")
    t = np.arange(16384) / 16000
    tones = sum(np.sin(2 * np.pi * f * t) for f in (440, 707, 1501)) * (1 + np.sin(9 * t))
    y = tones + 0.5 * np.random.default_rng(0).standard_normal(t.size)
    assert isinstance(denoise(y).dictionary, MDCT)
    # Where little can be told it is the usual one.
    noise = np.random.default_rng(0).standard_normal(64)
    assert denoise(noise).dictionary == Wavelet("sym8")


def test_ends_are_no_neighbours():
    ramp = np.linspace(0.0, 10.0, 512)
    y = ramp + 0.3 * np.random.default_rng(0).standard_normal(512)
    found = denoise(y, "sym8")
    middle = np.median(found.std[64:-64])
    assert found.std[:8].max() < 3 * middle and found.std[-8:].max() < 3 * middle
    assert np.abs(found.signal - ramp)[[0, 1, -2, -1]].max() < 0.3
    assert denoise(y, "sym8", method="ash").std[-8:].max() > 4 * middle  # which goes around


@pytest.mark.slow
def test_nothing_is_made_of_noise():
    y = 4.0 + np.random.default_rng(0).standard_normal(50_000)
    for dictionary in ("auto", "haar", "mdct"):
        assert np.abs(denoise(y, dictionary).signal - 4.0).max() < 0.5


def test_no_noise_and_nothing_to_remove():
    steps = np.repeat([0.0, 1.0, 5.0, 2.0], 32)
    found = denoise(steps)
    assert found.noise_variance == 0.0
    assert_array_equal(found.signal, steps)
    assert_array_equal(found.std, 0.0)


@pytest.mark.slow
def test_a_noise_that_is_given():
    _, y, f = make_signal("doppler", 512, snr=5, random_state=0)
    true = float(np.mean((y - f) ** 2))
    found = denoise(y, noise=true)
    assert found.noise_variance == true
    assert np.abs(denoise(y, noise=1e6 * true).signal - y.mean()).max() < 0.1 * np.ptp(y)
    assert_allclose(denoise(y, noise=1e-6 * true).signal, y, atol=0.05 * np.sqrt(true))


@pytest.mark.parametrize("shape", [(4096,), (70, 61), (17, 16, 18), (1, 3000)])
def test_white_noise_is_found(shape):
    rng = np.random.default_rng(0)
    y = 3.0 * rng.standard_normal(shape)
    assert_allclose(white_noise(y), 9.0, rtol=0.12)
    # A smooth signal has nothing where it is looked for.
    smooth = np.add.outer(np.arange(shape[0]) / 9.0, np.arange(y[0].size) / 9.0).reshape(shape)
    assert_allclose(white_noise(y + smooth), 9.0, rtol=0.15)
    assert white_noise(np.zeros(shape)) == 0.0


@pytest.mark.parametrize("n_shifts", [0, 2.5, "many", True, None])
def test_shifts_are_counted(n_shifts):
    with pytest.raises(ValueError, match="n_shifts must be"):
        denoise(np.arange(32.0), n_shifts=n_shifts)
