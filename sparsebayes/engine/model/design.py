"""Φ as an operator: what a solver may ask of a set of basis functions.

A solver needs columns, products ``Φᵀ Y``, ``ΦᵀWΦ`` and the columns' norms, nothing else. `Dense`
holds the matrix; `Lazy` computes its columns whenever they are needed, block by block,
so that a set too large for the memory budget is never held whole; `MatrixFree` has fast
transforms in their place; `Crossed` holds the matrix and all products among its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Protocol

import numpy as np

from sparsebayes.engine import linalg

Array = np.ndarray

Tile = Callable[[Array, slice], Array]

# Samples and functions of a tile that is computed and multiplied while it is in the cache, 4 MB.
_TILE = 1024, 512


class Design(Protocol):
    """N samples of M basis functions."""

    shape: tuple[int, int]
    capacity: int  # how many columns may be held at a time

    def columns(self, index: Array) -> Array:
        """The chosen columns, (N, k)."""
        ...

    def project(self, rhs: Array) -> Array:
        """``Φᵀ rhs`` for rhs of shape (N,) or (N, k)."""
        ...

    def squared_norms(self, weights: Array) -> Array:
        """``Σ_n w_n φ_m(x_n)²`` for every m, (M,) for one set of weights, (M, k) for k."""
        ...

    def products(self, rhs: Array, weights: Array) -> tuple[Array, Array]:
        """`project` and `squared_norms` in one pass."""
        ...

    def cross(self, a: Array, b: Array | None, weights: Array | None) -> Array:
        """``Φ_aᵀWΦ_b``; b is None for all columns, `weights` for weights of one."""
        ...


def _weighted(columns: Array, weights: Array | None) -> Array:
    """Columns multiplied by the weights of the samples."""
    return columns if weights is None else (columns.T * weights).T


class ByColumns(Design):
    """`cross` for designs that give their columns."""

    def cross(self, a: Array, b: Array | None, weights: Array | None) -> Array:
        left = _weighted(self.columns(a), weights)
        return self.project(left).T if b is None else left.T @ self.columns(b)


class Dense(ByColumns):
    """A design held as an (N, M) array."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)
        self.shape = (self.matrix.shape[0], self.matrix.shape[1])
        self.capacity = self.shape[1]

    def columns(self, index: Array) -> Array:
        return self.matrix[:, index]

    def project(self, rhs: Array) -> Array:
        with linalg.own_threads(rhs.size * self.shape[1]):
            return (rhs.T @ self.matrix).T  # faster than matrixᵀ @ rhs for a few columns

    def squared_norms(self, weights: Array) -> Array:
        return _squared_norms(self.matrix, weights)

    def products(self, rhs: Array, weights: Array) -> tuple[Array, Array]:
        return self.project(rhs), self.squared_norms(weights)


class Postponed(Dense):
    """A matrix that is computed when it is first asked for: it may never be."""

    def __init__(self, compute: Callable[[], Array], shape: tuple[int, int]) -> None:
        self._compute, self.shape, self.capacity = compute, shape, shape[1]

    @cached_property
    def matrix(self) -> Array:  # type: ignore[override]
        return self._compute()


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


