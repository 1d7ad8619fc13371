"""Positive numbers of all magnitudes in narrow bins.

The leading bits of a float order it by octave and, within an octave, evenly: a bin's number
costs a shift.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Array = np.ndarray

CHUNK = 1 << 16  # numbers at a time: they stay in the cache


def chunks(size: int) -> Iterator[slice]:
    """Slices that cover so many numbers, a few at a time."""
    return (slice(start, start + CHUNK) for start in range(0, size, CHUNK))


def squares(flat: Array) -> Iterator[Array]:
    """The squares in double precision, a few at a time."""
    return (np.square(flat[part], dtype=np.float64) for part in chunks(flat.size))


class Bins:
    """Bins that begin at `least`; 2^`bits` of them make an octave."""

    def __init__(self, least: float, bits: int) -> None:
        self.least = least
        self._shift = 52 - bits
        self._base = int(np.float64(least).view(np.int64) >> self._shift)

    def index(self, values: Array) -> Array:
        """The bin of each value; what is less than the least counts as that."""
        raised = np.maximum(values, self.least)
        return (raised.view(np.int64) >> self._shift) - self._base

    def lower(self, count: int) -> Array:
        """Where the first bins begin."""
        return ((np.arange(count) + self._base) << self._shift).view(np.float64)

    def levels(self, parts: Iterator[Array]) -> tuple[Array, Array]:
        """The means of the bins that are not empty, rising, and the numbers in them."""
        found = Histogram(self)
        for part in parts:
            found.add(part)
        return found.levels()


class Histogram:
    """Numbers that come bit by bit, counted in bins."""

    def __init__(self, bins: Bins) -> None:
        self._bins = bins
        self._counts, self._sums = np.zeros(0), np.zeros(0)

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self._counts.sum())

    def add(self, values: Array) -> None:
        """Count a flat array."""
        index = self._bins.index(values)
        size = max(self._counts.size, int(index.max(initial=-1)) + 1)
        more = size - self._counts.size
        self._counts = np.pad(self._counts, (0, more)) + np.bincount(index, minlength=size)
        self._sums = np.pad(self._sums, (0, more)) + np.bincount(index, values, minlength=size)

    def levels(self) -> tuple[Array, Array]:
        """The means of the bins that are not empty, rising, and the numbers in them."""
        some = self._counts > 0
        return self._sums[some] / self._counts[some], self._counts[some]
