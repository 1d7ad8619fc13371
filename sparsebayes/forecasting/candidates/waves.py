"""How many waves a long season has, by the evidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes.forecasting.candidates.innovations import (
    ErrorScale,
    Gains,
    SmoothingDesign,
    beginning,
    run,
)
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.seasons import Seasons
from sparsebayes.forecasting.candidates.smoothing import Units
from sparsebayes.forecasting.transforms import ValueTransform

_ORDERS = (1, 2, 3, 4, 6, 8, 10)  # numbers of waves
_CYCLES = 4  # of a long season by which they are chosen
# Gains of level, slope, season and damping, trend, and whether there are seasons.
_SLOW = ([0.02, 0.1, 0.4, 0.95], [0.0] * 4, [0.0] * 4, [0.0] * 4, [0] * 4, [True] * 4)


def wave_orders(
    record: Record, transform: ValueTransform, short: Seasons, periods: Sequence[float]
) -> Seasons:
    """Short seasons, and those of long periods that the evidence wants, with as many waves.

    Parameters
    ----------
    record : Record
    transform : ValueTransform
    short : Seasons
    periods : sequence of float
        Long ones, taken in turn.
    """
    seasons = short
    for period in periods:
        size = int(min(len(record), _CYCLES * period + 1))
        values = record.values[-size:]
        orders = [k for k in _ORDERS if 2 * k < period and 2 * k + seasons.size < size // 4]
        known = np.isfinite(values)
        if not orders or known.sum() < 4 or np.ptp(values[known]) == 0:
            continue
        full = Seasons((*seasons.periods, period), (*seasons.orders, orders[-1]))
        design = SmoothingDesign.of(full, np.arange(len(record)), record.inputs[: len(record)])
        design = SmoothingDesign(design.rows[-size:], design.shares[-size:], full)
        # All numbers of waves at once: the further ones are not there if they cannot move.
        slow = Gains(*(np.repeat(column, len(orders) + 1) for column in _SLOW))
        start = beginning(slow, design)
        kept = np.tile([0, *orders], len(slow) // (len(orders) + 1))
        waves = np.tile(np.arange(1, orders[-1] + 1), 2)
        places = 2 + seasons.size + np.arange(2 * orders[-1])
        start.cov[:, places, places] *= waves <= kept[:, None]
        measured = Units.of(values, transform).measured(values)
        first = design.size
        evidence = ErrorScale.of(run(measured, slow, design, np.empty(0), start), first).evidence[
            -1
        ]
        best = int(kept[np.argmax(evidence)])
        if best:
            seasons = Seasons((*seasons.periods, period), (*seasons.orders, best))
    return seasons
