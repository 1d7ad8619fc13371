"""Subspace EM: EM in a subspace that grows by functions drawn at random [1]_.

A function is drawn, enters with its optimal α if it gains anything, and takes part in the
updates that follow. (The thesis lets each function enter and leaves it to EM to prune
it; those are the functions whose optimal α is ∞.) When all have been seen, the updates go on with
those that remain, and all are looked at once more. Until then only the model and some hundred
functions are in use at a time, so that cost and memory follow the model and not the number of
functions.

The thesis updates by EM. With the noise estimated that stalls: with few functions in, the noise is
too high, so nothing more is worth adding. Our own updates let functions enter at a lower noise,
take a few Newton steps with the noise free, and keep what they find if it is higher.

References
----------
.. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 2.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import check_choice, whole_number
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.candidates import add, score, spread
from sparsebayes.engine.solvers.driver import (
    Climb,
    Path,
    Solver,
    Step,
    collapsed,
    finish,
    start,
)
from sparsebayes.engine.solvers.em import close, cycle
from sparsebayes.engine.solvers.refine import Refiner, reestimate
from sparsebayes.engine.solvers.restricted import within

Array = np.ndarray
Updates = Literal["auto", "newton", "mackay", "em"]

_FEW = 300  # functions up to which other updates than Newton's take no time to speak of
_DRAWN = 59  # one of the best 5 % is among so many with probability 0.95
_DRAWN_SHARE = 10  # Newton's method draws one function in so many, and no more than `_POOL`
_CYCLES = {"newton": 3, "mackay": 10, "em": 10}
_POOL = 256  # functions in use besides the model; more are not worth the products among them
_DEPTH = 0.1  # of the noise variance, at which functions enter
_WORTH = 0.5  # what a function has to gain there
# At the end: functions at a time, the part of the best gain that the others must have, Newton steps
# after them, and the part of what they gained that a step must gain.
_BLOCK, _SHARE, _STEPS, _ENOUGH = 384, 0.01, 4, 0.1
_LAST_STEPS, _LAST_GAIN = 50, 1e-4  # when nothing is to be added, and a part of `tol`
_NO_GAIN = 0.1  # of `tol`: a round that gains less has found no gain but rounding


@guided
@dataclass(frozen=True)
class Subspace(Solver[Problem]):
    """Updates in a subspace that grows by functions drawn at random.

    For more functions than EM can start with [1]_: cost and memory follow the number of functions
    that the model has.

    Parameters
    ----------
    n_add : int or None, default=None
        Functions drawn at a time. None is 59, which contain one of the best 5 % with probability
        0.95; for "newton" it is a tenth of all functions if that is more, but at most 256.
    n_cycles : int or None, default=None
        Updates of the precisions between draws; None is 3 for "newton" and else 10.
    size : int or None, default=None
        If given, each draw fills the active set up to this size.
    updates : {"auto", "newton", "mackay", "em"}, default="auto"
        "em" is the algorithm of the thesis, "mackay" the same with faster updates. "newton" lets
        functions enter at a lower noise and updates by Newton's method, for many functions. "auto"
        is "newton" for more than 300 functions, else "mackay".

    See Also
    --------
    EM : From all functions.
    Sequential : Chooses what is added instead of drawing it.

    References
    ----------
    .. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, Subspace
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> model = RVR(solver=Subspace(n_add=20), adapt=None, random_state=0).fit(X, y)
    >>> model.converged_, model.relevance_.size < 20
    (True, True)
    """

    n_add: int | None = None
    n_cycles: int | None = None
    size: int | None = None
    updates: Updates = "auto"

    def __post_init__(self) -> None:
        if self.n_add is not None:
            whole_number("n_add of Subspace", self.n_add)
        if self.n_cycles is not None:
            whole_number("n_cycles of Subspace", self.n_cycles)
        if self.size is not None:
            whole_number("size of Subspace", self.size)
        check_choice("updates of Subspace", self.updates, get_args(Updates))

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        updates = self.updates
        if updates == "auto":
            updates = "newton" if problem.n_functions > _FEW else "mackay"
        drawn = problem.n_functions // _DRAWN_SHARE if updates == "newton" else 0
        known = replace(
            self,
            updates=updates,
            n_cycles=self.n_cycles or _CYCLES[updates],
            n_add=self.n_add or min(max(_DRAWN, drawn), _POOL),
        )
        return known._climb(problem, tol, rng)

    def _climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        """Climb with the updates, their number and that of the functions drawn known."""
        state = start(problem)
        yield Step(state)
        queue = rng.permutation(problem.n_functions)
        size = max(_POOL, self.n_add or 0, self.size or 0)
        for first in range(0, queue.size, size):
            pool = queue[first : first + size]
            if pool.size == queue.size:
                state = yield from self._draws(problem, state, tol, pool)
                break
            index = np.concatenate([state.active, pool])
            drawn = np.arange(state.active.size, index.size)
            state = yield from within(problem, state, index, partial(self._draws, queue=drawn), tol)
        if self.updates == "newton":
            divided = problem.capacity < problem.n_functions
            state = yield from (_by_parts if divided else _settle)(problem, state, tol)
            return finish(problem, state)
        return (yield from close(problem, state, tol, mackay=self.updates == "mackay"))

    def _draws(self, problem: Problem, state: State, tol: float, queue: Array) -> Path:
        """Functions of the queue in turn, with updates after each draw."""
        while queue.size:
            room = self.n_add if self.size is None else self.size - state.active.size
            room = max(1, room or 0)
            drawn, queue = queue[:room], queue[room:]
            state = self._lower(problem, state, drawn) or self._updated(
                problem, _enter(problem, state, drawn, tol)
            )
            yield Step(state)
        return state

    def _lower(self, problem: Problem, state: State, drawn: Array) -> State | None:
        """Let functions enter at a lower noise; None where that leads no higher."""
        if self.updates != "newton" or problem.noise is None:
            return None
        beta = min(state.beta / _DEPTH, problem.noise.max_beta)
        low = problem.move(state, state.alpha, beta)
        if low is None:
            return None
        grown = _enter(problem, low, drawn, _WORTH)
        if grown is low:
            return None
        grown = self._updated(problem, grown)
        higher = grown.objective > state.objective and not collapsed(problem, grown)
        return grown if higher else None

    def _updated(self, problem: Problem, state: State) -> State:
        n_cycles = self.n_cycles or 0
        if self.updates == "newton":
            return Refiner(problem).climb(state, free=True, steps=n_cycles, tol=0.0)
        for _ in range(n_cycles):
            new = cycle(problem, state, mackay=self.updates == "mackay")
            if new is None:
                break
            state = new
        return state


def _enter(problem: Problem, state: State, drawn: Array, least: float) -> State:
    """Add those that gain more than `least`, the best first."""
    scores = score(problem, state)
    drawn = drawn[scores.gain[drawn] > least]
    drawn = drawn[np.argsort(-scores.gain[drawn], kind="stable")]
    return add(problem, state, scores, drawn, least)


def _by_parts(problem: Problem, state: State, tol: float) -> Path:
    """Look at all functions, as many at a time as the model has."""
    before = -np.inf
    while state.objective > before + _NO_GAIN * tol:
        before = state.objective
        queue = np.setdiff1d(np.arange(problem.n_functions), state.active)
        while queue.size:
            size = max(_POOL, state.active.size)
            pool, queue = queue[:size], queue[size:]
            index = np.concatenate([state.active, pool])
            state = yield from within(problem, state, index, _settle, tol)
    return state


def _settle(problem: Problem, state: State, tol: float) -> Path:
    """Add what gains and update, until no single step gains more than `tol`."""
    refiner, before = Refiner(problem), -np.inf
    while True:
        state = yield from _grow(refiner, state, tol)
        state = refiner.climb(state, free=True, steps=_LAST_STEPS, tol=_LAST_GAIN * tol)
        yield Step(state)
        if state.objective <= before + _NO_GAIN * tol or collapsed(problem, state):
            return state  # what looked like a gain was none, or led too far
        before = state.objective
        moved = reestimate(problem, state, tol)
        if moved is state and score(problem, state).largest <= tol:
            return state
        state = moved


def _grow(refiner: Refiner, state: State, tol: float) -> Path:
    """Add functions in blocks with a few Newton steps after each, until none gains `tol`."""
    problem, gain = refiner.problem, np.inf
    while gain > tol and not collapsed(problem, state):
        before, scores = state.objective, score(problem, state)
        least = max(tol, _SHARE * scores.largest)
        state = add(problem, state, scores, spread(scores.ranked(), _BLOCK), least)
        enough = _ENOUGH * (state.objective - before)
        state = refiner.climb(state, free=True, steps=_STEPS, tol=enough)
        gain = state.objective - before
        yield Step(state)
    return state
