"""Filters of wavelets: those of PyWavelets, and those of the two trees of complex wavelets.

The trees have the q-shift filters of [1]_ with 14 taps: those of tree b are those of tree a in
reverse, half a sample later, so that the wavelets of tree b are nearly the Hilbert transforms of
those of tree a. The first split needs a whole sample between the trees [2]_; any orthonormal
filter will do there.

References
----------
.. [1] N. Kingsbury, "Complex wavelets for shift invariant analysis and filtering of signals",
   Applied and Computational Harmonic Analysis 10, 2001.
.. [2] I. Selesnick, R. Baraniuk, N. Kingsbury, "The dual-tree complex wavelet transform", IEEE
   Signal Processing Magazine 22(6), 2005.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pywt

Array = np.ndarray

TREES = ("tree a", "tree b")
_FIRST = "sym6"  # the filter of the first split
# KI01, as printed; `_orthonormal` has the digits beyond.
_Q_SHIFT = (
    *(0.00325314, -0.00388321, 0.03466035, -0.03887280, -0.11720389, 0.27529538, 0.75614564),
    *(0.56881042, 0.01186609, -0.10671180, 0.02382538, 0.01702522, -0.00543948, -0.00455690),
)


@lru_cache(maxsize=256)
def filters(name: str, depth: int) -> pywt.Wavelet:
    """The filters of a split after `depth` others, of a tree or a wavelet of PyWavelets."""
    if name not in TREES:
        return pywt.Wavelet(name)
    later = name == TREES[1]
    if depth == 0:
        low, high = _pair(_orthonormal(np.array(pywt.Wavelet(_FIRST).rec_lo)))
        # Two zeros: a sample between the trees, and still an even length.
        low, high = (np.pad(taps, (1, 1) if later else (0, 2)) for taps in (low, high))
    else:
        low = _orthonormal(np.array(_Q_SHIFT))
        low, high = _pair(low[::-1] if later else low)
    return pywt.Wavelet(name, filter_bank=[low[::-1], high[::-1], low, high])


def _pair(low: Array) -> tuple[Array, Array]:
    """A lowpass filter of the synthesis and the highpass filter that goes with it."""
    return low, low[::-1] * (-1.0) ** np.arange(low.size)


def _orthonormal(low: Array) -> Array:
    """The nearest filter that is orthogonal to its even translates and sums to √2, by Newton."""
    size = low.size
    for _ in range(8):
        padded = np.pad(low, size)
        rows = [
            padded[size + k : 2 * size + k] + padded[size - k : 2 * size - k]
            for k in range(0, size, 2)
        ]
        jacobian = np.stack([*rows, np.ones(size), (-1.0) ** np.arange(size)])
        excess = np.concatenate([0.5 * np.stack(rows) @ low, jacobian[-2:] @ low])
        excess[0] -= 1.0
        excess[-2] -= np.sqrt(2.0)
        low = low - np.linalg.lstsq(jacobian, excess, rcond=1e-12)[0]
    return low
