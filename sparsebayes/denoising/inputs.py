"""Signals and positions as users bring them: checked, and without their mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._support.data import check_plain, finite_array, remedies
from sparsebayes._support.validation import check_range
from sparsebayes.denoising.grid import Layout

Array = np.ndarray

_CONSTANT = 4.0  # machine epsilons: a mean is rounded by one or two, each difference by another


def check_signal(y: Any) -> Array:
    """Samples as float32 or float64, or a clear error; NaN may be among them."""
    with remedies("y"):
        values = np.asarray(check_plain("y", y, gaps=True))
    if values.dtype == bool or not (
        np.issubdtype(values.dtype, np.integer) or np.issubdtype(values.dtype, np.floating)
    ):
        raise ValueError(f"y must hold real numbers, got an array of type {values.dtype}.")
    if not 1 <= values.ndim <= 4 or values.size == 0:
        raise ValueError(
            f"y must have one to three dimensions, and one more for several signals, and samples "
            f"in it; got shape {values.shape}."
        )
    if values.dtype != np.float32:
        values = values.astype(np.float64, copy=False)
    if np.isinf(values).any():
        raise ValueError("y contains infinity; repair these samples, or set them to NaN.")
    if not np.isnan(values).all():
        check_range(values[~np.isnan(values)] if np.isnan(values).any() else values)
    return values


def check_positions(t: Any, layout: Layout) -> Array:
    """One position for each sample of a one-dimensional signal, or a clear error."""
    if len(layout.axes) != 1:
        raise ValueError(
            "t has one position for each sample of a one-dimensional signal y, and this has "
            f"{len(layout.axes)} axes, got {t!r}; leave it out."
        )
    return finite_array("t", t, layout.signal_shape)


def centred(signal: Array) -> tuple[Array, float]:
    """The signal without its mean; exactly zero if it is constant but for rounding."""
    offset = float(signal.mean(dtype=np.float64))
    target = signal - signal.dtype.type(offset)
    largest = float(np.abs(target).max())
    if largest <= _CONSTANT * float(np.finfo(signal.dtype).eps) * max(abs(offset), largest):
        target[...] = 0.0
    return target, offset
