"""A bounded sample of rows, found part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.basis.centres import Some, smallest
from sparsebayes.rows.chunk import Chunk

Array = np.ndarray

SAMPLE = 5000  # rows that are looked at by themselves, for length scales, centres and error bars


@dataclass(frozen=True, eq=False)
class Sample:
    """Of the rows with weight those with the smallest keys, in their order.

    Which these are does not depend on the parts in which the rows come.

    Attributes
    ----------
    size : int
        At most so many.
    n_rows : int
        Rows with weight among which they were chosen.
    numbers : ndarray of int, (n,)
        Their numbers among all rows.
    X, y, weights : ndarray
    """

    size: int
    n_rows: int
    numbers: Array
    X: Array
    y: Array
    weights: Array

    @classmethod
    def of(cls, chunk: Chunk, size: int = SAMPLE) -> Sample:
        seen = np.flatnonzero(chunk.weights > 0)
        place = seen[smallest(chunk.first + seen, size)]
        parts = (part[place] for part in (chunk.numbers, chunk.X, chunk.y, chunk.weights))
        return cls(size, seen.size, *parts)

    def __add__(self, other: Sample) -> Sample:
        if not other.n_rows:
            return self
        if not self.n_rows:
            return other
        numbers, X, y, weights = (
            np.concatenate([getattr(one, name) for one in (self, other)])
            for name in ("numbers", "X", "y", "weights")
        )
        place = smallest(numbers, self.size)
        place = place[np.argsort(numbers[place], kind="stable")]
        n_rows = self.n_rows + other.n_rows
        return Sample(self.size, n_rows, numbers[place], X[place], y[place], weights[place])

    def first(self, size: int) -> Sample:
        """The sample of another size, no larger."""
        place = smallest(self.numbers, size)
        parts = (part[place] for part in (self.numbers, self.X, self.y, self.weights))
        return Sample(size, self.n_rows, *parts)

    @property
    def complete(self) -> bool:
        """Whether these are all rows."""
        return self.n_rows == len(self.X)

    @property
    def some(self) -> Some:
        return Some(self.numbers, self.n_rows)


@dataclass(frozen=True)
class SampleOf:
    """From a chunk to the sample of its rows."""

    size: int = SAMPLE

    def __call__(self, chunk: Chunk) -> Sample:
        return Sample.of(chunk, self.size)
