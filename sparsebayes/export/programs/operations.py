"""The operations that an exported model is made of, and what each of them gives.

A value is a vector for each row of inputs, here the rows of an array (n, m). An operation makes one
of others and of constants. All languages that a model is written in know the same operations; this
table says what they mean. Numbers of one entry go with vectors of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtr
from scipy.special import softmax as shares

from sparsebayes.classification.class_probability import logit, softmax

Array = np.ndarray
Sizes = Sequence[int]


@dataclass(frozen=True)
class Operation:
    """One of the operations.

    Attributes
    ----------
    arity : int
        How many values it takes; −1 for any number from one on.
    constants : dict of str to int
        The number of axes of each constant; 0 for a number.
    size : callable
        The length of the result, from the lengths of the values and the constants.
    value : callable
        The result, from the values, (n, m) each, and the constants.
    optional : frozenset of str
        Constants that may be missing.
    """

    arity: int
    constants: dict[str, int]
    size: Callable[[Sizes, dict[str, Any]], int]
    value: Callable[..., Array]
    optional: frozenset[str] = frozenset()


def _common(sizes: Sizes, constants: dict[str, Any]) -> int:
    return max(sizes)


def _one(sizes: Sizes, constants: dict[str, Any]) -> int:
    return 1


def _centres(sizes: Sizes, constants: dict[str, Any]) -> int:
    return len(constants["centres"])


def _squared(v: Array, centres: Array) -> Array:
    out = np.zeros((len(v), len(centres)), dtype=v.dtype)
    for x, z in zip(v.T, centres.T, strict=True):
        out += (x[:, None] - z) ** 2
    return out


def _laplacian(v: Array, centres: Array) -> Array:
    out = np.zeros((len(v), len(centres)), dtype=v.dtype)
    for x, z in zip(v.T, centres.T, strict=True):
        out += np.abs(x[:, None] - z)
    return np.exp(-out)


def _thin_plate(v: Array, centres: Array) -> Array:
    squared = _squared(v, centres)
    return v.dtype.type(0.5) * squared * np.log(np.where(squared > 0, squared, 1))


def _linear_spline(v: Array, centres: Array) -> Array:
    out = np.ones((len(v), len(centres)), dtype=v.dtype)
    for x, z in zip(v.T, centres.T, strict=True):
        x = x[:, None]
        least = np.minimum(x, z)
        out *= 1 + x * z + least * (x * z - least * ((x + z) / 2 - least / 3))
    return out


def _matern(v: Array, centres: Array, nu: float) -> Array:
    r = np.sqrt(2 * nu) * np.sqrt(_squared(v, centres))
    front = {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r**2 / 3}[float(nu)]
    return front * np.exp(-r)


def _rational_quadratic(v: Array, centres: Array, alpha: float) -> Array:
    return (1 + _squared(v, centres) / (2 * alpha)) ** -alpha


def _periodic(v: Array, centres: Array, period: float, length_scale: float) -> Array:
    r = np.sqrt(_squared(v, centres))
    return np.exp(-2 * (np.sin(np.pi * r / period) / length_scale) ** 2)


def _monomials(v: Array, powers: Array) -> Array:
    out = np.ones((len(v), len(powers)), dtype=v.dtype)
    for x, power in zip(v.T, powers.T, strict=True):
        out *= x[:, None] ** power.astype(int)
    return out


def _matrix(v: Array, matrix: Array, offset: Array | None = None) -> Array:
    out = v @ matrix.T
    return out if offset is None else out + offset


def _triangle(v: Array, triangle: Array, offset: Array | None = None) -> Array:
    full = np.zeros((v.shape[1], v.shape[1]), dtype=v.dtype)
    full[np.triu_indices(v.shape[1])] = triangle
    return _matrix(v, full, offset)


def _solve_triangle(v: Array, triangle: Array) -> Array:
    """L⁻¹v by substitution; the rows of L, lower, after each other."""
    full = np.zeros((v.shape[1], v.shape[1]), dtype=v.dtype)
    full[np.tril_indices(v.shape[1])] = triangle
    return solve_triangular(full, v.T, lower=True).T


def _clip(v: Array, low: float | None = None, high: float | None = None) -> Array:
    return v if low is high is None else np.clip(v, low, high)


def _squares(v: Array, weights: Array | None = None) -> Array:
    return (v * v if weights is None else weights * v * v).sum(axis=1, keepdims=True)


def _products(a: Array, b: Array, rows: int, columns: int) -> Array:
    left, right = a.reshape(len(a), int(rows), -1), b.reshape(len(b), int(columns), -1)
    return np.matmul(left, right.swapaxes(1, 2)).reshape(len(a), -1)


def _product_size(sizes: Sizes, constants: dict[str, Any]) -> int:
    rows, columns = int(constants["rows"]), int(constants["columns"])
    if sizes[0] % rows or sizes[0] // rows * columns != sizes[1]:
        raise ValueError(f"products of {rows} and {columns} vectors of unequal length")
    return rows * columns


def _half_solve(a: Array, b: Array) -> Array:
    """Rows of B times the inverse of the Cholesky factor of A, whose pivots are at least 1."""
    size = round(a.shape[1] ** 0.5)
    A = a.reshape(len(a), size, size).copy()
    B = b.reshape(len(b), -1, size).copy()
    for k in range(size):
        root = np.sqrt(np.maximum(A[:, k, k], 1))[:, None]
        below = A[:, k + 1 :, k] / root
        B[:, :, k] /= root
        A[:, k + 1 :, k + 1 :] -= below[:, :, None] * below[:, None, :]
        B[:, :, k + 1 :] -= B[:, :, k, None] * below[:, None, :]
    return B.reshape(len(b), -1)


def _solve_size(sizes: Sizes, constants: dict[str, Any]) -> int:
    size = round(sizes[0] ** 0.5)
    if size**2 != sizes[0] or sizes[1] % size:
        raise ValueError(f"{sizes[0]} numbers are no square matrix for vectors in {sizes[1]}")
    return sizes[1]


def _normalise(v: Array) -> Array:
    total = v.sum(axis=1, keepdims=True)
    equal = np.full_like(v, 1.0 / v.shape[1])
    return np.divide(v, total, out=equal, where=total > 0)


def _logit_average(mean: Array, variance: Array) -> Array:
    mean, variance = np.broadcast_arrays(mean.astype(float), variance.astype(float))
    return logit(mean, np.maximum(variance, 0.0))


def _classes(sizes: Sizes, constants: dict[str, Any]) -> int:
    if sizes[0] < 3 or sizes[0] ** 2 != sizes[1]:
        raise ValueError(f"{sizes[0]} classes with a covariance of {sizes[1]} numbers")
    return sizes[0]


def _softmax_average(mean: Array, covariance: Array) -> Array:
    size = mean.shape[1]
    return softmax(mean.astype(float), covariance.astype(float).reshape(-1, size, size))


def _elementwise(function: Callable[..., Array], arity: int = 1) -> Operation:
    return Operation(arity, {}, _common, function)


def _kernel(function: Callable[..., Array], **constants: int) -> Operation:
    return Operation(1, {"centres": 2, **constants}, _centres, function)


_OFFSET = frozenset({"offset"})

OPERATIONS: dict[str, Operation] = {
    "constant": Operation(1, {"values": 1}, lambda s, c: len(c["values"]),
                          lambda v, values: np.tile(values, (len(v), 1))),
    "scale": Operation(1, {"shift": 1, "factor": 1}, _common,
                       lambda v, shift=0, factor=1: (v - shift) * factor,
                       frozenset({"shift", "factor"})),
    "pick": Operation(1, {"index": 1}, lambda s, c: len(c["index"]),
                      lambda v, index: v[:, index.astype(int)]),
    "join": Operation(-1, {}, lambda s, c: sum(s), lambda *v: np.hstack(v)),
    "matrix": Operation(1, {"matrix": 2, "offset": 1}, lambda s, c: len(c["matrix"]), _matrix,
                        _OFFSET),
    "triangle": Operation(1, {"triangle": 1, "offset": 1}, _common, _triangle, _OFFSET),
    "solve_triangle": Operation(1, {"triangle": 1}, _common, _solve_triangle),
    "rbf": _kernel(lambda v, centres: np.exp(_squared(v, centres) / -2)),
    "laplacian": _kernel(_laplacian),
    "thin_plate": _kernel(_thin_plate),
    "linear_spline": _kernel(_linear_spline),
    "matern": _kernel(_matern, nu=0),
    "rational_quadratic": _kernel(_rational_quadratic, alpha=0),
    "periodic": _kernel(_periodic, period=0, length_scale=0),
    "monomials": Operation(1, {"powers": 2}, lambda s, c: len(c["powers"]), _monomials),
    "add": _elementwise(np.add, 2),
    "subtract": _elementwise(np.subtract, 2),
    "multiply": _elementwise(np.multiply, 2),
    "divide": _elementwise(np.divide, 2),
    "power": Operation(1, {"exponent": 0}, _common, lambda v, exponent: v**exponent),
    "exp": _elementwise(np.exp),
    "expm1": _elementwise(np.expm1),
    "log": _elementwise(np.log),
    "sqrt": _elementwise(np.sqrt),
    "clip": Operation(1, {"low": 0, "high": 0}, _common, _clip, frozenset({"low", "high"})),
    "above": Operation(1, {"threshold": 0}, _common, lambda v, threshold: v > threshold),
    "sum": Operation(1, {}, _one, lambda v: v.sum(axis=1, keepdims=True)),
    "product": Operation(1, {}, _one, lambda v: v.prod(axis=1, keepdims=True)),
    "squares": Operation(1, {"weights": 1}, _one, _squares, frozenset({"weights"})),
    "products": Operation(2, {"rows": 0, "columns": 0}, _product_size, _products),
    "half_solve": Operation(2, {}, _solve_size, _half_solve),
    "normal": _elementwise(ndtr),
    "logit_average": _elementwise(_logit_average, 2),
    "softmax_average": Operation(2, {}, _classes, _softmax_average),
    "softmax": _elementwise(lambda v: shares(v, axis=1)),
    "normalise": _elementwise(_normalise),
}  # fmt: skip
