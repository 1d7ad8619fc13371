"""Inputs imputed by maximising their posterior, with the output noise lowered step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtri
from scipy.stats import qmc

from sparsebayes.engine.noisy_gp import LOG_2PI, log_evidence, precisions
from sparsebayes.uncertain.noisy.mixture import Process
from sparsebayes.uncertain.noisy.space import Data, Space, climb

Array = np.ndarray

HIGHEST, LOWEST = 0.5, 1e-4  # noise variances to anneal between, in units of that of the targets
DRAWS = 128  # inputs that stand for one that was left out
PATIENCE = 4  # levels without a gain that end the choice
FINE = 1e-2  # slope at which the optimiser ends


@dataclass(frozen=True, eq=False)
class Imputed:
    """One level of the annealing: the noise variance, what was learned, ξ, and the objective."""

    noise: float
    space: Space
    vector: Array
    xi: Array
    value: float


def spread_of(space: Space, data: Data) -> Array:
    return np.sqrt(space.factor) * data.spread


def objective(space: Space, data: Data, joint: Array) -> tuple[float, Array]:
    """``log p(y | X, θ) + log p(X)`` less a constant, by θ and ξ together (QC04 4.33)."""
    size = len(space.start)
    vector, xi = joint[:size], joint[size:].reshape(data.X.shape)
    spread = spread_of(space, data)
    value, by = log_evidence((data.X + spread * xi)[None], data.y, space.theta(vector))
    slope = space.gather(by.amplitude[0], by.scales[0], by.noise[0], 0.0)
    pull = by.inputs[0] * spread - xi
    return float(value[0]) - 0.5 * float((xi**2).sum()), np.concatenate([slope, pull.ravel()])


def begin(space: Space, data: Data) -> Imputed:
    """The observed inputs."""
    return Imputed(space.noise, space, space.start, np.zeros(data.X.shape), -np.inf)


def cool(state: Imputed, data: Data, noise: float, max_iter: int) -> tuple[Imputed, bool]:
    """The maximum at a noise level, from a state of another; and whether it was reached."""
    space = state.space.hold(state.vector, noise)
    size = len(space.start)
    free = np.tile([-np.inf, np.inf], (state.xi.size, 1))
    joint, value, done = climb(
        lambda z: objective(space, data, z),
        np.concatenate([space.start, state.xi.ravel()]),
        np.concatenate([space.bounds, free]),
        max_iter,
        FINE,
    )
    xi = joint[size:].reshape(data.X.shape)
    return Imputed(noise, space, joint[:size], xi, value), done


def process_of(state: Imputed, data: Data) -> Process:
    """The Gaussian process on the imputed inputs."""
    X = data.X + spread_of(state.space, data) * state.xi
    theta = state.space.theta(state.vector)
    P = precisions(X[None], theta)[1][0]
    return Process(theta, X, np.zeros((1, X.shape[1])), P, P @ data.y)


def left_out_density(process: Process, data: Data, spread: Array) -> Array:
    """``log p(y_n | u_n)`` of new samples, with their inputs integrated out."""
    dim = data.X.shape[1]
    cube = qmc.Sobol(dim, seed=0).random(DRAWS)
    nodes = ndtri(np.clip(cube, 1e-6, 1.0 - 1e-6))
    x = data.X[:, None, :] + spread[:, None, :] * nodes
    mean, variance = process.marginal(x.reshape(-1, dim))
    variance = (variance + process.theta.noise).reshape(len(data.y), -1)
    misfit = (data.y[:, None] - mean.reshape(len(data.y), -1)) ** 2 / variance
    log = -0.5 * (np.log(variance) + misfit + LOG_2PI)
    return logsumexp(log, axis=1) - np.log(DRAWS)


def search(
    space: Space,
    data: Data,
    levels: Array,
    n_folds: int,
    max_iter: int,
    rng: np.random.Generator,
) -> Array:
    """The log density of each left-out sample at each level, (levels, N).

    It ends where the sum has fallen for some levels.
    """
    fold = rng.permutation(len(data.y)) % n_folds
    parts = [data.take(np.flatnonzero(fold != k)) for k in range(n_folds)]
    left = [data.take(np.flatnonzero(fold == k)) for k in range(n_folds)]
    states = [begin(space, part) for part in parts]
    scores: list[Array] = []
    for noise in levels:
        states = [
            cool(state, part, float(noise), max_iter)[0]
            for state, part in zip(states, parts, strict=True)
        ]
        densities = [
            left_out_density(process_of(state, part), out, spread_of(space, out))
            for state, part, out in zip(states, parts, left, strict=True)
        ]
        scores.append(np.concatenate(densities))
        best = int(np.argmax([score.sum() for score in scores]))
        if len(scores) - 1 - best == PATIENCE:
            break
    return np.array(scores)


def highest_good(scores: Array) -> int:
    """The first level that is no worse than the best one by more than a standard error.

    Too low a noise spoils predictions far more than one that is too high.
    """
    loss = scores[scores.sum(axis=1).argmax()] - scores
    error = np.sqrt(scores.shape[1] * loss.var(axis=1))
    return int(np.argmax(loss.sum(axis=1) <= error))


def learn(
    space: Space,
    data: Data,
    *,
    noise: float | None,
    variance: float,
    n_levels: int,
    n_folds: int,
    max_iter: int,
    rng: np.random.Generator,
) -> tuple[list[Imputed], Array | None, bool]:
    """Anneal to a noise variance, or to the one that predicts left-out samples best.

    Returns the states at all levels, the scores of the levels if there was a choice, and whether
    every maximum was reached.
    """
    scores = None
    if noise is None:
        levels = np.geomspace(HIGHEST * variance, LOWEST * variance, n_levels)
        n_folds = min(n_folds, len(data.y))
        if n_folds > 1 and n_levels > 1:
            densities = search(space, data, levels, n_folds, max_iter, rng)
            scores = np.stack([levels[: len(densities)], densities.sum(axis=1)], axis=1)
            levels = levels[: highest_good(densities) + 1]
    else:
        levels = np.geomspace(max(HIGHEST * variance, noise), noise, n_levels)
        if n_levels == 1:
            levels = np.array([noise])
    path: list[Imputed] = []
    state, finished = begin(space, data), True
    for level in levels:
        state, done = cool(state, data, float(level), max_iter)
        finished = finished and done
        path.append(state)
    return path, scores, finished
