"""Whether rows are to be read chunk by chunk, told by what is given to `fit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.basis.centres import MOST_ROWS
from sparsebayes.rows.dask_rows import DaskRows, is_dask
from sparsebayes.rows.source import Arrays, Parts, Rows


def as_rows(X: Any, y: Any, sample_weight: Any = None, *, labels: bool = False) -> Rows | None:
    """A source of rows: Dask's, a memory map, or an iterable; None for rows that are held."""
    if is_dask(X):
        return DaskRows(X, y, sample_weight, labels=labels)
    for name, other in (("y", y), ("sample_weight", sample_weight)):
        if is_dask(other):
            raise ValueError(
                f"{name} is a dask collection, but X is {type(X).__name__}; give both of one kind, "
                f"as {name}.compute(), or X as a dask array."
            )
    if isinstance(X, np.memmap) and X.ndim == 2 and len(X) > MOST_ROWS:
        if y is None:
            raise ValueError("y is needed: give the targets as an array, or a memory map.")
        weights = None if sample_weight is None else np.asanyarray(sample_weight)
        return Arrays(X, np.asanyarray(y), weights, labels=labels)
    if y is None and _is_iterable(X):
        if sample_weight is not None:
            raise ValueError(
                "sample_weight comes with its chunk, (X, y, sample_weight), and not beside them."
            )
        return Parts(X, labels=labels)
    return None


def _is_iterable(X: Any) -> bool:
    """Whether this is an iterable of chunks, and no table."""
    if isinstance(X, (str, bytes)) or hasattr(X, "shape") or hasattr(X, "__array__"):
        return False
    if isinstance(X, (list, tuple)):
        first = X[0] if len(X) else None
        return isinstance(first, tuple) and len(first) in (2, 3) and np.ndim(first[0]) == 2
    return hasattr(X, "__iter__")
