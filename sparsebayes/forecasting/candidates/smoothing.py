"""Exponential smoothing: level, trend and seasons that drift, all of a grid of gains at once.

Every model is in innovation form, with the state x and one error a step,

    y_t = h_t·F x_{t−1} + e_t,    x_t = F x_{t−1} + g_t e_t,    e_t ~ N(0, σ²),

level and slope first, then what stays where no gain moves it: seasons and weights of inputs. That
is what a moving average of the differences stands for. Beginnings are unknown: the state has a
Gaussian distribution, wide at first, in units of σ². A missing value leaves out the correction, and
the covariance grows by what the errors may have moved. σ² has a Gamma prior, so that densities of
the next value are Student's; their product is the evidence by which the gains are weighted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from sparsebayes.forecasting.candidates.record import Guesses, Record
from sparsebayes.forecasting.candidates.seasons import Seasons
from sparsebayes.forecasting.candidates.trial import Trial, matched
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.transforms import Transform

Array = np.ndarray

_WIDE = 1e6  # variance of what is unknown, in units of σ²
_DEGREES, _SCALE = 1.0, 0.1  # of the prior of σ², in units of the variance of the differences
_LEVELS = (0.02, 0.1, 0.25, 0.5, 0.75, 0.95)
_SLOPES = (0.02, 0.1)  # of the gain of the level
_DAMPINGS = (0.8, 0.93)
_SEASONS = (0.0, 0.1, 0.35, 0.8)  # of what the level leaves

_LONG = 600  # values by which the gains of a longer series are chosen
_KEPT, _LEAST = 6, 0.02  # gains of a kind; the least probable, as part of the likeliest
_CARRIED = 60  # missing values that later ones correct

NO_TREND, DAMPED, TREND = "no trend", "damped trend", "trend"
TRENDS = (NO_TREND, DAMPED, TREND)


@dataclass(frozen=True)
class Gains:
    """Models that differ in how fast they follow, all of shape (B,).

    Attributes
    ----------
    level, slope, season : ndarray
        What a part of the state takes of an error.
    damping : ndarray
        Of the slope at each step; 0 without trend, 1 with a lasting one.
    trend : ndarray of int
        The place in `TRENDS`.
    seasonal : ndarray of bool
        Whether there are seasons.
    """

    level: Array
    slope: Array
    season: Array
    damping: Array
    trend: Array
    seasonal: Array

    @classmethod
    def grid(cls, seasonal: bool) -> Gains:
        """All combinations that are looked at."""
        rows = []
        for moving in (None, *_SEASONS) if seasonal else (None,):
            for level in _LEVELS:
                season = 0.0 if moving is None else moving * (1.0 - level)
                kinds = [(0.0, 0.0, 0), (0.0, 1.0, 2)]
                for slope in _SLOPES:
                    kinds += [(slope, damping, 1) for damping in _DAMPINGS]
                    kinds.append((slope, 1.0, 2))
                for slope, damping, trend in kinds:
                    rows.append((level, level * slope, season, damping, trend, moving is not None))
        level, slope, season, damping, trend, has = np.array(rows).T
        return cls(level, slope, season, damping, trend.astype(int), has.astype(bool))

    def __len__(self) -> int:
        return len(self.level)

    def __getitem__(self, chosen: Array) -> Gains:
        return Gains(
            *(getattr(self, name)[chosen] for name in self.__dataclass_fields__)
        )


@dataclass(frozen=True)
class State:
    """Where models stand before a step.

    Attributes
    ----------
    mean : ndarray, (B, k)
    cov : ndarray, (B, k, k)
        In units of σ².
    """

    mean: Array
    cov: Array


@dataclass(frozen=True)
class Filtered:
    """What the filter found.

    Attributes
    ----------
    errors, variances : ndarray, (N, B)
        Of the next value, the latter in units of σ²; errors of missing values are NaN.
    states : dict of int to State
        Before the steps asked for.
    """

    errors: Array
    variances: Array
    states: dict[int, State]


@dataclass(frozen=True)
class Design:
    """What the steps of a series have in common for all models.

    Attributes
    ----------
    rows : ndarray, (N, k − 2)
        Seasons, then inputs.
    shares : ndarray, (N, k − 2)
        How an error is given to the seasons.
    seasons : Seasons
    """

    rows: Array
    shares: Array
    seasons: Seasons

    @classmethod
    def of(cls, seasons: Seasons, times: Array, inputs: Array) -> Design:
        shares = np.hstack([seasons.shares(times), np.zeros(inputs.shape)])
        return cls(np.hstack([seasons.rows(times), inputs]), shares, seasons)

    @property
    def size(self) -> int:
        return 2 + self.rows.shape[1]


def beginning(gains: Gains, design: Design) -> State:
    """The state before anything is known."""
    size, waves = design.size, design.seasons.size
    mean, cov = np.zeros((len(gains), size)), np.zeros((len(gains), size, size))
    cov[:, 0, 0] = _WIDE
    cov[gains.trend > 0, 1, 1] = _WIDE
    inputs = np.arange(2 + waves, size)
    cov[:, inputs, inputs] = _WIDE
    cov[gains.seasonal, 2 : 2 + waves, 2 : 2 + waves] = _WIDE * design.seasons.prior()
    return State(mean, cov)


def run(
    values: Array, gains: Gains, design: Design, wanted: Array, start: State | None = None
) -> Filtered:
    """Filter values (N,), or (N, B) where models have values of their own."""
    state = beginning(gains, design) if start is None else start
    mean, cov = state.mean.copy(), state.cov.copy()
    each = values if values.ndim == 2 else values[:, None]
    known = np.isfinite(each[:, 0])
    errors, variances = np.full((len(each), len(gains)), np.nan), np.ones((len(each), len(gains)))
    damping, wide = gains.damping, gains.damping[:, None]
    trending, drifting = bool((gains.trend > 0).any()), bool((gains.season > 0).any())
    steady = np.zeros(mean.shape)
    steady[:, 0], steady[:, 1] = gains.level, gains.slope
    corner = steady[:, :2, None] * steady[:, None, :2]
    states, places = {}, [np.flatnonzero(row) + 2 for row in design.rows]
    seasonal = gains.season[:, None]
    wanted = set(np.asarray(wanted).tolist())
    for t in range(len(each)):
        if t in wanted:
            states[t] = State(mean.copy(), cov.copy())
        if trending:
            mean[:, 0] += damping * mean[:, 1]
            mean[:, 1] *= damping
            cov[:, 0] += wide * cov[:, 1]
            cov[:, :, 0] += wide * cov[:, :, 1]
            cov[:, 1] *= wide
            cov[:, :, 1] *= wide
        at, row = places[t], design.rows[t, places[t] - 2]
        # cov(x, y) and the variance of y
        if at.size == 1:
            seen = cov[:, :, 0] + row[0] * cov[:, :, at[0]]
        elif at.size:
            seen = cov[:, :, 0] + cov[:, :, at] @ row
        else:
            seen = cov[:, :, 0].copy()
        if known[t]:
            variance = 1.0 + seen[:, 0] + seen[:, at] @ row
            error = each[t] - mean[:, 0] - mean[:, at] @ row
            seen += steady
            if drifting:
                seen[:, at] += seasonal * design.shares[t, at - 2]
            mean += seen * (error / variance)[:, None]
            seen /= np.sqrt(variance)[:, None]
            cov -= seen[:, :, None] * seen[:, None, :]
            errors[t], variances[t] = error, variance
        cov[:, :2, :2] += corner
        if drifting:
            moved = seasonal * design.shares[t, at - 2]
            cov[:, at[:, None], at] += moved[:, :, None] * moved[:, None, :]
            both = steady[:, :2, None] * moved[:, None, :]
            cov[:, :2, at] += both
            cov[:, at, :2] += both.transpose(0, 2, 1)
    if len(each) in wanted:
        states[len(each)] = State(mean, cov)
    return Filtered(errors, variances, states)


@dataclass(frozen=True)
class Noise:
    """What is known of σ² before each step, and how probable the values were.

    Attributes
    ----------
    degrees : ndarray, (N + 1,)
    scale : ndarray, (N + 1, B)
    evidence : ndarray, (N + 1, B)
        Log densities of the values before each step, from the first that counts.
    """

    degrees: Array
    scale: Array
    evidence: Array

    @classmethod
    def of(cls, found: Filtered, first: int) -> Noise:
        """Values before number `first` only find the state."""
        squares = found.errors**2 / found.variances
        counted = np.isfinite(squares[:, 0])
        counted[np.flatnonzero(counted)[:first]] = False
        squares = np.where(counted[:, None], squares, 0.0)
        degrees = _DEGREES + np.concatenate([[0.0], np.cumsum(counted)])
        sums = np.vstack([np.zeros(squares.shape[1]), np.cumsum(squares, axis=0)])
        scale = (_DEGREES * _SCALE + sums) / degrees[:, None]
        nu, before = degrees[:-1, None], scale[:-1]
        density = (
            gammaln(0.5 * nu + 0.5)
            - gammaln(0.5 * nu)
            - 0.5 * np.log(np.pi * nu * before * found.variances)
            - 0.5 * (nu + 1.0) * np.log1p(squares / (nu * before))
        )
        density = np.where(counted[:, None], density, 0.0)
        evidence = np.vstack([np.zeros(squares.shape[1]), np.cumsum(density, axis=0)])
        return cls(degrees, scale, evidence)

    def variance(self, t: int) -> Array:
        """Of the errors after step t, (B,): that of Student's distribution, or nearly."""
        return self.scale[t] * self.degrees[t] / max(self.degrees[t] - 2.0, 1.0)


