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
_FIRST = 64  # coordinates that there is room for at first
_BLOCK = 1 << 17  # numbers of the rests at a time: 1 MB
_SHRUNK = 1e-4  # the part of a squared length down to which differences will do


class Rotation:
    """Coordinates of all functions in a basis that grows with the functions in use.

    Functions in use are kept up to date. The others follow when somebody asks for their products:
    to take the new part of the basis out of all of them is what takes most time.

    Parameters
    ----------
    columns : ndarray, (N, M)
        ``W^½Φ``, which is kept as it is.
    target : ndarray, (N,), or (N, T) for several targets
        ``W^½z``.

    Attributes
    ----------
    target, target_rest : ndarray, (K,) and (N,)
        ``QᵀW^½z``, and what Q leaves of it.
    """

    def __init__(self, columns: Array, target: Array) -> None:
        self._columns = columns
        self._rest = columns  # without the first `_taken` of the basis
        self._taken = self._seen = 0  # and how many of its coordinates are known of all functions
        self._products: tuple[Array, Array] | None = None  # of the rests
        self._coordinates = np.zeros((_FIRST, columns.shape[1]))  # QᵀW^½Φ, and room for more
        self._basis = np.empty((len(target), _FIRST), order="F")
        self.target_rest = target
        self.target = np.empty((0, *target.shape[1:]))
        self._norms = np.sqrt(np.einsum("nm,nm->m", columns, columns))
        self._inside = self._norms == 0.0
        self._last: tuple[tuple[object, ...], Factors] | None = None  # and what it is of

    @property
    def size(self) -> int:
        """K."""
        return len(self.target)

    def include(self, index: Array) -> None:
        """Let these functions have no rest: O(N K) for each that is new."""
        new = index[~self._inside[index]]
        if not new.size:
            return
        start, taken, seen = self.size, self._taken, self._seen
        pending = self._basis[:, taken:start]
        rest = self._rest[:, new]
        known = pending.T @ rest
        known[: seen - taken] = self._coordinates[taken:seen, new]
        rest = rest - pending @ known
        fresh = linalg.orthonormal(rest / self._norms[new], self._basis[:, :start])
        end = start + fresh.shape[1]
        if end > len(self._coordinates):
            self._make_room(end)
        self._basis[:, start:end] = fresh
        self._coordinates[seen:start, new] = known[seen - taken :]
        self._coordinates[start:end, new] = fresh.T @ rest
        self._inside[new] = True
        target = fresh.T @ self.target_rest
        self.target_rest = self.target_rest - fresh @ target
        self.target = np.concatenate([self.target, target])

    def _make_room(self, size: int) -> None:
        """For so many coordinates: new arrays, since `Residuals` hold the ones before."""
        room, known = max(size, 2 * len(self._coordinates)), self.size
        coordinates, basis = self._coordinates, self._basis
        self._coordinates = np.zeros((room, coordinates.shape[1]))
        self._coordinates[:known] = coordinates[:known]
        self._basis = np.empty((len(basis), room), order="F")
        self._basis[:, :known] = basis[:, :known]

    @property
    def coordinates(self) -> Array:
        """``QᵀW^½Φ``, (K, M)."""
        self._catch_up()
        return self._coordinates[: self.size]

    @property
    def rest_products(self) -> tuple[Array, Array]:
        """Of what Q leaves of each function: squared lengths, and products with that of z."""
        self._catch_up()
        assert self._products is not None
        return self._products

    def rest(self, index: Array, size: int) -> Array:
        """What the first so many of the basis leave of some functions, (N, k)."""
        self._catch_up()
        low, high = sorted((size, self._taken))
        between = self._basis[:, low:high] @ self._coordinates[low:high, index]
        rest = self._rest[:, index]
        return rest - between if size > self._taken else rest + between

    def _catch_up(self) -> None:
        """All functions in what is new of the basis: O(N M) for each.

        What that leaves of them follows by differences for as long as these have the digits, and
        is else computed.
        """
        start, end = self._seen, self.size
        if start == end and self._products is not None:
            return
        rows = self._basis[:, start:end].T @ self._rest
        # Functions inside have theirs already, and more may not follow for them.
        inside = self._inside
        rows[:, inside] = self._coordinates[start:end, inside]
        self._coordinates[start:end], self._seen = rows, end
        if self._products is not None:
            norms, moments = self._products
            norms = norms - np.einsum("km,km->m", rows, rows)
            moments = moments - (self.target[start:end].T @ rows).T
            norms[inside], moments[inside] = 0.0, 0.0
            self._products = norms, moments
            if np.all((norms > _SHRUNK * self._first_norms) | inside):
                return
        self._take_out()

    def _take_out(self) -> None:
        """The rests of all functions."""
        fresh = self._basis[:, self._taken : self._seen]
        rows = self._coordinates[self._taken : self._seen]
        before = self._rest
        if before is self._columns:
            self._rest = np.empty(before.shape)
        norms = np.zeros(before.shape[1])
        moments = np.zeros((*self.target.shape[1:], norms.size))
        height = max(1, _BLOCK // max(1, norms.size))
        for at in range(0, len(before), height):  # of which each stays in the cache
            part = slice(at, at + height)
            left = np.subtract(before[part], fresh[part] @ rows, out=self._rest[part])
            norms += np.einsum("nm,nm->m", left, left)
            moments += self.target_rest[part].T @ left
        self._products, self._first_norms = (norms, moments.T), norms
        self._taken = self._seen

    def factorise(self, active: Array, alpha: Array, beta: float) -> Factors | None:
        """H of these functions; None where rounding leaves nothing of a pivot."""
        self.include(active)
        kept, size = self.size, active.size
        wanted = (kept, beta, active.tobytes(), alpha.tobytes())
        if self._last is not None and self._last[0] == wanted:
            return self._last[1]  # a state is often scored as soon as it is found
        stacked = np.zeros((kept + size, size), order="F")
        stacked[:kept] = math.sqrt(beta) * self._coordinates[:kept, active]
        stacked[kept + np.arange(size), np.arange(size)] = np.sqrt(alpha)
        lengths = np.einsum("ks,ks->s", stacked, stacked)
        packed, scales = linalg.reflections(stacked)
        factors = Factors(self, beta, packed, scales)
        if np.any(packed.diagonal() ** 2 < _SINGULAR * lengths):
            return None
        self._last = wanted, factors
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
        self._rotation, self._inside = rotation, rotation.coordinates
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
        rest = self._rotation.rest(index, len(self._inside))
        return lambda i: left[:, i : i + 1].T @ left + self._beta * (rest[:, i : i + 1].T @ rest)


def _square(values: Array) -> float:
    """The squared length, the mean over the targets if there are several."""
    return float(np.vdot(values, values)) / (1 if values.ndim == 1 else values.shape[1])


def rescaled_terms(columns: Array, targets: Array, factors: Array, betas: Array) -> Array:
    """``log|D| + β zᵀD⁻¹z`` for ``D = I + β/factor ΦΦᵀ``, (factors, betas), the mean over targets.

    By the singular values of Φ, which all of them share.
    """
    size = columns.shape[1]
    turned = linalg.triangle(np.column_stack([columns, targets]))
    left, values, _ = np.linalg.svd(turned[:size, :size])
    inside = linalg.mean_square(left.T @ turned[:size, size:])  # of the targets' coordinates
    outside = float(np.square(turned[size:, size:]).sum()) / (turned.shape[1] - size)
    spread = 1.0 + np.multiply.outer(np.divide.outer(betas, factors), values**2).T
    misfits = betas * ((inside[:, None, None] / spread).sum(axis=0) + outside)
    return np.log(spread).sum(axis=0) + misfits
