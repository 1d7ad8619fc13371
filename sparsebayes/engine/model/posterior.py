"""The Gaussian posterior of an active set, and the derivatives of the objective."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.linalg import (
    along_diagonal,
    fold,
    fold_matrix,
    mean_product,
    mean_square,
    total,
)
from sparsebayes.engine.model.prior import Prior
from sparsebayes.engine.once import Once

if TYPE_CHECKING:
    from sparsebayes.engine.model.latent import Approximation
    from sparsebayes.engine.model.problem import EstimatedNoise

Array = np.ndarray

# With more effective parameters than this part of the samples, no estimate of the noise is to be
# believed: it has collapsed, or is about to. Fits of real data were seen at up to two thirds.
CREDIBLE = 0.75
LEAST_S = 1e-290  # certain labels leave no curvature; q²/s stays finite
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False, init=False)
class State:
    """An active set with its precisions, and everything that follows from them.

    A function may have several weights that share its precision (`group`); arrays over weights
    have those of one function together. What is said of a function below is then the mean over
    its weights, and what it does to the objective is `group` times that. With several targets, what
    concerns them is the mean over these, the evidence too.

    Parameters
    ----------
    active : ndarray of int, (S,)
        The functions in the model.
    alpha : ndarray, (S,)
        Their precisions.
    beta : float
        The noise precision.
    gram : ndarray, (P, P)
        ``Φ_aᵀWΦ_a``, for P weights; P = S unless they are grouped.
    factor : ndarray, (P, P)
        Cholesky factor of ``H = β gram + A``.
    mean : ndarray, (P,), or (P, T) with T targets
        Posterior mean μ of the weights.
    evidence : float
        ``log p(data | α, β)``, of one target.
    prior : Prior
        On the precisions.
    group : int, default=1
        Weights per function.
    local : Approximation or None, default=None
        The expansion of the likelihood that the state rests on; None where the sites are Gaussian.
    residual : float or None, default=None
        ``(z − Φμ)ᵀW(z − Φμ)`` where the state comes from orthogonal factors; None where it comes
        from products, which have half the digits.
    noise_density : float, default=0.0
        The log prior of β.

    Attributes
    ----------
    objective : float
        The evidence plus the priors.

    See Also
    --------
    Problem : Builds states, and changes of them.
    Solution : Has the best.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian
    >>> problem = Exact(Dense(np.eye(3)), Flat(), Gaussian(np.arange(3.0), np.ones(3), 1.0))
    >>> state = problem.evaluate(np.array([2]), np.array([1.0]), problem.beta)
    >>> state.mean, state.cov, state.determined
    (array([1.]), array([[0.5]]), array([0.5]))
    """

    active: Array
    alpha: Array
    beta: float
    gram: Array
    factor: Array
    mean: Array
    evidence: float
    prior: Prior
    group: int = 1
    local: Approximation | None = None
    residual: float | None = None
    noise_density: float = 0.0
    objective: float = field(init=False)

    def __init__(  # by hand, since there are thousands of them in a fit
        self,
        active: Array,
        alpha: Array,
        beta: float,
        gram: Array,
        factor: Array,
        mean: Array,
        evidence: float,
        prior: Prior,
        group: int = 1,
        local: Approximation | None = None,
        residual: float | None = None,
        noise_density: float = 0.0,
    ) -> None:
        known = self.__dict__
        known["active"], known["alpha"], known["beta"] = active, alpha, beta
        known["gram"], known["factor"], known["mean"] = gram, factor, mean
        known["evidence"], known["prior"], known["group"] = evidence, prior, group
        known["local"], known["residual"], known["noise_density"] = local, residual, noise_density
        known["objective"] = evidence + group * prior.log_density(self) + noise_density

    @Once
    def cov(self) -> Array:
        """The covariance Σ, (P, P): computed when asked for, since a rejected step never asks."""
        return linalg.inverse(self.factor)

    @property
    def root(self) -> Array:
        """A root R of the covariance, ``R Rᵀ = Σ``, (P, P)."""
        return linalg.inverse_triangle(self.factor).T

    @property
    def least_s(self) -> Array:
        """An s no larger is rounding: this part of φᵀBφ, and never 0."""
        part = 1e-14 if self.residual is None else 1e-24
        return np.maximum(part * self.scale, LEAST_S)

    @property
    def precisions(self) -> Array:
        """The precision of each weight, (P,)."""
        return self.alpha if self.group == 1 else np.repeat(self.alpha, self.group)

    @Once
    def variances(self) -> Array:
        """The diagonal of Σ, by function."""
        return fold(self.cov.diagonal(), self.group)

    def without_cov(self) -> State:
        """Tell it that nobody is going to ask for more of Σ than its diagonal.

        Returns
        -------
        State
            This state.
        """
        if not {"cov", "variances"} & self.__dict__.keys():
            variances = fold(linalg.inverse_diagonal(self.factor), self.group)
            self.__dict__["variances"] = variances
        return self

    @property
    def squared(self) -> Array:
        """The squares μ², by function."""
        return mean_square(self.mean, self.group)

    @property
    def prior_energy(self) -> float:
        """The sum ``μᵀAμ``."""
        return per_target(self.mean, (self.precisions * self.mean.T).T)

    @Once
    def determined(self) -> Array:
        """``γ = 1 − α Σ_ii``: 1 where the data decide, 0 where the prior does."""
        return 1.0 - self.alpha * self.variances

    @property
    def n_determined(self) -> float:
        """The number of effective parameters."""
        return self.group * linalg.total(self.determined)

    @Once
    def scale(self) -> Array:
        """``g = φᵀBφ`` of the active functions."""
        return self.beta * fold(self.gram.diagonal(), self.group)

    def s_and_q2(self) -> tuple[Array, Array]:
        """Compute ``s`` and ``q²`` of the active functions, each with itself left out.

        Returns
        -------
        s : ndarray, (S,)
            How much the data can say of each.
        q2 : ndarray, (S,)
            How well it would fit, squared.
        """
        # Σ_ii = 1/(α + s) and μ_i = q/(α + s) restate S08 (2.85)-(2.86).
        variances = self.variances
        return np.maximum(self.determined, 0.0) / variances, self.squared / variances**2


def uncertainty(state: State) -> float:
    """Nats by which the evidence of a state by products may be wrong where large weights cancel.

    Rounding of ``H`` moves ``μᵀHμ`` by its product with |μ| on both sides. In trials the error of
    the evidence was between a hundredth of this bound and all of it.
    """
    sums = np.sqrt(state.scale + state.alpha) @ np.abs(state.mean)  # of each target
    longest = float(sums if state.mean.ndim == 1 else sums.max())
    return _EPS * longest**2


def per_target(left: Array, right: Array) -> float:
    """The product of two vectors, the mean over the targets where there are several."""
    if left.ndim == 1:
        return float(np.vdot(left, right))
    return float(np.vdot(left, right)) / left.shape[1]


def over_targets(values: Array) -> Array:
    """Means over the targets, where there are several."""
    return values if values.ndim == 1 else values.mean(axis=1)


def alpha_gradient(state: State) -> Array:
    """Derivatives of the objective with respect to log α, for fixed B.  # T01 (42)"""
    first, _ = state.prior.slopes(state)
    moment = state.alpha * (state.squared + state.variances)
    return state.group * (0.5 * (1.0 - moment) + first)


