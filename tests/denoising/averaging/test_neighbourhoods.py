"""Sums over the coefficients around each one, against what they are by definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.dictionaries import DCT, MDCT, DualTree, Wavelet


def number_of(around, *kinds, direction=None):
    """The band with these kinds."""
    return next(
        number
        for number, band in enumerate(around.bands)
        if band.kinds == kinds and (direction is None or band.index[0].start == direction)
    )


def test_signals():
    transform = Wavelet("haar").bind((64,))
    around = Neighbourhoods(transform)
    z = np.random.default_rng(0).uniform(size=64)
    sums, count = around.sums(z, number_of(around, (1, True)), 0.5, 0.25)
    fine, parent = z[32:], z[16:32]
    for k in range(32):
        beside = fine[k - 1] + fine[(k + 1) % 32]
        assert_allclose(sums[k], fine[k] + 0.5 * beside + 0.25 * parent[k // 2])
    assert count == 1 + 0.5 * 2 + 0.25


def test_images():
    transform = Wavelet("haar").bind((32, 16))
    around = Neighbourhoods(transform)
    z = np.random.default_rng(0).uniform(size=(32, 16))
    sums, count = around.sums(z, number_of(around, (1, True), (1, False)), 0.25, 0.5)
    own, parent = z[16:, :8], z[8:16, :4]
    rows, columns = np.mgrid[-1:2, -1:2]
    for r, c in ((0, 0), (5, 3), (15, 7)):
        box = own[(r + rows) % 16, (c + columns) % 8].sum()
        expected = 0.75 * own[r, c] + 0.25 * box + 0.5 * parent[r // 2, c // 2]
        assert_allclose(sums[r, c], expected)
    assert count == 1 + 0.25 * 8 + 0.5


def test_complex_coefficients_have_two_parts():
    transform = DualTree().bind((32, 32))
    around = Neighbourhoods(transform)
    z = np.random.default_rng(0).uniform(size=transform.coefficient_shape)
    for direction in (0, 1):
        number = number_of(around, (1, True), (1, True), direction=direction)
        sums, count = around.sums(z, number, 0.5, 0.25)
        own = z[direction, :, 16:, 16:].sum(axis=0)
        parent = z[direction, :, 8:16, 8:16].sum(axis=0)
        box = own[3:6, 7:10].sum()
        expected = 0.5 * own[4, 8] + 0.5 * box + 0.25 * parent[2, 4]
        assert_allclose(sums[0, 0, 4, 8], expected)
        assert count == 2 * (1 + 0.5 * 8 + 0.25)
    assert sums.shape == (1, 1, 16, 16) and around.parts == (1,)


@pytest.mark.parametrize("transform", [DCT().bind((40,)), MDCT(8).bind((64,))])
def test_without_scales_there_are_no_parents(transform):
    around = Neighbourhoods(transform)
    z = np.random.default_rng(0).uniform(size=transform.coefficient_shape)
    for number, band in enumerate(around.bands):
        assert_array_equal(around.sums(z, number, 0.0, 0.5)[0], z[band.index])
        assert around.sums(z, number, 0.0, 0.5)[1] == 1.0


def test_the_coarsest_band_has_no_parent():
    around = Neighbourhoods(Wavelet("haar").bind((64,)))
    z = np.ones(64)
    coarsest = number_of(around, (4, True))
    assert around.sums(z, coarsest, 0.0, 0.5)[1] == 1.0
    assert around.sums(z, number_of(around, (4, False)), 0.0, 0.5)[1] == 1.0
