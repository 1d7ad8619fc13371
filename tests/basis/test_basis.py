"""Basis functions: their values, numbering, unions and parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold

from sparsebayes import RVR
from sparsebayes.basis import (
    RBF,
    Basis,
    Bias,
    KernelFunction,
    Laplacian,
    Linear,
    LinearSpline,
    Polynomial,
    Precomputed,
    ThinPlateSpline,
    Union,
    as_basis,
)
from sparsebayes.basis.kernels import squared_distances

NAMES = ["rbf", "linear_spline", "thin_plate", "polynomial", "linear", "laplacian", "precomputed"]
SCALED = [RBF, Laplacian, ThinPlateSpline, LinearSpline]
RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(12, 3))
NEW = RNG.uniform(-2, 2, size=(7, 3))
BASES = {
    **{name: as_basis(name) for name in NAMES},
    "bias": Bias(),
    "callable": as_basis(rbf_kernel),
    "union": Bias() + RBF(0.7),
    "union of unions": Bias() + RBF([1.0, 2.0, 3.0]) + (Linear() + Laplacian(2.0)),
}


@pytest.fixture(params=BASES)
def basis(request):
    return clone(BASES[request.param])


def test_columns_by_index_are_columns(basis):
    basis.fit(X)
    whole = basis.columns(NEW)
    assert whole.shape == (len(NEW), basis.n_functions_)
    assert np.isfinite(whole).all()
    index = RNG.permutation(basis.n_functions_)[:4]
    assert_allclose(basis.columns(NEW, index), whole[:, index], rtol=1e-13, atol=1e-13)
    none = np.empty(0, dtype=np.intp)
    assert basis.columns(NEW, none).shape == (len(NEW), 0)


@pytest.mark.parametrize("kept", [[], [0], slice(None, None, 2), slice(None)])
def test_select_keeps_the_functions(basis, kept):
    basis.fit(X)
    index = np.arange(basis.n_functions_)[kept]
    part = basis.select(index)
    assert part.n_functions_ == len(index)
    assert_allclose(part.columns(NEW), basis.columns(NEW, index), rtol=1e-13, atol=1e-13)
    assert_array_equal(part.center_index_, basis.center_index_[index])
    # A selection can be selected from, and leaves its origin as it was.
    again = part.select(np.arange(len(index))[1:])
    assert_allclose(again.columns(NEW), basis.columns(NEW, index[1:]), rtol=1e-13, atol=1e-13)
    assert basis.columns(NEW).shape[1] == basis.n_functions_


def test_fit_leaves_parameters_and_inputs_alone(basis):
    before = repr(basis.get_params())
    given = X.copy()
    assert basis.fit(given) is basis
    assert_array_equal(given, X)
    assert repr(basis.get_params()) == before
    twin = clone(basis)
    assert not hasattr(twin, "n_functions_")
    assert_array_equal(twin.fit(X).columns(NEW), basis.columns(NEW))


def test_centers_are_rows(basis):
    basis.fit(X)
    assert basis.center_index_.shape == (basis.n_functions_,)
    centred = basis.center_index_ >= 0
    assert set(basis.center_index_[centred]) in (set(), set(range(len(X))))
    assert_array_equal(basis.distinct_, np.arange(basis.n_functions_))


def test_rbf_against_scikit_learn():
    assert_allclose(RBF(0.7).fit(X).columns(NEW), rbf_kernel(NEW, X, gamma=0.5 / 0.49))
    scales = np.array([0.5, 1.0, 4.0])
    expected = np.exp(-0.5 * (((NEW[:, None] - X) / scales) ** 2).sum(axis=2))
    assert_allclose(RBF(scales).fit(X).columns(NEW), expected)


def test_rbf_width_of_tipping():
    r = 3.0
    expected = np.exp(-((NEW[:, None] - X) ** 2).sum(axis=2) / r**2)
    assert_allclose(RBF(r / np.sqrt(2)).fit(X).columns(NEW), expected)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("n_features", [4, 5, 40])
def test_squared_distances(n_features, offset):
    """Their error is that of the data's spread, wherever the data are."""
    rows = np.random.default_rng(0).standard_normal((60, n_features)) + offset
    rows[7] = rows[3]
    centers = rows[:40] - rows.mean(axis=0)
    exact = ((rows[:, None] - rows[None, :40]) ** 2).sum(axis=2)
    found = squared_distances(rows, rows[:40])
    reach = (centers**2).sum(axis=1).max()
    assert_allclose(found, exact, rtol=0, atol=4e-15 * reach)
    assert found.min() >= 0.0
    assert found[7, 3] <= 4e-15 * reach


