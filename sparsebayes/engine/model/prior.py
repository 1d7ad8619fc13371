"""What a prior on one precision α has to answer.

A prior is a function ``f`` of ``log α`` that is added to the log evidence for each function in
the model, with ``f = 0`` for a function outside it (α = ∞). A `relative` prior depends on
``log(α/g)`` only, with ``g = φᵀBφ``: then neither the unit of the targets nor that of a basis
function matters. Methods are elementwise in arrays of α and g, or of s, q² and g, where they do
not take a state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sparsebayes.engine.model.posterior import State

Array = np.ndarray

# Of the integral over log α: f is smooth, and an interval of some tens leaves several to each unit.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(256)


class Prior(ABC):
    """What solvers ask of a prior.

    Attributes
    ----------
    relative : bool
        Whether only α/g matters, so that β moves it too.
    price : float or None
        c where the prior takes c off for each effective parameter of an orthonormal design, 0
        where it takes nothing; None where it does something else.
    for_labels : bool
        Whether it may be used with labels, where B moves along with the weights.
    """

    price: float | None = None
    for_labels: bool = True

    @property
    @abstractmethod
    def relative(self) -> bool: ...

    @abstractmethod
    def log_density(self, state: State) -> float:
        """What the prior adds to the log evidence, for each of a function's weights."""

    @abstractmethod
    def slopes(self, state: State) -> tuple[Array, Array]:
        """First derivatives in log α, (S,), and second, (S, S) or the diagonal (S,)."""

    @abstractmethod
    def pull(self, state: State) -> tuple[Array, Array]:
        """``p ≥ 0`` and ``r ≥ 0``, the first derivatives ``p − r α``: for fixed-point updates."""

    def shared(self, count: int) -> Prior:
        """The part for each of `count` weights with the same precision.

        A price of effective parameters is due for each; a density of the precision once.
        """
        return self

    def by_gram(self, state: State) -> Array:
        """The derivative with respect to ``Φ_aᵀBΦ_a``: symmetric, (P, P) or its diagonal (P,)."""
        return np.zeros(len(state.mean))

    def weight(self, state: State) -> Array:
        """What the active functions have for g in `optimum` and `gain`."""
        return state.scale

    def candidate_weight(self, state: State, scale: Array, s: Array, half: Array) -> Array:
        """What functions outside the model have for g.

        Parameters
        ----------
        state : State
        scale, s : ndarray, (k,)
            ``φᵀBφ`` of these functions, and their s.
        half : ndarray, (P, k group)
            ``L⁻¹ Φ_aᵀBφ`` of their weights, L the Cholesky factor of H.
        """
        return scale

    def reduced_weight(self, weight: Array, s: Array, drop: Array) -> Array:
        """`candidate_weight` after an addition to the model, by which s falls by `drop`."""
        return weight

    @abstractmethod
    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        """The finite α that maximises ``ℓ(α) + f``; ∞ where there is none."""

    @abstractmethod
    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        """``ℓ(α) + f``: the objective with the function minus the objective without it."""

    def best_gain(self, s: Array, q2: Array, g: Array) -> Array:
        """The gain at the optimum; 0 where the function is better left out."""
        alpha = self.optimum(s, q2, g)
        gain = np.zeros(s.size)
        some = np.flatnonzero(np.isfinite(alpha))
        gain[some] = self.gain(alpha[some], s[some], q2[some], g[some])
        return np.maximum(gain, 0.0)


class Separable(Prior):
    """A sum over the functions in the model; a new one implements four elementwise methods."""

    @abstractmethod
    def derivatives(self, alpha: Array, g: Array) -> tuple[Array, Array, Array]:
        """``f`` and its first and second derivative with respect to log α."""

    @abstractmethod
    def split(self, alpha: Array, g: Array) -> tuple[Array, Array]:
        """``p ≥ 0`` and ``r ≥ 0`` with ``f' = p − r α``."""

    def log_density(self, state: State) -> float:
        return float(self.derivatives(state.alpha, state.scale)[0].sum())

    def slopes(self, state: State) -> tuple[Array, Array]:
        return self.derivatives(state.alpha, state.scale)[1:]

    def pull(self, state: State) -> tuple[Array, Array]:
        return self.split(state.alpha, state.scale)

    def by_gram(self, state: State) -> Array:
        if not self.relative:
            return super().by_gram(state)
        slope = self.derivatives(state.alpha, state.scale)[1]  # of a function of log α − log g
        by_scale = np.divide(-slope, state.scale, out=np.zeros(slope.size), where=slope != 0.0)
        return np.repeat(by_scale / state.group, state.group)

    def log_mass(self, low: float, high: float, g: Array, *, power: float = 0.0) -> Array:
        """Log of the integral of ``exp(f + power x)`` over ``x = log(α/g)``, for each g.

        `low` and `high` are the ends in terms of α/g.
        """
        start, end = float(np.log(low)), float(np.log(high))
        x = start + 0.5 * (end - start) * (_NODES + 1.0)
        x, g = np.broadcast_arrays(x, np.asarray(g)[..., None])
        value = self.derivatives((g * np.exp(x)).ravel(), g.ravel())[0].reshape(x.shape) + power * x
        top = value.max(axis=-1)
        total = np.exp(value - top[..., None]) @ _WEIGHTS
        return top + np.log(0.5 * (end - start) * total)
