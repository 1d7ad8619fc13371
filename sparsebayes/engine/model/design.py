"""Φ as an operator: what a solver may ask of a set of basis functions.

A solver needs columns, products ``Φᵀ Y``, ``ΦᵀWΦ`` and the columns' norms, nothing else. `Dense`
holds the matrix; `Lazy` computes its columns whenever they are needed, block by block,
so that a set too large for the memory budget is never held whole; `MatrixFree` has fast
transforms in their place; `gram.Crossed` holds the matrix and all products among its columns.
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
    """N samples of M basis functions.

    A solver needs columns, products and norms, nothing else. A design of your own has the
    attributes and methods listed here.

    Attributes
    ----------
    shape : tuple of int
        (N, M).
    capacity : int
        How many columns may be held at a time.

    See Also
    --------
    Dense : The matrix is held.
    Lazy : Columns are computed when needed.
    MatrixFree : Products are fast transforms.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense
    >>> design = Dense(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> design.project(np.ones(2)), design.squared_norms(np.ones(2))
    (array([4., 6.]), array([10., 20.]))
    """

    shape: tuple[int, int]
    capacity: int  # how many columns may be held at a time

    def columns(self, index: Array) -> Array:
        """Give some columns.

        Parameters
        ----------
        index : ndarray of int, (k,)
            Which ones.

        Returns
        -------
        ndarray, (N, k)
            The columns.
        """
        ...

    def project(self, rhs: Array) -> Array:
        """Multiply all columns with vectors.

        Parameters
        ----------
        rhs : ndarray, (N,) or (N, k)
            The vectors.

        Returns
        -------
        ndarray, (M,) or (M, k)
            ``Φᵀ rhs``.
        """
        ...

    def squared_norms(self, weights: Array) -> Array:
        """Compute the weighted squared norm of each column.

        Parameters
        ----------
        weights : ndarray, (N,) or (N, k)
            Weights of the samples, or k sets of them.

        Returns
        -------
        ndarray, (M,) or (M, k)
            ``Σ_n w_n φ_m(x_n)²``.
        """
        ...

    def products(self, rhs: Array, weights: Array) -> tuple[Array, Array]:
        """Compute `project` and `squared_norms` in one pass.

        Parameters
        ----------
        rhs : ndarray, (N,) or (N, k)
            The vectors.
        weights : ndarray, (N,) or (N, k)
            Weights of the samples.

        Returns
        -------
        projected : ndarray
            ``Φᵀ rhs``.
        norms : ndarray
            ``Σ_n w_n φ_m(x_n)²``.
        """
        ...

    def cross(self, a: Array, b: Array | None, weights: Array | None) -> Array:
        """Multiply some columns with others.

        Parameters
        ----------
        a, b : ndarray of int
            Which columns; None in place of the second is all.
        weights : ndarray, (N,), or None
            Weights of the samples; None is 1 for each.

        Returns
        -------
        ndarray
            ``Φ_aᵀWΦ_b``.
        """
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
    """A design held as an (N, M) array.

    It is the fastest where there is memory for it.

    Parameters
    ----------
    matrix : array-like of shape (N, M)
        The functions in columns.

    See Also
    --------
    make_design : This one, or `Lazy` where it would be too large.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense
    >>> Dense(np.eye(3)).columns(np.array([2]))
    array([[0.],
           [0.],
           [1.]])
    """

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


class Lazy(ByColumns):
    """A design whose columns are computed when needed.

    A set too large for the memory is never held whole.

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

    See Also
    --------
    Dense : Holds all columns.
    make_design : Chooses between both.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Lazy
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> powers = Lazy(lambda index: x[:, None] ** index, (50, 4), memory_budget=1 << 20)
    >>> powers.project(np.ones(50)).round(1)
    array([50. , 25. , 16.8, 12.8])
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
        """Take some of the columns.

        Parameters
        ----------
        index : ndarray of int, (k,)
            Which ones.

        Returns
        -------
        Lazy
            A design of these.
        """
        shape = (self.shape[0], index.size)
        tile = self._tile
        return Lazy(
            lambda some: self.columns(index[some]),
            shape,
            self._memory_budget,
            None if tile is None else lambda some, rows: tile(index[some], rows),
        )

    def blocks(self, n_bytes: int) -> Iterator[tuple[slice, Array]]:
        """Go through all columns in blocks.

        Parameters
        ----------
        n_bytes : int
            About the size of a block.

        Yields
        ------
        part : slice
            Which columns.
        block : ndarray
            These.
        """
        width = max(1, n_bytes // (8 * max(1, self.shape[0])))
        for start in range(0, self.shape[1], width):
            part = slice(start, min(start + width, self.shape[1]))
            yield part, self.columns(np.arange(part.start, part.stop))

    def slabs(self, index: Array) -> Iterator[tuple[slice, Array]]:
        """Go through some columns, some samples at a time where these can be had.

        Parameters
        ----------
        index : ndarray of int, (k,)
            Which columns.

        Yields
        ------
        rows : slice
            Which samples.
        slab : ndarray
            The columns there.
        """
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


def _parts(count: int, size: int) -> Iterator[slice]:
    """So many in parts."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def probe(n_samples: int) -> Array:
    """A fixed arbitrary vector: functions with equal products with it are equal."""
    return np.cos(np.arange(1.0, n_samples + 1.0) ** 2)


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
    """Choose a design that fits into memory.

    It is `Dense` where the whole matrix fits into half of `memory_budget`, else `Lazy`.

    Parameters
    ----------
    compute : callable
        ``compute(index)`` returns the columns with these indices, (N, k).
    shape : tuple of int
        (N, M).
    memory_budget : int
        Bytes.
    tile : callable or None, default=None
        ``tile(index, rows)`` returns those columns of a slice of the samples.
    later : bool, default=False
        Whether the matrix is computed only when somebody asks for it.

    Returns
    -------
    Dense or Lazy
        The design.

    See Also
    --------
    Dense : The matrix is held.
    Lazy : Columns are computed when needed.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import make_design
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> design = make_design(lambda index: x[:, None] ** index, (50, 4), memory_budget=1 << 20)
    >>> type(design).__name__, design.shape
    ('Dense', (50, 4))
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
