"""Margins that lead from the end of a signal to its beginning."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.denoising.averaging.margins import extend
from sparsebayes.dictionaries import DCT, MDCT, DualTree, Wavelet


def test_the_margin_begins_and_ends_as_a_mirror():
    y = np.arange(100.0) ** 2
    out = extend(y, (164,))
    assert_array_equal(out[:100], y)
    assert_allclose(out[100:104], y[99:95:-1], rtol=0.02)
    assert_allclose(out[-4:], y[3::-1], atol=0.01 * y[-1])


@pytest.mark.parametrize("length", [2, 5, 9, 31, 100])
def test_there_is_no_jump_on_the_circle(length):
    y = np.linspace(0.0, 1.0, length)
    out = extend(y, Wavelet().padded_shape((length,)))
    steps = np.abs(np.diff(np.append(out, out[0])))
    assert steps.max() <= 1.1 * max(np.abs(np.diff(y)).max(), 0.1)
    assert np.abs(y[-1] - y[0]) > 0.9  # which is what there was


def test_several_axes_and_types():
    y = np.random.default_rng(0).standard_normal((10, 1, 7)).astype(np.float32)
    shape = DualTree().padded_shape(y.shape)
    assert shape[1] == 1 and shape[0] % 32 == shape[2] % 32 == 0 and shape[0] >= 42
    out = extend(y, shape)
    assert out.dtype == np.float32
    assert_array_equal(out[:10, :, :7], y)
    assert_allclose(extend(np.full((4, 6), 3.5), (32, 64)), 3.5, rtol=1e-15)


def test_what_does_not_go_around_needs_none():
    assert DCT().padded_shape((37, 5)) == (37, 5)
    assert MDCT(64).padded_shape((100,)) == (192,)
