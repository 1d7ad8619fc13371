"""Every BLAS and LAPACK call of the hot loop.

NumPy's and SciPy's wheels bring two OpenBLAS pools of threads. The matrices of a
fit are small, so both are held at one thread while a solver runs (`one_thread`), but for single
calls that are large (`own_threads`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack, qr

Array = np.ndarray

# Small matrices are a matter of calls: these are looked up once, and called without keywords.
_dpotrf, _dpotrs, _dtrtri = lapack.dpotrf, lapack.dpotrs, lapack.dtrtri

_MANY_OPERATIONS = 1e8  # multiplications: some milliseconds, for which threads are worth it
_LOST = 1e-13  # a pivot this small a part of its diagonal entry has hardly a digit left
_LEAF = 64  # rows of a triangle below which halving it takes longer than it saves
_ROUNDING = 1e-14  # of a column of unit length, what is left after others were taken out


@cache
def _pools() -> list[Any]:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


class _Limit:
    """One thread while somebody asks for it, whoever comes and goes in which order.

    Most pools belong to the whole process: their size is noted when the first comes and set again
    when the last has gone. Those of OpenMP have a size for each Python thread. Ctrl-C may come at
    any moment, and so may a fork, after which only one of the Python threads goes on.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside: dict[object, int] = {}  # who is inside, and in which Python thread
        self._lifted: dict[object, int] = {}  # and who is in the middle of a large call
        self._before: list[int] = []
        self._own: dict[int, list[int]] = {}  # the same for each Python thread

    def _set(self, inside: Collection[int], lifted: Collection[int]) -> None:
        """What all these agree with: the sizes noted only if nobody needs one thread."""
        thread = threading.get_ident()
        everybody = all(one in lifted for one in inside)
        oneself = thread in lifted or thread not in inside
        before = self._before
        for pool, size, own in zip(_pools(), before, self._own.get(thread, before), strict=True):
            if size == own == 1:
                continue
            if getattr(pool, "threading_layer", None) == "openmp":
                pool.set_num_threads(own if oneself else 1)
                continue
            # Else threadpoolctl lets only that Python thread set it which did so first.
            release = getattr(pool, "clear_controlling_thread", lambda force: None)
            release(force=True)
            pool.set_num_threads(size if everybody else 1)
            release(force=True)

    def _come(self, who: object, where: dict[object, int]) -> None:
        thread = threading.get_ident()
        with self._lock:
            if thread not in self._inside.values():
                self._own[thread] = [pool.get_num_threads() for pool in _pools()]
                if not self._inside:
                    self._before = self._own[thread]
            where[who] = thread
            self._set(self._inside.values(), self._lifted.values())

    def _go(self, who: object, where: dict[object, int]) -> None:
        """Set the pools before it is forgotten why, so that this can be done twice."""
        with self._lock:
            if who in where:
                self._forget(who, where)

    def _forget(self, who: object, where: dict[object, int]) -> None:
        thread = where[who]
        left = [[t for one, t in people.items() if one is not who]
                for people in (self._inside, self._lifted)]  # fmt: skip
        self._set(*left)
        if thread not in left[0]:
            self._own.pop(thread, None)
        del where[who]

    @contextmanager
    def _among(self, where: dict[object, int]) -> Iterator[None]:
        who = object()
        try:
            try:
                self._come(who, where)
                yield
            finally:
                self._go(who, where)
        finally:
            self._go(who, where)  # for Ctrl-C in the middle of the first; else nothing is left

    def hold(self) -> AbstractContextManager[None]:
        return self._among(self._inside)

    def lift(self) -> AbstractContextManager[None]:
        # With others inside, or a single thread anyway, there is nothing to gain.
        alone = set(self._inside.values()) == {threading.get_ident()}
        return (
            self._among(self._lifted)
            if alone and max(self._before, default=1) > 1
            else nullcontext()
        )

    def forked(self) -> None:
        """In the child of a fork: the other Python threads are not there, nor what they held."""
        self._lock = threading.RLock()
        thread = threading.get_ident()
        for where in (self._lifted, self._inside):
            for who in [who for who, owner in where.items() if owner != thread]:
                self._go(who, where)


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.forked)


def one_thread() -> AbstractContextManager[None]:
    """Hold every BLAS pool at one thread for the length of a ``with`` block.

    Blocks may overlap in any way, also those of several Python threads: when the last has ended
    the pools are what they were.
    """
    return _limit.hold()


def own_threads(operations: float) -> AbstractContextManager[None]:
    """Let a call of so many multiplications have the threads that it would have had outside.

    Only where there are enough of them, and no other Python thread is inside `one_thread`.
    """
    return _limit.lift() if operations >= _MANY_OPERATIONS else nullcontext()


def cholesky(matrix: Array, *, in_place: bool = False) -> Array | None:
    """Lower Cholesky factor of a symmetric matrix, or None where it is not positive definite."""
    # .T: Fortran order without a copy; the others are lower, clean and overwrite_a
    factor, info = _dpotrf(matrix.T, 1, 1, in_place)
    return factor if info == 0 else None


def factorise(matrix: Array) -> Array | None:
    """`cholesky`, None also where what is left of a diagonal entry is rounding."""
    factor = cholesky(matrix)
    if factor is None or (np.square(factor.diagonal()) < _LOST * matrix.diagonal()).any():
        return None
    return factor


def solve(factor: Array, rhs: Array) -> Array:
    """``(L Lᵀ)⁻¹ rhs`` for a lower factor L."""
    return _dpotrs(factor, rhs, 1)[0]  # lower


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


def halved_inverse(factor: Array, columns: Array) -> Array:
    """``½ ((L Lᵀ)⁻¹ − V Vᵀ)`` folded onto one triangle, in the place of L, for columns V.

    Its sum with the entries of any symmetric matrix as factors is that of the whole, and it takes
    half the time of `inverse`. L is that of `cholesky`, with zeros above the diagonal.
    """
    half = _triangle_by_halves(factor, factor)
    found = lapack.dlauum(half, lower=1, overwrite_c=1)[0]
    found = blas.dsyrk(-1.0, columns, beta=1.0, c=found, lower=1, overwrite_c=1)
    found.flat[:: len(found) + 1] *= 0.5
    return found.T  # in C order


def _triangle_by_halves(factor: Array, out: Array | None = None) -> Array:
    """``L⁻¹`` in Fortran order, most of it by products of triangles."""
    size = len(factor)
    if size <= _LEAF:
        return lapack.dtrtri(factor, lower=1, overwrite_c=out is not None)[0]
    cut = size // 2
    upper, lower = _triangle_by_halves(factor[:cut, :cut]), _triangle_by_halves(factor[cut:, cut:])
    below = blas.dtrmm(-1.0, lower, factor[cut:, :cut], lower=1)
    out = np.zeros((size, size), order="F") if out is None else out
    out[:cut, :cut], out[cut:, cut:] = upper, lower
    out[cut:, :cut] = blas.dtrmm(1.0, upper, below, side=1, lower=1, overwrite_b=1)
    return out


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
    return _dtrtri(factor, 1)[0] if factor.size else factor  # lower


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
    return 2.0 * total(np.log(factor.diagonal()))


def total(values: Array) -> float:
    """The sum of a vector, without the detour of its method."""
    return float(np.add.reduce(values))


def largest(values: Array) -> float:
    """The largest of some numbers, without their signs."""
    return float(np.maximum.reduce(np.abs(values)))


def along_diagonal(matrix: Array) -> Array:
    """The diagonal of a C-ordered matrix, to be changed in place."""
    return matrix.reshape(-1)[:: len(matrix) + 1]


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
