"""Scores of forecasts: scaled errors, scores of quantiles, coverage; means of ratios."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.forecasters.protocol import LEVELS
from benchmarks.forecasters.stored import Outcome

Array = np.ndarray

LEAST = 0.01  # scaled errors below it count as this in ratios: a series that ends in zeros


def naive_error(y: Array, season: int) -> float:
    """The mean absolute error of the seasonal naive forecast within `y`; NaN are left out."""
    return float(np.nanmean(np.abs(y[season:] - y[:-season])))


def quantile_score(truth: Array, quantiles: Array, levels: Array = LEVELS) -> Array:
    """Twice the pinball loss, averaged over the levels, an estimate of the CRPS; (steps,)."""
    above = truth - quantiles
    loss = np.maximum(levels[:, None] * above, (levels[:, None] - 1.0) * above)
    return 2.0 * loss.mean(axis=0)


def inside(truth: Array, quantiles: Array, coverage: float = 0.95) -> Array:
    """Whether each value lies in the central interval of this coverage."""
    first = int(np.argmin(np.abs(LEVELS - (0.5 - coverage / 2))))
    return (quantiles[first] <= truth) & (truth <= quantiles[-1 - first])


@dataclass(frozen=True)
class Scores:
    """Of one model on one series, over all origins.

    Attributes
    ----------
    mase, crps : float
        The mean absolute error and the quantile score, in units of the naive error.
    inside : ndarray of shape (origins, steps)
        Whether the 95 % intervals hold the values.
    seconds : float
        Of one fit and forecast, the mean.
    """

    mase: float
    crps: float
    inside: Array
    seconds: float

    @property
    def coverage(self) -> float:
        """The share of values inside."""
        return float(self.inside.mean())

    @property
    def late_coverage(self) -> float:
        """The same in the last third of the steps."""
        steps = self.inside.shape[1]
        return float(self.inside[:, steps - max(1, steps // 3) :].mean())


def scored(outcomes: Iterable[tuple[Outcome, Array, float]]) -> Scores:
    """Scores of forecasts, each with the true values and the naive error of what was known."""
    errors, losses, hits, seconds = [], [], [], []
    for found, truth, unit in outcomes:
        errors.append(np.mean(np.abs(found.mean - truth)) / unit)
        losses.append(np.mean(quantile_score(truth, found.quantiles)) / unit)
        hits.append(inside(truth, found.quantiles))
        seconds.append(found.seconds)
    mase, crps, time = (float(np.mean(values)) for values in (errors, losses, seconds))
    return Scores(mase, crps, np.array(hits), time)


def percent_error(truth: Array, mean: Array) -> float:
    """The mean absolute percentage error (MAPE)."""
    return 100.0 * float(np.mean(np.abs(mean / truth - 1.0)))


def ratio(other: float, ours: float) -> float:
    """`other` over `ours`, both at least `LEAST`."""
    return max(other, LEAST) / max(ours, LEAST)


def geometric_mean(values: Iterable[float]) -> float | None:
    """The exponential of the mean logarithm; None of none."""
    logs = np.log(np.array(list(values), float))
    return float(np.exp(logs.mean())) if logs.size else None
