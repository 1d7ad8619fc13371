"""The model of one step: an estimator fitted to rows of lagged values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sparsebayes.forecasting.lags import Differences, Embedding, standardised
from sparsebayes.forecasting.propagation import Recursion
from sparsebayes.gp import ReducedRankGPR
from sparsebayes.regression import RVR

Array = np.ndarray
CURVED = 5.0  # log odds against a nonlinear model


def fit_recursion(
    y: Array,
    X: Array,
    embedding: Embedding,
    differences: Differences,
    *,
    log: bool,
    estimator: Any,
    random_state: Any,
) -> tuple[Recursion, float | None]:
    """Fit a model of a series, and its log evidence if the estimator has one.

    Parameters
    ----------
    y : ndarray, (N,)
    X : ndarray, (N, K)
        Standardised inputs.
    embedding, differences : Embedding and Differences
    log : bool
        Whether to model the logarithm.
    estimator : estimator with ``predict(X, return_std=True)``, or None
        None is `default_estimator`.
    random_state : int, RandomState instance or None

    Returns
    -------
    recursion : Recursion
    log_evidence : float or None
        Of the values of the series that have enough values before them.
    """
    first = embedding.first_target(differences)
    if len(y) < first + 2:
        after = f" after differences at {list(differences.periods)}" if differences.periods else ""
        raise ValueError(
            f"y has {len(y)} values, too few for lags={list(embedding.lags)}{after}: at least "
            f"{first + 2} are needed. Use fewer lags or differences, or a longer series."
        )
    values = np.log(y) if log else y
    series, center, scale = standardised(values, differences)
    rows = embedding.rows(series, X, first)
    if estimator is None:
        model = default_estimator(rows, series[first:], random_state)
    else:
        model = uncalibrated(estimator).fit(rows, series[first:])
        _check_std(model, rows[:1])
    recursion = Recursion(model, embedding.lags, log, differences, center, scale)
    evidence = getattr(
        model, "log_evidence_", getattr(model, "log_marginal_likelihood_value_", None)
    )
    if evidence is None:
        return recursion, None
    # Of the series itself: differences keep volumes, scale and logarithm do not.
    stretch = len(rows) * np.log(scale)
    if log:
        stretch += float(values[first:].sum())
    return recursion, float(evidence) - stretch


def uncalibrated(estimator: Any) -> Any:
    """A copy whose standard deviations are not calibrated: a forecast is, for each step ahead."""
    model = clone(estimator)
    own = [name for name in model.get_params() if name.split("__")[-1] == "calibrate"]
    return model.set_params(**dict.fromkeys(own)) if own else model


def default_estimator(rows: Array, targets: Array, random_state: Any) -> RVR | ReducedRankGPR:
    """A linear model, or a Gaussian process if its evidence is clearly higher; fitted.

    The support of the process is drawn at random: one that is chosen by the targets takes up
    the largest of their errors, and its evidence is high for noise too.

    Parameters
    ----------
    rows : ndarray, (n, D)
    targets : ndarray, (n,)
    random_state : int, RandomState instance or None
        None stands for 0.
    """
    linear = RVR("linear", calibrate=None)
    seed = 0 if random_state is None else random_state
    curved = ReducedRankGPR(
        n_support=256, selection="random", augment=False, calibrate=None, random_state=seed
    )
    with warnings.catch_warnings():
        # An unfinished search has less evidence, which is what counts here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        linear.fit(rows, targets)
        curved.fit(rows, targets)
    best = curved if curved.log_evidence_ > linear.log_evidence_ + CURVED else linear
    if not best.converged_:
        reason = getattr(best, "stop_reason_", "was still gaining evidence when it stopped")
        warnings.warn(
            f"The default estimator is not to be trusted: {type(best).__name__} {reason}. Give "
            "another estimator, fewer lags or a longer series.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return best


def _check_std(estimator: Any, rows: Array) -> None:
    try:
        estimator.predict(rows, return_std=True)
    except TypeError as error:
        raise TypeError(
            f"estimator must have predict(X, return_std=True), as RVR or ReducedRankGPR; "
            f"{estimator!r} does not: {error}"
        ) from error
