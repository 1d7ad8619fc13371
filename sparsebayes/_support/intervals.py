"""Central intervals of predictive distributions that are not normal."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammainccinv, gammaincinv, ndtr, ndtri

from sparsebayes._support.batching import batches
from sparsebayes._support.calibration import interval_width, normal_width

Array = np.ndarray

# Nodes of the integral over log u, at least, and the distance that gives seven digits at any nu.
_NODES, _DISTANCE = 128, 0.45
_STEPS = 100  # of Newton's method, which takes some six; of bisections, half of it
# Knots of a spline, where there are more rows, and the width of t alone beyond which it would err.
_KNOTS, _STEEP = 1000, 20.0
_ROOT = np.sqrt(2.0 / np.pi)


def student_half_width(variance: Any, noise: Any, coverage: float, nu: float) -> Array:
    """Half of the central interval of a normal variable plus Student's t.

    Given its scale u, t is normal with variance 1/u, and u has a gamma distribution: the sum is a
    mixture of normal distributions, and the mass outside an interval a smooth integral over log u,
    which the trapezoidal rule takes to nearly all digits.

    Parameters
    ----------
    variance : array-like
        Of the normal variable.
    noise : array-like, of a shape that broadcasts with it
        The square of what 68 % of the t are within, see `normal_width`.
    coverage : float
    nu : float
        Degrees of freedom, finite.
    """
    variance, noise = np.broadcast_arrays(np.maximum(variance, 0.0), noise)
    total = variance + noise
    share = np.divide(noise, total, out=np.zeros(total.shape), where=total > 0).ravel()
    shape, outside = 0.5 * nu, 1.0 - coverage
    least, most = gammaincinv(shape, 1e-12 * outside), gammainccinv(shape, 1e-16)
    first, last = np.log(max(least, 1e-300)), np.log(most)
    log_u = np.linspace(first, last, max(_NODES, int((last - first) / _DISTANCE)))
    weights = shape * log_u - np.exp(log_u)
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    of_t = shape * np.exp(-log_u) / normal_width(nu) ** 2

    def widths(share: Array) -> Array:
        found = np.empty(share.shape)
        for part in batches(share.size, 4 * log_u.size):
            found[part] = _newton(share[part], of_t, weights, coverage, nu)
        return found

    steep = nu < 1.0 or interval_width(coverage, nu) > _STEEP
    if share.size <= 2 * _KNOTS or steep:
        return widths(share).reshape(total.shape) * np.sqrt(total)
    # Of many rows by a spline in an angle, in which the width is smooth at both ends.
    angle = np.arcsin(np.sqrt(share))
    low, high = angle.min(), angle.max() + 1e-9
    knots = np.linspace(low, high, _KNOTS)
    width = CubicSpline(knots, widths(np.sin(knots) ** 2))(angle)
    return width.reshape(total.shape) * np.sqrt(total)


def _newton(share: Array, of_t: Array, weights: Array, coverage: float, nu: float) -> Array:
    """The same in units of the root of both variances together, by the share of the noise.

    The interval of a sum is wider than that of either part, and the mass inside is concave in the
    width: from there Newton's method goes up to the solution and never beyond.
    """
    scales = np.sqrt((1.0 - share)[:, None] + share[:, None] * of_t)
    width = np.maximum(
        interval_width(coverage) * np.sqrt(1.0 - share),
        interval_width(coverage, nu) * np.sqrt(share),
    )
    for _ in range(_STEPS):
        z = width[:, None] / scales
        excess = 2.0 * ndtr(-z) @ weights - (1.0 - coverage)
        step = excess / ((_ROOT * np.exp(-0.5 * z**2) / scales) @ weights)
        width = width + step
        if np.all(np.abs(step) <= 1e-10 * width):
            break
    return width


def mixture_quantile(means: Array, stds: Array, share: float) -> Array:
    """Where a mixture of normal distributions of equal weight, (M, n), has this much below, (n,).

    By bisection between the least and the greatest of its parts.
    """
    each = means + float(ndtri(share)) * stds
    low, high = each.min(axis=0), each.max(axis=0)
    for _ in range(_STEPS // 2):
        middle = 0.5 * (low + high)
        below = ndtr((middle - means) / stds).mean(axis=0) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
