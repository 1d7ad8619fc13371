"""The predictive distribution of a reduced-rank Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from sparsebayes._support.batching import batches
from sparsebayes._support.predictive import EXTRA_WEIGHT, Predictive
from sparsebayes.engine.linalg import symmetric_root
from sparsebayes.engine.moments import LinearModel
from sparsebayes.gp.kernels import shape_of, without_shape
from sparsebayes.gp.support import DEPENDENT, SupportPosterior, solve

Array = np.ndarray

ROWS = 2048  # training inputs in a block of sums for the extra weight


@dataclass(frozen=True, eq=False)
class SupportPredictive(Predictive):
    """Of the support inputs' weights, and with `augment` of one more at each test point.

    An extra weight belongs to one test input alone. In the covariance of several, what their
    weights add is correlated as the Gaussian process given the support inputs is.

    Attributes
    ----------
    kernel : kernel of scikit-learn
    X, support : ndarray, (N, D) and (M, D)
        Training and support inputs.
    posterior : SupportPosterior
    offset, own_noise : float
    augment : bool
    factor : float
        By which all standard deviations, that of the noise too, are multiplied.
    """

    kernel: Kernel
    X: Array
    support: Array
    posterior: SupportPosterior
    offset: float
    own_noise: float
    augment: bool
    factor: float = 1.0

    @property
    def noise(self) -> float:  # type: ignore[override]
        return self.factor**2 * self.own_noise

    def mean(self, X: Array) -> Array:
        return self._in_batches(X, with_variance=False)[0]

    def marginal(self, X: Array) -> tuple[Array, Array]:
        return self._in_batches(X, with_variance=True)

    def joint(self, X: Array) -> tuple[Array, Array]:
        white = self._white(X)
        mean = self.offset + self.posterior.latent @ white
        root = solve(self.posterior.precision, white)
        cov = root.T @ root
        if self.augment:
            shift, extra, left = self._extra(X, white)
            mean += shift
            own = self.kernel(X) - white.T @ white
            own[np.diag_indices(len(X))] = left
            scale = np.sqrt(np.divide(extra, left, out=np.zeros_like(left), where=left > 0))
            cov += scale[:, None] * own * scale
        return mean, 0.5 * self.factor**2 * (cov + cov.T)

    def draw(self, X: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        mean, cov = self.joint(X)
        return mean[:, None] + symmetric_root(cov) @ rng.standard_normal((len(X), n_samples))

    def closed_form(self) -> tuple[LinearModel | None, str]:
        shape = shape_of(self.kernel, self.support.shape[1])
        if shape is None:
            return None, without_shape(self.kernel)
        functions, (weights, root) = shape.expand(self.support, *self.posterior.weights())
        root *= self.factor
        sign, noise = np.ones(len(root)), self.noise
        known = LinearModel(functions, weights, root, sign, self.offset, noise, noise)
        if not self.augment:
            return known, ""
        return known, EXTRA_WEIGHT

    def _in_batches(self, X: Array, with_variance: bool) -> tuple[Array, Array]:
        mean, variance = np.empty(len(X)), np.zeros(len(X))
        numbers = 4 * len(self.support) + (3 * min(len(self.X), ROWS) if self.augment else 0)
        for part in batches(len(X), numbers):
            white = self._white(X[part])
            mean[part] = self.offset + self.posterior.latent @ white
            if with_variance:
                variance[part] = (solve(self.posterior.precision, white) ** 2).sum(axis=0)
            if self.augment:
                shift, extra, _ = self._extra(X[part], white)
                mean[part] += shift
                variance[part] += extra
        return mean, self.factor**2 * variance

    def _white(self, X: Array) -> Array:
        """L⁻¹ k(support, X), (M, n)."""
        return solve(self.posterior.factor, self.kernel(self.support, X))

    def _extra(self, points: Array, white: Array) -> tuple[Array, Array, Array]:
        """What an extra weight for each point, one at a time, adds to its mean and its variance.

        QC04 (3.29) with the sign of its variance corrected, written so that nothing cancels: with
        ``c = k** − ‖v*‖²``, ``r = k* − Vᵀ v*`` and ``t = v*ᵀ V Q⁻¹ r``, the mean gains
        ``αᵀr (c − t)/(c + rᵀQ⁻¹r)`` and the variance ``(c − t)²/(c + rᵀQ⁻¹r)``.

        Parameters
        ----------
        points : ndarray, (n, D)
        white : ndarray, (M, n)
            v* of the points.

        Returns
        -------
        shift, extra : ndarray, (n,)
            Of mean and variance.
        variance : ndarray, (n,)
            c, the prior variance given the support.
        """
        posterior, noise = self.posterior, self.own_noise
        prior = self.kernel.diag(points)
        variance = prior - (white**2).sum(axis=0)
        project = solve(posterior.factor, white, transposed=True)
        squares, signal = np.zeros(len(points)), np.zeros(len(points))
        inside = np.zeros_like(white)
        for i in range(0, len(self.X), ROWS):
            columns = self.kernel(self.X[i : i + ROWS], self.support)
            rest = self.kernel(self.X[i : i + ROWS], points)
            rest -= columns @ project
            squares += np.einsum("ij,ij->j", rest, rest)
            signal += posterior.alpha[i : i + ROWS] @ rest
            inside += columns.T @ rest
        inside = solve(posterior.precision, solve(posterior.factor, inside)) / np.sqrt(noise)
        spread = np.maximum(squares - (inside**2).sum(axis=0), 0.0) / noise
        cross = (solve(posterior.precision, white) * inside).sum(axis=0) / np.sqrt(noise)
        new = variance > DEPENDENT * prior  # the others are support inputs, up to rounding
        variance = np.where(new, variance, 0.0)
        change = np.where(new, variance - cross, 0.0)
        total = np.where(new, variance + spread, 1.0)
        return signal * change / total, change**2 / total, variance
