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
from scipy.special import log_softmax, softmax

Array = np.ndarray

_SLOPES = np.array([1.0, 3.0, 10.0, 30.0])  # at which a search begins
_BOUNDS = -5.0, 7.0  # of log a: classes that cannot be told, and the largest that means anything
_STEPS, _LONGEST, _SHORTEST = 100, 2.0, 1e-6  # of a search, in log a and b
_ENOUGH = 1e-6  # nats in a step, at which it ends
_TINY = 1e-9
# Precisions of what is known of log a and b where the outputs are log probabilities already.
_PULL_SLOPE, _PULL_OFFSET = 4.0, 1.0


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


def find_temperature(
    outputs: Array, variance: Array, labels: Array, weights: Array, *, log_odds: bool = False
) -> Temperature:
    """The most likely one for rows that the model has not seen.

    Parameters
    ----------
    outputs, variance : ndarray, (n, K) and (n,)
    labels : ndarray of int, (n,)
    weights : ndarray, (n,)
        How often each row counts.
    log_odds : bool
        Whether the outputs are log probabilities, so that ``a = 1, b = 0`` is what they say
        themselves: rows have to make a case for anything else.
    """
    n_classes = outputs.shape[1]
    targets = weights[:, None] * (
        np.eye(n_classes)[labels] if log_odds else _smoothed(labels, weights, n_classes)
    )
    pull = np.append(_PULL_SLOPE, np.full(n_classes, _PULL_OFFSET))
    pull = pull if log_odds else np.append(0.0, np.full(n_classes, _TINY))

    def cost(point: Array) -> float:
        """Minus the log likelihood, and what the point is pulled by."""
        logs = log_softmax(_scores(point[0], point[1:], outputs, variance)[0], axis=1)
        return 0.5 * float(pull @ point**2) - float(np.vdot(targets, logs))

    def derivatives(point: Array) -> tuple[Array, Array]:
        """The slopes by log a and b, and the expected curvature."""
        scores, shrink = _scores(point[0], point[1:], outputs, variance)
        p = softmax(scores, axis=1)
        grown = np.pi / 8.0 * np.exp(2.0 * point[0]) * variance
        by_slope = shrink * np.exp(point[0]) * outputs - (grown / (1.0 + grown))[:, None] * scores
        by_scores = weights[:, None] * p - targets
        slopes = np.append(np.vdot(by_scores, by_slope), (by_scores * shrink).sum(axis=0))
        counts, mean = weights[:, None] * p, np.einsum("nk,nk->n", p, by_slope)
        across = counts * (by_slope - mean[:, None])
        curvature = np.empty((point.size, point.size))
        curvature[0, 0] = np.vdot(across, by_slope)
        curvature[0, 1:] = curvature[1:, 0] = (across * shrink).sum(axis=0)
        curvature[1:, 1:] = -(p * shrink).T @ (counts * shrink)
        curvature[1:, 1:].flat[:: n_classes + 1] += (counts * shrink**2).sum(axis=0)
        return slopes + pull * point, curvature + np.diag(pull)

    slopes = (1.0,) if log_odds else _SLOPES
    starts = [np.append(np.log(slope), np.zeros(n_classes)) for slope in slopes]
    point = min(starts, key=cost)
    value = cost(point)
    for _ in range(_STEPS):
        slope, curvature = derivatives(point)
        curvature.flat[:: point.size + 1] += _TINY * (1.0 + curvature.diagonal())
        step = -np.linalg.solve(curvature, slope)
        step /= max(1.0, float(np.abs(step).max()) / _LONGEST)
        before = value
        while True:
            moved = point + step
            moved[0] = np.clip(moved[0], *_BOUNDS)
            value = cost(moved)
            if value < before or np.abs(step).max() < _SHORTEST:
                break
            step *= 0.5
        if value >= before:
            break
        point = moved
        if before - value < _ENOUGH:
            break
    return Temperature(float(np.exp(point[0])), point[1:] - point[1:].mean())


def _smoothed(labels: Array, weights: Array, n_classes: int) -> Array:
    """Targets as if each class had one more sample, and one of another class [1]_.

    No probability becomes 0 then.
    """
    totals = np.bincount(labels, weights, n_classes)
    sure = (totals + 1.0) / (totals + 2.0)
    targets = np.tile(((1.0 - sure) / (n_classes - 1))[:, None], n_classes)
    np.fill_diagonal(targets, sure)
    return targets[labels]


def _scores(
    log_slope: float, offsets: Array, outputs: Array, variance: Array
) -> tuple[Array, Array]:
    """``(a f + b)/√(1 + π a² s²/8)``, and the factor, (n, 1)."""
    slope = np.exp(log_slope)
    shrink = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * slope**2 * variance)[:, None]
    return shrink * (slope * outputs + offsets), shrink
