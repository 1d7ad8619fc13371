"""Prediction by a mixture of Gaussian processes, one for each set of training inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky

from sparsebayes._support.batching import batches
from sparsebayes._support.intervals import mixture_quantile
from sparsebayes._support.predictive import Predictive
from sparsebayes.engine.linalg import symmetric_root
from sparsebayes.engine.moments import Bumps, Functions, LinearModel, Moments
from sparsebayes.engine.noisy_gp import Theta, smoothed_kernel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Process:
    """A predictor of f that is linear in the targets.

    Attributes
    ----------
    theta : Theta
    inputs, variances : ndarray, (N, D), and (N, D) or (1, D)
        Means and variances of the training inputs; zero where they are known.
    precision, alpha : ndarray, (N, N) and (N,)
        Of the targets, and its product with them.
    """

    theta: Theta
    inputs: Array
    variances: Array
    precision: Array
    alpha: Array

    def columns(self, x: Array) -> Array:
        """Covariances of f at clean inputs with the targets, (n, N)."""
        theta, clean = self.theta, np.zeros((1, x.shape[1]))
        return smoothed_kernel(x, clean, self.inputs, self.variances, theta.amplitude, theta.scales)

    def marginal(self, x: Array) -> tuple[Array, Array]:
        """Mean and variance of f."""
        columns = self.columns(x)
        known = ((columns @ self.precision) * columns).sum(axis=1)
        return columns @ self.alpha, np.maximum(self.theta.amplitude - known, 0.0)

    def joint(self, x: Array) -> tuple[Array, Array]:
        """Mean and covariance of f."""
        columns, clean = self.columns(x), np.zeros((1, x.shape[1]))
        prior = smoothed_kernel(x, clean, x, clean, self.theta.amplitude, self.theta.scales)
        cov = prior - columns @ self.precision @ columns.T
        return columns @ self.alpha, 0.5 * (cov + cov.T)

    def linear_model(self, offset: float) -> LinearModel | None:
        """The same as a linear model, None where each input has another variance."""
        if len(self.variances) > 1:
            return None
        theta, width = self.theta, self.theta.scales**2 + self.variances[0]
        height = theta.amplitude * float(np.sqrt(np.prod(theta.scales**2 / width)))
        root = height * cholesky(self.precision)
        variance = theta.amplitude + theta.noise
        bumps = Bumps(self.inputs, np.sqrt(width))
        sign = np.full(len(root), -1.0)
        return LinearModel([bumps], height * self.alpha, root, sign, offset, variance, theta.noise)


@dataclass(frozen=True, eq=False)
class InputMixture(Predictive):
    """Processes of equal weight, one for each set of inputs, with an offset of the targets."""

    processes: Sequence[Process]
    offset: float
    noise: float

    def mean(self, x: Array) -> Array:
        out = np.full(len(x), self.offset)
        for part in self._batches(x):
            for process in self.processes:
                out[part] += process.columns(x[part]) @ process.alpha / len(self.processes)
        return out

    def marginal(self, x: Array) -> tuple[Array, Array]:
        means, variances = self._marginals(x)
        return self.offset + means.mean(axis=0), variances.mean(axis=0) + means.var(axis=0)

    def interval(self, x: Array, coverage: float) -> tuple[Array, Array]:
        means, variances = self._marginals(x)
        stds, outside = np.sqrt(variances + self.noise), 0.5 * (1.0 - coverage)
        lower, upper = (mixture_quantile(means, stds, p) for p in (outside, 1.0 - outside))
        return self.offset + lower, self.offset + upper

    def _marginals(self, x: Array) -> tuple[Array, Array]:
        """Mean, without the offset, and variance of each process, (M, n)."""
        means, variances = np.empty((2, len(self.processes), len(x)))
        for part in self._batches(x):
            for i, process in enumerate(self.processes):
                means[i, part], variances[i, part] = process.marginal(x[part])
        return means, variances

    def _batches(self, x: Array) -> Iterator[slice]:
        return batches(len(x), 4 * len(self.processes[0].alpha))

    def joint(self, x: Array) -> tuple[Array, Array]:
        means, cov = [], np.zeros((len(x), len(x)))
        for process in self.processes:
            mean, own = process.joint(x)
            means.append(mean)
            cov += own / len(self.processes)
        around = np.array(means) - np.mean(means, axis=0)
        cov += around.T @ around / len(means)
        return self.offset + np.mean(means, axis=0), 0.5 * (cov + cov.T)

    def draw(self, x: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        """Each column is drawn from one of the processes."""
        chosen = rng.randint(len(self.processes), size=n_samples)
        normal = rng.standard_normal((len(x), n_samples))
        out = np.full((len(x), n_samples), self.offset)
        for i in np.unique(chosen):
            mean, cov = self.processes[i].joint(x)
            out[:, chosen == i] += mean[:, None] + symmetric_root(cov) @ normal[:, chosen == i]
        return out

    def closed_form(self) -> tuple[LinearModelMixture | None, str]:
        parts = [process.linear_model(self.offset) for process in self.processes]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None, "training inputs whose noise differs from sample to sample"
        return LinearModelMixture(known), ""


@dataclass(frozen=True, eq=False)
class LinearModelMixture:
    """Moments at Gaussian inputs of a mixture of linear models, by the law of total variance."""

    parts: Sequence[LinearModel]

    @property
    def noise(self) -> float:
        return self.parts[0].noise

    @property
    def numbers(self) -> int:
        return self.parts[0].numbers

    @property
    def functions(self) -> Sequence[Functions]:
        return self.parts[0].functions

    def predict(self, X: Array) -> tuple[Array, Array]:
        means, variances = zip(*(part.predict(X) for part in self.parts), strict=True)
        return np.mean(means, axis=0), np.mean(variances, axis=0) + np.var(means, axis=0)

    def exact(self, mean: Array, cov: Array) -> Moments:
        return _mix([part.exact(mean, cov) for part in self.parts])

    def taylor(self, mean: Array, cov: Array) -> Moments:
        return _mix([part.taylor(mean, cov) for part in self.parts])


def _mix(moments: list[Moments]) -> Moments:
    means = np.array([found.mean for found in moments])
    variances = np.mean([found.variance for found in moments], axis=0) + means.var(axis=0)
    slope = np.mean([found.slope for found in moments], axis=0)
    return Moments(means.mean(axis=0), variances, slope)
