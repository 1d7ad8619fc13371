"""The evolution of classifiers: their complexity, and mutations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

evolution = pytest.importorskip("sparsebayes.pareto.evolution")


def test_complexity_by_its_formula_and_free_of_scale():
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((50, 4))
    columns /= columns.std(axis=0)
    weights = np.array([[0, 0, 0, 0], [0, -3.0, 0, 0], [1, 2, 0, -1], [1, 1, 1, 1.0]])
    spread = evolution.spreads(weights @ columns.T, weights)
    mass = [0, 1.0, *(np.abs(w).sum() / (columns @ w).std() for w in weights[2:])]
    assert_allclose(evolution.complexity(weights, spread, "l1"), mass, rtol=1e-8)
    squashed = np.array([0, 0.5, *(1 / (1 + 1 / m) for m in mass[2:])])  # S08 (3.3)
    both = evolution.complexity(weights, spread, "l0+")
    assert_allclose(both, np.array([0, 1, 3, 4]) + squashed, rtol=1e-8)
    scaled = weights / 3e6
    again = evolution.complexity(scaled, evolution.spreads(scaled @ columns.T, scaled), "l0+")
    assert_array_equal(again, both)
    assert min(mass[2:]) > 1


def test_complexity_is_the_same_to_the_last_bit_for_the_same_weights():
    rng = np.random.default_rng(0)
    columns, weights = rng.standard_normal((50, 9)), rng.standard_normal((300, 9))
    costs = []
    for scale in (1.0, 1 / 3, 7e5):
        scaled = scale * weights
        costs.append(
            evolution.complexity(scaled, evolution.spreads(scaled @ columns.T, scaled), "l0+")
        )
    assert_array_equal(costs[1:], [costs[0]] * 2)


def test_weights_that_cancel_are_dominated():
    column = np.random.default_rng(0).standard_normal(40)
    problem = evolution.Rates(np.column_stack([column, column]) / column.std(), column > 0, "l0+")
    cancelling = problem.evaluate(np.array([[1.0, -1.0, 1.0]]), return_values_of=["F"])
    nothing = problem.evaluate(np.array([[0.0, 0.0, -1.0]]), return_values_of=["F"])
    assert_array_equal(nothing, [[0, 0, 0]])
    assert np.all(nothing[0] <= cancelling[0]) and np.any(nothing[0] < cancelling[0])


def test_mutations_perturb_or_flip_one():
    rng = np.random.default_rng(0)
    genes = np.zeros((4000, 31))
    genes[:, [3, 7, 20]] = [1.0, -2.0, 0.5]
    before = genes.copy()
    after = evolution.mutate(genes, True, rng)
    assert_array_equal(genes, before)
    changed = (after[:, :-1] != 0) != (before[:, :-1] != 0)
    flips = changed.sum(axis=1)
    assert set(flips) == {0, 1}
    assert abs(flips.mean() - 0.5) < 0.03
    left = after[flips == 1][:, [3, 7, 20]] == 0
    assert abs(left.any(axis=1).mean() - 0.5) < 0.04  # as often out as in
    assert np.all((after != before).any(axis=1))
    assert np.all(after[flips == 1, -1] == 0)
    perturbed = after[flips == 0]
    assert np.mean(perturbed[:, -1] != 0) > 0.2
    # One of four at least, a tenth of each.
    assert 1.0 < np.mean((perturbed != before[flips == 0]).sum(axis=1)) < 1.3


def test_mutations_without_intercept_leave_it_and_start_from_nothing():
    genes = np.zeros((50, 6))
    after = evolution.mutate(genes, False, np.random.default_rng(0))
    assert_array_equal(after[:, -1], 0)
    assert_array_equal(np.count_nonzero(after, axis=1), 1)
