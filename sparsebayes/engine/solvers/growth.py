"""Growth by blocks of functions, and the end that every search comes to."""

from __future__ import annotations

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.candidates import add, score, spread
from sparsebayes.engine.solvers.driver import Path, Step, collapsed
from sparsebayes.engine.solvers.policy import Effort, Policy
from sparsebayes.engine.solvers.refine import Refiner, reestimate


def grow(
    problem: Problem,
    state: State,
    effort: Effort,
    policy: Policy,
    *,
    free: bool = True,
    limit: int = 1 << 62,
    accepted: bool = True,
) -> Path:
    """Add blocks, with a few Newton steps after each, until nothing gains the threshold.

    An estimated noise is moved too, if `free`; then growth also ends in a collapse, which would
    only go on.
    """
    refiner = Refiner(problem)
    gain = np.inf
    while state.active.size < limit and gain > effort.threshold:
        before = state.objective
        scores = score(problem, state)
        ranked = scores.ranked()
        ranked = spread(ranked[scores.gain[ranked] > effort.threshold], policy.block)
        least = max(effort.threshold, effort.share * scores.largest)
        grown = add(problem, state, scores, ranked, least)
        gain = grown.objective - before
        if grown is not state:
            enough = policy.block_gain * gain
            state = refiner.climb(grown, free=free, steps=effort.steps, tol=enough)
        else:
            enough = policy.patient_gain * effort.threshold
            state = refiner.climb(state, free=free, steps=policy.patience, tol=enough)
            gain = state.objective - before
        yield Step(state, accepted)
        if free and collapsed(problem, state):
            break
    return state


def settle(problem: Problem, state: State, tol: float, policy: Policy) -> Path:
    """Climb until no single step gains more than `tol`."""
    refiner = Refiner(problem)
    enough = policy.settled_gain * tol
    while True:
        state = refiner.climb(state, free=True, steps=policy.settled_steps, tol=enough)
        yield Step(state)
        moved = reestimate(problem, state, tol)
        if moved is state and score(problem, state).largest <= tol:
            return state
        before = state.objective
        state = yield from grow(problem, moved, Effort(tol), policy)
        if state.objective <= before + policy.no_gain * tol or collapsed(problem, state):
            return state  # what looked like a gain was none, or led too far
