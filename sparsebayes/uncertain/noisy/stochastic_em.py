"""Stochastic EM for noisy inputs: sample the inputs, then maximise over the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.mcmc.hamiltonian import StepSize, effective_sample_size, move, start
from sparsebayes.engine.noisy_gp import InputPosterior, log_evidence
from sparsebayes.uncertain.noisy.space import Data, Space, climb

Array = np.ndarray

CANDIDATES = 16  # places tried for a point in one move
LENGTH = (0.5, 2.0)  # of trajectories, in standard deviations of the prior of ξ
LONGEST = 40  # leapfrog steps of a trajectory
WARM_UP = 40  # moves before the first draw, and before the last ones
MOVES = (2, 4)  # moves of each chain in an E-step, of the first turns and of the last
CLIMB = 5  # steps of the optimiser in an M-step; the next draws move its target anyway
WINDOW = 10  # turns that are compared and averaged
FINE = 1e-3


class Sampler:
    """Chains of inputs, each moved by a Hamiltonian trajectory and by single points in turn."""

    def __init__(self, posterior: InputPosterior, xi: Array, rng: np.random.Generator) -> None:
        self.rng = rng
        self.xi = xi
        self.step = StepSize(0.2)
        self.posterior = posterior

    def advance(self, n_moves: int, *, adapt: bool) -> tuple[Array, Array, float]:
        """Draws of ξ (C, T, N, D), their log densities (C, T), and the acceptance rate."""
        draws, values, rates = [], [], []
        chains = start(self.posterior, self.xi)
        for _ in range(n_moves):
            size = self.step.current if adapt else self.step.settled
            steps = int(np.clip(round(self.rng.uniform(*LENGTH) / size), 1, LONGEST))
            chains, probability = move(self.posterior, chains, size, steps, self.rng)
            rates.append(float(probability.mean()))
            if adapt:
                self.step.update(rates[-1])
            swept = self.posterior.sweep(chains.position, CANDIDATES, self.rng)
            chains = start(self.posterior, swept)
            draws.append(chains.position)
            values.append(chains.value)
        self.xi = chains.position
        return np.stack(draws, axis=1), np.stack(values, axis=1), float(np.mean(rates))


@dataclass(frozen=True)
class Sampled:
    """The end of the search: what was learned, draws of the inputs, and how the sampler did."""

    vector: Array
    inputs: Array  # (C, T, N, D)
    values: Array  # (C, T), log densities
    path: Array  # mean log evidence of the draws in each turn
    vectors: Array  # what was learned after each turn
    acceptance: float
    effective: Array  # (N, D)
    step: float
    converged: bool


def expected_evidence(
    space: Space, data: Data, xi: Array
) -> Callable[[Array], tuple[float, Array]]:
    """The mean of ``log p(y | X_τ, θ)`` over sets ξ (T, N, D), and its slope (QC04 4.38)."""

    def objective(v: Array) -> tuple[float, Array]:
        moved = np.sqrt(space.input_factor(v)) * data.spread * xi
        value, by = log_evidence(data.X + moved, data.y, space.theta(v))
        factor = 0.5 * (by.inputs * moved).sum(axis=(1, 2))
        slope = space.gather(
            by.amplitude.mean(), by.scales.mean(axis=0), by.noise.mean(), factor.mean()
        )
        return float(value.mean()), slope

    return objective


def maximise(
    space: Space, vector: Array, data: Data, xi: Array, max_iter: int
) -> tuple[Array, float]:
    """An M-step, from a vector on."""
    objective = expected_evidence(space, data, xi)
    return climb(objective, vector, space.bounds, max_iter, FINE)[:2]


def learn(
    space: Space,
    vector: Array,
    data: Data,
    *,
    n_chains: int,
    n_samples: int,
    thin: int,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    report: Callable[[int, float, float], None],
) -> Sampled:
    """Turns of sampling and maximising, then draws at the mean of the last turns."""

    def posterior(v: Array) -> InputPosterior:
        spread = np.sqrt(space.input_factor(v)) * data.spread
        return InputPosterior(data.y, data.X, spread, space.theta(v))

    shape = (n_chains, *data.X.shape)
    sampler = Sampler(posterior(vector), rng.standard_normal(shape), rng)
    sampler.advance(WARM_UP, adapt=True)
    vectors, path = [vector], list[float]()
    converged = not vector.size
    while not converged and len(path) < max_iter:
        done = len(path)
        moves = round(np.interp(done, [0, 3 * WINDOW], MOVES))
        xi = sampler.advance(moves, adapt=True)[0].reshape(-1, *data.X.shape)
        vector, value = maximise(space, vector, data, xi, CLIMB)
        sampler.posterior = posterior(vector)
        vectors.append(vector)
        path.append(value)
        report(done + 1, space.theta(vector).noise, value)
        converged = settled(np.array(vectors), tol)
    if path:
        vector = np.mean(vectors[-WINDOW:], axis=0)
    sampler.posterior = posterior(vector)
    sampler.advance(WARM_UP, adapt=True)
    length = -(-n_samples // n_chains)
    draws, values, acceptance = sampler.advance(length * thin, adapt=False)
    effective = effective_sample_size(draws)
    inputs = sampler.posterior.inputs(draws[:, thin - 1 :: thin])
    return Sampled(
        vector,
        inputs,
        values[:, thin - 1 :: thin],
        np.array(path),
        np.array(vectors),
        acceptance,
        effective,
        sampler.step.settled,
        bool(converged),
    )


def settled(vectors: Array, tol: float) -> bool:
    """Whether the last turns have no drift that stands out from their scatter."""
    if len(vectors) <= 2 * WINDOW:
        return False
    last, before = vectors[-WINDOW:], vectors[-2 * WINDOW : -WINDOW]
    drift = np.abs(last.mean(axis=0) - before.mean(axis=0))
    scatter = np.sqrt((last.var(axis=0) + before.var(axis=0)) / WINDOW)
    return bool(np.all(drift <= np.maximum(tol, scatter)))