@pytest.mark.parametrize("n_features", [3, 6])
def test_twins_of_a_union_are_found(n_features):
    """The same function has the same bits, whichever way its distances are computed."""
    rows = np.random.default_rng(0).standard_normal((300, n_features))
    twice = (Bias() + RBF(2.0) + RBF(1.0)) + (RBF(1.0) + RBF(2.0))
    assert twice.fit(rows).distinct_.size == 601


@pytest.mark.parametrize("n_features", [1, 5, 40])
def test_rbf_far_from_the_origin(n_features):
    # Through squares of coordinates the distances would be lost in rounding.
    near = RNG.standard_normal((6, n_features))
    far = (near + 2.0**27) - 2.0**27  # the same points, representable far away
    assert_allclose(
        RBF(2.0).fit(far + 2.0**27).columns(far + 2.0**27), RBF(2.0).fit(far).columns(far)
    )


def test_laplacian_against_scikit_learn():
    assert_allclose(Laplacian(0.7).fit(X).columns(NEW), laplacian_kernel(NEW, X, gamma=1 / 0.7))
    scales = np.array([0.5, 1.0, 4.0])
    expected = np.exp(-(np.abs(NEW[:, None] - X) / scales).sum(axis=2))
    assert_allclose(Laplacian(scales).fit(X).columns(NEW), expected)


def test_thin_plate():
    columns = ThinPlateSpline(0.7).fit(X).columns(np.vstack([NEW, X[:1]]))
    r = np.linalg.norm(NEW[:, None] - X, axis=2) / 0.7
    assert_allclose(columns[:-1], r**2 * np.log(r))
    assert columns[-1, 0] == 0.0


def test_linear_spline_is_the_integral_it_stands_for():
    # Vapnik's kernel: 1 + xz + ∫₀^min(x,z) (x − u)(z − u) du for x, z ≥ 0.
    points, centers = np.array([[0.3], [1.0], [2.5]]), np.array([[0.7], [2.0]])
    columns = LinearSpline().fit(centers).columns(points)
    for i, (x,) in enumerate(points):
        for j, (z,) in enumerate(centers):
            integral = quad(lambda u, x=x, z=z: (x - u) * (z - u), 0.0, min(x, z))[0]
            assert_allclose(columns[i, j], 1.0 + x * z + integral)


def test_linear_spline_as_tipping_prints_it():
    x, z = NEW[:, :1], X[:, :1].T
    m = np.minimum(x, z)
    expected = 1.0 + x * z + x * z * m - 0.5 * (x + z) * m**2 + m**3 / 3.0  # T01 (29)
    assert_allclose(LinearSpline().fit(X[:, :1]).columns(NEW[:, :1]), expected)


def test_linear_spline_is_a_product_with_a_width():
    scales = np.array([0.5, 1.0, 4.0])
    expected = np.ones((len(NEW), len(X)))
    for d in range(3):
        part = LinearSpline().fit(X[:, d : d + 1] / scales[d])
        expected *= part.columns(NEW[:, d : d + 1] / scales[d])
    assert_allclose(LinearSpline(scales).fit(X).columns(NEW), expected)


