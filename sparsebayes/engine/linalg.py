"""Every BLAS and LAPACK call of the hot loop.

NumPy's and SciPy's wheels bring two OpenBLAS pools of threads. The matrices of a
fit are small, so both are held at one thread while a solver runs (`one_thread`).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack, qr

Array = np.ndarray

_LOST = 1e-13  # a pivot this small a part of its diagonal entry has hardly a digit left
_LEAF = 64  # rows of a triangle below which halving it takes longer than it saves
_ROUNDING = 1e-14  # of a column of unit length, what is left after others were taken out


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Hold every BLAS pool at one thread for the length of a ``with`` block."""
    return _controller().limit(limits=1, user_api="blas")


def cholesky(matrix: Array) -> Array | None:
    """Lower Cholesky factor of a symmetric matrix, or None where it is not positive definite."""
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=1)  # .T: Fortran order without a copy
    return factor if info == 0 else None


def factorise(matrix: Array) -> Array | None:
    """`cholesky`, None also where what is left of a diagonal entry is rounding."""
    factor = cholesky(matrix)
    if factor is None or np.any(factor.diagonal() ** 2 < _LOST * matrix.diagonal()):
        return None
    return factor


def solve(factor: Array, rhs: Array) -> Array:
    """``(L Lᵀ)⁻¹ rhs`` for a lower factor L."""
    return lapack.dpotrs(factor, rhs, lower=1)[0]


def half_solve(factor: Array, rhs: Array) -> Array:
    """``L⁻¹ rhs`` for a C-ordered rhs of shape (S, M), which is overwritten."""
    # Fortran sees the transpose (M, S), so the system is X Lᵀ = rhsᵀ.
    return blas.dtrsm(1.0, factor, rhs.T, side=1, lower=1, trans_a=1, overwrite_b=1).T


def half_solve_transposed(factor: Array, rhs: Array) -> Array:
    """``L⁻ᵀ rhs`` for a C-ordered rhs of shape (S, M), which is kept."""
    return blas.dtrsm(1.0, factor, rhs.T, side=1, lower=1, trans_a=0).T


def inverse(factor: Array) -> Array:
    """``(L Lᵀ)⁻¹``, exactly symmetric."""
    half = inverse_triangle(factor)
    return half.T @ half  # NumPy calls dsyrk for a product with its own transpose


def reflections(columns: Array) -> tuple[Array, Array]:
    """QR of Fortran-ordered columns, which are overwritten: R and Householder's reflections."""
    packed, scales, _, _ = lapack.dgeqrf(columns, overwrite_a=1)
    return packed, scales


def triangle(columns: Array) -> Array:
    """R of ``columns = Q R``, (M, M), for no fewer rows than columns."""
    count = columns.shape[1]
    packed = lapack.dgeqrf(columns, lwork=64 * count)[0]
    return np.triu(packed[:count])


def reflect(packed: Array, scales: Array, rhs: Array, *, transposed: bool) -> Array:
    """``Q rhs`` or ``Qᵀ rhs`` of `reflections`; the Fortran-ordered rhs is overwritten."""
    width = 64 * max(1, rhs.shape[1])
    trans = "T" if transposed else "N"
    return lapack.dormqr("L", trans, packed, scales, rhs, width, overwrite_c=1)[0]


def orthonormal(columns: Array, basis: Array) -> Array:
    """An orthonormal basis of what columns of about unit length have outside another one.

    What is left of some when the others are taken out may be rounding: it is left out.
    """
    if not basis.size:
        return qr(columns, mode="economic", check_finite=False)[0]
    outside = columns - basis @ (basis.T @ columns)
    found, triangle, _ = qr(outside, mode="economic", pivoting=True, check_finite=False)
    found = found[:, np.abs(triangle.diagonal()) > _ROUNDING]
    if not found.size:
        return found
    found = found - basis @ (basis.T @ found)  # once more: the small have lost it
    return qr(found, mode="economic", check_finite=False)[0]


def inverse_triangle(factor: Array) -> Array:
    """``L⁻¹``."""
    return lapack.dtrtri(factor, lower=1)[0] if factor.size else factor


def inverse_diagonal(factor: Array) -> Array:
    """The diagonal of ``(L Lᵀ)⁻¹``, in less than half the time of the whole."""
    half = _by_halves(factor)
    return np.einsum("ij,ij->j", half, half)


def _by_halves(factor: Array) -> Array:
    """``L⁻¹``, most of it by products of matrices, which are faster than LAPACK's substitution."""
    size = len(factor)
    if size <= _LEAF:
        return inverse_triangle(factor)
    cut = size // 2
    upper, lower = _by_halves(factor[:cut, :cut]), _by_halves(factor[cut:, cut:])
    out = np.zeros((size, size))
    out[:cut, :cut], out[cut:, cut:] = upper, lower
    out[cut:, :cut] = -lower @ (factor[cut:, :cut] @ upper)
    return out


def log_det(factor: Array) -> float:
    """``log |L Lᵀ|``."""
    return 2.0 * float(np.log(factor.diagonal()).sum())


def fold(values: Array, group: int) -> Array:
    """Means over the weights of each function."""
    return values if group == 1 else values.reshape(-1, group).mean(axis=1)


def mean_square(values: Array, group: int = 1) -> Array:
    """Means of the squares over the targets, if there are several, and a function's weights."""
    squares = values * values
    return fold(squares if values.ndim == 1 else squares.mean(axis=1), group)


def mean_product(left: Array, right: Array) -> Array:
    """``left rightᵀ``, the mean over the targets if there are several."""
    return np.outer(left, right) if left.ndim == 1 else left @ right.T / left.shape[1]


def fold_matrix(values: Array, group: int) -> Array:
    """Sums over the weights of each pair of functions."""
    if group == 1:
        return values
    size = len(values) // group
    return values.reshape(size, group, size, group).sum(axis=(1, 3))


def expand(index: Array, group: int) -> Array:
    """The numbers of the weights of these functions."""
    if group == 1:
        return index
    return (index[:, None] * group + np.arange(group)).ravel()


def symmetric_root(matrix: Array) -> Array:
    """R with ``R Rᵀ`` the matrix, or each of a stack; what rounding made negative is zero."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
