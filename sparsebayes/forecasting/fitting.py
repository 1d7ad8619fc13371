"""From a series to models that forecast it: a mixture, or the one autoregression asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from sparsebayes._support.fits.clock import time_is_up
from sparsebayes.forecasting.autoregression import fit_recursion
from sparsebayes.forecasting.calibration import check_calibrate, held_out_factors, step_factors
from sparsebayes.forecasting.candidates.combination import (
    Combination,
    ForecastCandidate,
    Past,
    combine,
)
from sparsebayes.forecasting.candidates.linear import LinearAutoregression
from sparsebayes.forecasting.candidates.missing import guess_missing
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.recursive import Recursive
from sparsebayes.forecasting.candidates.seasons import Seasons, short
from sparsebayes.forecasting.candidates.waves import wave_orders
from sparsebayes.forecasting.lag_choice import Choice, choose, cycle
from sparsebayes.forecasting.lags import Differences, Embedding
from sparsebayes.forecasting.transforms import ValueTransform, are_counts, worth_trying

Array = np.ndarray
_FEWEST = 3  # values of a series
_FURTHEST = 100  # steps of a season that differences and lags take


@dataclass(frozen=True)
class Fitted:
    """What was learned of a series.

    Attributes
    ----------
    record : Record
        With guesses in place of missing values.
    combination : Combination
    factors : ndarray
        Of the standard deviation at each step ahead; steps after the last take the last.
    transforms : sequence of ValueTransform
    seasons : Seasons
        By which missing values are guessed.
    past : str
        One line that says how forecasts of the past went; empty if there were none.
    log_evidence : float or None
        Of a single autoregression.
    """

    record: Record
    combination: Combination
    factors: Array
    transforms: Sequence[ValueTransform]
    seasons: Seasons
    past: str = ""
    log_evidence: float | None = None

    @property
    def chosen(self) -> str:
        """The models that have weight, and how they did in the past."""
        candidates = self.combination.candidates
        used = ", ".join(f"{one.weight:.2f} {one.name}" for one in candidates if one.weight)
        return f"{used}; {self.past}" if self.past else used

    @property
    def estimator(self) -> tuple[Any, float | None]:
        """That of an autoregression by an estimator, and its noise variance, if there is one."""
        models = self.combination.models
        found = next((model.recursion for model in models if isinstance(model, Recursive)), None)
        if found is None:
            return None, None
        noise = getattr(found.model, "noise_variance_", None)
        return found.model, None if noise is None else found.scale**2 * float(noise)

    @property
    def leading(self) -> tuple[list[int], list[int], str | None]:
        """Lags, differences and transform of the model with most weight."""
        model = self.combination.models[int(np.argmax(self.combination.weights))]
        transform = model.transform.parameter
        if not isinstance(model, (Recursive, LinearAutoregression)):
            return [], [], transform
        frame = model.recursion if isinstance(model, Recursive) else model
        return [int(lag) for lag in frame.lags], list(frame.differences.periods), transform

    def guessed(self, record: Record) -> Record:
        """With guesses in place of missing values."""
        return guess_missing(record, self.transforms, self.seasons)


def as_seasons(seasons: Any) -> tuple[float, ...] | None:
    """Steps in each season, shortest first; None for "auto"."""
    if isinstance(seasons, str) and seasons == "auto":
        return None
    if seasons is None:
        return ()
    several = [seasons] if isinstance(seasons, Real) else seasons
    try:
        lengths = sorted(float(length) for length in several)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"seasons must be 'auto', None, a number of steps or a list of them, got {seasons!r}."
        ) from error
    if not all(np.isfinite(length) and length > 1 for length in lengths):
        raise ValueError(
            f"seasons must be longer than one step, got {seasons!r}; None stands for none, 'auto' "
            "for those that are found."
        )
    return tuple(dict.fromkeys(lengths))


def usable(
    record: Record, dated: Sequence[float] | None, given: tuple[float, ...] | None
) -> list[float]:
    """Seasons that a series has seen twice, shortest first.

    Parameters
    ----------
    record : Record
    dated : sequence of float, or None
        Those that its dates tell, None if it has none: then one is looked for.
    given : tuple of float, or None
        Those asked for.
    """
    if given is None:
        values = record.values[record.known]
        given = tuple(dated) if dated is not None else (float(cycle(values)),)
    return [length for length in given if length > 1 and len(record) >= 2 * length + 4]


def mixture(
    record: Record,
    periods: Sequence[float],
    choice: Choice,
    exog_lags: tuple[int, ...],
    calibrate: Any,
    random_state: Any,
) -> Fitted:
    """Models of all kinds, weighted by their forecasts of the past.

    Parameters
    ----------
    record : Record
    periods : sequence of float
        Steps in each season, shortest first.
    choice : Choice
        Its transform is taken if it is given.
    exog_lags : tuple of int
    calibrate : "auto", int or None
    random_state : int, RandomState instance or None
    """
    count = int(record.known.sum())
    if count < _FEWEST:
        raise ValueError(
            f"y has {count} known value(s), but a forecast needs at least {_FEWEST}; give a longer "
            "series."
        )
    transforms = worth_trying(record.values) if choice.transform is None else [choice.transform]
    brief = [length for length in periods if short(length)]
    seasons = Seasons(tuple(brief[:1]), (0,) * len(brief[:1]))
    seasons = wave_orders(
        record, transforms[-1], seasons, [length for length in periods if length not in brief[:1]]
    )
    season = round(periods[0]) if periods and periods[0] <= _FURTHEST else 1
    record = guess_missing(record, transforms, seasons)
    combination, past = combine(record, transforms, seasons, season, exog_lags, random_state)
    if choice.transform is None and are_counts(record.values):
        combination = replace(combination, whole=True)
    errors = past.normal_scores()
    held = int(record.known[past.origins[0] :].sum())
    factors = np.ones(1) if calibrate is None else step_factors(errors, held)
    told = past_line(past, errors, factors)
    return Fitted(record, combination, factors, transforms, seasons, told)


def past_line(past: Past, errors: Array, factors: Array) -> str:
    """How forecasts of the past went."""
    known = np.isfinite(errors)
    if not known.any():
        return ""
    steps = np.minimum(np.arange(errors.shape[1]), len(factors) - 1)
    inside = np.abs(errors / factors[steps])[known] < 1.96
    return (
        f"from {len(past.origins)} past origins, up to {errors.shape[1]} steps ahead, mean error "
        f"{past.relative_error():.2f} of the naive forecast's, "
        f"{100 * inside.mean():.0f} % inside 95 % bands"
    )


def single(
    record: Record,
    season: int,
    choice: Choice,
    exog_lags: tuple[int, ...],
    step: int,
    estimator: Any,
    calibrate: Any,
    random_state: Any,
) -> Fitted:
    """One autoregression, with what is not given chosen by the evidence of linear models."""
    seasons = Seasons((season,), (0,)) if short(season) and len(record) > 2 * season else Seasons()
    transforms = worth_trying(record.values) if choice.transform is None else [choice.transform]
    record = guess_missing(record, transforms, seasons)
    if not choice.complete:
        choice = choose(record, exog_lags, season, step, choice)
    assert choice.lags is not None and choice.transform is not None
    embedding = Embedding(choice.lags, exog_lags)
    differences, transform = Differences(choice.periods or ()), choice.transform

    def fit(part: Record, estimator: Any) -> tuple[Recursive, float | None]:
        found, evidence = fit_recursion(
            part, embedding, differences, transform, estimator=estimator, random_state=random_state
        )
        return Recursive(found), evidence

    model, evidence = fit(record, estimator)
    count, factors = check_calibrate(calibrate), np.ones(1)
    if count and not time_is_up():
        again = model.recursion.model
        factors = held_out_factors(model, lambda part: fit(part, again)[0], record, count)
    alone = Combination([model], np.ones(1), [ForecastCandidate(str(model), 1.0, np.nan)])
    return Fitted(record, alone, factors, transforms, seasons, log_evidence=evidence)
