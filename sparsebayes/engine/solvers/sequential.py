"""The sequential solver: Tipping and Faul's additions and deletions [1]_, in blocks.

All functions are scored at once and added in blocks, each with its optimal α given those
before it; the active set is then re-estimated jointly (`refine`). The solver ends where the one
by one algorithm ends: no single addition, deletion or re-estimation gains more than `tol`. Blocks,
joint Newton steps and the strategies against a stall (`strategies`) are our own. An end is compared
with what functions chosen blindly come to, and is left where it is far below.

An evidence maximum at which the noise has collapsed and the model has nearly as many effective
parameters as samples is not a better answer, whatever its evidence. A trial that ends there is
refused, and a fit that comes there goes back to simpler states that it had passed. Where every way
leads there the noise is held at what the model had before it began to follow the noise:
functions that gain less than a nat each had not been let in.

References
----------
.. [1] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
   models", AISTATS 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers import trials
from sparsebayes.engine.solvers.candidates import Scores, score, spread
from sparsebayes.engine.solvers.driver import Climb, Path, Step, Stop, collapsed, finish, start
from sparsebayes.engine.solvers.growth import grow, settle
from sparsebayes.engine.solvers.policy import Policy
from sparsebayes.engine.solvers.refine import stationary
from sparsebayes.engine.solvers.strategies import (
    BRIEF,
    STALLED,
    STRATEGIES,
    blind_model,
    drawn_half,
    drawn_start,
    in_turn,
)
from sparsebayes.engine.solvers.trials import Search, better, explored

Searcher = Callable[[Problem, State, float], Path]


@dataclass(frozen=True, repr=False)
class Sequential:
    """Additions in blocks, joint re-estimation, and ways out where that stalls.

    Attributes
    ----------
    policy : Policy
        How far to search.
    n_restarts : int
        Further starts at random; the highest sane end is kept.
    brief : bool
        Whether to try the first strategies only.
    """

    policy: Policy = field(default_factory=Policy)
    n_restarts: int = 0
    brief: bool = False

    def __post_init__(self) -> None:
        if int(self.n_restarts) != self.n_restarts or self.n_restarts < 0:
            raise ValueError(f"Sequential needs a whole n_restarts >= 0, got {self.n_restarts!r}.")

    def __repr__(self) -> str:
        told = [f"policy={self.policy!r}"] * (self.policy != Policy())
        told += [f"n_restarts={self.n_restarts}"] * (self.n_restarts > 0)
        told += ["brief=True"] * self.brief
        return f"Sequential({', '.join(told)})"

    def quick(self) -> Sequential:
        """The same with less effort, for fits that are repeated."""
        return replace(self, brief=True, n_restarts=0)

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        state = start(problem)
        yield Step(state)
        passed: list[State] = []
        state = yield from _noted(self._everywhere(problem, state, self._explore, tol), passed)
        state = yield from self._everywhere(problem, state, self._settle, tol)
        state = yield from self._escape(problem, state, passed, tol)
        if collapsed(problem, state):
            state = yield from self._go_back(problem, state, passed, tol)
        noise = problem.noise
        if noise is None or not collapsed(problem, state):
            for number in range(self.n_restarts):
                state = yield from self._restart(problem, state, tol, rng, number)
            stop = finish(problem, state)
            if stop is Stop.FLOOR:
                yield Step(stationary(problem, state), back=True)
            return stop
        credible = yield from self._everywhere(problem, start(problem), self._grow_credibly, tol)
        yield Step(credible, back=True)
        yield from self._everywhere(noise.hold(credible.beta), credible, self._settle, tol)
        # Large gains all the way to a collapse: the targets have no noise to speak of.
        return Stop.FLOOR if collapsed(problem, credible) else Stop.HELD

    def resume(self, problem: Problem, state: State, tol: float) -> Path:
        """Go on from a state until no single step gains more than `tol`."""
        return (yield from self._everywhere(problem, state, self._settle, tol))

    def regrow(self, problem: Problem, state: State, tol: float) -> Path:
        """Go on from a state that lacks much: large gains first."""
        effort = self.policy.first_effort(problem.n_functions)
        state = yield from grow(problem, state, effort, self.policy)
        return (yield from self._settle(problem, state, tol))

    def _escape(self, problem: Problem, state: State, passed: list[State], tol: float) -> Path:
        """Go on from functions chosen blindly if growth from there ends far above."""
        few = state.active.size < problem.n_samples / self.policy.stall
        if (self.brief and not few) or collapsed(problem, state):
            return state
        blind = yield from blind_model(problem, state, self.policy, tol)
        if blind is state:
            return state
        grown = yield from explored(self._everywhere(problem, blind, self._regrow, tol))
        if grown.objective < state.objective + self.policy.far or collapsed(problem, grown):
            return state
        if grown.active.size > self.policy.crowded * problem.n_samples:
            return state
        yield Step(grown)
        state = yield from _noted(self._everywhere(problem, grown, self._go_on, tol), passed)
        return (yield from self._everywhere(problem, state, self._settle, tol))

    def _explore(self, problem: Problem, state: State, tol: float) -> Path:
        """Each strategy in turn."""
        strategies = BRIEF if self.brief else STRATEGIES
        return in_turn(strategies, Search(problem, self.policy, tol), state)

    def _go_on(self, problem: Problem, state: State, tol: float) -> Path:
        """The same where greedy growth has stalled, from another state."""
        strategies = BRIEF if self.brief else STALLED
        return in_turn(strategies, Search(problem, self.policy, tol, stalled=True), state)

    def _regrow(self, problem: Problem, state: State, tol: float) -> Path:
        return trials.grown(Search(problem, self.policy, tol), state)

    def _settle(self, problem: Problem, state: State, tol: float) -> Path:
        return settle(problem, state, tol, self.policy)

    def _grow_credibly(self, problem: Problem, state: State, tol: float) -> Path:
        """Growth by functions that gain a lot: its noise is credible where the end's is not."""
        return grow(problem, state, self.policy.credible, self.policy, accepted=False)

    def _go_back(self, problem: Problem, state: State, passed: list[State], tol: float) -> Path:
        """The highest of the states that were passed from which no collapse follows."""
        first, limit = state, state.n_determined
        for earlier in sorted(passed, key=lambda one: -one.objective):
            if earlier.n_determined > self.policy.simpler * limit:
                continue
            limit = earlier.n_determined
            path = self._everywhere(problem, earlier, self._settle, tol)
            end = yield from explored(path)
            if not collapsed(problem, end):
                yield Step(end, back=True)
                return end
        return first

    def _restart(
        self, problem: Problem, state: State, tol: float, rng: np.random.Generator, number: int
    ) -> Path:
        """Another start, and what is found from there; the better of both ends.

        In turn from functions drawn at random, and from the model with a random half left.
        """

        def search(inner: Problem, state: State, tol: float) -> Path:
            trial = drawn_start if number % 2 == 0 else drawn_half
            end = yield from explored(trial(Search(inner, self.policy, tol), state, rng))
            return (yield from explored(self._settle(inner, end, tol)))

        if problem.capacity < problem.n_functions:
            end = yield from explored(
                self._among_some(problem, state, score(problem, state), search, tol)
            )
            end = yield from explored(self._everywhere(problem, end, self._settle, tol))
        else:
            end = yield from search(problem, state, tol)
        return (yield from better(problem, state, end))

    def _everywhere(self, problem: Problem, state: State, search: Searcher, tol: float) -> Path:
        """Search among as many functions as can be held, and again while others gain."""
        while problem.capacity < problem.n_functions:
            scores = score(problem, state)
            if scores.largest <= tol:
                return state
            before = state.objective
            state = yield from self._among_some(problem, state, scores, search, tol)
            if search != self._settle or state.objective <= before:
                return state
        return (yield from search(problem, state, tol))

    def _among_some(
        self, problem: Problem, state: State, scores: Scores, search: Searcher, tol: float
    ) -> Path:
        room = max(problem.capacity - state.active.size, self.policy.least_room)
        return within(problem, state, scores, room, search, tol)


def _noted(path: Path, passed: list[State]) -> Path:
    """The same path, its accepted states and ends noted."""
    while True:
        try:
            step = next(path)
        except StopIteration as end:
            return end.value
        if step.accepted or step.end:
            passed.append(step.state)
        yield step


def within(
    problem: Problem, state: State, scores: Scores, room: int, search: Searcher, tol: float
) -> Path:
    """Search among the active functions and `room` others: the best, and some spread."""
    index = np.concatenate([state.active, spread(scores.ranked(), room)])
    inner = replace(state, active=np.arange(state.active.size))
    path = search(problem.restrict(index), inner, tol)
    while True:
        try:
            step = next(path)
        except StopIteration as end:
            return replace(end.value, active=index[end.value.active])
        yield replace(step, state=replace(step.state, active=index[step.state.active]))
