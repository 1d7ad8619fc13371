"""Paths of an autoregressive model: Gaussian ones with their covariance, and samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sparsebayes._support.batching import batches
from sparsebayes.forecasting.forecasts import Forecasts
from sparsebayes.forecasting.lags import Differences
from sparsebayes.forecasting.transforms import ValueTransform
from sparsebayes.uncertain.moment_maps import MomentMap, MomentMethod, moment_map

Array = np.ndarray
# How the uncertainty of one step enters the next.
ForecastMethod = MomentMethod | Literal["naive"]
METHODS: tuple[str, ...] = (*get_args(MomentMethod), "naive")
LIMIT = 1e6  # standard deviations of the series; no path goes further


def propagate(
    moments: MomentMap,
    past: Array,
    known: Array,
    lags: tuple[int, ...],
    doubt: Array | None = None,
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
    doubt : ndarray, (n, P, P), or None
        Covariance of the values before the paths, where some are guesses. The covariance that
        is returned is then that of these values and of the path, (n, P + H, P + H).
    """
    n, horizon, _ = known.shape
    length, back = past.shape[1], np.array(lags)
    path = np.concatenate([past, np.zeros((n, horizon))], axis=1)
    before = 0 if doubt is None else length
    cov = np.zeros((n, before + horizon, before + horizon))
    if doubt is not None:
        cov[:, :length, :length] = doubt
    size = back.size + known.shape[2]
    for k in range(horizon):
        steps = before + k - back  # negative: before the path, and known
        ahead = np.flatnonzero(steps >= 0)
        steps = steps[ahead]
        state = np.zeros((n, size, size))
        state[:, ahead[:, None], ahead] = cov[:, steps[:, None], steps]
        result = moments(np.hstack([path[:, length + k - back], known[:, k]]), state)
        slope = result.slope[:, ahead]
        path[:, length + k] = _bounded(result.mean)
        now = before + k
        with_past = np.einsum("nts,ns->nt", cov[:, :now, steps], slope)
        # What the past explains is the least that the variance can be.
        explained = np.einsum("ns,ns->n", with_past[:, steps], slope)
        variance = np.maximum(result.variance, explained)
        shrink = LIMIT / np.maximum(np.sqrt(variance), LIMIT)
        cov[:, now, :now] = cov[:, :now, now] = shrink[:, None] * with_past
        cov[:, now, now] = shrink**2 * variance
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
    transform : ValueTransform
        Of the series whose differences are taken.
    differences : Differences
    center, scale : float
        Of the differences.
    """

    model: Any
    lags: tuple[int, ...]
    transform: ValueTransform
    differences: Differences
    center: float
    scale: float

    def gaussian(
        self,
        history: Array,
        known: Array,
        method: str,
        *,
        with_cov: bool = False,
        doubt: Array | None = None,
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
        doubt : ndarray, (n, T, T), or None
            Covariance of the last values of the transformed series, where some are guesses;
            "naive" forecasts leave it out.
        """
        n, horizon, _ = known.shape
        moments = None if method == "naive" else moment_map(self.model, method)
        levels, past = self._prepared(history)
        matrix = self.differences.responses(horizon)
        mean, variance = np.empty((2, n, horizon))
        kept = np.empty((n, horizon, horizon)) if with_cov else None
        size = 2 * (horizon + levels.shape[1]) ** 2 + (len(self.lags) + known.shape[2]) ** 2
        for part in batches(n, 4 * size):
            if moments is None:
                path, own = follow_means(self.model, past[part], known[part], self.lags)
                changes = own[:, :, None] * np.eye(horizon)
                cov = self.scale**2 * (matrix @ changes @ matrix.T)
            elif doubt is None:
                path, changes = propagate(moments, past[part], known[part], self.lags)
                cov = self.scale**2 * (matrix @ changes @ matrix.T)
            else:
                path, changes, cov = self._doubtful(moments, past[part], known[part], doubt[part])
            _warn_of_growth(np.stack([path, np.sqrt(np.einsum("nhh->nh", changes))]))
            mean[part] = self._restored(levels[part], path)
            variance[part] = np.maximum(np.einsum("nhh->nh", cov), 0.0)
            if kept is not None:
                kept[part] = 0.5 * (cov + cov.transpose(0, 2, 1))
        return Forecasts(mean, variance, self.transform, kept)

    def _doubtful(
        self, moments: MomentMap, past: Array, known: Array, doubt: Array
    ) -> tuple[Array, Array, Array]:
        """Path, its covariance and that of its levels, where levels before it are uncertain.

        The last levels, from which the path is restored, go along as values that no lag sees.
        """
        order, size = self.differences.order, self.differences.order + self.lags[-1]
        horizon = known.shape[1]
        doubt = doubt[:, doubt.shape[1] - size :, doubt.shape[1] - size :]
        changes = self.differences.apply(np.eye(size)).T / self.scale  # of the levels
        joint = np.vstack([np.eye(size)[size - order :], changes])
        anchored = np.hstack([np.zeros((len(past), order)), past])
        path, cov = propagate(moments, anchored, known, self.lags, joint @ doubt @ joint.T)
        restored = np.hstack(
            [
                self.differences.restore(np.eye(order), np.zeros((order, horizon))).T,
                np.zeros((horizon, self.lags[-1])),
                self.scale * self.differences.responses(horizon),
            ]
        )
        return path, cov[:, -horizon:, -horizon:], restored @ cov @ restored.T

    def sample(self, history: Array, known: Array, n_paths: int, rng: Any) -> Array:
        """Paths (n, n_paths, H) of the transformed series."""
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
        return paths.reshape(n, n_paths, horizon)

    def _prepared(self, history: Array) -> tuple[Array, Array]:
        """The end of the transformed series, and its differences as the model sees them."""
        levels = history[:, history.shape[1] - self.differences.order - self.lags[-1] :]
        levels = self.transform.of(levels)
        return levels, (self.differences.apply(levels) - self.center) / self.scale

    def _restored(self, levels: Array, path: Array) -> Array:
        return self.differences.restore(levels, self.center + self.scale * path)
