"""A search in turns with what the sites estimate besides the noise precision.

Noise levels of several targets, and how precise single samples are, are estimated given a model,
and the model given these (`Problem.revised`). Neither turn lowers the objective. Where the turns
have changed much, the model is searched for all over again: what was chosen before, length scales
too, rested on other data so to speak.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.driver import Climb, Solver, Step, Stop, collapsed, start
from sparsebayes.engine.solvers.sequential import Sequential

_MUCH = 1.0  # nats gained by turns after which the model is searched for again
_SEARCHES = 3  # at most
_NOTHING = 1e-3  # of `tol`: a revision that gains less has changed nothing
_TURNS = 200  # at most, one after the other; a few are usual


@dataclass(frozen=True, eq=False)
class InTurns(Solver[Problem]):
    """The search of a solver, and turns from where it ends.

    For what is found in turns with the model: the noise levels of several targets, and noise that
    differs between samples.

    Parameters
    ----------
    solver : Solver
        The search.
    searches : int, default=3
        How often the model may be searched for.

    See Also
    --------
    Problem : Its `in_turns` says whether there is something to be found.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian, InTurns, Sequential, run
    >>> x = np.linspace(0.0, 1.0, 40)
    >>> noise = np.random.default_rng(0).standard_normal((40, 2)) * [0.1, 0.5]
    >>> sites = Gaussian(np.column_stack([x, 1 - x]) + noise, np.ones(40), levels=np.ones(2))
    >>> problem = Exact(Dense(np.vander(x, 4)), Flat(), sites)
    >>> solver = InTurns(Sequential())
    >>> found = run(solver, problem, max_iter=500, tol=0.01, rng=np.random.default_rng(0))
    >>> found.problem.sites.levels.round(1)
    array([0.4, 2.3])
    """

    solver: Solver
    searches: int = _SEARCHES

    @property
    def needs(self) -> type:
        """What the solver asks a problem for."""
        return getattr(self.solver, "needs", Problem)

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        best, stop = yield from self._search(problem, tol, rng, accepted=True)
        for number in range(self.searches):
            before = best.state.objective
            if stop.converged:
                best, settled = yield from self._turns(best, problem, tol)
                stop = stop if settled else Stop.MAX_ITER
            little = best.state.objective - before <= _MUCH
            last = number + 1 == self.searches or not stop.converged
            if last or little or best.problem is None:
                break
            other, other_stop = yield from self._search(best.problem, tol, rng, accepted=False)
            lower = other.state.objective <= best.state.objective + tol
            # Length scales are not judged by this objective, see `scales`.
            if not _sane(other, other_stop) or (lower and other.theta is None):
                break
            best, stop = replace(other, accepted=True, back=lower), other_stop
            yield best
        return stop

    def _search(
        self, problem: Problem, tol: float, rng: np.random.Generator, *, accepted: bool
    ) -> Generator[Step, None, tuple[Step, Stop]]:
        """The best step of the whole search by the solver, and how it ended."""
        climb, best = self.solver.climb(problem, tol, rng), Step(start(problem))
        while True:
            try:
                step = next(climb)
            except StopIteration as end:
                return best, end.value
            step = replace(step, problem=step.problem or problem)
            if step.accepted:
                best = step
            yield replace(step, accepted=step.accepted and accepted)

    def _turns(
        self, best: Step, problem: Problem, tol: float
    ) -> Generator[Step, None, tuple[Step, bool]]:
        """Turns from a step, for as long as they gain, and whether they came to an end."""
        for _ in range(_TURNS):
            before = best.state
            revised = (best.problem or problem).revised(before)
            state = revised.evaluate(before.active, before.alpha, before.beta)
            if state is None or state.objective <= before.objective + _NOTHING * tol:
                break
            for step in Sequential().resume(revised, state, tol):
                state = step.state
                yield replace(step, accepted=False)
            if collapsed(revised, state):
                break
            best = Step(state, theta=best.theta, problem=revised)
            yield best
            if state.objective - before.objective <= tol:
                break
        else:
            return best, False
        return best, True


def _sane(step: Step, stop: Stop) -> bool:
    """Whether it is an end whose noise can be believed."""
    return stop.converged and step.problem is not None and not collapsed(step.problem, step.state)
