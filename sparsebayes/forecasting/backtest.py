"""Forecasts from many origins of a series, scored by the number of steps ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes._support.validation import as_names, as_random_state, check_choice
from sparsebayes.forecasting.forecasts import ForecastMixture, Forecasts
from sparsebayes.forecasting.propagation import METHODS

if TYPE_CHECKING:
    from sparsebayes.forecasting.one_series import OneSeries

Array = np.ndarray
COLUMNS = ("nlpd", "crps", "coverage", "absolute_error", "squared_error")


@dataclass(frozen=True)
class PathScores:
    """Averages over the origins for each number of steps ahead, all of shape (horizon,).

    Attributes
    ----------
    nlpd : ndarray
        Negative log density of the truth, in nats.
    crps : ndarray
        Continuous ranked probability score, in the units of the series.
    coverage : ndarray
        Share of the truth inside the central interval.
    absolute_error, squared_error : ndarray
        Of the mean.
    mean, std : ndarray of shape (n_origins, horizon)
        The forecasts themselves.
    """

    nlpd: Array
    crps: Array
    coverage: Array
    absolute_error: Array
    squared_error: Array
    mean: Array = field(repr=False)
    std: Array = field(repr=False)


def score(
    parts: Sequence[Forecasts | ForecastMixture], truth: Array, coverage: float
) -> PathScores:
    """Scores of forecasts that are given in parts, in the order of the rows of `truth`."""
    ends = np.cumsum([len(part) for part in parts])[:-1]
    rows = []
    for part, came in zip(parts, np.split(truth, ends), strict=True):
        lower, upper = part.interval(coverage)
        inside = np.where(np.isfinite(came), (lower <= came) & (came <= upper), np.nan)
        rows.append((*part.losses(came), inside, *part.levels()))
    nlpd, crps, inside, mean, std = (np.vstack(column) for column in zip(*rows, strict=True))
    return PathScores(
        nlpd=_average(nlpd),
        crps=_average(crps),
        coverage=_average(inside),
        absolute_error=_average(np.abs(truth - mean)),
        squared_error=_average((truth - mean) ** 2),
        mean=mean,
        std=std,
    )


def _average(scores: Array) -> Array:
    """Over the origins, of those after which a value is known; NaN where none is."""
    known = np.isfinite(scores)
    sums = np.where(known, scores, 0.0).sum(axis=0)
    return np.divide(
        sums, known.sum(axis=0), out=np.full(len(sums), np.nan), where=known.any(axis=0)
    )


@dataclass(frozen=True)
class Backtest:
    """What `Forecaster.backtest` found; ``print`` shows a table.

    The scores of the first method are attributes (`nlpd`, `crps`, `coverage`, `absolute_error`,
    `squared_error`, each of shape (horizon,)); those of any method are ``result[method]``.

    Parameters
    ----------
    origins : ndarray of int, (n_origins,)
        How many values of the series each forecast knew.
    truth : ndarray, (n_origins, horizon)
        What came.
    nominal : float
        Probability inside the intervals whose coverage is counted.
    scores : dict from method to PathScores
        Averages over the origins, for each number of steps ahead.

    See Also
    --------
    Forecaster : Its method `backtest` makes these.
    sparsebayes.scores : The scores by themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import Forecaster
    >>> y = np.sin(0.4 * np.arange(120)) + 0.1 * np.random.default_rng(0).standard_normal(120)
    >>> found = Forecaster(lags=5).fit(y[:100]).backtest(y, horizon=3)
    >>> found.n_origins, found.absolute_error.round(2)
    (18, array([0.12, 0.1 , 0.11]))
    """

    origins: Array
    truth: Array = field(repr=False)
    nominal: float
    scores: dict[str, PathScores] = field(repr=False)

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order in which they were asked for."""
        return list(self.scores)

    @property
    def n_origins(self) -> int:
        """How many forecasts were made by each method."""
        return len(self.origins)

    @property
    def horizon(self) -> int:
        """The number of steps ahead."""
        return int(self.truth.shape[1])

    def __getitem__(self, method: str) -> PathScores:
        if method not in self.scores:
            raise KeyError(f"no forecasts by {method!r}, only by {self.methods}")
        return self.scores[method]

    @property
    def nlpd(self) -> Array:
        """Negative log density of the truth at each step ahead, in nats."""
        return self.scores[self.methods[0]].nlpd

    @property
    def crps(self) -> Array:
        """Continuous ranked probability score at each step ahead."""
        return self.scores[self.methods[0]].crps

    @property
    def coverage(self) -> Array:
        """Share of the truth inside the intervals at each step ahead."""
        return self.scores[self.methods[0]].coverage

    @property
    def absolute_error(self) -> Array:
        """Mean absolute error of the mean at each step ahead."""
        return self.scores[self.methods[0]].absolute_error

    @property
    def squared_error(self) -> Array:
        """Mean squared error of the mean at each step ahead."""
        return self.scores[self.methods[0]].squared_error

    def to_frame(self) -> Any:
        """Put all scores into a table.

        Returns
        -------
        DataFrame
            A row for each method and number of steps ahead.
        """
        pandas = require("pandas", "Backtest.to_frame")
        steps = range(1, self.horizon + 1)
        frames = [
            pandas.DataFrame(
                {name: getattr(scores, name) for name in COLUMNS},
                index=pandas.MultiIndex.from_product([[method], steps], names=["method", "step"]),
            )
            for method, scores in self.scores.items()
        ]
        return pandas.concat(frames)

    def __str__(self) -> str:
        lines = [
            f"{self.n_origins} origins, {self.horizon} steps ahead, "
            f"intervals of {100 * self.nominal:g} %",
            f"{'method':<12} {'step':>5} {'nlpd':>10} {'crps':>10} {'coverage':>9} "
            f"{'abs. error':>11} {'sq. error':>11}",
        ]
        for method, scores in self.scores.items():
            for k in self._rows():
                lines.append(
                    f"{method:<12} {k + 1:>5} {scores.nlpd[k]:>10.4g} {scores.crps[k]:>10.4g} "
                    f"{scores.coverage[k]:>9.3f} {scores.absolute_error[k]:>11.4g} "
                    f"{scores.squared_error[k]:>11.4g}"
                )
        return "\n".join(lines)

    def _rows(self) -> list[int]:
        """All steps, or some ten of many."""
        if self.horizon <= 12:
            return list(range(self.horizon))
        return sorted({int(k) for k in np.geomspace(1, self.horizon, 10).round() - 1})


