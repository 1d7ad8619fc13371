"""On which rows functions are centred."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from sparsebayes import RVR
from sparsebayes.basis import RBF, Bias, KernelFunction, Laplacian, LinearSpline, ThinPlateSpline
from sparsebayes.basis.centres import MOST_ROWS, USUAL

KERNELS = [
    lambda **options: RBF(0.3, **options),
    lambda **options: Laplacian(0.3, **options),
    lambda **options: LinearSpline(0.3, **options),
    lambda **options: ThinPlateSpline(0.3, **options),
    lambda **options: KernelFunction(lambda X, Z: X @ Z.T, **options),
]


def inputs(n_rows: int = 200) -> np.ndarray:
    return np.random.default_rng(0).uniform(size=(n_rows, 2))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_number_draws_so_many_rows(kernel) -> None:
    X = inputs()
    basis, whole = kernel(centres=30).fit(X), kernel().fit(X)
    assert basis.n_functions_ == basis.distinct_.size == 30
    assert np.array_equal(basis.centers_, X[basis.center_index_])
    assert basis.columns(X) == pytest.approx(whole.columns(X, basis.center_index_))
    more = kernel(centres=60).fit(X)
    assert set(basis.center_index_) < set(more.center_index_)
    assert kernel(centres=200).fit(X).n_functions_ == 200


@pytest.mark.parametrize("kernel", KERNELS)
def test_points_are_taken_as_they_are(kernel) -> None:
    X, points = inputs(), inputs(10) + 0.01
    basis = (Bias() + kernel(centres=np.vstack([points, points[:1]]))).fit(X)
    assert basis.n_functions_ == 12 and basis.kinds().tolist() == [-1] + [0] * 11
    assert 11 not in basis.distinct_
    assert basis.columns(X)[:, 1:11] == pytest.approx(kernel().fit(points).columns(X))


def test_rows_without_weight_have_no_centres() -> None:
    X, weights = inputs(), np.tile([0.0, 1.0], 100)
    assert np.all(RBF(centres=50).fit(X, weights).center_index_ % 2 == 1)


def test_beyond_some_size_a_rule_chooses() -> None:
    X = inputs(MOST_ROWS + 1)
    assert RBF().fit(X[:-1]).n_functions_ == MOST_ROWS
    basis = RBF().fit(X)
    assert basis.n_functions_ == USUAL
    rows = np.array([3, 77])
    moved = (Bias() + basis).fit(X).recentred(X, rows, X[rows])
    assert moved.n_functions_ == USUAL + 1 and set(rows) < set(moved.center_index_)
    assert len(set(moved.center_index_[1:]) & set(basis.center_index_)) >= USUAL - 2
    assert RBF(centres=20).fit(X).recentred(X, rows, X[rows]).n_functions_ == 20


@pytest.mark.parametrize(
    "centres",
    [0, -1, 2.5, "many", True, np.zeros((3, 5)), np.zeros(2), np.full((2, 2), np.nan), []],
)
def test_other_centres_are_refused(centres) -> None:
    with pytest.raises(ValueError, match="centres must be"):
        RBF(centres=centres).fit(inputs())


def test_parameters_are_kept() -> None:
    basis = clone(RBF(0.5, centres=7))
    assert basis.get_params() == {"length_scale": 0.5, "centres": 7}
    assert RVR(basis).set_params(basis__centres=9).basis.centres == 9


def test_a_model_is_centred_on_points_outside_the_data() -> None:
    X = np.linspace(-3, 3, 150)[:, None]
    y = np.sin(2.0 * X[:, 0]) + 0.1 * np.random.default_rng(1).standard_normal(150)
    points = np.linspace(-4, 4, 17)[:, None]
    model = RVR(RBF(0.8, centres=points)).fit(X, y)
    assert np.isin(model.relevance_vectors_, points).all() and len(model.relevance_vectors_) > 3
    mean, std = model.predict([[0.0], [40.0]], return_std=True)
    assert abs(mean[0]) < 0.2 and std[0] < 0.2
    assert model.left_out_variance_ == 0 or std[1] > 2 * std[0]
    assert model.approximation_ is None