def responses(gains: Gains, design: Design, horizon: int) -> Array:
    """What an error does to the values 0, ..., horizon − 1 steps after it, (B, horizon)."""
    steps = np.arange(1, horizon)
    slopes = np.cumsum(gains.damping[:, None] ** steps, axis=1)
    later = gains.level[:, None] + gains.slope[:, None] * slopes
    if design.seasons.size:
        # rows(t + j) · shares(t) is a function of j alone.
        back = design.seasons.rows(steps) @ design.seasons.shares(np.zeros(1, dtype=int))[0]
        later = later + gains.season[:, None] * back
    return np.hstack([np.ones((len(gains), 1)), later])


def ahead(
    state: State, gains: Gains, design: Design, later: Array, variance: Array
) -> tuple[Array, Array]:
    """Means (B, H) and covariances (B, H, H) of the next values.

    Parameters
    ----------
    state : State
    gains : Gains
    design : Design
    later : ndarray, (H, k − 2)
        Its rows ahead.
    variance : ndarray, (B,)
        σ².
    """
    horizon = len(later)
    rows = np.empty((len(gains), horizon, design.size))
    rows[:, :, 0] = 1.0
    rows[:, :, 1] = np.cumsum(gains.damping[:, None] ** np.arange(1, horizon + 1), axis=1)
    rows[:, :, 2:] = later
    mean = np.einsum("bhk,bk->bh", rows, state.mean)
    apart = np.subtract.outer(np.arange(horizon), np.arange(horizon))
    response = responses(gains, design, horizon)
    shocks = np.where(apart >= 0, response[:, np.maximum(apart, 0)], 0.0)
    cov = rows @ state.cov @ rows.transpose(0, 2, 1) + shocks @ shocks.transpose(0, 2, 1)
    return mean, variance[:, None, None] * cov


