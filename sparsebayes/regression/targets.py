"""Targets as the engine has them: centred, without those that are constant, in units of noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._rvm.options import Noise
from sparsebayes.engine import Gaussian
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
        if variance is None:
            least = float(rounding[0] or _EPS) ** 2
            prior = 2.0 * noise.rate / (float(counts.sum()) + 2.0 * noise.shape)
            variance = max(least, prior)
    common: float | None
    if not several:
        common = None if variance is None else float(variance)
        levels = None
        target = np.ascontiguousarray(centred[:, 0])
    else:
        target = centred[:, varying]
        if variance is None:
            levels = np.sqrt(counts @ target**2 / counts.sum())
        else:
            levels = np.sqrt(np.broadcast_to(variance, offset.shape)[varying])
        typical = float(np.exp(np.mean(np.log(levels))))
        common = None if variance is None else typical**2
        levels = levels / typical
        target = target / levels
    sites = Gaussian(target, counts, common, noise.shape, noise.rate, levels, unequal)
    if several:
        return Targets(offset, sites, varying, rounding)
    return Targets(float(offset[0]), sites, None, float(rounding[0]))
