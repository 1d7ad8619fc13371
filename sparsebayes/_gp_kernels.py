"""What the Gaussian processes ask of scikit-learn's kernels: a default, checks, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    Exponentiation,
    Kernel,
    Product,
    Sum,
    WhiteKernel,
)

Array = np.ndarray

BLOCK = 1 << 23  # numbers in a block of kernel gradients


def default_kernel(X: Array, variance: float) -> Kernel:
    """``variance × RBF`` with a length scale for each input, from the spread of the data."""
    spread = X.std(axis=0)
    # A constant input leaves rounding; any scale does then.
    spread[spread <= 1e-12 * np.abs(X).max(axis=0)] = 1.0
    bounds = spread[:, None] * np.array([1e-3, 1e5])
    shape = RBF(spread * np.sqrt(0.5 * X.shape[1]), bounds)
    return ConstantKernel(variance, (1e-5 * variance, 1e5 * variance)) * shape


def check_kernel(kernel: Any) -> Kernel:
    """A kernel object of scikit-learn, or a clear error."""
    if isinstance(kernel, Kernel):
        return kernel
    raise TypeError(
        "kernel must be None or a kernel of sklearn.gaussian_process.kernels, such as "
        f"ConstantKernel() * RBF(); got {kernel!r}."
    )


def check_noiseless(kernel: Kernel) -> None:
    """The kernel has no noise in it, or a clear error."""
    parts = [kernel, *kernel.get_params(deep=True).values()]
    if any(isinstance(part, WhiteKernel) for part in parts):
        raise ValueError(
            f"kernel={kernel} has a WhiteKernel in it, but the noise is a parameter of its own: "
            "leave the WhiteKernel out and set noise to 'estimate' or to its variance."
        )
    if isinstance(kernel, CompoundKernel):
        raise ValueError(f"kernel={kernel} is several kernels; add or multiply them to one.")


def contract(
    kernel: Kernel, X: Array, Z: Array | None, weights: Array, values: Array | None = None
) -> Array:
    """``Σ_ij weights_ij ∂k(x_i, z_j)/∂θ`` for each free parameter θ of the kernel.

    Sums, products, powers, constants and squared exponentials need only arrays of the shape of
    `weights`. Of other kernels scikit-learn gives the gradient for one set of inputs, not for
    two; it is computed for the union of a block of X and a block of Z. ``Z=None`` means X, and
    pairs of a point with itself are then seen as such. `values` is ``kernel(X, Z)`` if known.
    """
    if kernel.n_dims == 0:
        return np.empty(0)
    factors = _factors(kernel)
    if all(type(factor) in (ConstantKernel, RBF) for factor in factors):
        weights = weights * (kernel(X, Z) if values is None else values)
        return np.concatenate([_contract_logarithm(factor, X, Z, weights) for factor in factors])
    if isinstance(kernel, Sum):
        parts = [contract(part, X, Z, weights) for part in (kernel.k1, kernel.k2)]
        return np.concatenate(parts)
    if isinstance(kernel, Product):
        pairs = ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1))
        return np.concatenate([contract(part, X, Z, weights * rest(X, Z)) for part, rest in pairs])
    if isinstance(kernel, Exponentiation):
        outer = kernel.exponent * kernel.kernel(X, Z) ** (kernel.exponent - 1)
        return contract(kernel.kernel, X, Z, weights * outer)
    return _contract_blocks(kernel, X, Z, weights)


def _factors(kernel: Kernel) -> list[Kernel]:
    if type(kernel) is Product:
        return _factors(kernel.k1) + _factors(kernel.k2)
    return [kernel]


def _contract_logarithm(
    kernel: ConstantKernel | RBF, X: Array, Z: Array | None, weights: Array
) -> Array:
    """``Σ_ij weights_ij ∂log k(x_i, z_j)/∂θ``, for a factor of a product."""
    if kernel.n_dims == 0:
        return np.empty(0)
    if isinstance(kernel, ConstantKernel):
        return np.array([weights.sum()])
    # Σ w (x − z)² = Σ w x² − 2 Σ w x z + Σ w z²: no distances are formed.
    centre = X.mean(axis=0)
    x = (X - centre) / kernel.length_scale
    z = x if Z is None else (Z - centre) / kernel.length_scale
    squares = weights.sum(axis=1) @ x**2 + weights.sum(axis=0) @ z**2
    by_input = squares - 2.0 * np.einsum("md,md->d", weights.T @ x, z)
    return by_input if kernel.anisotropic else np.array([by_input.sum()])


def _contract_blocks(kernel: Kernel, X: Array, Z: Array | None, weights: Array) -> Array:
    if Z is None:
        return np.einsum("ij,ijp->p", weights, kernel(X, eval_gradient=True)[1])
    size = max(1, int(np.sqrt(BLOCK / kernel.n_dims)) // 2)
    total = np.zeros(kernel.n_dims)
    for i in range(0, len(X), size):
        for j in range(0, len(Z), size):
            x, z = X[i : i + size], Z[j : j + size]
            gradient = kernel(np.vstack([x, z]), eval_gradient=True)[1]
            block = weights[i : i + size, j : j + size]
            total += np.einsum("ij,ijp->p", block, gradient[: len(x), len(x) :])
    return total
