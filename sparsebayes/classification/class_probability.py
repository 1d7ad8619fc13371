"""Class probabilities: a likelihood averaged over a Gaussian of its argument."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import expit, ndtr, ndtri

Array = np.ndarray

N_DRAWS = 512  # quasi-random draws for the average of a softmax


@lru_cache(maxsize=1)
def normal_nodes() -> tuple[Array, Array]:
    """Nodes and weights for an average over a standard normal variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(32)
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
    nodes, weights = normal_nodes()
    out[narrow] = expit(mean[narrow, None] + std[narrow, None] * nodes) @ weights
    nodes, weights = logistic_nodes()
    wide = ~narrow
    out[wide] = ndtr((mean[wide, None] - nodes) / std[wide, None]) @ weights
    return out


def probit(mean: Array, variance: Array) -> Array:
    """``E[Φ(f)] = Φ(mean/√(1 + variance))``.  # QC04 app. C (15)"""
    return ndtr(mean / np.sqrt(1.0 + variance))


@lru_cache(maxsize=8)
def _draws(dimension: int) -> Array:
    """A fixed set of well spread standard normal vectors and their negatives, (Q, dimension)."""
    from scipy.stats import qmc

    points = qmc.Sobol(dimension, rng=np.random.default_rng(0)).random(N_DRAWS // 2)
    normal = ndtri(np.clip(points, 1e-12, 1.0 - 1e-12))
    return np.concatenate([normal, -normal])


def multinomial(mean: Array, covariance: Array) -> Array:
    """``E[softmax(f)]`` for ``f ~ N(mean, covariance)``, (n, K) and (n, K, K): to about 1e-3.

    The average is over a fixed quasi-random set, so that it is the same each time.
    """
    values, vectors = np.linalg.eigh(covariance)
    # The symmetric root: it does not depend on the choice of eigenvectors.
    half = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :] @ vectors.transpose(0, 2, 1)
    f = half @ _draws(mean.shape[1]).T  # (n, K, Q)
    f += mean[:, :, None]
    f -= f.max(axis=1, keepdims=True)
    np.exp(f, out=f)
    f /= f.sum(axis=1, keepdims=True)
    return f.mean(axis=2)
