"""Priors on precisions: what they add to the objective, and where its optimum is.

All are sums over functions but `Trace`, which answers the same questions (`prior`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import LARGEST, as_number, finite_number
from sparsebayes.engine.incomplete_gamma import log_gamma_mass
from sparsebayes.engine.linalg import fold, fold_matrix, half_solve_transposed
from sparsebayes.engine.model.prior import Prior, Separable

if TYPE_CHECKING:
    from sparsebayes.engine.model.posterior import State

Array = np.ndarray


def likelihood_gain(alpha: Array, s: Array, q2: Array) -> Array:
    """``ℓ(α) = ½[log α − log(α + s) + q²/(α + s)]``, 0 at α = ∞.  # S08 (2.73)"""
    return 0.5 * (q2 / (alpha + s) - np.log1p(s / alpha))


def flat_optimum(s: Array, q2: Array) -> Array:
    """``s²/(q² − s)`` where q² > s, else ∞.  # S08 (2.76)"""
    excess = q2 - s
    return np.divide(s * s, excess, out=np.full(s.shape, np.inf), where=excess > 0)


@guided
@dataclass(frozen=True)
class Flat(Separable):
    """Uniform in log α: the classical relevance vector machine.

    It adds nothing to the evidence. Sparsity comes from the evidence alone.

    See Also
    --------
    Smoothness : Keeps fewer functions.
    Gamma : A prior with two numbers of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, Flat
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(30)
    >>> RVR("linear", prior=Flat()).fit(X, y).coef_.round(1)
    array([1.])
    """

    relative = True
    price = 0.0

    def derivatives(self, alpha: Array, g: Array) -> tuple[Array, Array, Array]:
        zero = np.zeros(alpha.size)
        return zero, zero, zero

    def split(self, alpha: Array, g: Array) -> tuple[Array, Array]:
        zero = np.zeros(alpha.size)
        return zero, zero

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        return flat_optimum(s, q2)

    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        return likelihood_gain(alpha, s, q2)

    def log_density(self, state: State) -> float:
        return 0.0

    def best_gain(self, s: Array, q2: Array, g: Array) -> Array:
        # At the optimum ℓ = ½(q²/s − 1 − log q²/s), and 0 where q² ≤ s.
        ratio = np.maximum(q2 / s, 1.0)
        return 0.5 * (ratio - 1.0 - np.log(ratio))


@guided
@dataclass(frozen=True)
class Smoothness(Separable):
    """A price of c for the degrees of freedom of each function [1]_.

    The log prior is ``f = −c / (1 + α/g)``. c = 0 is `Flat`; 1, ½ log N and log N give the criteria
    of Akaike ("aic"), Schwarz ("bic") and risk inflation ("ric").

    Parameters
    ----------
    c : float
        The price, in nats.

    See Also
    --------
    Trace : The same where functions overlap, and for labels.
    Flat : Without a price.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (2.60) and A.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, Smoothness
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> sizes = [RVR(prior=Smoothness(c), adapt=None).fit(X, y).relevance_.size for c in (0, 4)]
    >>> sizes[1] <= sizes[0]
    True
    """

    c: float
    relative = True
    for_labels = False  # g would move with the weights; S08 2.11 takes `Trace`

    def __post_init__(self) -> None:
        finite_number("c of Smoothness", self.c, 0.0, LARGEST)

    @property
    def price(self) -> float:  # type: ignore[override]
        """The price c of an effective parameter."""
        return self.c

    def derivatives(self, alpha: Array, g: Array) -> tuple[Array, Array, Array]:
        freedom = g / (g + alpha)  # 1/(1 + α/g)
        first = self.c * freedom * (1.0 - freedom)
        return -self.c * freedom, first, first * (2.0 * freedom - 1.0)

    def split(self, alpha: Array, g: Array) -> tuple[Array, Array]:
        return self.derivatives(alpha, g)[1], np.zeros(alpha.size)

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        alpha = flat_optimum(s, q2)
        some = np.flatnonzero(np.isfinite(alpha))
        if self.c > 0 and some.size:
            root = self._largest_root(s[some] / g[some], q2[some] / s[some])
            alpha[some] = np.divide(s[some], root, out=np.full_like(root, np.inf), where=root > 0)
        return alpha

    def _largest_root(self, s: Array, ratio: Array) -> Array:
        """Largest positive root v = s/α of the cubic S08 (A.11)-(A.14); 0 where there is none.

        In units of g and multiplied out for v the cubic is monic. It is not negative at the
        flat prior's optimum v₀ = q²/s − 1, which bounds the root from above (S08 A.4), so
        Newton's iteration from there comes down to it. There is none where the cubic is positive
        at 0 and at its minimum, as for most functions that gain nothing.
        """
        a = 1.0 + 2.0 * s * (1.0 + self.c) - ratio
        b = s * (2.0 + s - 2.0 * ratio + 4.0 * self.c)
        d = s * (s * (1.0 - ratio) + 2.0 * self.c)
        start = ratio - 1.0
        low = (np.sqrt(np.maximum(a * a - 3.0 * b, 0.0)) - a) / 3.0  # the minimum
        dips = (low > 0) & (low < start) & (((low + a) * low + b) * low + d < 0)
        root = np.zeros_like(start)
        some = np.flatnonzero(dips | (d < 0))
        root[some] = _descend(a[some], b[some], d[some], start[some], np.maximum(low[some], 0.0))
        return np.where(root > 1e-9 * start, root, 0.0)

    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        return likelihood_gain(alpha, s, q2) - self.c * g / (g + alpha)


