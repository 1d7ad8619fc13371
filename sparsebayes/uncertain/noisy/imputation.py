"""Inputs imputed by maximising their posterior, with the output noise lowered step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp, ndtri
from scipy.stats import qmc

from sparsebayes._support.fits.clock import share_of_time, time_is_up
from sparsebayes._support.reporting import Reporter
from sparsebayes._support.validation import whole_number
from sparsebayes.engine.linalg import one_thread
from sparsebayes.engine.noisy_gp import LOG_2PI, log_evidence, precisions
from sparsebayes.uncertain.noisy.method import Learned, LearningMethod
from sparsebayes.uncertain.noisy.mixture import Process
from sparsebayes.uncertain.noisy.slope import Slope
from sparsebayes.uncertain.noisy.space import NoisyData, Space, climb

Array = np.ndarray

HIGHEST, LOWEST = 0.5, 1e-4  # noise variances to anneal between, in units of that of the targets
DRAWS = 128  # inputs that stand for one that was left out
CHOICE = 0.7  # of the time that is left, where that is limited, to choose a level
PATIENCE = 4  # levels without a gain that end the choice
FINE = 1e-2  # slope at which the optimiser ends


class Imputation(LearningMethod):
    """Maximise the posterior of the inputs while the output noise is lowered step by step [1]_.

    If the noise is estimated, the level is taken that predicts left-out samples best, with their
    own inputs integrated out. The error bars do not include the uncertainty about the inputs.

    Parameters
    ----------
    n_levels : int, default=20
        Levels of the output noise, from half the variance of the targets down to the `noise` of
        `NoisyInputGPR`, or to 1e-4 of the variance. With 1 there is no annealing.
    n_folds : int, default=5
        Parts that are left out in turn to choose the level, if the noise is estimated.
    max_iter : int, default=100
        The largest number of steps of the optimiser at a level.

    See Also
    --------
    StochasticEM : Many sets of inputs instead of one best guess.
    Slope : Faster, without any guess of the inputs.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 4.3.1.

    Examples
    --------
    >>> from sparsebayes.uncertain import Imputation, NoisyInputGPR
    >>> NoisyInputGPR(input_noise=0.1, method=Imputation(n_folds=10)).method
    Imputation(n_folds=10)
    """

    def __init__(self, *, n_levels: int = 20, n_folds: int = 5, max_iter: int = 100) -> None:
        self.n_levels = n_levels
        self.n_folds = n_folds
        self.max_iter = max_iter

    def check(self) -> None:
        whole_number("n_levels", self.n_levels)
        whole_number("n_folds", self.n_folds, least=2)
        whole_number("max_iter", self.max_iter)

    def learn(
        self,
        space: Space,
        data: NoisyData,
        variance: float,
        rng: np.random.Generator,
        reporter: Reporter,
    ) -> Learned:
        if space.factor_bounds:  # the input noise is that of `Slope`
            factor = space.input_factor(Slope().search(space, data, rng)[0].vector)
            data = replace(data, variances=factor * data.variances)
        with one_thread():
            held = space.hold(space.start, space.noise, factor=1.0)
            levels, scores = self._levels(held, data, variance, bool(space.noise_bounds), rng)
            path: list[Imputed] = []
            state, converged = begin(held, data), True
            for level in levels:
                state, done = cool(state, data, float(level), self.max_iter)
                converged = converged and done
                path.append(state)
                if time_is_up():
                    break
        process = process_of(state, data)
        attributes = {
            "log_evidence_": state.value,
            "noise_path_": np.array([each.noise for each in path]),
        }
        if scores is not None:
            attributes["level_scores_"] = scores
        return Learned(
            state.space,
            state.vector,
            data,
            process.inputs,
            [process],
            np.array([each.value for each in path]),
            converged,
            "raise max_iter",
            attributes,
        )

    def _levels(
        self,
        space: Space,
        data: NoisyData,
        variance: float,
        estimated: bool,
        rng: np.random.Generator,
    ) -> tuple[Array, Array | None]:
        """Noise variances to go through, and the scores of those tried if there was a choice."""
        if not estimated:
            noise = space.noise
            if self.n_levels == 1:
                return np.array([noise]), None
            return np.geomspace(max(HIGHEST * variance, noise), noise, self.n_levels), None
        levels = np.geomspace(HIGHEST * variance, LOWEST * variance, self.n_levels)
        n_folds = min(self.n_folds, len(data.y))
        if n_folds == 1 or self.n_levels == 1:
            return levels, None
        with share_of_time(CHOICE):
            densities = search(space, data, levels, n_folds, self.max_iter, rng)
        scores = np.stack([levels[: len(densities)], densities.sum(axis=1)], axis=1)
        return levels[: highest_good(densities) + 1], scores


@dataclass(frozen=True, eq=False)
class Imputed:
    """One level of the annealing: the noise variance, what was learned, ξ, and the objective."""

    noise: float
    space: Space
    vector: Array
    xi: Array
    value: float


def spread_of(space: Space, data: NoisyData) -> Array:
    return np.sqrt(space.factor) * data.spread


def objective(space: Space, data: NoisyData, joint: Array) -> tuple[float, Array]:
    """``log p(y | X, θ) + log p(X)`` less a constant, by θ and ξ together (QC04 4.33)."""
    size = len(space.start)
    vector, xi = joint[:size], joint[size:].reshape(data.X.shape)
    spread = spread_of(space, data)
    value, by = log_evidence((data.X + spread * xi)[None], data.y, space.theta(vector))
    slope = space.gather(by.amplitude[0], by.scales[0], by.noise[0], 0.0)
    pull = by.inputs[0] * spread - xi
    return float(value[0]) - 0.5 * float((xi**2).sum()), np.concatenate([slope, pull.ravel()])


def begin(space: Space, data: NoisyData) -> Imputed:
    """The observed inputs."""
    return Imputed(space.noise, space, space.start, np.zeros(data.X.shape), -np.inf)


def cool(state: Imputed, data: NoisyData, noise: float, max_iter: int) -> tuple[Imputed, bool]:
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


def process_of(state: Imputed, data: NoisyData) -> Process:
    """The Gaussian process on the imputed inputs."""
    X = data.X + spread_of(state.space, data) * state.xi
    theta = state.space.theta(state.vector)
    P = precisions(X[None], theta)[1][0]
    return Process(theta, X, np.zeros((1, X.shape[1])), P, P @ data.y)


def left_out_density(process: Process, data: NoisyData, spread: Array) -> Array:
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
    data: NoisyData,
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
        if len(scores) - 1 - best == PATIENCE or time_is_up():
            break
    return np.array(scores)


def highest_good(scores: Array) -> int:
    """The first level that is no worse than the best one by more than a standard error.

    Too low a noise spoils predictions far more than one that is too high.
    """
    loss = scores[scores.sum(axis=1).argmax()] - scores
    error = np.sqrt(scores.shape[1] * loss.var(axis=1))
    return int(np.argmax(loss.sum(axis=1) <= error))
