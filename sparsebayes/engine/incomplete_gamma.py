"""The mass of a gamma distribution in an interval, however far out that is."""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln

Array = np.ndarray

_LEAST = 1e-280  # scipy's functions underflow soon below; from there on, the first two terms


def log_gamma_mass(a: float, low: Array, high: Array) -> Array:
    """Log of the mass of ``Gamma(a, 1)`` between `low` and `high`, elementwise."""
    # Each is computed everywhere and used only on its side of a.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        below = [_either(gammainc(a, z), _log_below(a, z)) for z in (low, high)]
        above = [_either(gammaincc(a, z), _log_above(a, z)) for z in (low, high)]
        left = below[1] + np.log(-np.expm1(below[0] - below[1]))
        right = above[0] + np.log(-np.expm1(above[1] - above[0]))
    return np.where(low < a, left, right)


def _either(value: Array, log_value: Array) -> Array:
    """The logarithm of the first, or the second where the first underflows."""
    return np.where(value > _LEAST, np.log(value), log_value)


def _log_below(a: float, z: Array) -> Array:
    """Log of the mass below z, for z much smaller than a."""
    return a * np.log(z) - z - gammaln(a + 1.0) - np.log1p(-z / (a + 1.0))


def _log_above(a: float, z: Array) -> Array:
    """Log of the mass above z, for z much larger than a."""
    return (a - 1.0) * np.log(z) - z - gammaln(a) - np.log1p((1.0 - a) / z)