def _descend(a: Array, b: Array, d: Array, high: Array, low: Array) -> Array:
    """Roots of ``v³ + av² + bv + d``, not negative at `high`, by Newton's iteration from there.

    A step that leaves the bracket is replaced by bisection.
    """
    v, high, low = high.copy(), high.copy(), low.copy()
    rows = np.arange(v.size)  # those that still move
    for _ in range(60):
        at = v[rows]
        value = ((at + a[rows]) * at + b[rows]) * at + d[rows]
        slope = (3.0 * at + 2.0 * a[rows]) * at + b[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            new = at - value / slope
        moves = ~(np.abs(new - at) <= 1e-14 * at)
        below = value < 0
        low[rows] = np.where(below, np.maximum(low[rows], at), low[rows])
        high[rows] = np.where(below, high[rows], np.minimum(high[rows], at))
        inside = (new > low[rows]) & (new < high[rows])
        v[rows] = np.where(moves & ~inside, 0.5 * (low[rows] + high[rows]), new)
        rows = rows[moves]
        if not rows.size:
            break
    return v


@guided
@dataclass(frozen=True)
class Trace(Prior):
    """A price of c for each effective parameter of the whole model [1]_.

    The log prior is ``−c tr S``, S the smoothing matrix ``ΦΣΦᵀB``. With an orthonormal design it is
    `Smoothness`; in general one function's share depends on the others. Given those, adding a
    function adds ``u/(α + s)`` to the trace, ``u = ‖B^-½C⁻¹φ‖²``, which only takes ``2cu`` off q²:
    the optimum is that of `Flat`. Here g stands for u.

    Parameters
    ----------
    c : float
        The price, in nats.

    See Also
    --------
    Smoothness : A price for each function by itself.
    sparsebayes.RVC : Takes it as `prior`, or the number c.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, (2.157) and A.8.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sparsebayes import RVC, Trace
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> model = RVC(prior=Trace(1.0), link="logit", adapt=None, calibrate=None).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    c: float
    relative = True

    def __post_init__(self) -> None:
        finite_number("c of Trace", self.c, 0.0, LARGEST)

    @property
    def price(self) -> float:  # type: ignore[override]
        """The price c of an effective parameter."""
        return self.c

    def log_density(self, state: State) -> float:
        return -self.c * float(state.determined.sum())

    def _first(self, state: State) -> tuple[Array, Array]:
        weighted = state.precisions[:, None] * state.cov  # AΣ
        spread = state.cov @ weighted  # ΣAΣ
        # dtrS/dlog α_i = −α_i (ΣGΣ)_ii and ΣGΣ = Σ − ΣAΣ  # S08 (A.51)
        return state.precisions * (state.cov.diagonal() - spread.diagonal()), spread

    def slopes(self, state: State) -> tuple[Array, Array]:
        first, spread = self._first(state)
        precisions, group = state.precisions, state.group
        outer = precisions[:, None] * precisions
        second = 2.0 * outer * state.cov * (spread - state.cov)
        second[np.diag_indices_from(second)] += first
        return self.c * fold(first, group), self.c / group * fold_matrix(second, group)

    def pull(self, state: State) -> tuple[Array, Array]:
        first = fold(self._first(state)[0], state.group)
        return self.c * np.maximum(first, 0.0), np.zeros(state.alpha.size)

    def by_gram(self, state: State) -> Array:
        return -self.c / state.group * self._first(state)[1]

    def weight(self, state: State) -> Array:
        first = fold(self._first(state)[0], state.group)
        return np.maximum(first, 0.0) / (state.alpha * state.variances**2)

    def candidate_weight(self, state: State, scale: Array, s: Array, half: Array) -> Array:
        if not state.active.size:
            return s
        # With x = ΣΦ_aᵀBφ, u is ‖B^½(φ − Φ_a x)‖² = s − xᵀAx.
        x = half_solve_transposed(state.factor, half)
        shrunk = np.einsum("sm,sm,s->m", x, x, state.precisions)
        return np.maximum(s - fold(shrunk, state.group), 0.0)

    def reduced_weight(self, weight: Array, s: Array, drop: Array) -> Array:
        return weight * np.maximum(1.0 - drop / s, 0.0)  # in proportion to s, about what it is

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        return flat_optimum(s, q2 - 2.0 * self.c * g)

    def gain(self, alpha: Array, s: Array, q2: Array, g: Array) -> Array:
        return likelihood_gain(alpha, s, q2 - 2.0 * self.c * g)


def _in_range(*values: float) -> bool:
    return all(1.0 / LARGEST <= value <= LARGEST for value in values)


@guided
@dataclass(frozen=True)
class Gamma(Separable):
    """A gamma prior on α, in the user's units of α [1]_.

    The log prior is ``f = a log α − b α − max``. It is taken relative to its own maximum, so that a
    function outside the model costs nothing and a = b = 0 is `Flat`. Unlike the other priors it is
    not scale invariant.

    Parameters
    ----------
    a : float
        The shape.
    b : float
        The rate. Both are positive, or both are 0.

    See Also
    --------
    Flat : What small a and b come near to.
    sparsebayes.RVR : Takes it as `prior`, and as `noise` for the precision of the noise.

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", 2001, (36).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, Gamma
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(30)
    >>> RVR("linear", prior=Gamma(1e-4, 1e-4), noise=Gamma(2.0, 0.02)).fit(X, y).coef_.round(1)
    array([1.])
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        a, b = as_number(self.a), as_number(self.b)
        if a is None or b is None or not (a == b == 0 or _in_range(a, b)):
            raise ValueError(
                "Gamma needs finite a and b from 1e-60 to 1e60, both positive or both zero, "
                f"got {self.a!r} and {self.b!r}."
            )
        for name, value in (("a", a), ("b", b)):  # whole numbers may be too large for NumPy
            object.__setattr__(self, name, value)

    def shared(self, count: int) -> Gamma:
        return self if count == 1 else Gamma(self.a / count, self.b / count)

    @property
    def relative(self) -> bool:
        return self.a == 0  # there it is flat

    @property
    def price(self) -> float | None:  # type: ignore[override]
        """Nothing where it is flat; else it is no price of effective parameters."""
        return 0.0 if self.a == 0 else None

    def derivatives(self, alpha: Array, g: Array) -> tuple[Array, Array, Array]:
        peak = self.a * (np.log(self.a / self.b) - 1.0) if self.a > 0 else 0.0
        rate = self.b * alpha
        return self.a * np.log(alpha) - rate - peak, self.a - rate, -rate

    def split(self, alpha: Array, g: Array) -> tuple[Array, Array]:
        return np.full(alpha.size, self.a), np.full(alpha.size, self.b)

    def optimum(self, s: Array, q2: Array, g: Array) -> Array:
        if self.a == 0:
            return flat_optimum(s, q2)
        # The derivative a − bα + ½[s/(α+s) − αq²/(α+s)²] is positive at the lower end and
        # negative at the upper; there may be two maxima, so a grid comes before bisection.
        low = np.log(0.5 * self.a / (self.b + (q2 / s + 1.0) / s))
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
        return likelihood_gain(alpha, s, q2) + self.derivatives(alpha, g)[0]

    def log_mass(self, low: float, high: float, g: Array, *, power: float = 0.0) -> Array:
        if self.a == 0:
            return super().log_mass(low, high, g, power=power)
        shape, rate = self.a + power, self.b * g
        # f is relative to its maximum, at α = a/b.
        whole = gammaln(shape) - self.a * (np.log(self.a) - 1.0) - power * np.log(rate)
        return whole + log_gamma_mass(shape, rate * low, rate * high)
