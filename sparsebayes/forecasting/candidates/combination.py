"""Which models a forecast is mixed from, and with which weights.

All are tried out from origins in the past. What weighs is their continuous ranked probability
score over all steps ahead; with few values to judge by, weights stay near even. The naive forecast
of a season takes part, and takes all where the mixture would have done worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from sparsebayes._support.fits.clock import time_is_up
from sparsebayes.forecasting.candidates import linear, naive, recursive, smoothing
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.seasons import Seasons
from sparsebayes.forecasting.candidates.trial import PastTrial, Settled
from sparsebayes.forecasting.forecasts import ForecastMixture, Forecasts
from sparsebayes.forecasting.transforms import LEVEL, ValueTransform

Array = np.ndarray

_ORIGINS, _FEWER = 40, 16  # the fewer where forecasts are long
_STEPS, _MANY, _FURTHEST = 12, 60, 400  # steps ahead: at least, many, and at most
_WIDTH = 0.15  # by how much scores may be worse than the best: the width of a bell of weights,
# doubled where all forecasts that are judged overlap
_LEAST = 0.01  # of the largest weight
_DISTANT = 0.25  # the weight of h steps ahead is h to minus this power


@dataclass(frozen=True)
class ForecastCandidate:
    """A model that takes part in a forecast.

    Attributes
    ----------
    name : str
    weight : float
    score : float
        Its continuous ranked probability score from origins in the past, in units of that of
        the naive forecast of a season.
    """

    name: str
    weight: float
    score: float


@dataclass(frozen=True)
class Combination:
    """Models with weights.

    Attributes
    ----------
    models : list of Settled
    weights : ndarray, (C,)
    candidates : list of ForecastCandidate
        All that were tried, the best first.
    whole : bool
        Whether values are whole numbers.
    """

    models: list[Settled]
    weights: Array
    candidates: list[ForecastCandidate]
    whole: bool = False

    def forecasts(
        self,
        record: Record,
        origins: Array,
        horizon: int,
        method: str = "auto",
        with_cov: bool = False,
    ) -> ForecastMixture:
        """From origins in a record, in increasing order."""
        parts = [
            model.forecasts(record, origins, horizon, method, with_cov) for model in self.models
        ]
        return ForecastMixture(parts, self.weights, self.whole)

    def sample(self, record: Record, horizon: int, n_paths: int, factors: Array, rng: Any) -> Array:
        """Paths (n_paths, horizon) of the series after the record, with standard deviations times
        `factors`; each by one model."""
        counts = rng.multinomial(n_paths, self.weights / self.weights.sum())
        end, paths = np.array([len(record)]), []
        for model, count in zip(self.models, counts, strict=True):
            if count:
                found = model.forecasts(record, end, horizon, "auto", with_cov=False)
                path = model.sample(record, horizon, int(count), rng)
                if (factors != 1.0).any():
                    path = found.mean[0] + factors * (path - found.mean[0])
                moved = found.widened(factors).location[0] - found.mean[0]
                paths.append(found.transform.back(path + moved))
        drawn = rng.permutation(np.concatenate(paths))
        return np.rint(drawn) if self.whole else drawn

    def summary(
        self, record: Record, origin: int, horizon: int, n_paths: int, factors: Array, rng: Any
    ) -> Forecasts:
        """Forecasts from an origin in a record, by mean and variance of sampled paths."""
        before = record.until(origin)
        placed = replace(self, models=[model.placed(before) for model in self.models])
        paths = placed.sample(before, horizon, n_paths, factors, rng)
        kinds = {model.transform for model in self.models}
        transform = kinds.pop() if len(kinds) == 1 else LEVEL
        paths = transform.of(paths)
        return Forecasts(paths.mean(axis=0)[None], paths.var(axis=0, ddof=1)[None], transform)

    @property
    def n_past(self) -> int:
        """How many values a forecast needs."""
        return max(model.n_past for model in self.models)

    def followed(self, record: Record) -> Combination:
        """Ready to go on from the end of a longer record."""
        return replace(self, models=[model.followed(record) for model in self.models])


def past_origins(size: int, season: int, count: int) -> Array:
    """Where forecasts are tried: from a third of the series on."""
    first = max(size // 3, 2 * season + 4 if season > 1 else 0, 8)
    return np.unique(np.linspace(min(first, size - 1), size - 1, count).round().astype(int))


def combine(
    record: Record,
    transforms: Sequence[ValueTransform],
    seasons: Seasons,
    season: int,
    exog_lags: tuple[int, ...] = (),
    random_state: Any = None,
) -> tuple[Combination, Past]:
    """Try all models out, the quick ones first and as far as the time allows, and weigh them.

    Parameters
    ----------
    record : Record
    transforms : sequence of ValueTransform
    seasons : Seasons
        Of smoothing.
    season : int
        Of differences, lags and the naive forecast; 1 for none.
    exog_lags : tuple of int
    random_state : int, RandomState instance or None
    """
    size = len(record)
    longest = max((round(period) for period in seasons.waves.periods), default=0)
    horizon = min(max(2 * season, _STEPS), _MANY)
    horizon = min(max(horizon, longest), max(size // 4, 2), _FURTHEST)
    origins = past_origins(size, season, _ORIGINS if horizon <= _MANY else _FEWER)
    periods = [(), (1,)] + ([(season,), (1, season)] if season > 1 else [])
    trials = smoothing.try_out(record, origins, horizon, transforms, seasons)
    if not time_is_up():
        waves = seasons.waves
        trials += linear.try_out(record, origins, horizon, transforms, periods, season, waves)
    if not time_is_up():
        trials += recursive.try_out(
            record, origins, horizon, transforms, exog_lags, season, random_state
        )
    trials.append(naive.try_out(record, origins, horizon, season, transforms[0]))
    times = origins[:, None] + np.arange(horizon)
    truth = np.where(times < size, record.values[np.minimum(times, size - 1)], np.nan)
    return weigh(trials, origins, truth, int(record.known[origins[0] :].sum()))


@dataclass(frozen=True)
class Past:
    """What a combination would have said.

    Attributes
    ----------
    origins : ndarray of int, (R,)
    truth : ndarray, (R, H)
        What came; NaN where nothing is known.
    parts : list of Forecasts
        NaN where a model had too little to learn from.
    weights : ndarray
    naive : Forecasts
        What the season before said.
    """

    origins: Array
    truth: Array
    parts: list[Forecasts]
    weights: Array
    naive: Forecasts

    def relative_error(self) -> float:
        """The mean absolute error in units of that of the naive forecast."""
        means = np.array([part.levels()[0] for part in self.parts])
        told = np.isfinite(means) * self.weights[:, None, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(told > 0, told * means, 0.0).sum(axis=0) / told.sum(axis=0)
        errors = np.abs(np.stack([mean, self.naive.levels()[0]]) - self.truth)
        both = np.isfinite(errors).all(axis=0)
        own, other = errors[:, both].sum(axis=1)
        return float(own / other) if other > 0 else 1.0

    def normal_scores(self) -> Array:
        """Errors as those of a standard normal variable, (R, H), NaN where nothing is known."""
        below = np.array([part.below(self.truth) for part in self.parts])
        told = np.isfinite(below) * self.weights[:, None, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.nansum(told * np.where(told > 0, below, 0.0), axis=0) / told.sum(axis=0)
        return ndtri(np.clip(share, 1e-12, 1.0 - 1e-12))

    def beats_naive(self) -> bool:
        """Whether the score of the mixture, where all models spoke, is no worse."""
        spoke = np.isfinite([part.mean[:, 0] for part in self.parts]).all(axis=0)
        if not spoke.any():
            return False
        parts = [Forecasts(p.mean[spoke], p.variance[spoke], p.transform) for p in self.parts]
        losses = ForecastMixture(parts, self.weights).losses(self.truth[spoke])[1]
        return bool(relative_scores([losses, self.naive.crps(self.truth)[spoke]])[0] <= 1.0)


def weigh(
    trials: Sequence[PastTrial], origins: Array, truth: Array, judged: int
) -> tuple[Combination, Past]:
    """Weights of models that were tried out, the naive forecast last.

    Parameters
    ----------
    trials : sequence of PastTrial
    origins : ndarray of int, (R,)
    truth : ndarray, (R, H)
    judged : int
        Known values after the first origin.
    """
    scores = relative_scores([trial.past.crps(truth) for trial in trials])
    width = _WIDTH * (1.0 + truth.shape[1] / max(judged, 1))
    weights = np.exp(-(((scores / scores.min() - 1.0) / width) ** 2))
    weights = np.where(weights >= _LEAST, weights, 0.0)
    weights /= weights.sum()
    past = _past(trials, weights, origins, truth)
    # The score of a mixture is at most the mean of those of its parts.
    used = weights > 0
    if weights[used] @ scores[used] > 1.0 and not past.beats_naive():
        weights = np.zeros(len(trials))
        weights[-1] = 1.0
        past = _past(trials, weights, origins, truth)
    named = [
        ForecastCandidate(str(trial.model), float(weight), float(score))
        for trial, weight, score in zip(trials, weights, scores, strict=True)
    ]
    taken = np.flatnonzero(weights).tolist()
    combination = Combination(
        [trials[i].model for i in taken],
        weights[taken],
        sorted(named, key=lambda one: (-one.weight, one.score)),
    )
    return combination, past


def _past(trials: Sequence[PastTrial], weights: Array, origins: Array, truth: Array) -> Past:
    used = np.flatnonzero(weights).tolist()
    parts = [trials[i].past for i in used]
    return Past(origins, truth, parts, weights[used], trials[-1].past)


def relative_scores(losses: Sequence[Array]) -> Array:
    """Scores in units of that of the last, each over the values that both speak of."""
    reference = losses[-1]
    steps = np.arange(1, reference.shape[1] + 1)
    importance = steps**-_DISTANT * np.minimum(1.0, _MANY / steps)
    scores = []
    for loss in losses:
        both = np.isfinite(loss) & np.isfinite(reference)
        own = float((importance * np.where(both, loss, 0.0)).sum())
        other = float((importance * np.where(both, reference, 0.0)).sum())
        scores.append(own / other if other > 0 else 1.0 if own <= 0 else np.inf)
    return np.maximum(scores, 1e-6)
