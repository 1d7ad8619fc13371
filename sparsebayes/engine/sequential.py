"""The sequential solver: Tipping and Faul's additions and deletions [1]_, in blocks.

All functions are scored at once and added in blocks, each with its optimal α given those
before it; the active set is then re-estimated jointly (`refine`). The solver ends where the one
by one algorithm ends: no single addition, deletion or re-estimation gains more than `tol`.

With the noise free the greedy route stalls: with few functions in, the estimated noise is too
high, so nothing more is worth adding. So the solver dives: it holds the noise below its
estimate, lets the model grow, frees the noise again, and keeps the better end.

An evidence maximum at which the noise has collapsed and the model has as many effective
parameters as samples is not a better answer, whatever its evidence: a dive that ends there is
refused (`collapsed`).

References
----------
.. [1] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
   models", AISTATS 2003.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.engine.candidates import add, score, spread
from sparsebayes.engine.driver import Climb, Step, Stop, finish, start
from sparsebayes.engine.posterior import State, evaluate
from sparsebayes.engine.problem import Problem
from sparsebayes.engine.refine import Refiner

Array = np.ndarray
Path = Generator[Step, None, State]


def collapsed(problem: Problem, state: State) -> bool:
    """Whether the model has (nearly) as many effective parameters as there are samples."""
    return float(state.determined.sum()) > 0.9 * problem.sites.size


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


ROUGH = Effort(threshold=1.0, share=0.01, steps=1)


@dataclass(frozen=True)
class Sequential:
    """Parameters of the search.

    Attributes
    ----------
    depths : tuple of float
        Factors by which the first dives lower the noise variance.
    small, tiny : int
        A model of at most `small` functions is cheap, and dives again for as long as it helps;
        one of at most `tiny` functions, which is what a stall looks like, dives deeper too.
    block : int
        The number of candidates that are looked at for one block of additions.
    """

    depths: tuple[float, ...] = (0.1, 0.3)
    small: int = 64
    tiny: int = 32
    block: int = 256

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        state = start(problem)
        yield Step(state)
        if problem.sites.free:
            state = yield from self._everywhere(problem, state, self._explore, tol)
        state = yield from self._everywhere(problem, state, self._settle, tol)
        return finish(problem, state)

    def _everywhere(self, problem: Problem, state: State, search, tol: float) -> Path:
        """Search among as many functions as can be held, and again while others gain."""
        while problem.capacity < problem.norms.size:
            scores = score(problem, state)
            if scores.largest <= tol:
                return state
            room = max(problem.capacity - state.active.size, 64)
            index = np.concatenate([state.active, spread(scores.ranked(), room)])
            del scores
            inner = replace(state, active=np.arange(state.active.size))
            path = search(problem.restrict(index), inner, tol)
            while True:
                try:
                    step = next(path)
                except StopIteration as end:
                    state = replace(end.value, active=index[end.value.active])
                    break
                yield replace(step, state=replace(step.state, active=index[step.state.active]))
            if search == self._explore:
                return state
        return (yield from search(problem, state, tol))

    def _explore(self, problem: Problem, state: State, tol: float) -> Path:
        """Grow with the noise free, then dive."""
        state = yield from self._grow(problem, state, ROUGH, free=True)
        coarse = Effort(max(0.03, tol))
        for depth in self.depths:
            state = yield from self._dive(problem, state, depth, coarse)
        while state.active.size <= self.small:
            state = yield from self._settle(problem, state, tol)
            before = state.objective
            state = yield from self._dive(problem, state, 0.1, Effort(tol))
            if state.objective <= before + 1.0 and state.active.size <= self.tiny:
                state = yield from self._dive(problem, state, 0.01, Effort(tol))
            if state.objective <= before + 1.0:
                break
        return state

    def _dive(self, problem: Problem, state: State, depth: float, effort: Effort) -> Path:
        """Hold the noise low, grow, free it again; the better of the end and the start."""
        low = evaluate(problem, state.active, state.alpha, state.beta / depth, state.gram)
        if low is None:
            return state
        limit = 64 + state.active.size + state.active.size // 2
        low = yield from self._grow(problem, low, ROUGH, free=False, limit=limit, accepted=False)
        low = yield from self._grow(problem, low, effort, free=True, accepted=False)
        if low.objective <= state.objective or collapsed(problem, low):
            return state
        yield Step(low)
        return low

    def _settle(self, problem: Problem, state: State, tol: float) -> Path:
        """Climb until no single step gains more than `tol`."""
        free = problem.sites.free
        refiner = Refiner(problem)
        while True:
            state = yield from self._grow(problem, state, Effort(tol), free=free)
            state = refiner.climb(state, free=free, steps=50, tol=1e-6 * tol)
            yield Step(state)
            if score(problem, state).largest <= tol:
                return state

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
        """Add blocks, with a few Newton steps after each, until nothing gains the threshold."""
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
            if grown is state:  # re-estimate with more care: that may make room for others
                state = refiner.climb(state, free=free, steps=3, tol=0.3 * effort.threshold)
                gain = state.objective - before
            else:
                state = refiner.climb(grown, free=free, steps=effort.steps, tol=0.1 * gain)
            yield Step(state, accepted)
        return state
