"""Exchanging whole groups of functions, where one at a time does not lead on.

In an overcomplete dictionary a piece of the signal can be explained by functions of one kind or
of another. Once many of the wrong kind are in, no single addition or deletion gains, however
much better the others would do. So after a search that found nothing more to gain, groups of
functions are taken out together and others are let in alone, before all may compete again.
This is our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.driver import Climb, Path, Solver, Step, collapsed, finish
from sparsebayes.engine.solvers.sequential import Sequential

Array = np.ndarray

_GAIN = 0.5  # an exchange that gains less is not worth its price in noise
_TOL = 0.3  # of the search within an exchange: below _GAIN, above what takes most of the time
_SWEEPS = 2  # over all proposals; what gains nothing twice will not later


@dataclass(frozen=True, eq=False)
class Swap:
    """A proposal: functions to take out, and others that may come in.

    Proposals come from whoever knows which functions are alike.

    Parameters
    ----------
    drop, pool : ndarray of int
        Functions to take out, and those that may come in instead, at first.

    See Also
    --------
    Exchanging : Tries proposals.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Swap
    >>> swap = Swap(drop=np.array([3, 4]), pool=np.arange(10, 20))
    >>> swap.drop.size, swap.pool.size
    (2, 10)
    """

    drop: Array
    pool: Array


@dataclass(frozen=True)
class Exchanging(Solver[Problem]):
    """The sequential solver, and exchanges from where it ended.

    An exchange is kept if it raises the objective.

    Parameters
    ----------
    swaps : sequence of Swap
        What to try.
    solver : Sequential, default=Sequential()
        The search before.

    See Also
    --------
    Swap : One exchange.
    Sequential : The solver by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Exchanging, Flat, Gaussian, Swap, run
    >>> x = np.linspace(0.0, 1.0, 40)
    >>> problem = Exact(Dense(np.vander(x, 6)), Flat(), Gaussian(np.exp(x), np.ones(40), 0.01))
    >>> solver = Exchanging([Swap(np.array([5]), np.arange(5))])
    >>> run(solver, problem, max_iter=500, tol=0.01, rng=np.random.default_rng(0)).stop.converged
    True
    """

    swaps: Sequence[Swap]
    solver: Sequential = field(default_factory=Sequential)

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        path = self.solver.climb(problem, tol, rng)
        state: State | None = None
        while True:
            try:
                step = next(path)
            except StopIteration as end:
                stop = end.value
                break
            state = step.state if step.accepted else state
            yield step
        if state is None or not stop.converged:
            return stop
        for _ in range(_SWEEPS):
            before = state.objective
            for swap in self.swaps:
                state = yield from self._exchange(problem, state, swap, max(tol, _TOL))
            if state.objective < before + _GAIN:
                break
        state = yield from self.solver.resume(problem, state, tol)
        return finish(problem, state)

    def _exchange(self, problem: Problem, state: State, swap: Swap, tol: float) -> Path:
        gone = np.isin(state.active, swap.drop)
        if not np.any(gone & ~np.isin(state.active, swap.pool)):
            return state  # there is nothing of another kind to take out
        keep = state.active[~gone]
        index = np.concatenate([keep, np.setdiff1d(swap.pool, keep)])
        if index.size > problem.capacity:
            return state
        inner = problem.restrict(index)
        new = inner.evaluate(np.arange(keep.size), state.alpha[~gone], state.beta)
        if new is None:
            return state
        for step in self.solver.regrow(inner, new, tol):
            new = step.state
            yield Step(state, accepted=False)
        new = problem.evaluate(index[new.active], new.alpha, new.beta)
        if new is None:
            return state
        for step in self.solver.resume(problem, new, tol):
            new = step.state
            yield Step(state, accepted=False)
        lost = new.objective < state.objective + _GAIN
        if lost or collapsed(problem, new):
            return state
        yield Step(new)
        return new
