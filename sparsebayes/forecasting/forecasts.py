"""Gaussian and lognormal forecasts: moments, intervals and scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

Array = np.ndarray


@dataclass(frozen=True)
class Forecasts:
    """Gaussian forecasts of a series or, with `log`, of its logarithm.

    Parameters
    ----------
    mean, variance : ndarray, (n, horizon)
    log : bool
    cov : ndarray, (n, horizon, horizon), or None
        Covariance of the steps, where it was asked for.
    """

    mean: Array
    variance: Array
    log: bool
    cov: Array | None = None

    def levels(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the series itself."""
        if not self.log:
            return self.mean, np.sqrt(self.variance)
        mean = np.exp(self.mean + 0.5 * self.variance)
        return mean, mean * np.sqrt(np.expm1(self.variance))

    def levels_cov(self) -> Array:
        """Covariance of the steps of the series itself."""
        if self.cov is None:
            raise ValueError("These forecasts were made without covariance.")
        if not self.log:
            return self.cov
        mean = self.levels()[0]
        return mean[:, :, None] * np.expm1(self.cov) * mean[:, None, :]

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """Limits of the central interval of the series itself."""
        half = ndtri(0.5 + coverage / 2) * np.sqrt(self.variance)
        lower, upper = self.mean - half, self.mean + half
        return (np.exp(lower), np.exp(upper)) if self.log else (lower, upper)

    def losses(self, truth: Array) -> tuple[Array, Array]:
        """Negative log densities and continuous ranked probability scores of what came."""
        # A sure forecast, as of a constant series, still has a density.
        std = np.sqrt(np.maximum(self.variance, np.finfo(np.float64).tiny ** 0.5))
        z = ((np.log(truth) if self.log else truth) - self.mean) / std
        density = 0.5 * np.log(2.0 * np.pi) + np.log(std) + 0.5 * z**2
        inside = 2.0 * ndtr(z) - 1.0
        if self.log:
            tails = ndtr(z - std) + ndtr(std / np.sqrt(2.0)) - 1.0
            crps = truth * inside - 2.0 * np.exp(self.mean + 0.5 * std**2) * tails
            return density + np.log(truth), crps
        bell = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        return density, std * (z * inside + 2.0 * bell - np.pi**-0.5)