@dataclass(frozen=True)
class Units:
    """What the values of a series are measured by before they are filtered.

    Attributes
    ----------
    transform : Transform
    center, scale : float
        Of the transformed series: its first value, and the spread of its differences.
    """

    transform: Transform
    center: float
    scale: float

    @classmethod
    def of(cls, values: Array, transform: Transform) -> Units:
        known = transform.of(values[np.isfinite(values)])
        spread = float(np.std(np.diff(known))) if len(known) > 1 else 0.0
        return cls(transform, float(known[0]), spread if spread > 0 else 1.0)

    def measured(self, values: Array) -> Array:
        return (self.transform.of(values) - self.center) / self.scale


@dataclass(frozen=True)
class Smoothing:
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
    state : State
    """

    units: Units
    seasons: Seasons
    gains: Gains
    share: Array
    variance: Array
    time: int
    state: State

    def __str__(self) -> str:
        kind = TRENDS[int(self.gains.trend[0])]
        season = f", season {self.seasons}" if self.gains.seasonal[0] else ""
        return f"{self.units.transform} smoothing, {kind}{season}".strip()

    def forecasts(self, record: Record, origins: Array, horizon: int, method: str) -> Forecasts:
        """From origins in a record, with the gains and the noise learned."""
        states = {self.time: self.state}
        if set(np.asarray(origins).tolist()) != {self.time} or len(record) != self.time:
            values, design = self._filtered(record, 0)
            states = run(values, self.gains, design, origins).states
        return _from_states(self, record, origins, horizon, states, [self] * len(origins))

    def followed(self, record: Record) -> Smoothing:
        """Ready to go on from the end of a longer record."""
        values, design = self._filtered(record, self.time)
        found = run(values, self.gains, design, np.array([len(values)]), self.state)
        return replace(self, time=len(record), state=found.states[len(values)])

    def _filtered(self, record: Record, first: int) -> tuple[Array, Design]:
        times = np.arange(first, len(record))
        design = Design.of(self.seasons, times, record.inputs[first : len(record)])
        return self.units.measured(record.values[first:]), design


def _from_states(
    frame: Smoothing,
    record: Record,
    origins: Array,
    horizon: int,
    states: dict[int, State],
    models: Sequence[Smoothing],
) -> Forecasts:
    """One Gaussian for each origin, from the state there and the model of it."""
    means, covs, shares, owner = [], [], [], []
    inputs = record.ahead(origins, horizon)
    design = Design.of(frame.seasons, np.empty(0, dtype=int), inputs[:0, 0])
    for i, (origin, model) in enumerate(zip(np.asarray(origins).tolist(), models, strict=True)):
        later = np.hstack([frame.seasons.rows(origin + np.arange(horizon)), inputs[i]])
        mean, cov = ahead(states[origin], model.gains, design, later, model.variance)
        means.append(mean)
        covs.append(cov)
        shares.append(model.share)
        owner += [i] * len(mean)
    middle, within = matched(
        np.concatenate(means), np.concatenate(covs), np.concatenate(shares), np.array(owner),
        len(models),
    )
    units = frame.units
    within *= units.scale**2
    middle = units.center + units.scale * middle
    return Forecasts(middle, np.einsum("nhh->nh", within), units.transform, within)


def try_out(
    record: Record,
    origins: Array,
    horizon: int,
    transforms: Sequence[Transform],
    seasons: Seasons,
) -> list[Trial]:
    """Smoothing of each transform with each kind of trend, with and without seasons.

    Parameters
    ----------
    record : Record
    origins : ndarray of int
        In the past, in increasing order.
    horizon : int
    transforms : sequence of Transform
    seasons : Seasons
        None of them if it is empty.
    """
    trials = []
    for transform, gains, found, noise in _filtered_by_all(record, origins, transforms, seasons):
        units = Units.of(record.values, transform)
        for trend in range(len(TRENDS)):
            for seasonal in (False, True) if seasons.size else (False,):
                group = np.flatnonzero((gains.trend == trend) & (gains.seasonal == seasonal))
                models = [
                    _likeliest(units, seasons, gains, found, noise, group, time)
                    for time in (*origins.tolist(), len(record))
                ]
                states = {model.time: model.state for model in models}
                past = _from_states(models[-1], record, origins, horizon, states, models[:-1])
                trials.append(Trial(models[-1], past))
    return trials


def _filtered_by_all(
    record: Record, origins: Array, transforms: Sequence[Transform], seasons: Seasons
) -> list[tuple[Transform, Gains, Filtered, Noise]]:
    """All gains, or for a long series those that its end finds likely, for each transform."""
    size = len(record)
    wanted = np.append(origins, size)
    gains, results = Gains.grid(bool(seasons.size)), []
    first = 2 + seasons.size + record.inputs.shape[1]
    design = Design.of(seasons, np.arange(size), record.inputs[:size])
    for transform in transforms:
        values, kept = Units.of(record.values, transform).measured(record.values), gains
        if size > _LONG:
            end = Design(design.rows[-_LONG:], design.shares[-_LONG:], seasons)
            found = run(values[-_LONG:], gains, end, np.empty(0))
            evidence = Noise.of(found, first).evidence[-1]
            kept = gains[_likely(gains, evidence)]
        found = run(values, kept, design, wanted)
        results.append((transform, kept, found, Noise.of(found, first)))
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
    noise: Noise,
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
        State(state.mean[chosen], state.cov[chosen]),
    )


def guess_missing(record: Record, transforms: Sequence[Transform], seasons: Seasons) -> Record:
    """The record with what the likeliest smoothing makes of its missing values, if there are any.

    A missing value becomes a part of the state that does not move; what comes later corrects it
    as it corrects the rest.
    """
    missing = np.flatnonzero(~record.known)
    if not missing.size:
        return record
    best, top = None, -np.inf
    for transform, gains, _, noise in _filtered_by_all(record, np.empty(0, int), transforms, seasons):
        units = Units.of(record.values, transform)
        known = record.values[record.known]
        # Densities of the transformed series, measured, as those of the series.
        evidence = noise.evidence[-1] + transform.log_slope(known).sum()
        evidence -= len(known) * np.log(units.scale)
        if evidence.max() > top:
            top, chosen = float(evidence.max()), int(np.argmax(evidence))
            best = units, gains[np.array([chosen])], float(noise.variance(len(record))[chosen])
    assert best is not None
    units, gain, variance = best
    mean, cov = _interpolated(units.measured(record.values), gain, record, seasons)
    cov *= variance * units.scale**2
    guesses = Guesses(missing, units.center + units.scale * mean, cov, units.transform)
    return Record(record.values, record.inputs, guesses)


def _interpolated(
    values: Array, gain: Gains, record: Record, seasons: Seasons
) -> tuple[Array, Array]:
    """Mean (G,) and covariance (G, G), in units of σ², of the missing values, by one model."""
    design = Design.of(seasons, np.arange(len(values)), record.inputs[: len(values)])
    state, size = beginning(gain, design), design.size
    mean, cov = state.mean[0], state.cov[0]
    count = int(np.sum(~np.isfinite(values)))
    settled_mean, settled_cov = np.zeros(count), np.zeros((count, count))
    step = np.eye(size)
    step[0, 1] = step[1, 1] = gain.damping[0]
    held: list[int] = []  # numbers of the missing values that the state carries
    seen_gaps = 0
    for t, value in enumerate(values):
        mean[:size] = step @ mean[:size]
        cov[:size] = step @ cov[:size]
        cov[:, :size] = cov[:, :size] @ step.T
        row = np.zeros(len(mean))
        row[0], row[2:size] = 1.0, design.rows[t]
        push = np.zeros(len(mean))
        push[0], push[1] = gain.level[0], gain.slope[0]
        push[2:size] = gain.season[0] * design.shares[t]
        seen = cov @ row
        variance, link, middle = 1.0 + row @ seen, seen + push, row @ mean
        if np.isfinite(value):
            mean = mean + link * (value - middle) / variance
            cov = cov + np.outer(push, push) - np.outer(link, link) / variance
            continue
        cov = cov + np.outer(push, push)
        mean = np.append(mean, middle)
        cov = np.block([[cov, link[:, None]], [link[None], np.full((1, 1), variance)]])
        held.append(seen_gaps)
        seen_gaps += 1
        if len(held) > _CARRIED:  # the oldest is as sure as it will be
            settled_mean[held[0]] = mean[size]
            settled_cov[held[0], held] = settled_cov[held, held[0]] = cov[size, size:]
            mean, cov = np.delete(mean, size), np.delete(np.delete(cov, size, 0), size, 1)
            held = held[1:]
    settled_mean[held] = mean[size:]
    settled_cov[np.ix_(held, held)] = cov[size:, size:]
    return settled_mean, settled_cov
