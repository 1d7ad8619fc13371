"""Rows that are equal: which are the first, and to which of those each is equal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Distinct(NamedTuple):
    """The distinct rows of a matrix, in the order of their values.

    Attributes
    ----------
    first : ndarray of int, (k,)
        The number of the first row that has these values.
    place : ndarray of int, (n,)
        Which of them each row is.
    """

    first: Array
    place: Array


def distinct_rows(matrix: Array) -> Distinct:
    """Find equal rows, as ``np.unique(matrix, axis=0)`` does; missing values are equal.

    NumPy compares rows by a detour through Python, in which Ctrl-C becomes a `TypeError`.
    """
    order = np.lexsort(matrix.T[::-1]) if matrix.shape[1] else np.arange(len(matrix))
    ordered = matrix[order]
    above, below = ordered[:-1], ordered[1:]
    other = (above != below) & ~((above != above) & (below != below))
    new = np.concatenate([np.ones(min(len(matrix), 1), dtype=bool), other.any(axis=1)])
    place = np.empty(len(matrix), dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return Distinct(order[new], place)
