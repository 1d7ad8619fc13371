"""Designs whose products are fast transforms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from sparsebayes.engine.model.design import ByColumns

Array = np.ndarray


class Operator(Protocol):
    """A linear map from coefficients to a grid of samples, both of any shape."""

    shape: tuple[int, ...]
    coefficient_shape: tuple[int, ...]

    def analyse(self, signal: Array) -> Array:
        """``Φᵀy`` for signals in the last axes."""
        ...

    def synthesise(self, coefficients: Array) -> Array:
        """``Φw`` for coefficients in the last axes."""
        ...

    def gather(self, weights: Array) -> Array:
        """``Σ_n b_n φ_m(n)²`` for each coefficient m."""
        ...


class MatrixFree(ByColumns):
    """Samples of an operator's functions: products are transforms, no matrix is formed.

    For dictionaries such as wavelets, whose products with a signal are much faster than a matrix.

    Parameters
    ----------
    operator : Operator
        The fast transform, as those of `sparsebayes.dictionaries`.
    rows : ndarray of int, (N,)
        The points of the flattened grid that were sampled; a point may occur again.
    functions : ndarray of int, (M,)
        The operator's functions in use, counted in the flattened coefficients.
    memory_budget : int
        Bytes.

    See Also
    --------
    Dense : The matrix is held.
    sparsebayes.dictionaries.Transform : Transforms that can be the operator.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.dictionaries import DCT
    >>> from sparsebayes.engine import MatrixFree
    >>> cosines = MatrixFree(DCT().bind((8,)), np.arange(8), np.arange(8), memory_budget=1 << 20)
    >>> cosines.squared_norms(np.ones(8)).round(6)
    array([1., 1., 1., 1., 1., 1., 1., 1.])
    """

    def __init__(
        self, operator: Operator, rows: Array, functions: Array, memory_budget: int
    ) -> None:
        self._operator = operator
        self._rows = rows
        self._functions = functions
        self._n_all = math.prod(operator.coefficient_shape)
        self._n_grid = math.prod(operator.shape)
        self._whole = rows.size == self._n_grid and bool((rows == np.arange(rows.size)).all())
        self.shape = (rows.size, functions.size)
        self.capacity = max(64, memory_budget // (32 * max(1, rows.size)))
        self._batch = max(1, (1 << 22) // max(self._n_grid, self._n_all))  # transforms at a time

    def columns(self, index: Array) -> Array:
        out = np.empty((self.shape[0], index.size), order="F")
        for part in self._batches(index.size):
            some = index[part]
            units = np.zeros((some.size, self._n_all))
            units[np.arange(some.size), self._functions[some]] = 1.0
            grid = self._operator.synthesise(self._shaped(units, self._operator.coefficient_shape))
            out[:, part] = grid.reshape(some.size, -1)[:, self._rows].T
        return out

    def project(self, rhs: Array) -> Array:
        if rhs.ndim == 1:
            return self._operator.analyse(self._on_grid(rhs[None]))[0].ravel()[self._functions]
        out = np.empty((self.shape[1], rhs.shape[1]), order="F")
        for part in self._batches(rhs.shape[1]):
            grid = self._on_grid(rhs[:, part].T)
            products = self._operator.analyse(grid).reshape(len(grid), -1)
            out[:, part] = products[:, self._functions].T
        return out

    def squared_norms(self, weights: Array) -> Array:
        some = weights[None] if weights.ndim == 1 else weights.T
        norms = [self._operator.gather(grid).ravel() for grid in self._on_grid(some)]
        out = np.stack(norms)[:, self._functions]
        return out[0] if weights.ndim == 1 else out.T

    def products(self, rhs: Array, weights: Array) -> tuple[Array, Array]:
        return self.project(rhs), self.squared_norms(weights)

    def _batches(self, count: int) -> Iterator[slice]:
        return (slice(i, i + self._batch) for i in range(0, count, self._batch))

    def _on_grid(self, values: Array) -> Array:
        """Samples of several signals, (k, N), added up on the grid."""
        if self._whole:
            return self._shaped(np.ascontiguousarray(values), self._operator.shape)
        grid = np.stack([np.bincount(self._rows, one, self._n_grid) for one in values])
        return self._shaped(grid, self._operator.shape)

    @staticmethod
    def _shaped(flat: Array, shape: tuple[int, ...]) -> Array:
        return flat.reshape(len(flat), *shape)
