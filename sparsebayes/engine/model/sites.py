"""Sites: what the data say about the function values f.

Those of a regression are `Gaussian`. Here are likelihoods of labels, and of squared residuals. They
are expanded to second order around the current f (`SiteExpansion`), which makes them Gaussian for
the time being, with ``B`` the negative second derivatives.

The probit may be smoothed before it is expanded [1]_. With V_n the variance of f_n when sample
n is left out, ``y = f − Vτ`` its mean and ``Z = Φ(t y/√(1 + V))``, the function expanded is
``ψ(f) = log Z(y) + (f − y)²/2V``, whose slope is τ and whose curvature is QC04's Ω. V = 0
gives back ``log p(t|f)``: Laplace's method.

References
----------
.. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, app. C (14)-(19).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.special import expit, log_expit, log_ndtr

from sparsebayes.engine.once import Once

Array = np.ndarray
Cavity = Literal["none", "prior", "posterior"]  # what smooths a likelihood


class SiteExpansion(ABC):
    """A log likelihood around f, one f per sample and output.

    B has a block for each sample, the negative second derivatives between its outputs. A new
    likelihood sets `value` and `slope` and writes `curvature` and `tilt`.

    Attributes
    ----------
    value : float
        The log likelihood (or ψ) of all samples.
    slope : ndarray, (N, K)
        τ, its derivative.
    normaliser : float
        ``½ Σ log(1 + VΩ)``: what the evidence has besides for a smoothed likelihood.
    single : ndarray (N,) or None
        Ω of each sample as if it occurred once, where V is to follow the posterior; else None.
    """

    value: float
    slope: Array
    normaliser: float = 0.0
    single: Array | None = None

    @abstractmethod
    def curvature(self, k: int) -> Array:
        """B between output k and every output, (N, K)."""

    @abstractmethod
    def tilt(self, spread: Array) -> Array:
        """The derivative of ``tr(CB)`` with respect to f for given blocks C, (N, K, K): (N, K).

        Only where V = 0.
        """

    def weigh(self, rows: Array, output: Array, k: int) -> Array:
        """``BΦ_a`` as output k sees it, (S, N), of functions given by rows (S, N) and outputs."""
        return rows * self.curvature(k).T[output]

    def gram(self, rows: Array, output: Array) -> Array:
        """``Φ_aᵀBΦ_a`` of functions given by their rows (S, N) and outputs, (S, S)."""
        gram = np.empty((output.size, output.size))
        for k in range(self.slope.shape[1]):
            own = output == k
            gram[:, own] = self.weigh(rows, output, k) @ rows[own].T
        return gram


class LabelLikelihood(Protocol):
    """What a likelihood of labels answers."""

    def expand(self, f: Array, cavity: Array | None) -> SiteExpansion:
        """Expand the log likelihood to second order.

        Parameters
        ----------
        f : ndarray, (N, K)
            Latent values to expand around.
        cavity : ndarray, (N,), or None
            Variances V by which the likelihood is smoothed.

        Returns
        -------
        SiteExpansion
            Value, slopes and curvature.
        """
        ...

    def plain(self, rows: slice) -> Sites:
        """Take some of the samples, not smoothed.

        Parameters
        ----------
        rows : slice
            Which ones.

        Returns
        -------
        Sites
            With V = 0.
        """
        ...


class Sites(LabelLikelihood, Protocol):
    """Labels with a likelihood of one f per sample and output.

    Sites of your own have the attributes and methods listed here.

    Attributes
    ----------
    weights : ndarray, (N,)
        How often each sample counts.
    outputs : int
        K, the number of f.
    cavity : {"none", "prior", "posterior"}
        What V is: 0, the variance of f under the prior, or the one that the other samples leave.
        The last two need one output.

    See Also
    --------
    Logit : Two classes.
    Probit : Two classes, with mean fields.
    Softmax : Several classes.
    Gaussian : Numbers instead of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Logit
    >>> sites = Logit(np.array([1.0, -1.0]), np.ones(2))
    >>> sites.outputs, sites.cavity
    (1, 'none')
    """

    @property
    def weights(self) -> Array:
        """How often each sample counts, (N,)."""

    @property
    def outputs(self) -> int:
        """The number K of latent values of a sample."""

    @property
    def cavity(self) -> Cavity:
        """What smooths the likelihood: "none", "prior" or "posterior"."""


class OneOutput(SiteExpansion):
    """An expansion with one output: B is a diagonal.

    Attributes
    ----------
    curve, change : ndarray, (N,)
        The diagonal, and its derivative with respect to f.
    """

    curve: Array
    change: Array

    def curvature(self, k: int) -> Array:
        return self.curve[:, None]

    def tilt(self, spread: Array) -> Array:
        return spread[:, :, 0] * self.change[:, None]

    def weigh(self, rows: Array, output: Array, k: int) -> Array:
        return rows * self.curve

    def gram(self, rows: Array, output: Array) -> Array:
        return (rows * self.curve) @ rows.T


@dataclass(frozen=True)
class Logit(LabelLikelihood):
    """The logistic likelihood of two classes.

    It is ``p(t|f) = 1/(1 + exp(−t f))``, t = ±1.  # T01 (23)

    Parameters
    ----------
    labels : ndarray, (N,)
        1 or -1.
    weights : ndarray, (N,)
        How often each sample counts.

    See Also
    --------
    Softmax : Several classes.
    Latent : The problem with these sites.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Logit
    >>> sites = Logit(np.array([1.0, -1.0]), np.ones(2))
    >>> round(sites.expand(np.zeros((2, 1)), None).value, 3)
    -1.386
    """

    labels: Array
    weights: Array
    outputs = 1
    cavity: ClassVar[Cavity] = "none"

    def expand(self, f: Array, cavity: Array | None) -> _LogitExpansion:
        return _LogitExpansion(self, f[:, 0])

    def plain(self, rows: slice) -> Logit:
        return Logit(self.labels[rows], self.weights[rows])


class _LogitExpansion(OneOutput):
    def __init__(self, sites: Logit, f: Array) -> None:
        self._sites, self._margin = sites, sites.labels * f
        self.value = float(sites.weights @ log_expit(self._margin))

    # A step that is refused asks for the value alone, one on the way for the slope besides.

    @Once
    def _wrong(self) -> Array:
        return expit(-self._margin)

    @Once
    def _right(self) -> Array:
        return expit(self._margin)

    @Once
    def slope(self) -> Array:
        return (self._sites.weights * self._sites.labels * self._wrong)[:, None]

    @Once
    def curve(self) -> Array:
        return self._sites.weights * self._wrong * self._right

    @Once
    def change(self) -> Array:
        return self.curve * self._sites.labels * (self._wrong - self._right)


@dataclass(frozen=True)
class SquaredResiduals:
    """``e ~ exp(f) χ²_T``, squared residuals of T targets whose log noise variance is f."""

    squares: Array
    weights: Array
    n_targets: int = 1
    outputs = 1
    cavity: ClassVar[Cavity] = "none"

    def expand(self, f: Array, cavity: Array | None) -> _ResidualsExpansion:
        return _ResidualsExpansion(self, f[:, 0])

    def plain(self, rows: slice) -> SquaredResiduals:
        return SquaredResiduals(self.squares[rows], self.weights[rows], self.n_targets)


class _ResidualsExpansion(OneOutput):
    def __init__(self, sites: SquaredResiduals, f: Array) -> None:
        half = 0.5 * sites.n_targets
        with np.errstate(over="ignore"):  # where a step went too far the value says so
            self.curve = 0.5 * sites.weights * sites.squares * np.exp(-f)
        self.change = -self.curve
        self.value = -float(self.curve.sum() + half * (sites.weights @ f))
        self.slope = (self.curve - half * sites.weights)[:, None]


@dataclass(frozen=True)
class Probit(LabelLikelihood):
    """The probit likelihood of two classes, smoothed as `cavity` says.

    It is ``p(t|f) = Φ(t f)``, t = ±1, averaged over a normal f of variance V.

    Parameters
    ----------
    labels : ndarray, (N,)
        1 or -1.
    weights : ndarray, (N,)
        How often each sample counts.
    cavity : {"none", "prior", "posterior"}, default="none"
        "none" is V = 0, Laplace's method; "prior" V = diag(ΦA⁻¹Φᵀ), the naive mean field;
        "posterior" the variance that the other samples leave, the adaptive TAP mean field (which is
        expectation propagation).

    See Also
    --------
    Logit : Without mean fields.
    sparsebayes.RVC : Has it as ``link="probit"``.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Probit
    >>> sites = Probit(np.array([1.0, -1.0]), np.ones(2))
    >>> round(sites.expand(np.zeros((2, 1)), None).value, 3)
    -1.386
    """

    labels: Array
    weights: Array
    cavity: Cavity = "none"
    outputs = 1

    def expand(self, f: Array, cavity: Array | None) -> _ProbitExpansion:
        return _ProbitExpansion(self, f[:, 0], cavity)

    def plain(self, rows: slice) -> Probit:
        return Probit(self.labels[rows], self.weights[rows])


class _ProbitExpansion(OneOutput):
    def __init__(self, sites: Probit, f: Array, cavity: Array | None) -> None:
        self.cavity = np.zeros(f.size) if cavity is None else cavity
        self.width = np.sqrt(1.0 + self.cavity)
        a = self._solve(sites.labels * f)
        rate, excess, left = _mills(a)
        shortfall = self._shortfall(left)
        tau = rate / self.width
        single = rate * excess / (self.width**2 * shortfall)
        self.single = single if sites.cavity == "posterior" else None
        self.value = float(sites.weights @ self._psi(a, rate, excess))
        self.slope = (sites.weights * sites.labels * tau)[:, None]
        self.curve = sites.weights * single
        self.change = sites.weights * sites.labels * rate * (left - excess**2)
        self.normaliser = -0.5 * float(sites.weights @ np.log(shortfall))

    def _psi(self, a: Array, rate: Array, excess: Array) -> Array:
        """``log Z(y) + (f − y)²/2V``, with ``f − y = Vτ``.

        For negative a both terms are near a²/2, which is taken out: ``Φ = φ/ρ``, ``ρ = e − a``.
        """
        share = self.cavity / self.width**2
        negative = np.minimum(a, -1.0)
        rest = 0.5 * share * excess * (excess - 2.0 * negative) - 0.5 * (negative / self.width) ** 2
        small = rest - 0.5 * math.log(2.0 * math.pi) - np.log(np.where(a < -1.0, rate, 1.0))
        return np.where(a < -1.0, small, log_ndtr(a) + 0.5 * share * rate**2)

    def _shortfall(self, left: Array) -> Array:
        """``1 + Vτ'``, which is at least 1/(1 + V), from ``1 + ρ'``."""
        return (1.0 + self.cavity * left) / self.width**2

    def _solve(self, margin: Array) -> Array:
        """a with ``a √(1+V) + V ρ(a)/√(1+V) = t f``: the slope is between 1/√(1+V) and √(1+V)."""
        a = margin / self.width
        if not self.cavity.any():
            return a
        low, high = np.full(margin.size, -np.inf), margin / self.width
        for _ in range(100):
            _, excess, left = _mills(a)
            # (1 + V)a + Vρ, without the difference of V|a| and Vρ
            value = (a + self.cavity * excess) / self.width - margin
            new = a - value / (self.width * self._shortfall(left))
            low = np.where(value < 0, np.maximum(low, a), low)
            high = np.where(value >= 0, np.minimum(high, a), high)
            outside = (new < low) | (new > high)
            new = np.where(outside, np.where(np.isfinite(low), 0.5 * (low + high), new), new)
            done = np.abs(new - a) <= 1e-13 * (1.0 + np.abs(a))
            a = new
            if done.all():
                break
        return a


def _mills(a: Array) -> tuple[Array, Array, Array]:
    """``ρ = φ(a)/Φ(a)``, ``a + ρ`` and ``1 + ρ' = 1 − ρ(a + ρ)``."""
    near = np.maximum(a, -30.0)
    rate = np.exp(-0.5 * near**2 - 0.5 * math.log(2.0 * math.pi) - log_ndtr(near))
    excess, left = near + rate, np.maximum(1.0 - rate * (near + rate), 0.0)
    far = a < -30.0
    if far.any():  # there these are differences of large numbers; their series in 1/|a| are not
        inverse = -1.0 / a[far]
        square = inverse**2
        excess[far] = inverse * polyval(square, [1.0, -2.0, 10.0, -74.0, 706.0])
        left[far] = square * polyval(square, [1.0, -6.0, 50.0, -518.0])
        rate[far] = excess[far] - a[far]
    return rate, excess, left


