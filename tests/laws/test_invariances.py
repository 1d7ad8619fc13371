"""What must not matter: the seed's second use, units, order, repetition.

Where length scales are learned this holds to the accuracy of their optimum: see test_adapt.py.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sparsebayes import RVR, Gamma
from sparsebayes.basis import RBF, Linear, Polynomial

SOLVERS = ["sequential", "em", "mackay", "subspace"]
PRIORS = ["flat", "bic"]
ATTRIBUTES = [
    "relevance_",
    "relevance_vectors_",
    "weights_",
    "sigma_",
    "feature_importances_",
    "alpha_",
    "determined_",
    "noise_variance_",
    "log_evidence_",
    "evidence_path_",
    "n_iter_",
    "offset_",
]


def sinc():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(60, 1))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(60)


def friedman():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(100, 5))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, y + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(100)


DATA = {"sinc": sinc(), "friedman": friedman()}


@pytest.fixture(params=DATA)
def data(request):
    return DATA[request.param]


@pytest.fixture(
    scope="module",
    params=[
        ("sinc", "flat"),
        ("friedman", "flat"),
        pytest.param(("friedman", "bic"), marks=pytest.mark.slow),
    ],
    ids="-".join,
)
def case(request):
    """Data and a prior; a gamma prior is not invariant to scale."""
    name, prior = request.param
    return *DATA[name], prior


# MacKay's updates are EM but for two lines.
@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name == "mackay")) for name in SOLVERS],
)
def solver(request):
    return request.param


@pytest.fixture(scope="module")
def plain(solver, case):
    """The model to compare with."""
    X, y, prior = case
    return RVR(adapt=None, solver=solver, prior=prior, random_state=0).fit(X, y)


@pytest.fixture(params=PRIORS)
def prior(request):
    return request.param


def assert_same(ours, theirs, rtol=1e-6):
    """Predictions (mean, std) agree relative to their largest."""
    for one, other in zip(ours, theirs, strict=True):
        assert_allclose(one, other, rtol=0, atol=rtol * np.abs(other).max())


def predict(model, X):
    return model.predict(X, return_std=True)


@pytest.mark.parametrize(
    ("name", "prior"),
    [
        ("sinc", "flat"),
        ("friedman", "bic"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [("sinc", "bic"), ("friedman", "flat")]
        ),
        *(pytest.param(name, Gamma(1e-3, 1e-3), marks=pytest.mark.slow) for name in DATA),
    ],
    ids=str,
)
def test_same_seed_same_bits(solver, prior, name):
    X, y = DATA[name]
    first = RVR(adapt=None, solver=solver, prior=prior, random_state=3).fit(X, y)
    again = RVR(adapt=None, solver=solver, prior=prior, random_state=3).fit(X.copy(), y.copy())
    refit = RVR(adapt=None, solver=solver, prior=prior, random_state=3).fit(X, np.cos(y)).fit(X, y)
    for other in (again, refit):
        for name in ATTRIBUTES:
            assert_array_equal(getattr(first, name), getattr(other, name), err_msg=name)
        for one, two in zip(predict(first, X), predict(other, X), strict=True):
            assert_array_equal(one, two)


@pytest.mark.slow
def test_only_subspace_draws(data):
    X, y = data
    for solver in SOLVERS[:3]:
        one = RVR(adapt=None, solver=solver, random_state=0).fit(X, y)
        other = RVR(adapt=None, solver=solver, random_state=1).fit(X, y)
        assert_array_equal(one.weights_, other.weights_)
    drawn = [RVR(adapt=None, solver="subspace", random_state=seed).fit(X, y) for seed in (0, 1)]
    assert not np.array_equal(drawn[0].evidence_path_, drawn[1].evidence_path_)


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_scaled_targets(case, plain, scale):
    X, y, _ = case
    mean, std = predict(plain, X)
    model = clone(plain).fit(X, scale * y)
    assert_same(predict(model, X), (scale * mean, abs(scale) * std))
    assert_array_equal(model.relevance_, plain.relevance_)
    # Published in the user's units: precisions fall as the square of the scale.
    assert_allclose(model.alpha_ * scale**2, plain.alpha_, rtol=1e-3)
    assert_allclose(model.noise_variance_ / scale**2, plain.noise_variance_, rtol=1e-6)
    evidence = model.log_evidence_ + len(y) * np.log(abs(scale))
    assert_allclose(evidence, plain.log_evidence_, rtol=1e-6)


@pytest.mark.slow
def test_shifted_targets(case, plain):
    X, y, _ = case
    model = clone(plain).fit(X, y + 1000.0)
    shifted, std = predict(model, X)
    assert_same((shifted - 1000.0, std), predict(plain, X))
    assert_array_equal(model.relevance_, plain.relevance_)
    assert_allclose(model.log_evidence_, plain.log_evidence_, rtol=1e-6)


@pytest.mark.sampled
def test_duplicated_basis_function(solver, case):
    X, y, prior = case
    columns = np.column_stack([np.ones(len(X)), RBF().fit(X).columns(X)])
    options = {"bias": False, "solver": solver, "prior": prior, "random_state": 0}
    model = RVR("precomputed", **options).fit(columns, y)
    expected = predict(model, columns)
    for number in (0, model.relevance_[-1], 7):  # the bias, a relevant function and another
        more = np.column_stack([columns, columns[:, number]])
        twice = RVR("precomputed", **options).fit(more, y)
        assert_same(predict(twice, more), expected)
        assert_array_equal(twice.relevance_, model.relevance_)  # the first of equals is kept


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("basis", "doubled"),
    [
        (RBF(), RBF() + RBF()),
        pytest.param(RBF(), RBF() + RBF() + RBF(), marks=pytest.mark.slow),
        (Polynomial(2), Polynomial(2) + "linear"),
    ],
    ids=str,
)
def test_duplicate_in_another_basis(solver, case, basis, doubled):
    X, y, prior = case
    options = {"solver": solver, "prior": prior, "random_state": 0}
    expected = predict(RVR(basis, **options).fit(X, y), X)
    assert_same(predict(RVR(doubled, **options).fit(X, y), X), expected)


def test_duplicated_input_of_a_linear_model(solver, prior):
    X, y = friedman()
    expected = predict(RVR("linear", solver=solver, prior=prior, random_state=0).fit(X, y), X)
    more = np.column_stack([X, X[:, 3]])
    model = RVR("linear", solver=solver, prior=prior, random_state=0).fit(more, y)
    assert_same(predict(model, more), expected)


# "subspace" draws functions by their number, which the order of the samples decides here ...
@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS[:3], scope="module")
def test_permuted_samples(case, plain):
    X, y, _ = case
    order = np.random.default_rng(5).permutation(len(y))
    permuted = clone(plain).fit(X[order], y[order])
    assert_same(predict(permuted, X), predict(plain, X))
    assert_allclose(permuted.feature_importances_, plain.feature_importances_, atol=1e-5)
    assert sorted(map(tuple, permuted.relevance_vectors_)) == sorted(
        map(tuple, plain.relevance_vectors_)
    )


# ... and here does not.
@pytest.mark.sampled
@pytest.mark.parametrize("basis", [Polynomial(2), Linear()], ids=str)
def test_permuted_samples_of_fixed_functions(solver, case, basis):
    X, y, prior = case
    order = np.random.default_rng(5).permutation(len(y))
    model = RVR(basis, solver=solver, prior=prior, random_state=0).fit(X, y)
    permuted = RVR(basis, solver=solver, prior=prior, random_state=0).fit(X[order], y[order])
    assert_same(predict(permuted, X), predict(model, X))
    assert_array_equal(permuted.relevance_, model.relevance_)


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS[:3])
def test_permuted_functions(solver, prior):
    X, y = friedman()
    order = np.random.default_rng(5).permutation(len(y))
    columns = RBF().fit(X).columns(X)
    model = RVR("precomputed", solver=solver, prior=prior).fit(columns, y)
    permuted = RVR("precomputed", solver=solver, prior=prior).fit(columns[:, order], y)
    assert_same(predict(permuted, columns[:, order]), predict(model, columns))


def test_scaled_inputs(case, plain):
    X, y, _ = case
    scaled = clone(plain).fit(4096.0 * X, y)
    assert_same(predict(scaled, 4096.0 * X), predict(plain, X))


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_scaled_functions(solver, prior, scale):
    X, y = friedman()
    model = RVR("linear", solver=solver, prior=prior, random_state=0).fit(X, y)
    scaled = RVR("linear", solver=solver, prior=prior, random_state=0).fit(scale * X, y)
    assert_same(predict(scaled, scale * X), predict(model, X))
    weights = 1.0 if scaled.relevance_[0] == 0 else scale
    slopes = np.where(scaled.relevance_ > 0, scale, weights)
    assert_allclose(scaled.weights_ * slopes, model.weights_, rtol=1e-5)
    assert_allclose(scaled.alpha_ / slopes**2, model.alpha_, rtol=1e-4)


# All rows twice could be interpolated where the noise is free: equal replicates say there is none.
@pytest.mark.sampled
@pytest.mark.parametrize(
    ("period", "fixed"), [(3, False), (1, True)], ids=["some rows", "all rows"]
)
def test_weight_two_is_a_repeated_row(solver, case, period, fixed):
    X, y, prior = case
    weights = 1 + (np.arange(len(y)) % period == 0)
    noise = 0.1 * y.var() if fixed else "estimate"
    model = RVR(adapt=None, solver=solver, prior=prior, noise=noise, random_state=0)
    weighted = clone(model).fit(X, y, weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same(predict(weighted, X), predict(repeated, X))
    assert_allclose(weighted.feature_importances_, repeated.feature_importances_, atol=1e-5)
    assert_array_equal(weighted.relevance_vectors_, repeated.relevance_vectors_)
    assert_allclose(weighted.log_evidence_, repeated.log_evidence_, rtol=1e-6)


def test_weight_zero_is_a_removed_row(solver, case):
    X, y, prior = case
    weights = (np.arange(len(y)) % 4 > 0).astype(float)
    spoiled = np.where(weights > 0, y, 1e5)
    weighted = RVR(adapt=None, solver=solver, prior=prior, random_state=0).fit(X, spoiled, weights)
    kept = weights > 0
    removed = RVR(adapt=None, solver=solver, prior=prior, random_state=0).fit(X[kept], y[kept])
    assert_same(predict(weighted, X), predict(removed, X))
    assert_allclose(weighted.feature_importances_, removed.feature_importances_, atol=1e-5)
    assert_array_equal(weighted.relevance_vectors_, removed.relevance_vectors_)
    # Numbers are those of the rows that were given (the bias is number 0).
    numbers = weighted.relevance_[weighted.relevance_ > 0] - 1
    assert_array_equal(X[numbers], weighted.relevance_vectors_)


@pytest.mark.parametrize("solver", ["em", "mackay"])
def test_common_weight_is_a_smaller_noise(solver, data):
    # With the noise fixed, weights w and variance w σ² are the same sites.
    X, y = data
    plain = RVR(adapt=None, solver=solver, noise=0.02).fit(X, y)
    weighted = RVR(adapt=None, solver=solver, noise=0.06).fit(X, y, np.full(len(y), 3.0))
    assert_same([weighted.predict(X)], [plain.predict(X)])
    assert_array_equal(weighted.relevance_, plain.relevance_)
