"""The fast algorithm as KTH19 2.1 describes it: additions, re-estimates and deletions, one climb.

Our `Sequential` goes on from there: it searches from several noise levels and other starts. KTH19
takes functions at random; here those that gain most come first, in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes.engine import Policy, Solver
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.driver import Climb, Step, finish, start
from sparsebayes.engine.solvers.growth import settle


@dataclass(frozen=True)
class OneClimb(Solver[Problem]):
    """From no function, until no single step gains more than the tolerance."""

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        state = start(problem)
        yield Step(state)
        state = yield from settle(problem, state, tol, Policy())
        return finish(problem, state)
