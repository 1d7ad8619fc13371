"""How good class probabilities are."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def log_loss(probability: Array, labels: Array) -> float:
    """Minus the mean log probability of the true class, (n, K) and labels 0, …, K − 1.

    Probabilities below the resolution of a double count as this resolution.
    """
    own = probability[np.arange(len(labels)), labels]
    return float(-np.mean(np.log(np.maximum(own, np.finfo(float).eps))))


def calibration_error(probability: Array, labels: Array, n_bins: int = 15) -> float:
    """Expected calibration error of the most probable class.

    The probabilities of the most probable class are sorted into bins of equal width between 0
    and 1. In each the share of right answers is compared with the mean probability; the absolute
    differences are averaged with the numbers of samples as weights.

    Parameters
    ----------
    probability : ndarray, (n, K)
    labels : ndarray of int, (n,)
        The true classes, 0, …, K − 1.
    n_bins : int, default=15

    Returns
    -------
    error : float
        0 if probabilities are shares, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> calibration_error(np.array([[0.75, 0.25]] * 4), np.array([0, 0, 0, 1]))
    0.0
    >>> calibration_error(np.array([[1.0, 0.0]] * 4), np.array([0, 0, 0, 1]))
    0.25
    """
    top = probability.max(axis=1)
    right = probability.argmax(axis=1) == labels
    bins = np.minimum((top * n_bins).astype(int), n_bins - 1)
    # count/n · |Σ right/count − Σ top/count|, summed over the bins
    return float(np.abs(np.bincount(bins, right - top)).sum() / len(labels))
