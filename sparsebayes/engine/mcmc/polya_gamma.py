"""Draws of Pólya-Gamma variables, by which a logistic likelihood is a mixture of Gaussians [PSW13].

``PG(b, z)`` is the distribution of ``1/(2π²) Σ_k g_k/((k − ½)² + z²/(4π²))`` with gamma variables
``g_k ~ Gamma(b, 1)``, so that draws for b and for b' add up to one for b + b'. Its Laplace
transform is ``E exp(−ωs) = (cosh(z/2)/cosh(√(s/2 + z²/4)))^b``, its mean ``b tanh(z/2)/(2z)``.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_ndtr

Array = np.ndarray

_CUT = 0.64  # where the two series of the density change over; both converge fastest there
_FEW = 8  # up to so many a sum of exact draws of b = 1 is cheaper than the series
_TERMS = 64  # of the series; what comes after them is small, and a sum of many small parts


def draw_polya_gamma(b: Array, z: Array, rng: np.random.Generator) -> Array:
    """Draw ``PG(b, z)``, elementwise; b > 0, and z any real numbers.

    For whole numbers b up to 8 it is a sum of exact draws. For others it is the series above: 64
    terms, and for all that follow one gamma variable with their mean and variance.
    """
    b, z = np.broadcast_arrays(np.asarray(b, dtype=np.float64), np.abs(z))
    shape, b, z = b.shape, b.ravel(), z.ravel()
    out = np.empty(b.size)
    exact = (b == np.rint(b)) & (b <= _FEW)
    if exact.any():
        times = b[exact].astype(int)
        each = _draw_single(np.repeat(z[exact], times), rng)
        out[exact] = np.add.reduceat(each, np.cumsum(times) - times)
    rest = ~exact
    if rest.any():
        out[rest] = _draw_series(b[rest], z[rest], rng)
    return out.reshape(shape)


def polya_gamma_mean(b: Array, z: Array) -> Array:
    """``b tanh(z/2)/(2z)``, elementwise."""
    half = 0.5 * np.abs(z)
    small = half < 1e-4
    safe = np.where(small, 1.0, half)
    return 0.25 * b * np.where(small, 1.0 - half**2 / 3.0, np.tanh(safe) / safe)


def _polya_gamma_variance(b: Array, z: Array) -> Array:
    """``b (sinh z − z)/(4 z³ cosh²(z/2))``, elementwise for z >= 0."""
    small = z < 0.005  # where the difference below loses digits
    safe = np.where(small, 1.0, z)
    decay = np.exp(-safe)
    # sinh z/cosh²(z/2) and 1/cosh²(z/2), without large numbers
    slope = 2.0 * np.tanh(0.5 * safe) - safe * 4.0 * decay / (1.0 + decay) ** 2
    return b * np.where(small, (1.0 - z**2 / 5.0) / 24.0, slope / (4.0 * safe**3))


def _draw_series(b: Array, z: Array, rng: np.random.Generator) -> Array:
    places = np.arange(_TERMS) + 0.5
    scale = 0.5 / np.pi**2 / (places**2 + (z[:, None] / (2.0 * np.pi)) ** 2)
    gammas = rng.standard_gamma(np.broadcast_to(b[:, None], scale.shape))
    mean = polya_gamma_mean(b, z) - b * scale.sum(axis=1)
    variance = _polya_gamma_variance(b, z) - b * (scale**2).sum(axis=1)
    rest = rng.standard_gamma(mean**2 / variance) * variance / mean
    return (gammas * scale).sum(axis=1) + rest


def _draw_single(z: Array, rng: np.random.Generator) -> Array:
    """Draw ``PG(1, z)`` for z >= 0 by Devroye's alternating series.  # PSW13, algorithm 1

    A quarter of a variable with the density ``Σ (−1)ⁿ a_n(x)``, tilted by ``exp(−x z²/8)``; what is
    proposed has the density a_0, tilted likewise. Sums of the series lie in turn above and
    below the density, so that after a few terms it is known whether to accept.
    """
    half = 0.5 * z
    right = _right_share(half)
    out = np.empty(z.size)
    waiting = np.arange(z.size)
    while waiting.size:
        x = np.empty(waiting.size)
        beyond = rng.random(waiting.size) < right[waiting]
        rate = np.pi**2 / 8.0 + 0.5 * half[waiting[beyond]] ** 2
        x[beyond] = _CUT + rng.standard_exponential(rate.size) / rate
        x[~beyond] = _draw_left(half[waiting[~beyond]], rng)
        taken = _accepted(x, rng)
        out[waiting[taken]] = 0.25 * x[taken]
        waiting = waiting[~taken]
    return out


def _right_share(half: Array) -> Array:
    """How much of what is proposed lies beyond the cut, for z/2."""
    rate = np.pi**2 / 8.0 + 0.5 * half**2
    right = np.log(0.5 * np.pi / rate) - rate * _CUT
    root = np.sqrt(_CUT)
    left = np.log(2.0) + np.logaddexp(
        log_ndtr((_CUT * half - 1.0) / root) - half, log_ndtr(-(_CUT * half + 1.0) / root) + half
    )
    return expit(right - left)


def _draw_left(half: Array, rng: np.random.Generator) -> Array:
    """Draw inverse Gaussian variables of mean 2/z and shape 1, given that they are below the cut.

    Where the mean is small most draws are; else draws for z = 0, below the cut by construction, are
    accepted with probability ``exp(−x z²/8)``.
    """
    out = np.empty(half.size)
    waiting = np.arange(half.size)
    while waiting.size:
        rate = half[waiting]
        x = np.empty(rate.size)
        near = rate * _CUT > 1.0
        x[near] = rng.wald(1.0 / rate[near], 1.0)
        first, second = rng.standard_exponential((2, np.count_nonzero(~near)))
        x[~near] = _CUT / (1.0 + _CUT * first) ** 2
        taken = x <= _CUT
        likely = rng.random(second.size) < np.exp(-0.5 * rate[~near] ** 2 * x[~near])
        taken[~near] = (first**2 <= 2.0 * second / _CUT) & likely
        out[waiting[taken]] = x[taken]
        waiting = waiting[~taken]
    return out


def _log_term(n: int, x: Array) -> Array:
    """log a_n(x): one series left of the cut, another one right of it."""
    place = n + 0.5
    left = 1.5 * np.log(2.0 / (np.pi * x)) - 2.0 * place**2 / x
    return np.log(np.pi * place) + np.where(x <= _CUT, left, -0.5 * (place * np.pi) ** 2 * x)


def _accepted(x: Array, rng: np.random.Generator) -> Array:
    """Whether each x is accepted, with probability ``Σ (−1)ⁿ a_n(x)/a_0(x)``."""
    level = rng.random(x.size)
    total, first = np.ones(x.size), _log_term(0, x)
    taken, open_ = np.zeros(x.size, dtype=bool), np.ones(x.size, dtype=bool)
    n = 0
    while open_.any():
        n += 1
        total[open_] += (-1.0) ** n * np.exp(_log_term(n, x[open_]) - first[open_])
        if n % 2:  # from below: whoever is under it is in
            taken |= open_ & (level <= total)
            open_ &= level > total
        else:
            open_ &= level <= total
    return taken
