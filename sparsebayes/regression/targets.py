"""Targets as the engine has them: centred, without those that are constant, in units of noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._rvm.options import Noise
from sparsebayes.engine import Gaussian
from sparsebayes.engine.model.sums import Sums
from sparsebayes.engine.model.unequal_noise import UnequalNoise

Array = np.ndarray

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Targets:
    """One target, or several as the columns of an array.

    Attributes
    ----------
    offset : float, or ndarray, (K,)
        Their means.
    sites : Gaussian
        Those that vary, centred; one at least.
    varying : ndarray of int, (T,), or None
        Which of the K targets these are; None for a single one.
    rounding : ndarray, (K,), or float
        What centring may leave of a constant target.
    """

    offset: float | Array
    sites: Gaussian
    varying: Array | None
    rounding: float | Array

    def filled(self, values: Array) -> Array:
        """A last axis of all targets, from one of those that vary; 0 for the others."""
        if self.varying is None:
            return values
        full = np.zeros((*values.shape[:-1], np.size(self.offset)))
        full[..., self.varying] = values
        return full

    def spread(self, values: Array | float, sites: Gaussian) -> Array | float:
        """What each of the K targets has of a value per unit of noise; 0 where nothing varies.

        `sites` are those after the fit, whose levels count.
        """
        if self.varying is None:
            return values
        values = np.asarray(values)
        if values.ndim < 2:
            values = values[..., None] * np.ones(self.varying.size)
        assert sites.levels is not None
        return self.filled(values * sites.levels)

    def noise_variances(self, sites: Gaussian, variance: float) -> float | Array:
        """That of each target, from the common one in units of the levels."""
        if self.varying is None:
            return variance
        units = np.asarray(self.spread(1.0, sites))
        return np.where(units > 0, variance * units**2, np.maximum(self.rounding, _EPS) ** 2)


def as_targets(
    y: Array, counts: Array, noise: Noise, unequal: UnequalNoise | None = None
) -> Targets:
    """Targets (N,) or (N, K) that count so often."""
    several = y.ndim == 2
    columns = np.ascontiguousarray(y.T) if several else y[None]  # a row for each target
    offset = np.array([np.average(one, weights=counts) for one in columns])
    centred = (columns - offset[:, None]).T
    largest = np.abs(centred).max(axis=0)
    # Rounding leaves this much of a constant target after centring; it is not a signal.
    rounding = 4.0 * _EPS * np.maximum(np.abs(offset), largest)
    varying = np.flatnonzero(largest > rounding)
    variance = noise.variance
    if not varying.size:
        varying = np.array([0])
        centred = np.zeros_like(centred)
        variance = _of_constants(noise, float(rounding[0]), float(counts.sum()))
    common, levels = variance, None
    target = np.ascontiguousarray(centred[:, 0])
    if several:
        target = centred[:, varying]
        if variance is None:
            levels = np.sqrt(counts @ target**2 / counts.sum())
        common, levels = _levels(variance, levels, varying, offset.shape)
        target = target / levels
    common = None if common is None else float(common)
    sites = Gaussian(target, counts, common, noise.shape, noise.rate, levels, unequal)
    if several:
        return Targets(offset, sites, varying, rounding)
    return Targets(float(offset[0]), sites, None, float(rounding[0]))


def summed_targets(sums: Sums, noise: Noise, *, several: bool) -> Targets:
    """The same for targets of which sums are known."""
    sums = sums.centred()
    offset, spread = sums.shift, np.sqrt(np.maximum(sums.squares, 0.0) / sums.count)
    rounding = 4.0 * _EPS * np.maximum(np.abs(offset), spread)
    varying = np.flatnonzero(spread > rounding)
    variance = noise.variance
    if not varying.size:
        varying = np.array([0])
        sums = replace(
            sums, squares=np.zeros_like(sums.squares), moments=np.zeros_like(sums.moments)
        )
        variance = _of_constants(noise, float(rounding[0]), sums.count)
    common, levels = variance, None
    if several:
        levels = spread[varying] if variance is None else None
        common, levels = _levels(variance, levels, varying, offset.shape)
    sites = sums.sites(
        offset,
        varying if several else None,
        noise_variance=None if common is None else float(common),
        noise_shape=noise.shape,
        noise_rate=noise.rate,
        levels=levels,
    )
    if several:
        return Targets(offset, sites, varying, rounding)
    return Targets(float(offset[0]), sites, None, float(rounding[0]))


def _of_constants(noise: Noise, rounding: float, count: float) -> float | Array:
    """The noise variance where all targets are constant: that of rounding, or of its prior."""
    if noise.variance is not None:
        return noise.variance
    prior = 2.0 * noise.rate / (count + 2.0 * noise.shape)
    return max((rounding or _EPS) ** 2, prior)


def _levels(
    variance: float | Array | None, levels: Array | None, varying: Array, shape: tuple[int, ...]
) -> tuple[float | None, Array]:
    """The common noise variance, if given, and the levels of several targets in units of it."""
    if variance is not None:
        levels = np.sqrt(np.broadcast_to(variance, shape)[varying])
    assert levels is not None
    typical = float(np.exp(np.mean(np.log(levels))))
    return None if variance is None else typical**2, levels / typical


def relative_weights(weights: Array, targets: Targets) -> Array:
    """Those of each target in units of its spread, (S, K)."""
    if weights.ndim == 1:
        return weights[:, None]
    spread = np.ones(weights.shape[1])
    energies = targets.sites.energies / targets.sites.size
    levels = targets.sites.levels
    assert levels is not None and targets.varying is not None
    spread[targets.varying] = np.sqrt(np.where(energies > 0, energies, 1.0)) * levels
    return weights / spread


def given_variances(noise: Any, y: Array) -> float | Array:
    """The noise variance as it was given, one for each of several targets."""
    given = np.asarray(noise, dtype=np.float64)
    return float(given) if y.ndim == 1 else np.broadcast_to(given, y.shape[1:]).copy()
