"""Gaussian forecasts of a series or of a function of it, and mixtures of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from sparsebayes.forecasting.transforms import LEVEL, ValueTransform

Array = np.ndarray
_LEVELS = (np.arange(30) + 0.5) / 30  # of the quantiles by which a score is integrated
_HALVINGS = 60  # of a bracket of a quantile
_SMALLEST = np.finfo(np.float64).tiny ** 0.5  # a sure forecast, of a constant, has a density too


@dataclass(frozen=True)
class Forecasts:
    """Gaussian forecasts of a function of a series.

    Parameters
    ----------
    mean, variance : ndarray, (n, horizon)
        Of the function; of "bounded" the mean of the series itself.
    transform : ValueTransform
    cov : ndarray, (n, horizon, horizon), or None
        Covariance of the steps, where it was asked for.
    """

    mean: Array
    variance: Array
    transform: ValueTransform = LEVEL
    cov: Array | None = None

    @property
    def std(self) -> Array:
        return np.sqrt(np.maximum(self.variance, _SMALLEST))

    @cached_property
    def location(self) -> Array:
        """Where the Gaussian of the function lies."""
        return self.transform.location(self.mean, self.std)

    def __len__(self) -> int:
        return len(self.mean)

    def levels(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the series itself."""
        mean, variance = self.transform.moments(self.location, self.variance)
        return mean, np.sqrt(variance)

    def levels_cov(self) -> Array:
        """Covariance of the steps of the series itself."""
        if self.cov is None:
            raise ValueError("These forecasts were made without covariance.")
        return self.transform.cov(self.location, self.cov)

    def below(self, y: Array) -> Array:
        """The probability of less than y."""
        return self.transform.below(y, self.location, self.std)

    def log_density(self, y: Array) -> Array:
        return self.transform.log_density(y, self.location, self.std)

    def quantile(self, probability: float) -> Array:
        """Of the series itself."""
        if self.transform.name == "sqrt":
            return _quantile([self], np.ones(1), probability)
        return self.transform.back(self.location + ndtri(probability) * np.sqrt(self.variance))

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """Limits of the central interval of the series itself."""
        return self.quantile(0.5 - coverage / 2), self.quantile(0.5 + coverage / 2)

    def losses(self, truth: Array) -> tuple[Array, Array]:
        """Negative log densities and continuous ranked probability scores of what came."""
        return -self.log_density(truth), self.crps(truth)

    def crps(self, truth: Array) -> Array:
        """Continuous ranked probability score, in closed form where there is one."""
        if self.transform.name not in ("level", "log"):
            return _integrated_crps(self, truth)
        std = self.std
        z = (self.transform.of(truth) - self.mean) / std
        inside = 2.0 * ndtr(z) - 1.0
        if self.transform.name == "log":
            tails = ndtr(z - std) + ndtr(std / np.sqrt(2.0)) - 1.0
            return truth * inside - 2.0 * self.levels()[0] * tails
        bell = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        return std * (z * inside + 2.0 * bell - np.pi**-0.5)

    def widened(self, factors: Array) -> Forecasts:
        """With standard deviations times `factors` (horizon,)."""
        cov = None if self.cov is None else self.cov * factors[:, None] * factors
        return replace(self, variance=self.variance * factors**2, cov=cov)


@dataclass(frozen=True)
class ForecastMixture:
    """Forecasts by several models, each with the probability that it is the one.

    Parameters
    ----------
    parts : sequence of Forecasts
        All of the same shape, of the same series.
    weights : ndarray, (len(parts),)
        They sum to 1.
    whole : bool
        Whether values are whole numbers, and so are quantiles.
    """

    parts: Sequence[Forecasts]
    weights: Array
    whole: bool = False

    def __len__(self) -> int:
        return len(self.parts[0])

    def levels(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the series itself."""
        means, stds = (
            np.array(column) for column in zip(*(p.levels() for p in self.parts), strict=True)
        )
        mean = np.tensordot(self.weights, means, 1)
        variance = np.tensordot(self.weights, stds**2 + (means - mean) ** 2, 1)
        return mean, np.sqrt(variance)

    def levels_cov(self) -> Array:
        """Covariance of the steps of the series itself."""
        means = np.array([part.levels()[0] for part in self.parts])
        apart = means - np.tensordot(self.weights, means, 1)
        within = sum(w * p.levels_cov() for w, p in zip(self.weights, self.parts, strict=True))
        between = np.einsum("c,cnh,cnk->nhk", self.weights, apart, apart)
        cov: Array = within + between
        return cov

    def below(self, y: Array) -> Array:
        """The probability of less than y."""
        return np.tensordot(self.weights, np.array([part.below(y) for part in self.parts]), 1)

    def log_density(self, y: Array) -> Array:
        densities = np.array([part.log_density(y) for part in self.parts])
        return logsumexp(densities, axis=0, b=self.weights[:, None, None])

    def quantile(self, probability: float) -> Array:
        """Of the series itself."""
        if len(self.parts) == 1:
            found = self.parts[0].quantile(probability)
        else:
            found = _quantile(self.parts, self.weights, probability)
        return np.rint(found) if self.whole else found

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """Limits of the central interval of the series itself."""
        return self.quantile(0.5 - coverage / 2), self.quantile(0.5 + coverage / 2)

    def losses(self, truth: Array) -> tuple[Array, Array]:
        """Negative log densities and continuous ranked probability scores of what came."""
        if len(self.parts) == 1 and not self.whole:
            return self.parts[0].losses(truth)
        return -self.log_density(truth), _integrated_crps(self, truth)

    def widened(self, factors: Array) -> ForecastMixture:
        """With standard deviations of all parts times `factors` (horizon,)."""
        parts = [part.widened(factors) for part in self.parts]
        return ForecastMixture(parts, self.weights, self.whole)


def _quantile(parts: Sequence[Forecasts], weights: Array, probability: float) -> Array:
    """Between the quantiles of the parts, by halving: there the function rises."""
    ends = []
    for part in parts:
        if part.transform.name == "sqrt":  # both branches
            root = np.abs(part.mean) + ndtri(0.5 + 0.5 * probability) * part.std
            ends += [np.zeros_like(root), root**2]
        else:
            ends.append(part.transform.back(part.location + ndtri(probability) * part.std))
    low, high = np.min(ends, axis=0), np.max(ends, axis=0)

    def below(y: Array) -> Array:
        return sum(w * part.below(y) for w, part in zip(weights, parts, strict=True))

    high = np.where(below(low) >= probability, low, high)  # what is probable at a bound lies there
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        under = below(middle)
        low, high = (
            np.where(under < probability, middle, low),
            np.where(under < probability, high, middle),
        )
    return 0.5 * (low + high)


def _integrated_crps(found: Forecasts | ForecastMixture, truth: Array) -> Array:
    """The mean over probabilities of the loss of their quantiles."""
    total = np.zeros(truth.shape)
    for probability in _LEVELS:
        error = truth - found.quantile(probability)
        total += np.maximum(probability * error, (probability - 1.0) * error)
    return 2.0 * total / len(_LEVELS)
