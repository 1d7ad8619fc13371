"""Missing values: what smoothing makes of them, by all that came before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes.forecasting.candidates.innovations import Gains, SmoothingDesign, beginning
from sparsebayes.forecasting.candidates.record import Guesses, Record
from sparsebayes.forecasting.candidates.seasons import Seasons
from sparsebayes.forecasting.candidates.smoothing import Units, filtered_by_all
from sparsebayes.forecasting.transforms import ValueTransform

Array = np.ndarray
_CARRIED = 60  # missing values that later ones correct, and more while their gap is new
_MOST = 500  # of them in all
_SETTLING = 15  # known values by which what is more than that is nearly gone


def guess_missing(record: Record, transforms: Sequence[ValueTransform], seasons: Seasons) -> Record:
    """The record with what the likeliest smoothing makes of its missing values, if there are any.

    A missing value becomes a part of the state that does not move; what comes later corrects it
    as it corrects the rest.
    """
    missing = np.flatnonzero(~record.known)
    if not missing.size:
        return record
    best, top = None, -np.inf
    for transform, gains, _, noise in filtered_by_all(
        record, np.empty(0, int), transforms, seasons
    ):
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
    design = SmoothingDesign.of(seasons, np.arange(len(values)), record.inputs[: len(values)])
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
            done = -((_CARRIED - len(held)) // _SETTLING)
        else:
            cov = cov + np.outer(push, push)
            mean = np.append(mean, middle)
            cov = np.block([[cov, link[:, None]], [link[None], np.full((1, 1), variance)]])
            held.append(seen_gaps)
            seen_gaps += 1
            done = len(held) - _MOST
        if done > 0:  # the oldest are as sure as they will be
            old, part = held[:done], cov[size : size + done, size:]
            settled_mean[old] = mean[size : size + done]
            settled_cov[np.ix_(old, held)], settled_cov[np.ix_(held, old)] = part, part.T
            gone = np.arange(size, size + done)
            mean, cov = np.delete(mean, gone), np.delete(np.delete(cov, gone, 0), gone, 1)
            held = held[done:]
    settled_mean[held] = mean[size:]
    settled_cov[np.ix_(held, held)] = cov[size:, size:]
    return settled_mean, settled_cov
