"""Exogenous inputs of a series: those to learn from, and those that come later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes.forecasting.timeline import Timeline, read_inputs

Array = np.ndarray


def training_inputs(X: Any, n_times: int, index: Any) -> tuple[Array, list[Any] | None]:
    """Inputs (n_times, K) of a series with this index or None, and the names of their columns."""
    if X is None:
        return np.empty((n_times, 0)), None
    inputs, own = read_inputs(X)
    if len(inputs) != n_times:
        raise ValueError(
            f"X must have a row for each of the {n_times} values of y, got {len(inputs)}."
        )
    if own is not None and index is not None and not own.equals(index):
        raise ValueError("X and y must have the same index; use X.reindex(y.index).")
    return inputs, _names(X)


@dataclass(frozen=True)
class Exogenous:
    """The exogenous inputs that a model was fitted with: their number, names and units.

    Attributes
    ----------
    columns : list or None
        Names, if they have some.
    center, scale : ndarray, (K,)
        What they are standardised by.
    """

    columns: list[Any] | None
    center: Array
    scale: Array

    @classmethod
    def of(cls, X: Array, columns: list[Any] | None) -> Exogenous:
        """Of training inputs (N, K)."""
        spread = X.std(axis=0)
        return cls(columns, X.mean(axis=0), np.where(spread > 0, spread, 1.0))

    @property
    def count(self) -> int:
        return len(self.center)

    def standardised(self, X: Array) -> Array:
        return (X - self.center) / self.scale

    def read_later(
        self, X: Any, needed: int, name: str, lags: list[int], timeline: Timeline | None
    ) -> Array:
        """Inputs after the known ones, at least `needed` rows of them, or a clear error."""
        if not self.count:
            if X is not None:
                raise ValueError(f"{name} was given, but fit had no X; fit with X first.")
            return np.empty((needed, 0))
        reach = f"exog_lags={lags}"
        if X is None:
            if not needed:
                return np.empty((0, self.count))
            raise ValueError(
                f"{name} is missing: the model has {self.count} exogenous inputs, and with "
                f"{reach} it needs {needed} more row(s) of them."
            )
        inputs, index = read_inputs(X, name)
        if inputs.shape[1] != self.count:
            raise ValueError(
                f"{name} must have {self.count} columns as in fit, got {inputs.shape[1]}."
            )
        if None not in (self.columns, _names(X)) and self.columns != _names(X):
            raise ValueError(f"{name} has columns {_names(X)}, but in fit it had {self.columns}.")
        if len(inputs) < needed:
            raise ValueError(
                f"{name} has {len(inputs)} row(s), but with {reach} {needed} are needed: "
                f"{needed - len(inputs)} missing. Add them or shorten the horizon."
            )
        if index is not None and timeline is not None:
            timeline.check_ahead(index, name)
        return inputs


def _names(X: Any) -> list[Any] | None:
    return list(X.columns) if hasattr(X, "columns") else None
