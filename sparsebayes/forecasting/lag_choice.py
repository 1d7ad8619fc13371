"""Transform, differences and lags of a series, chosen by the evidence of linear models."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import find_peaks
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.validation import check_choice
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.lags import (
    Differences,
    Embedding,
    as_lags,
    as_periods,
    standardised,
)
from sparsebayes.forecasting.transforms import LEVEL, LOG, NAMES, ValueTransform, by_name
from sparsebayes.regression import RVR

Array = np.ndarray
LENGTHS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24)
DIFFERENCE = 3.0  # log odds against differences
UNCHANGED = 5.0  # log odds against levels, of a positive series that needs a difference
SLACK = 3.0  # more lags must gain this much
FEWEST = 8  # targets to judge by


@dataclass(frozen=True)
class Choice:
    """How a series is prepared; None where it is still to be chosen.

    Attributes
    ----------
    lags, periods : tuple of int, or None
    transform : ValueTransform or None
    """

    lags: tuple[int, ...] | None
    periods: tuple[int, ...] | None
    transform: ValueTransform | None

    @property
    def complete(self) -> bool:
        return None not in (self.lags, self.periods, self.transform)


def as_choice(lags: Any, step: Any, difference: Any, transform: Any) -> Choice:
    """What the parameters of a forecaster give, and what "auto" leaves to be chosen."""
    check_choice("transform", transform, ("auto", *NAMES), or_none=True)
    return Choice(
        lags=None if _is_auto(lags) else as_lags(lags, step),
        periods=None if _is_auto(difference) else as_periods(difference),
        transform=None if transform == "auto" else by_name(transform),
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def choose(
    record: Record, exog_lags: tuple[int, ...], season: int, step: int, given: Choice
) -> Choice:
    """Fill in what is not given.

    All candidates predict the same values of the series, one step ahead, by a linear model that
    weighs its lags by the evidence; of the lags, those with weight remain. Densities of
    differences are densities of the series; those of logarithms take the derivative. The evidence
    of one step says little about many steps, which is why no difference is preferred unless it
    speaks clearly against that, for levels or for logarithms, and where it does, logarithms. That
    of a season may be taken with that of one step, which lets its trend wander.

    Parameters
    ----------
    record : Record
    exog_lags : tuple of int
    season : int
        Steps in a natural cycle, 1 if unknown.
    step : int
        Between lags.
    given : Choice
    """
    return choose_common([record], exog_lags, season, step, given)


def choose_common(
    records: Sequence[Record],
    exog_lags: tuple[int, ...],
    season: int,
    step: int,
    given: Choice,
    *,
    reach: int | None = None,
) -> Choice:
    """What suits several series by one model of all: as `choose`, with their rows stacked.

    Each series is measured in its own units. What is chosen reaches `reach` steps back at most.
    """
    series = [record.filled for record in records]
    size = int(np.median([len(y) for y in series]))
    most = max(size // 3, step)  # the furthest that lags or a difference may reach
    seasons = [s for s in dict.fromkeys([season, common_cycle(series)]) if 1 < s < most]
    several = [(), (1,), *((s,) for s in seasons), *((1, s) for s in seasons)]
    periods = several if given.periods is None else [given.periods]
    lengths = [given.lags] if given.lags is not None else _lengths(size, seasons, step, most)
    if reach is not None:
        shortest = lengths[0][-1]
        periods = [p for p in periods if sum(p) + shortest <= reach] or periods[:1]
        furthest = reach - max(sum(p) for p in periods)
        lengths = [lags for lags in lengths if lags[-1] <= furthest] or lengths[:1]
    first = max(lengths[-1][-1] + max(sum(p) for p in periods), *exog_lags, 1)
    if sum(int(record.known[first:].sum()) for record in records) < FEWEST:  # nothing to choose by
        return Choice(lengths[0], periods[0], given.transform or LEVEL)

    def fit(lags: tuple[int, ...], p: tuple[int, ...], z: ValueTransform) -> tuple[RVR, float]:
        model, evidence = _fitted(records, Embedding(lags, exog_lags), Differences(p), z, first)
        return model, evidence - DIFFERENCE * bool(p) + UNCHANGED * (z == LOG)

    def best(
        pairs: list[tuple[tuple[int, ...], ValueTransform]],
    ) -> tuple[tuple[int, ...], ValueTransform]:
        return pairs[int(np.argmax([fit(lengths[-1], p, z)[1] for p, z in pairs]))]

    p, z = best([(p, given.transform or LEVEL) for p in periods])
    # Growth at a steady rate is a difference of logarithms, and may be none of levels.
    may_be_log = given.transform is None and all(y.min() > 0 for y in series)
    if may_be_log and (p or best([(other, LOG) for other in periods])[0]):
        p, z = best([(p, LEVEL), *((other, LOG) for other in periods if other)])
    if given.lags is not None:
        return Choice(given.lags, p, z)
    fits = [fit(lags, p, z) for lags in lengths]
    scores = np.array([score for _, score in fits])
    few = int(np.flatnonzero(scores >= scores.max() - SLACK)[0])
    return Choice(_useful(fits[few][0], lengths[few]), p, z)


def _lengths(n_times: int, seasons: list[int], step: int, most: int) -> list[tuple[int, ...]]:
    """Sets of lags ``step, 2 step, ...`` to choose from, each longer than the one before."""
    counts = {k for k in LENGTHS if k * step <= n_times // 6}
    counts |= {s // step + more for s in seasons for more in (0, 1)}
    counts = {k for k in counts if step <= k * step <= most} or {1}
    return [tuple(range(step, step * (k + 1), step)) for k in sorted(counts)]


def _useful(model: RVR, lags: tuple[int, ...]) -> tuple[int, ...]:
    """The lags to which a linear model gives weight, the first if none."""
    kept = tuple(lag for k, lag in enumerate(lags, start=1) if k in model.relevance_)
    return kept or lags[:1]


def cycle(y: Array) -> int:
    """The lag at which the changes of the series resemble themselves most, 1 if none stands out."""
    if len(y) < 12:
        return 1
    changes = np.diff(y)
    changes = changes - changes.mean()
    size, power = len(changes), float(changes @ changes)
    if power <= 0:
        return 1
    spectrum = np.abs(np.fft.rfft(changes, 2 * size)) ** 2
    correlation = np.fft.irfft(spectrum)[: size // 3] / power
    peaks, found = find_peaks(correlation, height=max(0.3, 2.0 / np.sqrt(size)))
    return int(peaks[np.argmax(found["peak_heights"])]) if peaks.size else 1


def common_cycle(series: Sequence[Array]) -> int:
    """The `cycle` of at least half of several series, 1 if they have none in common."""
    found, count = Counter(cycle(y) for y in series).most_common(1)[0]
    return found if 2 * count >= len(series) else 1


def stacked(
    records: Sequence[Record],
    embedding: Embedding,
    differences: Differences,
    transform: ValueTransform,
    first: int,
) -> tuple[Array, Array, float]:
    """Rows and targets of several series, each in its own units, and what its densities lack.

    Parameters
    ----------
    records : sequence of Record
    embedding, differences : Embedding and Differences
    transform : ValueTransform
    first : int
        The first value of each that is a target, if it is known.

    Returns
    -------
    rows : ndarray, (n, D)
    targets : ndarray, (n,)
    stretch : float
        What is added to the log density of the targets to be that of the series themselves.
    """
    rows, targets, stretch = [], [], 0.0
    for record in records:
        y, times = record.filled, first + np.flatnonzero(record.known[first:])
        if not times.size:
            continue
        series, _, scale = standardised(transform.of(y), differences)
        rows.append(embedding.rows(series, record.inputs, times))
        targets.append(series[times])
        stretch += float(transform.log_slope(y[times]).sum()) - len(times) * np.log(scale)
    return np.concatenate(rows), np.concatenate(targets), stretch


def _fitted(
    records: Sequence[Record],
    embedding: Embedding,
    differences: Differences,
    transform: ValueTransform,
    first: int,
) -> tuple[RVR, float]:
    """A linear model of the values from number `first` on, and their log density, each given those
    before."""
    rows, targets, stretch = stacked(records, embedding, differences, transform, first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RVR("linear", calibrate=None).fit(rows, targets)
    return model, model.log_evidence_ + stretch
