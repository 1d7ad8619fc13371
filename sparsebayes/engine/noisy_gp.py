"""Gaussian processes whose training inputs are known with Gaussian noise: numbers only.

The kernel is ``a exp(−½ Σ_d (x_d − z_d)²/ℓ_d²)``. Inputs come as a batch of C sets, (C, N, D),
one for each chain of a sampler.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from sparsebayes.engine.linalg import cholesky, inverse, log_det

Array = np.ndarray

JITTER = 1e-10  # what rounding needs on the diagonal, as a part of the amplitude
LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Theta:
    """Hyperparameters: amplitude a, length scales (D,), output noise variance."""

    amplitude: float
    scales: Array
    noise: float

    @property
    def diagonal(self) -> float:
        """What is added to the diagonal of the kernel."""
        return self.noise + JITTER * self.amplitude


@dataclass(frozen=True)
class Slopes:
    """Derivatives of log p(y | X, θ) by log a, log ℓ, log noise and X, for each of C sets."""

    amplitude: Array  # (C,)
    scales: Array  # (C, D)
    noise: Array  # (C,)
    inputs: Array  # (C, N, D)


def invert(matrix: Array) -> tuple[Array, float]:
    """Inverse and log determinant of a covariance, or LinAlgError."""
    factor = cholesky(matrix)
    if factor is None:
        raise LinAlgError("A covariance is not positive definite; raise the noise.")
    return inverse(factor), log_det(factor)


def kernel(x: Array, z: Array, theta: Theta) -> Array:
    """(..., N, D) and (..., M, D) -> (..., N, M)."""
    x, z = x / theta.scales, z / theta.scales
    cross = x @ np.swapaxes(z, -1, -2)
    squares = (x**2).sum(axis=-1)[..., :, None] + (z**2).sum(axis=-1)[..., None, :] - 2.0 * cross
    return theta.amplitude * np.exp(-0.5 * np.maximum(squares, 0.0))


def precisions(X: Array, theta: Theta) -> tuple[Array, Array, Array]:
    """Kernels K, inverses of ``K + noise`` and their −log determinants, for each set of inputs."""
    K = kernel(X, X, theta)
    P, logs = np.empty_like(K), np.empty(len(K))
    shift = theta.diagonal * np.eye(K.shape[-1])
    for c in range(len(K)):
        P[c], logs[c] = invert(K[c] + shift)
    return K, P, -logs


def log_evidence(X: Array, y: Array, theta: Theta) -> tuple[Array, Slopes]:
    """``log p(y | X, θ)`` for each set of inputs (C, N, D), and its derivatives."""
    K, P, logs = precisions(X, theta)
    alpha = P @ y
    value = 0.5 * (logs - alpha @ y - len(y) * LOG_2PI)
    by_entry = 0.5 * (alpha[:, :, None] * alpha[:, None, :] - P)
    trace = np.trace(by_entry, axis1=1, axis2=2)
    W = by_entry * K
    rows = W.sum(axis=2)
    z = X / theta.scales
    pull = W @ z
    return value, Slopes(
        rows.sum(axis=1) + JITTER * theta.amplitude * trace,
        2.0 * (rows[:, :, None] * z**2 - z * pull).sum(axis=1),
        theta.noise * trace,
        2.0 * (pull - rows[:, :, None] * z) / theta.scales,  # QC04 (4.34), (4.35)
    )


class InputPosterior:
    """The posterior of inputs given y and θ, in ξ = (x − u)/√s: prior N(0, I) (QC04 4.37)."""

    def __init__(self, y: Array, centres: Array, spread: Array, theta: Theta) -> None:
        self.y, self.centres, self.spread, self.theta = y, centres, spread, theta

    def inputs(self, xi: Array) -> Array:
        return self.centres + self.spread * xi

    def __call__(self, xi: Array) -> tuple[Array, Array]:
        """Log density (C,) and its slope (C, N, D) at ξ (C, N, D)."""
        value, slopes = log_evidence(self.inputs(xi), self.y, self.theta)
        value = value - 0.5 * (xi**2).sum(axis=(1, 2))
        return value, slopes.inputs * self.spread - xi

    def sweep(self, xi: Array, n_candidates: int, rng: np.random.Generator) -> Array:
        """Move each point once, given all others; it can jump from one mode to another.

        Candidates for ξ_n are drawn from its prior, and one of them or the current value is
        chosen with probability in proportion to ``p(y_n | x_n, all others)``, which leaves the
        posterior as it is.
        """
        theta, y = self.theta, self.y
        xi = xi.copy()
        X = self.inputs(xi)
        P = precisions(X, theta)[1]
        chains, size, dim = xi.shape
        index = np.arange(chains)
        pair = np.empty((chains, 2, size))
        for n in range(size):
            if not self.spread[n].any():
                continue
            trial = rng.standard_normal((chains, n_candidates + 1, dim))
            trial[:, 0] = xi[:, n]
            places = self.centres[n] + self.spread[n] * trial
            k = kernel(places, X, theta)  # (C, candidates, N)
            # Without row n the inverse of the covariance is P − ccᵀ/c_n, c its column: 0 in row n.
            column = P[:, :, n]
            weights = k @ P
            weights -= weights[:, :, n, None] * (column / column[:, n, None])[:, None, :]
            mean = weights @ y
            left = theta.amplitude + theta.diagonal - np.einsum("ckn,ckn->ck", weights, k)
            left = np.maximum(left, theta.diagonal)
            log = -0.5 * (np.log(left) + (y[n] - mean) ** 2 / left)
            chosen = np.argmax(log + rng.gumbel(size=log.shape), axis=1)
            xi[:, n] = trial[index, chosen]
            X[:, n] = places[index, chosen]
            border = weights[index, chosen]
            border[:, n] = -1.0
            pair[:, 0], pair[:, 1] = column, border
            scaled = pair / np.stack([-column[:, n], left[index, chosen]], axis=1)[:, :, None]
            P += scaled.swapaxes(1, 2) @ pair
        return xi


def smoothed_kernel(
    x: Array, by_x: Array, z: Array, by_z: Array, amplitude: float, scales: Array
) -> Array:
    """Mean of the kernel over ``N(x, by_x)`` and ``N(z, by_z)``, independent of each other.

    Variances are (N, D), or (1, D) where all inputs have the same.
    """
    log = 0.0
    for d, scale in enumerate(scales):
        width = scale**2 + by_x[:, None, d] + by_z[None, :, d]
        log = log - 0.5 * ((x[:, None, d] - z[None, :, d]) ** 2 / width + np.log(width / scale**2))
    return amplitude * np.exp(log)


def smoothed_slopes(x: Array, by_x: Array, scales: Array, weights: Array) -> tuple[Array, float]:
    """``Σ_ij weights_ij`` times the derivatives of log k̃_ij by log ℓ_d and the log of `by_x`."""
    by_scale, by_width = np.empty(len(scales)), 0.0
    for d, scale in enumerate(scales):
        extra = by_x[:, None, d] + by_x[None, :, d]
        width = scale**2 + extra
        squares = (x[:, None, d] - x[None, :, d]) ** 2 / width
        share = extra / width
        by_scale[d] = (weights * (share + squares * (1.0 - share))).sum()
        by_width += 0.5 * float((weights * share * (squares - 1.0)).sum())
    return by_scale, by_width