def gradient(state: State, noise: EstimatedNoise) -> tuple[Array, float]:
    """Derivatives of the objective with respect to log α and log β.  # T01 (42), (45)"""
    spread = state.beta * noise.scatter(state) + state.n_determined
    by_beta = 0.5 * (noise.count - spread)
    if state.prior.relative:
        by_beta -= float(state.prior.slopes(state)[0].sum())
    return alpha_gradient(state), by_beta


def gradient_and_hessian(state: State, noise: EstimatedNoise | None) -> tuple[Array, Array]:
    """In (log α, log β); in log α alone without `noise`.

    With ``dΣ/dα_j = −Σ_·j Σ_j·`` and ``dμ/dα_j = −Σ_·j μ_j`` all second derivatives are
    products of entries of Σ and μ: nothing here depends on the number of samples.
    """
    alpha, beta, mean, cov = state.precisions, state.beta, state.mean, state.cov
    size, free = state.active.size, noise is not None
    first, second = state.prior.slopes(state)
    pull = (alpha * mean.T).T
    scaled = alpha[:, None] * cov  # AΣ
    overlap = scaled * scaled.T  # α_i α_j Σ_ij²
    shrink = scaled.diagonal()  # 1 − γ
    along = over_targets(pull * mean)
    moment = fold(along + shrink, state.group)  # α(μ² + Σ_ii)

    grad = np.empty(size + free)
    hess = np.empty((size + free, size + free))
    grad[:size] = state.group * (0.5 * (1.0 - moment) + first)
    block = hess[:size, :size]
    rise = scaled * mean[:, None] * pull if mean.ndim == 1 else scaled * mean_product(mean, pull)
    block[:] = fold_matrix(rise + 0.5 * overlap, state.group)
    diagonal = along_diagonal(hess)[:size]
    diagonal -= 0.5 * state.group * moment
    if second.ndim == 1:
        diagonal += state.group * second
    else:
        block += state.group * second
    if noise is not None:
        drift = cov @ pull  # dμ/dlog β = ΣAμ
        unshrunk = size - total(shrink)  # Σγ
        spread = beta * noise.scatter(state) + unshrunk
        by_row = np.add.reduce(overlap, 1)
        # (βΣGΣ)_ii = Σ_ii − Σ_j α_j Σ_ij², and its trace with βG is that of (I − ΣA)²
        cross = 0.5 * (shrink - by_row) - over_targets(pull * drift)
        trace = 2.0 * unshrunk - size + total(by_row)
        grad[size] = 0.5 * (noise.count - spread)
        corner = -0.5 * spread + per_target(pull, drift) + 0.5 * trace
        if state.prior.relative:
            grad[size] -= total(first)
            cross = cross - (second if second.ndim == 1 else second.sum(axis=1))
            corner += float(second.sum())
        hess[size, :size] = hess[:size, size] = cross
        hess[size, size] = corner
    return grad, hess
