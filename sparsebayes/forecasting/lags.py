"""Time series as rows of lagged values, and differences that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.signal import lfilter

from sparsebayes._support.guesses.values import hint
from sparsebayes._support.validation import whole_number

Array = np.ndarray

CONSTANT = 1e-12  # a spread this small a part of the largest value is rounding


def _several(name: str, values: Any, least: int) -> tuple[int, ...]:
    """A list of whole numbers."""
    listed = isinstance(values, (Sequence, np.ndarray)) and np.ndim(values) == 1
    if isinstance(values, (str, bytes)) or not listed:
        raise ValueError(
            f"{name} must be a whole number or a list of whole numbers >= {least}, got {values!r}"
            f"{hint(name, values)}."
        )
    return tuple(whole_number(f"{name}[{i}]", value, least) for i, value in enumerate(values))


def as_lags(lags: Any, step: Any) -> tuple[int, ...]:
    """``step, 2 step, ..., lags step`` for a number; a list as it is, in order."""
    step = whole_number("step", step)
    if isinstance(lags, Integral):
        return tuple(step * k for k in range(1, whole_number("lags", lags) + 1))
    return _distinct("lags", _several("lags", lags, 1))


def as_exog_lags(lags: Any, step: Any) -> tuple[int, ...]:
    """As `as_lags`, but 0 is the time of the target itself."""
    if isinstance(lags, Integral):
        return as_lags(lags, step) if whole_number("exog_lags", lags, 0) else (0,)
    return _distinct("exog_lags", _several("exog_lags", lags, 0))


def as_periods(difference: Any) -> tuple[int, ...]:
    """The periods of the differences, none for None or 0."""
    if difference is None:
        return ()
    if isinstance(difference, Integral):
        return (int(difference),) if whole_number("difference", difference, 0) else ()
    return _several("difference", difference, 1)


def _distinct(name: str, lags: tuple[int, ...]) -> tuple[int, ...]:
    if not lags:
        raise ValueError(f"{name} must have at least one lag, got an empty list.")
    if len(set(lags)) < len(lags):
        raise ValueError(f"{name} must be distinct, got {list(lags)}.")
    return tuple(sorted(lags))


@dataclass(frozen=True)
class Differences:
    """``y_t − y_{t−p}`` for each period p in turn, along the last axis.

    Parameters
    ----------
    periods : tuple of int
    """

    periods: tuple[int, ...]

    @property
    def order(self) -> int:
        """How many values are lost at the beginning."""
        return sum(self.periods)

    def apply(self, y: Array) -> Array:
        for period in self.periods:
            y = y[..., period:] - y[..., :-period]
        return y

    def polynomial(self) -> Array:
        """The differences are ``Σ_j c_j y_{t−j}``: the c_j."""
        coefficients = np.ones(1)
        for period in self.periods:
            factor = np.zeros(period + 1)
            factor[0], factor[-1] = 1.0, -1.0
            coefficients = np.convolve(coefficients, factor)
        return coefficients

    def restore(self, history: Array, changes: Array) -> Array:
        """The levels (..., H) that follow `history` (..., at least order), from differences."""
        if not self.periods:
            return changes
        back = self.polynomial()
        recent = history[..., history.shape[-1] - self.order :]
        # What the known levels add to the first of the next ones, as `lfilter` wants it.
        start = np.stack(
            [
                -(recent[..., k:] @ back[self.order - np.arange(self.order - k)])
                for k in range(self.order)
            ],
            axis=-1,
        )
        return lfilter([1.0], back, changes, zi=start)[0]

    def responses(self, horizon: int) -> Array:
        """How the levels (rows) follow from the differences (columns), (horizon, horizon)."""
        return self.restore(np.zeros((horizon, self.order)), np.eye(horizon)).T


def standardised(values: Array, differences: Differences) -> tuple[Array, float, float]:
    """The differences of a series in units of their spread, their mean and their spread.

    The series (N,) has NaN at its beginning, where there are no differences.
    """
    changes = differences.apply(values)
    center, scale = float(changes.mean()), float(changes.std())
    if scale <= CONSTANT * np.abs(values).max():
        scale = 1.0
    series = np.full(len(values), np.nan)
    series[differences.order :] = (changes - center) / scale
    return series, center, scale


@dataclass(frozen=True)
class Embedding:
    """Rows of lagged values: those of the series first, then those of the inputs.

    Parameters
    ----------
    lags, exog_lags : tuple of int
        In increasing order; an exogenous lag of 0 is the time of the target. Without inputs there
        need be no exogenous lags.
    """

    lags: tuple[int, ...]
    exog_lags: tuple[int, ...]

    @property
    def memory(self) -> int:
        """How many past values of the series a row needs."""
        return self.lags[-1]

    def first_target(self, differences: Differences) -> int:
        """The first value of a series that has all the values before it that a row needs."""
        return max([differences.order + self.memory, *self.exog_lags])

    def rows(self, series: Array, inputs: Array, times: Array) -> Array:
        """Rows for the targets at `times`; `inputs` are `lagged`."""
        return np.hstack([series[times[:, None] - np.array(self.lags)], inputs[times]])

    def lagged(self, inputs: Array) -> Array:
        """The lagged inputs of all times that inputs (N, K) reach, (N + first lag, lags times K).

        Before the beginning the first row stands.
        """
        if inputs.shape[1] == 0:
            return inputs
        times = np.arange(len(inputs) + self.exog_lags[0])
        back = np.maximum(times[:, None] - np.array(self.exog_lags), 0)
        return inputs[back].reshape(len(times), -1)

    def rows_needed(self, horizon: int) -> int:
        """How many future rows of the inputs a forecast needs."""
        return max(0, horizon - self.exog_lags[0]) if self.exog_lags else 0