def test_polynomial_linear_bias_precomputed():
    a, b = NEW[:, 0], NEW[:, 1]
    two = Polynomial(2).fit(X[:, :2])
    assert_allclose(two.columns(NEW[:, :2]), np.column_stack([a, b, a * a, a * b, b * b]))
    assert_array_equal(Linear().fit(X).columns(NEW), NEW)
    assert_array_equal(Precomputed().fit(X).columns(NEW), NEW)
    assert_array_equal(Bias().fit(X).columns(NEW), np.ones((7, 1)))


@pytest.mark.parametrize("kind", SCALED)
def test_scale_is_that_of_support_vector_machines(kind):
    basis = kind("scale").fit(X)
    gamma = 1.0 / (X.shape[1] * X.var())  # gamma="scale" of SVR
    assert_allclose(basis.length_scale_, np.sqrt(0.5 / gamma))
    assert basis.length_scale == "scale"


def test_scale_with_weights():
    weights = np.array([0, 1, 2, 3] * 3, dtype=float)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    weighted = RBF().fit(X, weights)
    assert_allclose(weighted.length_scale_, RBF().fit(repeated).length_scale_)
    assert_array_equal(weighted.distinct_, np.flatnonzero(weights))


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("value", [3.0, 0.0, 1e12, 0.1])
def test_constant_inputs_have_a_scale(kind, value):
    basis = kind("scale").fit(np.full((5, 2), value))
    assert basis.length_scale_ == 1.0
    assert_array_equal(basis.distinct_, [0])


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize(
    "bad", ["auto", 0.0, -1.0, np.nan, np.inf, None, [1.0, -1.0, 1.0], [[1.0]], "1", {}, []]
)
def test_bad_length_scale(kind, bad):
    with pytest.raises(ValueError, match=rf"length_scale of {kind.__name__}"):
        kind(bad).fit(X)


@pytest.mark.parametrize("kind", SCALED)
def test_length_scales_for_other_inputs(kind):
    message = rf"length_scale of {kind.__name__} has 2 entries for 3 features; give one"
    with pytest.raises(ValueError, match=message):
        kind([1.0, 2.0]).fit(X)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "two", None])
def test_bad_degree(bad):
    with pytest.raises(ValueError, match=r"degree of Polynomial must be a whole number >= 1, got "):
        Polynomial(bad).fit(X)


def test_duplicated_rows_and_columns_are_not_distinct():
    rows = X[[0, 1, 0, 2, 1]]
    assert_array_equal(RBF().fit(rows).distinct_, [0, 1, 3])
    assert_array_equal((Bias() + RBF()).fit(rows).distinct_, [0, 1, 2, 4])
    columns = np.column_stack([X, X[:, 1], np.abs(X[:, 0]), 0.0 * X[:, 0], -0.0 * X[:, 0]])
    for kind in (Linear, Precomputed):
        assert_array_equal(kind().fit(columns).distinct_, [0, 1, 2, 4, 5])
    weights = (np.arange(12) > 2).astype(float)
    columns[:3, 3] += 1.0  # differs where there is no weight
    assert_array_equal(Linear().fit(columns, weights).distinct_, [0, 1, 2, 4, 5])
    assert_array_equal(Polynomial(2).fit(X[:, [0, 0]]).distinct_, [0, 2])


def test_functions_of_both_parts_are_not_distinct():
    assert_array_equal((RBF() + RBF()).fit(X).distinct_, np.arange(12))
    assert_array_equal((RBF() + (Bias() + RBF())).fit(X).distinct_, np.arange(13))
    assert_array_equal((RBF(1.0) + RBF(2.0)).fit(X).distinct_, np.arange(24))
    assert_array_equal((Polynomial(2) + Linear()).fit(X).distinct_, np.arange(9))
    ones = np.column_stack([X, np.ones(12)])
    assert_array_equal((Bias() + Linear()).fit(ones).distinct_, np.arange(4))
    # So narrow that each is 1 on its own row and 0 on the others: the data cannot tell.
    assert_array_equal((RBF(1e-3) + RBF(1e-4)).fit(X).distinct_, np.arange(12))
    # Alike on a few rows, yet not the same.
    assert_array_equal((Bias() + Linear()).fit(np.eye(9)).distinct_, np.arange(10))


