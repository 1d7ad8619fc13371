"""Exogenous inputs of a series: those to learn from, and those that come later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._support.data import check_columns
from sparsebayes.forecasting.tables.timeline import Timeline, given_index, read_inputs

Array = np.ndarray


def training_inputs(
    X: Any, n_times: int, index: Any, *, y: Array | None = None, given: Any = None, name: str = "X"
) -> tuple[Array, list[Any] | None]:
    """Inputs of a series at all of its times.

    Where neither `y` nor `X` has a value, as at times that both leave out, the inputs before are
    taken (at the beginning those after): nothing is learned there, but lagged inputs need some.

    Parameters
    ----------
    X : array-like of shape (rows, K) or None
        With an index of pandas, rows for all times of the series, in any order and also for more;
        they may be missing where `y` is. Without, one for each time of `index` or of `given`.
    n_times : int
        Length of the series.
    index : pandas.Index or None
        All times of the series.
    y : ndarray of shape (n_times,), default=None
        Its values, NaN where they are missing. None: all are known.
    given : pandas.Index, default=None
        The times of the series before those that it left out were put in.
    name : str, default="X"
        What the inputs are, for messages.

    Returns
    -------
    inputs : ndarray of shape (n_times, K)
    columns : list or None
        Names of the inputs.
    """
    if X is None:
        return np.empty((n_times, 0)), None
    own = given_index(X)
    if own is None and given is not None and len(given) == len(X) != n_times:
        own = given
    if own is None or index is None:
        inputs, _ = read_inputs(X, name)
        if len(inputs) != n_times:
            raise ValueError(
                f"{name} must have a row for each of the {n_times} values of y, got {len(inputs)}."
            )
        check_columns(name, inputs)
        return inputs, _names(X)
    places = _rows_at(own, index, y, name)
    rows = X.iloc[places] if hasattr(X, "iloc") else np.asarray(X)[places]
    inputs, _ = read_inputs(rows, name)
    check_columns(name, inputs)
    return inputs, _names(X)


def _rows_at(own: Any, index: Any, y: Array | None, name: str) -> Array:
    """Positions of the rows to take for each time, or a clear error."""
    if own.has_duplicates:
        twice = own[own.duplicated()][0]
        raise ValueError(
            f"The index of {name} has {twice} more than once; keep one, for instance with "
            f"{name}.groupby(level=0).mean()."
        )
    places = own.get_indexer(index)
    absent = places < 0
    needed = absent if y is None else absent & np.isfinite(y)
    if needed.any() or absent.all():
        i = int(np.flatnonzero(absent if absent.all() else needed)[0])
        raise ValueError(
            f"{name} and y must have the same index, but {name} has no row for {index[i]} where y "
            f"has a value; use {name}.reindex(y.index) and fill the rows that are missing."
        )
    known = np.flatnonzero(~absent)
    before = np.searchsorted(known, np.arange(len(places)), side="right") - 1
    return places[known[np.maximum(before, 0)]]


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

    def check(self, X: Array, columns: list[Any] | None, name: str) -> None:
        """Inputs are of the same kind as those of the fit, or a clear error."""
        if X.shape[1] != self.count:
            raise ValueError(f"{name} must have {self.count} columns as in fit, got {X.shape[1]}.")
        if None not in (self.columns, columns) and self.columns != columns:
            raise ValueError(f"{name} has columns {columns}, but in fit it had {self.columns}.")

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
        self.check(inputs, _names(X), name)
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
