"""Effective degrees of freedom: against dense matrices, and the laws they obey."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.datasets import make_moons

from sparsebayes import ParetoClassifier
from sparsebayes.pareto.front import undominated
from sparsebayes.pareto.smoothness import Correlations

N = 60
POINTS = np.random.default_rng(0).uniform(-2, 2, (N, 2))


def standardised(columns):
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


def kernels(width, n_columns=12):
    distances = np.sum((POINTS[:, None] - POINTS[:n_columns]) ** 2, axis=-1)
    return standardised(np.exp(-distances / (2 * width**2)))


def degrees(columns, *weights):
    weights = np.array(weights, dtype=float)
    return Correlations(columns).degrees_of_freedom(weights, (weights @ columns.T).std(axis=1))


def trace(columns, weights):
    """The trace of the N×N smoothing matrix, with the precisions by a search of its own."""
    kept = weights != 0
    columns = (columns - columns.mean(axis=0))[:, kept]
    squares = weights[kept] ** 2 / (columns @ weights[kept]).var()

    def objective(log_precision):
        covariance = np.eye(len(columns)) + (columns * np.exp(-log_precision)) @ columns.T
        determined = np.sum(columns * np.linalg.solve(covariance, columns), axis=0)
        slope = squares * np.exp(log_precision) - np.exp(-log_precision) * determined
        value = np.sum(squares * np.exp(log_precision)) + np.linalg.slogdet(covariance)[1]
        return value, slope

    start = -np.log(squares)
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x
    posterior = np.linalg.inv(columns.T @ columns + np.diag(np.exp(found)))  # S08 (2.53)
    assert_allclose(np.exp(found) * (squares + np.diag(posterior)), 1, atol=1e-6)  # T01 (16)
    return np.trace(columns @ posterior @ columns.T)  # S08 (2.55), (2.57)


@pytest.mark.parametrize("width", [0.3, 1.0, 5.0])
def test_they_are_the_trace_of_the_smoothing_matrix(width):
    columns = kernels(width)
    rng = np.random.default_rng(1)
    weights = rng.laplace(size=(8, 12)) * (rng.random((8, 12)) < np.linspace(0.1, 1, 8)[:, None])
    weights[0] = 0
    weights[1] = np.eye(12)[3]
    found = degrees(columns, *weights)
    expected = [0.0, *(trace(columns, w) for w in weights[1:])]
    assert_allclose(found, expected, atol=1e-6)
    kept = np.count_nonzero(weights, axis=1)
    assert np.all(found[1:] < kept[1:])
    assert found.max() > 2


def test_orthogonal_kernels_have_a_closed_form():
    columns = np.linalg.qr(np.column_stack([np.ones(N), POINTS, POINTS**2]))[0][:, 1:] * N**0.5
    weights = np.array([0.9, 0.4, 0.0, -0.173205080756888])
    u = N * weights[weights != 0] ** 2 / np.sum(weights**2)
    assert_allclose(degrees(columns, weights)[0], np.sum(np.sqrt(u * u + 4 * u) - u) / 2, atol=1e-8)


def test_the_scale_of_weights_and_the_means_of_columns_do_not_matter():
    columns = kernels(1.0)
    weights = np.random.default_rng(0).laplace(size=(200, 12))
    found = degrees(columns, *weights)
    for scale in (1 / 3, -7e5):
        assert_array_equal(degrees(columns, *(scale * weights)), found)
    assert_allclose(degrees(columns + 100.0, *weights), found, atol=1e-7)


def test_copies_of_a_kernel_share_and_opposite_ones_cost_more():
    columns = kernels(0.5, 4)
    columns = np.column_stack([columns, columns[:, 0], columns[:, 0]])
    whole, halves, parts, against = degrees(
        columns,
        [1, -0.5, 0.2, 0, 0, 0],
        [0.5, -0.5, 0.2, 0, 0.5, 0],
        [0.2, -0.5, 0.2, 0, 0.7, 0.1],
        [2, -0.5, 0.2, 0, -1, 0],
    )
    assert_allclose([halves, parts], whole, atol=1e-6)
    assert against > whole + 0.005


def test_a_further_kernel_and_a_larger_weight_add_to_them():
    columns = kernels(1.0)
    correlations = Correlations(columns)
    weights = np.random.default_rng(0).laplace(size=12)
    growing = np.array([np.where(np.arange(12) < k, weights, 0.0) for k in range(1, 13)])
    found = correlations.degrees_of_freedom(growing, np.ones(12))
    assert np.all(np.diff(found) > 1e-4)
    larger = np.where(np.eye(12, dtype=bool), 1.1 * weights, weights)
    assert np.all(correlations.degrees_of_freedom(larger, np.ones(12)) > found[-1])


def test_no_classifier_has_less_than_one_kernel():
    rng = np.random.default_rng(0)
    least = (np.sqrt(N**2 + 4 * N) - N) / 2
    for width in (0.3, 1.0, 10.0):
        columns = kernels(width, N)
        assert_allclose(degrees(columns, *np.eye(N)), least, atol=1e-8)
        assert degrees(columns, *rng.random((50, N))).min() > least
        assert degrees(columns, *rng.laplace(size=(50, N))).min() > least
    assert 1 - 1 / N < least < 1 - 1 / N + 2 / N**2


def test_a_kernel_with_next_to_no_weight_does_not_count():
    columns = kernels(0.5)
    weights = np.random.default_rng(0).laplace(size=6)
    tiny = [1e-9, -1e-12, 1e-40, 1e-200, 5e-324, 0.0]
    alone, beside = degrees(columns, [*weights, *np.zeros(6)], [*weights, *tiny])
    assert 0 <= beside - alone < 1e-6


def test_where_kernels_cancel_they_stay_between_one_and_their_number():
    columns = kernels(20.0)
    weights = np.linalg.svd(columns, full_matrices=False)[2]
    spread = (weights @ columns.T).std(axis=1)
    mass = np.abs(weights).sum(axis=1) / spread
    told = mass < 1e7
    assert mass[told].max() > 1e4
    found = Correlations(columns).degrees_of_freedom(weights, np.where(told, spread, 0.0))
    assert_array_equal(found[~told], 0)
    assert np.all(found[told] > 0.98) and np.all(found[told] <= 12)
    assert found[1] < found[2] < found[told][-1]


def test_each_is_the_same_whoever_is_beside_it_and_in_little_memory():
    columns = kernels(1.0, 40)
    rng = np.random.default_rng(0)
    weights = rng.laplace(size=(30, 40)) * (rng.random((30, 40)) < rng.random((30, 1)))
    together = degrees(columns, *weights)
    one_by_one = np.concatenate([degrees(columns, row) for row in weights])
    with config_context(working_memory=0.1):
        assert_array_equal(degrees(columns, *weights), together)
    assert_allclose(one_by_one, together, atol=1e-8)
    assert len(np.unique(np.count_nonzero(weights, axis=1) // 8)) > 3


# Fronts


X, Y = make_moons(120, noise=0.35, random_state=0)


def fitted(**options):
    given = {"n_evaluations": 1500, "random_state": 0, "validation_fraction": None, **options}
    return ParetoClassifier(penalty="smoothness", **given).fit(X, Y)


@pytest.mark.parametrize("bias", [True, False])
def test_a_front_is_undominated_and_has_the_degrees_of_its_weights(bias):
    pytest.importorskip("pymoo")
    model = fitted(bias=bias, seeds=None)
    front = model.front_
    objectives = np.column_stack([front.fpr, -front.tpr, front.complexity])
    assert undominated(objectives).size == len(front) > 15
    columns = model.basis_.columns(X)
    some = np.arange(0, len(front), 5)
    expected = [trace(columns, w) if w.any() else 0.0 for w in model.weights_[some]]
    assert_allclose(front.complexity[some], expected, atol=1e-6)
    used = front.n_kernels > 0
    assert_array_equal(front.complexity[~used], 0)
    assert np.all(front.complexity[used] < front.n_kernels[used])
    assert front.n_kernels[model.choose(max_kernels=2)] <= 2


def test_the_same_seed_gives_the_same_front():
    pytest.importorskip("pymoo")
    first, second = (fitted(n_evaluations=600, seeds=None) for _ in range(2))
    assert first.front_.tobytes() == second.front_.tobytes()
    assert first.weights_.tobytes() == second.weights_.tobytes()
    other = fitted(n_evaluations=600, seeds=None, random_state=1)
    assert other.front_.tobytes() != first.front_.tobytes()


def test_products_count_as_memory():
    pytest.importorskip("pymoo")
    needed = (16 * 120 * 120 + 4 * 120**2) / 2**20  # more than the columns, less than both
    with config_context(working_memory=needed):
        ParetoClassifier(n_evaluations=100, seeds=None, validation_fraction=None).fit(X, Y)
        with pytest.raises(ValueError, match="working_memory"):
            fitted(n_evaluations=100, seeds=None)
