"""Stochastic EM for noisy inputs: sample the inputs, then maximise over the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparsebayes._support.fits.clock import share_of_time, time_is_up
from sparsebayes._support.reporting import Reporter
from sparsebayes._support.validation import positive_number, whole_number
from sparsebayes.engine.linalg import one_thread
from sparsebayes.engine.mcmc.hamiltonian import StepSize, effective_sample_size, move, start
from sparsebayes.engine.noisy_gp import InputPosterior, Theta, log_evidence, precisions
from sparsebayes.uncertain.noisy.method import Learned, LearningMethod
from sparsebayes.uncertain.noisy.mixture import Process
from sparsebayes.uncertain.noisy.slope import Slope
from sparsebayes.uncertain.noisy.space import NoisyData, Space, climb

Array = np.ndarray

CANDIDATES = 16  # places tried for a point in one move
LENGTH = (0.5, 2.0)  # of trajectories, in standard deviations of the prior of ξ
LONGEST = 40  # leapfrog steps of a trajectory
WARM_UP = 40  # moves before the first draw, and before the last ones
MOVES = (2, 4)  # moves of each chain in an E-step, of the first turns and of the last
CLIMB = 5  # steps of the optimiser in an M-step; the next draws move its target anyway
WINDOW = 10  # turns that are compared and averaged
FINE = 1e-3
START, TURNS, SECOND_WARM_UP = 0.25, 0.7, 0.5  # of the time that is left, where that is limited


class StochasticEM(LearningMethod):
    """Sample the inputs from their posterior, learn the rest from the samples, and repeat [1]_.

    The most accurate method, for a few hundred samples: it keeps an N × N matrix for each sampled
    set of inputs. The predictive distribution is a mixture over these sets; `predict` gives its
    mean and standard deviation, `sample_y` draws from the mixture itself.

    Parameters
    ----------
    n_samples : int, default=64
        The number of sampled sets of inputs to predict with.
    n_chains : int, default=8
        Chains that are sampled side by side.
    thin : int, default=4
        Moves of the sampler for each set that is kept.
    max_iter : int, default=100
        The largest number of turns of sampling and learning.
    tol : float, default=0.1
        It ends when no logarithm of a hyperparameter has drifted by more than this, or than its
        scatter, between the last ten turns and the ten before.

    See Also
    --------
    Slope : Faster, for a few thousand samples.
    Imputation : One best guess of the inputs instead of many sets.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 4.3.2.

    Examples
    --------
    >>> from sparsebayes.uncertain import NoisyInputGPR, StochasticEM
    >>> NoisyInputGPR(input_noise=0.1, method=StochasticEM(n_chains=4)).method
    StochasticEM(n_chains=4)
    """

    def __init__(
        self,
        *,
        n_samples: int = 64,
        n_chains: int = 8,
        thin: int = 4,
        max_iter: int = 100,
        tol: float = 0.1,
    ) -> None:
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.thin = thin
        self.max_iter = max_iter
        self.tol = tol

    def check(self) -> None:
        for name in ("n_samples", "n_chains", "thin", "max_iter"):
            whole_number(name, getattr(self, name))
        positive_number("tol", self.tol)

    def learn(
        self,
        space: Space,
        data: NoisyData,
        variance: float,
        rng: np.random.Generator,
        reporter: Reporter,
    ) -> Learned:
        if not data.variances.any():  # nothing to sample
            return Slope().learn(space, data, variance, rng, reporter)
        # From high noise to low: from below, samples that fit too well keep the noise too low.
        with share_of_time(START):
            first = Slope().search(space, data, rng)[0].vector
        vector = space.lift(first, 1.0)
        with one_thread():
            n_chains = min(self.n_chains, self.n_samples)
            xi = rng.standard_normal((n_chains, *data.X.shape))
            sampler = Sampler(posterior_of(space, vector, data), xi, rng)
            with share_of_time(TURNS):
                sampler.advance(WARM_UP, adapt=True)
                vectors, path, converged = self._turns(space, vector, data, sampler, reporter)
            if path:
                vector = np.mean(vectors[-WINDOW:], axis=0)
            sampler.posterior = posterior_of(space, vector, data)
            with share_of_time(SECOND_WARM_UP):
                sampler.advance(WARM_UP, adapt=True)
            length = -(-self.n_samples // n_chains)
            draws, values, acceptance = sampler.advance(length * self.thin, adapt=False)
            kept = slice(min(self.thin, draws.shape[1]) - 1, None, self.thin)
            inputs = sampler.posterior.inputs(draws[:, kept])
            samples = inputs.reshape(-1, *data.X.shape)[: self.n_samples]
            processes = processes_of(samples, data, space.theta(vector))
        return Learned(
            space,
            vector,
            data,
            data.X + (samples - data.X).mean(axis=0),
            processes,
            np.array(path),
            converged,
            "raise max_iter or tol, or give noise if you know it",
            {
                "samples_": samples,
                "sample_log_density_": values[:, kept].ravel()[: len(samples)],
                "noise_path_": np.array([space.theta(v).noise for v in vectors[1:]]),
                "acceptance_": acceptance,
                "step_size_": sampler.step.settled,
                "effective_sample_size_": effective_sample_size(draws),
            },
        )

    def _turns(
        self, space: Space, vector: Array, data: NoisyData, sampler: Sampler, reporter: Reporter
    ) -> tuple[list[Array], list[float], bool]:
        """What was learned before and after each turn, the mean log evidence of the draws in it.

        And whether the turns have settled.
        """
        vectors, path = [vector], list[float]()
        converged = not vector.size
        while not converged and len(path) < self.max_iter:
            moves = round(np.interp(len(path), [0, 3 * WINDOW], MOVES))
            xi = sampler.advance(moves, adapt=True)[0].reshape(-1, *data.X.shape)
            vector, value = maximise(space, vector, data, xi, CLIMB)
            sampler.posterior = posterior_of(space, vector, data)
            vectors.append(vector)
            path.append(value)
            if reporter.due(len(path)):
                reporter.tell(
                    f"turn {len(path):4d}  mean log evidence {value:.6g}  "
                    f"noise variance {space.theta(vector).noise:.3g}"
                )
            converged = settled(np.array(vectors), self.tol)
            if not converged and time_is_up():
                break
        return vectors, path, converged


class Sampler:
    """Chains of inputs, each moved by a Hamiltonian trajectory and by single points in turn."""

    def __init__(self, posterior: InputPosterior, xi: Array, rng: np.random.Generator) -> None:
        self.rng = rng
        self.xi = xi
        self.step = StepSize(0.2)
        self.posterior = posterior

    def advance(self, n_moves: int, *, adapt: bool) -> tuple[Array, Array, float]:
        """Draws of ξ (C, T, N, D), their log densities (C, T), and the acceptance rate.

        Fewer than `n_moves`, but one, when the time is up.
        """
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
            if time_is_up():
                break
        self.xi = chains.position
        return np.stack(draws, axis=1), np.stack(values, axis=1), float(np.mean(rates))


def posterior_of(space: Space, vector: Array, data: NoisyData) -> InputPosterior:
    """The posterior of the inputs, given what was learned."""
    spread = np.sqrt(space.input_factor(vector)) * data.spread
    return InputPosterior(data.y, data.X, spread, space.theta(vector))


def processes_of(samples: Array, data: NoisyData, theta: Theta) -> list[Process]:
    """A Gaussian process for each set of inputs, (T, N, D)."""
    clean = np.zeros((1, data.X.shape[1]))
    P = precisions(samples, theta)[1]
    return [Process(theta, x, clean, p, p @ data.y) for x, p in zip(samples, P, strict=True)]


def expected_evidence(
    space: Space, data: NoisyData, xi: Array
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
    space: Space, vector: Array, data: NoisyData, xi: Array, max_iter: int
) -> tuple[Array, float]:
    """An M-step, from a vector on."""
    objective = expected_evidence(space, data, xi)
    return climb(objective, vector, space.bounds, max_iter, FINE)[:2]


def settled(vectors: Array, tol: float) -> bool:
    """Whether the last turns have no drift that stands out from their scatter."""
    if len(vectors) <= 2 * WINDOW:
        return False
    last, before = vectors[-WINDOW:], vectors[-2 * WINDOW : -WINDOW]
    drift = np.abs(last.mean(axis=0) - before.mean(axis=0))
    scatter = np.sqrt((last.var(axis=0) + before.var(axis=0)) / WINDOW)
    return bool(np.all(drift <= np.maximum(tol, scatter)))
