"""The predictive distribution of a linear model with Gaussian weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._rvm.augment import Augmentation
from sparsebayes._rvm.covariance import Covariance
from sparsebayes._rvm.left_out import LeftOut
from sparsebayes._support.batching import batches
from sparsebayes._support.predictive import EXTRA_WEIGHT, Predictive
from sparsebayes.basis import Basis
from sparsebayes.engine.linalg import symmetric_root
from sparsebayes.engine.moments import LinearModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LinearPredictive(Predictive):
    """Of kept functions, and with `extra` of a further function at each test point.

    The paper on `augment` has one test point. Here the extra weights of two points correlate as
    `Augmentation.correlations` says.

    Attributes
    ----------
    basis : Basis
        The S functions that were kept.
    weights, sigma : ndarray, (S,), and Covariance
        Posterior mean and covariance.
    offset, noise : float
    extra : Augmentation or None
    left_out : LeftOut or None
        What varies besides.
    widening : float
        The factor for the standard deviations of the extra functions.
    """

    basis: Basis
    weights: Array
    sigma: Covariance
    offset: float
    noise: float
    extra: Augmentation | None = None
    left_out: LeftOut | None = None
    widening: float = 1.0

    def calibrated(self, factor: float, *, noise: bool) -> LinearPredictive:
        """The same with the standard deviations of weights, and of the noise, times a factor."""
        if factor == 1.0:
            return self
        return replace(
            self,
            sigma=self.sigma.scaled(factor),
            noise=factor**2 * self.noise if noise else self.noise,
            widening=factor * self.widening,
        )

    def mean(self, X: Array) -> Array:
        return self._moments(X, with_variance=False)[0]

    def marginal(self, X: Array) -> tuple[Array, Array]:
        return self._moments(X, with_variance=True)[:2]

    def joint(self, X: Array) -> tuple[Array, Array]:
        mean, _, roots = self._moments(X, with_variance=False)
        columns = self.basis.columns(X)
        cov = self.sigma.between(columns)
        for root, together in zip(roots, self._correlations(X), strict=True):
            cov += together * np.multiply.outer(root, root)
        return mean, cov if self.left_out is None else cov + self.left_out.between(X, columns)

    def draw(self, X: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        mean, _, roots = self._moments(X, with_variance=False)
        weights = self.sigma.some_root() @ rng.standard_normal((self.weights.size, n_samples))
        columns = self.basis.columns(X)
        samples = mean[:, None] + columns @ weights
        for root, together in zip(roots, self._correlations(X), strict=True):
            draws = symmetric_root(together) @ rng.standard_normal((len(X), n_samples))
            samples += root[:, None] * draws
        if self.left_out is not None:
            root = symmetric_root(self.left_out.between(X, columns))
            samples += root @ rng.standard_normal((len(X), n_samples))
        return samples

    def closed_form(self) -> tuple[LinearModel | None, str]:
        functions = self.basis.functions()
        if functions is None:
            return None, (
                f"basis_={self.basis!r}, which is not made of RBF, Bias, Linear and Polynomial up "
                "to degree 3"
            )
        weights, root = self.weights, self.sigma.some_root().T
        sign, variance = np.ones(len(root)), self.noise
        if self.left_out is not None:
            further = self.left_out.kernel.functions()
            assert further is not None
            down = np.sqrt(self.left_out.variance) * self.left_out.root.T
            functions = (*functions, *further)
            weights = np.append(weights, np.zeros(down.shape[1] - weights.size))
            root = np.vstack([np.pad(root, ((0, 0), (0, weights.size - root.shape[1]))), down])
            sign = np.append(sign, -np.ones(len(down)))
            variance += self.left_out.variance
        known = LinearModel(functions, weights, root, sign, self.offset, variance, self.noise)
        return known, "" if self.extra is None else EXTRA_WEIGHT

    def _correlations(self, X: Array) -> list[Array]:
        return [] if self.extra is None else self.extra.correlations(X)

    def _moments(self, X: Array, *, with_variance: bool) -> tuple[Array, Array, Array]:
        """Mean, variance, and roots of what each extra function adds to the variance, (J, n)."""
        extra, mean, variance = self.extra, np.empty(len(X)), np.zeros(len(X))
        roots = np.zeros((0 if extra is None else len(extra.kernels), len(X)))
        numbers = 4 * self.weights.size + (0 if extra is None else extra.numbers)
        if with_variance and self.left_out is not None:
            numbers += 4 * len(self.left_out.root)
        for part in batches(len(X), numbers):
            columns = self.basis.columns(X[part])
            mean[part] = self.offset + columns @ self.weights
            if extra is not None:
                shift, root = extra.correct(X[part], columns)
                mean[part] += shift[:, 0]
                roots[:, part] = self.widening * root[:, 0].T
            if with_variance:
                variance[part] = self.sigma.variances(columns)
                if self.left_out is not None:
                    variance[part] += self.left_out.variances(X[part], columns)
        return mean, variance + np.einsum("jn,jn->n", roots, roots), roots
