"""Cosines in overlapping frames: orthonormal at any length."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes import denoise
from sparsebayes.denoising.bands import finest
from sparsebayes.dictionaries import MDCT

# Length and frame: equal and unequal frames, even and odd ones, one, and frames of one sample.
CASES = [(1, 2), (3, 2), (5, 2), (7, 64), (64, 64), (64, 16), (63, 9), (100, 16), (101, 16)]
CASES += [(101, 7), (127, 32), (128, 3), (1000, 256)]


def matrix(transform):
    """Φ, (N, N), by one transform of many units."""
    size = transform.shape[0]
    units = np.eye(size).reshape(size, *transform.coefficient_shape)
    return transform.synthesise(units).T


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("length", "frame"), CASES)
def test_orthonormal(length, frame, rng):
    transform = MDCT(frame).bind((length,))
    phi = matrix(transform)
    assert transform.orthonormal and transform.n_bases == 1
    assert_allclose(phi.T @ phi, np.eye(length), atol=1e-12)
    y = rng.standard_normal((2, length))
    before = y.copy()
    c = transform.analyse(y)
    assert c.shape == (2, *transform.coefficient_shape)
    assert_allclose(c.reshape(2, -1), y @ phi, atol=1e-12)
    assert_allclose(transform.synthesise(c), y, atol=1e-12)
    assert_array_equal(y, before)


@pytest.mark.parametrize(("length", "frame"), CASES)
def test_squares(length, frame, rng):
    transform = MDCT(frame).bind((length,))
    squares = matrix(transform) ** 2
    variances = rng.uniform(0.1, 2.0, transform.coefficient_shape)
    weights = rng.uniform(0.1, 2.0, length)
    assert_allclose(transform.spread(variances), squares @ variances.ravel(), rtol=1e-11)
    gathered = transform.gather(weights)
    assert gathered.shape == transform.coefficient_shape
    assert_allclose(gathered.ravel(), squares.T @ weights, rtol=1e-11)


@pytest.mark.parametrize(("length", "frame"), CASES)
def test_bands_hold_each_coefficient_once(length, frame):
    transform = MDCT(frame).bind((length,))
    seen = np.zeros(transform.coefficient_shape, dtype=int)
    for band in transform.bands():
        seen[band.index] += 1
    assert_array_equal(seen, 1)


@pytest.mark.parametrize("length", [100, 101])
def test_single_precision_is_kept(length, rng):
    transform = MDCT(25).bind((length,))
    y = rng.standard_normal(length)
    c = transform.analyse(y.astype(np.float32))
    assert c.dtype == np.float32 and transform.synthesise(c).dtype == np.float32
    assert_allclose(c, transform.analyse(y), atol=1e-5)


def test_functions_are_those_of_codecs():
    """A sine window over two frames and the cosines of PJB87, reversed in time."""
    m, k = 16, 3
    transform = MDCT(m).bind((8 * m,))
    assert transform.coefficient_shape == (m, 8) and transform.regular
    n = np.arange(2 * m)
    window = np.sin(np.pi * (n + 0.5) / (2 * m))
    for frequency in (0, 1, 7, 15):
        unit = np.zeros((m, 8))
        unit[frequency, k] = 1.0
        cosine = np.cos(np.pi / m * (n + 0.5 + m / 2) * (frequency + 0.5))[::-1]
        expected = np.zeros(8 * m)
        # The frame's samples are the middle half of the window.
        expected[k * m - m // 2 : k * m - m // 2 + 2 * m] = np.sqrt(2 / m) * window * cosine
        found = transform.synthesise(unit)
        assert_allclose(found * np.sign(found @ expected), expected, atol=1e-13)


def test_frames_differ_by_a_sample_at_most():
    transform = MDCT(16).bind((101,))
    assert (transform.n_frames, transform.n_frequencies) == (6, 16)
    assert transform.coefficient_shape == (101,) and not transform.regular
    assert MDCT(16).bind((102,)).coefficient_shape == (17, 6)
    assert MDCT().bind((500,)).coefficient_shape == (500, 1)
    assert MDCT().bind((10 * 1024,)).coefficient_shape == (1024, 10)


@pytest.mark.parametrize("length", [2048, 2100, 2101])
def test_a_tone_is_at_its_frequency_and_a_click_at_its_time(length):
    transform = MDCT(64).bind((length,))
    tone = np.cos(np.pi * 20.5 / transform.n_frequencies * np.arange(length))
    spectrum = np.sum(transform.grid(transform.analyse(tone)) ** 2, axis=1)
    assert np.argmax(spectrum) == 20 and spectrum[18:23].sum() > 0.95 * spectrum.sum()
    click = np.zeros(length)
    click[1000] = 1.0
    energy = np.sum(transform.grid(transform.analyse(click)) ** 2, axis=0)
    assert energy[[14, 15, 16]].sum() > 0.95
    assert np.argmax(energy) == round(1000 / length * transform.n_frames - 0.5)


def test_bands_are_octaves_over_all_frames():
    equal, unequal = MDCT(16).bind((96,)), MDCT(16).bind((101,))
    assert [band.index[0].stop for band in equal.bands()] == [1, 2, 4, 8, 16]
    assert all(band.index[1] == slice(0, 6) for band in equal.bands())
    assert [band.index[0].stop for band in unequal.bands()] == [6, 12, 24, 48, 101]
    assert finest(equal.bands()).index[0] == slice(8, 16)
    assert finest(unequal.bands()).index[0] == slice(48, 101)


@pytest.mark.parametrize("length", [256, 250])
def test_places_are_where_functions_are(length):
    transform = MDCT(16).bind((length,))
    energy = matrix(transform) ** 2
    centre = (np.arange(length) + 0.5) @ energy / length
    assert np.abs(transform.places() - centre).max() < 0.5 * 16 / length
    assert MDCT(300).bind((length,)).places() is None


@pytest.mark.parametrize("method", ["sparse", "ash"])
@pytest.mark.parametrize("length", [4096, 4099])
def test_denoising_tones_that_come_and_go(method, length, rng):
    t = np.arange(length)
    clean = np.cos(0.3 * t) * (t > 1000) * (t < 2500) + np.cos(0.7 * t) * (t > 2000)
    y = clean + 0.5 * rng.standard_normal(length)
    found = denoise(y, MDCT(256), method=method)
    cosines = denoise(y, "dct", method=method)
    error, other = (np.mean((one.signal - clean) ** 2) for one in (found, cosines))
    assert error < 0.85 * other and error < 0.1 * 0.25
    assert np.mean(np.abs(found.signal - clean) < 2.0 * found.std) > 0.8


def test_gaps_are_filled(rng):
    t = np.arange(256)
    y = np.cos(0.3 * t) + 0.1 * rng.standard_normal(256)
    y[100:108] = np.nan
    found = denoise(y, MDCT(64))
    assert np.sqrt(np.mean((found.signal - np.cos(0.3 * t)) ** 2)) < 0.3


def test_can_be_stored_and_compared():
    again = pickle.loads(pickle.dumps(MDCT(512)))
    assert again == MDCT(512) != MDCT() and eval(repr(again)) == again
    assert again.label == "MDCT" and not again.needs_regular_grid
