"""Fewer functions of a regression on labels, where those that stay say as much.

With little noise the evidence goes on asking for functions long after predictions have stopped
gaining from them. So of a model with many functions those that matter least leave, some at a time:
down to two for every seven samples, and to one for five if labels of rows left out are as likely.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparsebayes.engine import Exact, Solution, State
from sparsebayes.engine.solvers.refine import Refiner, losses

_LEAST_EACH, _MOST_EACH = 3.5, 5.0  # samples for each function
_SHARE = 0.125  # of the functions leave at a time
_WORSE = 0.01  # nats for each sample that may be lost
_STEPS, _ENOUGH = 5, 1.0  # of the precisions of those that stay, until one gains so little


def thinned(problem: Exact, solution: Solution, loss: Callable[[State], float]) -> Solution:
    """The same solution, or one with fewer functions.

    Parameters
    ----------
    problem : Exact
    solution : Solution
        Of this problem, whose functions are all at their length scales.
    loss : callable
        Minus the mean log probability of the labels of rows left out.
    """
    state = found = solution.state
    many, few = problem.n_samples / _LEAST_EACH, problem.n_samples / _MOST_EACH
    if state.active.size <= few:
        return solution
    limit = loss(state) + _WORSE
    while found.active.size > few:
        goal = many if found.active.size > many else few
        size = min(max(goal, (1.0 - _SHARE) * found.active.size), found.active.size - 1.0)
        keep = np.zeros(found.active.size, dtype=bool)
        keep[np.argsort(-losses(problem, found), kind="stable")[: int(size)]] = True
        smaller = problem.shrink(found, keep)
        if smaller is None or (goal == few and loss(smaller) > limit):
            break
        found = smaller
    if found is state:
        return solution
    inner = problem.restrict(found.active)
    begin = inner.evaluate(np.arange(found.active.size), found.alpha, found.beta)
    if begin is None:
        return solution
    end = Refiner(inner).climb(begin, free=True, steps=_STEPS, tol=_ENOUGH)
    end = replace(end, active=found.active[end.active])
    # The path ends where the objective of fewer functions does.
    path = solution.path[solution.path < end.objective]
    return replace(solution, state=end, path=np.append(path, end.objective))
