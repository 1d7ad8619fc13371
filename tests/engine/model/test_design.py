"""Lazy designs and those of transforms equal dense ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.dictionaries import as_dictionary
from sparsebayes.engine import (
    Dense,
    Exact,
    Flat,
    Gaussian,
    Lazy,
    MatrixFree,
    Sequential,
    Smoothness,
    make_design,
    run,
)


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


def in_tiles(matrix, seen):
    def tile(index, rows):
        block = matrix[rows][:, index]
        seen.append(block.shape)
        return block

    return Lazy(lambda index: matrix[:, index], matrix.shape, 1 << 20, tile)


@pytest.mark.parametrize("some", [None, np.arange(0, 1300, 2)])
def test_tiles_add_up_to_the_dense_products(some):
    rng = np.random.default_rng(3)
    matrix, weights = rng.standard_normal((2500, 1300)), rng.uniform(0.5, 2, 2500)
    seen = []
    lazy, dense = in_tiles(matrix, seen), Dense(matrix)
    if some is not None:
        lazy, dense = lazy.restrict(some), Dense(matrix[:, some])
    for rhs in (rng.standard_normal(2500), rng.standard_normal((2500, 3))):
        projected, norms = lazy.products(rhs, weights)
        assert_allclose(projected, dense.project(rhs), atol=1e-11)
        assert_allclose(norms, dense.squared_norms(weights))
    several = np.column_stack([weights, weights**2])
    assert_allclose(lazy.squared_norms(several), dense.squared_norms(several))
    assert max(seen) == (1024, 512)


@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_a_lazy_restriction_need_no_columns(weighted):
    rng = np.random.default_rng(4)
    matrix, seen = rng.standard_normal((2500, 700)), []
    weights = rng.uniform(0.5, 2, 2500) if weighted else np.ones(2500)
    problem = Exact(in_tiles(matrix, seen), Flat(), Gaussian(matrix[:, 0], weights), 1 << 26)
    rows = problem._gram_rows(np.array([5, 17]))
    index = np.array([17, 3, 5, 99, 680])
    seen.clear()
    part = problem.restrict(index)
    assert part.crossed and seen == [(1024, 3), (1024, 3), (452, 3)]
    expected = matrix[:, index].T @ (weights[:, None] * matrix[:, index])
    assert_allclose(part._gram(np.arange(5)), expected, atol=1e-10)
    assert_array_equal(part._gram_rows(np.array([0, 2])), rows[[1, 0]][:, index])
    assert "matrix" not in part.design.__dict__
    assert_array_equal(part.design.columns(np.array([1, 4])), matrix[:, [3, 680]])
    smaller = part.restrict(np.array([4, 0]))
    assert_allclose(smaller._gram(np.arange(2)), expected[np.ix_([4, 0], [4, 0])], atol=1e-10)
    assert_array_equal(smaller.design.matrix, matrix[:, [680, 17]])


def test_make_design_holds_what_fits():
    matrix, lazy, _ = make(budget=1 << 20)
    assert isinstance(make_design(lazy.columns, matrix.shape, 1 << 20), Dense)
    assert isinstance(make_design(lazy.columns, matrix.shape, 100), Lazy)


def test_gram_rows_survive_forgetting():
    matrix, _, _ = make(budget=0)
    weights = np.random.default_rng(2).uniform(0.5, 2, 40)
    problem = Exact(Dense(matrix), Flat(), Gaussian(matrix[:, 0], weights), memory_budget=0)
    problem._rows._most = 5
    expected = matrix.T @ (weights[:, None] * matrix)
    for index in ([0, 3, 7], [3, 1, 4, 7], [20, 21, 3, 0, 9]):
        index = np.array(index)
        assert_allclose(problem._gram_rows(index), expected[index])
        assert_allclose(problem._gram(index), expected[np.ix_(index, index)])
    assert problem._rows._count <= 5


@pytest.mark.parametrize("n_samples", [300, 2000])
def test_a_restriction_keeps_the_products_that_are_known(n_samples):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((n_samples, 600))
    sites = Gaussian(rng.standard_normal(n_samples), np.ones(n_samples))
    problem = Exact(Dense(matrix), Flat(), sites)
    known, index = np.array([5, 17, 400]), np.array([400, 3, 5, 99])
    rows = problem._gram_rows(known)
    problem.design.cross = None  # nothing is computed anew
    part = problem.restrict(index)
    if not part.crossed:
        part.design.cross = None
    assert_array_equal(part._gram_rows(np.array([0, 2])), rows[[2, 0]][:, index])
    if part.crossed:
        assert_allclose(part._gram(np.arange(4)), matrix[:, index].T @ matrix[:, index])


def test_a_restriction_that_cannot_be_held_is_not():
    matrix = np.random.default_rng(0).standard_normal((40, 300))
    design = Lazy(lambda index: matrix[:, index], matrix.shape, 1 << 16)
    sites = Gaussian(matrix[:, 0], np.ones(40))
    problem = Exact(design, Flat(), sites, 1 << 16)
    part = problem.restrict(np.arange(0, 300, 2))
    assert isinstance(part.design, Lazy) and part.capacity == 64
    assert_allclose(part._gram(np.array([7])), [[matrix[:, 14] @ matrix[:, 14]]])


def test_a_restricted_problem_is_the_same_problem():
    matrix, _, _ = make(budget=0)
    problem = Exact(Dense(matrix), Flat(), Gaussian(matrix[:, 0], np.ones(40)))
    index = np.array([5, 2, 9])
    part = problem.restrict(index)
    assert_allclose(part._gram(np.array([0, 2])), problem._gram(np.array([5, 9])))
    assert_allclose(part.moments, problem.moments[index])
    assert part.energy == problem.energy and part.capacity == 3


def test_a_problem_with_held_noise_keeps_its_own_rows():
    matrix, _, _ = make(budget=0)
    problem = Exact(Dense(matrix), Flat(), Gaussian(matrix[:, 0], np.ones(40)))
    problem._gram_rows(np.array([1, 2]))
    held = problem.hold(4.0)
    assert held.sites.noise_variance == 0.25 and held.noise is None and problem.noise is problem
    held._gram_rows(np.array([3, 4]))
    assert_allclose(problem._gram(np.array([5, 3])), (matrix.T @ matrix)[np.ix_([5, 3], [5, 3])])
    assert_allclose(held._gram(np.array([3, 1])), (matrix.T @ matrix)[np.ix_([3, 1], [3, 1])])


ROWS = {
    "all": np.arange(48),
    "some": np.delete(np.arange(48), [0, 5, 6, 7, 30, 47]),
    "repeated": np.array([3, 3, 3, 40, 11, 2, 2, 47, 0, 25]),
    "in another order": np.random.default_rng(3).permutation(48),
}


def transform_pair(dictionary, shape, rows, functions=None, budget=1 << 20):
    """A design of transforms and its matrix."""
    operator = as_dictionary(dictionary).bind(shape)
    size = int(np.prod(operator.coefficient_shape))
    units = np.eye(size).reshape(size, *operator.coefficient_shape)
    matrix = np.stack([operator.synthesise(unit).ravel() for unit in units], axis=1)
    functions = np.arange(size) if functions is None else functions
    return MatrixFree(operator, rows, functions, budget), Dense(matrix[np.ix_(rows, functions)])


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("shape", [(48,), (6, 8)], ids=["signal", "image"])
@pytest.mark.parametrize("dictionary", ["haar", "sym8", "dct", "rbf", "sym8 + dct", "haar + rbf"])
def test_transforms_are_matrices(dictionary, shape, rows):
    free, dense = transform_pair(dictionary, shape, rows)
    assert free.shape == dense.shape
    rng = np.random.default_rng(1)
    count = len(rows)
    index = np.array([0, free.shape[1] - 1, 7, 20, 7])
    assert_allclose(free.columns(index), dense.columns(index), atol=1e-12)
    assert free.columns(index[:0]).shape == (count, 0)
    for rhs in (rng.standard_normal(count), rng.standard_normal((count, 3))):
        assert_allclose(free.project(rhs), dense.project(rhs), atol=1e-11)
    for weights in (np.ones(count), rng.uniform(0.5, 2, count), rng.uniform(0.5, 2, (count, 2))):
        assert_allclose(free.squared_norms(weights), dense.squared_norms(weights), atol=1e-11)
        found = free.products(rhs, weights)
        for one, expected in zip(found, dense.products(rhs, weights), strict=True):
            assert_allclose(one, expected, atol=1e-11)


def test_some_functions_of_a_transform():
    functions = np.array([3, 4, 17, 60, 95])
    free, dense = transform_pair("haar + dct", (48,), ROWS["some"], functions)
    rhs = np.random.default_rng(1).standard_normal((42, 2))
    assert free.shape == (42, 5)
    assert_allclose(free.columns(np.array([4, 2])), dense.columns(np.array([4, 2])), atol=1e-12)
    assert_allclose(free.project(rhs), dense.project(rhs), atol=1e-12)
    assert_allclose(free.project(rhs[:, 0]), dense.project(rhs[:, 0]), atol=1e-12)
    weights = rhs[:, 0] ** 2
    assert_allclose(free.squared_norms(weights), dense.squared_norms(weights), atol=1e-12)


def test_transforms_come_in_batches():
    free, dense = transform_pair("haar + dct", (48,), ROWS["some"])
    free._batch = 3
    index = np.arange(0, 96, 5)
    assert_allclose(free.columns(index), dense.columns(index), atol=1e-12)
    rhs = np.random.default_rng(1).standard_normal((42, 7))
    assert_allclose(free.project(rhs), dense.project(rhs), atol=1e-12)


def test_transforms_that_do_not_fit_say_so():
    rows = np.arange(1 << 12)
    operator = as_dictionary("dct").bind(rows.shape)
    small = MatrixFree(operator, rows, rows, memory_budget=1 << 10)
    large = MatrixFree(operator, rows, rows, memory_budget=1 << 30)
    assert small.capacity == 64 < large.capacity


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["some", "repeated"])
def test_a_fit_does_not_depend_on_the_design(rows):
    rows = ROWS[rows]
    rng = np.random.default_rng(2)
    target = np.sin(rows / 5.0) + (rows > 20) + 0.1 * rng.standard_normal(rows.size)
    sites = Gaussian(target - target.mean(), np.ones(rows.size))
    states = [
        run(
            Sequential(),
            Exact(design, Smoothness(2.0), sites),
            max_iter=1000,
            tol=1e-6,
            rng=np.random.default_rng(0),
        ).state
        for design in transform_pair("haar + rbf", (48,), rows)
    ]
    assert_allclose(states[0].objective, states[1].objective, rtol=1e-8)
    assert_allclose(states[0].beta, states[1].beta, rtol=1e-5)
    assert sorted(states[0].active) == sorted(states[1].active)


def test_a_postponed_matrix_is_computed_once_and_by_who_needs_it():
    rng, calls = np.random.default_rng(0), []
    matrix, target = rng.standard_normal((20, 8)), rng.standard_normal(20)

    def compute(index):
        calls.append(index.size)
        return matrix[:, index]

    design = make_design(compute, matrix.shape, 1 << 28, later=True)
    sites = Gaussian(target, np.ones(20))
    problem, usual = Exact(design, Flat(), sites), Exact(Dense(matrix), Flat(), sites)
    none = np.empty(0, dtype=int)
    empty = problem.evaluate(none, np.empty(0), problem.beta)
    other = problem.rebase(Dense(matrix))
    assert problem.n_functions == problem.capacity == 8
    assert not calls
    assert empty.objective == usual.evaluate(none, np.empty(0), usual.beta).objective
    np.testing.assert_array_equal(other.norms, usual.norms)
    some, alpha = np.array([2, 5]), np.ones(2)
    for _ in range(2):
        found = problem.evaluate(some, alpha, 2.0)
        assert found.objective == usual.evaluate(some, alpha, 2.0).objective
    assert sum(calls) == 8


def test_what_does_not_fit_is_not_postponed():
    design = make_design(lambda index: np.ones((20, index.size)), (20, 8), 1000, later=True)
    assert isinstance(design, Lazy)
