"""Where rows come from when there are more of them than are held at a time.

All that a fit asks of a source is a sum: a function of one chunk, added up over all of them. How
the chunks are read, in which order, and where the function runs, is the source's business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from sparsebayes.rows.chunk import Chunk, checked, names_of
from sparsebayes.rows.sample import SAMPLE, Sample, SampleOf

Array = np.ndarray
T = TypeVar("T")

_NUMBERS = 1 << 20  # of a chunk of an array: 8 MB


class Rows(ABC):
    """Rows of inputs and targets, in chunks.

    Attributes
    ----------
    labels : bool
        Whether the targets are labels of classes.
    again : bool
        Whether there can be another pass.
    n_rows : int or None
        How many there are, where that is known before a pass.
    feature_names : list of str or None
    """

    labels: bool
    again: bool = True
    n_rows: int | None = None
    feature_names: list[str] | None = None

    @abstractmethod
    def total(self, work: Callable[[Chunk], T]) -> T:
        """The sum of ``work(chunk)`` over all chunks: one pass."""

    def sample(self, size: int = SAMPLE) -> Sample:
        """At most so many of the rows."""
        return self.total(SampleOf(size))

    def few(self, most: int) -> Chunk | None:
        """All rows, if there are at most so many, else None; where they may be held together."""
        return None


class Local(Rows):
    """Chunks that are read one after the other in this process."""

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Those of one pass."""

    def total(self, work: Callable[[Chunk], Any]) -> Any:
        found = None
        for chunk in self.chunks():
            one = work(chunk)
            found = one if found is None else found + one
        if found is None:
            raise ValueError("There are no rows: give at least one chunk (X, y).")
        return found


class Arrays(Local):
    """Arrays, which may be mapped from files: a few rows at a time become floats.

    Parameters
    ----------
    X, y, weights : ndarray; no weights count once
    labels : bool
    """

    def __init__(self, X: Array, y: Array, weights: Array | None, *, labels: bool) -> None:
        self.X, self.y, self.weights, self.labels = X, y, weights, labels
        self.n_rows = len(X)
        for name, other in (("y", y), ("sample_weight", weights)):
            if other is not None and len(other) != len(X):
                raise ValueError(f"X has {len(X)} rows, but {name} has {len(other)}; give as many.")

    def chunks(self) -> Iterator[Chunk]:
        step = max(1, _NUMBERS // max(1, self.X.shape[1]))
        for number, first in enumerate(range(0, len(self.X), step)):
            part = slice(first, first + step)
            weights = None if self.weights is None else self.weights[part]
            yield checked(number, first, self.X[part], self.y[part], weights, labels=self.labels)


class Parts(Local):
    """An iterable of ``(X, y)`` or ``(X, y, sample_weight)``.

    One that can be iterated once only has one pass; what is read of it before is kept for that.

    Parameters
    ----------
    parts : iterable
    labels : bool
    """

    def __init__(self, parts: Iterable[Any], *, labels: bool) -> None:
        self.labels = labels
        self.feature_names = getattr(parts, "feature_names", None)
        self._parts = parts
        self.again = not hasattr(parts, "__next__")
        self._kept: list[Chunk] = []
        self._rest: Iterator[Chunk] | None = None if self.again else self._read(iter(parts))

    def chunks(self) -> Iterator[Chunk]:
        if self._rest is None:
            return self._read(iter(self._parts))
        kept, rest, self._kept, self._rest = self._kept, self._rest, [], iter(())
        return chain(kept, rest)

    def _read(self, parts: Iterator[Any]) -> Iterator[Chunk]:
        first, width = 0, None
        for number, part in enumerate(parts):
            if not isinstance(part, (tuple, list)) or len(part) not in (2, 3):
                raise ValueError(
                    f"Chunk {number} must be a pair (X, y), or (X, y, sample_weight), got "
                    f"{type(part).__name__}."
                )
            if self.feature_names is None:
                self.feature_names = names_of(part[0])
            chunk = checked(number, first, *part, labels=self.labels)
            width = chunk.X.shape[1] if width is None else width
            if chunk.X.shape[1] != width:
                raise ValueError(
                    f"Chunk {number} has {chunk.X.shape[1]} features, those before have {width}."
                )
            first += len(chunk.X)
            yield chunk

    def few(self, most: int) -> Chunk | None:
        read, count = [], 0
        source = self._read(iter(self._parts)) if self._rest is None else self._rest
        for chunk in source:
            read.append(chunk)
            count += len(chunk.X)
            if count > most:
                if self._rest is not None:
                    self._kept = read
                return None
        if not read:
            raise ValueError("There are no rows: give at least one chunk (X, y).")
        parts = (
            np.concatenate([getattr(chunk, name) for chunk in read])
            for name in ("X", "y", "weights")
        )
        return Chunk(0, *parts)

    def sample(self, size: int = SAMPLE) -> Sample:
        if self._rest is None:
            return super().sample(size)
        found = None  # of those read first: there is no second pass
        for chunk in self._kept:
            one = Sample.of(chunk, size)
            found = one if found is None else found + one
        assert found is not None
        return found
