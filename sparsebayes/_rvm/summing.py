"""Sums over rows, a few of them at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.utils import gen_batches

from sparsebayes.basis import Basis
from sparsebayes.engine.model.sums import Sums

Array = np.ndarray

_NUMBERS = 1 << 22  # of functions at rows that are held at a time: 32 MB


def columns_of(basis: Basis, X: Array) -> Iterator[tuple[slice, Array]]:
    """Parts of the rows, and the distinct functions at these."""
    functions = basis.distinct_
    for part in gen_batches(len(X), max(1, _NUMBERS // max(1, functions.size))):
        yield part, basis.columns(X[part], functions)


def sums_over(basis: Basis, X: Array, targets: Array, weights: Array) -> Sums | None:
    """Those of all rows, with targets (N, T); None without rows."""
    total = None
    for part, columns in columns_of(basis, X):
        one = Sums.of(columns, targets[part], weights[part])
        total = one if total is None else total + one
    return total
