"""What samplers ask of the data: products of functions with each other and with the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

Array = np.ndarray


class Products(Protocol):
    """Of functions φ, targets t and a diagonal W of precisions.

    Attributes
    ----------
    norms, moments : ndarray, (M,)
        ``φᵀWφ`` and ``φᵀWt``.
    energy : float
        ``tᵀWt``.
    """

    @property
    def norms(self) -> Array: ...
    @property
    def moments(self) -> Array: ...
    @property
    def energy(self) -> float: ...

    def columns(self, index: Array | Sequence[int]) -> Array:
        """``ΦᵀWΦ`` for some functions, (M, k); a new array."""
        ...


@dataclass(frozen=True, eq=False)
class GramProducts:
    """Products that are all known; `gram` is ``ΦᵀWΦ``, (M, M)."""

    gram: Array
    moments: Array
    energy: float

    @cached_property
    def norms(self) -> Array:
        return self.gram.diagonal().copy()

    def columns(self, index: Array | Sequence[int]) -> Array:
        return self.gram[:, index]


class SiteProducts:
    """Products under precisions that soon change, so that only those asked for are computed.

    The data say ``exp(pull f − ½ ω f²)`` of each value of f: precisions ω and targets pull/ω.

    Parameters
    ----------
    matrix : ndarray, (N, M)
        The functions.
    omega, pull : ndarray, (N,)
    """

    def __init__(self, matrix: Array, omega: Array, pull: Array) -> None:
        self._matrix, self._omega = matrix, omega
        self.norms = np.einsum("nm,nm,n->m", matrix, matrix, omega)
        self.moments = pull @ matrix
        self.energy = float(pull @ (pull / omega))
        self._known: dict[int, Array] = {}

    def columns(self, index: Array | Sequence[int]) -> Array:
        # A function that leaves often comes back at once.
        new = [m for m in map(int, index) if m not in self._known]
        if new:
            products = self._matrix.T @ (self._omega[:, None] * self._matrix[:, new])
            self._known.update(zip(new, products.T, strict=True))
        if not len(index):
            return np.empty((self._matrix.shape[1], 0))
        return np.stack([self._known[int(m)] for m in index], axis=1)
