"""Lazy designs equal dense ones."""

import numpy as np
from numpy.testing import assert_allclose

from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Lazy, make_design


def make(budget, seed=0):
    matrix = np.random.default_rng(seed).standard_normal((40, 25))
    seen = []

    def compute(index):
        seen.append(len(index))
        return matrix[:, index]

    return matrix, Lazy(compute, matrix.shape, budget), seen


def test_lazy_products_are_the_dense_ones_and_come_in_blocks():
    matrix, lazy, seen = make(budget=16 * 8 * 40 * 4)
    dense = Dense(matrix)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2, 40)
    assert_allclose(lazy.squared_norms(weights), dense.squared_norms(weights))
    for rhs in (rng.standard_normal(40), rng.standard_normal((40, 3))):
        assert_allclose(lazy.project(rhs), dense.project(rhs))
        assert lazy.project(rhs).shape == dense.project(rhs).shape
    assert max(seen) == 4


def test_make_design_holds_what_fits():
    matrix, lazy, _ = make(budget=1 << 20)
    assert isinstance(make_design(lazy.columns, matrix.shape, 1 << 20), Dense)
    assert isinstance(make_design(lazy.columns, matrix.shape, 100), Lazy)


def test_gram_rows_survive_forgetting():
    matrix, _, _ = make(budget=0)
    weights = np.random.default_rng(2).uniform(0.5, 2, 40)
    problem = Exact(Dense(matrix), Flat(), Gaussian(matrix[:, 0], weights), memory_budget=0)
    problem._max_rows = 5
    expected = matrix.T @ (weights[:, None] * matrix)
    for index in ([0, 3, 7], [3, 1, 4, 7], [20, 21, 3, 0, 9]):
        index = np.array(index)
        assert_allclose(problem.gram_rows(index), expected[index])
        assert_allclose(problem.gram(index), expected[np.ix_(index, index)])
    assert problem._n_rows <= 5


def test_a_restricted_problem_is_the_same_problem():
    matrix, _, _ = make(budget=0)
    problem = Exact(Dense(matrix), Flat(), Gaussian(matrix[:, 0], np.ones(40)))
    index = np.array([5, 2, 9])
    part = problem.restrict(index)
    assert_allclose(part.gram(np.array([0, 2])), problem.gram(np.array([5, 9])))
    assert_allclose(part.moments, problem.moments[index])
    assert part.energy == problem.energy and part.capacity == 3


def test_a_problem_with_held_noise_keeps_its_own_rows():
    matrix, _, _ = make(budget=0)
    problem = Exact(Dense(matrix), Flat(), Gaussian(matrix[:, 0], np.ones(40)))
    problem.gram_rows(np.array([1, 2]))
    held = problem.hold(4.0)
    assert held.sites.noise_variance == 0.25 and problem.free
    held.gram_rows(np.array([3, 4]))
    assert_allclose(problem.gram(np.array([5, 3])), (matrix.T @ matrix)[np.ix_([5, 3], [5, 3])])
    assert_allclose(held.gram(np.array([3, 1])), (matrix.T @ matrix)[np.ix_([3, 1], [3, 1])])