@dataclass(frozen=True)
class Softmax(LabelLikelihood):
    """The likelihood of several classes.

    It is ``p(t = k|f) = exp(f_k)/Σ_l exp(f_l)``, labels 0 to K − 1.  # T01 (28)

    Parameters
    ----------
    labels : ndarray of int, (N,)
        Numbers of classes.
    weights : ndarray, (N,)
        How often each sample counts.
    outputs : int
        K, the number of classes.

    See Also
    --------
    Logit : Two classes.
    Latent : The problem with these sites.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Softmax
    >>> sites = Softmax(np.array([0, 2]), np.ones(2), 3)
    >>> round(sites.expand(np.zeros((2, 3)), None).value, 3)
    -2.197
    """

    labels: Array
    weights: Array
    outputs: int
    cavity: ClassVar[Cavity] = "none"

    @cached_property
    def onehot(self) -> Array:
        """A column for each class, 1 where a label is that class."""
        return np.eye(self.outputs)[self.labels]

    def expand(self, f: Array, cavity: Array | None) -> _SoftmaxExpansion:
        return _SoftmaxExpansion(self, f)

    def plain(self, rows: slice) -> Softmax:
        return Softmax(self.labels[rows], self.weights[rows], self.outputs)


class _SoftmaxExpansion(SiteExpansion):
    """A block of B is ``w (diag π − ππᵀ)``."""

    def __init__(self, sites: Softmax, f: Array) -> None:
        every = np.arange(len(f))
        top = every, f.argmax(axis=1)
        below = f - f[top][:, None]
        others = np.exp(below)
        others[top] = 0.0
        small = others.sum(axis=1)  # of the others, in units of the largest
        total = 1.0 + small
        self._weights, self._probability = sites.weights, others / total[:, None]
        rest = 1.0 - self._probability
        self._probability[top], rest[top] = 1.0 / total, small / total
        logs = below[every, sites.labels] - np.log1p(small)
        self.value = float(sites.weights @ logs)
        signed = np.where(sites.onehot > 0, rest, -self._probability)
        self.slope = sites.weights[:, None] * signed
        self._own = sites.weights[:, None] * self._probability * rest

    def curvature(self, k: int) -> Array:
        block = self._probability * (-self._weights * self._probability[:, k])[:, None]
        block[:, k] = self._own[:, k]
        return block

    def gram(self, rows: Array, output: Array) -> Array:
        # In two products whatever the number of classes.
        weighted = rows * self._probability.T[output]
        between = -(weighted * self._weights) @ weighted.T
        within = (rows * self._own.T[output]) @ rows.T
        return np.where(output[:, None] == output, within, between)

    def tilt(self, spread: Array) -> Array:
        # tr(CB) = Σ_i π_i C_ii − πᵀCπ, and dπ_i/df_k = π_i (δ_ik − π_k)
        probability = self._probability
        by_probability = np.einsum("nkk->nk", spread) - 2.0 * np.einsum(
            "nkl,nl->nk", spread, probability
        )
        mean = np.einsum("nk,nk->n", by_probability, probability)
        return self._weights[:, None] * probability * (by_probability - mean[:, None])
