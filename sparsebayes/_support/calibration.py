"""By how much a predictive distribution is to be widened, told by rows that were held out.

A model is fitted again to all folds but one and predicts that one, at hyperparameters that were
learned from all. The root mean square of its errors in units of its standard deviations is the
factor by which these are too small.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sparsebayes._support.validation import as_number

Array = np.ndarray
Fold = tuple[Array, Array]  # the rows to learn from, and those to predict
Forecast = Callable[[Array], tuple[Array, Array]]  # mean and variance, noise included, at inputs

_FOLDS = 5
_FEWEST = 10  # distinct rows, with fewer of which folds say nothing


def check_calibrate(calibrate: Any) -> None:
    """A clear error for what is no way to calibrate."""
    if calibrate is None or (isinstance(calibrate, str) and calibrate == "auto"):
        return
    count = as_number(calibrate)
    if count is not None and count >= 2 and count == int(count):
        return
    pairs = isinstance(calibrate, (list, tuple)) and len(calibrate) > 0
    if (hasattr(calibrate, "split") and not isinstance(calibrate, (str, type))) or pairs:
        return
    raise ValueError(
        "calibrate must be 'auto', None, a number of folds from 2 on, a splitter of scikit-learn "
        f"such as KFold(5), or a list of pairs (train, test) of row numbers, got {calibrate!r}."
    )


def calibration_factor(
    fit: Callable[[Array], Forecast],
    X: Array,
    y: Array,
    weights: Array,
    calibrate: Any,
    name: str,
    enough: int = 1000,
) -> float:
    """The factor for a model's standard deviations, 1 if there is nothing to learn it from.

    Parameters
    ----------
    fit : callable
        From row numbers to the predictions of a model fitted to these rows.
    X, y, weights : ndarray
        A weight counts as so many equal rows.
    calibrate : "auto", None, int, splitter, or list of pairs
    name : str
        Of the estimator, for a warning.
    enough : int
        Rows to hold out, after which "auto" leaves the other folds: with 1000 the factor is known
        to a few per cent.
    """
    if calibrate is None:
        return 1.0
    squares = total = 0.0
    for train, test in _folds(X, y, weights, calibrate, name, enough):
        mean, variance = fit(train)(X[test])
        errors = (y[test] - mean) ** 2 / variance
        squares += float(weights[test] @ errors)
        total += float(weights[test].sum())
    factor = np.sqrt(squares / total) if total > 0 else 1.0
    # Zero: everything is predicted to the last digit, as where the targets are constant.
    return float(factor) if 0 < factor < np.inf else 1.0


def _folds(
    X: Array, y: Array, weights: Array, calibrate: Any, name: str, enough: int
) -> Iterator[Fold]:
    """Of the rows with weight."""
    counts = weights > 0
    count = _FOLDS if isinstance(calibrate, str) else as_number(calibrate)
    if count is None:
        from sklearn.model_selection import check_cv

        for train, test in check_cv(calibrate).split(X, y):
            train, test = np.arange(len(X))[train], np.arange(len(X))[test]
            if counts[train].any() and counts[test].any():
                yield train[counts[train]], test[counts[test]]
        return
    rows = np.flatnonzero(counts)
    fold = content_folds(X[rows], y[rows], weights[rows], int(count))
    if fold is None:
        warnings.warn(
            f"{name} was given too few distinct rows to hold some of them out, so its standard "
            "deviations are not calibrated (calibration_ is 1); calibrate=None says the same "
            "without this warning.",
            UserWarning,
            stacklevel=5,
        )
        return
    seen = 0
    for number in range(int(count)):
        yield rows[fold != number], rows[fold == number]
        seen += int(np.count_nonzero(fold == number))
        if isinstance(calibrate, str) and seen >= enough:
            return


def content_folds(X: Array, y: Array, weights: Array, count: int) -> Array | None:
    """The fold of each row, the same for equal rows; None if there are too few of them.

    Rows are dealt out by their targets, so every fold has some of all sizes, and neither the order
    of the samples nor that of the inputs matters, nor how often a row occurs.
    """
    rows, place = np.unique(X, axis=0, return_inverse=True)
    if len(rows) < max(_FEWEST, count):
        return None
    place = place.ravel()
    targets = np.bincount(place, weights * y) / np.bincount(place, weights)
    rng, hands = np.random.default_rng(0), -(-len(rows) // count)
    dealt = np.concatenate([rng.permutation(count) for _ in range(hands)])[: len(rows)]
    fold = np.empty(len(rows), dtype=np.intp)
    fold[np.argsort(targets, kind="stable")] = dealt
    return fold[place]
