"""Complex wavelets: a tight frame whose magnitudes do not change with place."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.denoising.bands import finest
from sparsebayes.dictionaries import DualTree
from sparsebayes.dictionaries.filters import TREES, filters
from sparsebayes.dictionaries.wavelets import WaveletTransform

SHAPES = [(1,), (9,), (100,), (101,), (1000,), (7, 5), (24, 33), (64, 64), (5, 9, 11), (16, 8, 16)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def function(transform, index):
    unit = np.zeros(transform.coefficient_shape)
    unit[index] = 1.0
    return transform.synthesise(unit)


def middle(band):
    return tuple((part.start + part.stop) // 2 for part in band.index[2:])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_tight_frame(shape, rng):
    transform = DualTree().bind(shape)
    y = rng.standard_normal(shape)
    c = transform.analyse(y)
    assert c.shape == transform.coefficient_shape == (2 ** (len(shape) - 1), 2, *shape)
    assert transform.n_bases == 2 ** len(shape) and not transform.orthonormal
    assert c.shape[transform.complex_axis] == 2
    assert_allclose(transform.synthesise(c) / transform.n_bases, y, atol=1e-12)
    assert_allclose(np.sum(c**2), transform.n_bases * np.sum(y**2), rtol=1e-12)


@pytest.mark.parametrize("tree", TREES)
def test_each_tree_is_orthonormal(tree, rng):
    for shape in ((64,), (101,), (24, 33)):
        transform = WaveletTransform((tree,) * len(shape), shape, None)
        y = rng.standard_normal(shape)
        assert_allclose(transform.synthesise(transform.analyse(y)), y, atol=1e-12)
        assert_allclose(transform.analyse(transform.synthesise(y)), y, atol=1e-12)
    for depth in (0, 1):
        low = np.array(filters(tree, depth).rec_lo)
        products = np.correlate(low, low, "full")[low.size - 1 :: 2]
        assert_allclose(products, np.arange(products.size) == 0, atol=1e-14)
        assert_allclose([low.sum(), low[::2].sum()], [np.sqrt(2.0), np.sqrt(0.5)], atol=1e-14)


def test_filters_are_the_printed_ones():
    # KI01 has eight digits.
    low = np.array(filters(TREES[0], 3).rec_lo)
    assert_allclose(low[5:8], [0.27529538, 0.75614564, 0.56881042], atol=2e-7)
    assert_allclose(filters(TREES[1], 3).rec_lo, low[::-1], atol=0)


def test_complex_wavelets_have_positive_frequencies():
    transform = DualTree().bind((1024,))
    for band in transform.bands()[1:]:
        i = middle(band)
        a, b = (function(transform, (0, part, *i)) for part in (0, 1))
        energy = np.abs(np.fft.fft(a + 1j * b)) ** 2
        negative = energy[512:].sum() / energy.sum()
        # Those of the first split are as far apart as a sample is, which is no quarter of a period.
        assert negative < (0.2 if band.kinds[0][0] == 1 else 1e-3)


@pytest.mark.parametrize("shape", [(256, 256), (32, 64, 32)], ids=str)
def test_complex_wavelets_have_a_direction(shape):
    """Nearly all energy is where the frequencies along the axes have the same signs."""
    transform = DualTree(level=2).bind(shape)
    seen = set()
    for band in transform.bands():
        if not all(detail for _, detail in band.kinds) or band.kinds[0][0] == 1:
            continue
        k, i = band.index[0].start, middle(band)
        parts = [function(transform, (k, part, *i)) for part in (0, 1)]
        energy = np.abs(np.fft.fftn(parts[0] + 1j * parts[1])) ** 2
        for axis, n in enumerate(shape):  # halves: positive and negative
            energy = np.stack(np.split(energy, [n // 2], axis=2 * axis), axis=2 * axis)
            energy = energy.sum(axis=2 * axis + 1, keepdims=True)
        energy = energy.reshape((2,) * len(shape))
        assert energy.max() > 0.998 * energy.sum()
        seen.add(np.argmax(energy))
    assert len(seen) == transform.coefficient_shape[0]


def test_magnitudes_stay_where_a_signal_is_moved():
    """The energy of each scale, of a step at sixteen places: that of one part varies."""
    transform = DualTree().bind((256,))
    steps = np.stack([(np.arange(256) >= 64 + k) * (np.arange(256) < 192 + k) for k in range(16)])
    c = transform.analyse(steps.astype(float))
    for band in transform.bands():
        if band.kinds[0][1] and 1 < band.kinds[0][0] < 5:
            energy = np.sum(c[(slice(None), *band.index)] ** 2, axis=(1, 3))
            both = energy.sum(axis=1)
            assert np.ptp(both) < 0.1 * both.mean()
            assert np.ptp(energy[:, 0]) > 0.3 * energy[:, 0].mean()


def test_noise_is_the_same_in_all_coefficients(rng):
    for shape in ((8, 9), (16, 24), (8, 8, 8)):
        transform = DualTree().bind(shape)
        assert_allclose(transform.gather(rng.uniform(1.0, 1.0 + 1e-9, shape)), 1.0, atol=1e-8)


@pytest.mark.parametrize("shape", [(64,), (16, 24), (15, 6), (4, 8, 6)], ids=str)
def test_squares_of_parts(shape, rng):
    """Against the functions themselves; equal variances of both parts take a shorter way."""
    transform = DualTree().bind(shape)
    size = int(np.prod(transform.coefficient_shape))
    functions = transform.synthesise(np.eye(size).reshape(size, *transform.coefficient_shape))
    squares = functions.reshape(size, -1) ** 2
    variances = rng.uniform(0.1, 2.0, transform.coefficient_shape)
    equal = np.broadcast_to(variances[:, :1], variances.shape)
    for values in (variances, equal):
        expected = values.ravel() @ squares
        assert_allclose(transform.spread(values).ravel(), expected, rtol=1e-11)
    weights = rng.uniform(0.1, 2.0, shape)
    assert_allclose(transform.gather(weights).ravel(), squares @ weights.ravel(), rtol=1e-11)


@pytest.mark.parametrize("shape", [(4096,), (64, 128), (16, 16, 32)], ids=str)
def test_squares_of_large_transforms(shape, rng):
    transform = DualTree().bind(shape)
    weights = rng.uniform(0.1, 2.0, shape)
    gathered = transform.gather(weights)
    for i in rng.integers(0, gathered.size, 12):
        index = np.unravel_index(i, gathered.shape)
        square = function(transform, index) ** 2
        unit = np.zeros(gathered.shape)
        unit[index] = 1.0
        assert_allclose(transform.spread(unit), square, atol=1e-13)
        assert_allclose(gathered[index], np.sum(weights * square), rtol=1e-10)


def test_bands_have_a_direction_and_both_parts():
    transform = DualTree().bind((64, 32))
    bands = transform.bands()
    assert all(band.index[0].stop - band.index[0].start == 1 for band in bands)
    assert all(band.index[1] == slice(0, 2) for band in bands)
    scales = [max(depth for depth, _ in band.kinds) for band in bands]
    assert scales == sorted(scales, reverse=True)  # coarse to fine
    assert sum(band.kinds == ((2, True), (2, True)) for band in bands) == 2
    last = finest(bands)
    assert last.index[2:] == (slice(32, 64), slice(16, 32)) and last.kinds == ((1, True),) * 2


def test_places_are_where_functions_are():
    transform = DualTree().bind((256,))
    places = transform.places().reshape(transform.coefficient_shape)
    for band in transform.bands()[1:]:
        if 2 <= band.kinds[0][0] <= 4:
            for part in (0, 1):
                index = (0, part, *middle(band))
                centre = (np.arange(256) + 0.5) @ function(transform, index) ** 2 / 256
                assert abs(places[index] - centre) < 0.1 * 2 ** band.kinds[0][0] / 256
    assert DualTree().bind((16, 4)).places().shape == (4 * 64,)
