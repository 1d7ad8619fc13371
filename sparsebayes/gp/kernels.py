"""What the Gaussian processes ask of scikit-learn's kernels: a default, checks, gradients."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Kernel,
    Product,
    Sum,
    WhiteKernel,
)

from sparsebayes.engine.moments import Bumps, Functions, LinearModel, Monomials

Array = np.ndarray

_FAR = 1e3  # squared length scales, of which products of matrices lose no more than 1e-12

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


def split_noise(kernel: Kernel, noise: Any) -> tuple[Kernel, WhiteKernel | None]:
    """The kernel without noise, and the WhiteKernel that was added to it; or a clear error.

    `noise` is the parameter of that name, which a WhiteKernel takes the place of.
    """
    terms = _terms(kernel)
    white = [term for term in terms if type(term) is WhiteKernel]
    rest = [term for term in terms if type(term) is not WhiteKernel]
    parts = [part for term in rest for part in (term, *term.get_params(deep=True).values())]
    if not rest or len(white) > 1 or any(isinstance(part, WhiteKernel) for part in parts):
        raise ValueError(
            f"kernel={kernel} must have a part without noise, and at most one WhiteKernel, added "
            "to it; leave the others out."
        )
    if any(isinstance(term, CompoundKernel) for term in rest):
        raise ValueError(f"kernel={kernel} is several kernels; add or multiply them to one.")
    if not white:
        return kernel, None
    if not isinstance(noise, str):
        raise ValueError(
            f"kernel={kernel} has a WhiteKernel, and noise={noise!r} is given too; leave one out."
        )
    return reduce(add, rest), white[0]


def _terms(kernel: Kernel) -> list[Kernel]:
    if type(kernel) is Sum:
        return _terms(kernel.k1) + _terms(kernel.k2)
    return [kernel]


def noise_start(
    white: WhiteKernel | None, fixed: float | None, variance: float, widest: tuple[float, float]
) -> tuple[float, Array | None]:
    """The noise variance to begin with, and the logarithms of its bounds, None if it is fixed.

    Without a WhiteKernel it begins with a tenth of the variance of the targets, and `widest` are
    its bounds in units of that variance.
    """
    if fixed is not None:
        return fixed, None
    if white is None:
        return 0.1 * variance, np.log(variance) + np.log(widest)
    if isinstance(white.noise_level_bounds, str):
        return float(white.noise_level), None
    return float(white.noise_level), np.log(np.ravel(white.noise_level_bounds))


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


class Shape(NamedTuple):
    """A kernel that is a sum of squared exponentials, constants, a linear part and noise.

    Attributes
    ----------
    heights, precisions : ndarray, (T,) and (T, D)
        ``k(x, z) = Σ_t heights_t exp(-½ Σ_d precisions_td (x_d − z_d)²) + slope xᵀz``, without
        the noise.
    slope, noise : float
    """

    heights: Array
    precisions: Array
    slope: float = 0.0
    noise: float = 0.0

    def process(
        self, centers: Array, weights: Array, inverse: Array, scale: float, offset: float
    ) -> LinearModel:
        """A process of this kernel given data, at Gaussian inputs.

        The mean is ``offset + k(x, centers) weights``, and what is known at x reduces the variance
        by ``‖inverse k(centers, x)‖²``. Standard deviations are multiplied by `scale`.
        """
        width = centers.shape[1]
        functions, (weights, root) = self.expand(centers, weights, scale * inverse)
        sign = np.full(len(root), -1.0)
        if self.slope:  # the prior variance of a linear part grows with the inputs
            own = np.hstack([np.zeros((width, len(weights) - width)), np.eye(width)])
            root = np.vstack([root, scale * np.sqrt(self.slope) * own])
            sign = np.append(sign, np.ones(width))
        noise = scale**2 * self.noise
        variance = scale**2 * float(self.heights.sum()) + noise
        return LinearModel(functions, weights, root, sign, offset, variance, noise)

    def expand(self, centers: Array, *rows: Array) -> tuple[list[Functions], list[Array]]:
        """``k(x, centers) wᵀ`` in functions of x, for each row w of `rows`; linear ones last."""
        width = centers.shape[1]
        functions: list[Functions] = []
        parts: list[list[Array]] = [[] for _ in rows]
        for height, precision in zip(self.heights, self.precisions, strict=True):
            flat = not precision.any()
            if flat:
                functions.append(Monomials(np.zeros((1, width), dtype=int)))
            else:
                functions.append(Bumps(centers, precision**-0.5))
            for part, row in zip(parts, rows, strict=True):
                part.append(height * (row.sum(axis=-1, keepdims=True) if flat else row))
        if self.slope:
            functions.append(Monomials(np.eye(width, dtype=int)))
            for part, row in zip(parts, rows, strict=True):
                part.append(self.slope * (row @ centers))
        return functions, [np.concatenate(part, axis=-1) for part in parts]


def shape_of(kernel: Kernel, n_features: int) -> Shape | None:
    """The kernel as such a sum, None if it is none."""
    none = np.empty((0, n_features))
    if type(kernel) is ConstantKernel:
        return Shape(np.array([kernel.constant_value]), np.zeros((1, n_features)))
    if type(kernel) is RBF:
        scales = np.broadcast_to(np.asarray(kernel.length_scale, dtype=float), n_features)
        return Shape(np.ones(1), scales[None, :] ** -2.0)
    if type(kernel) is DotProduct:
        return Shape(np.array([kernel.sigma_0**2]), np.zeros((1, n_features)), slope=1.0)
    if type(kernel) is WhiteKernel:
        return Shape(np.empty(0), none, noise=float(kernel.noise_level))
    if type(kernel) not in (Sum, Product):
        return None
    left, right = shape_of(kernel.k1, n_features), shape_of(kernel.k2, n_features)
    if left is None or right is None:
        return None
    if type(kernel) is Sum:
        heights = np.concatenate([left.heights, right.heights])
        precisions = np.concatenate([left.precisions, right.precisions])
        return Shape(heights, precisions, left.slope + right.slope, left.noise + right.noise)
    if left.slope or right.slope:
        other, linear = (left, right) if right.slope else (right, left)
        if other.slope or other.noise or linear.noise or other.precisions.any():
            return None  # not a sum of such functions
    heights = np.multiply.outer(left.heights, right.heights).ravel()
    precisions = (left.precisions[:, None, :] + right.precisions).reshape(-1, n_features)
    ours, theirs = left.heights.sum(), right.heights.sum()
    slope = ours * right.slope + theirs * left.slope
    # What noise is multiplied with counts at equal inputs only.
    noise = left.noise * (theirs + right.noise) + ours * right.noise
    return Shape(heights, precisions, float(slope), float(noise))


class KernelTo:
    """``k(x, points)`` for points that stay.

    A constant times a squared exponential is the exponential of one product of matrices, whose rows
    have the squared lengths besides the inputs, in units of the length scales. Lengths are measured
    from the middle of the points; those beyond `_FAR` would cost digits, and take the distances
    themselves. Other kernels are called.
    """

    def __init__(self, kernel: Kernel, points: Array) -> None:
        self.kernel, self.points = kernel, points
        shape = shape_of(kernel, points.shape[1])
        plain = shape is not None and len(shape.heights) == 1 and not (shape.slope or shape.noise)
        self.shape = shape if plain else None
        if self.shape is not None:
            self._units = np.sqrt(self.shape.precisions[0])
            self._middle = points.mean(axis=0)
            places = (points - self._middle) * self._units
            lengths = np.einsum("nd,nd->n", places, places)
            self._places, self._reach = places, float(lengths.max())
            ends = np.log(self.shape.heights[0]) - 0.5 * lengths
            self._product = np.vstack([places.T, np.ones(len(points)), ends])

    def __call__(self, X: Array) -> Array:
        """(n, D) -> (n, points)."""
        if self.shape is None:
            return self.kernel(X, self.points)
        inputs = (X - self._middle) * self._units
        lengths = np.einsum("nd,nd->n", inputs, inputs)
        if max(self._reach, float(lengths.max(initial=0.0))) > _FAR:
            values = cdist(inputs, self._places, "sqeuclidean")
            values *= -0.5
            values += np.log(self.shape.heights[0])
        else:
            values = np.column_stack([inputs, -0.5 * lengths, np.ones(len(X))]) @ self._product
        return np.exp(values, out=values)


def without_shape(kernel: Kernel) -> str:
    """What to tell of a kernel that is no such sum."""
    return (
        f"kernel={kernel}, which is not made of RBF, products of RBF and DotProduct, each times "
        "a constant, and sums of them"
    )
