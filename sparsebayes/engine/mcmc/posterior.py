"""The distribution that samplers draw from: which functions, their precisions, the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.mcmc.active_set import ActiveSet
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.mcmc.products import Products

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class SparsePosterior:
    """The posterior of a linear model: which functions are in it, their α, and the noise.

    Attributes
    ----------
    products : Products
        Of functions scaled to ``φᵀWφ = 1``.
    norms : ndarray, (M,)
        ``φᵀWφ`` as it was.
    n_samples : float
    slab : Slab
    inclusion : InclusionPrior
    noise : NoisePrior
    """

    products: Products
    norms: Array
    n_samples: float
    slab: Slab
    inclusion: InclusionPrior
    noise: NoisePrior

    @property
    def n_functions(self) -> int:
        return self.norms.size

    def active_set(self) -> ActiveSet:
        """The empty one."""
        return ActiveSet(self.products)

    @property
    def first_beta(self) -> float:
        """A β to begin with: the fixed one, or that of a tenth of the targets' mean square."""
        if self.noise.fixed is not None:
            return 1.0 / self.noise.fixed
        energy = self.products.energy
        return 10.0 * self.n_samples / energy if energy > 0 else 1.0

    @property
    def collapses(self) -> bool:
        """Whether the noise can be integrated out."""
        return self.noise.fixed is None and self.slab.noise_free

    @property
    def shape(self) -> float:
        """Of the gamma distribution of β given the rest."""
        return self.noise.shape + 0.5 * self.n_samples

    def gain(self, beta: float | None) -> Gain:
        """What functions add to the log likelihood, given β; for None it is integrated out."""
        return Gain(beta, self.shape, self.noise.scale)

    def draw_beta(self, active_set: ActiveSet, beta: float, rng: np.random.Generator) -> float:
        """β given the active set and x; the weights are integrated out."""
        if self.noise.fixed is not None:
            return beta
        rate = self.noise.scale + 0.5 * active_set.residual
        if self.slab.noise_free:
            return float(rng.gamma(self.shape) / rate)
        norms = self.norms[active_set.active]

        def density(log_beta: float) -> float:
            value = np.exp(log_beta)
            slab = self.slab.log_density(active_set.x, value * norms).sum()
            return float(self.shape * log_beta - rate * value + slab)

        return float(np.exp(slice_sample(density, float(np.log(beta)), 1.0, rng)))

    def log_joint(self, active_set: ActiveSet, beta: float) -> float:
        """Log density of data, active set, x and σ², for one that was just `set`."""
        x = active_set.x
        likelihood = 0.5 * self.n_samples * np.log(beta / (2.0 * np.pi))
        likelihood += 0.5 * (float(x.sum()) - active_set.log_det - beta * active_set.residual)
        return float(likelihood + self.log_prior(active_set, beta))

    def log_prior(self, active_set: ActiveSet, beta: float) -> float:
        """Log density of active set, x and σ²."""
        norms = self.norms[active_set.active]
        slab = float(self.slab.log_density(active_set.x, beta * norms).sum())
        sizes = self.inclusion.log_prior(active_set.size, self.n_functions)
        return float(slab + sizes + self.noise.log_density(1.0 / beta))


@dataclass(frozen=True)
class Gain:
    """What a function adds to the log likelihood of an active set, given β or whatever β is.

    Without β, that is with ``β ~ Gamma(shape, scale + ½ residual)`` integrated out.
    """

    beta: float | None
    shape: float = 0.0
    scale: float = 0.0

    def __call__(self, x: Array | float, s: Array, q2: Array, residual: float) -> Array:
        """Elementwise; minus ``½ log(1 + s/ρ)`` and what the drop of the residual is worth."""
        pivot = np.exp(x) + s
        drop = q2 / pivot
        if self.beta is not None:
            fit = 0.5 * self.beta * drop
        else:
            rate = max(2.0 * self.scale + residual, np.finfo(np.float64).tiny)
            fit = -self.shape * np.log1p(-np.minimum(drop / rate, 1.0 - 1e-15))
        return fit + 0.5 * (x - np.log(pivot))


def slice_sample(
    density: Callable[[float], float], x: float, width: float, rng: np.random.Generator
) -> float:
    """One draw of a real number by stepping out and shrinking [Neal 2003].

    From where next to nothing is likely one would step out for ever, hence at most 32 steps,
    split at random between the two sides.
    """
    level = density(x) + np.log(1.0 - rng.random())
    low = x - width * rng.random()
    high = low + width
    down = int(rng.integers(32))
    up = 31 - down
    while down > 0 and density(low) > level:
        low, down = low - width, down - 1
    while up > 0 and density(high) > level:
        high, up = high + width, up - 1
    while True:
        new = rng.uniform(low, high)
        if density(new) >= level:
            return float(new)
        low, high = (new, high) if new < x else (low, new)
