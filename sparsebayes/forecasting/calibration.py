"""By how much forecasts are to be widened at each step ahead, told by forecasts of the past."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.guesses.values import hint
from sparsebayes._support.validation import as_n_jobs, as_number, as_random_state, check_switches
from sparsebayes.forecasting.candidates.record import Record
from sparsebayes.forecasting.candidates.recursive import Recursive

Array = np.ndarray

_LEARNED = 2 / 3  # of the series
_FEWEST_LEARNED = 10  # rows to learn from
_FEWEST_HELD = 5  # values held out
_FURTHEST = 24  # steps ahead
_WIDTH = 0.6  # of the smoothing, in logarithms of the number of steps
_WEIGHT = 5.0  # so many independent forecasts count as much as what is taken for granted


def check_options(forecaster: Any) -> None:
    """Parameters are what they should be, or a clear error."""
    check_calibrate(forecaster.calibrate)
    check_switches(pool=forecaster.pool, verbose=forecaster.verbose)
    as_n_jobs(forecaster.n_jobs, 1)
    as_random_state(forecaster.random_state)


def check_calibrate(calibrate: Any) -> int | None:
    """The number of origins, 0 for none, None for "auto", or a clear error."""
    if calibrate is None:
        return 0
    if isinstance(calibrate, str) and calibrate == "auto":
        return None
    count = as_number(calibrate)
    if count is not None and count >= 2 and count == int(count):
        return int(count)
    raise ValueError(
        f"calibrate must be 'auto', None or a number of origins from 2 on, got {calibrate!r}"
        f"{hint('calibrate', calibrate)}."
    )


def step_factors(errors: Array, held: int) -> Array:
    """The factor of the standard deviation at each step ahead, at least 1; steps after the last
    take the last.

    The mean of absolute values, unlike that of squares, does not depend on one error alone.
    Forecasts of h steps that overlap are not independent: there are about `held` / h of them. Means
    are smoothed over the steps; the average of all is drawn towards 1, and each towards that.

    Parameters
    ----------
    errors : ndarray, (origins, H)
        In units of standard deviations; NaN where nothing is known.
    held : int
        Values after the first origin.
    """
    steps, known = np.arange(1, errors.shape[1] + 1), np.isfinite(errors)
    count = known.sum(axis=0)
    weight = np.clip((held - steps + 1) / steps, 0.0, count)
    if not weight.any():
        return np.ones(1)
    mean = np.where(known, np.abs(errors), 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = 0.5 * np.pi * mean**2  # of a normal variable with this mean of absolute values
    near = np.subtract.outer(np.log(steps), np.log(steps)) / _WIDTH
    kernel = weight * np.exp(-0.5 * near**2)
    squares = (kernel @ squares) / np.maximum(kernel.sum(axis=1), np.finfo(np.float64).tiny)
    common, most = (weight @ squares) / weight.sum(), weight.max()
    common = (_WEIGHT + most * common) / (_WEIGHT + most)
    return np.sqrt(np.maximum((_WEIGHT * common + weight * squares) / (_WEIGHT + weight), 1.0))


def held_out_factors(
    model: Recursive, fit: Callable[[Record], Recursive], record: Record, count: int
) -> Array:
    """Factors of one autoregression; 1 alone, with a warning, if the series is too short.

    A model of the same kind, with the same lags and differences, is fitted to the first part of the
    series, and forecasts the rest from `count` origins. Its errors are compared with the larger of
    two standard deviations: its own, since it has learned from less, and that of the model of the
    whole series, which knows the noise at the end.
    """
    size, n_past = len(record), model.n_past
    learned = max(int(_LEARNED * size), n_past + _FEWEST_LEARNED)
    held = size - learned
    if held < _FEWEST_HELD:
        warnings.warn(
            f"The series of {size} values is too short to hold some of them out, so its forecasts "
            f"are not calibrated (calibration_ is 1): {n_past} values before the first target and "
            f"{_FEWEST_LEARNED + _FEWEST_HELD} after it are needed. Use fewer lags or differences, "
            "or calibrate=None.",
            UserWarning,
            stacklevel=7,
        )
        return np.ones(1)
    origins = np.unique(np.linspace(learned, size - 1, min(count, held)).round().astype(int))
    horizon = min(held, _FURTHEST)
    times = origins[:, None] + np.arange(horizon)
    truth = np.where(times < size, record.values[np.minimum(times, size - 1)], np.nan)
    with warnings.catch_warnings():
        # What they say of the model of the whole series is told elsewhere.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        first = record.part(0, learned)
        found = fit(first).forecasts(record, origins, horizon, "auto")
        whole = model.forecasts(record, origins, horizon, "auto")
    variances = np.maximum(found.variance, whole.variance)
    sure = variances <= np.finfo(np.float64).tiny ** 0.5  # as of a constant series
    errors = found.transform.of(truth) - found.mean
    return step_factors(
        np.where(sure, np.nan, errors / np.sqrt(np.where(sure, 1.0, variances))), held
    )
