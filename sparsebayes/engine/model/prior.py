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

    One of your own that is a sum over functions subclasses `Separable` and is simpler.

    Attributes
    ----------
    relative : bool
        Whether only α/g matters, so that β moves it too.
    price : float or None
        c where the prior takes c off for each effective parameter of an orthonormal design, 0
        where it takes nothing; None where it does something else.
    for_labels : bool
        Whether it may be used with labels, where B moves along with the weights.

    See Also
    --------
    Flat : The classical one.
    Smoothness : Prices effective parameters.
    Trace : The same for labels.
    Gamma : A gamma density of α.

    Examples
    --------
    >>> from sparsebayes.engine import Flat, Gamma, Smoothness
    >>> [prior.price for prior in (Flat(), Smoothness(2.0), Gamma(1.0, 0.1))]
    [0.0, 2.0, None]
    """

    price: float | None = None
    for_labels: bool = True

    @property
    @abstractmethod
    def relative(self) -> bool:
        """Whether only α/g matters, so that β moves it too."""

    @abstractmethod
    def log_density(self, state: State) -> float:
        """Compute what the prior adds to the log evidence, for each of a function's weights.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        float
            Its sum over the functions.
        """

    @abstractmethod
    def slopes(self, state: State) -> tuple[Array, Array]:
        """Differentiate the log density with respect to log α.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        first : ndarray, (S,)
            First derivatives.
        second : ndarray, (S, S), or the diagonal (S,)
            Second derivatives.
        """

    @abstractmethod
    def pull(self, state: State) -> tuple[Array, Array]:
        """Split the first derivatives into ``p − r α``, for fixed-point updates.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        p : ndarray, (S,)
            Not negative.
        r : ndarray, (S,)
            Not negative.
        """

    def shared(self, count: int) -> Prior:
        """Take the part for each of several weights with the same precision.

        A price of effective parameters is due for each; a density of the precision once.

        Parameters
        ----------
        count : int
            How many weights share it.

        Returns
        -------
        Prior
            For one weight.
        """
        return self

    def by_gram(self, state: State) -> Array:
        """Differentiate the log density with respect to ``Φ_aᵀBΦ_a``.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        ndarray, (P, P), or its diagonal (P,)
            Symmetric.
        """
        return np.zeros(len(state.mean))

    def weight(self, state: State) -> Array:
        """Tell what the active functions have for g in `optimum` and `gain`.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        ndarray, (S,)
            Their g.
        """
        return state.scale

    def candidate_weight(self, state: State, scale: Array, s: Array, half: Array) -> Array:
        """Tell what functions outside the model have for g.

        Parameters
        ----------
        state : State
            The model.
        scale, s : ndarray, (k,)
            ``φᵀBφ`` of these functions, and their s.
        half : ndarray, (P, k group)
            ``L⁻¹ Φ_aᵀBφ`` of their weights, L the Cholesky factor of H.

        Returns
        -------
        ndarray, (k,)
            Their g.
        """
        return scale

    def reduced_weight(self, weight: Array, s: Array, drop: Array) -> Array:
        """Tell what becomes of `candidate_weight` after an addition to the model.

        Parameters
        ----------
        weight : ndarray, (k,)
            What it was.
        s : ndarray, (k,)
            Their s before.
        drop : ndarray, (k,)
            By how much s falls.

        Returns
        -------
        ndarray, (k,)
            What it is then.
        """
        return weight

    @abstractmethod
    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        """Find the finite α that maximises ``ℓ(α) + f``.

        Parameters
        ----------
        s, q2, g : ndarray, (k,)
            What the data and the other functions say of these.

        Returns
        -------
        ndarray, (k,)
            The precisions; ∞ where there is none.
        """

    @abstractmethod
    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        """Compute ``ℓ(α) + f``, the objective with a function minus that without it.

        Parameters
        ----------
        alpha : ndarray, (k,)
            Precisions of the functions.
        s, q2, g : ndarray, (k,)
            What the data and the other functions say of these.

        Returns
        -------
        ndarray, (k,)
            In nats.
        """

    def best_gain(self, s: Array, q2: Array, g: Array) -> Array:
        """Compute the gain at the optimum.

        Parameters
        ----------
        s, q2, g : ndarray, (k,)
            What the data and the other functions say of these.

        Returns
        -------
        ndarray, (k,)
            In nats; 0 where the function is better left out.
        """
        alpha = self.optimum(s, q2, g)
        gain = np.zeros(s.size)
        some = np.flatnonzero(np.isfinite(alpha))
        gain[some] = self.gain(alpha[some], s[some], q2[some], g[some])
        return np.maximum(gain, 0.0)


class Separable(Prior):
    """A sum over the functions in the model; a new one implements four elementwise methods."""

    @abstractmethod
    def derivatives(self, alpha: Array, g: Array) -> tuple[Array, Array, Array]:
        """Compute ``f`` and its derivatives with respect to log α.

        Parameters
        ----------
        alpha, g : ndarray, (k,)
            Precisions, and ``φᵀBφ`` of the functions.

        Returns
        -------
        value : ndarray, (k,)
            The function f.
        first : ndarray, (k,)
            Its first derivative.
        second : ndarray, (k,)
            Its second derivative.
        """

    @abstractmethod
    def split(self, alpha: Array, g: Array) -> tuple[Array, Array]:
        """Split the first derivative into ``f' = p − r α``.

        Parameters
        ----------
        alpha, g : ndarray, (k,)
            Precisions, and ``φᵀBφ`` of the functions.

        Returns
        -------
        p : ndarray, (k,)
            Not negative.
        r : ndarray, (k,)
            Not negative.
        """

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
        """Integrate ``exp(f + power x)`` over ``x = log(α/g)``, and take the logarithm.

        Parameters
        ----------
        low, high : float
            The ends in terms of α/g.
        g : ndarray
            ``φᵀBφ`` of the functions.
        power : float, default=0.0
            Of α/g.

        Returns
        -------
        ndarray
            One for each g.
        """
        start, end = float(np.log(low)), float(np.log(high))
        x = start + 0.5 * (end - start) * (_NODES + 1.0)
        x, g = np.broadcast_arrays(x, np.asarray(g)[..., None])
        value = self.derivatives((g * np.exp(x)).ravel(), g.ravel())[0].reshape(x.shape) + power * x
        top = value.max(axis=-1)
        total = np.exp(value - top[..., None]) @ _WEIGHTS
        return top + np.log(0.5 * (end - start) * total)
