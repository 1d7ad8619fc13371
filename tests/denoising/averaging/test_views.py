"""Signals at several shifts, and back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.denoising.averaging.views import Views, views_of
from sparsebayes.dictionaries import DCT, MDCT, DualTree, Wavelet


@pytest.mark.parametrize(
    ("dictionary", "shape", "n_shifts", "n_bases"),
    [
        (Wavelet("sym8"), (50,), 5, 5),
        (Wavelet("haar"), (1, 33), 3, 3),
        (DualTree(), (50,), 3, 6),
        (DualTree(), (20, 37), 4, 16),
        (DualTree(), (5, 6, 7), 2, 16),
        (MDCT(16), (70,), 4, 4),
        (DCT(), (30,), 4, 1),
    ],
)
def test_there_and_back(dictionary, shape, n_shifts, n_bases):
    y = np.random.default_rng(0).standard_normal(shape)
    views = Views(dictionary, shape, n_shifts)
    assert views.n_bases == n_bases
    coefficients = list(views.analyse(y))
    assert len(coefficients) == len(views.shifts) == len(set(views.shifts))
    pairs = zip(coefficients, views.shifts, strict=True)
    total = sum(views.signal(some, shift) for some, shift in pairs)
    assert_allclose(total / n_bases, y, atol=1e-12)
    # Errors of size one everywhere make variances of one in each basis.
    made = views.spread(np.ones(coefficients[0].shape), views.shifts[-1])
    assert_allclose(made / views.transform.n_bases, 1.0, atol=1e-9)


def test_the_first_shifts_are_of_each_parity():
    for shape, count in (((64,), 2), ((64, 64), 4), ((32, 32, 32), 8)):
        shifts = Views(Wavelet("haar"), shape, count).shifts
        assert {tuple(k % 2 for k in shift) for shift in shifts} == set(
            np.ndindex((2,) * len(shape))
        )
    assert Views(Wavelet("haar"), (64, 64), 2).shifts == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("shape", "bases"), [((1000,), 16), ((1 << 18,), 4), ((1 << 20,), 4), ((512, 512), 4)]
)
def test_few_shifts_of_large_signals(shape, bases):
    assert Views(Wavelet("haar"), shape, None).n_bases == bases
    if len(shape) == 2:
        assert Views(DualTree(), shape, None).n_bases == bases


def test_other_dictionaries_have_half_the_bases():
    first, other = views_of((DualTree(), Wavelet("haar")), (512, 512), None)
    assert (first.n_bases, other.n_bases) == (4, 2)
    first, other = views_of((Wavelet("sym8"), Wavelet("haar")), (64,), 1)
    assert (first.n_bases, other.n_bases) == (1, 1)
