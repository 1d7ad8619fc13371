"""Ways on from where greedy growth ends, tried in turn.

With the noise estimated the greedy route stalls: with few functions in, the noise is too high, so
nothing more is worth adding. A *low-noise restart* holds the noise below its estimate, lets the
model grow, frees the noise again, and keeps the better end. With the noise given, growth stalls
only where no function gains anything alone; a model of functions that share one precision tells.

Each strategy takes a `Search` and a state, yields the steps that it tries, and returns the state
to go on from: its own end if that is higher and sane, else the state that it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.driver import Path, Step, collapsed
from sparsebayes.engine.solvers.em import converge, spread_variance
from sparsebayes.engine.solvers.growth import grow, settle
from sparsebayes.engine.solvers.policy import Effort, Policy

Array = np.ndarray
Trial = Generator[Step, None, tuple[State, int]]  # and to how many functions it had grown


@dataclass
class Search:
    """What is searched, how, and what has been seen.

    Attributes
    ----------
    problem : Problem
    policy : Policy
    tol : float
    reach : int
        The largest number of functions to which the first restarts grew.
    over : bool
        Whether there is nothing more to look for.
    """

    problem: Problem
    policy: Policy
    tol: float
    reach: int = 0
    over: bool = False

    @property
    def coarse(self) -> Effort:
        return self.policy.coarse_effort(self.tol)

    @property
    def fine(self) -> Effort:
        return Effort(self.tol)

    @property
    def rough(self) -> Effort:
        return self.policy.first_effort(self.problem.n_functions)


Strategy = Callable[[Search, State], Path]


def greedy_growth(search: Search, state: State) -> Path:
    """Add what gains most, with the noise free."""
    return grow(search.problem, state, search.rough, search.policy)


def shared_precision_start(search: Search, state: State) -> Path:
    """With the noise given: go on from functions that share one precision, if they do better."""
    if search.problem.noise is not None:
        return state
    start = shared_precision_model(search.problem, state, search.policy)
    if start is None:  # growth has not stalled
        search.over = True
        return state
    state, _ = yield from _go_on_from(search, state, start, search.coarse)
    return state


def low_noise_restart(search: Search, state: State) -> Path:
    """Grow with the noise at a tenth, and again for as long as it then falls by much."""
    policy = search.policy
    while True:
        before = state.beta
        state, reach = yield from _restart(search, state, policy.depth, search.coarse)
        search.reach = max(search.reach, reach)
        if state.beta < policy.falling * before:
            return state


def escape_a_stall(search: Search, state: State) -> Path:
    """Where few functions were found: a deeper restart, and a start from several at once."""
    policy, problem = search.policy, search.problem
    if state.active.size >= problem.n_samples / policy.stall:
        return state
    size, before = min(problem.n_functions, policy.several), state.beta
    state, deep = yield from _restart(search, state, policy.deep, search.coarse)
    state, several = yield from _start_from(search, state, size, search.coarse)
    search.reach = max(search.reach, deep, several)
    if state.beta < policy.falling * before:
        return state
    return (yield from low_noise_restart(search, state))


def shallow_restart(search: Search, state: State) -> Path:
    """A restart with the noise lowered less, where the others suggest that there is more."""
    policy = search.policy
    search.over = search.reach <= policy.tiny or search.problem.n_functions > policy.many
    if not search.over:
        state, _ = yield from _restart(search, state, policy.shallow, search.coarse)
    return state


def all_functions_at_once(search: Search, state: State) -> Path:
    """With few functions and a small model: where MacKay's updates from all of them end."""
    policy, count = search.policy, search.problem.n_functions
    if count <= policy.few and state.active.size <= policy.small:
        state, _ = yield from _start_from(search, state, count, search.fine)
    return state


def repeated_restarts(search: Search, state: State) -> Path:
    """Restarts of a small model for as long as one of them gains."""
    problem, policy = search.problem, search.policy
    gain = np.inf
    while gain > policy.worthwhile and state.active.size <= policy.small:
        state = yield from settle(problem, state, search.tol, policy)
        before = state.objective
        for depth in policy.depths:
            state, _ = yield from _restart(search, state, depth, search.fine)
            gain = state.objective - before
            if gain > policy.worthwhile:
                break
    return state


STRATEGIES: tuple[Strategy, ...] = (
    greedy_growth,
    shared_precision_start,
    low_noise_restart,
    escape_a_stall,
    shallow_restart,
    all_functions_at_once,
    repeated_restarts,
)


def _restart(search: Search, state: State, depth: float, effort: Effort) -> Trial:
    """Lower the noise variance by `depth`, grow, and give it back."""
    problem, policy = search.problem, search.policy
    noise, size = problem.noise, state.active.size
    beta = state.beta / depth
    if noise is not None:
        beta = min(beta, noise.max_beta)
    low = problem.move(state, state.alpha, beta)
    if low is None or beta <= state.beta:
        return state, size
    limit = policy.room + size + int(policy.room_share * size)
    low = yield from grow(
        problem, low, search.rough, policy, free=False, limit=limit, accepted=False
    )
    reached = low.active.size
    if noise is None:
        low = problem.move(low, low.alpha, state.beta) or state
    low = yield from grow(problem, low, effort, policy, accepted=False)
    return (yield from _better(problem, state, low)), reached


def _start_from(search: Search, state: State, size: int, effort: Effort) -> Trial:
    """Go on from so many functions at once, spread over all."""
    start = spread_variance(search.problem, _spread_over(search.problem, size))
    if start is None:
        return state, state.active.size
    return (yield from _go_on_from(search, state, start, effort))


def _go_on_from(search: Search, state: State, start: State, effort: Effort) -> Trial:
    """MacKay's updates from another state, then growth."""
    for step in converge(search.problem, start, effort.threshold, mackay=True):
        start = step.state
        yield Step(start, accepted=False)
    remained = start.active.size
    end = yield from grow(search.problem, start, effort, search.policy, accepted=False)
    return (yield from _better(search.problem, state, end)), remained


def _better(problem: Problem, state: State, end: State) -> Path:
    """The end of a trial if it is higher and sane, else the state before it."""
    if end.objective <= state.objective or collapsed(problem, end):
        return state
    yield Step(end)
    return end


def _spread_over(problem: Problem, size: int) -> Array:
    return np.unique(np.linspace(0, problem.n_functions - 1, size).astype(np.intp))


def shared_precision_model(problem: Problem, state: State, policy: Policy) -> State | None:
    """Some functions with one precision for all, if they have more evidence than the model."""
    shared = best = spread_variance(problem, _spread_over(problem, policy.sample))
    for _ in range(policy.shared_precisions - 1):
        if shared is None or best is None:
            break
        shared = problem.move(shared, policy.shared_factor * shared.alpha, shared.beta)
        if shared is not None and shared.evidence > best.evidence:
            best = shared
    if best is None or best.evidence <= state.evidence + policy.shared_gain:
        return None
    return best
