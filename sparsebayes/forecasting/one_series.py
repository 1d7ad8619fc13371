"""One series that was learned: its times, inputs, models, and forecasts in the form it came in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._support.batching import batches
from sparsebayes._support.validation import whole_number
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.fitting import Fitted, as_seasons, mixture, single, usable
from sparsebayes.forecasting.forecasts import ForecastMixture, Forecasts
from sparsebayes.forecasting.lag_choice import as_choice
from sparsebayes.forecasting.lags import Embedding, as_exog_lags
from sparsebayes.forecasting.tables.exogenous import Exogenous, training_inputs
from sparsebayes.forecasting.tables.timeline import (
    Timeline,
    check_range,
    given_index,
    read_inputs,
    read_series,
)

Array = np.ndarray
_LARGEST = 1e100  # size of values


@dataclass(frozen=True)
class OneSeries:
    """A series, and what was learned of it.

    Attributes
    ----------
    y, X : ndarray, (N,) and (N, K)
    name : object
    timeline : Timeline or None
    exogenous : Exogenous
    embedding : Embedding
        Of the inputs.
    fitted : Fitted
    n_times : int
        How many values were learned from.
    """

    y: Array
    X: Array
    name: Any
    timeline: Timeline | None
    exogenous: Exogenous
    embedding: Embedding
    fitted: Fitted
    n_times: int

    def factors(self, horizon: int) -> Array:
        """Of the standard deviations."""
        steps = np.minimum(np.arange(horizon), len(self.fitted.factors) - 1)
        return self.fitted.factors[steps]

    def mixture(
        self, record: Record, origins: Array, horizon: int, method: str, with_cov: bool = False
    ) -> ForecastMixture:
        """Forecasts from origins in a record."""
        found = self.fitted.combination.forecasts(record, origins, horizon, method, with_cov)
        return found.widened(self.factors(horizon))

    def ahead(self, horizon: int, X: Any, method: str, with_cov: bool = False) -> ForecastMixture:
        """Forecasts of the next steps."""
        end = np.array([len(self.y)])
        return self.mixture(self._future(horizon, X), end, horizon, method, with_cov)

    def paths(self, horizon: int, X: Any, n_paths: int, rng: Any) -> Array:
        """Paths (n_paths, horizon) of the next steps."""
        record, factors = self._future(horizon, X), self.factors(horizon)
        return self.fitted.combination.sample(record, horizon, n_paths, factors, rng)

    def _future(self, horizon: int, X: Any) -> Record:
        """The record with the inputs of the next steps."""
        needed = self.embedding.rows_needed(horizon) if self.exogenous.count else 0
        lags = list(self.embedding.exog_lags)
        later = self.exogenous.read_later(X, needed, "X", lags, self.timeline)[:needed]
        inputs = np.vstack([self.X, later])
        if not self.exogenous.count:
            inputs = np.empty((len(self.y) + horizon, 0))
        return replace(self.fitted.record, inputs=self._lagged(inputs))

    def _lagged(self, X: Array) -> Array:
        return self.embedding.lagged(self.exogenous.standardised(X))

    def as_series(self, values: Array) -> Any:
        """Values of the next steps as a Series, if the series was one."""
        return values if self.timeline is None else self.timeline.series_ahead(values, self.name)

    def as_frame(self, values: Array, columns: Any = None) -> Any:
        """Several values of each of the next steps, (horizon, K), as a DataFrame."""
        assert self.timeline is not None
        return self.timeline.frame_ahead(values, columns)

    def longer(self, y_new: Any, X_new: Any) -> OneSeries:
        """With later values; the models stay as they were."""
        values, index, _ = read_series(y_new, "y_new", 0, complete=False)
        self._check_values(values, "y_new")
        timeline = self.timeline
        if timeline is not None:
            timeline, values = timeline.later(index, values, "y_new")
        times = None if timeline is None else timeline.index[len(self.y) :]
        if X_new is None and self.exogenous.count:
            self.exogenous.read_later(None, len(values), "X_new", [0], None)  # complains
        if X_new is not None and not self.exogenous.count:
            self.exogenous.read_later(X_new, 0, "X_new", [0], None)
        inputs, columns = training_inputs(
            X_new, len(values), times, y=values, given=given_index(y_new), name="X_new"
        )
        self.exogenous.check(inputs, columns, "X_new")
        y, X = np.concatenate([self.y, values]), np.vstack([self.X, inputs])
        record = self.fitted.guessed(Record(y, self._lagged(X)))
        combination = self.fitted.combination.followed(record)
        fitted = replace(self.fitted, record=record, combination=combination)
        return replace(self, y=y, X=X, timeline=timeline, fitted=fitted)

    def _check_values(self, values: Array, name: str) -> None:
        for model in self.fitted.combination.models:
            check_range(values, model.transform, name)

    def whole(self, y: Any, X: Any, n_past: int) -> tuple[Array, Array, int]:
        """A series to test on, its inputs, and how much of it the first forecast knows."""
        values, index, _ = read_series(y)
        self._check_values(values, "y")
        count = self.exogenous.count
        if (X is None) != (count == 0):
            raise ValueError("X must be given to backtest if it was given to fit, and only then.")
        inputs = np.empty((len(values), 0)) if X is None else read_inputs(X)[0]
        if inputs.shape != (len(values), count):
            raise ValueError(f"X must have shape {(len(values), count)}, got {inputs.shape}.")
        timeline = None if index is None else self.timeline
        if timeline is not None and Timeline(index).index[0] == timeline.ahead(1)[0]:
            return np.append(self.y, values), np.vstack([self.X, inputs]), len(self.y)
        known = self.n_times
        begins = len(values) > known and np.array_equal(
            values[:known], self.y[:known], equal_nan=True
        )
        return values, inputs, known if begins else n_past

    def from_origins(
        self,
        y: Array,
        X: Array,
        origins: Array,
        horizon: int,
        method: str,
        n_paths: int,
        rng: Any,
    ) -> list[Forecasts | ForecastMixture]:
        """Forecasts from origins in a series, some at a time."""
        record = self.fitted.guessed(Record(y, self._lagged(X)))
        combination = self.fitted.combination
        if method == "monte_carlo":
            return [
                combination.summary(record, origin, horizon, n_paths, self.factors(horizon), rng)
                for origin in origins.tolist()
            ]
        return [
            self.mixture(record, origins[part], horizon, method)
            for part in batches(len(origins), 8 * horizon**2 * len(combination.models))
        ]


def read_training(y: Any, X: Any) -> tuple[Array, Array, list[Any] | None, Timeline | None, Any]:
    """Values, inputs and their names, times, and name of a series to learn from."""
    values, index, name = read_series(y)
    timeline = None if index is None else Timeline(index)
    inputs, columns = training_inputs(X, len(values), index, y=values, given=given_index(y))
    return values, inputs, columns, timeline, name


def learn(
    options: Any,
    y: Array,
    X: Array,
    columns: list[Any] | None,
    timeline: Timeline | None,
    name: Any,
) -> OneSeries:
    """Fit what a Forecaster asks for to a series.

    Parameters
    ----------
    options : Forecaster
    y, X : ndarray, (N,) and (N, K)
    columns : list or None
        Names of the inputs.
    timeline : Timeline or None
        It may be longer than the series.
    name : object
    """
    _check_size(y)
    given = as_choice(options.lags, options.step, options.difference, options.transform)
    if given.transform is not None:
        check_range(y, given.transform, "y")
    lagged = as_exog_lags(options.exog_lags, options.step)
    embedding = Embedding((1,), lagged if X.shape[1] else ())
    exogenous = Exogenous.of(X, columns)
    record = Record(y, embedding.lagged(exogenous.standardised(X)))
    dated = None if timeline is None else timeline.seasons()
    periods = usable(record, dated, as_seasons(options.seasons))
    step = whole_number("step", options.step)
    if options.estimator is None and step == 1 and given.lags is given.periods is None:
        fitted = mixture(
            record, periods, given, embedding.exog_lags, options.calibrate, options.random_state
        )
    else:
        fitted = single(
            record,
            round(periods[0]) if periods else 1,
            given,
            embedding.exog_lags,
            step,
            options.estimator,
            options.calibrate,
            options.random_state,
        )
    return OneSeries(y, X, name, timeline, exogenous, embedding, fitted, len(y))


def _check_size(y: Array) -> None:
    """Squares and products of the values are numbers, or a clear error."""
    largest = float(np.max(np.abs(y[np.isfinite(y)]), initial=0.0))
    if largest > _LARGEST or 0.0 < largest < 1.0 / _LARGEST:
        raise ValueError(
            f"y has values of size {largest:g}, whose squares are no numbers; give it in other "
            f"units, for instance y / {largest:.0e}."
        )


def learn_again(
    forecaster: Any, one: OneSeries, values: Array, inputs: Array, origins: Array
) -> list[tuple[OneSeries, Array]]:
    """A model for each of some origins, of the values before it."""
    rest, models = (one.exogenous.columns, one.timeline, one.name), []
    for origin in origins:
        try:
            model = learn(forecaster, values[:origin], inputs[:origin], *rest)
        except ValueError as error:
            raise ValueError(
                f"refit=True finds no model of the first {origin} values ({error}); give a larger "
                "start."
            ) from error
        models.append((model, np.array([origin])))
    return models
