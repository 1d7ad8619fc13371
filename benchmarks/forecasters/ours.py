"""`Forecaster()` behind the face of the others."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.forecasters import protocol
from benchmarks.forecasters.series import Given
from benchmarks.forecasters.stored import Outcome
from sparsebayes import Forecaster

Array = np.ndarray

NAME = "Forecaster"


def limits(model: Any, steps: int, coverage: float) -> tuple[Array, Array]:
    """A central interval, as arrays."""
    found = model.predict_interval(steps, coverage)
    if isinstance(found, tuple):
        return np.asarray(found[0]), np.asarray(found[1])
    return found["lower"].to_numpy(), found["upper"].to_numpy()


def forecast(y: Any, steps: int) -> Outcome:
    """Fit the default to `y` and forecast; the time is that of fit, mean and one interval."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.process_time()
        model = Forecaster().fit(y)
        mean = np.asarray(model.predict(steps))
        found = {protocol.COVERAGES[0]: limits(model, steps, protocol.COVERAGES[0])}
        seconds = time.process_time() - before
        for coverage in (*protocol.COVERAGES[1:], protocol.MIDDLE):
            found[coverage] = limits(model, steps, coverage)
    return Outcome(mean, protocol.quantiles(found), seconds)


def outcome(given: Given, y: Array, steps: int, what: str = "") -> Outcome | None:
    """The forecast after `y`, the first values of a series; None and a word where it fails."""
    try:
        found = forecast(given.dated(y), steps)
    except Exception as error:
        text = " ".join(str(error).split())[:160]
        told = f"{NAME} fails: {given.name}{what}, {len(y)} values: {type(error).__name__}: {text}"
        print(told, file=sys.stderr, flush=True)
        return None
    if not (np.isfinite(found.mean).all() and np.isfinite(found.quantiles).all()):
        print(f"{NAME} is not finite: {given.name}{what}, {len(y)} values", file=sys.stderr)
        return None
    return found
