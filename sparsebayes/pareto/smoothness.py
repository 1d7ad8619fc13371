"""The effective degrees of freedom of classifiers, from their weights."""

from __future__ import annotations

import numpy as np

from sparsebayes._support.batching import batches

Array = np.ndarray

_DIGITS = 1e-13  # of a squared length: what products of columns do not tell from 0
_LEAST = 1e-24  # squared weight; what is below counts as 1e-12 √N of a kernel
_LONGEST = 2.0  # step of a logarithm; Newton's method from afar
_ENOUGH = 1e-6  # of a kernel: a step after which the next would be about its square
_STEPS = 50  # some seven are needed
_WIDTH = 8  # classifiers are padded to the same number of kernels, a multiple of this


class Correlations:
    """Those of columns, which is all that the trace of a smoothing matrix needs of them.

    Parameters
    ----------
    columns : ndarray, (N, M)
        Basis functions over the samples, of standard deviation 1.
    """

    def __init__(self, columns: Array) -> None:
        centred = columns - columns.mean(axis=0)
        self.n_samples = len(columns)
        self.correlation = centred.T @ centred
        self.correlation /= self.n_samples
        np.fill_diagonal(self.correlation, 1.0 + _DIGITS)

    def degrees_of_freedom(self, weights: Array, spread: Array) -> Array:
        """Of classifiers whose scores have these standard deviations, (P, M) and (P,).

        ``DF = tr S = Σ_m γ_m`` with ``S = Φ (ΦᵀΦ + A)⁻¹ Φᵀ`` and ``γ_m = 1 − α_m Σ_mm`` is
        S08 (2.55), (2.57) for scores and noise of variance 1. A classifier has weights and no
        precisions: these are where ``α_m w_m² = γ_m``, as they are in a machine that has come to
        an end, T01 (16). There is one such point, see `_converged`.

        Without a spread a classifier has no scale: 0.
        """
        kept = np.count_nonzero(weights, axis=1)
        kept[spread <= 0] = 0
        result = np.zeros(len(weights))
        widths = -(-kept // _WIDTH)
        for width in np.unique(widths[kept > 0]) * _WIDTH:
            rows = np.flatnonzero(widths * _WIDTH == width)
            for part in batches(rows.size, 8 * width**2):
                some = rows[part]
                result[some] = self._degrees(weights[some], spread[some], kept[some].max())
        return np.round(result, 8)  # the same weights, scaled anew, must not seem better or worse

    def _degrees(self, weights: Array, spread: Array, most: int) -> Array:
        """Of classifiers of up to so many kernels; the others are padded with empty ones."""
        order = np.argsort(weights == 0, axis=1, kind="stable")[:, :most]
        own = np.take_along_axis(weights, order, axis=1) / spread[:, None]
        real = own != 0
        correlation = self.correlation[order[:, :, None], order[:, None, :]]
        squares = np.where(real, self.n_samples * np.maximum(own**2, _LEAST), 0.0)
        return np.minimum(_converged(correlation, squares, real), np.count_nonzero(real, axis=1))


def _converged(correlation: Array, squares: Array, real: Array) -> Array:
    """The degrees of freedom at the precisions that belong to the weights.

    With ``u = N w²``, `squares`, and ``x = log(N/α)`` they minimise
    ``Σ_m u_m exp(−x_m) + log |I + D R D|``, where R is the correlation and
    ``D = diag(exp(x/2))``: the derivative is γ − u exp(−x). The determinant is a polynomial in
    exp(x) without negative coefficients, so that its logarithm is convex in x; the first term is
    strictly convex. Newton's method starts from what each kernel would have alone.
    """
    alone = np.where(real, squares, 1.0)
    x = np.log(alone / 2.0 * (1.0 + np.sqrt(1.0 + 4.0 / alone)))
    going = np.arange(len(x))
    for _ in range(_STEPS):
        step, weight = _newton(x[going], correlation[going], squares[going], real[going])
        x[going] += step
        going = going[np.max(weight * np.abs(step), axis=1) > _ENOUGH]
        if going.size == 0:
            break
    return np.sum(squares * np.exp(-x), axis=1)  # Σ γ at the minimum


def _newton(x: Array, correlation: Array, squares: Array, real: Array) -> tuple[Array, Array]:
    """Newton's step from x, and how much each kernel counts there."""
    # I + D R D, divided by the root of its diagonal on both sides: weights may differ by powers
    # of ten, and its inverse keeps its digits.
    small = np.where(real, 1.0 / (1.0 + np.exp(x)), 1.0)  # an empty kernel has nothing to say
    root, size = np.sqrt(small), np.sqrt(1.0 - small)
    matrix = size[:, :, None] * correlation * size[:, None, :]
    diagonal = np.arange(x.shape[1])
    matrix[:, diagonal, diagonal] += small
    inverse = np.linalg.inv(matrix)
    inverse *= root[:, :, None]
    inverse *= root[:, None, :]
    left = inverse[:, diagonal, diagonal]  # 1 − γ
    pull = squares * np.exp(-x)
    hessian = np.square(inverse, out=inverse)
    np.negative(hessian, out=hessian)
    hessian[:, diagonal, diagonal] = np.where(real, pull + left * (1.0 - left), 1.0)
    slope = np.where(real, 1.0 - left - pull, 0.0)
    step = -np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
    return np.clip(step, -_LONGEST, _LONGEST), np.maximum(pull, 1.0 - left)
