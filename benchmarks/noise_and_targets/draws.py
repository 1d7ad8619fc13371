"""What the sections share: which draws are measured, fits with their time, means over the draws."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.tools import tables
from benchmarks.tools.measure import timed

Record = dict[str, Any]
Array = np.ndarray

FALL = -1e-8  # of the objective in a step: more is no rounding


def planned(
    counts: Mapping[str, int],
    few: Sequence[str],
    quick: bool,
    splits: int | None,
    only: Sequence[str],
    done: Sequence[str],
) -> Iterator[tuple[str, str, int]]:
    """The (key, name, draw) asked for and not `done`.

    Parameters
    ----------
    counts : dict of str to int
        How many draws each name has.
    few : sequence of str
        The names of a quick run, which has one draw of each.
    quick : bool
    splits : int or None
        So many draws instead.
    only : sequence of str
        These names instead, unless it is empty.
    done : sequence of str
        Keys that are stored.
    """
    for name in only or (few if quick else counts):
        for draw in range(splits or (1 if quick else counts[name])):
            if f"{name}/{draw}" not in done:
                yield f"{name}/{draw}", name, draw


def fitted(model: Any, X: Array, y: Array) -> tuple[Any, float, list[str]]:
    """The model, its CPU seconds on one thread, and the names of its warnings."""
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, seconds = timed(model.fit, X, y)
    return found, seconds, [warning.category.__name__ for warning in caught]


def by_name(records: Mapping[str, Record]) -> dict[str, list[Record]]:
    """The records of each name."""
    found: dict[str, list[Record]] = {}
    for record in records.values():
        found.setdefault(record["name"], []).append(record)
    return found


def mean(some: Sequence[Record], value: Callable[[Record], float]) -> float:
    """Over the draws."""
    return float(np.mean([value(one) for one in some]))


def deepest(model: Any) -> float:
    """The smallest step of the objective; 0 if it never falls."""
    return float(np.diff(model.evidence_path_).min(initial=0.0))


def never_falls(records: Mapping[str, Record], what: str) -> Iterator[tables.Limit]:
    """The limit of the deepest step in all fits."""
    falls = [fall for one in records.values() for fall in one["falls"]]
    if falls:
        label = f"{len(falls)} fits with {what}: deepest step of the objective"
        met = min(falls) >= FALL
        yield label, f"≥ {FALL:g}".replace("-", "−"), f"{min(falls):.1e}".replace("-", "−"), met
