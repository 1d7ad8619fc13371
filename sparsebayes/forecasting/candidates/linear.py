"""Linear autoregressions of differences, with weights that a Gaussian prior holds together.

    w_t = c + Σ_l a_l w_{t−l} + b·x_t + e_t,    a_l ~ N(0, σ² s / d_l^k),

where d_l counts steps from the nearest whole number of seasons. The grid of s and k is weighted by
its evidence, in closed form. All is learned from the values before each origin: the sums that this
needs grow from one to the next. Errors of the weights are the same at all steps of a path, and
are carried along it as the errors of the series are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter, lfiltic

from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.seasons import NONE, Seasons
from sparsebayes.forecasting.candidates.trial import (
    GaussianPaths,
    PastTrial,
    Windowed,
    gaussian,
    later_only,
    matched,
)
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.lags import Differences
from sparsebayes.forecasting.transforms import ValueTransform

Array = np.ndarray

_NEAR, _FURTHEST = 8, 24  # lags next to the target; a long series has more of them
_FEWEST = 4  # targets to learn from
_SPREADS = (0.02, 0.1, 0.5, 2.0)  # s
_DECAYS = (0.5, 1.0, 2.0)  # k
_DEGREES, _SCALE = 1.0, 0.1  # of the prior of σ², in units of the variance of the differences
_CLEAR, _MOST = 2.0, 10  # standard errors of a weight that counts; so many at most
_KEPT = 3  # of the grid, for each origin
_MANY, _SHORT = 20, 60  # paths, and steps, for which one way to compute them is faster
_LIMIT = 1e6  # standard deviations; no path goes further


def lags_of(size: int, season: int) -> Array:
    """The lags of a series of this many differences."""
    count = min(max(_NEAR, size // 20), max(1, size // 6), _FURTHEST)
    lags = set(range(1, count + 1))
    if season > 1:
        near = (season - 1, season, season + 1, 2 * season)
        lags |= {lag for lag in near if 1 <= lag <= size // 3}
    return np.array(sorted(lags))


@dataclass(frozen=True)
class Posterior:
    """Weights of autoregressions, those of a grid or of several origins, (Q, ...).

    Attributes
    ----------
    weights : ndarray, (Q, D)
    inverse : ndarray, (Q, D, D)
        Their covariance in units of `variance`.
    variance : ndarray, (Q,)
        Of the errors.
    share : ndarray, (Q,)
        Those of one origin sum to 1.
    """

    weights: Array
    inverse: Array
    variance: Array
    share: Array


@dataclass(frozen=True)
class LinearAutoregression(Windowed, GaussianPaths):
    """A linear autoregression of a function of a series.

    Attributes
    ----------
    transform : ValueTransform
    differences : Differences
    lags : ndarray of int
    season : int
        Steps of the season that the prior knows, 1 if none.
    center, scale : float
        What the differences are measured from, their first value if none are taken and else 0,
        and their standard deviation.
    waves : Seasons
        Long seasons, whose waves are inputs too.
    posterior : Posterior or None
        Of the weights of the intercept, the lags and the inputs.
    """

    transform: ValueTransform
    differences: Differences
    lags: Array
    season: int
    center: float
    scale: float
    waves: Seasons = NONE
    posterior: Posterior | None = None

    @classmethod
    def of(
        cls,
        y: Array,
        transform: ValueTransform,
        differences: Differences,
        season: int,
        waves: Seasons = NONE,
    ) -> LinearAutoregression:
        """The frame of a series, without weights."""
        changes = differences.apply(transform.of(y))
        center = 0.0 if differences.periods else float(changes[0])
        scale = float((changes - center).std()) or 1.0
        lags = lags_of(len(changes), season)
        return cls(transform, differences, lags, season, center, scale, waves)

    def __str__(self) -> str:
        periods = ", ".join(map(str, self.differences.periods))
        taken = f" of differences {periods}" if periods else ""
        waves = f", season {self.waves}" if self.waves.size else ""
        return f"{self.transform} autoregression{taken}{waves}".strip()

    def _known(self, record: Record, times: Array) -> Array:
        """Inputs and waves at times (...,), as (..., E)."""
        waves = self.waves.rows(times.ravel()).reshape(*times.shape, -1)
        return np.concatenate([record.inputs_at(times), waves], axis=-1)

    @property
    def n_past(self) -> int:
        """How many values a forecast needs."""
        return self.differences.order + int(self.lags[-1])

    def learn(self, record: Record, origins: Array) -> list[Posterior]:
        """The posterior from the values before each origin, in increasing order.

        Guesses of missing values are not learned from, but learned with.
        """
        y, known = record.filled, record.known
        changes = self._measured(self.transform.of(y))
        times = np.arange(self.n_past, len(y))
        lagged = changes[(times - self.differences.order)[:, None] - self.lags]
        inputs = self._known(record, times)
        rows = np.hstack([np.ones((len(times), 1)), lagged, inputs])
        targets = changes[times - self.differences.order]
        rows, targets = np.where(known[times, None], rows, 0.0), np.where(known[times], targets, 0)
        precisions = self._precisions(inputs.shape[1])
        size = rows.shape[1]
        gram, products, power, count, done = np.zeros((size, size)), np.zeros(size), 0.0, 0, 0
        found = []
        for origin in origins:
            part = slice(done, max(int(origin) - self.n_past, 0))
            gram = gram + rows[part].T @ rows[part]
            products = products + rows[part].T @ targets[part]
            power += float(targets[part] @ targets[part])
            count += int(known[times[part]].sum())
            done = part.stop
            found.append(_posterior(gram, products, power, count, precisions))
        return found

    def useful(self, record: Record) -> tuple[int, ...]:
        """The lags whose weights stand out from their errors, the first at least."""
        found = self.learn(record, np.array([len(record)]))[0]
        spread = np.sqrt(found.variance[0] * np.diagonal(found.inverse[0]))
        clear = np.abs(found.weights[0] / spread)[1 : 1 + len(self.lags)]
        best = [k for k in np.argsort(-clear, kind="stable")[:_MOST] if clear[k] > _CLEAR]
        return tuple(sorted({1, *self.lags[best].tolist()}))

    def _precisions(self, n_inputs: int) -> Array:
        """Of the weights in units of 1/σ², for all of the grid, (G, D)."""
        near = self.lags.astype(np.float64)
        if self.season > 1:
            for cycles in (1, 2):
                near = np.minimum(near, np.abs(self.lags - cycles * self.season) + 1.0)
        intercept = [0.1 if self.differences.periods else 0.01]
        return np.array(
            [
                [*intercept, *(near**decay / spread), *([0.01] * n_inputs)]
                for spread in _SPREADS
                for decay in _DECAYS
            ]
        )

    def paths(
        self,
        posteriors: list[Posterior],
        past: Array,
        inputs: Array,
        guess: Array | None = None,
        with_cov: bool = True,
    ) -> Forecasts:
        """Forecasts from several origins, one posterior for each.

        Parameters
        ----------
        posteriors : list of Posterior, n of them
        past : ndarray, (n, at least n_past)
            Values of the series before each origin.
        inputs : ndarray, (n, H, E)
            Of the steps ahead.
        guess : ndarray, (n, n_past, n_past), or None
            Covariance of the last values of the transformed series, where some are guessed.
        """
        counts = [len(posterior.share) for posterior in posteriors]
        owner = np.repeat(np.arange(len(posteriors)), counts)
        weights, inverse, variance, share = (
            np.concatenate([getattr(posterior, name) for posterior in posteriors])
            for name in ("weights", "inverse", "variance", "share")
        )
        levels = self.transform.of(past[:, past.shape[1] - self.n_past :])
        path, rows = self._follow(levels[owner], weights, inputs[owner])
        response = self._response(weights, inputs.shape[1])
        effects = _carried(response, rows)
        moved = None if guess is None else self._moved(levels[owner], weights, inputs[owner], path)
        scale = self.scale**2 * variance
        if with_cov:
            shocks = _toeplitz(response)
            cov = shocks @ shocks.transpose(0, 2, 1)
            cov += effects @ inverse @ effects.transpose(0, 2, 1)
            cov *= scale[:, None, None]
            if moved is not None and guess is not None:
                cov += moved @ guess[owner] @ moved.transpose(0, 2, 1)
        else:
            cov = np.cumsum(response**2, axis=1)
            cov += np.einsum("qhd,qhd->qh", effects @ inverse, effects)
            cov *= scale[:, None]
            if moved is not None and guess is not None:
                cov += np.einsum("qhp,qhp->qh", moved @ guess[owner], moved)
        return gaussian(*matched(path, cov, share, owner, len(posteriors)), self.transform)

    def _follow(self, levels: Array, weights: Array, inputs: Array) -> tuple[Array, Array]:
        """Means (Q, H) of the transformed series, and the rows (Q, H, D) on the way."""
        changes = self._measured(levels)
        length, horizon, count = changes.shape[1], inputs.shape[1], len(self.lags)
        drive = weights[:, :1] + np.einsum("qhe,qe->qh", inputs, weights[:, 1 + count :])
        path = np.concatenate([changes, self._recursion(weights, drive, changes)], axis=1)
        rows = np.ones((len(levels), horizon, weights.shape[1]))
        rows[:, :, 1 + count :] = inputs
        rows[:, :, 1 : 1 + count] = path[:, length + np.arange(horizon)[:, None] - self.lags]
        path = self.center + self.scale * path[:, length:]
        return self.differences.restore(levels, path), rows

    def _measured(self, levels: Array) -> Array:
        """Differences of the transformed series as the weights see them."""
        return (self.differences.apply(levels) - self.center) / self.scale

    def _recursion(self, weights: Array, drive: Array, changes: Array) -> Array:
        """``w_t = Σ a_l w_{t−l} + drive_t`` (Q, H) after changes (Q, at least the last lag)."""
        lags, length, horizon = self.lags, int(self.lags[-1]), drive.shape[1]
        own = weights[:, 1 : 1 + len(lags)]
        path = np.concatenate([changes[:, -length:], drive], axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            if len(weights) > _MANY:  # step by step, all at once
                for k in range(length, length + horizon):
                    path[:, k] += np.einsum("ql,ql->q", own, path[:, k - lags])
            else:
                for row, values in zip(path, own, strict=True):
                    backward = np.zeros(length + 1)
                    backward[0], backward[lags] = 1.0, -values
                    start = lfiltic([1.0], backward, row[length - 1 :: -1])
                    row[length:] = lfilter([1.0], backward, row[length:], zi=start)[0]
        return np.clip(np.nan_to_num(path[:, length:], nan=_LIMIT), -_LIMIT, _LIMIT)

    def _response(self, weights: Array, horizon: int) -> Array:
        """What an error does to the levels 0, 1, ... steps after it, (Q, H), by `scale`."""
        impulse = np.zeros((len(weights), horizon))
        impulse[:, 0] = 1.0
        changes = self._recursion(weights, impulse, np.zeros((len(weights), int(self.lags[-1]))))
        return self.differences.restore(np.zeros((len(weights), self.differences.order)), changes)

    def _moved(self, levels: Array, weights: Array, inputs: Array, path: Array) -> Array:
        """How the path (rows) follows each of the levels before it (columns); it is linear."""
        columns = []
        for place in range(levels.shape[1]):
            other = levels.copy()
            other[:, place] += self.scale
            columns.append((self._follow(other, weights, inputs)[0] - path) / self.scale)
        return np.stack(columns, axis=2)

    def forecasts(
        self, record: Record, origins: Array, horizon: int, method: str, with_cov: bool = True
    ) -> Forecasts:
        """From origins in a record, with the weights learned."""
        assert self.posterior is not None
        doubt = record.doubt(origins, self.n_past, self.transform)
        return self._from(
            record, origins, horizon, [self.posterior] * len(origins), doubt, with_cov
        )

    def _from(
        self,
        record: Record,
        origins: Array,
        horizon: int,
        posteriors: list[Posterior],
        doubt: Array | None,
        with_cov: bool,
    ) -> Forecasts:
        inputs = self._known(record, np.asarray(origins)[:, None] + np.arange(horizon))
        return self.paths(posteriors, record.past(origins, self.n_past), inputs, doubt, with_cov)


def _toeplitz(response: Array) -> Array:
    """How the levels (rows) follow the errors (columns), (Q, H, H)."""
    apart = np.subtract.outer(*[np.arange(response.shape[1])] * 2)
    return np.where(apart >= 0, response[:, np.maximum(apart, 0)], 0.0)


def _carried(response: Array, pushes: Array) -> Array:
    """How the levels follow what is added to the differences at each step, both (Q, H, D)."""
    if response.shape[1] <= _SHORT:
        return _toeplitz(response) @ pushes
    return np.stack(
        [lfilter(own, [1.0], push, axis=0) for own, push in zip(response, pushes, strict=True)]
    )


def try_out(
    record: Record,
    origins: Array,
    horizon: int,
    transforms: Sequence[ValueTransform],
    periods: Sequence[tuple[int, ...]],
    season: int,
    waves: Seasons,
) -> list[PastTrial]:
    """Autoregressions of each transform and of each set of differences.

    Parameters
    ----------
    record : Record
    origins : ndarray of int
        In the past, in increasing order.
    horizon : int
    transforms : sequence of ValueTransform
    periods : sequence of tuple of int
    season : int
    waves : Seasons
        Long ones.
    """
    trials = []
    for transform in transforms:
        for taken in periods:
            frame = LinearAutoregression.of(
                record.filled, transform, Differences(taken), season, waves
            )
            early = frame.n_past + _FEWEST
            late = origins[origins >= early]
            if not late.size:
                continue
            posteriors = frame.learn(record, np.append(late, len(record)))
            past = frame._from(record, late, horizon, posteriors[:-1], None, with_cov=False)
            model = replace(frame, posterior=posteriors[-1])
            trials.append(PastTrial(model, later_only(past, len(origins))))
    return trials


def _posterior(
    gram: Array, products: Array, power: float, count: int, precisions: Array
) -> Posterior:
    """The likeliest of a grid of prior precisions (G, D)."""
    places = np.arange(len(products))
    full = np.repeat(gram[None], len(precisions), axis=0)
    full[:, places, places] += precisions
    inverse = np.linalg.inv(full)
    weights = inverse @ products
    rest = _DEGREES * _SCALE + np.maximum(power - weights @ products, 1e-12 * power)
    degrees = _DEGREES + count
    evidence = 0.5 * np.log(precisions).sum(axis=1) - 0.5 * np.linalg.slogdet(full)[1]
    evidence -= 0.5 * degrees * np.log(rest)
    best = np.argsort(-evidence, kind="stable")[:_KEPT]
    share = np.exp(evidence[best] - evidence[best[0]])
    variance = rest[best] / max(degrees - 2.0, 1.0)
    return Posterior(weights[best], inverse[best], variance, share / share.sum())
