"""Noisy inputs as noise of the outputs, larger where the function is steep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes._support.fits.clock import time_is_up
from sparsebayes._support.reporting import Reporter
from sparsebayes._support.validation import positive_number, whole_number
from sparsebayes.engine.linalg import one_thread, own_threads
from sparsebayes.engine.noisy_gp import (
    JITTER,
    LOG_2PI,
    invert,
    smoothed_kernel,
    smoothed_slopes,
)
from sparsebayes.uncertain.noisy.method import Learned, LearningMethod
from sparsebayes.uncertain.noisy.mixture import Process
from sparsebayes.uncertain.noisy.space import NoisyData, Space, climb, normal_nodes

Array = np.ndarray

SUBSET = 400  # samples that the search begins with, where there are more
STEPS = 100  # of the optimiser in a turn
POLISH = 6  # steps of the optimiser with all samples, where it began with some
PATIENCE = 2  # turns without a gain that end the search
FINE = 1e-3  # slope of the log evidence at which the optimiser ends


class Slope(LearningMethod):
    """Take the noise of inputs for noise of outputs, larger where the function is steep [1]_.

    The process is averaged over the distributions of its inputs [2]_. Fast, for a few thousand
    samples; with few it often underestimates the noise of the outputs.

    Parameters
    ----------
    max_iter : int, default=20
        The largest number of turns between the hyperparameters and the slopes.
    tol : float, default=0.001
        It ends when two turns in a row gain less than this in leave-one-out log density per sample.

    See Also
    --------
    StochasticEM : More accurate, for a few hundred samples.
    Imputation : One best guess of the inputs.

    References
    ----------
    .. [1] A. McHutchon, C. Rasmussen, "Gaussian process training with input noise", NIPS 2011.
    .. [2] P. Dallaire, C. Besse, B. Chaib-draa, "Learning Gaussian process models from uncertain
       data", ICONIP 2009.

    Examples
    --------
    >>> from sparsebayes.uncertain import NoisyInputGPR, Slope
    >>> NoisyInputGPR(input_noise=0.1, method=Slope(tol=0.01)).method
    Slope(tol=0.01)
    """

    def __init__(self, *, max_iter: int = 20, tol: float = 1e-3) -> None:
        self.max_iter = max_iter
        self.tol = tol

    def check(self) -> None:
        whole_number("max_iter", self.max_iter)
        positive_number("tol", self.tol)

    def learn(
        self,
        space: Space,
        data: NoisyData,
        variance: float,
        rng: np.random.Generator,
        reporter: Reporter,
    ) -> Learned:
        fit, path, converged = self.search(space, data, rng)
        return Learned(
            space,
            fit.vector,
            data,
            data.X,
            [fit.process],
            path,
            converged,
            "give input_noise or noise if you know them, or raise max_iter or tol",
            {"log_evidence_": fit.evidence},
        )

    def search(
        self, space: Space, data: NoisyData, rng: np.random.Generator
    ) -> tuple[SlopeFit, Array, bool]:
        """Take turns between the hyperparameters and the slopes; keep the best by leaving one out.

        Other methods begin with it.

        Parameters
        ----------
        space : Space
            What is free, and within which bounds.
        data : NoisyData
            The samples and the variances of their inputs.
        rng : Generator
            Draws the samples that the search begins with, where there are many.

        Returns
        -------
        fit : SlopeFit
            The best fit.
        path : ndarray
            Its leave-one-out log density after each turn.
        converged : bool
            Whether further turns would gain next to nothing.
        """
        with one_thread(), own_threads(len(data.y) ** 3 / 3):
            return self._search(space, data, rng)

    def _search(
        self, space: Space, data: NoisyData, rng: np.random.Generator
    ) -> tuple[SlopeFit, Array, bool]:
        if len(data.y) <= SUBSET:
            return self._turns(space, data)
        some = data.take(np.sort(rng.choice(len(data.y), SUBSET, replace=False)))
        part, _, converged = self._turns(space, some)
        used = replace(data, variances=space.input_factor(part.vector) * data.variances)
        profile = steepness(used, part.process, part.process)
        best, path = None, []
        vector = part.vector
        for _ in range(PATIENCE if data.variances.any() else 1):
            vector = _climb(space, vector, data, profile, POLISH)[0]
            fit = evaluate(space, vector, data, profile)[2]
            path.append(fit.loo)
            if best is None or fit.loo > best.loo:
                best = fit
            if time_is_up():
                break
            profile = np.sqrt(profile * steepness(fit.data, fit.process, part.process))
        assert best is not None
        return best, np.array(path), converged

    def _turns(self, space: Space, data: NoisyData) -> tuple[SlopeFit, Array, bool]:
        profile = np.ones(len(data.y))
        vector = space.start
        best: SlopeFit | None = None
        path: list[float] = []
        idle = 0
        noisy = bool(data.variances.any())
        for turn in range(self.max_iter if noisy else 1):
            vector, done = _climb(space, vector, data, profile, STEPS)
            fit = evaluate(space, vector, data, profile)[2]
            path.append(fit.loo)
            gain = np.inf if best is None else fit.loo - best.loo
            best = fit if gain > 0 else best
            idle = idle + 1 if gain < self.tol * len(data.y) else 0
            if idle == PATIENCE or time_is_up():
                break
            new = steepness(fit.data, fit.process, fit.process)
            # Halfway in logs, since full steps can swing to and fro.
            profile = new if turn == 0 else np.sqrt(profile * new)
        assert best is not None
        return best, np.array(path), done and (idle > 0 or not noisy)


@dataclass(frozen=True, eq=False)
class SlopeFit:
    """What was learned, the predictor with it, and how well it does."""

    vector: Array
    data: NoisyData  # with the variances that were learned
    process: Process
    evidence: float
    loo: float


def evaluate(
    space: Space, vector: Array, data: NoisyData, profile: Array
) -> tuple[float, Array, SlopeFit]:
    """Log evidence of the smoothed process, its slope, and the fit.

    Targets are f(x_n) averaged over x_n, with covariance k̃, plus noise, plus what is left of the
    variance of f(x_n). Under the prior of f that is ``a − k̃_nn``; it is taken times `profile`
    (N,). With ones the covariance is exactly that of the targets.
    """
    theta = space.theta(vector)
    variances = space.input_factor(vector) * data.variances
    y = data.y
    K = smoothed_kernel(data.X, variances, data.X, variances, theta.amplitude, theta.scales)
    own = K.diagonal().copy()
    cov = K.copy()
    cov[np.diag_indices_from(cov)] += profile * (theta.amplitude - own) + theta.diagonal
    P, log_det = invert(cov)
    alpha = P @ y
    value = -0.5 * (log_det + alpha @ y + len(y) * LOG_2PI)
    W = 0.5 * (np.outer(alpha, alpha) - P)
    diagonal = W.diagonal().copy()
    W *= K
    W[np.diag_indices_from(W)] = diagonal * own * (1.0 - profile)
    scales, width = smoothed_slopes(data.X, variances, theta.scales, W)
    amplitude = W.sum() + theta.amplitude * float(diagonal @ (profile + JITTER))
    slope = space.gather(amplitude, scales, theta.noise * diagonal.sum(), width)
    spare = P.diagonal()
    loo = 0.5 * float((np.log(spare) - alpha**2 / spare - LOG_2PI).sum())
    used = replace(data, variances=variances)
    process = Process(theta, used.X, used.variances, P, alpha)
    return value, slope, SlopeFit(vector, used, process, value, loo)


def steepness(data: NoisyData, fit: Process, part: Process) -> Array:
    """Posterior mean of the variance of f(x_n) over x_n, as a part of its mean under the prior.

    The posterior mean of f is that of `fit`, its covariance that of `part`, which may have fewer
    samples.
    """
    theta = fit.theta
    nodes, weights = normal_nodes(data.X.shape[1])
    values, known = np.empty((len(nodes), len(data.X))), np.zeros(len(data.X))
    average = np.zeros((len(data.X), len(part.alpha)))
    for i, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
        x = data.X + data.spread * node
        columns = part.columns(x)
        values[i] = (columns if part is fit else fit.columns(x)) @ fit.alpha
        known += weight * ((columns @ part.precision) * columns).sum(axis=1)
        average += weight * columns
    known -= ((average @ part.precision) * average).sum(axis=1)
    squares = theta.scales**2
    smooth = np.prod(np.sqrt(squares / (squares + 2.0 * data.spread**2)), axis=1)
    prior = theta.amplitude * (1.0 - smooth)
    left = weights @ (values - weights @ values) ** 2 + np.maximum(prior - known, 0.0)
    return np.divide(left, prior, out=np.ones_like(left), where=smooth < 1.0 - 1e-12)


def _climb(
    space: Space, vector: Array, data: NoisyData, profile: Array, max_iter: int
) -> tuple[Array, bool]:
    start = space.lift(vector, 0.1)  # where the noise is next to nothing, its slope is too
    end, _, done = climb(
        lambda v: evaluate(space, v, data, profile)[:2], start, space.bounds, max_iter, FINE
    )
    return end, done
