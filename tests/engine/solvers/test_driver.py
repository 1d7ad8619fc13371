"""The loop: counting, stopping, interruption, and what an exploration leaves behind."""

import numpy as np
import pytest

from sparsebayes.engine import (
    EM,
    AdaptableProblem,
    Adaptive,
    Interrupted,
    Sequential,
    Step,
    Stop,
    run,
)
from sparsebayes.engine.solvers.driver import start
from tests.engine.conftest import kernel_problem


def fit(solver, problem, max_iter=1000, report=None):
    rng = np.random.default_rng(0)
    return run(solver, problem, max_iter=max_iter, tol=1e-3, rng=rng, report=report)


def test_max_iter_is_exact_and_says_so():
    problem = kernel_problem()
    whole = fit(EM(), problem)
    assert whole.n_iter > 5
    cut = fit(EM(), problem, max_iter=5)
    assert cut.n_iter == 5 and cut.stop is Stop.MAX_ITER and not cut.stop.converged
    assert np.array_equal(cut.path, whole.path[:5])
    assert "max_iter" in cut.stop.value
    exact = fit(EM(), problem, max_iter=whole.n_iter)
    assert exact.n_iter == whole.n_iter


@pytest.mark.parametrize("solver", [Sequential(), EM()], ids=["sequential", "em"])
def test_ctrl_c_leaves_the_best_model_so_far(solver):
    problem = kernel_problem()

    def interrupt(n_iter, step):
        if n_iter == 4:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt) as caught:
        fit(solver, problem, report=interrupt)
    assert isinstance(caught.value, Interrupted)
    solution = caught.value.solution
    assert solution.stop is Stop.INTERRUPTED and solution.n_iter == 4
    assert solution.state.objective == solution.path[-1]
    assert solution.state.objective > start(problem).objective


def test_a_report_can_ask_for_the_end():
    solution = fit(EM(), kernel_problem(), report=lambda n_iter, step: n_iter == 3)
    assert solution.n_iter == 3 and solution.stop is Stop.CALLBACK


def test_exploring_counts_and_leaves_no_trace():
    problem = kernel_problem()
    first = start(problem)
    worse = problem.evaluate(first.active, first.alpha, 10 * first.beta)
    assert worse.objective < first.objective

    class Explorer:
        def climb(self, problem, tol, rng):
            yield Step(first)
            yield Step(worse, accepted=False)
            return Stop.CONVERGED

    solution = fit(Explorer(), problem)
    assert solution.n_iter == 2 and solution.state is first and solution.path.size == 1


def test_what_a_problem_lacks_is_said_before_the_first_step():
    class Frozen:
        """Neither grows nor can its functions change."""

        prior = noise = None

    def lend(problem, *lacking):
        for name in AdaptableProblem.__abstractmethods__ - set(lacking):
            setattr(problem, name, None)
        return problem

    with pytest.raises(
        TypeError, match=r"^EM asks a problem for grow, overlaps, and Frozen has no"
    ):
        fit(EM(), lend(Frozen(), "grow", "overlaps"))
    adaptive = Adaptive(EM(), family=None)
    expected = r"Adaptive asks a problem for rebase, .*AdaptableProblem says, or choose another"
    with pytest.raises(TypeError, match=expected):
        fit(adaptive, lend(Frozen(), "rebase"))


def test_a_solver_may_be_any_object_that_climbs():
    class Still:
        def climb(self, problem, tol, rng):
            yield Step(start(problem))
            return Stop.CONVERGED

    assert fit(Still(), kernel_problem()).state.active.size == 0
