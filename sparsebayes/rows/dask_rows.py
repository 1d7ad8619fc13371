"""Rows of Dask's arrays and dataframes: each chunk is summed where it is.

A pass is a pure function of each chunk and a tree of sums, so that retries, spilling and workers
that are lost are the scheduler's business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.rows.chunk import Chunk, checked, names_of, refuse_text
from sparsebayes.rows.source import Rows

Array = np.ndarray

_FAN_IN = 8  # sums that are added at once


def is_dask(data: Any) -> bool:
    """Whether these are Dask's, as can be told without importing it."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr")


class DaskRows(Rows):
    """A Dask array or dataframe of inputs, and targets in the same chunks.

    Parameters
    ----------
    X : dask array or dataframe
    y, weights : dask array, series or dataframe, or an array; no weights count once
    labels : bool
    """

    def __init__(self, X: Any, y: Any, weights: Any, *, labels: bool) -> None:
        if y is None:
            raise ValueError("y is needed: give the targets as a dask array, or an array.")
        self.labels, self.feature_names = labels, names_of(X)
        if hasattr(X, "columns"):
            refuse_text(X)
        elif X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got a dask array of shape {X.shape}.")
        else:
            X = X.rechunk({1: -1})
        self._X = list(np.ravel(X.to_delayed()))
        sizes = None if hasattr(X, "columns") else X.chunks[0]
        self.sizes = self._known(sizes, self._X)
        self.n_rows = sum(self.sizes)
        self._y = self._aligned("y", y)
        self._weights = [None] * len(self._X)
        if weights is not None:
            self._weights = self._aligned("sample_weight", weights)

    @staticmethod
    def _known(sizes: Any, blocks: list[Any]) -> list[int]:
        """The rows of each block, counted where they are not known."""
        if sizes is not None and not np.isnan(sizes).any():
            return [int(size) for size in sizes]
        dask = require("dask", "A fit to a dask collection")
        return [int(size) for size in dask.compute(*(dask.delayed(len)(one) for one in blocks))]

    def _aligned(self, name: str, values: Any) -> list[Any]:
        """Targets or weights in the chunks of X, or a clear error."""
        n_rows = sum(self.sizes)
        if not is_dask(values):
            values = np.asarray(values)
            if len(values) != n_rows:
                raise ValueError(f"X has {n_rows} rows, but {name} has {len(values)}.")
            ends = np.cumsum(self.sizes)
            return [values[end - size : end] for end, size in zip(ends, self.sizes, strict=True)]
        if hasattr(values, "chunks"):
            lengths = values.chunks[0]
            if not np.isnan(lengths).any():
                if sum(lengths) != n_rows:
                    raise ValueError(f"X has {n_rows} rows, but {name} has {sum(lengths)}.")
                others = {axis: -1 for axis in range(1, values.ndim)}
                values = values.rechunk({0: tuple(self.sizes), **others})
                return list(np.ravel(values.to_delayed()))
        blocks = list(np.ravel(values.to_delayed()))
        lengths = self._known(None, blocks)
        if lengths != self.sizes:
            raise ValueError(
                f"X and {name} are in chunks of other sizes, {_listed(self.sizes)} and "
                f"{_listed(lengths)} rows; take both from the same dataframe, or give dask arrays "
                "whose chunk sizes are known."
            )
        return blocks

    def total(self, work: Callable[[Chunk], Any]) -> Any:
        dask = require("dask", "A fit to a dask collection")
        shared, one, add = dask.delayed(work), dask.delayed(_worked), dask.delayed(_added)
        firsts = np.cumsum([0, *self.sizes])
        blocks = zip(self._X, self._y, self._weights, self.sizes, strict=True)
        parts = [
            one(shared, number, int(firsts[number]), *block[:3], self.labels)
            for number, block in enumerate(blocks)
            if block[3]
        ]
        if not parts:
            raise ValueError("X has no rows.")
        while len(parts) > 1:
            parts = [add(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        try:
            return dask.compute(parts[0])[0]
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
            raise RuntimeError(
                f"Workers died again and again, at last by {error}. A chunk has up to "
                f"{max(self.sizes)} rows; give X in smaller chunks, fewer functions "
                "(RBF(centres=...)), whose products are a matrix of their number squared, or "
                "workers with more memory."
            ) from error


def _worked(
    work: Callable[[Chunk], Any],
    number: int,
    first: int,
    X: Any,
    y: Any,
    weights: Any,
    labels: bool,
) -> Any:
    return work(checked(number, first, X, y, weights, labels=labels))


def _added(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _listed(sizes: list[int]) -> str:
    told = ", ".join(map(str, sizes[:4]))
    return f"{told}, ..." if len(sizes) > 4 else told
