"""The predictive distribution of a linear model with Gaussian weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._rvm.augment import Augmentation
from sparsebayes._rvm.covariance import Covariance
from sparsebayes._rvm.left_out import LeftOut
from sparsebayes._rvm.noise import NoiseVariance
from sparsebayes._support.batching import batches
from sparsebayes._support.calibration import normal_width
from sparsebayes._support.intervals import student_half_width
from sparsebayes._support.predictive import EXTRA_WEIGHT, Predictive
from sparsebayes.basis import Basis
from sparsebayes.engine.linalg import symmetric_root
from sparsebayes.engine.moments import LinearModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LinearPredictive(Predictive):
    """Of kept functions, and with `extra` of a further function at each test point.

    The paper on `augment` has one test point. Here the extra weights of two points correlate as
    `Augmentation.correlations` says. K targets share all but means and units.

    Attributes
    ----------
    basis : Basis
        The S functions that were kept.
    weights : ndarray, (S,) or (S, K)
        Posterior mean.
    sigma : Covariance
        Posterior covariance, in units of the target.
    offset, noise : float, or ndarray, (K,)
    extra : Augmentation or None
    left_out : LeftOut or None
        What varies besides, with variance 1.
    left_out_variance, unit, widening : float, or ndarray, (K,)
        The variance of what varies besides, the units of the targets, and the factor for all other
        standard deviations of the function.
    nu : float or None
        Degrees of freedom of the noise; None if it is normal.
    varying : NoiseVariance or None
        The noise variance at an input, relative to `noise`; None if it is the same everywhere.
    """

    basis: Basis
    weights: Array
    sigma: Covariance
    offset: float | Array
    noise: float | Array
    extra: Augmentation | None = None
    left_out: LeftOut | None = None
    left_out_variance: float | Array = 0.0
    unit: float | Array = 1.0
    widening: float | Array = 1.0
    nu: float | None = None
    varying: NoiseVariance | None = None

    def calibrated(self, factor: float | Array, *, noise: bool) -> LinearPredictive:
        """The same with the standard deviations of weights, and of the noise, times a factor."""
        scaled = factor**2 * self.noise if noise else self.noise
        return replace(self, noise=scaled, widening=factor * self.widening)

    def noise_at(self, X: Array) -> float | Array:
        if self.varying is None:
            return self.noise
        relative = self.varying(X)
        return relative * self.noise if np.ndim(self.noise) == 0 else relative[:, None] * self.noise

    def interval(self, X: Array, coverage: float) -> tuple[Array, Array]:
        if self.nu is None or self.nu == np.inf:
            return super().interval(X, coverage)
        mean, variance = self.marginal(X)
        half = student_half_width(variance, self.noise_at(X), coverage, self.nu)
        return mean - half, mean + half

    def draw_noise(self, X: Array, shape: tuple[int, ...], rng: np.random.RandomState) -> Array:
        if self.nu is None or self.nu == np.inf:
            return super().draw_noise(X, shape, rng)
        scale = np.sqrt(np.broadcast_to(self.noise_at(X), shape[:-1])) / normal_width(self.nu)
        return scale[..., None] * rng.standard_t(self.nu, shape)

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
        cov = np.multiply.outer(cov, self._factor**2)
        if self.left_out is not None:
            cov += np.multiply.outer(self.left_out.between(X, columns), self.left_out_variance)
        return mean, cov

    def draw(self, X: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        mean, _, roots = self._moments(X, with_variance=False)
        targets = mean.shape[1:]
        weights = self.sigma.some_root() @ self._normal(len(self.weights), targets, n_samples, rng)
        columns = self.basis.columns(X)
        samples = columns @ weights
        for root, together in zip(roots, self._correlations(X), strict=True):
            draws = symmetric_root(together) @ self._normal(len(X), targets, n_samples, rng)
            samples += root[:, None] * draws
        samples *= np.repeat(np.broadcast_to(self._factor, targets or 1), n_samples)
        if self.left_out is not None:
            root = symmetric_root(self.left_out.between(X, columns))
            draws = root @ self._normal(len(X), targets, n_samples, rng)
            scale = np.broadcast_to(np.sqrt(self.left_out_variance), targets or 1)
            samples += np.repeat(scale, n_samples) * draws
        return mean[..., None] + samples.reshape(*mean.shape, n_samples)

    @staticmethod
    def _normal(
        count: int, targets: tuple[int, ...], n_samples: int, rng: np.random.RandomState
    ) -> Array:
        return rng.standard_normal((count, int(np.prod(targets)) * n_samples))

    @property
    def _factor(self) -> Array:
        """For the standard deviations of the function, in the units of the targets."""
        return np.multiply(self.unit, self.widening)

    def closed_form(self) -> tuple[LinearModel | None, str]:
        functions = self.basis.functions()
        if functions is None:
            return None, (
                f"basis_={self.basis!r}, which is not made of RBF, Bias, Linear and Polynomial up "
                "to degree 3"
            )
        if self.varying is not None:
            return None, "noise='varying', whose variance is another function of the input"
        weights, root = self.weights, float(self._factor) * self.sigma.some_root().T
        sign, variance = np.ones(len(root)), float(self.noise)
        if self.left_out is not None:
            further = self.left_out.kernel.functions()
            assert further is not None
            down = np.sqrt(self.left_out_variance) * self.left_out.root.T
            functions = (*functions, *further)
            weights = np.append(weights, np.zeros(down.shape[1] - weights.size))
            root = np.vstack([np.pad(root, ((0, 0), (0, weights.size - root.shape[1]))), down])
            sign = np.append(sign, -np.ones(len(down)))
            variance += float(self.left_out_variance)
        offset, noise = float(self.offset), float(self.noise)
        known = LinearModel(functions, weights, root, sign, offset, variance, noise)
        return known, "" if self.extra is None else EXTRA_WEIGHT

    def _correlations(self, X: Array) -> list[Array]:
        return [] if self.extra is None else self.extra.correlations(X)

    def _moments(self, X: Array, *, with_variance: bool) -> tuple[Array, Array, Array]:
        """Mean, variance, and roots of what each extra function adds, in `unit`, (J, n)."""
        extra, shape = self.extra, (len(X), *self.weights.shape[1:])
        mean, variance, further = np.empty(shape), np.zeros(len(X)), np.zeros(len(X))
        roots = np.zeros((0 if extra is None else len(extra.kernels), len(X)))
        numbers = 4 * self.weights.size + (0 if extra is None else extra.numbers)
        if with_variance and self.left_out is not None:
            numbers += 4 * len(self.left_out.root)
        for part in batches(len(X), numbers):
            columns = self.basis.columns(X[part])
            mean[part] = self.offset + columns @ self.weights
            if extra is not None:
                shift, root = extra.correct(X[part], columns)
                mean[part] += self.unit * (shift[:, 0] if mean.ndim == 1 else shift)
                roots[:, part] = root[:, 0].T
            if with_variance:
                variance[part] = self.sigma.variances(columns)
                if self.left_out is not None:
                    further[part] = self.left_out.variances(X[part], columns)
        variance += np.einsum("jn,jn->n", roots, roots)
        total = np.multiply.outer(variance, self._factor**2)
        if self.left_out is not None:
            total += np.multiply.outer(further, self.left_out_variance)
        return mean, total, roots
