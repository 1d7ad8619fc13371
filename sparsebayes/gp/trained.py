"""What predictions need of the training data, computed when first asked for and kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, cholesky
from sklearn.gaussian_process.kernels import Kernel

from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes.gp.kernels import KernelTo
from sparsebayes.gp.support import DEPENDENT, SupportPosterior, solve

Array = np.ndarray

DIGITS = 1e-8  # relative error of a sum above which it is computed with more care


def half_solve(lower: Array, rows: Array) -> Array:
    """``L⁻¹ x`` for each row x, which are overwritten; L in Fortran order."""
    return blas.dtrsm(1.0, lower, rows.T, lower=1, overwrite_b=1).T


@dataclass(frozen=True, eq=False)
class TrainedSupport:
    """A support set with its posterior.

    Attributes
    ----------
    kernel : kernel of scikit-learn
    X : ndarray, (N, D)
        Training inputs.
    rows : ndarray of int, (M,)
        Those in the support set.
    posterior : SupportPosterior
    noise : float
    """

    kernel: Kernel
    X: Array
    rows: Array
    posterior: SupportPosterior
    noise: float

    @cached_property
    def support(self) -> Array:
        """Support inputs, (M, D)."""
        return self.X[self.rows]

    @cached_property
    def near(self) -> KernelTo:
        """The kernel to the support inputs."""
        return KernelTo(self.kernel, self.support)

    @cached_property
    def everywhere(self) -> KernelTo:
        """The kernel to all training inputs."""
        return KernelTo(self.kernel, self.X)

    @cached_property
    def weights(self) -> Array:
        """Posterior mean of the weights, (M,)."""
        return solve(self.posterior.factor, self.posterior.latent, transposed=True)

    @cached_property
    def factors(self) -> tuple[Array, Array]:
        """L and the factor of B, in Fortran order."""
        posterior = self.posterior
        return np.asfortranarray(posterior.factor), np.asfortranarray(posterior.precision)

    def white(self, near: Array) -> tuple[Array, Array]:
        """``v* = L⁻¹ k*`` and ``h = B^(−½) v*``, (n, M), of kernels to the support, (n, M)."""
        lower, precision = self.factors
        white = half_solve(lower, np.array(near, order="C"))
        return white, half_solve(precision, white.copy())

    @cached_property
    def _copies(self) -> Array:
        """Which support input each training input is, (N,); −1 if it is none of them."""
        inverse = distinct_rows(self.X).place
        place = np.full(inverse.max() + 1, -1)
        place[inverse[self.rows]] = np.arange(len(self.rows))
        return place[inverse]

    @cached_property
    def complete(self) -> bool:
        """Whether all training inputs are in the support set: it is the full process then."""
        return bool(self._copies.min() >= 0)

    @cached_property
    def full_weights(self) -> Array:
        """Weights of the full process, (M,)."""
        return np.bincount(self._copies, self.posterior.alpha, len(self.rows))

    @cached_property
    def full_factor(self) -> Array:
        """The Cholesky factor of the full process's covariance of the means of equal inputs."""
        covariance = self.kernel(self.support)
        copies = np.bincount(self._copies, minlength=len(self.rows))
        covariance[np.diag_indices_from(covariance)] += self.noise / copies
        return np.asfortranarray(cholesky(covariance, lower=True))

    @cached_property
    def _products(self) -> Array:
        """U/σ and below it α, (M + 1, N), with ``Q⁻¹ = (I − UᵀU)/σ²``."""
        posterior = self.posterior
        whitened = solve(posterior.factor, self.kernel(self.support, self.X))
        damped = solve(posterior.precision, whitened)
        return np.vstack([damped / self.noise, posterior.alpha])

    def extra(self, points: Array) -> tuple[Array, ...]:
        """Of the support's weights, and what an extra weight for each point adds to them.

        QC04 (3.29) with the sign of its variance corrected. With κ the kernel to the training
        inputs, ``e = h + Uκ/σ``, ``d = k** − hᵀe`` and ``t = k** + κᵀκ/σ² − eᵀe``, the mean gains
        ``(ακ − latentᵀv*) d/t`` and the variance ``d²/t``. Where t is small beside its terms, it is
        computed from ``r = κ − Vᵀv*``.

        Returns
        -------
        white, root : ndarray, (n, M)
            v* and h.
        mean, shift, extra : ndarray, (n,)
            Of the support's weights, and what is added to mean and variance.
        left : ndarray, (n,)
            The prior variance given the support.
        """
        prior = self.kernel.diag(points)
        columns = self.everywhere(points)
        near = columns[:, self.rows]
        mean = near @ self.weights
        white, root = self.white(near)
        left = prior - np.einsum("nm,nm->n", white, white)
        products = columns @ self._products.T
        signal = products[:, -1] - mean
        joint = products[:, :-1]
        joint += root
        change = prior - np.einsum("nm,nm->n", root, joint)
        squares = np.einsum("nm,nm->n", columns, columns) / self.noise
        total = prior + squares - np.einsum("nm,nm->n", joint, joint)
        new = left > DEPENDENT * prior  # the others are support inputs, up to rounding
        vague = np.flatnonzero(new & (DIGITS * total <= np.finfo(float).eps * squares))
        if vague.size:
            change[vague], total[vague] = self._carefully(
                columns[vague], white[vague], root[vague], left[vague]
            )
        left = np.where(new, left, 0.0)
        change = np.where(new, change, 0.0)
        total = np.where(new, total, 1.0)
        return white, root, mean, signal * change / total, change**2 / total, left

    def _carefully(
        self, columns: Array, white: Array, root: Array, left: Array
    ) -> tuple[Array, Array]:
        """d and t by the residual r: nothing cancels in them but what is small in r itself."""
        damped = self._products[:-1]
        rest = columns - (white @ self.factors[1]) @ damped * self.noise
        inside = rest @ damped.T
        change = left - np.einsum("nm,nm->n", root, inside)
        squares = np.einsum("nm,nm->n", rest, rest) / self.noise
        squares -= np.einsum("nm,nm->n", inside, inside)
        return change, left + np.maximum(squares, 0.0)
