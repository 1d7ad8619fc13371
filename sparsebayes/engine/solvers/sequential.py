"""The sequential solver: Tipping and Faul's additions and deletions [1]_, in blocks.

All functions are scored at once and added in blocks, each with its optimal α given those
before it; the active set is then re-estimated jointly (`refine`). The solver ends where the one
by one algorithm ends: no single addition, deletion or re-estimation gains more than `tol`.

With the noise free the greedy route stalls: with few functions in, the estimated noise is too
high, so nothing more is worth adding. So the solver dives: it holds the noise below its
estimate, lets the model grow, frees the noise again, and keeps the better end.

An evidence maximum at which the noise has collapsed and the model has nearly as many effective
parameters as samples is not a better answer, whatever its evidence. A dive that ends there is
refused, and where every way leads there the noise is held at what the model had before it
began to follow the noise: functions that gain less than a nat each had not been let in.

References
----------
.. [1] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
   models", AISTATS 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.candidates import Scores, add, score, spread
from sparsebayes.engine.solvers.driver import Climb, Step, Stop, collapsed, finish, start
from sparsebayes.engine.solvers.em import converge, spread_variance
from sparsebayes.engine.solvers.refine import Refiner, reestimate, stationary

Array = np.ndarray
Path = Generator[Step, None, State]
Width = Generator[Step, None, tuple[State, int]]
Search = Callable[[Problem, State, float], Path]


@dataclass(frozen=True)
class Effort:
    """How carefully to climb.

    Attributes
    ----------
    threshold : float
        The gain below which no function is added.
    share : float
        The part of a block's best gain below which the others wait for the next block.
    steps : int
        Newton steps after a block.
    """

    threshold: float
    share: float = 0.03
    steps: int = 2


ROUGH = Effort(threshold=0.5, share=0.01, steps=1)
CREDIBLE = Effort(threshold=1.0, share=0.01, steps=1)


def roughly(problem: Problem) -> Effort:
    """For growth that is refined later; where there is little to choose from, less will do."""
    return ROUGH if problem.n_functions > 128 else CREDIBLE


@dataclass(frozen=True)
class Sequential:
    """Parameters of the search.

    Attributes
    ----------
    small : int
        A model of at most this many functions is cheap, and dives for as long as it helps.
    tiny : int
        A dive that grows to no more than this many functions has seen all there is.
    few, many : int
        With at most `few` functions to choose from, a small model also tries the end of MacKay's
        updates from all of them; with more than `many` there is one dive only.
    depths : tuple of float
        Factors by which the dives of a small model lower the noise variance.
    block : int
        The number of candidates that are looked at for one block of additions.
    """

    small: int = 64
    tiny: int = 24
    few: int = 512
    many: int = 4096
    depths: tuple[float, ...] = (0.3, 0.1, 0.03)
    block: int = 384

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        state = start(problem)
        yield Step(state)
        state = yield from self._everywhere(problem, state, self._explore, tol)
        state = yield from self._everywhere(problem, state, self._settle, tol)
        if not (problem.free and collapsed(problem, state)):
            stop = finish(problem, state)
            if stop is Stop.FLOOR:
                yield Step(stationary(problem, state), back=True)
            return stop
        rough = yield from self._everywhere(problem, start(problem), self._rough, tol)
        yield Step(rough, back=True)
        yield from self._everywhere(problem.hold(rough.beta), rough, self._settle, tol)
        # Large gains all the way to a collapse: the targets have no noise to speak of.
        return Stop.FLOOR if collapsed(problem, rough) else Stop.HELD

    def resume(self, problem: Problem, state: State, tol: float) -> Path:
        """Go on from a state until no single step gains more than `tol`."""
        return (yield from self._everywhere(problem, state, self._settle, tol))

    def regrow(self, problem: Problem, state: State, tol: float) -> Path:
        """Go on from a state that lacks much: large gains first."""
        state = yield from self._grow(problem, state, roughly(problem), free=problem.free)
        return (yield from self._settle(problem, state, tol))

    def _everywhere(self, problem: Problem, state: State, search: Search, tol: float) -> Path:
        """Search among as many functions as can be held, and again while others gain."""
        while problem.capacity < problem.n_functions:
            scores = score(problem, state)
            if scores.largest <= tol:
                return state
            room = max(problem.capacity - state.active.size, 64)
            before = state.objective
            state = yield from within(problem, state, scores, room, search, tol)
            if search != self._settle or state.objective <= before:
                return state
        return (yield from search(problem, state, tol))

    def _rough(self, problem: Problem, state: State, tol: float) -> Path:
        """Growth by functions that gain a lot: its noise is credible where the end's is not."""
        return (yield from self._grow(problem, state, CREDIBLE, free=True, accepted=False))

    def _explore(self, problem: Problem, state: State, tol: float) -> Path:
        """Grow with the noise free, then dive."""
        coarse = Effort(float(np.clip(2.5 * tol, 0.03, max(0.05, tol))))
        fine = Effort(tol)
        n_functions = problem.n_functions
        state = yield from self._grow(problem, state, roughly(problem), free=problem.free)
        if not problem.free:
            crowd = crowding(problem, state)
            if crowd is None:
                return state
            state, _ = yield from self._sprout(problem, state, crowd, coarse)
        state, width = yield from self._dive(problem, state, 0.1, coarse)
        if state.active.size < problem.n_samples / 20:  # what a stall looks like
            state, deeper = yield from self._dive(problem, state, 0.01, coarse)
            state, seeded = yield from self._seed(problem, state, min(n_functions, 96), coarse)
            width = max(width, deeper, seeded)
        if width <= self.tiny or n_functions > self.many:
            return state
        state, _ = yield from self._dive(problem, state, 0.3, coarse)
        if n_functions <= self.few and state.active.size <= self.small:
            state, _ = yield from self._seed(problem, state, n_functions, fine)
        gain = np.inf
        while gain > 1.0 and state.active.size <= self.small:
            state = yield from self._settle(problem, state, tol)
            before = state.objective
            for depth in self.depths:
                state, _ = yield from self._dive(problem, state, depth, fine)
                gain = state.objective - before
                if gain > 1.0:
                    break
        return state

    def _seed(self, problem: Problem, state: State, size: int, effort: Effort) -> Width:
        """Start from many functions at once, as EM does: with a wide kernel none gains alone."""
        index = np.unique(np.linspace(0, problem.n_functions - 1, size).astype(np.intp))
        seed = spread_variance(problem, index)
        if seed is None:
            return state, state.active.size
        return (yield from self._sprout(problem, state, seed, effort))

    def _sprout(self, problem: Problem, state: State, seed: State, effort: Effort) -> Width:
        """Go on from another state; the better end, and how many of its functions remained."""
        for step in converge(problem, seed, effort.threshold, mackay=True):
            seed = step.state
            yield Step(seed, accepted=False)
        width = seed.active.size
        free = problem.free
        seed = yield from self._grow(problem, seed, effort, free=free, accepted=False)
        return (yield from self._better(problem, state, seed)), width

    def _better(self, problem: Problem, state: State, end: State) -> Path:
        """The end of an exploration if it is higher and sane, else the state before it."""
        if end.objective <= state.objective or (problem.free and collapsed(problem, end)):
            return state
        yield Step(end)
        return end

    def _dive(self, problem: Problem, state: State, depth: float, effort: Effort) -> Width:
        """Lower the noise by `depth`, grow, give it back; the better end, and how wide it grew."""
        free = problem.free
        size = state.active.size
        beta = min(state.beta / depth, problem.max_beta) if free else state.beta / depth
        low = problem.move(state, state.alpha, beta)
        if low is None or beta <= state.beta:
            return state, size
        limit = 64 + size + size // 2
        low = yield from self._grow(
            problem, low, roughly(problem), free=False, limit=limit, accepted=False
        )
        width = low.active.size
        if not free:
            low = problem.move(low, low.alpha, state.beta) or state
        low = yield from self._grow(problem, low, effort, free=free, accepted=False)
        return (yield from self._better(problem, state, low)), width

    def _settle(self, problem: Problem, state: State, tol: float) -> Path:
        """Climb until no single step gains more than `tol`."""
        free = problem.free
        refiner = Refiner(problem)
        while True:
            state = refiner.climb(state, free=free, steps=50, tol=1e-4 * tol)
            yield Step(state)
            moved = reestimate(problem, state, tol)
            if moved is state and score(problem, state).largest <= tol:
                return state
            before = state.objective
            state = yield from self._grow(problem, moved, Effort(tol), free=free)
            if state.objective <= before + 0.1 * tol or (free and collapsed(problem, state)):
                return state  # what looked like a gain was none, or led too far

    def _grow(
        self,
        problem: Problem,
        state: State,
        effort: Effort,
        *,
        free: bool,
        limit: int = 1 << 62,
        accepted: bool = True,
    ) -> Path:
        """Add blocks, with a few Newton steps after each, until nothing gains the threshold.

        With the noise free it also ends in a collapse, which would only go on.
        """
        refiner = Refiner(problem)
        gain = np.inf
        while state.active.size < limit and gain > effort.threshold:
            before = state.objective
            scores = score(problem, state)
            ranked = scores.ranked()
            ranked = spread(ranked[scores.gain[ranked] > effort.threshold], self.block)
            least = max(effort.threshold, effort.share * scores.largest)
            grown = add(problem, state, scores, ranked, least)
            gain = grown.objective - before
            if grown is not state:
                state = refiner.climb(grown, free=free, steps=effort.steps, tol=0.1 * gain)
            else:  # re-estimate with more care: that may make room for others
                state = refiner.climb(state, free=free, steps=3, tol=0.3 * effort.threshold)
                gain = state.objective - before
            yield Step(state, accepted)
            if free and collapsed(problem, state):
                break
        return state


def crowding(problem: Problem, state: State) -> State | None:
    """Some functions with one precision for all, if they have a nat more evidence than the model.

    Then its growth has stalled. They are spread over all functions, and their precision is the
    best of nine, far apart: where the kernel is wide, weights are large and cancel.
    """
    index = np.unique(np.linspace(0, problem.n_functions - 1, 32).astype(np.intp))
    crowd = best = spread_variance(problem, index)
    for _ in range(8):
        if crowd is None or best is None:
            break
        crowd = problem.move(crowd, 0.03 * crowd.alpha, crowd.beta)
        if crowd is not None and crowd.evidence > best.evidence:
            best = crowd
    return best if best is not None and best.evidence > state.evidence + 1.0 else None


def within(
    problem: Problem, state: State, scores: Scores, room: int, search: Search, tol: float
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
