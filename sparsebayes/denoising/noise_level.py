"""The noise in a signal, from its finest details."""

from __future__ import annotations

from itertools import product

import numpy as np
import pywt

Array = np.ndarray

_MAD = 0.6744897501960817  # the median of |x| for a standard normal x
_WAVELET = "sym8"
# Where another estimate disagrees with that of the finest details: beyond so many standard errors,
# and at more than so many times its variance. Below that the evidence decides.
_ERRORS, _TIMES = 4.0, 2.0
_ROUNDED = 1e-11  # of the largest sample: filters are not known better
_SHORTEST = 8  # a shorter axis has no scales to tell apart


def noise_of_details(values: Array) -> float:
    """σ² from the median of the absolute values, which few large ones do not change [DJ94]."""
    return float(np.median(np.abs(values)) / _MAD) ** 2


def white_noise(signal: Array) -> float:
    """The variance of the noise, if it is the same everywhere and at all scales.

    It is found in the finest details along all axes, at all places: a signal has least there. What
    may be rounding is none.
    """
    axes = [axis for axis, length in enumerate(signal.shape) if length >= _SHORTEST]
    even = tuple(slice(0, n // 2 * 2 if n >= _SHORTEST else n) for n in signal.shape)
    found = []
    for shift in product((0, 1), repeat=len(axes)):
        details = np.roll(signal, shift, axes)[even] if axes else signal
        for axis in axes:
            details = pywt.dwt(details, _WAVELET, "periodization", axis=axis)[1]
        found.append(np.ravel(details))
    noise = noise_of_details(np.concatenate(found))
    rounding = max(_ROUNDED, 8.0 * float(np.finfo(signal.dtype).eps)) * np.abs(signal).max()
    return noise if noise > float(rounding) ** 2 else 0.0


def believable(noise: float, shape: tuple[int, ...]) -> float:
    """The largest noise variance that agrees with `white_noise` of an array of this shape.

    The median of |x| for n normal x has the variance 1/(4 n p²), p the density of |x| there:
    ``p = 2 φ(0.674)``. So σ from it has the relative standard error 1.17/√n, and σ² twice that.
    Details of different shifts are not independent; n is the number of those at one.
    """
    n = float(np.prod([length / 2 if length >= _SHORTEST else length for length in shape]))
    density = 2.0 * np.exp(-0.5 * _MAD**2) / np.sqrt(2.0 * np.pi)
    relative = 1.0 / (2.0 * density * _MAD * np.sqrt(n))
    return noise * max((1.0 + _ERRORS * relative) ** 2, _TIMES)
