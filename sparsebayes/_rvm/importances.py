"""How much a fitted model makes of each input."""

from __future__ import annotations

import numpy as np

from sparsebayes.basis import Basis

Array = np.ndarray

_TAIL = 0.1587  # quantiles of a low and a high value; of a normal input, a standard deviation out
_ROWS = 256  # rows that stand for the others: shares are then within a few hundredths
_FEWEST_ROWS = 32
_CHANGES = 16384  # rows times inputs: with 256 inputs a fifth of a fit of 500 rows without `adapt`
_BLOCK = 1024  # changed rows that the functions are evaluated at together


def input_importances(basis: Basis, weights: Array, X: Array, sample_weight: Array) -> Array:
    """The share of each input in the mean squared change of the functions ``φ(x) weights``.

    In each row of X one input after the other is set to a low and to a high value that it has in
    other rows. For a linear function of normal inputs this is ``coef² var(x)`` of each input,
    divided by the sum; for any other it is at least half of the variance that an input which
    adds to the others brings about.

    Parameters
    ----------
    basis : Basis
        Fitted, with S functions.
    weights : ndarray, (K, S)
        Of K functions.
    X : ndarray, (N, D)
    sample_weight : ndarray, (N,)
        All positive.

    Returns
    -------
    importances : ndarray, (D,)
        They sum to one, or are all zero if no input makes a difference.
    """
    n_rows, n_inputs = X.shape
    size = max(_FEWEST_ROWS, min(_ROWS, _CHANGES // n_inputs))
    if n_rows > size:  # a fixed choice, so that the same data give the same importances
        chosen = np.sort(np.random.default_rng(0).choice(n_rows, size, replace=False))
        X, sample_weight = X[chosen], sample_weight[chosen]
    values = basis.columns(X)
    changes, width = np.zeros(n_inputs), -(-_BLOCK // len(X))
    for level in _quantiles(X, sample_weight):
        for start in range(0, n_inputs, width):
            inputs = np.arange(start, min(start + width, n_inputs))
            moved = np.repeat(X[None], inputs.size, axis=0)
            moved[np.arange(inputs.size), :, inputs] = level[inputs, None]
            columns = basis.columns(moved.reshape(-1, n_inputs))
            change = (columns.reshape(inputs.size, *values.shape) - values) @ weights.T  # (·, n, K)
            changes[inputs] += (change**2).sum(axis=2) @ sample_weight
    total = changes.sum()
    return changes / total if total > 0 else changes


def _quantiles(X: Array, sample_weight: Array) -> tuple[Array, Array]:
    """A low and a high value of each input that occur in X, (D,)."""
    order = np.argsort(X, axis=0)
    below = np.cumsum(sample_weight[order], axis=0)
    total = below[-1]
    inputs = np.arange(X.shape[1])
    low, high = ((below < tail * total).sum(axis=0) for tail in (_TAIL, 1.0 - _TAIL))
    return X[order[low, inputs], inputs], X[order[high, inputs], inputs]
