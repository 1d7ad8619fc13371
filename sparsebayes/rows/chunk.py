"""Some rows of many: what is read, checked and summed at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._support.data import check_fit, check_numbers

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows that follow each other.

    Attributes
    ----------
    first : int
        The number of the first row among all.
    X : ndarray, (n, D)
    y : ndarray, (n,) or (n, T)
        Numbers, or labels as they are given.
    weights : ndarray, (n,)
    """

    first: int
    X: Array
    y: Array
    weights: Array

    @property
    def numbers(self) -> Array:
        return np.arange(self.first, self.first + len(self.X))


def checked(
    number: int, first: int, X: Any, y: Any, weights: Any = None, *, labels: bool = False
) -> Chunk:
    """A chunk as arrays of floats, or an error that says which chunk it is."""
    n_rows = len(X)
    try:
        refuse_text(X)
        if n_rows == 0:
            X = check_numbers("X", X, ensure_2d=True, ensure_min_samples=0)
            empty = np.asarray(y)
            return Chunk(first, X, empty if labels else empty.astype(float), np.empty(0))
        X, y, weights = check_fit(None, X, y, weights, labels=labels, several=not labels, part=True)
    except (TypeError, ValueError) as error:
        last = first + max(n_rows, 1) - 1
        raise ValueError(f"Chunk {number}, rows {first} to {last}: {error}") from error
    return Chunk(first, X, y, weights)


def refuse_text(X: Any) -> None:
    """A clear error for a table with columns that are no numbers."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None or not hasattr(X, "columns"):
        return
    other = [
        str(name)
        for name, kind in zip(X.columns, kinds, strict=True)
        if getattr(kind, "kind", "O") not in "biuf"
    ]
    if other:
        raise ValueError(
            f"X has columns that are no numbers: {', '.join(map(repr, other))}; leave them out, or "
            "encode them, as scikit-learn's OneHotEncoder does."
        )


def names_of(X: Any) -> list[str] | None:
    """The names of the columns, where all of them are text."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None
