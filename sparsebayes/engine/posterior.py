"""The Gaussian posterior and log evidence of an active set, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class State:
    """An active set with its precisions, and everything that follows from them.

    Attributes
    ----------
    active : ndarray of int, (S,)
    alpha : ndarray, (S,)
    beta : float
    gram : ndarray, (S, S)
        ``Φ_aᵀWΦ_a``.
    factor, mean
        Cholesky factor of ``H = β gram + A``, and μ.
    evidence : float
        ``log p(z | α, β)``.
    objective : float
        The evidence plus the prior.
    """

    active: Array
    alpha: Array
    beta: float
    gram: Array
    factor: Array
    mean: Array
    evidence: float
    objective: float

    @cached_property
    def cov(self) -> Array:
        """Σ, (S, S): computed when asked for, since a rejected step never asks."""
        return linalg.inverse(self.factor)

    @property
    def variances(self) -> Array:
        """The diagonal of Σ."""
        return self.cov.diagonal()

    @cached_property
    def determined(self) -> Array:
        """``γ = 1 − α Σ_ii``: 1 where the data decide, 0 where the prior does."""
        return 1.0 - self.alpha * self.variances

    def scale(self, problem: Problem) -> Array:
        """``g = φᵀBφ`` of the active functions."""
        return self.beta * problem.norms[self.active]

    def s_and_q2(self) -> tuple[Array, Array]:
        """``s`` and ``q²`` of the active functions, each with itself left out."""
        # Σ_ii = 1/(α + s) and μ_i = q/(α + s) restate S08 (2.85)-(2.86).
        variances = self.variances
        return np.maximum(self.determined, 0.0) / variances, (self.mean / variances) ** 2


def evaluate(
    problem: Problem, active: Array, alpha: Array, beta: float, gram: Array | None = None
) -> State | None:
    """The state with these precisions; None where H is not positive definite in rounding."""
    if gram is None:
        gram = problem.gram(active)
    size = active.size
    constant = problem.sites.log_normaliser(beta) - 0.5 * beta * problem.energy
    if size == 0:
        return State(active, alpha, beta, gram, gram, np.empty(0), constant, constant)
    hessian = beta * gram
    hessian.flat[:: size + 1] += alpha
    factor = linalg.cholesky(hessian)
    if factor is None:
        return None
    moment = beta * problem.moments[active]
    mean = linalg.solve(factor, moment)
    # −½[log|H| − Σ log α + zᵀBz − μᵀHμ] and the sites' constant; T01 (38)-(41)
    evidence = constant + 0.5 * (
        float(np.log(alpha).sum()) - linalg.log_det(factor) + float(moment @ mean)
    )
    objective = evidence + problem.prior.log_density(alpha, beta * problem.norms[active])
    if not np.isfinite(objective):
        return None
    return State(active, alpha, beta, gram, factor, mean, evidence, objective)


def residual_energy(problem: Problem, state: State) -> float:
    """``(z − Φμ)ᵀ W (z − Φμ)``, by ``Hμ = βΦᵀWz`` without a product with the samples."""
    mean = state.mean
    prior = float(mean @ (state.alpha * mean)) / state.beta
    return max(problem.energy - float(mean @ problem.moments[state.active]) - prior, 0.0)


def gradient(problem: Problem, state: State) -> tuple[Array, float]:
    """Derivatives of the objective with respect to log α and log β.  # T01 (42), (45)"""
    _, first, _ = problem.prior.derivatives(state.alpha, state.scale(problem))
    by_alpha = 0.5 * (1.0 - state.alpha * (state.mean**2 + state.variances)) + first
    spread = state.beta * residual_energy(problem, state) + float(state.determined.sum())
    by_beta = 0.5 * (problem.sites.size - spread)
    if problem.prior.relative:
        by_beta -= float(first.sum())
    return by_alpha, by_beta


def curvature(problem: Problem, state: State, *, free: bool) -> tuple[Array, Array]:
    """Gradient and Hessian in (log α, log β); in log α alone where β is not `free`.

    With ``dΣ/dα_j = −Σ_·j Σ_j·`` and ``dμ/dα_j = −Σ_·j μ_j`` all second derivatives are
    products of entries of Σ and μ: nothing here depends on the number of samples.
    """
    alpha, beta, mean, cov = state.alpha, state.beta, state.mean, state.cov
    size = alpha.size
    _, first, second = problem.prior.derivatives(alpha, state.scale(problem))
    pull = alpha * mean
    scaled = alpha[:, None] * cov  # AΣ
    overlap = scaled * scaled.T  # α_i α_j Σ_ij²
    shrink = scaled.diagonal()  # 1 − γ
    moment = pull * mean + shrink  # α(μ² + Σ_ii)

    grad = np.empty(size + free)
    hess = np.empty((size + free, size + free))
    grad[:size] = 0.5 * (1.0 - moment) + first
    block = hess[:size, :size]
    np.multiply(scaled, mean[:, None], out=block)
    block *= pull
    block += 0.5 * overlap
    block[np.arange(size), np.arange(size)] += second - 0.5 * moment
    if free:
        drift = cov @ pull  # dμ/dlog β = ΣAμ
        unshrunk = size - float(shrink.sum())  # Σγ
        spread = beta * residual_energy(problem, state) + unshrunk
        by_row = overlap.sum(axis=1)
        # (βΣGΣ)_ii = Σ_ii − Σ_j α_j Σ_ij², and its trace with βG is that of (I − ΣA)²
        cross = 0.5 * (shrink - by_row) - pull * drift
        trace = 2.0 * unshrunk - size + float(by_row.sum())
        grad[size] = 0.5 * (problem.sites.size - spread)
        corner = -0.5 * spread + float(pull @ drift) + 0.5 * trace
        if problem.prior.relative:
            grad[size] -= float(first.sum())
            cross = cross - second
            corner += float(second.sum())
        hess[size, :size] = hess[:size, size] = cross
        hess[size, size] = corner
    return grad, hess
