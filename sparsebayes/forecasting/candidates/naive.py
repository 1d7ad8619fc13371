"""The seasonal naive forecast: what the season before brought."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.trial import GaussianPaths, PastTrial, Windowed, gaussian
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.transforms import ValueTransform

Array = np.ndarray
_SMALLEST = np.finfo(np.float64).tiny ** 0.5


@dataclass(frozen=True)
class Naive(Windowed, GaussianPaths):
    """The value of a season ago; errors of each season add to those of the one before.

    Attributes
    ----------
    season : int
        1 repeats the last value.
    variance : float
        Of the differences over a season.
    transform : ValueTransform
        Of the series whose values are taken.
    """

    season: int
    variance: float
    transform: ValueTransform

    def __str__(self) -> str:
        return "last value" if self.season == 1 else f"season {self.season} ago"

    @property
    def n_past(self) -> int:
        """How many values a forecast needs."""
        return self.season

    def forecasts(
        self, record: Record, origins: Array, horizon: int, method: str, with_cov: bool = True
    ) -> Forecasts:
        """From origins in a record."""
        variances = np.full(len(origins), self.variance)
        return self._from(record, origins, horizon, variances, with_cov)

    def _from(
        self, record: Record, origins: Array, horizon: int, variances: Array, with_cov: bool
    ) -> Forecasts:
        back, steps = np.asarray(origins)[:, None] - self.season, np.arange(horizon)
        mean = self.transform.of(record.filled)[back + steps % self.season]
        if not with_cov:
            return gaussian(mean, variances[:, None] * (steps // self.season + 1), self.transform)
        same = (steps[:, None] - steps) % self.season == 0
        common = np.minimum.outer(steps, steps) // self.season + 1.0
        return gaussian(mean, variances[:, None, None] * np.where(same, common, 0), self.transform)


def try_out(
    record: Record, origins: Array, horizon: int, season: int, transform: ValueTransform
) -> PastTrial:
    """The naive forecast of a season, with errors as large as they were before each origin."""
    values = transform.of(record.values)
    squares = (values[season:] - values[:-season]) ** 2
    known = np.isfinite(squares)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, squares, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    ends = np.append(origins, len(record)) - season
    variances = np.maximum(sums[ends] / np.maximum(counts[ends], 1), _SMALLEST)
    model = Naive(season, float(variances[-1]), transform)
    return PastTrial(model, model._from(record, origins, horizon, variances[:-1], False))