def as_methods(methods: Any) -> list[str]:
    """Names of ways to propagate uncertainty, or a clear error."""
    names = as_names("methods", methods)
    for name in names:
        check_choice("methods", name, METHODS)
    return names


def origins_of(n_values: int, first: int, horizon: int, step: int) -> Array:
    """How many values each forecast of a series knows, or a clear error if there is none."""
    origins = np.arange(first, n_values - horizon + 1, step)
    if not origins.size:
        raise ValueError(
            f"The series has {n_values} values, too few for a forecast of {horizon} steps after "
            f"the first {first}; give a longer series, or a smaller start or horizon."
        )
    return origins


def score_methods(
    models: list[tuple[OneSeries, Array]],
    values: Array,
    inputs: Array,
    horizon: int,
    methods: list[str],
    coverage: float,
    n_paths: int,
    random_state: Any,
) -> Backtest:
    """Forecast a series by each method, from the origins that each model is for, and score."""
    origins = np.concatenate([known for _, known in models])
    truth = values[origins[:, None] + np.arange(horizon)]
    scores = {}
    for method in methods:
        rng = as_random_state(random_state)
        found = [
            part
            for model, known in models
            for part in model.from_origins(values, inputs, known, horizon, method, n_paths, rng)
        ]
        scores[method] = score(found, truth, coverage)
    return Backtest(origins, truth, coverage, scores)
