"""Predictions at more rows than are held at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsebayes.basis.centres import MOST_ROWS
from sparsebayes.rows.chunk import names_of, refuse_text
from sparsebayes.rows.dask_rows import is_dask

Array = np.ndarray
Method = TypeVar("Method", bound=Callable[..., Any])

_ROWS = 1 << 16  # of a memory map at a time


def by_chunks(method: Method) -> Method:
    """Decorate a method that says something of each row of X.

    Of a Dask collection it gives lazy arrays, in the same chunks; a memory map is read a few rows
    at a time.
    """

    @wraps(method)
    def wrapper(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if is_dask(X):
            check_is_fitted(self)
            return _lazily(method, self, X, args, kwargs)
        if isinstance(X, np.memmap) and X.ndim == 2 and len(X) > MOST_ROWS:
            starts = range(0, len(X), _ROWS)
            parts = [method(self, X[first : first + _ROWS], *args, **kwargs) for first in starts]
            if isinstance(parts[0], tuple):
                return tuple(map(np.concatenate, zip(*parts, strict=True)))
            return np.concatenate(parts)
        return method(self, X, *args, **kwargs)

    return wrapper  # type: ignore[return-value]


def _lazily(method: Callable[..., Any], model: Any, X: Any, args: Any, kwargs: Any) -> Any:
    """The same for each chunk of a Dask collection, when it is asked for."""
    if hasattr(X, "columns"):
        refuse_text(X)
        known, names = getattr(model, "feature_names_in_", None), names_of(X)
        if known is not None and names is not None and list(known) != names:
            raise ValueError(
                f"X has the columns {names}, but the model was fitted to {list(known)}; give "
                "these, in this order."
            )
        X = X.to_dask_array()
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got a dask array of shape {X.shape}.")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} was fitted to "
            f"{model.n_features_in_}."
        )
    X = X.rechunk({1: -1})
    model = copy.copy(model)
    model.__dict__.pop("feature_names_in_", None)  # chunks are arrays, whose names were looked at
    trial, other = (
        method(model, np.zeros((count, model.n_features_in_)), *args, **kwargs) for count in (1, 2)
    )
    whole, wider = (one if isinstance(one, tuple) else (one,) for one in (trial, other))
    shapes = [one.shape[1:] for one in whole]
    if shapes != [one.shape[1:] for one in wider]:
        raise ValueError("Only what is said of each row by itself can be had of a dask collection.")
    widths = [shape[0] if shape else 1 for shape in shapes]
    kind = np.result_type(*whole) if len(whole) > 1 else whole[0].dtype

    def work(rows: Array) -> Array:
        found = method(model, rows, *args, **kwargs) if len(rows) else whole
        parts = found if isinstance(found, tuple) else (found,)
        joined = np.concatenate([one.reshape(len(one), -1) for one in parts], axis=1)
        return joined[: len(rows)].astype(kind, copy=False)

    joined = X.map_blocks(work, dtype=kind, chunks=(X.chunks[0], (sum(widths),)))
    ends = np.cumsum(widths)
    found = []
    for shape, width, end in zip(shapes, widths, ends, strict=True):
        found.append(joined[:, end - width : end] if shape else joined[:, end - 1])
    return tuple(found) if isinstance(trial, tuple) else found[0]
