"""Samples turned such that the functions of a model need only a few of them.

The likelihood knows the samples by the length of ``W^½(z − Φw)``, which no rotation changes. With Q
an orthonormal basis of K functions, these have no more than K coordinates ``QᵀW^½φ``, and every
other function has K coordinates and a rest outside their span. Products ``ΦᵀWΦ`` hold the same with
half the digits: where weights are large and cancel, as with a wide kernel and next to no noise,
those are too few, and a posterior by orthogonal factors of the coordinates has twice as many [1]_.

References
----------
.. [1] A. Björck, "Numerical methods for least squares problems", SIAM 1996.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes.engine import linalg

Array = np.ndarray

# S_m below this part of φᵀBφ is refused: eight digits of the function itself are gone. There would
# be some left, but weights grow with each, and a prediction is a sum of them that cancels.
LOST = 1e-16
_SINGULAR = 1e-26  # the same of a pivot: three digits are left


class Rotation:
    """Coordinates of all functions in a basis that grows with the functions in use.

    Parameters
    ----------
    columns : ndarray, (N, M)
        ``W^½Φ``.
    target : ndarray, (N,), or (N, T) for several targets
        ``W^½z``.

    Attributes
    ----------
    coordinates, rest : ndarray, (K, M) and (N, M)
        ``QᵀW^½Φ``, and what Q leaves of each function.
    target, target_rest : ndarray, (K,) and (N,)
        The same of z.
    """

    def __init__(self, columns: Array, target: Array) -> None:
        self.rest = columns
        self.target_rest = target
        self.coordinates = np.empty((0, columns.shape[1]))
        self.target = np.empty((0, *target.shape[1:]))
        self._basis = np.empty((len(target), 0))
        self._norms = np.sqrt(np.einsum("nm,nm->m", columns, columns))
        self._inside = self._norms == 0.0

    @property
    def size(self) -> int:
        """K."""
        return len(self.target)

    def include(self, index: Array) -> None:
        """Let these functions have no rest: O(N M) for each that is new."""
        new = index[~self._inside[index]]
        if not new.size:
            return
        self._inside[new] = True
        fresh = linalg.orthonormal(self.rest[:, new] / self._norms[new], self._basis)
        rows, target = fresh.T @ self.rest, fresh.T @ self.target_rest
        self.rest = self.rest - fresh @ rows  # a new array: `Residuals` hold the one before
        self.target_rest = self.target_rest - fresh @ target
        self.coordinates = np.vstack([self.coordinates, rows])
        self.target = np.concatenate([self.target, target])
        self._basis = np.hstack([self._basis, fresh])
        self.__dict__.pop("rest_products", None)

    @cached_property
    def rest_products(self) -> tuple[Array, Array]:
        """Of the rests: squared lengths, and products with that of z."""
        norms = np.einsum("nm,nm->m", self.rest, self.rest)
        return norms, (self.target_rest.T @ self.rest).T

    def factorise(self, active: Array, alpha: Array, beta: float) -> Factors | None:
        """H of these functions; None where rounding leaves nothing of a pivot."""
        self.include(active)
        kept, size = self.size, active.size
        stacked = np.zeros((kept + size, size), order="F")
        stacked[:kept] = math.sqrt(beta) * self.coordinates[:, active]
        stacked[kept + np.arange(size), np.arange(size)] = np.sqrt(alpha)
        lengths = np.einsum("ks,ks->s", stacked, stacked)
        packed, scales = linalg.reflections(stacked)
        factors = Factors(self, beta, packed, scales)
        if np.any(packed.diagonal() ** 2 < _SINGULAR * lengths):
            return None
        return factors


@dataclass(frozen=True, eq=False)
class Factors:
    """``[β^½ QᵀW^½Φ_a; A^½]``, the rows of ``H = FᵀF``, turned into a triangle by reflections.

    Attributes
    ----------
    rotation : Rotation
    beta : float
    packed, scales : ndarray
        As `linalg.reflections` gives them.
    """

    rotation: Rotation
    beta: float
    packed: Array
    scales: Array

    @cached_property
    def _signs(self) -> Array:
        return np.where(self.packed.diagonal() < 0.0, -1.0, 1.0)

    @cached_property
    def factor(self) -> Array:
        """The Cholesky factor of H, lower."""
        size = self.scales.size
        return np.asfortranarray((self._signs[:, None] * np.triu(self.packed[:size])).T)

    @cached_property
    def _target(self) -> tuple[Array, Array]:
        """``β^½ W^½z`` after the reflections: what the triangle has to match, and what is left."""
        target = math.sqrt(self.beta) * self.rotation.target
        turned = self._reflected(target, 0, transposed=True)
        size = self.scales.size
        return (self._signs * turned[:size].T).T, turned[size:]

    def _reflected(self, part: Array, start: int, *, transposed: bool) -> Array:
        """What the reflections make of a part that begins at a row, zero elsewhere."""
        columns = part[:, None] if part.ndim == 1 else part
        padded = np.zeros((len(self.packed), columns.shape[1]), order="F")
        padded[start : start + len(part)] = columns
        turned = linalg.reflect(self.packed, self.scales, padded, transposed=transposed)
        return turned[:, 0] if part.ndim == 1 else turned

    def mean(self) -> Array:
        """μ, by least squares."""
        target = self._target[0]
        columns = np.ascontiguousarray(target.reshape(target.shape[0], -1 if target.size else 1))
        return linalg.half_solve_transposed(self.factor, columns).reshape(target.shape)

    def misfit(self) -> float:
        """``zᵀC⁻¹z``."""
        left, rest = self._target[1], self.rotation.target_rest
        return _square(left) + self.beta * _square(rest)

    def residual_energy(self) -> float:
        """``(z − Φμ)ᵀ W (z − Φμ)``."""
        back = self._reflected(self._target[1], self.scales.size, transposed=False)
        inside, rest = back[: self.rotation.size], self.rotation.target_rest
        return _square(inside) / self.beta + _square(rest)

    def products(self) -> Residuals:
        """Of all functions with C⁻¹."""
        kept, rows = self.rotation.size, len(self.packed)
        turn = linalg.reflect(self.packed, self.scales, np.eye(rows, order="F"), transposed=False)
        turn = turn[:kept] * math.sqrt(self.beta)
        turn[:, : self.scales.size] *= self._signs
        return Residuals(self.rotation, self.beta, turn, self._target[1])


class Residuals:
    """What a model leaves of all functions, as vectors: no product is a difference of others.

    Attributes
    ----------
    scale, lost
        As `Reduced` has them.
    """

    lost = LOST

    def __init__(self, rotation: Rotation, beta: float, turn: Array, target: Array) -> None:
        self._beta, self._turn, self._left = beta, turn, target
        self._inside, self._rest = rotation.coordinates, rotation.rest
        self._norms, self._moments = rotation.rest_products
        inside = np.einsum("km,km->m", self._inside, self._inside)
        self.scale = beta * (inside + self._norms)

    def reduce(self, part: slice | Array) -> tuple[Array, Array, Array]:
        turned = self._turn.T @ self._inside[:, part]
        size = len(turned) - len(self._left)
        left = turned[size:]
        s = np.einsum("km,km->m", left, left) + self._beta * self._norms[part]
        return turned[:size], s, (self._left.T @ left).T + self._beta * self._moments[part]

    def overlaps(self, index: Array) -> Callable[[int], Array]:
        size = self._turn.shape[1] - len(self._left)
        left = self._turn[:, size:].T @ self._inside[:, index]
        rest = self._rest[:, index]
        return lambda i: left[:, i : i + 1].T @ left + self._beta * (rest[:, i : i + 1].T @ rest)


def _square(values: Array) -> float:
    """The squared length, the mean over the targets if there are several."""
    return float(np.vdot(values, values)) / (1 if values.ndim == 1 else values.shape[1])
