"""The predictive distribution of a reduced-rank Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._support.batching import batches
from sparsebayes._support.predictive import EXTRA_WEIGHT, Predictive
from sparsebayes.engine.linalg import inverse_triangle, symmetric_root
from sparsebayes.engine.moments import LinearModel
from sparsebayes.gp.kernels import shape_of, without_shape
from sparsebayes.gp.trained import TrainedSupport, half_solve

Array = np.ndarray

CACHE = 1 << 17  # numbers of a block of kernels that stay near the processor
BLOCK = 32  # test inputs of a block, at least


@dataclass(frozen=True, eq=False)
class SupportPredictive(Predictive):
    """Of the support inputs' weights, and with `augment` of one more at each test point.

    An extra weight belongs to one test input alone. In the covariance of several, what their
    weights add is correlated as the Gaussian process given the support inputs is. With all training
    inputs in the support set, the augmented model is the full process, and computed as such.

    Attributes
    ----------
    trained : TrainedSupport
    offset : float
    augment : bool
    factor : float
        By which all standard deviations, that of the noise too, are multiplied.
    """

    trained: TrainedSupport
    offset: float
    augment: bool
    factor: float = 1.0

    @property
    def noise(self) -> float:  # type: ignore[override]
        return self.factor**2 * self.trained.noise

    @property
    def _full(self) -> bool:
        return self.augment and self.trained.complete

    def mean(self, X: Array) -> Array:
        return self._in_blocks(X, with_variance=False)[0]

    def marginal(self, X: Array) -> tuple[Array, Array]:
        return self._in_blocks(X, with_variance=True)

    def joint(self, X: Array) -> tuple[Array, Array]:
        trained = self.trained
        if self._full:
            near = trained.near(X)
            mean = near @ trained.full_weights
            known = half_solve(trained.full_factor, near)
            cov = trained.kernel(X) - known @ known.T
        elif self.augment:
            white, root, mean, shift, extra, left = trained.extra(X)
            mean = mean + shift
            own = trained.kernel(X) - white @ white.T
            own[np.diag_indices(len(X))] = left
            scale = np.sqrt(np.divide(extra, left, out=np.zeros_like(left), where=left > 0))
            cov = root @ root.T + scale[:, None] * own * scale
        else:
            near = trained.near(X)
            mean = near @ trained.weights
            root = trained.white(near)[1]
            cov = root @ root.T
        return self.offset + mean, 0.5 * self.factor**2 * (cov + cov.T)

    def draw(self, X: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        mean, cov = self.joint(X)
        return mean[:, None] + symmetric_root(cov) @ rng.standard_normal((len(X), n_samples))

    def closed_form(self) -> tuple[LinearModel | None, str]:
        trained, noise = self.trained, self.noise
        shape = shape_of(trained.kernel, trained.support.shape[1])
        if shape is None:
            return None, without_shape(trained.kernel)
        if self._full:
            known = shape._replace(noise=trained.noise).process(
                trained.support,
                trained.full_weights,
                inverse_triangle(trained.full_factor),
                self.factor,
                self.offset,
            )
            return known, ""
        weights, root = trained.posterior.weights()
        functions, (weights, root) = shape.expand(trained.support, weights, self.factor * root)
        sign = np.ones(len(root))
        known = LinearModel(functions, weights, root, sign, self.offset, noise, noise)
        return known, EXTRA_WEIGHT if self.augment else ""

    def _in_blocks(self, X: Array, with_variance: bool) -> tuple[Array, Array]:
        """Mean and variance, in blocks of test inputs whose kernels stay near the processor."""
        trained, size = self.trained, len(self.trained.rows)
        columns = len(trained.X) if self.augment and not self._full else size
        mean, variance = np.empty(len(X)), np.zeros(len(X))
        block = max(BLOCK, CACHE // columns)
        for part in batches(len(X), 2 * columns + 4 * size, block):
            mean[part], variance[part] = self._block(X[part], with_variance)
        return self.offset + mean, self.factor**2 * variance

    def _block(self, X: Array, with_variance: bool) -> tuple[Array, Array | float]:
        trained = self.trained
        if self.augment and not trained.complete:
            _, root, mean, shift, extra, _ = trained.extra(X)
            return mean + shift, np.einsum("nm,nm->n", root, root) + extra
        near = trained.near(X)
        mean = near @ (trained.full_weights if self.augment else trained.weights)
        if not with_variance:
            return mean, 0.0
        if not self.augment:
            root = trained.white(near)[1]
            return mean, np.einsum("nm,nm->n", root, root)
        known = half_solve(trained.full_factor, near)
        left = trained.kernel.diag(X) - np.einsum("nm,nm->n", known, known)
        return mean, np.maximum(left, 0.0)
