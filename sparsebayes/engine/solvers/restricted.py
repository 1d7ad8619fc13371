"""Searches among some of the functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.driver import Path

Array = np.ndarray
Searcher = Callable[[Problem, State, float], Path]


def within(problem: Problem, state: State, index: Array, search: Searcher, tol: float) -> Path:
    """Search among some functions, the active ones first."""
    inner = replace(state, active=np.arange(state.active.size))
    return renumbered(search(problem.restrict(index), inner, tol), index)


def renumbered(path: Path, index: Array) -> Path:
    """The same path of a problem restricted to some functions, these numbered as in the whole."""
    while True:
        try:
            step = next(path)
        except StopIteration as end:
            return replace(end.value, active=index[end.value.active])
        yield replace(step, state=replace(step.state, active=index[step.state.active]))
