"""Gaps of a signal with one axis, and where stretches like them can be hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

_ROUNDS = 4  # in each other stretches are hidden
_BESIDE = 8  # samples between stretches that are hidden at once, besides their length
_WINDOW, _LENGTHS = 512, 8  # samples on each side of a gap that are looked at; or so many gaps


@dataclass(frozen=True)
class Gap:
    """Missing samples in a row: from `start` up to `stop`."""

    start: int
    stop: int

    @property
    def length(self) -> int:
        return self.stop - self.start


def gaps_of(seen: Array) -> list[Gap]:
    """All gaps, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], seen, [True]]).astype(np.int8)))
    return [Gap(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def windows(seen: Array) -> list[tuple[int, int]]:
    """Parts of a signal with all its gaps and what is around them; none overlap."""
    found: list[tuple[int, int]] = []
    for gap in gaps_of(seen):
        reach = max(_WINDOW, _LENGTHS * gap.length)
        start, stop = max(gap.start - reach, 0), min(gap.stop + reach, seen.size)
        if found and start <= found[-1][1]:
            start = found.pop()[0]
        found.append((start, stop))
    return found


def hidden(seen: Array, length: int, beside: int) -> list[Array]:
    """Where to hide stretches of a length; those of one array at once.

    Parameters
    ----------
    seen : ndarray of bool, (N,)
    length : int
    beside : int
        Samples between stretches.
    """
    counts = np.concatenate([[0], np.cumsum(seen)])
    space = length + beside
    for margin in (min(length, _BESIDE), 1, 0):
        found = []
        for number in range(_ROUNDS):
            first = margin + number * space // _ROUNDS
            starts = np.arange(first, seen.size - length - margin + 1, space)
            whole = counts[starts + length + margin] - counts[starts - margin]
            some = starts[whole == length + 2 * margin]
            if some.size:
                found.append(some)
        if sum(some.size for some in found) >= _ROUNDS:
            return found
    return found


def beside_inner(length: int) -> int:
    """Samples between hidden stretches that have samples on both sides."""
    return length + _BESIDE


def beside_last(length: int) -> int:
    """Samples before hidden stretches behind which a signal ends."""
    return 3 * length + 4 * _BESIDE
