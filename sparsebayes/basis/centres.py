"""On which rows the functions of a kernel are centred."""

from __future__ import annotations

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


def drawn_rows(rows: Array, count: int) -> Array | None:
    """So many of the rows, in their order; None for all.

    The first of one fixed permutation, so that more centres are the same ones and others.
    """
    if count >= rows.size:
        return None
    return np.sort(rows[np.random.default_rng(0).permutation(rows.size)[:count]])


def spread(size: int, count: int) -> Array:
    """So many of so many numbers from 0 on, by the same rule, in their order."""
    return np.sort(np.random.default_rng(0).permutation(size)[:count])


def given_centres(centres: Any, n_features: int) -> Array:
    """Points as an array, (M, D), or a clear error."""
    try:
        points = np.array(centres, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    usable = points.ndim == 2 and len(points) and points.shape[1] == n_features
    if not usable or not np.isfinite(points).all():
        raise ValueError(
            f"centres must be None, a number of rows, or an array of points with the {n_features} "
            f"features of X, (n_centres, {n_features}) without NaN or infinity, got "
            f"{repr(centres) if points.ndim < 2 else f'an array of shape {points.shape}'}."
        )
    return points
