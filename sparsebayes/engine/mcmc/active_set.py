"""The posterior of a changing set of functions, and what every other function would add to it.

All is in units of the noise: with ``H = G_aa + diag(ρ)``, ρ = α/g, the evidence depends on the
noise variance only through ``β R``, R the residual energy and the penalty of the weights.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from sparsebayes.engine import linalg
from sparsebayes.engine.mcmc.products import Products

Array = np.ndarray


class ActiveSet:
    """An active set, in steps of rank one when a function comes or goes.

    Kept are a square root F of the covariance, ``H⁻¹ = F Fᵀ``, and its products with all
    functions. A function goes by a reflection that turns its row of F into the last axis, which is
    dropped: nothing is divided by a small number, as in an update of the inverse itself.

    Attributes
    ----------
    active, x : ndarray, (S,)
        Functions in the model and their log ρ; views that change with it.
    s, q : ndarray, (M,)
        ``φᵀφ − φᵀΦ_a H⁻¹ Φ_aᵀφ`` and ``φᵀ(t − Φ_a μ)`` of all functions.
    residual : float
        ``tᵀt − tᵀΦ_a H⁻¹ Φ_aᵀt``.
    log_det : float
        Of H, where the set was `set` last.
    """

    _active: Array
    _x: Array
    _root: Array  # F
    _cross: Array  # ΦᵀΦ_aF
    _seen: Array  # FᵀΦ_aᵀt

    def __init__(self, products: Products) -> None:
        self._products = products
        self.n_functions = products.moments.size
        self._room = -1
        self.set(np.empty(0, dtype=int), np.empty(0))

    def set(self, active: Array, x: Array) -> None:
        """Begin anew with this set: rounding does not add up beyond this."""
        size = self.size = len(active)
        self._make_room(0, size)
        self._active[:size], self._x[:size] = active, x
        products = self._products
        columns = products.columns(active)
        hessian = columns[active]
        hessian.flat[:: size + 1] += np.exp(x)
        factor = linalg.cholesky(hessian) if size else np.empty((0, 0))
        if factor is None:
            raise FloatingPointError(
                "the functions in the model cannot be told apart at such small precisions; "
                "raise the lower end of `bounds`"
            )
        self.log_det = linalg.log_det(factor)
        if size:
            self._root[:size, :size] = linalg.half_solve(factor, np.eye(size)).T
            self._cross[:, :size] = columns @ self._root[:size, :size]
        self._seen[:size] = products.moments[active] @ self._root[:size, :size]
        cross = self._cross[:, :size]
        self.s = np.maximum(products.norms - np.einsum("ms,ms->m", cross, cross), 0.0)
        self.q = products.moments - cross @ self._seen[:size]
        self.residual = max(products.energy - float(self._seen[:size] @ self._seen[:size]), 0.0)

    def refresh(self) -> None:
        """Begin anew with the same set."""
        self.set(self.active.copy(), self.x.copy())

    def observe(self, products: Products) -> None:
        """Begin anew with the same set, given other data about the same functions."""
        self._products = products
        self.refresh()

    def _make_room(self, size: int, wanted: int) -> None:
        """Room for so many functions; those up to `size` are kept."""
        if wanted <= self._room:
            return
        room = min(max(2 * wanted, 16), self.n_functions)
        active, x, seen = np.empty(room, dtype=int), np.empty(room), np.empty(room)
        root = np.zeros((room, room), order="F")
        cross = np.empty((self.n_functions, room), order="F")
        if size:
            active[:size], x[:size] = self._active[:size], self._x[:size]
            seen[:size] = self._seen[:size]
            root[:size, :size] = self._root[:size, :size]
            cross[:, :size] = self._cross[:, :size]
        self._active, self._x = active, x
        self._root, self._cross, self._seen = root, cross, seen
        self._room = room

    @property
    def active(self) -> Array:
        return self._active[: self.size]

    @property
    def x(self) -> Array:
        return self._x[: self.size]

    @property
    def root(self) -> Array:
        """F, (S, S)."""
        return self._root[: self.size, : self.size]

    @property
    def mean(self) -> Array:
        """Posterior mean of the weights, (S,)."""
        return self.root @ self._seen[: self.size]

    def others(self) -> Array:
        """The functions out of the model, in order."""
        out = np.ones(self.n_functions, dtype=bool)
        out[self.active] = False
        return np.flatnonzero(out)

    def add(self, function: int, x: float) -> None:
        """Let a function in, at the last place."""
        size = self.size
        self._make_room(size, size + 1)
        scale = 1.0 / np.sqrt(np.exp(x) + self.s[function])
        cross, root = self._cross[:, :size], self._root
        row = cross[function].copy()
        new = self._cross[:, size]
        new[:] = self._products.columns([function])[:, 0]
        if size:
            new -= cross @ row
        new *= scale
        root[:size, size] = -scale * (root[:size, :size] @ row)
        root[size, :size] = 0.0
        root[size, size] = scale
        seen = self._seen[size] = scale * self.q[function]
        self._active[size], self._x[size] = function, x
        self.size = size + 1
        self.residual = max(self.residual - seen * seen, 0.0)
        self.q = self.q - seen * new
        self.s = np.maximum(self.s - new * new, 0.0)

    def remove(self, place: int) -> tuple[int, float]:
        """Take the function at this place out; the last one moves there."""
        last = self.size - 1
        function, x = int(self._active[place]), float(self._x[place])
        mirror = self._root[place, : self.size].copy()
        length = np.sqrt(mirror @ mirror)
        mirror[last] += np.copysign(length, mirror[last])
        mirror *= np.sqrt(2.0 / (mirror @ mirror))
        for matrix in (self._cross[:, : self.size], self._root[:, : self.size]):
            blas.dger(-1.0, matrix @ mirror, mirror, a=matrix, overwrite_a=1)
        seen = self._seen[: self.size]
        seen -= (seen @ mirror) * mirror
        gone = self._cross[:, last]
        self.s = self.s + gone * gone
        self.q = self.q + seen[last] * gone
        self.residual += seen[last] ** 2
        self._root[place] = self._root[last]
        self._active[place], self._x[place] = self._active[last], self._x[last]
        self.size = last
        return function, x
