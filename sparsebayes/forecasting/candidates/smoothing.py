"""Exponential smoothing, as state-space models with one error a step.

Of each kind of trend, with and without seasons, the gains are weighted by the evidence of the
values before an origin, and give one Gaussian forecast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.forecasting.candidates.innovations import (
    TRENDS,
    ErrorScale,
    Filtered,
    Gains,
    LevelState,
    SmoothingDesign,
    ahead,
    run,
)
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.seasons import Seasons
from sparsebayes.forecasting.candidates.trial import GaussianPaths, PastTrial, gaussian, matched
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.transforms import ValueTransform

Array = np.ndarray

_LONG = 600  # values by which the gains of a longer series are chosen
_KEPT, _LEAST = 6, 0.02  # gains of a kind; the least probable, as part of the likeliest


@dataclass(frozen=True)
class Units:
    """What the values of a series are measured by before they are filtered.

    Attributes
    ----------
    transform : ValueTransform
    center, scale : float
        Of the transformed series: its first value, and the spread of its differences.
    """

    transform: ValueTransform
    center: float
    scale: float

    @classmethod
    def of(cls, values: Array, transform: ValueTransform) -> Units:
        known = transform.of(values[np.isfinite(values)])
        spread = float(np.std(np.diff(known))) if len(known) > 1 else 0.0
        return cls(transform, float(known[0]), spread if spread > 0 else 1.0)

    def measured(self, values: Array) -> Array:
        return (self.transform.of(values) - self.center) / self.scale


@dataclass(frozen=True)
class Smoothing(GaussianPaths):
    """Smoothing of a function of a series with a few gains, weighted.

    Attributes
    ----------
    units : Units
    seasons : Seasons
        Those of the design; whether models have them is in `gains`.
    gains : Gains
    share : ndarray, (B,)
        They sum to 1.
    variance : ndarray, (B,)
        Of the errors, in the units of the measured series.
    time : int
        How many values `state` has seen.
    state : LevelState
    """

    units: Units
    seasons: Seasons
    gains: Gains
    share: Array
    variance: Array
    time: int
    state: LevelState

    def __str__(self) -> str:
        kind = TRENDS[int(self.gains.trend[0])]
        season = f", season {self.seasons}" if self.gains.seasonal[0] else ""
        return f"{self.units.transform} smoothing, {kind}{season}".strip()

    @property
    def transform(self) -> ValueTransform:
        return self.units.transform

    @property
    def n_past(self) -> int:
        """How many values find the state."""
        return self.state.mean.shape[1] + 1

    def forecasts(
        self, record: Record, origins: Array, horizon: int, method: str, with_cov: bool = True
    ) -> Forecasts:
        """From origins in a record, with the gains and the noise learned."""
        states = {self.time: self.state}
        if set(np.asarray(origins).tolist()) != {self.time} or len(record) != self.time:
            values, design = self._filtered(record, 0)
            states = run(values, self.gains, design, origins).states
        models = [self] * len(origins)
        return _from_states(self, record, origins, horizon, states, models, with_cov)

    def followed(self, record: Record) -> Smoothing:
        """Ready to go on from the end of a longer record."""
        values, design = self._filtered(record, self.time)
        found = run(values, self.gains, design, np.array([len(values)]), self.state)
        return replace(self, time=len(record), state=found.states[len(values)])

    def placed(self, record: Record) -> Smoothing:
        """Ready to go on from the end of another record."""
        values, design = self._filtered(record, 0)
        found = run(values, self.gains, design, np.array([len(values)]))
        return replace(self, time=len(record), state=found.states[len(values)])

    def _filtered(self, record: Record, first: int) -> tuple[Array, SmoothingDesign]:
        times = np.arange(first, len(record))
        design = SmoothingDesign.of(self.seasons, times, record.inputs[first : len(record)])
        return self.units.measured(record.values[first:]), design


def _from_states(
    frame: Smoothing,
    record: Record,
    origins: Array,
    horizon: int,
    states: dict[int, LevelState],
    models: Sequence[Smoothing],
    with_cov: bool,
) -> Forecasts:
    """One Gaussian for each origin, from the state there and the model of it."""
    means, covs, shares, owner = [], [], [], []
    inputs = record.ahead(origins, horizon)
    design = SmoothingDesign.of(frame.seasons, np.empty(0, dtype=int), inputs[:0, 0])
    for i, (origin, model) in enumerate(zip(np.asarray(origins).tolist(), models, strict=True)):
        later = np.hstack([frame.seasons.rows(origin + np.arange(horizon)), inputs[i]])
        mean, cov = ahead(states[origin], model.gains, design, later, model.variance, with_cov)
        means.append(mean)
        covs.append(cov)
        shares.append(model.share)
        owner += [i] * len(mean)
    middle, within = matched(
        np.concatenate(means),
        np.concatenate(covs),
        np.concatenate(shares),
        np.array(owner),
        len(models),
    )
    units = frame.units
    within *= units.scale**2
    middle = units.center + units.scale * middle
    return gaussian(middle, within, units.transform)


def try_out(
    record: Record,
    origins: Array,
    horizon: int,
    transforms: Sequence[ValueTransform],
    seasons: Seasons,
) -> list[PastTrial]:
    """Smoothing of each transform with each kind of trend, with and without seasons.

    Parameters
    ----------
    record : Record
    origins : ndarray of int
        In the past, in increasing order.
    horizon : int
    transforms : sequence of ValueTransform
    seasons : Seasons
        None of them if it is empty.
    """
    trials = []
    for transform, gains, found, noise in filtered_by_all(record, origins, transforms, seasons):
        units = Units.of(record.values, transform)
        for trend in range(len(TRENDS)):
            for seasonal in (False, True) if seasons.size else (False,):
                group = np.flatnonzero((gains.trend == trend) & (gains.seasonal == seasonal))
                models = [
                    _likeliest(units, seasons, gains, found, noise, group, time)
                    for time in (*origins.tolist(), len(record))
                ]
                states = {model.time: model.state for model in models}
                past = _from_states(
                    models[-1], record, origins, horizon, states, models[:-1], with_cov=False
                )
                trials.append(PastTrial(models[-1], past))
    return trials


def filtered_by_all(
    record: Record, origins: Array, transforms: Sequence[ValueTransform], seasons: Seasons
) -> list[tuple[ValueTransform, Gains, Filtered, ErrorScale]]:
    """All gains, or for a long series those that its end finds likely, for each transform."""
    size = len(record)
    wanted = np.append(origins, size)
    gains, results = Gains.grid(bool(seasons.size)), []
    first = 2 + seasons.size + record.inputs.shape[1]
    design = SmoothingDesign.of(seasons, np.arange(size), record.inputs[:size])
    for transform in transforms:
        values, kept = Units.of(record.values, transform).measured(record.values), gains
        if size > _LONG:
            end = SmoothingDesign(design.rows[-_LONG:], design.shares[-_LONG:], seasons)
            found = run(values[-_LONG:], gains, end, np.empty(0))
            evidence = ErrorScale.of(found, first).evidence[-1]
            kept = gains[_likely(gains, evidence)]
        found = run(values, kept, design, wanted)
        results.append((transform, kept, found, ErrorScale.of(found, first)))
    return results


def _likely(gains: Gains, evidence: Array) -> Array:
    """The likeliest few of each kind of trend and season."""
    kept = []
    for trend in range(len(TRENDS)):
        for seasonal in np.unique(gains.seasonal):
            group = np.flatnonzero((gains.trend == trend) & (gains.seasonal == seasonal))
            kept.append(group[np.argsort(-evidence[group], kind="stable")[:_KEPT]])
    return np.sort(np.concatenate(kept))


def _likeliest(
    units: Units,
    seasons: Seasons,
    gains: Gains,
    found: Filtered,
    noise: ErrorScale,
    group: Array,
    time: int,
) -> Smoothing:
    """The models of a group to which the values before `time` give weight."""
    evidence = noise.evidence[time, group]
    best = np.argsort(-evidence, kind="stable")[:_KEPT]
    share = np.exp(evidence[best] - evidence[best[0]])
    best, share = best[share > _LEAST], share[share > _LEAST]
    chosen, state = group[best], found.states[time]
    return Smoothing(
        units,
        seasons,
        gains[chosen],
        share / share.sum(),
        noise.variance(time)[chosen],
        time,
        LevelState(state.mean[chosen], state.cov[chosen]),
    )
