"""Level, trend and seasons that drift, all of a grid of gains at once.

Every model is in innovation form, with the state x and one error a step,

    y_t = h_t·F x_{t−1} + e_t,    x_t = F x_{t−1} + g_t e_t,    e_t ~ N(0, σ²),

level and slope first, then what stays where no gain moves it: seasons and weights of inputs. That
is what a moving average of the differences stands for. Beginnings are unknown: the state has a
Gaussian distribution, wide at first, in units of σ². A missing value leaves out the correction, and
the covariance grows by what the errors may have moved. σ² has a Gamma prior, so that densities of
the next value are Student's; their product is the evidence by which the gains are weighted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter
from scipy.special import gammaln

from sparsebayes.forecasting.candidates.seasons import Seasons

Array = np.ndarray

_WIDE = 1e6  # variance of what is unknown, in units of σ²
_FADING = 0.97  # of what errors tell of σ², a step
_DEGREES, _SCALE = 1.0, 0.1  # of the prior of σ², in units of the variance of the differences
_LEVELS = (0.02, 0.1, 0.25, 0.5, 0.75, 0.95)
_SLOPES = (0.02, 0.1)  # of the gain of the level
_DAMPINGS = (0.8, 0.93)
_SEASONS = (0.0, 0.1, 0.35, 0.8)  # of what the level leaves

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
        return Gains(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class LevelState:
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
    states : dict of int to LevelState
        Before the steps asked for.
    """

    errors: Array
    variances: Array
    states: dict[int, LevelState]


@dataclass(frozen=True)
class SmoothingDesign:
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
    def of(cls, seasons: Seasons, times: Array, inputs: Array) -> SmoothingDesign:
        shares = np.hstack([seasons.shares(times), np.zeros(inputs.shape)])
        return cls(np.hstack([seasons.rows(times), inputs]), shares, seasons)

    @property
    def size(self) -> int:
        return 2 + self.rows.shape[1]


def beginning(gains: Gains, design: SmoothingDesign) -> LevelState:
    """The state before anything is known."""
    size, waves = design.size, design.seasons.size
    mean, cov = np.zeros((len(gains), size)), np.zeros((len(gains), size, size))
    cov[:, 0, 0] = _WIDE
    cov[gains.trend > 0, 1, 1] = _WIDE
    inputs = np.arange(2 + waves, size)
    cov[:, inputs, inputs] = _WIDE
    cov[gains.seasonal, 2 : 2 + waves, 2 : 2 + waves] = _WIDE * design.seasons.prior()
    return LevelState(mean, cov)


def run(
    values: Array,
    gains: Gains,
    design: SmoothingDesign,
    wanted: Array,
    start: LevelState | None = None,
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
    stops = set(np.asarray(wanted).tolist())
    for t in range(len(each)):
        if t in stops:
            states[t] = LevelState(mean.copy(), cov.copy())
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
    if len(each) in stops:
        states[len(each)] = LevelState(mean, cov)
    return Filtered(errors, variances, states)


@dataclass(frozen=True)
class ErrorScale:
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
    def of(cls, found: Filtered, first: int) -> ErrorScale:
        """Values before number `first` only find the state."""
        squares = found.errors**2 / found.variances
        counted = np.isfinite(squares[:, 0])
        counted[np.flatnonzero(counted)[:first]] = False
        squares = np.where(counted[:, None], squares, 0.0)
        degrees = _DEGREES + _faded(counted[:, None].astype(np.float64))[:, 0]
        sums = _faded(squares)
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


def _faded(values: Array) -> Array:
    """Sums (N + 1, B) of the values before each step, the older the less."""
    sums = lfilter([1.0], [1.0, -_FADING], values, axis=0)
    return np.vstack([np.zeros(values.shape[1]), sums])


def responses(gains: Gains, design: SmoothingDesign, horizon: int) -> Array:
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
    state: LevelState,
    gains: Gains,
    design: SmoothingDesign,
    later: Array,
    variance: Array,
    with_cov: bool = True,
) -> tuple[Array, Array]:
    """Means (B, H) and covariances (B, H, H) of the next values, or variances (B, H) alone.

    Parameters
    ----------
    state : LevelState
    gains : Gains
    design : SmoothingDesign
    later : ndarray, (H, k − 2)
        Its rows ahead.
    variance : ndarray, (B,)
        σ².
    with_cov : bool
    """
    horizon = len(later)
    rows = np.empty((len(gains), horizon, design.size))
    rows[:, :, 0] = 1.0
    rows[:, :, 1] = np.cumsum(gains.damping[:, None] ** np.arange(1, horizon + 1), axis=1)
    rows[:, :, 2:] = later
    mean = np.einsum("bhk,bk->bh", rows, state.mean)
    response = responses(gains, design, horizon)
    if not with_cov:
        known = np.einsum("bhk,bhk->bh", rows @ state.cov, rows)
        return mean, variance[:, None] * (known + np.cumsum(response**2, axis=1))
    apart = np.subtract.outer(np.arange(horizon), np.arange(horizon))
    shocks = np.where(apart >= 0, response[:, np.maximum(apart, 0)], 0.0)
    cov = rows @ state.cov @ rows.transpose(0, 2, 1) + shocks @ shocks.transpose(0, 2, 1)
    return mean, variance[:, None, None] * cov
