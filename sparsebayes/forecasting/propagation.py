"""Paths of an autoregressive model: Gaussian ones with their covariance, and samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparsebayes._support.batching import batches
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.lags import Differences
from sparsebayes.uncertain.moment_maps import METHODS as MOMENT_METHODS
from sparsebayes.uncertain.moment_maps import MomentMap, moment_map

Array = np.ndarray
METHODS = (*MOMENT_METHODS, "naive")  # how the uncertainty of one step enters the next
LIMIT = 1e6  # standard deviations of the series; no path goes further


def propagate(
    moments: MomentMap, past: Array, known: Array, lags: tuple[int, ...]
) -> tuple[Array, Array]:
    """Mean (n, H) and covariance (n, H, H) of paths, all steps together.

    QC04 (4.20)-(4.25) keep the covariance of the state; here that of the whole path is kept,
    since ``cov(p, f(x)) = cov(p, x) E[∇m(x)]`` for any p that is Gaussian together with x.

    Parameters
    ----------
    moments : MomentMap
    past : ndarray, (n, P)
        Known values before the paths, at least as many as the longest lag.
    known : ndarray, (n, H, E)
        Inputs that are known at each step.
    lags : tuple of int
    """
    n, horizon, _ = known.shape
    length, back = past.shape[1], np.array(lags)
    path = np.concatenate([past, np.zeros((n, horizon))], axis=1)
    cov = np.zeros((n, horizon, horizon))
    size = back.size + known.shape[2]
    for k in range(horizon):
        steps = k - back  # negative: before the path, and known
        ahead = np.flatnonzero(steps >= 0)
        steps = steps[ahead]
        state = np.zeros((n, size, size))
        state[:, ahead[:, None], ahead] = cov[:, steps[:, None], steps]
        result = moments(np.hstack([path[:, length + k - back], known[:, k]]), state)
        slope = result.slope[:, ahead]
        path[:, length + k] = _bounded(result.mean)
        with_past = np.einsum("nts,ns->nt", cov[:, :k, steps], slope)
        # What the past explains is the least that the variance can be.
        explained = np.einsum("ns,ns->n", with_past[:, steps], slope)
        variance = np.maximum(result.variance, explained)
        shrink = LIMIT / np.maximum(np.sqrt(variance), LIMIT)
        cov[:, k, :k] = cov[:, :k, k] = shrink[:, None] * with_past
        cov[:, k, k] = shrink**2 * variance
    return path[:, length:], cov


def follow_means(
    model: Any, past: Array, known: Array, lags: tuple[int, ...]
) -> tuple[Array, Array]:
    """Means fed back as if they were sure, and the variance of each step alone, both (n, H)."""
    n, horizon, _ = known.shape
    length, back = past.shape[1], np.array(lags)
    path = np.concatenate([past, np.zeros((n, horizon))], axis=1)
    variance = np.empty((n, horizon))
    for k in range(horizon):
        rows = np.hstack([path[:, length + k - back], known[:, k]])
        mean, std = model.predict(rows, return_std=True)
        path[:, length + k] = _bounded(mean)
        variance[:, k] = std**2
    return path[:, length:], variance


def draw(model: Any, past: Array, known: Array, lags: tuple[int, ...], rng: Any) -> Array:
    """One path (n, H) for each row: every step draws from the prediction at what came before."""
    n, horizon, _ = known.shape
    length, back = past.shape[1], np.array(lags)
    path = np.concatenate([past, np.zeros((n, horizon))], axis=1)
    for k in range(horizon):
        rows = np.hstack([path[:, length + k - back], known[:, k]])
        mean, std = model.predict(rows, return_std=True)
        path[:, length + k] = _bounded(mean + std * rng.standard_normal(n))
    return path[:, length:]


def _bounded(values: Array) -> Array:
    return np.clip(values, -LIMIT, LIMIT)


def _warn_of_growth(path: Array) -> None:
    """Tell where paths (..., H) reach the limit."""
    beyond = (np.abs(path) >= LIMIT).reshape(-1, path.shape[-1]).any(axis=0)
    if beyond.any():
        warnings.warn(
            f"The forecasts grow without bound: {LIMIT:g} standard deviations of the series at "
            f"step {int(np.argmax(beyond)) + 1}, where they are cut off. The fitted recursion is "
            "unstable; use a difference, fewer lags or another estimator.",
            RuntimeWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class Recursion:
    """A fitted model of a standardised, differenced series, and the way back to the series.

    Parameters
    ----------
    model : estimator with ``predict(return_std=True)``
    lags : tuple of int
    log : bool
        Whether differences are taken of the logarithm.
    differences : Differences
    center, scale : float
        Of the differences.
    factors : ndarray, (K,)
        Of the standard deviation at each step ahead; steps after the last take the last.
    """

    model: Any
    lags: tuple[int, ...]
    log: bool
    differences: Differences
    center: float
    scale: float
    factors: Array = field(default_factory=lambda: np.ones(1))

    def calibrated(self, factors: Array) -> Recursion:
        """The same with other factors."""
        return replace(self, factors=factors)

    def gaussian(
        self, history: Array, known: Array, method: str, *, with_cov: bool = False
    ) -> Forecasts:
        """Forecasts whose uncertainty is propagated.

        Parameters
        ----------
        history : ndarray, (n, T)
            The values before each path.
        known : ndarray, (n, H, E)
            Standardised inputs, lagged.
        method : str
            One of `moment_map`, or "naive".
        with_cov : bool
            Whether to keep the covariance of the steps.
        """
        n, horizon, _ = known.shape
        moments = None if method == "naive" else moment_map(self.model, method)
        levels, past = self._prepared(history)
        matrix = self._factors(horizon)[:, None] * self.differences.responses(horizon)
        mean, variance = np.empty((2, n, horizon))
        kept = np.empty((n, horizon, horizon)) if with_cov else None
        size = 2 * horizon**2 + (len(self.lags) + known.shape[2]) ** 2
        for part in batches(n, 4 * size):
            if moments is None:
                path, own = follow_means(self.model, past[part], known[part], self.lags)
                cov = own[:, :, None] * np.eye(horizon)
            else:
                path, cov = propagate(moments, past[part], known[part], self.lags)
            _warn_of_growth(np.stack([path, np.sqrt(np.einsum("nhh->nh", cov))]))
            mean[part] = self._restored(levels[part], path)
            cov = self.scale**2 * (matrix @ cov @ matrix.T)
            variance[part] = np.maximum(np.einsum("nhh->nh", cov), 0.0)
            if kept is not None:
                kept[part] = 0.5 * (cov + cov.transpose(0, 2, 1))
        return Forecasts(mean, variance, self.log, kept)

    def sample(self, history: Array, known: Array, n_paths: int, rng: Any) -> Array:
        """Paths (n, n_paths, H) of the series, or of its logarithm.

        Factors widen them about the mean of `gaussian`, whatever their number.
        """
        n, horizon, _ = known.shape
        levels, past = self._prepared(history)
        paths = draw(
            self.model,
            np.repeat(past, n_paths, axis=0),
            np.repeat(known, n_paths, axis=0),
            self.lags,
            rng,
        )
        _warn_of_growth(paths)
        paths = self._restored(np.repeat(levels, n_paths, axis=0), paths)
        paths = paths.reshape(n, n_paths, horizon)
        factors = self._factors(horizon)
        if (factors == 1.0).all():
            return paths
        middle = self.gaussian(history, known, "auto").mean[:, None]
        return middle + factors * (paths - middle)

    def summary(self, history: Array, known: Array, n_paths: int, rng: Any) -> Forecasts:
        """Forecasts by mean and variance of sampled paths, a few histories at a time."""
        n, horizon, _ = known.shape
        mean, variance = np.empty((2, n, horizon))
        numbers = n_paths * (horizon + history.shape[1] + len(self.lags) + known.shape[2])
        for part in batches(n, 4 * numbers):
            paths = self.sample(history[part], known[part], n_paths, rng)
            mean[part], variance[part] = paths.mean(axis=1), paths.var(axis=1, ddof=1)
        return Forecasts(mean, variance, self.log)

    def _prepared(self, history: Array) -> tuple[Array, Array]:
        """The end of the series or its logarithm, and the differences as the model sees them."""
        levels = history[:, history.shape[1] - self.differences.order - self.lags[-1] :]
        levels = np.log(levels) if self.log else levels
        return levels, (self.differences.apply(levels) - self.center) / self.scale

    def _factors(self, horizon: int) -> Array:
        return self.factors[np.minimum(np.arange(horizon), len(self.factors) - 1)]

    def _restored(self, levels: Array, path: Array) -> Array:
        return self.differences.restore(levels, self.center + self.scale * path)
