"""Hamiltonian Monte Carlo for a batch of chains that share one step size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Density = Callable[[Array], tuple[Array, Array]]  # (C, ...) -> log density (C,), slope (C, ...)


@dataclass(frozen=True)
class Chains:
    """Where C chains are, with the log density and its slope there."""

    position: Array  # (C, ...)
    value: Array  # (C,)
    slope: Array  # (C, ...)


def start(density: Density, position: Array) -> Chains:
    value, slope = density(position)
    return Chains(position, value, slope)


def move(
    density: Density, chains: Chains, step: float, n_steps: int, rng: np.random.Generator
) -> tuple[Chains, Array]:
    """One trajectory of `n_steps` leapfrog steps for each chain, and how likely each is taken."""
    axes = tuple(range(1, chains.position.ndim))
    momentum = rng.standard_normal(chains.position.shape)
    energy = chains.value - 0.5 * (momentum**2).sum(axis=axes)
    position, slope = chains.position, chains.slope
    for _ in range(n_steps):
        momentum = momentum + 0.5 * step * slope
        position = position + step * momentum
        value, slope = density(position)
        momentum = momentum + 0.5 * step * slope
    change = value - 0.5 * (momentum**2).sum(axis=axes) - energy
    probability = np.exp(np.minimum(np.where(np.isfinite(change), change, -np.inf), 0.0))
    taken = rng.uniform(size=len(probability)) < probability
    wide = taken.reshape(-1, *(1,) * len(axes))
    moved = Chains(
        np.where(wide, position, chains.position),
        np.where(taken, value, chains.value),
        np.where(wide, slope, chains.slope),
    )
    return moved, probability


class StepSize:
    """Dual averaging towards an acceptance rate [Hoffman, Gelman 2014, 3.2]."""

    def __init__(self, step: float, target: float = 0.8) -> None:
        self.target = target
        self.shrink = np.log(10.0 * step)
        self.current = self.settled = step
        self.count, self.error, self._log = 0, 0.0, np.log(step)

    def update(self, acceptance: float) -> None:
        self.count += 1
        rate = 1.0 / (self.count + 10.0)
        self.error = (1.0 - rate) * self.error + rate * (self.target - acceptance)
        log = self.shrink - np.sqrt(self.count) / 0.05 * self.error
        weight = self.count**-0.75
        self._log = weight * log + (1.0 - weight) * self._log
        self.current, self.settled = float(np.exp(log)), float(np.exp(self._log))


def effective_sample_size(draws: Array) -> Array:
    """How many independent draws (C, T, ...) of C chains are worth, for each quantity.

    Autocorrelations are summed in pairs while the sums are positive and fall [Geyer 1992], and
    chains that disagree count for less.
    """
    n_chains, length = draws.shape[:2]
    flat = draws.reshape(n_chains, length, -1)
    total = n_chains * length
    if length < 4:
        return np.full(draws.shape[2:], float(n_chains))
    centred = flat - flat.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * length, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :length] / length
    within = covariance[:, 0].mean(axis=0) * length / (length - 1.0)
    variance = within * (length - 1.0) / length
    if n_chains > 1:
        variance = variance + flat.mean(axis=1).var(axis=0, ddof=1)
    still = variance <= 0  # it never moves, so one draw says all
    lags = 1.0 - (within - covariance.mean(axis=0)) / np.where(still, 1.0, variance)
    lags[0] = 1.0
    pairs = lags[: length // 2 * 2].reshape(length // 2, 2, -1).sum(axis=1)
    pairs = np.minimum.accumulate(pairs, axis=0)
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    time = np.maximum(2.0 * np.where(positive, pairs, 0.0).sum(axis=0) - 1.0, 1.0 / np.log10(total))
    return np.where(still, total, total / time).reshape(draws.shape[2:])
