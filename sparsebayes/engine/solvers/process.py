"""The evidence of a Gaussian process whose covariance is the kernel itself.

It is the judge of length scales where the kernels of a basis are covariances and the noise is
Gaussian. All functions with one precision, w ~ N(0, I/α), make a process too, with the covariance
ΦΦᵀ/α; but that is rougher or smoother than the kernel, and so are the scales that suit it.

With a covariance ``C = Σ_j K_j/ρ_j + W⁻¹`` in units of the noise variance σ², the evidence has its
maximum over σ² in closed form, so that scales and the ratios ρ_j of noise and signal are left to
search. Several targets have the same ratios, and a σ² for each. The prior density of an inverse
length scale η, in units of the input's standard deviation, is ``(1 + η)^−price``: it falls from
zero on, so that inputs without effect are left out, and has a long tail. A signal variance above
that of the targets has the right half of a lognormal one: for a function that is nearly linear both
would grow without end, until no function differs from a constant. Rows that are equal count as one
with the mean of their targets: were they kept apart, a set in which rows are repeated by mistake
would seem to have no noise at all.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.model.gaussian import Gaussian

Array = np.ndarray

HUGE = 1e20  # what a minimiser sees where there is no model

_RATIOS = (1.0, 0.1, 1e-2, 1e-4, 1e-6)  # at which a search may begin
# Below the least of these bounds the functions that such a process needs are alike in rounding.
_RATIO_BOUNDS = float(np.log(1e-6)), float(np.log(1e3))


class CovarianceFamily(Protocol):
    """Covariances that depend on a vector θ of log scales.

    Attributes
    ----------
    start : ndarray, (T,)
    narrowest, upper : ndarray, (T,)
        Bounds of θ.
    spread : ndarray, (T,)
        θ at which a length scale is the standard deviation of its input.
    inputs : ndarray, (N, D), or None
        The inputs of the samples; None if the kernels are no covariances.
    """

    start: Array
    narrowest: Array
    upper: Array
    spread: Array

    @property
    def inputs(self) -> Array | None: ...

    def covariances(self, theta: Array, Z: Array) -> list[Array]:
        """Those of each kernel between the rows of Z, (n, n)."""
        ...

    def covariance_slopes(self, theta: Array, Z: Array, slopes: list[Array]) -> Array:
        """``Σ_j Σ_nm slopes_j,nm ∂K_j,nm/∂θ``, (T,)."""
        ...

    def fixed(self, Z: Array) -> Array:
        """The functions without scales at the rows of Z, (n, k)."""
        ...


class ProcessModel:
    """Minus the log evidence of a Gaussian process, up to a constant, with its derivatives.

    The prior on the scales is included. A point is θ, then log ρ of each kernel and, if there
    are functions without scales other than a constant, of all of these together.

    Parameters
    ----------
    sites : Gaussian
    family : CovarianceFamily
    size : int
        The most rows that are looked at, a fixed random choice of the distinct ones.
    price : float
        Of the prior; 0 for none.
    """

    ratios = _RATIOS

    def __init__(
        self, sites: Gaussian, family: CovarianceFamily, size: int, price: float = 0.0
    ) -> None:
        assert family.inputs is not None
        self.family, self.price, self.noise_shape = family, price, sites.noise_shape
        # Sorted, so that the order of samples and inputs does not matter.
        rows, place = np.unique(family.inputs, axis=0, return_inverse=True)
        place = place.ravel()
        weights = np.bincount(place, sites.weights)
        each = sites.weighted_target.reshape(len(place), -1).T
        targets = np.array([np.bincount(place, one) / weights for one in each])  # (T, n)
        by_target = np.argsort(targets[0], kind="stable")
        chosen = by_target[np.random.default_rng(0).permutation(len(rows))[:size]]
        self.rows, self.weights, self.targets = rows[chosen], weights[chosen], targets[:, chosen]
        self.targets -= np.array([[np.average(z, weights=self.weights)] for z in self.targets])
        unit = np.array([np.sqrt(np.mean(z**2)) for z in self.targets])
        self.energy = chosen.size * float(np.mean(unit**2))
        self.n_targets = unit.size
        if self.energy > 0:  # a target may be constant at the rows that are looked at
            self.targets, unit = self.targets[unit > 0], unit[unit > 0]
        else:
            unit = np.ones(unit.size)
        self.targets /= unit[:, None]  # so that value and prior have no unit
        self.units = unit
        self.noise_rate = sites.noise_rate / unit**2
        self.noise_variance = (
            None if sites.noise_variance is None else (sites.noise_variance / unit**2)
        )
        fixed = family.fixed(self.rows)
        fixed = fixed[:, np.ptp(fixed, axis=0) > 0] if len(fixed) else fixed
        self.fixed = fixed / np.sqrt(np.mean(fixed**2, axis=0)) if fixed.size else None
        self.n_groups = len(family.covariances(family.start, self.rows[:1]))
        self.n_groups += self.fixed is not None
        self.bounds = [
            *zip(family.narrowest, family.upper, strict=True),
            *[_RATIO_BOUNDS] * self.n_groups,
        ]

    def begin(self, theta: Array, ratio: float) -> Array:
        """The point with this θ and ratio for all kernels."""
        return np.concatenate([theta, np.full(self.n_groups, np.log(ratio))])

    def misfits(self, point: Array) -> Array | None:
        if self.n_targets == 1 or len(self.targets) < self.n_targets:
            return None
        _, factor = self._covariance(point)
        return None if factor is None else self._energies(factor)[1] * self.units**2

    def _covariance(self, point: Array) -> tuple[list[Array], Array | None]:
        """Its parts in units of the signal, and a Cholesky factor of C."""
        theta = point[: self.family.start.size]
        parts = self.family.covariances(theta, self.rows)
        if self.fixed is not None:
            parts.append(self.fixed @ self.fixed.T)
        inverse = np.exp(-point[theta.size :])
        total = sum(scale * part for scale, part in zip(inverse, parts, strict=True))
        total.flat[:: len(self.weights) + 1] += 1.0 / self.weights
        return parts, linalg.cholesky(total)

    def _energies(self, factor: Array) -> tuple[Array, Array]:
        """``C⁻¹z``, (n, T), and ``zᵀC⁻¹z``, (T,)."""
        solved = linalg.solve(factor, self.targets.T)
        products = [float(z @ one) for z, one in zip(self.targets, solved.T, strict=True)]
        return solved, np.array(products)

    def __call__(self, point: Array) -> tuple[float, Array]:
        theta, size = point[: self.family.start.size], len(self.weights)
        inverse = np.exp(-point[theta.size :])  # signal over noise
        parts, factor = self._covariance(point)
        if factor is None:
            return HUGE, np.zeros(point.size)
        solved, energy = self._energies(factor)
        energy = energy + 2.0 * self.noise_rate
        if self.noise_variance is None:
            count = size + 2.0 * self.noise_shape
            variance = energy / count
            value = 0.5 * count * float(np.log(variance).mean())
        else:
            variance = self.noise_variance
            value = 0.5 * float((energy / variance).mean())
        value += 0.5 * linalg.log_det(factor)
        # Log signal variance, where it is larger than that of the targets, which is 1.
        excess = np.maximum(np.log(np.outer(inverse, variance)), 0.0)
        value += 0.5 * self.price * float((excess**2).sum(axis=0).mean())
        share = 1.0 / variance
        if self.noise_variance is None:  # which moves with all parameters
            share = share + 2.0 * self.price * excess.sum(axis=0) / energy
        by_total = 0.5 * (linalg.inverse(factor) - linalg.mean_product(solved, share * solved))
        by_ratio = [
            -scale * float(np.vdot(by_total, part)) - self.price * float(over.mean())
            for scale, part, over in zip(inverse, parts, excess, strict=True)
        ]
        slopes = [scale * by_total for scale in inverse[: len(inverse) - (self.fixed is not None)]]
        by_theta = self.family.covariance_slopes(theta, self.rows, slopes)
        inverse_scale = np.exp(self.family.spread - theta)
        value += self.price * float(np.log1p(inverse_scale).sum())
        by_theta = by_theta - self.price * inverse_scale / (1.0 + inverse_scale)
        return value, np.concatenate([by_theta, by_ratio])
