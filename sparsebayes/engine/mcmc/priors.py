"""Priors for sampling: which functions are in the model, and how precise the weight of each is.

A function is out of the model (α = ∞) or in it, and then ``x = log(α/g)`` with ``g = βφᵀWφ`` has a
proper density on an interval, the slab. In these units x = 0 is where noise and prior say equally
much of a weight, whatever the units of targets and functions are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln

from sparsebayes.engine.model.priors import Flat, Gamma, Separable

Array = np.ndarray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(256)


@dataclass(frozen=True)
class Slab:
    """The density of x for a function in the model: ``exp f(α)`` on an interval, normalised.

    Attributes
    ----------
    prior : Separable
        Where f comes from; per unit of log α.
    low, high : float
        The interval, in terms of α/g. If they are equal, α/g is that number.
    per_alpha : bool
        Whether the density is ``exp f`` per unit of α instead.
    """

    prior: Separable
    low: float
    high: float
    per_alpha: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of x."""
        return float(np.log(self.low)), float(np.log(self.high))

    @property
    def point(self) -> bool:
        """Whether there is one value only."""
        return self.low == self.high

    @property
    def noise_free(self) -> bool:
        """Whether the density of x does not depend on g, hence not on the noise."""
        prior = self.prior
        flat = isinstance(prior, Flat) or (isinstance(prior, Gamma) and prior.a == 0)
        return self.point or flat or prior.relative

    def log_density(self, x: Array | float, g: Array | float) -> Array:
        """For x within the interval; x and g broadcast. If `noise_free`, g does not matter."""
        x = np.asarray(x, dtype=np.float64)
        if self.point:
            return np.zeros(x.shape)
        if self.noise_free:
            return self._shape(x, np.ones(())) - self._common_mass
        mass = self._log_mass(np.asarray(g))  # of each g once, whatever x it meets
        return self._shape(*np.broadcast_arrays(x, g)) - mass

    def _shape(self, x: Array, g: Array) -> Array:
        value = self.prior.derivatives((g * np.exp(x)).ravel(), g.ravel())[0].reshape(x.shape)
        return value + x if self.per_alpha else value

    @cached_property
    def _common_mass(self) -> float:
        return float(self._log_mass(np.ones(())))

    def _log_mass(self, g: Array) -> Array:
        prior = self.prior
        if isinstance(prior, Gamma) and prior.a > 0 and not self.per_alpha:
            # f is relative to its maximum, at α = a/b.
            whole = gammaln(prior.a) - prior.a * (np.log(prior.a) - 1.0)
            return whole + log_gamma_mass(prior.a, prior.b * g * self.low, prior.b * g * self.high)
        low, high = self.ends
        x = low + 0.5 * (high - low) * (_NODES + 1.0)
        value = self._shape(*np.broadcast_arrays(x, g[..., None]))
        top = value.max(axis=-1)
        total = np.exp(value - top[..., None]) @ _WEIGHTS
        return top + np.log(0.5 * (high - low) * total)


def log_gamma_mass(a: float, low: Array, high: Array) -> Array:
    """Log of the mass of ``Gamma(a, 1)`` in an interval, however far out that is."""
    # Each is computed everywhere and used only on its side of a.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        below = [_either(gammainc(a, z), _log_below(a, z)) for z in (low, high)]
        above = [_either(gammaincc(a, z), _log_above(a, z)) for z in (low, high)]
        left = below[1] + np.log(-np.expm1(below[0] - below[1]))
        right = above[0] + np.log(-np.expm1(above[1] - above[0]))
    return np.where(low < a, left, right)


def _either(value: Array, log_value: Array) -> Array:
    """The logarithm of the first, or the second where the first underflows."""
    return np.where(value > 1e-280, np.log(value), log_value)


def _log_below(a: float, z: Array) -> Array:
    """Log of the mass below z, for z much smaller than a."""
    return a * np.log(z) - z - gammaln(a + 1.0) - np.log1p(-z / (a + 1.0))


def _log_above(a: float, z: Array) -> Array:
    """Log of the mass above z, for z much larger than a."""
    return (a - 1.0) * np.log(z) - z - gammaln(a) - np.log1p((1.0 - a) / z)


@dataclass(frozen=True)
class InclusionPrior:
    """How many functions are in the model: each with probability π, π ~ Beta(a, b) or fixed.

    With a = b = 1 every number of functions is equally likely, whatever the size of the basis.

    Attributes
    ----------
    a, b : float
    fixed : float or None
        A given π, instead.
    """

    a: float = 1.0
    b: float = 1.0
    fixed: float | None = None

    def log_prior(self, size: int, total: int) -> float:
        """Of one given set of `size` functions out of `total`."""
        if self.fixed is not None:
            return float(size * np.log(self.fixed) + (total - size) * np.log1p(-self.fixed))
        beta = gammaln(self.a) + gammaln(self.b) - gammaln(self.a + self.b)
        whole = gammaln(self.a + size) + gammaln(self.b + total - size)
        return float(whole - gammaln(self.a + self.b + total) - beta)

    def log_odds(self, size: int, total: int) -> float:
        """Of a set of ``size + 1`` functions to the same set without one of them."""
        if self.fixed is not None:
            return float(np.log(self.fixed) - np.log1p(-self.fixed))
        return float(np.log((self.a + size) / (self.b + total - size - 1)))


@dataclass(frozen=True)
class NoisePrior:
    """σ² is fixed, or inverse-gamma: its density is ``∝ σ^(−2(shape + 1)) exp(−scale/σ²)``."""

    shape: float = 0.0
    scale: float = 0.0
    fixed: float | None = None

    def log_density(self, variance: float) -> float:
        if self.fixed is not None:
            return 0.0
        log = np.log(variance)
        value = -(self.shape + 1.0) * log - self.scale / variance
        if self.shape > 0 and self.scale > 0:
            value += self.shape * np.log(self.scale) - gammaln(self.shape)
        return float(value)
