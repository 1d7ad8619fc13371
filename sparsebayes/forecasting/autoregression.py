"""The autoregressive model behind the forecaster: preparing, fitting, and its paths."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.validation import check_choice
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.lag_choice import Choice, choose
from sparsebayes.forecasting.lags import (
    Differences,
    Embedding,
    as_exog_lags,
    as_lags,
    as_periods,
    whole,
)
from sparsebayes.forecasting.propagation import Recursion
from sparsebayes.forecasting.timeline import Timeline, read_inputs, read_series
from sparsebayes.gp import ReducedRankGPR
from sparsebayes.regression import RVR

Array = np.ndarray
CURVED = 5.0  # log odds against a nonlinear model


class Autoregression(BaseEstimator):
    """What a forecaster does with arrays."""

    estimator: Any
    lags: Any
    step: Any
    difference: Any
    transform: Any
    exog_lags: Any
    random_state: Any
    log_evidence_: float | None
    noise_variance_: float | None
    _timeline: Timeline | None
    _name: Any

    def _fit_arrays(self, y: Array, X: Array) -> Any:
        self.y_, self.X_, self.n_times_ = y, X, len(y)
        self._X_center, spread = X.mean(axis=0), X.std(axis=0)
        self._X_scale = np.where(spread > 0, spread, 1.0)
        choice = self._chosen(y, self._standard_inputs(X))
        self.transform_ = "log" if choice.log else None
        self.lags_, self.difference_ = list(choice.lags or ()), list(choice.periods or ())
        exog_lags = as_exog_lags(self.exog_lags, self.step)
        self.exog_lags_ = list(exog_lags) if X.shape[1] else []
        self._embedding = Embedding(tuple(self.lags_), exog_lags)
        self._learn(y, self._standard_inputs(X))
        return self

    def _chosen(self, y: Array, X: Array) -> Choice:
        """Transform, differences and lags, as given or by the evidence."""
        if self.transform is not None:
            check_choice("transform", self.transform, ("auto", "log"))
        given = Choice(
            lags=None if _is_auto(self.lags) else as_lags(self.lags, self.step),
            periods=None if _is_auto(self.difference) else as_periods(self.difference),
            log=None if self.transform == "auto" else self.transform == "log",
        )
        if given.log:
            check_positive(y, "y")
        if None not in (given.lags, given.periods, given.log):
            return given
        season = 1 if self._timeline is None else self._timeline.season()
        step = whole("step", self.step, 1)
        exog_lags = as_exog_lags(self.exog_lags, self.step) if X.shape[1] else ()
        return choose(y, X, exog_lags, season, step, given)

    def _learn(self, y: Array, X: Array) -> None:
        """Fit the estimator to the rows of lagged values."""
        differences, embedding = Differences(tuple(self.difference_)), self._embedding
        self.n_past_ = max(differences.order + embedding.memory, *self.exog_lags_, 0)
        first = self.n_past_
        if len(y) < first + 2:
            after = f" after differences at {self.difference_}" if self.difference_ else ""
            raise ValueError(
                f"y has {len(y)} values, too few for lags={self.lags_}{after}: at least "
                f"{first + 2} are needed. Use fewer lags or differences, or a longer series."
            )
        values = np.log(y) if self.transform_ == "log" else y
        changes = differences.apply(values)
        center, scale = float(changes.mean()), float(changes.std())
        if scale <= 1e-12 * np.abs(values).max():  # constant but for rounding
            scale = 1.0
        series = np.full(len(y), np.nan)
        series[differences.order :] = (changes - center) / scale
        rows = embedding.rows(series, X, first)
        if self.estimator is None:
            estimator = default_estimator(rows, series[first:], self.random_state)
        else:
            estimator = clone(self.estimator).fit(rows, series[first:])
            _check_std(estimator, rows[:1])
        self.estimator_ = estimator
        self.n_features_in_ = rows.shape[1]
        self._recursion = Recursion(
            estimator, embedding.lags, self.transform_ == "log", differences, center, scale
        )
        noise = getattr(estimator, "noise_variance_", None)
        self.noise_variance_ = None if noise is None else scale**2 * float(noise)
        evidence = getattr(
            estimator, "log_evidence_", getattr(estimator, "log_marginal_likelihood_value_", None)
        )
        self.log_evidence_ = None
        if evidence is not None:
            # Of the series itself: differences keep volumes, scale and logarithm do not.
            stretch = len(rows) * np.log(scale)
            if self.transform_ == "log":
                stretch += float(values[first:].sum())
            self.log_evidence_ = float(evidence) - stretch

    def _standard_inputs(self, X: Array) -> Array:
        return (X - self._X_center) / self._X_scale

    def _inputs(self, X: Any, n_times: int, index: Any) -> Array:
        """The exogenous inputs of the training series."""
        if X is None:
            inputs = np.empty((n_times, 0))
        else:
            inputs, own = read_inputs(X)
            if len(inputs) != n_times:
                raise ValueError(
                    f"X must have a row for each of the {n_times} values of y, got {len(inputs)}."
                )
            if own is not None and index is not None and not own.equals(index):
                raise ValueError("X and y must have the same index; use X.reindex(y.index).")
        self._columns = _names(X)
        self.n_inputs_ = inputs.shape[1]
        return inputs

    def _more_inputs(self, X: Any, needed: int, name: str) -> Array:
        """Inputs after the known ones, at least `needed` rows."""
        if not self.n_inputs_:
            if X is not None:
                raise ValueError(f"{name} was given, but fit had no X; fit with X first.")
            return np.empty((needed, 0))
        reach = f"exog_lags={self.exog_lags_}"
        if X is None:
            if not needed:
                return np.empty((0, self.n_inputs_))
            raise ValueError(
                f"{name} is missing: the model has {self.n_inputs_} exogenous inputs, and with "
                f"{reach} it needs {needed} more row(s) of them."
            )
        inputs, index = read_inputs(X, name)
        if inputs.shape[1] != self.n_inputs_:
            raise ValueError(
                f"{name} must have {self.n_inputs_} columns as in fit, got {inputs.shape[1]}."
            )
        if None not in (self._columns, _names(X)) and self._columns != _names(X):
            raise ValueError(f"{name} has columns {_names(X)}, but in fit it had {self._columns}.")
        if len(inputs) < needed:
            raise ValueError(
                f"{name} has {len(inputs)} row(s), but with {reach} {needed} are needed: "
                f"{needed - len(inputs)} missing. Add them or shorten the horizon."
            )
        if index is not None and self._timeline is not None:
            self._timeline.check_ahead(index, name)
        return inputs

    def _future(self, horizon: Any, X: Any) -> Array:
        """The lagged inputs of the next steps, (1, horizon, ...)."""
        check_is_fitted(self)
        horizon = whole("horizon", horizon, 1)
        needed = self._embedding.rows_needed(horizon) if self.n_inputs_ else 0
        later = self._more_inputs(X, needed, "X")[:needed]
        inputs = self._standard_inputs(np.vstack([self.X_, later]))
        times = len(self.y_) + np.arange(horizon)
        return self._embedding.inputs_at(inputs, times[None])

    def _sample(self, known: Array, n_paths: int, random_state: Any) -> Array:
        rng = check_random_state(self.random_state if random_state is None else random_state)
        paths = self._recursion.sample(self.y_[None], known, n_paths, rng)[0]
        return np.exp(paths) if self.transform_ == "log" else paths

    def _whole_series(self, y: Any, X: Any) -> tuple[Array, Array, int]:
        """A series to test on, its inputs, and how much of it the first forecast knows."""
        values, index, _ = read_series(y)
        if self.transform_ == "log":
            check_positive(values, "y")
        if (X is None) != (self.n_inputs_ == 0):
            raise ValueError("X must be given to backtest if it was given to fit, and only then.")
        inputs = np.empty((len(values), 0)) if X is None else read_inputs(X)[0]
        if inputs.shape != (len(values), self.n_inputs_):
            raise ValueError(
                f"X must have shape {(len(values), self.n_inputs_)}, got {inputs.shape}."
            )
        if index is not None and self._timeline is not None:
            later = Timeline(index)
            if later.index[0] == self._timeline.ahead(1)[0]:
                known = len(self.y_)
                return np.append(self.y_, values), np.vstack([self.X_, inputs]), known
        known = self.n_times_
        begins = len(values) > known and np.array_equal(values[:known], self.y_[:known])
        return values, inputs, known if begins else self.n_past_

    def _refitted(self, values: Array, inputs: Array, origin: int) -> Any:
        model = clone(self)
        model._timeline, model._name, model.n_inputs_ = self._timeline, self._name, self.n_inputs_
        return model._fit_arrays(values[:origin], inputs[:origin])

    def _from(
        self,
        values: Array,
        inputs: Array,
        origins: Array,
        horizon: int,
        method: str,
        n_paths: int,
        rng: Any,
    ) -> Forecasts:
        """Forecasts from origins in a series."""
        inputs = self._standard_inputs(inputs)
        known = self._embedding.inputs_at(inputs, origins[:, None] + np.arange(horizon))
        history = values[origins[:, None] + np.arange(-self.n_past_, 0)]
        if method == "monte_carlo":
            return self._recursion.summary(history, known, n_paths, rng)
        return self._recursion.gaussian(history, known, method)


def default_estimator(rows: Array, targets: Array, random_state: Any) -> RVR | ReducedRankGPR:
    """A linear machine, or a Gaussian process if its evidence is clearly higher; fitted.

    The support of the process is drawn at random: one that is chosen by the targets takes up
    the largest of their errors, and its evidence is high for noise too.

    Parameters
    ----------
    rows : ndarray, (n, D)
    targets : ndarray, (n,)
    random_state : int, RandomState instance or None
        None stands for 0.
    """
    linear = RVR("linear")
    seed = 0 if random_state is None else random_state
    curved = ReducedRankGPR(n_support=256, selection="random", augment=False, random_state=seed)
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


def _names(X: Any) -> list[Any] | None:
    return list(X.columns) if hasattr(X, "columns") else None


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _check_std(estimator: Any, rows: Array) -> None:
    try:
        estimator.predict(rows, return_std=True)
    except TypeError as error:
        raise TypeError(
            f"estimator must have predict(X, return_std=True), as RVR or ReducedRankGPR; "
            f"{estimator!r} does not: {error}"
        ) from error


def check_coverage(coverage: float) -> None:
    """A probability of intervals, or a clear error."""
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}.")


def check_positive(y: Array, name: str) -> None:
    """All values have a logarithm, or a clear error."""
    wrong = np.flatnonzero(y <= 0)
    if wrong.size:
        raise ValueError(
            f"{name} has {y[wrong[0]]:g} at position {wrong[0]}, which has no logarithm; fit "
            "with transform=None."
        )
