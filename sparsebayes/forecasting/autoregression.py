"""The model of one step: an estimator fitted to rows of lagged values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.fits.clock import time_is_up
from sparsebayes._support.guesses.values import hint
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.lags import Differences, Embedding, standardised
from sparsebayes.forecasting.propagation import Recursion
from sparsebayes.forecasting.transforms import ValueTransform
from sparsebayes.gp import ReducedRankGPR
from sparsebayes.regression import RVR

Array = np.ndarray
_ENOUGH = 10  # rows for each lag
CURVED = 5.0  # log odds against a nonlinear model


def fit_recursion(
    record: Record,
    embedding: Embedding,
    differences: Differences,
    transform: ValueTransform,
    *,
    estimator: Any,
    random_state: Any,
) -> tuple[Recursion, float | None]:
    """Fit a model of a series, and its log evidence if the estimator has one.

    Parameters
    ----------
    record : Record
        Guesses of missing values are no targets, and stand among the lags only where there are
        too few rows without them.
    embedding, differences : Embedding and Differences
    transform : ValueTransform
    estimator : estimator with ``predict(X, return_std=True)``, or None
        None is `default_estimator`.
    random_state : int, RandomState instance or None

    Returns
    -------
    recursion : Recursion
    log_evidence : float or None
        Of the values of the series that have enough values before them.
    """
    first, y = embedding.first_target(differences), record.filled
    times = first + np.flatnonzero(record.known[first:])
    if len(times) < 2:
        after = f" after differences at {list(differences.periods)}" if differences.periods else ""
        raise ValueError(
            f"y has {int(record.known.sum())} values, too few for lags={list(embedding.lags)}"
            f"{after}: at least {first + 2} are needed. Use fewer lags or differences, or a "
            "longer series."
        )
    series, center, scale = standardised(transform.of(y), differences)
    # Rows without guesses, if there are enough of them.
    window = np.arange(1, differences.order + embedding.memory + 1)
    complete = times[record.known[times[:, None] - window].all(axis=1)]
    if len(complete) >= _ENOUGH * (len(embedding.lags) + 1):
        times = complete
    rows, targets = embedding.rows(series, record.inputs, times), series[times]
    model = fit_rows(rows, targets, estimator, random_state)
    recursion = Recursion(model, embedding.lags, transform, differences, center, scale)
    evidence = getattr(
        model, "log_evidence_", getattr(model, "log_marginal_likelihood_value_", None)
    )
    if evidence is None:
        return recursion, None
    # Of the series itself: differences keep volumes, scale and transforms do not.
    stretch = float(transform.log_slope(y[times]).sum()) - len(rows) * np.log(scale)
    return recursion, float(evidence) + stretch


def fit_rows(rows: Array, targets: Array, estimator: Any, random_state: Any) -> Any:
    """A copy of an estimator, or the default one if it is None, fitted to rows."""
    if estimator is None:
        return default_estimator(rows, targets, random_state)
    model = uncalibrated(estimator).fit(rows, targets)
    _check_std(model, rows[:1])
    return model


def uncalibrated(estimator: Any) -> Any:
    """A copy whose standard deviations are not calibrated: a forecast is, for each step ahead."""
    if isinstance(estimator, type) or not (
        hasattr(estimator, "get_params") and hasattr(estimator, "predict")
    ):
        raise TypeError(
            "estimator must be None or a regressor such as RVR() or ReducedRankGPR(), got "
            f"{estimator!r}{hint('estimator', estimator)}."
        )
    model = clone(estimator)
    own = [name for name in model.get_params() if name.split("__")[-1] == "calibrate"]
    return model.set_params(**dict.fromkeys(own)) if own else model


def default_estimator(rows: Array, targets: Array, random_state: Any) -> RVR | ReducedRankGPR:
    """A linear model, or a Gaussian process if its evidence is clearly higher; fitted.

    Parameters
    ----------
    rows : ndarray, (n, D)
    targets : ndarray, (n,)
    random_state : int, RandomState instance or None
        None stands for 0.
    """
    linear, curved = RVR("linear", calibrate=None), process(random_state)
    with warnings.catch_warnings():
        # An unfinished search has less evidence, which is what counts here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        linear.fit(rows, targets)
        curved.fit(rows, targets)
    best = curved if curved.log_evidence_ > linear.log_evidence_ + CURVED else linear
    if not best.converged_ and not time_is_up():
        reason = getattr(best, "stop_reason_", "was still gaining evidence when it stopped")
        warnings.warn(
            f"The default estimator is not to be trusted: {type(best).__name__} {reason}. Give "
            "another estimator, fewer lags or a longer series.",
            ConvergenceWarning,
            stacklevel=8,
        )
    return best


def process(random_state: Any) -> ReducedRankGPR:
    """A Gaussian process of reduced rank; None stands for 0.

    Its support is drawn at random: one that is chosen by the targets takes up the largest of their
    errors, and its evidence is high for noise too.
    """
    seed = 0 if random_state is None else random_state
    return ReducedRankGPR(
        n_support=256, selection="random", augment=False, calibrate=None, random_state=seed
    )


def _check_std(estimator: Any, rows: Array) -> None:
    try:
        estimator.predict(rows, return_std=True)
    except TypeError as error:
        raise TypeError(
            f"estimator must have predict(X, return_std=True), as RVR or ReducedRankGPR; "
            f"{estimator!r} does not: {error}"
        ) from error
