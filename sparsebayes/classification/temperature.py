"""From the outputs of a regression on labels to probabilities of classes.

Outputs f of a model are no log odds. Their log odds are taken to be ``a f + b``, with one a for all
classes and a b for each, chosen such that labels of rows the model has not seen are most likely
[1]_. An output that is uncertain says less: with s its standard deviation, ``a f + b`` is divided
by ``√(1 + π a² s²/8)``, about what an average over the output would give [2]_.

References
----------
.. [1] J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
   likelihood methods", 1999.
.. [2] D. MacKay, "The evidence framework applied to classification networks", 1992.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

Array = np.ndarray

_SLOPES = np.array([1.0, 3.0, 10.0, 30.0])  # at which a search begins
_BOUNDS = -5.0, 7.0  # of log a: classes that cannot be told, and the largest that means anything


@dataclass(frozen=True)
class Temperature:
    """a and b.

    Attributes
    ----------
    slope : float
    offsets : ndarray, (K,)
    """

    slope: float
    offsets: Array

    def log_probability(self, outputs: Array, variance: Array) -> Array:
        """Of the classes, (n, K), from outputs (n, K) and their variances (n,)."""
        return log_softmax(_scores(np.log(self.slope), self.offsets, outputs, variance)[0], axis=1)


def find_temperature(outputs: Array, variance: Array, labels: Array, weights: Array) -> Temperature:
    """The most likely one for rows that the model has not seen.

    Parameters
    ----------
    outputs, variance : ndarray, (n, K) and (n,)
    labels : ndarray of int, (n,)
    weights : ndarray, (n,)
        How often each row counts.
    """
    n_classes = outputs.shape[1]
    totals = np.bincount(labels, weights, n_classes)
    # As if each class had one more sample, and one of another class: no probability becomes 0.
    sure = (totals + 1.0) / (totals + 2.0)
    targets = np.tile(((1.0 - sure) / (n_classes - 1))[:, None], n_classes)
    np.fill_diagonal(targets, sure)
    targets = weights[:, None] * targets[labels]

    def cost(point: Array) -> tuple[float, Array]:
        """Minus the log likelihood, and its derivatives by log a and b."""
        scores, shrink = _scores(point[0], point[1:], outputs, variance)
        logs = log_softmax(scores, axis=1)
        by_scores = weights[:, None] * np.exp(logs) - targets
        grown = np.pi / 8.0 * np.exp(2.0 * point[0]) * variance
        by_slope = shrink * np.exp(point[0]) * outputs
        by_slope = by_slope - (grown / (1.0 + grown))[:, None] * scores
        by_offsets = (by_scores * shrink).sum(axis=0)
        return -float(np.vdot(targets, logs)), np.append(np.vdot(by_scores, by_slope), by_offsets)

    starts = [np.append(np.log(slope), np.zeros(n_classes)) for slope in _SLOPES]
    start = min(starts, key=lambda point: cost(point)[0])
    bounds = [_BOUNDS, *[(None, None)] * n_classes]
    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Temperature(float(np.exp(found[0])), found[1:] - found[1:].mean())


def _scores(
    log_slope: float, offsets: Array, outputs: Array, variance: Array
) -> tuple[Array, Array]:
    """``(a f + b)/√(1 + π a² s²/8)``, and the factor, (n, 1)."""
    slope = np.exp(log_slope)
    shrink = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * slope**2 * variance)[:, None]
    return shrink * (slope * outputs + offsets), shrink
