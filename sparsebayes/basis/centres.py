"""On which rows the functions of a kernel are centred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._support.validation import as_number, whole_number

Array = np.ndarray

MOST_ROWS = 10_000  # rows that have a function each, unless a number of centres is given
USUAL = 1000  # centres beyond


def is_number(centres: Any) -> bool:
    return np.ndim(centres) == 0 and as_number(centres) is not None


def number_of_centres(centres: Any, n_rows: int) -> int:
    """How many of so many rows; or a clear error."""
    if centres is None:
        return n_rows if n_rows <= MOST_ROWS else USUAL
    return whole_number("centres", centres)


@dataclass(frozen=True, eq=False)
class Some:
    """Which rows an array has, where it has some of many.

    Attributes
    ----------
    numbers : ndarray of int, (n,)
        Of the rows.
    n_rows : int
        How many rows there are.
    """

    numbers: Array
    n_rows: int


def keys(numbers: Array) -> Array:
    """A fixed number for each row number, as if drawn at random from all of 64 bits [1]_.

    The rows with the smallest keys are a sample of however many rows there are, whether they are
    looked at together or part by part.

    References
    ----------
    .. [1] G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
       OOPSLA 2014.
    """
    with np.errstate(over="ignore"):
        mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def smallest(numbers: Array, count: int) -> Array:
    """The places of so many row numbers with the smallest keys, in their order."""
    if count >= numbers.size:
        return np.arange(numbers.size)
    if count <= 0:
        return np.empty(0, dtype=np.intp)
    return np.sort(np.argpartition(keys(numbers), count - 1)[:count])


def drawn_rows(rows: Array, count: int) -> Array | None:
    """So many of the rows, in their order; None for all.

    Those with the smallest keys, so that more centres are the same ones and others.
    """
    return None if count >= rows.size else rows[smallest(rows, count)]


def given_centres(centres: Any, n_features: int) -> Array:
    """Points as an array, (M, D), or a clear error."""
    try:
        points = np.array(centres, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        points = np.empty(0)
    usable = points.ndim == 2 and len(points) and points.shape[1] == n_features
    if not usable or not np.isfinite(points).all():
        raise ValueError(
            f"centres must be None, a number of rows, or an array of points with the {n_features} "
            f"features of X, (n_centres, {n_features}) without NaN or infinity, got "
            f"{repr(centres) if points.ndim < 2 else f'an array of shape {points.shape}'}."
        )
    return points
