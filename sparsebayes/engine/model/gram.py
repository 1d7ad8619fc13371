"""Products among functions: all of them, or those of the functions that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.model.design import Dense, Lazy

Array = np.ndarray


def gram(columns: Array, weights: Array | None) -> Array:
    """``ΦᵀWΦ``, (M, M), for weights that are not negative."""
    half = columns if weights is None else np.sqrt(weights)[:, None] * columns
    return half.T @ half  # a symmetric product, at half the price of another


class Crossed(Dense):
    """A matrix with the products of all its columns, for far fewer columns than samples.

    They are computed when one is asked for, and again when the weights are others.
    """

    def __init__(self, matrix: Array) -> None:
        super().__init__(matrix)
        self._gram: tuple[Array | None, Array] | None = None
        self._turned: tuple[Array, Array, tuple[Array, Array]] | None = None

    def cross(self, a: Array, b: Array | None, weights: Array | None) -> Array:
        if self._gram is None or weights is not self._gram[0]:
            self._gram = weights, gram(self.matrix, weights)
        whole = self._gram[1]
        return whole[a] if b is None else whole[a[:, None], b]

    def complete(self, weights: Array | None, known: Array, rows: Array) -> None:
        """Form all products, where the `rows` of some columns are known."""
        whole = np.empty((self.shape[1], self.shape[1]))
        other = np.setdiff1d(np.arange(self.shape[1]), known)
        whole[known], whole[:, known] = rows, rows.T
        whole[other[:, None], other] = self._gram_of(other, weights)
        self._gram = weights, whole

    def _gram_of(self, index: Array, weights: Array | None) -> Array:
        return gram(self.matrix[:, index], weights)

    def restrict(self, index: Array) -> Crossed:
        """The same for some columns, with what is known of their products."""
        part = self._alone(index)
        if self._gram is not None:
            weights, whole = self._gram
            part._gram = weights, whole[index[:, None], index]
        return part

    def _alone(self, index: Array) -> Crossed:
        return Crossed(self.matrix[:, index])

    def turned(self, weights: Array, target: Array) -> tuple[Array, Array]:
        """``W^½Φ`` and ``W^½z`` after a rotation of the samples that leaves few coordinates."""
        known = self._turned
        if known is None or known[0] is not weights or known[1] is not target:
            root = np.sqrt(weights)
            half = np.column_stack([root[:, None] * self.matrix, (root * target.T).T])
            triangle = linalg.triangle(half)
            columns, rest = np.split(triangle, [self.shape[1]], axis=1)
            self._turned = weights, target, (columns, rest if target.ndim == 2 else rest[:, 0])
            known = self._turned
        return known[2]


class CrossedLazy(Crossed):
    """The products of all columns of a lazy design, without these columns where nobody asks."""

    def __init__(self, source: Lazy) -> None:
        self._source, self.shape, self.capacity = source, source.shape, source.shape[1]
        self._gram = self._turned = None

    @cached_property
    def matrix(self) -> Array:  # type: ignore[override]
        return self._source.columns(np.arange(self.shape[1]))

    def columns(self, index: Array) -> Array:
        return self._source.columns(index)

    def _alone(self, index: Array) -> Crossed:
        return CrossedLazy(self._source.restrict(index))

    def _gram_of(self, index: Array, weights: Array | None) -> Array:
        total = np.zeros((index.size, index.size))
        for rows, block in self._source.slabs(index):
            total += gram(block, None if weights is None else weights[rows])
        return total


class GramRows:
    """Rows of ``ΦᵀWΦ`` of functions that were asked for, until there is no more room.

    Attributes
    ----------
    held : ndarray, (at least the rows in use, M)
        The rows, in the order in which they came.
    """

    def __init__(self, n_functions: int, most: int) -> None:
        self.held = np.empty((0, n_functions))
        self._slot = np.full(n_functions, -1)  # where a function's row is
        self._count = 0
        self._most = most

    def slots(self, index: Array, compute: Callable[[Array], Array]) -> Array:
        """Where the rows of these functions are in `held`; `compute` gives those that lack."""
        slots = self._slot[index]
        if slots.size and np.minimum.reduce(slots) < 0:
            self._add(index, compute)
            slots = self._slot[index]
        return slots

    def _add(self, index: Array, compute: Callable[[Array], Array]) -> None:
        new = index[self._slot[index] < 0]
        if self._count + new.size > self._most:  # forget what is not asked for now
            kept = index[self._slot[index] >= 0]
            rows = self.held[self._slot[kept]]
            self._slot[:] = -1
            self._slot[kept] = np.arange(kept.size)
            self.held[: kept.size] = rows
            self._count = kept.size
        end = self._count + new.size
        if end > len(self.held):
            capacity = max(end, 64, min(2 * len(self.held), self._most))
            grown = np.empty((capacity, self.held.shape[1]))
            grown[: self._count] = self.held[: self._count]
            self.held = grown
        self.held[self._count : end] = compute(new)
        self._slot[new] = np.arange(self._count, end)
        self._count = end

    def among(self, index: Array) -> tuple[Array, Array]:
        """Which of these functions have a row, and their products with all of these."""
        slots = self._slot[index]
        known = np.flatnonzero(slots >= 0)
        return known, self.held[slots[known][:, None], index]

    def begin(self, known: Array, rows: Array) -> None:
        """Start with rows of these functions."""
        self.held, self._count = rows, known.size
        self._slot[known] = np.arange(known.size)
