"""Autoregressions by an estimator: the one that is given, or a Gaussian process.

A process is tried out where a linear autoregression leaves something: its errors are regressed on
squares and products of the lags, which costs little. It learns from the first two thirds of the
series for what it would have said of the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import fdtrc
from sklearn.exceptions import ConvergenceWarning

from sparsebayes.forecasting.autoregression import fit_recursion, process
from sparsebayes.forecasting.candidates import linear
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.trial import PastTrial, Windowed, drawn, later_only
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.lags import Differences, Embedding
from sparsebayes.forecasting.propagation import Recursion
from sparsebayes.forecasting.transforms import ValueTransform

Array = np.ndarray

_LEARNED = 2 / 3  # of the series
_FEWEST = 40  # values
_LONGEST = 1000  # values that a process learns from
_LAGS = 3  # whose products are looked at
_CHANCE = 1e-3  # of finding a linear series curved


@dataclass(frozen=True)
class Recursive(Windowed):
    """An autoregression by an estimator.

    Attributes
    ----------
    recursion : Recursion
    """

    recursion: Recursion

    def __str__(self) -> str:
        periods = ", ".join(map(str, self.recursion.differences.periods))
        taken = f" of differences {periods}" if periods else ""
        name = type(self.recursion.model).__name__
        return f"{self.recursion.transform} autoregression{taken} by {name}".strip()

    @property
    def transform(self) -> ValueTransform:
        return self.recursion.transform

    @property
    def n_past(self) -> int:
        """How many values a forecast needs."""
        return self.recursion.differences.order + self.recursion.lags[-1]

    def forecasts(
        self, record: Record, origins: Array, horizon: int, method: str, with_cov: bool = True
    ) -> Forecasts:
        """From origins in a record."""
        record = self._bridged(record, method)
        past, ahead = record.past(origins, self.n_past), record.ahead(origins, horizon)
        doubt = record.doubt(origins, self.n_past, self.recursion.transform)
        return self.recursion.gaussian(past, ahead, method, with_cov=with_cov, doubt=doubt)

    def _bridged(self, record: Record, method: str) -> Record:
        """With its own forecasts from before each gap, where it is surer than the guesses."""
        if record.guesses is None:
            return record
        guesses = record.guesses.of(self.transform)
        ends = np.flatnonzero(np.diff(guesses.places) > 1) + 1
        for gap in np.split(np.arange(len(guesses.places)), ends):
            start = guesses.places[gap[:1]]
            if start[0] < self.n_past:
                continue
            known = replace(record, guesses=guesses)
            past, now = known.past(start, self.n_past), known.ahead(start, len(gap))
            doubt = known.doubt(start, self.n_past, self.transform)
            found = self.recursion.gaussian(past, now, method, with_cov=True, doubt=doubt)
            assert found.cov is not None
            surer = np.flatnonzero(found.variance[0] < np.diagonal(guesses.cov)[gap])
            own, mean, cov = gap[surer], guesses.mean.copy(), guesses.cov.copy()
            mean[own], cov[own], cov[:, own] = found.mean[0, surer], 0.0, 0.0
            cov[np.ix_(own, own)] = found.cov[0][np.ix_(surer, surer)]
            guesses = replace(guesses, mean=mean, cov=cov)
        return replace(record, guesses=guesses)

    def sample(self, record: Record, horizon: int, n_paths: int, rng: Any) -> Array:
        """Paths (n_paths, horizon) of the transformed series after the record."""
        end, record = np.array([len(record)]), self._bridged(record, "auto")
        past, ahead = record.past(end, self.n_past), record.ahead(end, horizon)
        doubt = record.doubt(end, self.n_past, self.transform)
        if doubt is None:
            return self.recursion.sample(past, ahead, n_paths, rng)[0]
        # Each path has its own draw of the guesses before it.
        levels = drawn(self.transform.of(past[0]), doubt[0], n_paths, rng)
        pasts, aheads = self.transform.back(levels), np.repeat(ahead, n_paths, axis=0)
        return self.recursion.sample(pasts, aheads, 1, rng)[:, 0]


def try_out(
    record: Record,
    origins: Array,
    horizon: int,
    transforms: Sequence[ValueTransform],
    exog_lags: tuple[int, ...],
    season: int,
    random_state: Any,
) -> list[PastTrial]:
    """A Gaussian process of the lags, if the series is curved; none else.

    Parameters
    ----------
    record : Record
    origins : ndarray of int
        In the past, in increasing order.
    horizon : int
    transforms : sequence of ValueTransform
    exog_lags : tuple of int
        Lags of the inputs, as long as they reach.
    season : int
    random_state : int, RandomState instance or None
    """
    learned = int(_LEARNED * len(record))
    late = origins[origins >= learned]
    if int(record.known.sum()) < _FEWEST or not late.size:
        return []
    chances = [curvature(record, transform, season) for transform in transforms]
    if min(chances) > _CHANCE:
        return []
    transform = transforms[int(np.argmin(chances))]
    with warnings.catch_warnings():
        # An unfinished search, or a path that grows, is told by the score.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        lags = linear.LinearAutoregression.of(
            record.filled, transform, Differences(()), season
        ).useful(record)
        embedding = Embedding(lags, exog_lags)

        def fit(end: int) -> Recursive:
            found, _ = fit_recursion(
                _end(record, end),
                embedding,
                Differences(()),
                transform,
                estimator=process(random_state),
                random_state=random_state,
            )
            return Recursive(found)

        if learned < embedding.first_target(Differences(())) + _FEWEST // 2:
            return []
        past = fit(learned).forecasts(record, late, horizon, "auto", with_cov=False)
        model = fit(len(record))
    return [PastTrial(model, later_only(past, len(origins)))]


def _end(record: Record, end: int) -> Record:
    """The last values before `end` from which a process learns."""
    return record.part(max(0, end - _LONGEST), end)


def curvature(record: Record, transform: ValueTransform, season: int) -> float:
    """The probability that squares and products of lags explain as much of a linear series."""
    series = transform.of(record.filled)[-_LONGEST:]
    series = (series - series.mean()) / (series.std() or 1.0)
    lags = linear.lags_of(len(series), season)
    times = np.arange(lags[-1], len(series))
    lagged = series[times[:, None] - lags]
    straight = np.hstack([np.ones((len(times), 1)), lagged])
    pairs = [(i, j) for i in range(min(_LAGS, len(lags))) for j in range(i + 1)]
    products = np.column_stack([lagged[:, i] * lagged[:, j] for i, j in pairs])
    both = np.hstack([straight, products])
    free = len(times) - both.shape[1]
    if free < 1:
        return 1.0
    rests = [
        float(np.sum((series[times] - rows @ np.linalg.lstsq(rows, series[times])[0]) ** 2))
        for rows in (straight, both)
    ]
    if rests[1] <= 0.0:
        return 1.0
    ratio = (rests[0] - rests[1]) / len(pairs) / (rests[1] / free)
    return float(fdtrc(len(pairs), free, max(ratio, 0.0)))
