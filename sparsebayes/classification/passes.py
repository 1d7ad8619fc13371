"""Newton's method for labels whose rows are seen by passes: each step is a regression.

A pass expands the likelihood about the model found so far. With that expansion held, functions and
precisions are searched as in a regression with known noise. When the model does not move any more
its evidence is Laplace's. A search from nothing at that expansion tells whether there is a better
model elsewhere, which is then taken to its own end.

Far from where it was expanded the likelihood is another, and steps may lead astray. A sample of the
rows, each counted as often as there are rows for it, tells where they do, and then also the weights
about which to expand next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpstrf

from sparsebayes.engine import Exact, Policy, Sequential, Solution, Solver, State, Stop
from sparsebayes.engine.linalg import one_thread
from sparsebayes.engine.solvers.driver import start
from sparsebayes.engine.solvers.growth import settle

Array = np.ndarray
Expand = Callable[[Array, Array], Exact]  # from functions and their weights: one pass
Search = Callable[[Solver, Exact, float], Solution]

_MOST = 20  # passes
_APART = 1e-9  # of a function's length that others leave of it, at least
# Nats that are left to gain in the weights at the end, and the part of those in the precisions.
_MODE, _SHARE = 0.01, 0.1


class Modes(Protocol):
    """A sample of the rows."""

    def mode(self, active: Array, alpha: Array, mean: Array) -> Array:
        """The weights of a model about which to expand, from those of the last expansion."""
        ...


def passes(
    expand: Expand, drawn: Modes, first: Solution, solver: Solver, search: Search, tol: float
) -> Solution:
    """The end of the search that begins with the model of some rows; steps are passes.

    Parameters
    ----------
    expand : callable
        From functions and their weights to the problem of labels expanded about these.
    drawn : Modes
    first : Solution
        A model of some rows.
    solver, search : Solver, callable
        The latter runs a solver from nothing to its end.
    tol : float
        Of 1000 samples.
    """
    active, alpha, mean = first.state.active, first.state.alpha, first.state.mean
    path: list[float] = []
    explored = asked = False
    for count in range(1, _MOST + 1):
        problem = expand(active, mean)
        enough = tol * max(1.0, problem.n_samples / 1000.0)
        state = _begun(problem, active, alpha)
        left = np.inf
        if state.active.size == active.size:
            moved = state.mean - mean
            left = 0.5 * float(moved @ (state.gram @ moved) + state.alpha @ moved**2)
        best = _settled(problem, state, enough)
        path.append(best.objective)
        if left <= max(_MODE, _SHARE * enough) and best.objective - state.objective <= enough:
            if explored:
                return Solution(best, _rising(path), count, Stop.CONVERGED, problem)
            explored = True
            found = search(_deeply(solver), problem, tol).state
            if found.objective <= best.objective + enough:
                return Solution(best, _rising(path), count, Stop.CONVERGED, problem)
            best = found
        if not np.array_equal(best.active, active):
            asked = False
        mean = best.mean if asked else drawn.mode(best.active, best.alpha, best.mean)
        asked = asked or mean is not best.mean  # the sample is followed once
        active, alpha = best.active, best.alpha
    return Solution(best, _rising(path), count, Stop.MAX_ITER, problem)


def _deeply(solver: Solver) -> Solver:
    """The same solver, which does not stop early because a model is small: sums are cheap."""
    if not isinstance(solver, Sequential):
        return solver
    return replace(solver, policy=replace(solver.policy, tiny=0))


def _begun(problem: Exact, active: Array, alpha: Array) -> State:
    """These functions, or as many of them as the sums can tell apart."""
    state = problem.evaluate(active, alpha, 1.0)
    if state is not None:
        return state
    hessian = problem.gram(active) + np.diag(alpha)
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
