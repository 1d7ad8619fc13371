"""The variance of what the kept functions leave out.

A sparse model knows nothing of what it has left out: between its functions and beyond them only
the noise remains. What is there besides is described by a Gaussian process whose covariance is the
kernel of the basis, times a variance v. The training rows determine it as far as they can, here
through some of them, the support Z: the kept rows, and rows at which these say least. With K the
kernel between the rows of Z, F that between training rows and Z, W the sample weights and ρ the
ratio of noise and signal, the variance at x is, for k(x, x) = 1,

    v [1 − k(x, Z) (K⁻¹ − (K + FᵀWF/ρ)⁻¹) k(Z, x)],

that of a projected process [1]_. It is a quadratic form in functions of x, so that predictions at
Gaussian inputs keep their closed form. v is chosen on rows that are held out.

References
----------
.. [1] C. Rasmussen, C. Williams, "Gaussian Processes for Machine Learning", 2006, section 8.3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from sparsebayes._support.batching import batches
from sparsebayes.basis import Basis
from sparsebayes.basis.kernels import Centred

Array = np.ndarray

_FURTHER = 64  # rows of the support besides the kept ones
_SHARE = 0.3  # of noise over targets' variance: most signals vary more than their targets do
_ROUNDING = 1e-7  # of the kernel, below which a row adds nothing but rounding
_CANDIDATES = 2048  # rows among which the support is looked for


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The process of what S kept functions leave out, given the training rows, with variance 1.

    Attributes
    ----------
    kernel : Centred
        With a function for each of the E rows of the support that were not kept.
    root : ndarray, (S + E, M)
        The variance is ``1 − ‖f(x) root‖²``, times v, with the kept functions and those of
        `kernel` in f.
    """

    kernel: Centred
    root: Array

    def variances(self, X: Array, kept: Array) -> Array:
        """The diagonal of `between`."""
        half = self._half(X, kept)
        return np.maximum(1.0 - np.einsum("nm,nm->n", half, half), 0.0)

    def between(self, X: Array, kept: Array) -> Array:
        """The covariance between the rows of X, where the kept functions are `kept`, (n, S)."""
        half, prior = self._half(X, kept), self.kernel.between(X, X)
        cov = prior / prior[0, 0] - half @ half.T
        return 0.5 * (cov + cov.T)

    def _half(self, X: Array, kept: Array) -> Array:
        half = self.kernel.columns(X) @ self.root[kept.shape[1] :]
        half += kept @ self.root[: kept.shape[1]]
        return half


def covariance_kernel(basis: Basis) -> Centred | None:
    """The kernel that describes what a model with this basis leaves out, if there is one.

    That is the only one that does not repeat others, if it is a covariance of the same variance
    everywhere.
    """
    own = np.unique(basis.kinds()[basis.distinct_])
    kernels = [kernel for number, kernel in enumerate(basis.centred) if number in own]
    if len(kernels) == 1 and kernels[0].positive_definite and kernels[0].stationary:
        return kernels[0]
    return None


def noise_ratio(noise: float | Array, targets: Array, weights: Array) -> float:
    """ρ, from the noise variance and the targets; of several, the geometric mean."""
    center = np.average(targets, axis=0, weights=weights)
    variance = np.average((targets - center) ** 2, axis=0, weights=weights)
    ratios = np.divide(noise, variance, out=np.zeros_like(variance), where=variance > 0)
    ratios = np.minimum(1.0, _SHARE * ratios[variance > 0])
    if ratios.size < 2:
        return float(ratios[0]) if ratios.size else 1.0
    return float(np.exp(np.mean(np.log(ratios))))


def left_out(
    kernel: Centred, kept: Array, X: Array, y: Array, weights: Array, ratio: float
) -> LeftOut:
    """What a model leaves out, with variance 1.

    Parameters
    ----------
    kernel : Centred
    kept : ndarray of int, (S,)
        For each kept function the row on which it is centred, −1 for one without a centre.
    X, y, weights : ndarray, (N, D), (N,) or (N, K), and (N,)
        The training samples, all with weight.
    ratio : float
        ρ.
    """
    unit = float(kernel.between(X[:1], X[:1])[0, 0])
    chosen, factor = _pivots(kernel, X, y, kept[kept >= 0], unit, max(ratio, _ROUNDING))
    support = kernel.centred_on(X[chosen])
    turn = solve_triangular(factor, np.eye(len(factor)), lower=True).T
    told = np.zeros_like(turn)
    for part in batches(len(X), 3 * len(turn)):
        half = support.columns(X[part]) @ turn
        told += (half.T * weights[part]) @ half
    values, vectors = np.linalg.eigh(told / (ratio * unit))
    values = np.maximum(values, 0.0)
    turn = turn @ (vectors * np.sqrt(values / (1.0 + values) / unit))
    further = ~np.isin(chosen, kept)
    root = np.zeros((kept.size + further.sum(), len(turn)))
    place = {row: number for number, row in enumerate(kept.tolist())}
    root[[place[row] for row in chosen[~further].tolist()]] = turn[~further]
    root[kept.size :] = turn[further]
    return LeftOut(kernel.centred_on(X[chosen[further]]), root)


def _pivots(
    kernel: Centred, X: Array, y: Array, kept: Array, unit: float, least: float
) -> tuple[Array, Array]:
    """Rows whose functions differ, and the Cholesky factor of the kernel between them.

    In turn the row of which those before it say least: at first of the kept ones, then of all,
    until that is below `least` of k(x, x), `unit`.
    """
    # An order of the rows that depends neither on that of the samples nor on that of the inputs.
    order = np.lexsort((*X.T, *np.atleast_2d(y.T)))
    first = np.isin(order, kept)
    others = order[~first]
    if len(others) > _CANDIDATES:
        others = others[np.random.default_rng(0).permutation(len(others))[:_CANDIDATES]]
    number = np.concatenate([order[first], others])
    rows, n_first = X[number], int(first.sum())
    most = min(len(rows), n_first + _FURTHER)
    left = np.full(len(rows), unit)
    factor = np.zeros((len(rows), most))
    chosen: list[int] = []

    def choose(end: int, count: int) -> None:
        while len(chosen) < count:
            row = int(left[:end].argmax())
            if left[row] < least * unit:
                return
            place = len(chosen)
            column = kernel.between(rows, rows[row : row + 1])[:, 0]
            column -= factor[:, :place] @ factor[row, :place]
            factor[:, place] = column / np.sqrt(left[row])
            left[:] -= factor[:, place] ** 2
            left[row] = 0.0
            chosen.append(row)

    choose(n_first, n_first)
    choose(len(rows), min(most, len(chosen) + _FURTHER))
    index = np.array(chosen, dtype=np.intp)
    return number[index], factor[index, : index.size]
