"""Chains for labels: Gaussian ones, given variables that make the likelihood Gaussian.

With ``ω ~ PG(w, f)`` a logistic likelihood of weight w is ``∝ exp(κf − ½ωf²)`` for all f, where
``κ = ±w/2`` [PSW13, theorem 1]. So a sweep has two halves: ω given f, and then the functions, their
precisions and weights given ω, which is a regression with known, unequal noise. With more than two
classes the softmax is a logit of each f in turn, less ``log Σ exp`` of the others [HH06].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit, log_softmax, logsumexp

from sparsebayes.engine.mcmc.chain import Chain, Draw, ModelSampler
from sparsebayes.engine.mcmc.polya_gamma import draw_polya_gamma
from sparsebayes.engine.mcmc.posterior import slice_sample
from sparsebayes.engine.mcmc.products import SiteProducts

Array = np.ndarray

_STEP = 0.5  # in the logarithm of the size of f, at first


@dataclass(frozen=True, eq=False)
class Labels:
    """The logistic likelihood of labels, or the softmax.

    Attributes
    ----------
    inside : ndarray of bool, (N, K)
        Whether a sample is of a class; of two classes there is one column, for the second.
    weights : ndarray, (N,)
        How often each sample counts.
    """

    inside: Array
    weights: Array

    @property
    def outputs(self) -> int:
        return self.inside.shape[1]

    def rows(self, part: slice) -> Labels:
        """Some of the samples."""
        return Labels(self.inside[part], self.weights[part])

    def margin(self, k: int, f: Array) -> Array:
        """The log odds of class k against the others given f, (N, K): ``f_k − log Σ exp f_l``."""
        if self.outputs == 1:
            return f[:, 0].copy()
        margin: Array = f[:, k] - logsumexp(np.delete(f, k, axis=1), axis=1)
        return margin

    def draw_sites(self, k: int, f: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """ω and pull of output k given f, (N, K): it sees ``∝ exp(pull f_k − ½ω f_k²)``."""
        margin = self.margin(k, f)
        omega = draw_polya_gamma(self.weights, margin, rng)
        return omega, self.weights * (self.inside[:, k] - 0.5) + omega * (f[:, k] - margin)

    def log_odds_likelihood(self, k: int, margin: Array) -> float:
        """Of all samples, up to what does not depend on f_k."""
        signed = np.where(self.inside[:, k], margin, -margin)
        return float(self.weights @ log_expit(signed))

    def log_likelihood(self, f: Array) -> Array:
        """Of each sample, as often as it counts; f (..., N, K), the result (..., N)."""
        if self.outputs == 1:
            logs = log_expit(np.where(self.inside, f, -f))[..., 0]
        else:
            logs = np.where(self.inside, log_softmax(f, axis=-1), 0.0).sum(axis=-1)
        return self.weights * logs


class LabelSampler(ModelSampler):
    """A chain of each output, moved in turns; f is 0 at first.

    Parameters
    ----------
    chains : sequence of Chain
        One for each output, at their starts; they share one stream of random numbers, and their
        noise variance is 1.
    matrix : ndarray, (N, M)
        The functions, scaled as the chains see them.
    labels : Labels
    """

    def __init__(self, chains: Sequence[Chain], matrix: Array, labels: Labels) -> None:
        self.chains, self.labels = list(chains), labels
        self._matrix, self._rng = matrix, chains[0].rng
        self.f = np.zeros(labels.inside.shape)
        self._weights = [np.empty(0)] * len(self.chains)

    def sweep(self) -> None:
        self._move(lambda chain: chain.sweep())

    def warm(self) -> None:
        self._move(lambda chain: chain.warm())

    def _move(self, move: Callable[[Chain], None]) -> None:
        for k, chain in enumerate(self.chains):
            omega, pull = self.labels.draw_sites(k, self.f, self._rng)
            chain.observe(SiteProducts(self._matrix, omega, pull))
            move(chain)
            self._weights[k] = chain.draw_weights()
            self.f[:, k] = self._matrix[:, chain.active_set.active] @ self._weights[k]
            self._rescale(k)

    def _rescale(self, k: int) -> None:
        """Draw a common factor of the weights of an output, with ω integrated out.

        Given ω, f moves in small steps only, and where the classes can be told apart its size is
        what the labels say least about. With weights times c the α go along, as α/c²: then
        the prior of the weights and the volume cancel, and the likelihood and the slab decide.
        """
        chain = self.chains[k]
        active_set, slab = chain.active_set, chain.posterior.slab
        if slab.point or not active_set.size:
            return
        low, high = slab.ends
        active, x = active_set.active.copy(), np.clip(active_set.x, low, high)  # but for rounding
        f, margin = self.f[:, k].copy(), self.labels.margin(k, self.f)
        rates = chain.beta * chain.posterior.norms[active]

        def density(log_factor: float) -> float:
            moved = x - 2.0 * log_factor
            if moved.min() < low or moved.max() > high:
                return -np.inf
            moving = margin + (np.exp(log_factor) - 1.0) * f
            likelihood = self.labels.log_odds_likelihood(k, moving)
            return likelihood + float(slab.log_density(moved, rates).sum())

        log_factor = slice_sample(density, 0.0, _STEP, self._rng)
        self.f[:, k] = np.exp(log_factor) * f
        self._weights[k] = np.exp(log_factor) * self._weights[k]
        active_set.set(active, x - 2.0 * log_factor)

    @property
    def status(self) -> str:
        return f"functions {' '.join(str(chain.active_set.size) for chain in self.chains)}"

    def draw(self) -> Draw:
        """The state; functions of output k are numbered from kM on.

        Its density is that of labels, active sets, x and weights together, the latter in units in
        which ``φᵀWφ = 1``.
        """
        density = float(self.labels.log_likelihood(self.f).sum())
        parts = []
        for k, (chain, weights) in enumerate(zip(self.chains, self._weights, strict=True)):
            active_set, posterior = chain.active_set, chain.posterior
            active, x = active_set.active.copy(), active_set.x.copy()
            units = np.sqrt(posterior.norms[active])
            density += posterior.log_prior(active_set, chain.beta)
            density += 0.5 * float((x - np.log(2.0 * np.pi) - np.exp(x) * weights**2).sum())
            number = k * posterior.n_functions + active
            parts.append((number, x, active_set.mean / units, weights / units))
        index, x, means, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Draw(index, x, means, weights, 1.0, density)
