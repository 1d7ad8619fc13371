"""The noise in a signal, from its finest details."""

from __future__ import annotations

from itertools import product

import numpy as np
import pywt

Array = np.ndarray

_MAD = 0.6744897501960817  # the median of |x| for a standard normal x
_WAVELET = "sym8"
# An estimate disagrees with that of the finest details beyond so many times its variance, if there
# are so many details: the tables of S08 have fewer, and are left to the evidence.
_TIMES, _FEWEST = 2.0, 256
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

    σ from the median of n absolute values has the relative standard error 1.17/√n: at the fewest
    details, four of them make 1.67 times the variance, less than what is allowed. Details of
    different shifts are not independent; n is the number of those at one.
    """
    n = float(np.prod([length / 2 if length >= _SHORTEST else length for length in shape]))
    return noise * _TIMES if n >= _FEWEST else np.inf
