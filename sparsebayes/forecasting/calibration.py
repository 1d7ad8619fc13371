"""By how much forecasts are to be widened at each step ahead, told by the end of the series.

A model of the same kind, with the same lags and differences, is fitted to the first part of the
series, and forecasts the rest from many origins. Its errors are compared with the larger of two
standard deviations: its own, since it has learned from less, and that of the model of the whole
series, which knows the noise at the end.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.validation import as_number
from sparsebayes.forecasting.lags import Embedding
from sparsebayes.forecasting.propagation import Recursion

Array = np.ndarray

_ORIGINS = 15  # forecasts from them cost about as much as the fit
_LEARNED = 2 / 3  # of the series
_FEWEST_LEARNED = 10  # rows to learn from
_FEWEST_HELD = 5  # values held out
_FURTHEST = 24  # steps ahead
_WIDTH = 0.6  # of the smoothing, in logarithms of the number of steps
_WEIGHT = 5.0  # so many independent forecasts count as much as what is taken for granted


def check_calibrate(calibrate: Any) -> int:
    """The number of origins, 0 for none, or a clear error."""
    if calibrate is None:
        return 0
    if isinstance(calibrate, str) and calibrate == "auto":
        return _ORIGINS
    count = as_number(calibrate)
    if count is not None and count >= 2 and count == int(count):
        return int(count)
    raise ValueError(
        f"calibrate must be 'auto', None or a number of origins from 2 on, got {calibrate!r}."
    )


def step_factors(
    model: Recursion,
    fit: Callable[[Array, Array], Recursion],
    y: Array,
    X: Array,
    embedding: Embedding,
    calibrate: Any,
) -> Array:
    """The factor of the standard deviation at each step ahead, at least 1; steps after the last
    take the last. It is 1 alone if the series is too short to hold anything out.

    Parameters
    ----------
    model : Recursion
        Fitted to the whole series.
    fit : callable
        From a series and its inputs to a model of the same kind.
    y : ndarray, (N,)
    X : ndarray, (N, K)
        Standardised inputs.
    embedding : Embedding
    calibrate : "auto", None or int
    """
    count = check_calibrate(calibrate)
    n_past = embedding.first_target(model.differences)
    learned = max(int(_LEARNED * len(y)), n_past + _FEWEST_LEARNED)
    held = len(y) - learned
    if not count:
        return np.ones(1)
    if held < _FEWEST_HELD:
        if not isinstance(calibrate, str):
            warnings.warn(
                f"The series of {len(y)} values is too short to hold some of them out, so its "
                f"forecasts are not calibrated (calibration_ is 1): {n_past} values before the "
                f"first target and {_FEWEST_LEARNED + _FEWEST_HELD} after it are needed. Use fewer "
                "lags or differences, or calibrate=None.",
                UserWarning,
                stacklevel=4,
            )
        return np.ones(1)
    places = np.linspace(learned, len(y) - 1, min(count, held)).round().astype(int)
    times = places[:, None] + np.arange(min(held, _FURTHEST))
    inside = times < len(y)
    times = np.minimum(times, len(y) - 1)  # of the inputs: no step knows of a later one
    history = y[places[:, None] + np.arange(-n_past, 0)]
    known = embedding.inputs_at(X, times)
    with warnings.catch_warnings():
        # What they say of the model of the whole series is told elsewhere.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        found = fit(y[:learned], X[:learned]).gaussian(history, known, "auto")
        variances = np.maximum(found.variance, model.gaussian(history, known, "auto").variance)
    errors = np.abs((np.log(y) if model.log else y)[times] - found.mean)
    inside &= variances > np.finfo(np.float64).tiny ** 0.5  # not of a constant series
    return _smoothed(errors / np.sqrt(np.where(inside, variances, 1.0)), inside, held)


def _smoothed(errors: Array, inside: Array, held: int) -> Array:
    """Factors (H,) from errors in units of standard deviations, (origins, H), where `inside`.

    The mean of absolute values, unlike that of squares, does not depend on one error alone.
    Forecasts of h steps that overlap are not independent: there are about `held` / h of them. Means
    are smoothed over the steps; the average of all is drawn towards 1, and each towards that.
    """
    steps = np.arange(1, errors.shape[1] + 1)
    count = inside.sum(axis=0)
    weight = np.minimum(count, (held - steps + 1) / steps)
    if not weight.any():
        return np.ones(1)
    mean = np.where(inside, errors, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = 0.5 * np.pi * mean**2  # of a normal variable with this mean of absolute values
    near = np.subtract.outer(np.log(steps), np.log(steps)) / _WIDTH
    kernel = weight * np.exp(-0.5 * near**2)
    squares = (kernel @ squares) / kernel.sum(axis=1)
    common, most = (weight @ squares) / weight.sum(), weight.max()
    common = (_WEIGHT + most * common) / (_WEIGHT + most)
    return np.sqrt(np.maximum((_WEIGHT * common + weight * squares) / (_WEIGHT + weight), 1.0))
