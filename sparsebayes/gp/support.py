"""The reduced-rank Gaussian process: evidence, its gradient, and the choice of the support.

With a kernel matrix K between the N training inputs and the M support inputs, the model is
``f = K w`` with ``w ~ N(0, K_mm⁻¹)`` (QC04 3.22), hence ``y ~ N(0, Q)``, ``Q = σ²I + VᵀV`` with
``V = L⁻¹ Kᵀ`` and ``L Lᵀ = K_mm``. Everything is written with V and ``B = I + V Vᵀ/σ²``, whose
eigenvalues are at least 1, and never with an inverse of K_mm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import Kernel

from sparsebayes._support.fits.clock import end_in_time, time_is_up
from sparsebayes.engine.linalg import own_threads
from sparsebayes.gp.kernels import contract

Array = np.ndarray

JITTER = 1e-10  # added to the diagonal of K_mm, relative to its mean
NOISE_RANGE = (1e-10, 10.0)  # of the noise variance, relative to that of the targets
# Growth of the support ends with three times as many as where the evidence rose last: the fewest
# that reach its level predict worse, as hyperparameters learned with so few differ.
BEYOND, LEAST = 3, 10
DEPENDENT = 1e-9  # a support input whose variance given the others is less than this adds nothing


def solve(lower: Array, right: Array, transposed: bool = False) -> Array:
    return solve_triangular(
        lower, right, lower=True, trans=1 if transposed else 0, check_finite=False
    )


def _factor(matrix: Array, kernel: Kernel, jitter: float) -> tuple[Array, float]:
    """Cholesky factor with jitter on the diagonal, relative to its mean, and the jitter.

    It is raised from `jitter` as far as rounding demands.
    """
    level = float(np.trace(matrix)) / len(matrix)
    while jitter < 1e-3 and np.isfinite(level):
        try:
            return cholesky(matrix + jitter * level * np.eye(len(matrix)), lower=True), jitter
        except LinAlgError:
            jitter = max(1e-15, 10.0 * jitter)
    raise ValueError(
        f"kernel={kernel} is not positive definite on the support inputs; "
        "use a valid kernel and bounds that keep its values finite."
    )


@dataclass(frozen=True)
class Model:
    """A support set and a setting of the hyperparameters, with the data."""

    kernel: Kernel
    X: Array
    y: Array
    support: Array
    noise: float
    evidence: float = np.nan

    @property
    def parts(self) -> tuple[Kernel, Array, Array, Array, float]:
        return self.kernel, self.X, self.y, self.support, self.noise


@dataclass(frozen=True)
class SupportPosterior:
    """The posterior of the support inputs' weights, and the evidence.

    Attributes
    ----------
    evidence : float
    factor : ndarray, (M, M)
        L, lower.
    precision : ndarray, (M, M)
        The Cholesky factor of B, the posterior precision of ``Lᵀ w``, lower.
    latent : ndarray, (M,)
        Posterior mean of ``Lᵀ w``.
    alpha : ndarray, (N,)
        ``Q⁻¹ y``.
    """

    evidence: float
    factor: Array
    precision: Array
    latent: Array
    alpha: Array

    def weights(self) -> tuple[Array, Array]:
        """Posterior mean (M,) of w, and R (M, M) with ``RᵀR`` its covariance."""
        inverse = solve(self.factor, np.eye(len(self.factor)))
        return inverse.T @ self.latent, solve(self.precision, inverse)


def evaluate(
    model: Model, by_kernel: bool = False, by_noise: bool = False
) -> tuple[SupportPosterior, Array]:
    """The posterior, and the gradient of the evidence by θ, log σ² or both, where asked for."""
    with own_threads(len(model.y) * len(model.support) ** 2):
        return _evaluated(model, by_kernel, by_noise)


def _evaluated(model: Model, by_kernel: bool, by_noise: bool) -> tuple[SupportPosterior, Array]:
    kernel, X, y, support, noise = model.parts
    size, count = len(y), len(support)
    columns = kernel(X, X[support])
    factor, jitter = _factor(columns[support], kernel, JITTER)
    whitened = solve(factor, columns.T)
    inner = whitened @ whitened.T / noise
    inner[np.diag_indices(count)] += 1.0
    precision, _ = _factor(inner, kernel, 0.0)
    latent = solve(precision, solve(precision, whitened @ y / noise), transposed=True)
    alpha = (y - latent @ whitened) / noise
    # yᵀQ⁻¹y as a sum of squares: nothing cancels when the noise is small.
    quadratic = noise * (alpha @ alpha) + latent @ latent
    log_det = size * np.log(noise) + 2.0 * np.log(np.diag(precision)).sum()
    evidence = -0.5 * float(quadratic + log_det + size * np.log(2.0 * np.pi))
    posterior = SupportPosterior(evidence, factor, precision, latent, alpha)
    eye = np.eye(count)
    inverse_precision = solve(precision, eye) if by_kernel or by_noise else eye
    gradient = np.empty(0)
    if by_kernel:
        # With E the evidence: dE/dQ = ½(ααᵀ − Q⁻¹), from which QC04 (3.24)-(3.25) follow by
        # dE/dK = 2 dE/dQ Pᵀ and dE/dK_mm = −P dE/dQ Pᵀ, P = K_mm⁻¹ Kᵀ.
        inverse_factor = solve(factor, eye)
        weights = solve(factor, latent, transposed=True)
        covariance = inverse_precision.T @ (inverse_precision @ inverse_factor)  # B⁻¹ L⁻¹
        by_columns = whitened.T @ (covariance / -noise)
        by_columns += np.multiply.outer(alpha, weights)
        by_square = 0.5 * inverse_factor.T @ (inverse_factor - covariance)
        by_square -= 0.5 * np.multiply.outer(weights, weights)
        by_square[np.diag_indices(count)] += jitter * np.trace(by_square) / count
        by_columns[support] += by_square  # K_mm is a part of K
        gradient = contract(kernel, X, X[support], by_columns, columns)
    if by_noise:
        trace = size - count + (inverse_precision**2).sum()  # σ² tr Q⁻¹
        gradient = np.append(gradient, 0.5 * (noise * (alpha @ alpha) - trace))
    return posterior, gradient


def climb(
    model: Model,
    by_kernel: bool,
    noise_bounds: Array | None,
    scale: float,
    max_iter: int,
    tol: float,
) -> tuple[Model, bool]:
    """Maximise the evidence of a support set over θ, log σ² or both, within their bounds.

    `noise_bounds` are those of log σ², None to leave it alone; `scale` is the variance of the
    targets. Returns the best model, and whether it is where the optimiser wanted to end.
    """
    kernel, by_noise = model.kernel, noise_bounds is not None
    count = kernel.n_dims if by_kernel else 0
    start, bounds = kernel.theta[:count], kernel.bounds.reshape(-1, 2)[:count]
    if noise_bounds is not None:
        start = np.append(start, np.log(model.noise))
        bounds = np.vstack([bounds, noise_bounds])
    best = replace(model, evidence=np.nan)

    def loss(values: Array) -> tuple[float, Array]:
        nonlocal best
        trial = replace(
            model,
            kernel=kernel.clone_with_theta(values[:count]) if count else kernel,
            noise=float(np.exp(values[-1])) if by_noise else model.noise,
        )
        found, gradient = evaluate(trial, by_kernel, by_noise)
        if not best.evidence > found.evidence:
            best = replace(trial, evidence=found.evidence)
        # The units of the targets do not count.
        return -found.evidence / len(model.y) - 0.5 * np.log(scale), -gradient / len(model.y)

    found = minimize(
        loss,
        np.clip(start, *bounds.T),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=end_in_time,
        options={"maxiter": max_iter, "maxfun": 3 * max_iter, "ftol": tol, "gtol": 1e-6},
    )
    return best, found.status != 1


def select(
    model: Model,
    size: int,
    *,
    by_evidence: bool,
    n_search: int,
    rng: np.random.RandomState,
    candidates: Array,
    slack: float | None = None,
) -> tuple[Array, Array]:
    """Choose support inputs one at a time, each the best of `n_search` random candidates.

    The gain is that of the evidence (QC04 3.30), or of its quadratic part alone, which is the
    posterior objective of Smola and Bartlett (3.35). A new support input adds ``v vᵀ`` to Q, with
    v a row of V; V grows as an incremental Cholesky factor, and so does U in
    ``Q⁻¹ = (I − UᵀU)/σ²``.

    With `slack` the evidence says how many (QC04 3.3.5.2): it rises, levels off, and may fall
    again. Growth ends when it has risen by no more than `slack` while the support set has grown to
    three times its size.

    Returns
    -------
    support : ndarray of int
        Fewer than `size` where `slack` is given, or the other candidates add but rounding.
    path : ndarray, (len(support),)
        The log evidence after each.
    """
    kernel, X, y, _, noise = model.parts
    rows = np.empty((size, len(y)))
    damped = np.empty((size, len(y)))
    prior = kernel.diag(X)
    left = prior.copy()  # variance given the support
    alpha = y / noise
    evidence = -0.5 * (y @ alpha + len(y) * np.log(2.0 * np.pi * noise))
    support: list[int] = []
    path: list[float] = []
    level, reached = -np.inf, 0  # of the evidence, at its last rise by more than the slack
    for m in range(size):
        if support and time_is_up():
            break
        # Those chosen before have no variance left.
        pool = candidates[left[candidates] > DEPENDENT * prior[candidates]]
        if pool.size == 0:
            break
        if pool.size > n_search:
            pool = rng.choice(pool, n_search, replace=False)
        rest = kernel(X, X[pool])
        rest -= rows[:m].T @ rows[:m, pool]
        rest /= np.sqrt(left[pool])
        inside = damped[:m] @ rest
        signal = (alpha @ rest) ** 2
        spread = (rest**2).sum(axis=0) - (inside**2).sum(axis=0)
        spread = 1.0 + np.maximum(spread, 0.0) / noise  # 1 + vᵀQ⁻¹v
        gains = 0.5 * (signal / spread - np.log(spread))
        best = int(np.argmax(gains if by_evidence else signal / spread))

        row = rest[:, best]
        solved = (row - inside[:, best] @ damped[:m]) / noise
        rows[m] = row
        damped[m] = np.sqrt(noise / spread[best]) * solved
        alpha = alpha - solved * ((alpha @ row) / spread[best])
        left -= row**2
        evidence += gains[best]
        support.append(int(pool[best]))
        path.append(float(evidence))
        if slack is None:
            continue
        if evidence > level + slack:
            level, reached = evidence, m + 1
        elif m + 1 >= max(BEYOND * reached, reached + LEAST):
            break
    return np.array(support, dtype=np.intp), np.array(path)
