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

from sparsebayes._support.fits.clock import STOPPED, time_is_up
from sparsebayes.engine import linalg
from sparsebayes.engine.model.posterior import CREDIBLE, State
from sparsebayes.engine.model.problem import Problem

Array = np.ndarray


class Stop(Enum):
    """Why a solver stopped, and what to do about it.

    The value of a member is a sentence, which estimators have as `stop_reason_`.

    See Also
    --------
    Solution : Its `stop` is one of these.

    Examples
    --------
    >>> from sparsebayes.engine import Stop
    >>> Stop.MAX_ITER.value
    'stopped at max_iter before convergence; raise max_iter, or raise tol'
    >>> Stop.MAX_ITER.converged
    False
    """

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
    MAX_TIME = STOPPED
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
        """Whether nothing more was to be gained."""
        return self in (Stop.CONVERGED, Stop.FLOOR)


@dataclass(frozen=True, eq=False)
class Step:
    """A state that a solver reached.

    Solvers yield steps, and the driver counts and records them.

    Parameters
    ----------
    state : State
        The model.
    accepted : bool, default=True
        Whether it continues the path of the result, or only explores.
    back : bool, default=False
        Whether the solver gives up what it reached and goes on from this lower state.
    theta : ndarray or None, default=None
        The log scales of the functions, where they are learned.
    end : bool, default=False
        Whether it is an end by itself, to which a fit that collapses later may go back.
    problem : Problem or None, default=None
        Of which it is a state, where that is not the one that the solver was given.

    See Also
    --------
    Solver : Yields steps.
    run : Takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import EM, Dense, Exact, Flat, Gaussian
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> problem = Exact(Dense(np.vander(x, 4)), Flat(), Gaussian(np.sin(5 * x), np.ones(20)))
    >>> climb = EM().climb(problem, 0.01, np.random.default_rng(0))
    >>> first, second = next(climb), next(climb)
    >>> first.accepted, bool(second.state.objective > first.state.objective)
    (True, True)
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

    A solver of your own is a class with the method `climb`.

    One that asks more than `Problem` declares names the class that declares it in `needs`.

    See Also
    --------
    Sequential : The usual one.
    EM : From all functions downward.
    Subspace : By functions drawn at random.
    run : Runs one.

    Examples
    --------
    >>> from sparsebayes import RVR
    >>> from sparsebayes.engine import Step, Stop
    >>> class Nothing:
    ...     def climb(self, problem, tol, rng):
    ...         state = problem.evaluate(problem.distinct()[:0], problem.norms[:0], problem.beta)
    ...         yield Step(state)
    ...         return Stop.CONVERGED
    >>> model = RVR("linear", solver=Nothing(), calibrate=None).fit([[0], [1], [2]], [1, 2, 6])
    >>> model.predict([[2]])
    array([3.])
    """

    def climb(self, problem: P_contra, tol: float, rng: np.random.Generator) -> Climb:
        """Climb the objective of a problem, one step after another.

        Parameters
        ----------
        problem : Problem
            What is maximised.
        tol : float
            The gain below which a step is not worth it, in nats.
        rng : Generator
            Draws all that is random.

        Returns
        -------
        Stop
            Why it ended.

        Yields
        ------
        Step
            Each state that it reaches.
        """


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

    Estimators take their attributes from it.

    Parameters
    ----------
    state : State
        The model.
    path : ndarray
        The objective along the accepted states.
    n_iter : int
        All steps, the exploratory ones included.
    stop : Stop
        Why it ended.
    problem : Problem
        Of which it is the best state found: what was revised on the way is in its sites.
    theta : ndarray or None, default=None
        The log scales of the functions, where they are learned.

    See Also
    --------
    run : Gives one.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Sequential, run
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> problem = Exact(Dense(np.vander(x, 4)), Flat(), Gaussian(np.sin(5 * x), np.ones(20), 0.01))
    >>> rng = np.random.default_rng(0)
    >>> found = run(Sequential(), problem, max_iter=100, tol=0.01, rng=rng)
    >>> found.stop.converged, bool(found.path[-1] == found.state.objective)
    (True, True)
    """

    state: State
    path: Array
    n_iter: int
    stop: Stop
    problem: Problem
    theta: Array | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    What was found until then is not lost.

    Parameters
    ----------
    solution : Solution
        The best found until then.

    See Also
    --------
    run : Raises it.

    Examples
    --------
    >>> from sparsebayes.engine import Interrupted
    >>> issubclass(Interrupted, KeyboardInterrupt)
    True
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
    """Run a solver, and keep the best state that it reaches.

    The driver counts, records and reports; a solver only says where it is.

    Parameters
    ----------
    solver : Solver
        How to climb.
    problem : Problem
        What is maximised.
    max_iter : int
        The largest number of steps.
    tol : float
        The gain below which a step is not worth it, in nats.
    rng : Generator
        Draws all that is random.
    report : callable or None, default=None
        Called after each step with its number and the step; asks for an end by returning True.

    Returns
    -------
    Solution
        The best state, and how it was reached.

    Raises
    ------
    Interrupted
        After Ctrl-C, with the solution until then.

    See Also
    --------
    Exact : A problem with Gaussian noise.
    Latent : A problem with labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Sequential, run
    >>> x = np.linspace(-10, 10, 100)
    >>> z = np.sinc(x / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
    >>> bumps = Dense(np.exp(-0.5 * (np.subtract.outer(x, x) / 2) ** 2))
    >>> problem = Exact(bumps, Flat(), Gaussian(z, np.ones(100)))
    >>> found = run(Sequential(), problem, max_iter=1000, tol=0.01, rng=np.random.default_rng(0))
    >>> found.state.active.size, round(float(1 / np.sqrt(found.state.beta)), 2)
    (6, 0.09)
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
                if time_is_up():
                    stop = Stop.MAX_TIME
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


def quick(solver: Solver) -> Solver:
    """The same with less effort, for fits that are repeated, where it has a way to that."""
    return solver.quick() if hasattr(solver, "quick") else solver


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
