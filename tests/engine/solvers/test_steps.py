"""Every kind of step against dense recomputation: add, prune, re-estimate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.engine.model.posterior import gradient
from sparsebayes.engine.solvers.candidates import add, score, spread
from sparsebayes.engine.solvers.driver import start
from sparsebayes.engine.solvers.refine import Refiner, prune
from tests.engine.conftest import kernel_problem, make_problem


def same(problem, state):
    """The state agrees with a fresh computation of it."""
    fresh = problem.evaluate(state.active, state.alpha, state.beta)
    assert_allclose(state.gram, fresh.gram, rtol=1e-10, atol=1e-12)
    assert_allclose(state.cov, fresh.cov, rtol=1e-7, atol=1e-10 * np.abs(fresh.cov).max())
    assert_allclose(state.objective, fresh.objective, rtol=1e-12)


def test_scores_are_those_of_the_dense_covariance():
    problem = make_problem()
    state = problem.evaluate(np.array([0, 4]), np.array([0.7, 2.0]), 3.0)
    scores = score(problem, state)
    matrix, target = problem.design.matrix, problem.sites.target
    columns = matrix[:, state.active]
    solved = np.linalg.solve(np.eye(30) / 3.0 + columns / state.alpha @ columns.T, matrix)
    assert_allclose(scores.s, np.einsum("nm,nm->m", matrix, solved), rtol=1e-9)
    assert_allclose(scores.q, target @ solved, rtol=1e-8)
    assert np.all(scores.gain[state.active] == 0)


def test_the_gain_of_an_addition_is_what_the_objective_rises(prior):
    problem = make_problem(prior)
    state = problem.evaluate(np.array([0, 4]), np.array([0.7, 2.0]), 3.0)
    scores = score(problem, state)
    best = scores.ranked()[:1]
    new = add(problem, state, scores, best, 0.0)
    assert_allclose(new.objective - state.objective, scores.gain[best[0]], rtol=1e-9)
    same(problem, new)


def test_additions_in_turn_each_gain(prior):
    problem = kernel_problem(prior=prior)
    state = start(problem)
    scores = score(problem, state)
    new = add(problem, state, scores, spread(scores.ranked(), 40), 1e-3)
    assert new.active.size >= 2
    same(problem, new)
    objectives = [
        problem.evaluate(new.active[:k], new.alpha[:k], new.beta).objective
        for k in range(new.active.size + 1)
    ]
    assert np.all(np.diff(objectives) > 0)


def test_a_copy_of_an_active_function_gains_nothing():
    problem = kernel_problem()
    state = Refiner(problem).climb(
        problem.evaluate(np.array([30]), np.array([1.0]), 20.0), free=True, steps=50, tol=1e-12
    )
    twin = problem.evaluate(state.active, state.alpha, state.beta)
    problem.design.matrix[:, 5] = problem.design.matrix[:, 30]
    copied = type(problem)(problem.design, problem.prior, problem.sites)
    assert score(copied, twin).gain[5] < 1e-10


def test_prune_removes_what_is_better_out_and_nothing_else():
    problem = make_problem()
    active = np.arange(12)
    state = problem.evaluate(active, np.full(12, 1.0), 10.0)
    smaller = prune(problem, state)
    assert smaller.objective > state.objective
    assert set(smaller.active) >= {0, 1, 2}
    assert smaller.active.size < 12
    same(problem, smaller)


@pytest.mark.parametrize("free", [True, False])
def test_newton_climbs_to_a_stationary_point(prior, free):
    problem = kernel_problem(prior=prior)
    state = start(problem)
    scores = score(problem, state)
    state = add(problem, state, scores, spread(scores.ranked(), 40), 1e-3)
    refiner, path = Refiner(problem), [state.objective]
    for _ in range(60):
        state = refiner.climb(state, free=free, steps=1, tol=0.0)
        path.append(state.objective)
    assert np.all(np.diff(path) >= 0)
    by_alpha, by_beta = gradient(state, problem)
    assert np.abs(by_alpha).max() < 1e-6
    if free:
        assert abs(by_beta) < 1e-6
    else:
        assert state.beta == start(problem).beta


def test_spread_takes_the_best_and_reaches_the_end():
    chosen = spread(np.arange(100), 10)
    assert list(chosen[:5]) == [0, 1, 2, 3, 4]
    assert chosen.size == np.unique(chosen).size == 10 and chosen[-1] == 99
    assert list(spread(np.arange(3), 10)) == [0, 1, 2]
