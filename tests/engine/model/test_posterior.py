"""Posterior, evidence and derivatives against dense algebra and finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.engine import Dense, Exact, Flat, Gaussian
from sparsebayes.engine.model.posterior import gradient, gradient_and_hessian
from tests.engine.conftest import make_problem

ACTIVE = np.array([0, 1, 2, 7, 9])


def make_state(problem, seed=0):
    alpha = np.exp(np.random.default_rng(seed).standard_normal(ACTIVE.size))
    state = problem.evaluate(ACTIVE, alpha, 3.0)
    assert state is not None
    return state


def at(problem, point):
    return problem.evaluate(ACTIVE, np.exp(point[:-1]), float(np.exp(point[-1])))


def differences(function, point, step=1e-5):
    return np.array(
        [
            (function(point + step * unit) - function(point - step * unit)) / (2 * step)
            for unit in np.eye(point.size)
        ]
    )


def test_evidence_is_that_of_the_dense_covariance():
    problem = make_problem()
    state = make_state(problem)
    columns, target = problem.design.columns(ACTIVE), problem.sites.target
    dense = np.eye(target.size) / 3.0 + columns / state.alpha @ columns.T
    _, log_det = np.linalg.slogdet(dense)
    expected = -0.5 * (
        target.size * np.log(2 * np.pi) + log_det + target @ np.linalg.solve(dense, target)
    )
    assert_allclose(state.evidence, expected, rtol=1e-12)


def test_mean_and_covariance_are_those_of_the_normal_equations():
    weights = np.random.default_rng(3).uniform(0.5, 2, 30)
    problem = make_problem(weights=weights)
    state = make_state(problem)
    columns = problem.design.columns(ACTIVE)
    hessian = 3.0 * columns.T @ (weights[:, None] * columns) + np.diag(state.alpha)
    assert_allclose(state.cov, np.linalg.inv(hessian), rtol=1e-10)
    moment = 3.0 * columns.T @ (weights * problem.sites.target)
    assert_allclose(state.mean, np.linalg.solve(hessian, moment), rtol=1e-10)
    assert_allclose(state.determined, 1 - state.alpha * np.linalg.inv(hessian).diagonal())
    residual = problem.sites.target - columns @ state.mean
    assert_allclose(problem.residual_energy(state), residual @ (weights * residual), rtol=1e-10)


def test_a_weight_of_two_is_the_sample_twice():
    weights = np.where(np.arange(30) % 3 == 0, 2.0, 1.0)
    weighted = make_state(make_problem(weights=weights))
    once = make_problem()
    rows = np.repeat(np.arange(30), weights.astype(int))
    twice = Exact(
        Dense(once.design.matrix[rows]),
        Flat(),
        Gaussian(once.sites.target[rows], np.ones(rows.size)),
    )
    repeated = make_state(twice)
    assert_allclose(weighted.evidence, repeated.evidence, rtol=1e-12)
    assert_allclose(weighted.mean, repeated.mean, rtol=1e-10)


@pytest.mark.parametrize("noise_prior", [(0.0, 0.0), (4.0, 0.7)])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_matches_finite_differences(prior, weighted, noise_prior):
    weights = np.random.default_rng(3).uniform(0.5, 2, 30) if weighted else None
    problem = make_problem(prior, weights=weights, noise_prior=noise_prior)
    state = make_state(problem)
    point = np.append(np.log(state.alpha), np.log(state.beta))
    expected = differences(lambda p: at(problem, p).objective, point)
    by_alpha, by_beta = gradient(state, problem)
    assert_allclose(np.append(by_alpha, by_beta), expected, atol=1e-6)


def test_the_fixed_point_updates_see_the_prior_s_derivative(prior):
    state = make_state(make_problem(prior))
    push, rate = prior.pull(state)
    assert np.all(push >= 0) and np.all(rate >= 0)
    assert_allclose(push - rate * state.alpha, prior.slopes(state)[0], atol=1e-12)


@pytest.mark.parametrize("noise_prior", [(0.0, 0.0), (4.0, 0.7)])
def test_hessian_matches_differences_of_the_gradient(prior, noise_prior):
    problem = make_problem(prior, noise_prior=noise_prior)
    state = make_state(problem)
    point = np.append(np.log(state.alpha), np.log(state.beta))
    expected = differences(lambda p: np.append(*gradient(at(problem, p), problem)), point)
    grad, hess = gradient_and_hessian(state, problem)
    assert_allclose(grad, np.append(*gradient(state, problem)), atol=1e-10)
    assert_allclose(hess, expected, atol=1e-6)
    grad, hess = gradient_and_hessian(state, None)
    assert_allclose(hess, expected[:-1, :-1], atol=1e-6)
    assert grad.size == ACTIVE.size


def test_a_prior_of_the_noise_is_in_the_objective_alone():
    plain, state = (make_state(make_problem(noise_prior=p)) for p in ((0.0, 0.0), (4.0, 0.7)))
    assert state.evidence == plain.evidence
    assert_allclose(state.objective - plain.objective, 4.0 * np.log(3.0) - 0.7 * 3.0)


def test_s_and_q_leave_the_function_itself_out():
    problem = make_problem()
    state = make_state(problem)
    s, q2 = state.s_and_q2()
    columns, target = problem.design.columns(ACTIVE), problem.sites.target
    for i in range(ACTIVE.size):
        rest = np.delete(np.arange(ACTIVE.size), i)
        dense = np.eye(30) / 3.0 + columns[:, rest] / state.alpha[rest] @ columns[:, rest].T
        solved = np.linalg.solve(dense, columns[:, i])
        assert_allclose(s[i], columns[:, i] @ solved, rtol=1e-9)
        assert_allclose(q2[i], (target @ solved) ** 2, rtol=1e-8)


def test_a_singular_hessian_is_no_state():
    problem = make_problem()
    twice = np.array([0, 0])
    assert problem.evaluate(twice, np.full(2, 1e-30), 1e20) is None


def test_the_empty_model_has_the_evidence_of_noise():
    problem = make_problem()
    none = np.empty(0, dtype=int)
    state = problem.evaluate(none, np.empty(0), 2.0)
    target = problem.sites.target
    expected = -0.5 * (30 * np.log(2 * np.pi / 2.0) + 2.0 * target @ target)
    assert_allclose(state.objective, expected)
    assert state.cov.shape == (0, 0)


def test_functions_are_equal_only_if_all_their_values_are():
    """Of the first two norm, sum and product with the target are the same."""
    matrix = np.array([[1.0, 4.0, 1.0], [2.0, 2.0, 2.0], [4.0, 1.0, 4.0]])
    sites = Gaussian(np.array([1.0, 0.0, 1.0]), np.ones(3))
    assert Exact(Dense(matrix), Flat(), sites).distinct().tolist() == [0, 1]
