"""Empirical Bayes thresholding of wavelet coefficients (JS05), after the R package EbayesThresh.

A coefficient of unit noise is zero with probability 1 − w and else has the density
``a/2 exp(−a |θ|)``. The weight, and on request the scale a, maximise the marginal likelihood of a
level; the estimate is the posterior median, which is zero up to a threshold.
"""

from __future__ import annotations

import numpy as np
import pywt
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtri

Array = np.ndarray

WAVELET = "sym8"
SCALE = 0.5  # of JS05, where it is not estimated
SCALES = (0.04, 3.0)  # between which the package looks for it
STEPS = 60  # of bisection


def _ratio(x: Array) -> Array:
    """``Φ(x) / φ(x)``, as far as a double goes."""
    return np.exp(np.minimum(log_ndtr(x) + 0.5 * x**2 + 0.5 * np.log(2 * np.pi), 700.0))


def beta(x: Array, scale: float) -> Array:
    """``g(x)/φ(x) − 1``: g is the density of a coefficient that is not zero, with its noise."""
    size = np.abs(x)
    both = _ratio(-size - scale) + _ratio(size - scale)
    return 0.5 * scale * both - 1.0


def weight_of_threshold(threshold: float, scale: float) -> float:
    """The weight with which the posterior median is zero up to `threshold`."""
    point = np.array([threshold])
    odds = scale * _ratio(point - scale) - beta(point, scale)
    return float(1.0 / odds[0])


def best_weight(x: Array, scale: float) -> float:
    """The weight of largest marginal likelihood; its threshold is at most ``√(2 log n)``."""
    values = beta(x, scale)
    low, high = weight_of_threshold(np.sqrt(2.0 * np.log(max(x.size, 2))), scale), 1.0

    def slope(weight: float) -> float:
        return float(np.sum(values / (1.0 + weight * values)))

    low = min(low, 1.0)
    if slope(high) >= 0.0:
        return high
    if slope(low) <= 0.0:
        return low
    for _ in range(STEPS):  # the slope falls; weights are compared by their ratios
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return float(np.sqrt(low * high))


def log_likelihood(x: Array, weight: float, scale: float) -> float:
    """That of the level, over that of noise alone."""
    return float(np.sum(np.log1p(weight * beta(x, scale))))


def best_scale(x: Array) -> float:
    """The scale of largest marginal likelihood, each with its best weight."""

    def loss(logarithm: Array) -> float:
        scale = float(np.exp(np.clip(logarithm[0], *np.log(SCALES))))
        return -log_likelihood(x, best_weight(x, scale), scale)

    found = minimize(loss, [np.log(SCALE)], method="Nelder-Mead", options={"xatol": 1e-3})
    return float(np.exp(np.clip(found.x[0], *np.log(SCALES))))


def posterior_median(x: Array, weight: float, scale: float) -> Array:
    """Of coefficients with unit noise."""
    size = np.abs(x)
    # Given that θ > 0 it is N(|x| − a, 1) there: P(θ > m | x) = ½ is solved for m.
    normal = np.exp(-0.5 * (size - scale) ** 2) / np.sqrt(2.0 * np.pi)
    share = normal * (1.0 / weight + beta(x, scale)) / scale
    share = np.where(size - scale > 25.0, 0.5, np.minimum(share, 1.0))
    return np.sign(x) * np.maximum(0.0, size - scale - ndtri(share))


def ebayes(y: Array, estimate_scale: bool = True) -> Array:
    """A signal whose levels are each thresholded; the noise is that of the finest."""
    coarse, *details = pywt.wavedec(y, WAVELET)
    deviation = np.median(np.abs(details[-1])) / 0.6745
    if deviation == 0.0:
        return y.copy()
    kept = []
    for level in details:
        x = level / deviation
        scale = best_scale(x) if estimate_scale else SCALE
        kept.append(deviation * posterior_median(x, best_weight(x, scale), scale))
    return pywt.waverec([coarse, *kept], WAVELET)[: y.size]
