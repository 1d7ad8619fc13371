"""Fixed-point solvers that start from all functions: EM and MacKay's updates [1]_.

EM never lowers the objective. MacKay's updates are faster and may; then the EM step is taken.
Functions that the data hardly determine and whose deletion gains are pruned. At the end
the deleted functions are asked whether they would be wanted back (T01 B.1), which T01 never saw
happen; here they come back.

References
----------
.. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", 2001, app. A.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import check_switches
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.candidates import add, score, spread
from sparsebayes.engine.solvers.driver import Climb, Solver, Step, Stop, finish, start
from sparsebayes.engine.solvers.refine import Refiner, prune, reestimate

Array = np.ndarray

_HARDLY = 0.01  # functions with a smaller γ may be pruned: the data say next to nothing of them
_FACTORS = 1e-6, 1e6  # between which a precision changes in one update, so that all stay finite
_HALVINGS = 30  # of an EM step that does not rise; then rounding decides
_NEWTON_STEPS = 50  # at the end, to this part of `tol`: quadratic convergence makes that cheap
_NEWTON_GAIN = 1e-6
_NO_GAIN = 0.1  # of `tol`: a round that gains less has found no gain but rounding
_BLOCK = 64  # candidates to come back at a time; few of those deleted are wanted
_RAISED = 20  # times that precisions are multiplied by 10 until H is not singular


def cycle(problem: Problem, state: State, *, mackay: bool) -> State | None:
    """One update of all α and of β, and pruning; None where rounding allows no step up."""
    state = state.without_cov()
    for quick in (True, False) if mackay else (False,):
        alpha, beta = _update(problem, state, mackay=quick)
        size = 1.0
        for _ in range(1 if quick else _HALVINGS):
            new = problem.move(
                state,
                state.alpha * (alpha / state.alpha) ** size,
                state.beta * (beta / state.beta) ** size,
            )
            if new is not None and new.objective >= state.objective:
                return prune(problem, new.without_cov(), hardly=_HARDLY)
            size *= 0.5  # each coordinate goes uphill, so a shorter step does as well
    return None


def _update(problem: Problem, state: State, *, mackay: bool) -> tuple[Array, float]:
    push, rate = problem.prior.pull(state)
    determined, squared = state.determined, state.squared
    if mackay:  # T01 (44)
        # γ and μ² may both be lost in rounding: such a function is left to pruning.
        tiny = np.finfo(float).tiny
        alpha = (np.maximum(determined, 0.0) + 2.0 * push) / (squared + 2.0 * rate + tiny)
    else:  # T01 (43)
        alpha = (1.0 + 2.0 * push) / (squared + state.variances + 2.0 * rate)
    least, most = _FACTORS
    alpha = np.clip(alpha, least * state.alpha, most * state.alpha)
    noise = problem.noise
    if noise is None:
        return alpha, state.beta
    count, spread = noise.count, noise.scatter(state)
    if problem.prior.relative:
        count -= 2.0 * float(push.sum())
    if mackay:  # T01 (46)
        count -= state.n_determined
    else:  # T01 (50)
        spread += state.n_determined / state.beta
    if count <= 0.0:
        return alpha, state.beta
    # max_beta bounds the noise from below, and with it the quotient.
    beta = count / max(spread, count / noise.max_beta)
    return alpha, float(np.clip(beta, least * state.beta, most * state.beta))


def converge(
    problem: Problem, state: State, tol: float, *, mackay: bool
) -> Generator[Step, None, State]:
    """Cycle until one gains less than `tol`, then finish by Newton's method."""
    gain = np.inf
    while gain > tol:
        new = cycle(problem, state, mackay=mackay)
        if new is None:
            break
        gain = new.objective - state.objective
        state = new
        yield Step(state)
    state = Refiner(problem).climb(state, free=True, steps=_NEWTON_STEPS, tol=_NEWTON_GAIN * tol)
    yield Step(state)
    return state


def close(
    problem: Problem, state: State, tol: float, *, mackay: bool
) -> Generator[Step, None, Stop]:
    """Converge, and take back deleted functions as long as one gains more than `tol`."""
    before = -np.inf
    while True:
        state = yield from converge(problem, state, tol, mackay=mackay)
        if state.objective <= before + _NO_GAIN * tol:  # what looked like a gain was none
            return finish(problem, state)
        before = state.objective
        moved = reestimate(problem, state, tol)
        if moved is state:
            scores = score(problem, state)
            if scores.largest > tol:
                moved = add(problem, state, scores, spread(scores.ranked(), _BLOCK), tol)
        if moved is state:
            return finish(problem, state)
        state = moved
        yield Step(state)


def spread_variance(problem: Problem, active: Array) -> State | None:
    """These functions, with precisions that give them the targets' variance together."""
    empty = start(problem)
    if problem.energy == 0:
        return empty
    active = active[problem.norms[active] > 0]
    alpha = problem.norms[active] * (active.size / problem.energy)
    for _ in range(_RAISED):
        state = problem.evaluate(active, alpha, empty.beta)
        if state is not None:
            return state
        alpha = 10.0 * alpha  # nearly equal functions: H is singular in rounding
    return None


@guided
@dataclass(frozen=True)
class EM(Solver[Problem]):
    """Start from all functions, and re-estimate their precisions until most have left.

    EM never lowers the objective, and MacKay's updates are faster [1]_. Both take the cube of the
    number of functions at first.

    Parameters
    ----------
    mackay : bool, default=False
        Whether to take the faster updates.

    See Also
    --------
    Sequential : Starts from none, and is faster and no worse.
    Subspace : EM with some functions at a time.

    References
    ----------
    .. [1] M. Tipping, "Sparse Bayesian learning and the relevance vector machine", 2001, app. A.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import EM, RVR
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> y = np.sin(5 * X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(30)
    >>> RVR("polynomial", solver=EM(mackay=True)).fit(X, y).converged_
    True
    """

    mackay: bool = False

    def __post_init__(self) -> None:
        check_switches(mackay=self.mackay)

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        state = spread_variance(problem, problem.distinct())
        if state is None:
            return Stop.SINGULAR
        yield Step(state)
        return (yield from close(problem, state, tol, mackay=self.mackay))
