"""Priors on one precision α_m: what they add to the objective, and where its optimum is.

A prior is a function ``f(u)`` added to the log evidence for each function in the model,
with ``f = 0`` for a function outside it (α = ∞). Its argument is ``u = log α``, or
``u = log(α / g)`` with ``g = φᵀBφ`` where the prior is `relative`: then neither the unit of
the targets nor that of a basis function matters.

A solver needs `derivatives` (joint re-estimation), `pull` (EM and MacKay updates), and
`optimum` with `gain` (one precision at a time, from s and q² of Tipping and Faul).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

Array = np.ndarray


class Prior(Protocol):
    """What an implementation must offer; every method is elementwise."""

    relative: bool

    def derivatives(self, u: Array) -> tuple[Array, Array, Array]:
        """``f``, ``f'`` and ``f''``."""
        ...

    def pull(self, u: Array) -> tuple[Array, Array]:
        """``p ≥ 0`` and ``r ≥ 0`` with ``f'(u) = p − r exp(u)``."""
        ...

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        """The finite α that maximises ``likelihood_gain + f``; ∞ where there is none."""
        ...

    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        """The objective with this α minus the objective without the function."""
        ...


def likelihood_gain(alpha: Array, s: Array, q2: Array) -> Array:
    """``ℓ(α) = ½[log α − log(α + s) + q²/(α + s)]``, 0 at α = ∞.  # S08 (2.73)"""
    with np.errstate(over="ignore", invalid="ignore"):
        total = alpha + s
        return 0.5 * (q2 / total - np.log1p(s / alpha))


def flat_optimum(s: Array, q2: Array) -> Array:
    """``s²/(q² − s)`` where q² > s, else ∞.  # S08 (2.76)"""
    excess = q2 - s
    alpha = np.full(np.shape(s), np.inf)
    np.divide(s * s, excess, out=alpha, where=excess > 0)
    return alpha


@dataclass(frozen=True)
class Flat:
    """Uniform in log α: the classical relevance vector machine."""

    relative = False

    def derivatives(self, u: Array) -> tuple[Array, Array, Array]:
        zero = np.zeros_like(u)
        return zero, zero, zero

    def pull(self, u: Array) -> tuple[Array, Array]:
        zero = np.zeros_like(u)
        return zero, zero

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        return flat_optimum(s, q2)

    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        return likelihood_gain(alpha, s, q2)


@dataclass(frozen=True)
class Smoothness:
    """``f = −c / (1 + α/g)``: each function costs c times its degrees of freedom [1]_.

    c = 0 is `Flat`; 1, ½ log N and log N give the criteria of Akaike, Schwarz ("bic") and
    risk inflation.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (2.60) and A.4.
    """

    c: float
    relative = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.c) and self.c >= 0):
            raise ValueError(f"Smoothness needs a finite c >= 0, got {self.c!r}.")

    def derivatives(self, u: Array) -> tuple[Array, Array, Array]:
        shrink = 1.0 / (1.0 + np.exp(np.minimum(u, 700.0)))  # 1/(1 + x)
        first = self.c * shrink * (1.0 - shrink)
        return -self.c * shrink, first, first * (2.0 * shrink - 1.0)

    def pull(self, u: Array) -> tuple[Array, Array]:
        _, first, _ = self.derivatives(u)
        return first, np.zeros_like(u)

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        alpha = flat_optimum(s, q2)
        some = np.flatnonzero(np.isfinite(alpha))
        if self.c > 0 and some.size:
            root = self._largest_root(s[some] / g[some], q2[some] / s[some])
            alpha[some] = np.divide(s[some], root, out=np.full_like(root, np.inf), where=root > 0)
        return alpha

    def _largest_root(self, s: Array, ratio: Array) -> Array:
        """Largest positive root v = s/α of the cubic S08 (A.11)–(A.14); 0 where there is none.

        In units of g and multiplied out for v the cubic is monic. It is not negative at the
        flat prior's optimum v₀ = q²/s − 1, which bounds the root from above (S08 A.4), so
        Newton's iteration from there comes down to it.
        """
        a = 1.0 + 2.0 * s * (1.0 + self.c) - ratio
        b = s * (2.0 + s - 2.0 * ratio + 4.0 * self.c)
        d = s * (s * (1.0 - ratio) + 2.0 * self.c)
        v = ratio - 1.0
        low = np.zeros_like(v)
        high = v.copy()
        for _ in range(60):
            value = ((v + a) * v + b) * v + d
            low = np.where(value < 0, np.maximum(low, v), low)
            high = np.where(value >= 0, np.minimum(high, v), high)
            slope = (3.0 * v + 2.0 * a) * v + b
            with np.errstate(divide="ignore", invalid="ignore"):
                new = v - value / slope
            # A step that leaves the bracket is replaced by bisection.
            new = np.where((new > low) & (new < high), new, 0.5 * (low + high))
            if np.all(np.abs(new - v) <= 1e-15 * v):
                break
            v = new
        return np.where(v > 1e-12 * (ratio - 1.0), v, 0.0)

    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        return likelihood_gain(alpha, s, q2) - self.c * g / (g + alpha)


@dataclass(frozen=True)
class Gamma:
    """``f = a log α − b α − max``: a gamma prior on α, in the user's units of α [1]_.

    It is taken relative to its own maximum, so that a function outside the model costs
    nothing and a = b = 0 is `Flat`. Unlike the other priors it is not scale invariant.

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", 2001, (36).
    """

    a: float
    b: float
    relative = False

    def __post_init__(self) -> None:
        ok = np.isfinite([self.a, self.b]).all() and self.a >= 0 and self.b >= 0
        if not ok or (self.a > 0) != (self.b > 0):
            raise ValueError(
                f"Gamma needs finite a and b, both positive or both zero, got {self.a!r}, {self.b!r}."
            )

    def _peak(self) -> float:
        return self.a * (np.log(self.a / self.b) - 1.0) if self.a > 0 else 0.0

    def derivatives(self, u: Array) -> tuple[Array, Array, Array]:
        rate = self.b * np.exp(np.minimum(u, 700.0))
        return self.a * u - rate - self._peak(), self.a - rate, -rate

    def pull(self, u: Array) -> tuple[Array, Array]:
        return np.full_like(u, self.a), np.full_like(u, self.b)

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        if self.a == 0:
            return flat_optimum(s, q2)
        # The derivative a − bα + ½[s/(α+s) − αq²/(α+s)²] is positive at the lower end and
        # negative at the upper; there may be two maxima, so a grid comes before bisection.
        low = np.log(0.5 * self.a / (self.b + q2 / s**2 + 1.0 / s))
        high = np.log(2.0 * (self.a + 0.5) / self.b) + np.zeros_like(s)
        grid = np.linspace(low, high, 65)  # (65, M)
        best = np.clip(np.argmax(self.gain(np.exp(grid), s, q2, g), axis=0), 1, 63)
        columns = np.arange(s.size)
        low, high = grid[best - 1, columns], grid[best + 1, columns]
        for _ in range(60):
            mid = 0.5 * (low + high)
            alpha = np.exp(mid)
            total = alpha + s
            up = self.a - self.b * alpha + 0.5 * (s / total - alpha * q2 / total**2) > 0
            low, high = np.where(up, mid, low), np.where(up, high, mid)
        return np.exp(0.5 * (low + high))

    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        value, _, _ = self.derivatives(np.log(alpha))
        return likelihood_gain(alpha, s, q2) + value
