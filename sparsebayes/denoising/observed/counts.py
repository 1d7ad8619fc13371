"""Counts whose noise is about the same everywhere: the Anscombe transform and its exact inverse.

The square root of a Poisson count, with a constant, has a variance near one whatever its mean [1]_;
the same holds with Gaussian noise added [2]_. The square of a denoised root is too small, most of
all where counts are few. The exact inverse takes the mean of the root to the mean of the count
[3]_. It is tabulated by sums over the Poisson distribution.

References
----------
.. [1] F. Anscombe, "The transformation of Poisson, binomial and negative-binomial data",
   Biometrika 35, 1948.
.. [2] J.-L. Starck, F. Murtagh, A. Bijaoui, "Image processing and data analysis", 1998.
.. [3] M. Mäkitalo, A. Foi, "Optimal inversion of the generalized Anscombe transformation for
   Poisson-Gaussian noise", IEEE Transactions on Image Processing 22, 2013.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import uniform_filter1d
from scipy.stats import poisson

Array = np.ndarray

_LARGEST = 400.0  # mean up to which there is a table; from there on a series
_STEPS = 400  # of the table
_TAIL = 9.0  # standard deviations that sums and integrals reach to both sides
_MANY, _IN_WINDOW = 2.0, 10.0  # counts: roots have all their noise; in a window
_NODES = 801  # of the integral over the Gaussian


class Roots:
    """The transform ``2 √(y + 3/8 + v)`` of counts y with Gaussian noise of variance v.

    Parameters
    ----------
    read_noise : float
        v; 0 for counts alone.
    """

    def __init__(self, read_noise: float = 0.0) -> None:
        self._added = read_noise
        self._curve, self._least, self._end = _table(read_noise)

    def forward(self, y: Array) -> Array:
        """The roots of counts; NaN stays."""
        return 2.0 * np.sqrt(np.maximum(y + (0.375 + self._added), 0.0)).astype(y.dtype)

    def inverse(self, roots: Array) -> Array:
        """The means of the counts whose roots have these means; 0 for roots below that of 0."""
        d = np.maximum(np.asarray(roots, dtype=np.float64), self._least)
        return np.where(d < self._end, self._curve(np.minimum(d, self._end)), self._series(d))

    def slope(self, roots: Array) -> Array:
        """The derivative of `inverse`; below the root of 0 the one there."""
        d = np.maximum(np.asarray(roots, dtype=np.float64), self._least)
        inside = self._curve(np.minimum(d, self._end), 1)
        return np.where(d < self._end, inside, 0.5 * d - 2.0 * self._left * (self._end**2 / d**3))

    @property
    def _left(self) -> float:
        """What the series lacks at the end of the table."""
        return _LARGEST - (0.25 * self._end**2 - 0.125 - self._added)

    def _series(self, d: Array) -> Array:
        return 0.25 * d**2 - 0.125 - self._added + self._left * (self._end / d) ** 2


def mean_root(means: Array, read_noise: float) -> Array:
    """The expected transform of counts with these means."""
    means = np.asarray(means, dtype=np.float64)
    top = float(means.max())
    counts = np.arange(int(top + _TAIL * np.sqrt(top)) + 40)
    shifted = counts + 0.375 + read_noise
    roots = 2.0 * np.sqrt(shifted)
    if read_noise > 0:
        g = np.linspace(-_TAIL, _TAIL, _NODES)
        weights = np.exp(-0.5 * g**2)
        under = shifted[:, None] + np.sqrt(read_noise) * g
        roots = 2.0 * np.sqrt(np.maximum(under, 0.0)) @ (weights / weights.sum())
    return poisson.pmf(counts, means[:, None]) @ roots


def noise_of_roots(signals: Array) -> float:
    """The noise variance of the roots of counts, where counts are highest.

    It is one, but less where counts are below two: zeros have none. The highest is looked for in
    means over windows with ten counts on average.

    Parameters
    ----------
    signals : ndarray of shape (n_signals, *shape)
        Counts; NaN counts as the mean.
    """
    mean = float(np.nanmean(signals))
    if not 0 < mean < _MANY:
        return 1.0
    n_axes = signals.ndim - 1
    side = int(np.ceil((_IN_WINDOW / mean) ** (1.0 / n_axes)))
    filled = np.where(np.isnan(signals), mean, signals).astype(np.float64)
    for axis in range(1, n_axes + 1):
        filled = uniform_filter1d(filled, min(side, filled.shape[axis]), axis, mode="mirror")
    highest = float(filled.max())
    variance = 4.0 * (highest + 0.375) - float(mean_root(np.array([highest]), 0.0)[0]) ** 2
    return min(variance, 1.0) if highest < _MANY else 1.0


@lru_cache(maxsize=8)
def _table(read_noise: float) -> tuple[PchipInterpolator, float, float]:
    """From mean roots to means, and the least and largest root in it."""
    means = np.linspace(0.0, np.sqrt(_LARGEST), _STEPS) ** 2
    roots = mean_root(means, read_noise)
    return PchipInterpolator(roots, means), float(roots[0]), float(roots[-1])
