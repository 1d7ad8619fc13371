"""The posterior covariance of weights, with as many digits as predictions need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.linalg import symmetric_root

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Covariance:
    """Σ, and a root of it where Σ itself has too few digits.

    With a wide kernel and next to no noise weights vary much and cancel: the variance of a
    prediction is the small rest of large products, which a sum of squares is not.

    Attributes
    ----------
    matrix : ndarray, (P, P)
        Σ.
    root : ndarray, (P, P), or None
        R with ``R Rᵀ = Σ``.
    """

    matrix: Array
    root: Array | None = None

    __array_ufunc__ = None  # an array leaves its product with Σ to __rmatmul__

    def __matmul__(self, columns: Array) -> Array:
        if self.root is None:
            return self.matrix @ columns
        return self.root @ (self.root.T @ columns)

    def __rmatmul__(self, rows: Array) -> Array:
        if self.root is None:
            return rows @ self.matrix
        return rows @ self.root @ self.root.T

    def scaled(self, factor: float) -> Covariance:
        """``factor² Σ``."""
        root = None if self.root is None else factor * self.root
        return Covariance(factor**2 * self.matrix, root)

    def variances(self, rows: Array) -> Array:
        """The diagonal of `between`."""
        if self.root is None:
            return np.maximum(np.einsum("ns,ns->n", rows @ self.matrix, rows), 0.0)
        half = rows @ self.root
        return np.einsum("ns,ns->n", half, half)

    def between(self, rows: Array) -> Array:
        """``rows Σ rowsᵀ``, exactly symmetric."""
        if self.root is None:
            cov = rows @ self.matrix @ rows.T
            return 0.5 * (cov + cov.T)
        half = rows @ self.root
        return half @ half.T

    def some_root(self) -> Array:
        """R, in any case."""
        return symmetric_root(self.matrix) if self.root is None else self.root
