"""Priors for sampling: which functions are in the model, and how precise the weight of each is.

A function is out of the model (α = ∞) or in it, and then ``x = log(α/g)`` with ``g = βφᵀWφ`` has a
proper density on an interval, the slab. In these units x = 0 is where noise and prior say equally
much of a weight, whatever the units of targets and functions are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from sparsebayes.engine.model.prior import Separable

Array = np.ndarray


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
        return self.point or self.prior.relative

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
        return self.prior.log_mass(self.low, self.high, g, power=float(self.per_alpha))


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
