"""Subspace EM: EM in a subspace that grows by functions drawn at random [1]_.

A function is drawn, enters with its optimal α if it gains anything, and takes part in the EM
cycles that follow. (The thesis lets each function enter and leaves it to EM to prune
it; those are the functions whose optimal α is ∞.) When all have been seen, EM goes on with those
that remain.

References
----------
.. [1] J. Quiñonero-Candela, "Learning with uncertainty", 2004, section 2.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import check_switches, whole_number
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.candidates import add, score
from sparsebayes.engine.solvers.driver import Climb, Solver, Step, start
from sparsebayes.engine.solvers.em import close, cycle


@guided
@dataclass(frozen=True)
class Subspace(Solver[Problem]):
    """EM in a subspace that grows by functions drawn at random.

    For more functions than EM can start with [1]_.

    Parameters
    ----------
    n_add : int, default=59
        Functions drawn at a time; 59 contain one of the best 5 % with probability 0.95.
    n_cycles : int, default=10
        EM cycles between draws.
    size : int or None, default=None
        If given, each draw fills the active set up to this size.
    mackay : bool, default=True
        Whether to use the faster updates.

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

    n_add: int = 59
    n_cycles: int = 10
    size: int | None = None
    mackay: bool = True

    def __post_init__(self) -> None:
        whole_number("n_add of Subspace", self.n_add)
        whole_number("n_cycles of Subspace", self.n_cycles)
        if self.size is not None:
            whole_number("size of Subspace", self.size)
        check_switches(mackay=self.mackay)

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        state = start(problem)
        yield Step(state)
        queue = rng.permutation(problem.n_functions)
        while queue.size:
            room = self.n_add if self.size is None else max(1, self.size - state.active.size)
            drawn, queue = queue[:room], queue[room:]
            scores = score(problem, state)
            drawn = drawn[scores.gain[drawn] > tol]
            drawn = drawn[np.argsort(-scores.gain[drawn], kind="stable")]
            state = add(problem, state, scores, drawn, tol)
            for _ in range(self.n_cycles):
                new = cycle(problem, state, mackay=self.mackay)
                if new is None:
                    break
                state = new
            yield Step(state)
        return (yield from close(problem, state, tol, mackay=self.mackay))