class Lazy(ByColumns):
    """A design whose columns are computed when needed.

    Parameters
    ----------
    compute : callable
        ``compute(index)`` returns the columns with these indices, (N, k).
    shape : tuple
        (N, M).
    memory_budget : int
        Bytes; all columns are visited in blocks much smaller than that.
    tile : callable, optional
        ``tile(index, rows)`` returns those columns of a slice of the samples; all columns are then
        visited in tiles that stay in the cache.
    """

    def __init__(
        self,
        compute: Callable[[Array], Array],
        shape: tuple[int, int],
        memory_budget: int,
        tile: Tile | None = None,
    ) -> None:
        self._compute = compute
        self._tile = tile
        self.shape = shape
        self.capacity = max(64, memory_budget // (32 * max(1, shape[0])))
        self._memory_budget = memory_budget
        self._block_bytes = min(memory_budget // 16, 1 << 26)

    def columns(self, index: Array) -> Array:
        return self._compute(index)

    def restrict(self, index: Array) -> Lazy:
        """The same for some columns."""
        shape = (self.shape[0], index.size)
        tile = self._tile
        return Lazy(
            lambda some: self.columns(index[some]),
            shape,
            self._memory_budget,
            None if tile is None else lambda some, rows: tile(index[some], rows),
        )

    def blocks(self, n_bytes: int) -> Iterator[tuple[slice, Array]]:
        """All columns, in blocks of about `n_bytes`."""
        width = max(1, n_bytes // (8 * max(1, self.shape[0])))
        for start in range(0, self.shape[1], width):
            part = slice(start, min(start + width, self.shape[1]))
            yield part, self.columns(np.arange(part.start, part.stop))

    def slabs(self, index: Array) -> Iterator[tuple[slice, Array]]:
        """The chosen columns, some samples at a time where these can be had."""
        if self._tile is None:
            yield slice(None), self.columns(index)
            return
        for rows in _parts(self.shape[0], _TILE[0]):
            yield rows, self._tile(index, rows)

    def project(self, rhs: Array) -> Array:
        return self._visit(rhs, None)[0]

    def squared_norms(self, weights: Array) -> Array:
        return self._visit(None, weights)[1]

    def products(self, rhs: Array, weights: Array) -> tuple[Array, Array]:
        return self._visit(rhs, weights)

    def _visit(self, rhs: Array | None, weights: Array | None) -> tuple[Array, Array]:
        """Compute all columns once for what is asked."""
        count = self.shape[1]
        projected = np.zeros((*(() if rhs is None else rhs.shape[1:]), count))
        norms = np.zeros((count, *(() if weights is None else weights.shape[1:])))
        for part, rows, block in self._tiles():
            if rhs is not None:
                projected[..., part] += rhs[rows].T @ block
            if weights is not None:
                norms[part] += _squared_norms(block, weights[rows])
        return projected.T, norms

    def _tiles(self) -> Iterator[tuple[slice, slice, Array]]:
        """Parts of the columns, and of the samples where these can be had."""
        if self._tile is None:
            for part, block in self.blocks(self._block_bytes):
                yield part, slice(None), block
            return
        for part in _parts(self.shape[1], _TILE[1]):
            for rows, block in self.slabs(np.arange(part.start, part.stop)):
                yield part, rows, block


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


def _parts(count: int, size: int) -> Iterator[slice]:
    """So many in parts."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def probe(n_samples: int) -> Array:
    """A fixed arbitrary vector: functions with equal products with it are equal."""
    return np.cos(np.arange(1.0, n_samples + 1.0) ** 2)


def gram(columns: Array, weights: Array | None) -> Array:
    """``ΦᵀWΦ``, (M, M), for weights that are not negative."""
    half = columns if weights is None else np.sqrt(weights)[:, None] * columns
    return half.T @ half  # a symmetric product, at half the price of another


def _squared_norms(columns: Array, weights: Array) -> Array:
    if weights.ndim == 1:
        return np.einsum("nm,nm,n->m", columns, columns, weights, optimize=False)
    return (weights.T @ np.square(columns)).T


def make_design(
    compute: Callable[[Array], Array],
    shape: tuple[int, int],
    memory_budget: int,
    *,
    tile: Tile | None = None,
    later: bool = False,
) -> Dense | Lazy:
    """`Dense` where the whole matrix fits into half of `memory_budget` bytes, else `Lazy`.

    With `later` it is computed when somebody asks for it.
    """
    lazy = Lazy(compute, shape, memory_budget, tile)
    if 16 * shape[0] * shape[1] > memory_budget:
        return lazy

    def whole() -> Array:
        matrix = np.empty(shape)
        for part, block in lazy.blocks(1 << 23):  # small blocks stay in the cache
            matrix[:, part] = block
        return matrix

    return Postponed(whole, shape) if later else Dense(whole())
