"""The thesis' own way to learn length scales (QC04 2.3.1, app. B): a little at each M-step.

All functions are in at first. Each cycle updates α and σ² once by (2.32) and prunes, and then moves
the length scales: one shared scale by the direct search of Hooke and Jeeves to its maximum, one
for each input by a conjugate gradient ascent of two line searches. Functions go when their α
reaches a limit, which the thesis does not state; that of `_ssem` keeps many for long. Or they go
where the data hardly determine them and the evidence gains by that, which takes a part of the time.
The targets are as given, and there is no bias.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from experiments.quinonero2004._ssem import ROUNDING
from sparsebayes.basis import RBF, Basis
from sparsebayes.engine import Dense, Exact, Flat, Gaussian, State
from sparsebayes.engine.solvers.em import cycle, spread_variance

Array = np.ndarray

STEP, LEAST = 0.2, 0.01  # of a log scale in the direct search
LINE_SEARCHES = 2
GAIN = 1e-5  # of the log evidence, relatively: a cycle that gains less is the last
CYCLES = 1000  # at most


@dataclass(frozen=True)
class Scheduled:
    """A fitted model; it predicts like an estimator.

    Attributes
    ----------
    basis : Basis
        The functions kept.
    weights : ndarray, (S,)
    evidence : float
    cycles : int
    """

    basis: Basis
    weights: Array
    evidence: float
    cycles: int

    @property
    def relevance_vectors_(self) -> Array:
        """The centres of the functions."""
        return self.basis.centers_

    @property
    def length_scales(self) -> Array:
        """One for each input."""
        return np.exp(self.basis.log_scales())

    def predict(self, X: Array) -> Array:
        """The posterior mean."""
        return self.basis.columns(X) @ self.weights


@dataclass(frozen=True)
class Schedule:
    """What learns by this schedule, with the method `fit` of an estimator.

    Attributes
    ----------
    ard : bool
        Whether each input has a length scale of its own.
    start : float or None
        The length scale to begin with, by default that of ``RBF("scale")``.
    learned : bool
        Whether the length scales move; else the cycles are those of the conventional RVM.
    gain : float
        A cycle that gains less, relative to the log evidence, is the last.
    limit : float or None
        The α with which a function leaves; None is as soon as the evidence gains by it.
    """

    ard: bool
    start: float | None = None
    learned: bool = True
    gain: float = GAIN
    limit: float | None = None

    def fit(self, X: Array, y: Array) -> Scheduled:
        """Learn precisions, noise and length scales."""
        start = self.start or float(np.sqrt(0.5 * X.shape[1] * X.var()))
        return fit(
            X, y, start, ard=self.ard, learned=self.learned, stop=self.gain, limit=self.limit
        )


def direct_search(
    value: Callable[[float], float], x: float, known: float, step: float = STEP
) -> tuple[float, float]:
    """Climb by steps, halved where neither side is higher (Hooke and Jeeves, in one dimension)."""
    while step >= LEAST:
        for side in (step, -step):
            there = value(x + side)
            if there > known:
                x, known = x + side, there
                while (there := value(x + side)) > known:  # on in the direction that rose
                    x, known = x + side, there
                break
        else:
            step *= 0.5
    return x, known


def fit(
    X: Array,
    y: Array,
    start: float,
    *,
    ard: bool,
    learned: bool = True,
    stop: float = GAIN,
    limit: float | None = None,
) -> Scheduled:
    """Learn precisions, noise and length scales in turns, from the length scale `start`."""
    basis: Basis = RBF(start).fit(X)
    scales = np.full(X.shape[1], np.log(start))
    problem = _problem(basis, X, y)
    state = spread_variance(problem, np.arange(len(X)))
    assert state is not None
    before, cycles, gain = -np.inf, 0, np.inf
    while gain > stop * abs(state.evidence) and cycles < CYCLES:
        step = (
            cycle(problem, state, mackay=True) if limit is None else _moved(problem, state, limit)
        )
        state = state if step is None else step
        basis = basis.select(state.active)
        if learned:
            scales = (_by_gradient if ard else _by_search)(basis, scales, X, y, state)
            basis = basis.rescaled(scales)
        problem = _problem(basis, X, y)
        moved = problem.evaluate(np.arange(len(state.alpha)), state.alpha, state.beta)
        assert moved is not None  # where it is None, the scales have not moved
        state, cycles = moved, cycles + 1
        before, gain = state.evidence, state.evidence - before
    return Scheduled(basis, state.mean, state.evidence, cycles)


def _moved(problem: Exact, state: State, limit: float) -> State | None:
    """α and σ² once by (2.32), without the functions whose α reaches the limit."""
    noise, determined = problem.noise, np.maximum(state.determined, ROUNDING)
    assert noise is not None
    alpha = determined / state.squared
    beta = min((noise.count - determined.sum()) / noise.scatter(state), noise.max_beta)
    keep = alpha < limit
    return problem.evaluate(state.active[keep], alpha[keep], beta)


def _problem(basis: Basis, X: Array, y: Array) -> Exact:
    return Exact(Dense(basis.columns(X)), Flat(), Gaussian(y, np.ones(len(y))))


def _by_search(basis: Basis, scales: Array, X: Array, y: Array, state: State) -> Array:
    def value(log: float) -> float:
        found = _at(basis, np.full_like(scales, log), X, y, state)
        return -np.inf if found is None else found[1].evidence

    best, _ = direct_search(value, float(scales[0]), state.evidence)
    return np.full_like(scales, best)


def _by_gradient(basis: Basis, scales: Array, X: Array, y: Array, state: State) -> Array:
    every = np.arange(len(state.alpha))

    def loss(log: Array) -> tuple[float, Array]:
        found = _at(basis, log, X, y, state)
        if found is None:
            return np.inf, np.zeros_like(log)
        problem, there = found
        slopes = problem.derivatives(there)[2]
        return -there.evidence, -basis.rescaled(log).scale_slopes(X, every, slopes)

    options = {"maxiter": LINE_SEARCHES}
    found = minimize(loss, scales, jac=True, method="CG", options=options)
    return found.x if found.fun < -state.evidence else scales


def _at(basis: Basis, log: Array, X: Array, y: Array, state: State) -> tuple[Exact, State] | None:
    """The problem and the state at other length scales, None if rounding does not allow it."""
    if not np.all(np.abs(log) < 10.0):
        return None
    problem = _problem(basis.rescaled(log), X, y)
    there = problem.evaluate(np.arange(len(state.alpha)), state.alpha, state.beta)
    return None if there is None else (problem, there)
