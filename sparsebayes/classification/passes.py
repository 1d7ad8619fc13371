"""Newton's method for labels whose rows are seen by passes: each step is a regression.

A pass expands the likelihood about the weights found so far. If these are near the mode of the
model, functions and precisions are searched as in a regression with known noise; else only the mode
is looked for. When nothing moves any more the evidence is Laplace's. A search from nothing at that
expansion tells whether there is a better model elsewhere, which is then taken to its own end.

Far from where it was expanded the likelihood is another, and steps may lead astray. A sample of the
rows, each counted as often as there are rows for it, tells how far to follow them (`Modes`). The
pass also tells the likelihood of other points on the way; if one of them is better, it is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg.lapack import dpstrf

from sparsebayes._support.fits.clock import time_is_up
from sparsebayes.engine import Exact, Policy, Sequential, Solution, Solver, State, Stop
from sparsebayes.engine.linalg import one_thread
from sparsebayes.engine.solvers.driver import start
from sparsebayes.engine.solvers.growth import settle

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of some functions; the others have none."""

    functions: Array
    values: Array


class Expansion(NamedTuple):
    """What a pass tells.

    Attributes
    ----------
    problem : Exact
        That of labels expanded about some weights.
    values : ndarray
        The log likelihood there, and with other weights.
    """

    problem: Exact
    values: Array


Expand = Callable[[list[Weights]], Expansion]  # about the first of them: one pass
Search = Callable[[Solver, Exact, float], Solution]


class Modes(Protocol):
    """A sample of the rows."""

    def follow(self, before: Weights, state: State) -> list[Weights]:
        """About which weights to expand next, and others on the way from some to a state's."""
        ...


_MOST = 20  # passes
_APART = 1e-9  # of a function's length that others leave of it, at least
# Nats that are left to gain in the weights at the end, and the part of those in the precisions.
_MODE, _SHARE = 0.01, 0.1
_NEAR = 0.5  # nats for each function by which weights that are near may be off


def passes(
    expand: Expand, drawn: Modes, first: Solution, solver: Solver, search: Search, tol: float
) -> Solution:
    """The end of the search that begins with the model of some rows; steps are passes.

    Parameters
    ----------
    expand : callable
        From weights to what a pass tells.
    drawn : Modes
    first : Solution
        A model of some rows.
    solver, search : Solver, callable
        The latter runs a solver from nothing to its end.
    tol : float
        Of 1000 samples.
    """
    model = first.state
    points = [Weights(model.active, model.mean)]
    path: list[float] = []
    sane: tuple[State, Exact] | None = None
    explored, stop = False, Stop.MAX_ITER
    for count in range(1, _MOST + 1):
        problem, values = expand(points)
        enough = tol * max(1.0, problem.n_samples / 1000.0)
        heights = values - [_penalty(model, point) for point in points]
        best, near = int(np.argmax(heights)), max(enough, _NEAR * model.active.size)
        if heights[best] > heights[0] + near:
            points = [points[best]]
            continue
        state = _begun(problem, model)
        left = _left(state, points[0])
        model = state
        if left <= near:
            model = _settled(problem, state, enough)
            sane = model, problem
            path.append(model.objective)
            if left <= max(_MODE, _SHARE * enough) and model.objective - state.objective <= enough:
                found = None if explored else search(_deeply(solver), problem, tol)
                explored = True
                if found is None or found.state.objective <= model.objective + enough:
                    cut = found is not None and found.stop is Stop.MAX_TIME
                    stop = Stop.MAX_TIME if cut else Stop.CONVERGED
                    return Solution(model, _rising(path), count, stop, problem)
                model = found.state
        if time_is_up():
            stop = Stop.MAX_TIME
            break
        points = drawn.follow(points[0], model)
    model, problem = sane or (state, problem)
    return Solution(model, _rising(path or [model.objective]), count, stop, problem)


def _penalty(model: State, weights: Weights) -> float:
    """What the prior of a model takes off; functions that it has not are free."""
    known = dict(zip(model.active.tolist(), model.alpha.tolist(), strict=True))
    alpha = np.array([known.get(number, 0.0) for number in weights.functions.tolist()])
    return 0.5 * float(alpha @ weights.values**2)


def _left(state: State, weights: Weights) -> float:
    """Nats between weights and the mode of the expansion about them."""
    place = {number: k for k, number in enumerate(state.active.tolist())}
    if not all(number in place for number in weights.functions.tolist()):
        return np.inf
    moved = state.mean.copy()
    moved[[place[number] for number in weights.functions.tolist()]] -= weights.values
    return 0.5 * float(moved @ (state.gram @ moved) + state.alpha @ moved**2)


def _deeply(solver: Solver) -> Solver:
    """The same solver, which does not stop early because a model is small: sums are cheap."""
    if not isinstance(solver, Sequential):
        return solver
    return replace(solver, policy=replace(solver.policy, tiny=0))


def _begun(problem: Exact, model: State) -> State:
    """The functions and precisions of a model, or as many of them as the sums can tell apart."""
    active, alpha = model.active, model.alpha
    state = problem.evaluate(active, alpha, 1.0)
    if state is not None:
        return state
    hessian = problem.design.cross(active, active, None) + np.diag(alpha)
    length = np.sqrt(hessian.diagonal())
    _, pivots, rank, _ = dpstrf(hessian / np.outer(length, length), tol=_APART)
    for size in range(rank, 0, -1):
        keep = np.sort(pivots[:size] - 1)
        state = problem.evaluate(active[keep], alpha[keep], 1.0)
        if state is not None:
            return state
    return start(problem)


def _settled(problem: Exact, state: State, tol: float) -> State:
    with one_thread():
        for step in settle(problem, state, tol, Policy()):
            state = step.state
    return state


def _rising(path: list[float]) -> Array:
    """Expansions about other models are no bounds of each other: the best so far."""
    return np.maximum.accumulate(np.array(path))