def test_rows_without_weight_are_no_candidates():
    weights = np.ones(12)
    weights[[0, 5]] = 0.0
    basis = RBF(1.0).fit(X, weights)
    assert basis.n_functions_ == 12  # the numbering is that of the rows of X
    assert_array_equal(basis.distinct_, np.flatnonzero(weights))


def test_names_and_objects():
    for name in NAMES:
        assert isinstance(as_basis(name), Basis)
    basis = RBF(2.0)
    assert as_basis(basis) is basis
    assert isinstance(as_basis(rbf_kernel), KernelFunction)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"basis must be one of \[.*'rbf'.*\], got 'gauss'"):
        as_basis("gauss")


@pytest.mark.parametrize("bad", [None, 3, RBF, ["rbf"]])
def test_no_basis_at_all(bad):
    with pytest.raises(TypeError, match=r"a Basis object or a callable k\(X, Z\), got "):
        as_basis(bad)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Z: np.ones((len(Z), len(X) + 1)), r"returned shape \(3, 3\) .* \(2, 3\)"),
        (lambda X, Z: np.full((len(X), len(Z)), np.nan), "returned NaN or infinity"),
        (lambda X, Z: np.full((len(X), len(Z)), np.inf), "returned NaN or infinity"),
    ],
)
def test_callable_that_is_no_kernel(function, message):
    basis = KernelFunction(function).fit(X[:3])
    with pytest.raises(ValueError, match=message):
        basis.columns(X[:2])


def test_union_order_and_nesting():
    basis = (Bias() + Linear() + RBF(1.0)).fit(X)
    expected = np.hstack([np.ones((7, 1)), NEW, RBF(1.0).fit(X).columns(NEW)])
    assert_allclose(basis.columns(NEW), expected)
    assert_array_equal(basis.center_index_, [-1] * 4 + list(range(12)))
    mixed = np.array([9, 0, 5, 2])
    assert_allclose(basis.columns(NEW, mixed), expected[:, mixed])
    assert isinstance(basis, Union) and isinstance(RBF() + "linear", Union)


def test_union_selects_in_order_only():
    basis = (Linear() + RBF(1.0)).fit(X)
    with pytest.raises(ValueError, match="in the order of the basis"):
        basis.select(np.array([4, 0]))


def test_union_parameters_can_be_reached():
    basis = RBF(1.0) + Polynomial(2)
    assert basis.get_params()["left__length_scale"] == 1.0
    basis.set_params(left__length_scale=3.0, right__degree=3)
    assert basis.left.length_scale == 3.0 and basis.right.degree == 3


@pytest.mark.slow
def test_grid_search_reaches_the_basis():
    inputs = np.linspace(-5, 5, 40)[:, None]
    targets = np.sin(inputs[:, 0]) + 0.1 * RNG.standard_normal(40)
    folds = KFold(4, shuffle=True, random_state=0)
    search = GridSearchCV(RVR(RBF()), {"basis__length_scale": [1.0, 100.0]}, cv=folds)
    search.fit(inputs, targets)
    assert search.best_params_ == {"basis__length_scale": 1.0}
    grid = {"basis__left__length_scale": [1.0, 100.0]}
    union = GridSearchCV(RVR(RBF() + Linear()), grid, cv=folds)
    assert union.fit(inputs, targets).best_estimator_.basis.left.length_scale == 1.0


@pytest.mark.parametrize("method", ["fit", "columns", "select"])
def test_a_new_basis_must_implement(method):
    methods = {name: lambda self, *args: None for name in ("fit", "columns", "select")}
    assert isinstance(type("Whole", (Basis,), methods)(), Basis)
    del methods[method]
    with pytest.raises(TypeError, match=f"Mine .* {method}|Mine.*'{method}'"):
        type("Mine", (Basis,), methods)()
