"""Class probabilities: a likelihood averaged over a Gaussian of its argument."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import expit, ndtr

Array = np.ndarray

# The logistic distribution as a mixture of normal ones, to 4.4e-5.  # MS92
SHARES = (0.2517392, 0.5852392, 0.1630216)
SCALES = (1.1010685, 1.7299610, 2.7456800)
LOGIT_NODES = 32  # for an average over one latent value
N_NODES = 7  # along the direction that matters most
TIE = 1e-4  # classes that matter equally, in single precision too
KEPT = 0.2  # of the variance along it, which smooths between nodes


@lru_cache(maxsize=2)
def hermite(count: int) -> tuple[Array, Array]:
    """Nodes and weights for an average over a standard normal variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    return nodes, weights / weights.sum()


@lru_cache(maxsize=1)
def logistic_nodes() -> tuple[Array, Array]:
    """Nodes and weights for an average over a logistic variable.

    The trapezoidal rule: its error falls like ``exp(−2π²/h)`` with the spacing h.
    """
    nodes = np.arange(-80, 81) * 0.5
    weights = expit(nodes) * expit(-nodes)
    return nodes, weights / weights.sum()


def logit(mean: Array, variance: Array) -> Array:
    """``E[1/(1 + exp(−f))]`` for ``f ~ N(mean, variance)``, to about ten digits.

    It is also ``P(l < f)`` for a logistic l. The average is over f where f varies less than l,
    else over l.
    """
    std = np.sqrt(variance)
    out = np.empty(mean.shape)
    narrow = std < 1.5
    nodes, weights = hermite(LOGIT_NODES)
    out[narrow] = expit(mean[narrow, None] + std[narrow, None] * nodes) @ weights
    nodes, weights = logistic_nodes()
    wide = ~narrow
    out[wide] = ndtr((mean[wide, None] - nodes) / std[wide, None]) @ weights
    return out


def probit(mean: Array, variance: Array) -> Array:
    """``E[Φ(f)] = Φ(mean/√(1 + variance))``.  # QC04 app. C (15)"""
    return ndtr(mean / np.sqrt(1.0 + variance))


def softmax(mean: Array, covariance: Array) -> Array:
    """``E[softmax(f)]`` for ``f ~ N(mean, covariance)``, (n, K) and (n, K, K): to about 3e-4.

    A softmax is ``σ(f_k − L)`` with L the log-sum-exp of the other classes, which is built up class
    by class: ``log(eᴸ + eᶠ) = L + softplus(f − L)``. Each time L is taken to be Gaussian, with the
    mean and the covariances that this has and its variance to second order, as Clark does for the
    maximum [1]_; what σ and its integral are on average over a Gaussian is known if the logistic
    distribution is a mixture of three normal ones [2]_. This is done at seven values of the
    difference that matters most, given which the others vary less. Only differences between
    classes count.

    The error to Monte Carlo for what RVC says of data is 3e-4 on average and 1e-2 at most; for
    Wishart covariances 2e-3 and 2e-2 with standard deviations up to 2, and 4e-3 and 0.1 far beyond
    (``python -m experiments classification.class_average``). There is none without variance or
    with two classes. With more than three, another order of the classes changes about as much.

    .. [1] C. Clark, "The greatest of a finite set of random variables", 1961.  # CL61
    .. [2] J. Monahan, L. Stefanski, "Normal scale mixture approximations to F*(z)", 1992.  # MS92
    """
    distance = _distances(covariance)
    if mean.shape[1] == 2:
        return logit(mean - mean[:, ::-1], distance[:, 0, 1][:, None].repeat(2, axis=1))
    direction = _direction(mean, distance)
    between = direction[:, :, None] - direction[:, None, :]
    left = np.maximum(distance - between**2, 0.0)
    total = np.zeros(mean.shape)
    for node, weight in zip(*hermite(N_NODES), strict=True):
        total += weight * _one_by_one(mean + node * direction, left)
    return total


def _distances(covariance: Array) -> Array:
    """Variances of the differences between classes, (n, K, K)."""
    own = np.einsum("nkk->nk", covariance)
    both = covariance + covariance.transpose(0, 2, 1)
    return np.maximum(own[:, :, None] + own[:, None, :] - both, 0.0)


def _direction(mean: Array, distance: Array) -> Array:
    """How f moves, up to a constant, with the difference that matters most, (n, K).

    That is one class less the mean over all, by rough probabilities.  # MK92
    """
    widest = distance.max(axis=(1, 2))[:, None]
    rough = np.exp((mean - mean.max(axis=1, keepdims=True)) / np.sqrt(1.0 + np.pi / 8.0 * widest))
    rough /= rough.sum(axis=1, keepdims=True)
    to_mean = np.einsum("nkl,nl->nk", distance, rough)
    variance = to_mean - 0.5 * (rough * to_mean).sum(axis=1, keepdims=True)
    score = rough * variance
    # The first of those that are equal but for rounding, so that rounding does not choose.
    one = (score >= (1.0 - TIE) * score.max(axis=1, keepdims=True)).argmax(axis=1)
    rows = np.arange(len(mean))
    most = variance[rows, one][:, None]
    scale = np.sqrt((1.0 - KEPT) / np.where(most > 0.0, most, np.inf))
    return 0.5 * scale * (to_mean - distance[rows, one])


def _one_by_one(mean: Array, distance: Array) -> Array:
    """The average with L Gaussian, (n, K); ``middle[k]`` is the mean of the L of class k."""
    n_classes = mean.shape[1]
    own = np.arange(n_classes)
    mean, distance = (np.ascontiguousarray(part.T) for part in (mean, distance))  # rows last
    first = (own + 1) % n_classes
    middle, spread = mean[first], distance[first]  # of L, and Var(f_j − L), (K, K, n)
    for step in range(2, n_classes):
        other = (own + step) % n_classes
        variance = spread[own, other]
        share, rise, slope = _smooth(mean[other] - middle, variance)
        # L + share (f − L), and what bends adds to its variance; by Stewart's theorem.
        bend = 0.5 * (variance * slope) ** 2 - share * (1.0 - share) * variance
        spread = spread + share[:, None] * (distance[other] - spread) + bend[:, None]
        spread = np.maximum(spread, 0.0)
        middle = middle + rise
    probability = _smooth(mean - middle, spread[own, own])[0]
    return (probability / probability.sum(axis=0)).T


def _smooth(mean: Array, variance: Array) -> tuple[Array, Array, Array]:
    """Of ``σ(d)``, ``softplus(d)`` and ``σ'(d)`` the averages over ``d ~ N(mean, variance)``.

    Without variance the first two are exact: the mixture says what the variance changes.
    """
    share = expit(mean)
    rise = np.maximum(mean, 0.0) + np.log1p(np.exp(-np.abs(mean)))
    slope = np.zeros(mean.shape)
    for weight, narrow in zip(SHARES, SCALES, strict=True):
        wide = np.sqrt(narrow**2 + variance)
        above = ndtr(mean / wide) - ndtr(mean / narrow)
        density = _normal(mean / wide)
        share += weight * above
        rise += weight * (mean * above + wide * density - narrow * _normal(mean / narrow))
        slope += weight * density / wide
    return share, rise, slope


def _normal(x: Array) -> Array:
    return np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi)
