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
        counts, sums = np.zeros(0), np.zeros(0)
        for part in parts:
            index = self.index(part)
            size = max(counts.size, int(index.max(initial=-1)) + 1)
            more = size - counts.size
            counts = np.pad(counts, (0, more)) + np.bincount(index, minlength=size)
            sums = np.pad(sums, (0, more)) + np.bincount(index, part, minlength=size)
        some = counts > 0
        return sums[some] / counts[some], counts[some]
