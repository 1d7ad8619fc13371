"""What is forecast from where: horizons, origins, levels."""

from __future__ import annotations

import numpy as np

from benchmarks.forecasters.series import Given

Array = np.ndarray

ORIGINS = 3
HORIZONS = {12: 18, 4: 8, 1: 12}  # by season
LEVELS = np.array([0.025, *np.linspace(0.05, 0.95, 19), 0.975])  # of the quantiles
MIDDLE = 0.02  # the median is taken as the middle of an interval of this coverage
COVERAGES = tuple(round(float(1 - 2 * level), 3) for level in LEVELS[:10])


def horizon(given: Given, size: int) -> int:
    """The steps ahead: at most a fifth of the series."""
    return max(1, min(given.horizon or HORIZONS[given.season], size // 5))


def origins(size: int, steps: int, season: int) -> list[int]:
    """Numbers of values that are known: three stretches without overlap where there is room.

    Every forecast knows two seasons and four values, at least ten; a short series has origins
    nearer to each other, and fewer than three where these fall together.
    """
    last, least = size - steps, max(2 * season + 4, 10)
    if last < least:
        return [last]
    first = max(size - ORIGINS * steps, least)
    return [int(origin) for origin in np.unique(np.linspace(first, last, ORIGINS).astype(int))]


def quantiles(limits: dict[float, tuple[Array, Array]]) -> Array:
    """Central intervals by coverage, as the quantiles at all levels, (levels, steps)."""
    lower, upper = limits[MIDDLE]
    below = [limits[coverage][0] for coverage in COVERAGES]
    above = [limits[coverage][1] for coverage in COVERAGES]
    return np.array([*below, 0.5 * (lower + upper), *above[::-1]])
