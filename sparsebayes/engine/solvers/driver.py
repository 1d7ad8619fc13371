"""One loop for all solvers: it counts, records, reports, and stops for a stated reason.

A solver is a generator of `Step`s. The driver keeps the best accepted state, so a solver
may also explore: steps that are not `accepted` count as iterations and leave no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

import numpy as np

from sparsebayes.engine import linalg
from sparsebayes.engine.model.posterior import CREDIBLE, State
from sparsebayes.engine.model.problem import Problem

Array = np.ndarray


class Stop(Enum):
    """Why a solver stopped, and what to do about it."""

    CONVERGED = "converged: no addition, deletion or re-estimation gains more than tol"
    FLOOR = "converged with the noise at the limit of rounding: the model interpolates the targets"
    HELD = (
        "held the noise at its last credible estimate: the evidence goes on rising while the noise "
        "collapses and the model takes up all samples; use prior='bic', a fixed noise, fewer or "
        "wider basis functions, or more samples"
    )
    COLLAPSED = (
        "ended with the noise collapsed and nearly as many parameters as samples, so that its "
        "error bars mean nothing; use solver='sequential', prior='bic' or a fixed noise"
    )
    MAX_ITER = "stopped at max_iter before convergence; raise max_iter, or raise tol"
    INTERRUPTED = "interrupted; the model is the best found until then, fit again for a better one"
    CALLBACK = (
        "stopped by a callback; the model is the best found until then, fit again for a better one"
    )
    SINGULAR = (
        "stopped: the Hessian of the next state is singular in rounding; "
        "raise the noise, shorten the length scale or remove nearly equal basis functions"
    )

    @property
    def converged(self) -> bool:
        return self in (Stop.CONVERGED, Stop.FLOOR)


@dataclass(frozen=True, eq=False)
class Step:
    """A state that a solver reached.

    Attributes
    ----------
    state : State
    accepted : bool
        Whether it continues the path of the result, or only explores.
    back : bool
        Whether the solver gives up what it reached and goes on from this lower state.
    theta : ndarray or None
        The log scales of the functions, where they are learned.
    end : bool
        Whether it is an end by itself, to which a fit that collapses later may go back.
    problem : Problem or None
        Of which it is a state, where that is not the one that the solver was given.
    """

    state: State
    accepted: bool = True
    back: bool = False
    theta: Array | None = None
    end: bool = False
    problem: Problem | None = None


Climb = Generator[Step, None, Stop]
Path = Generator[Step, None, State]


P_contra = TypeVar("P_contra", bound=Problem, contravariant=True)


class Solver(Protocol[P_contra]):
    """A way to climb the objective of a problem.

    One that asks more than `Problem` declares names the class that declares it in `needs`.
    """

    def climb(self, problem: P_contra, tol: float, rng: np.random.Generator) -> Climb: ...


def check_needs(solver: Solver, problem: Problem) -> None:
    """Raise a TypeError if the problem lacks a method that the solver needs."""
    needs = getattr(solver, "needs", Problem)
    lacking = [name for name in sorted(needs.__abstractmethods__) if not hasattr(problem, name)]
    if lacking:
        raise TypeError(
            f"{type(solver).__name__} asks a problem for {', '.join(lacking)}, and "
            f"{type(problem).__name__} has no such method; write it as "
            f"engine.model.problem.{needs.__name__} says, or choose another solver."
        )


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found.

    Attributes
    ----------
    state : State
    path : ndarray
        The objective along the accepted states.
    n_iter : int
        All steps, the exploratory ones included.
    stop : Stop
    problem : Problem
        Of which it is the best state found: what was revised on the way is in its sites.
    theta : ndarray or None
        The log scales of the functions, where they are learned.
    """

    state: State
    path: Array
    n_iter: int
    stop: Stop
    problem: Problem
    theta: Array | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    Attributes
    ----------
    solution : Solution
        The best found until then.
    """

    def __init__(self, solution: Solution) -> None:
        super().__init__(solution.stop.value)
        self.solution = solution


Report = Callable[[int, Step], bool]


def run(
    solver: Solver[P_contra],
    problem: P_contra,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    report: Report | None = None,
) -> Solution:
    """Run `solver` for at most `max_iter` steps.

    `report` is called after each step and asks for an end by returning True. Ctrl-C raises
    `Interrupted`, which has the solution until then.
    """
    check_needs(solver, problem)
    at: Problem = problem
    best, theta = start(problem), None
    path: list[float] = []
    stop = Stop.MAX_ITER
    n_iter = 0
    with linalg.one_thread():
        climb = solver.climb(problem, tol, rng)
        try:
            while n_iter < max_iter:
                try:
                    step = next(climb)
                except StopIteration as end:
                    stop = end.value
                    break
                n_iter += 1
                if step.accepted:
                    best, at, theta = step.state, step.problem or problem, step.theta
                    while step.back and path and path[-1] > best.objective:
                        path.pop()
                    path.append(best.objective)
                if report is not None and report(n_iter, step):
                    stop = Stop.CALLBACK
                    break
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
    solution = Solution(best, np.array(path or [best.objective]), n_iter, stop, at, theta)
    if stop is Stop.INTERRUPTED:
        raise Interrupted(solution)
    return solution


def start(problem: Problem) -> State:
    """The empty model."""
    none = np.empty(0, dtype=np.intp)
    state = problem.evaluate(none, np.empty(0), problem.beta)
    assert state is not None
    return state


def finish(problem: Problem, state: State) -> Stop:
    """How a solver that found nothing more to gain has ended."""
    if collapsed(problem, state) and state.active.size < problem.n_functions:
        return Stop.COLLAPSED
    at_floor = problem.noise is not None and state.beta >= problem.noise.max_beta
    return Stop.FLOOR if at_floor else Stop.CONVERGED


def collapsed(problem: Problem, state: State) -> bool:
    """Whether the noise, where it is estimated, has been explained away.

    Then the model has nearly as many effective parameters as there are samples, those that a
    prior of the noise stands for included.
    """
    return problem.noise is not None and state.n_determined > CREDIBLE * problem.noise.count
