"""The forecasters of statsforecast, each with its defaults and the season given."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray

ARIMA, ETS, THETA, NAIVE = "AutoARIMA", "AutoETS", "Theta", "SeasonalNaive"
NAMES = (ARIMA, ETS, THETA, NAIVE)
BEST = (ARIMA, ETS, THETA)  # of which the best is taken for each series
WARM = 40  # values of a first fit, which compiles


@dataclass(frozen=True)
class Forecast:
    """Mean (steps,), limits by coverage, and seconds of fit and forecast."""

    mean: Array
    limits: dict[float, tuple[Array, Array]]
    seconds: float


def model(name: str, season: int) -> Any:
    """One of `NAMES`."""
    from statsforecast import models

    return getattr(models, name)(season_length=season)


def warm(name: str, season: int) -> None:
    """A small fit, so that no time holds that of a compiler."""
    y = np.random.default_rng(0).standard_normal(WARM).cumsum() + 50.0
    forecast(name, season, y, 3, (0.9,))


def forecast(
    name: str, season: int, y: Array, steps: int, coverages: tuple[float, ...]
) -> Forecast:
    """Fit to `y` and forecast."""
    level = [round(100 * coverage, 6) for coverage in coverages]
    level = [int(one) if one == int(one) else one for one in level]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.process_time()
        found = model(name, season).forecast(y=np.asarray(y, float), h=steps, level=level)
        seconds = time.process_time() - before
    limits = {
        coverage: (np.asarray(found[f"lo-{one}"]), np.asarray(found[f"hi-{one}"]))
        for coverage, one in zip(coverages, level, strict=True)
    }
    return Forecast(np.asarray(found["mean"]), limits, seconds)
