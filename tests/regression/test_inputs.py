"""Awkward inputs: each gives a sane result, or an error that names what to do."""

import re
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sparsebayes import EM, RVR, Flat, Gamma, Sequential, Smoothness, Subspace
from sparsebayes.basis import RBF, Polynomial
from tests.sweeps import thinned

# Some of these have a row or two.
pytestmark = pytest.mark.filterwarnings("ignore:.*too few distinct rows")

SOLVERS = ["sequential", "em", "mackay", "subspace"]
PRIORS = {"flat": "flat", "bic": "bic", "gamma": Gamma(1e-3, 1e-3)}
RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, size=(40, 2))
Y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(40)


# EM is MacKay's updates but for two lines, and takes longer.
@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name == "em")) for name in SOLVERS]
)
def solver(request):
    return request.param


@pytest.fixture(params=["flat", "bic", pytest.param("gamma", marks=pytest.mark.slow)])
def prior(request):
    return PRIORS[request.param]


def spoil(array, value):
    array = array.copy()
    array.flat[3] = value
    return array


def fit(solver="sequential", X=X, y=Y, basis="rbf", **options):
    """A fitted model that has been found sane on its own data."""
    model = RVR(basis, solver=solver, random_state=0, **options).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (len(X),)
    assert np.isfinite(mean).all() and np.isfinite(std).all()
    assert np.all(std > 0) and model.noise_variance_ > 0
    assert np.isfinite(model.log_evidence_)
    assert np.isfinite(model.sample_y(X, 2)).all()
    assert np.isfinite(model.predict(X, return_cov=True)[1]).all()
    return model


@cache
def plain(solver, **options):
    """What to compare with."""
    return fit(solver, **options)


def error(model, X=X, y=Y):
    """Root mean squared error in units of the targets' deviation."""
    return np.sqrt(np.mean((model.predict(X) - y) ** 2)) / np.std(y)


# Values that are no numbers


@pytest.mark.parametrize(
    ("value", "what"),
    [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")],
)
def test_no_numbers(value, what):
    remedy = r"[\s\S]*Drop these samples or repair their values\."
    with pytest.raises(ValueError, match=f"Input X contains {what}{remedy}"):
        RVR().fit(spoil(X, value), Y)
    with pytest.raises(ValueError, match=f"Input y contains {what}{remedy}"):
        RVR().fit(X, spoil(Y, value))
    with pytest.raises(ValueError, match=f"Input sample_weight contains {what}{remedy}"):
        RVR().fit(X, Y, spoil(np.ones(40), value))
    model = RVR().fit(X, Y)
    for method in (model.predict, model.sample_y):
        with pytest.raises(ValueError, match=f"Input X contains {what}{remedy}"):
            method(spoil(X, value))


def test_complex_and_text():
    with pytest.raises(ValueError, match="Complex data not supported"):
        RVR().fit(X + 1j, Y)
    with pytest.raises(ValueError, match="could not convert string to float"):
        RVR().fit(np.full((40, 2), "a"), Y)


# Targets


@pytest.mark.sampled
@pytest.mark.parametrize("value", [0.0, 5.0, 0.1, -1e-12, 1e12])
def test_constant_target(solver, prior, value):
    model = fit(solver, y=np.full(40, value), prior=prior)
    mean, std = model.predict(10.0 * X, return_std=True)
    assert_allclose(mean, value, rtol=1e-12)
    assert np.all(std <= 1e-12 * max(abs(value), 1.0))
    assert len(model.relevance_) == 0 and model.converged_


def test_constant_target_with_weights(solver):
    weights = np.linspace(0, 1, 40)
    targets = np.where(weights > 0, 0.3, 7.0)
    model = RVR(solver=solver).fit(X, targets, weights)
    mean, std = model.predict(X, return_std=True)
    assert_allclose(mean, 0.3)
    assert np.all(std < 1e-12)


def test_constant_target_with_given_noise(solver):
    model = fit(solver, y=np.full(40, 5.0), noise=0.25)
    assert_allclose(model.predict(X, return_std=True)[1], 0.5, rtol=1e-6)


def test_constant_target_and_a_callable(solver):
    # A model without functions must not ask a kernel for none.
    from sklearn.metrics.pairwise import rbf_kernel

    model = fit(solver, y=np.full(40, 5.0), basis=rbf_kernel, bias=False)
    assert_allclose(model.predict(X), 5.0)


def test_target_of_noise_only(solver):
    model = fit(solver, y=np.random.default_rng(1).standard_normal(40), prior="bic")
    assert 0.3 < model.noise_variance_ < 2.0


@pytest.mark.parametrize("value", [1e61, 1e300, 1e-61, 1e-300])
def test_targets_out_of_range(value):
    message = (
        re.escape(f"The largest target is {value:.3g}") + ".*rescale y to between 1e-60 and 1e60"
    )
    with pytest.raises(ValueError, match=message):
        RVR().fit(X, np.full(40, value))
    with pytest.raises(ValueError, match=r"The largest target is .*rescale y"):
        RVR().fit(X, value * Y / np.abs(Y).max())


def test_no_target():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        RVR().fit(X, None)


# Columns and rows


@pytest.mark.sampled
def test_constant_column(solver, prior):
    more = np.column_stack([X, np.full(40, 3.0)])
    basis = RBF(2.0)
    model, plain = (
        fit(solver, X=more, basis=basis, prior=prior),
        fit(solver, basis=basis, prior=prior),
    )
    assert_allclose(model.predict(more), plain.predict(X), rtol=1e-6, atol=1e-8)


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["rbf", "linear", "polynomial", "thin_plate", "linear_spline"])
def test_all_columns_constant(solver, basis):
    for value in (3.0, 0.0):
        model = fit(solver, X=np.full((40, 2), value), basis=basis)
        assert_allclose(model.predict(np.full((1, 2), value)), Y.mean())
        assert_allclose(model.noise_variance_, Y.var(), rtol=0.05)


@pytest.mark.sampled
def test_constant_column_of_a_linear_model(solver, prior):
    more = np.column_stack([X, np.ones(40)])  # the bias once more
    model, plain = (fit(solver, X=Z, basis="linear", prior=prior) for Z in (more, X))
    assert_allclose(model.predict(more), plain.predict(X), rtol=1e-5, atol=1e-6)


@pytest.mark.sampled
def test_duplicated_columns(solver, prior):
    more = np.hstack([X, X])
    for basis in ("rbf", "linear", Polynomial(2)):
        model, plain = (fit(solver, X=Z, basis=basis, prior=prior, adapt=None) for Z in (more, X))
        assert abs(error(model, more) - error(plain)) < 1e-4


@pytest.mark.sampled
def test_duplicated_rows(solver, prior):
    rows, targets = np.vstack([X, X]), np.concatenate([Y, Y + 0.3])
    model = fit(solver, X=rows, y=targets, prior=prior, basis=RBF(1.0))
    assert np.all(model.relevance_ <= 40)  # of equal rows the first
    vectors = model.relevance_vectors_
    assert len(np.unique(vectors, axis=0)) == len(vectors)
    assert model.noise_variance_ > 0.3**2 / 8  # two values at each place cannot be interpolated


def test_all_rows_equal(solver):
    model = fit(solver, X=np.ones((40, 2)))
    assert_allclose(model.predict([[1.0, 1.0]]), Y.mean())


# Few samples


@pytest.mark.parametrize("basis", ["rbf", "linear", "laplacian", "thin_plate", "linear_spline"])
def test_one_sample(solver, prior, basis):
    model = fit(solver, X=X[:1], y=Y[:1], prior=prior, basis=basis)
    assert_allclose(model.predict(X[:3]), Y[0])


def test_one_sample_with_given_noise(solver, prior):
    model = fit(solver, X=X[:1], y=Y[:1], prior=prior, noise=0.09)
    assert_allclose(model.predict(X[:1], return_std=True)[1], 0.3)


@pytest.mark.sampled
@pytest.mark.parametrize("n_samples", [2, 3, 5])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_few_samples(solver, prior, n_samples):
    model = fit(solver, X=X[:n_samples], y=Y[:n_samples], prior=prior)
    inside = model.predict(X[:n_samples])
    assert np.abs(inside - Y[:n_samples]).max() <= np.ptp(Y[:n_samples])


def test_no_samples():
    with pytest.raises(ValueError, match=r"0 sample\(s\).* a minimum of 1 is required"):
        RVR().fit(np.empty((0, 2)), np.empty(0))
    with pytest.raises(ValueError, match=r"0 feature\(s\).* a minimum of 1 is required"):
        RVR().fit(np.empty((40, 0)), Y)


def test_more_functions_than_samples(solver):
    rng = np.random.default_rng(2)
    columns = rng.standard_normal((40, 300))
    targets = 3.0 * columns[:, 7] - 2.0 * columns[:, 200] + 0.1 * rng.standard_normal(40)
    with_prior = fit(solver, X=columns, y=targets, basis="linear", prior="bic", noise=0.01)
    assert {8, 201} <= set(with_prior.relevance_)  # the bias is number 0
    assert len(with_prior.relevance_) < 40


@pytest.mark.slow
def test_more_functions_than_samples_by_default():
    rng = np.random.default_rng(2)
    columns = rng.standard_normal((40, 300))
    targets = 3.0 * columns[:, 7] - 2.0 * columns[:, 200] + 0.1 * rng.standard_normal(40)
    model = fit(X=columns, y=targets, basis="linear", prior="bic")
    assert {8, 201} <= set(model.relevance_)
    fresh = rng.standard_normal((200, 300))
    truth = 3.0 * fresh[:, 7] - 2.0 * fresh[:, 200]
    assert error(model, fresh, truth) < 0.3


# Scales and types


@pytest.mark.sampled
@pytest.mark.parametrize("scale", thinned([1e12, 1e-12]))
@pytest.mark.parametrize("basis", ["rbf", "linear", "polynomial", "laplacian", "thin_plate"])
def test_scaled_inputs(solver, scale, basis):
    expected = plain(solver, basis=basis).predict(X)
    found = fit(solver, X=scale * X, basis=basis).predict(scale * X)
    assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(Y).max())


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [1e12, 1e-12])
@pytest.mark.parametrize("prior", ["flat", "bic"])
def test_scaled_targets(solver, prior, scale):
    expected = plain(solver, prior=prior).predict(X, return_std=True)
    scaled = fit(solver, y=scale * Y, prior=prior).predict(X, return_std=True)
    for one, other in zip(scaled, expected, strict=True):
        assert_allclose(one / scale, other, rtol=0, atol=1e-5 * np.abs(other).max())


# A prior in the wrong units can end in a collapse, and then the fit says so.
@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore:RVR ended with the noise collapsed")
@pytest.mark.parametrize("scale", thinned([1e12, 1e6, 1e-6, 1e-12]))
def test_scaled_targets_and_a_gamma_prior(solver, scale):
    # Not invariant: the prior is in units of α. It must be no more than that.
    model = fit(solver, y=scale * Y, prior=Gamma(1e-3, 1e-3))
    assert error(model, y=scale * Y) <= 1.0 + 1e-9


@pytest.mark.sampled
@pytest.mark.parametrize("shift", [1e8, -1e8])
def test_shifted_inputs_and_targets(solver, shift):
    expected = fit(solver, basis=RBF(1.5)).predict(X)
    moved = fit(solver, X=X + shift, basis=RBF(1.5)).predict(X + shift)
    assert_allclose(moved, expected, atol=1e-4)
    moved = fit(solver, y=Y + shift, basis=RBF(1.5)).predict(X)
    assert_allclose(moved - shift, expected, atol=1e-4)


@pytest.mark.sampled
def test_float32(solver):
    model = fit(solver, X=X.astype(np.float32), y=Y.astype(np.float32), adapt=None)
    assert model.predict(X.astype(np.float32)).dtype == np.float64
    assert_allclose(model.predict(X), fit(solver, adapt=None).predict(X), atol=1e-3)


@pytest.mark.slow
def test_integers(solver):
    inputs, targets = np.rint(10 * X).astype(int), np.rint(100 * Y).astype(int)
    model = fit(solver, X=inputs, y=targets)
    same = fit(solver, X=inputs.astype(float), y=targets.astype(float))
    assert_array_equal(model.predict(inputs), same.predict(inputs))
    assert_array_equal(
        fit(solver, y=Y > 0).predict(X), fit(solver, y=(Y > 0).astype(float)).predict(X)
    )


@pytest.mark.slow
def test_lists_and_memory_order(solver):
    model = fit(solver)
    assert_array_equal(fit(solver, X=X.tolist(), y=Y.tolist()).predict(X), model.predict(X))
    fortran = fit(solver, X=np.asfortranarray(X))
    assert_allclose(fortran.predict(X), model.predict(X), rtol=1e-6, atol=1e-8)
    reverse = fit(solver, X=X[::-1][::-1], y=Y[::-1][::-1])
    assert_allclose(reverse.predict(X), model.predict(X), rtol=1e-6, atol=1e-8)


@pytest.mark.sampled
def test_read_only_inputs(solver):
    inputs, targets = X.copy(), Y.copy()
    inputs.flags.writeable = targets.flags.writeable = False
    model = fit(solver, X=inputs, y=targets)
    assert_array_equal(model.predict(inputs), fit(solver).predict(X))


# Shapes and use


def test_wrong_shapes():
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D array[\s\S]*reshape\(-1, 1\)"):
        RVR().fit(X[:, 0], Y)
    with pytest.raises(ValueError, match="Found array with dim 3"):
        RVR().fit(X[None], Y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[40, 39\]"):
        RVR().fit(X, Y[:-1])
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(39,\), expected \(40,\)"):
        RVR().fit(X, Y, np.ones(39))
    model = RVR().fit(X, Y)
    for method in (model.predict, model.sample_y):
        with pytest.raises(ValueError, match="X has 3 features, but RVR is expecting 2 features"):
            method(np.ones((4, 3)))
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            method(np.ones(2))


def test_bad_weights():
    with pytest.raises(ValueError, match=r"Negative values in data passed to .*sample_weight"):
        RVR().fit(X, Y, spoil(np.ones(40), -1.0))
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        RVR().fit(X, Y, np.zeros(40))


@pytest.mark.parametrize("method", ["predict", "sample_y"])
def test_unfitted(method):
    with pytest.raises(NotFittedError, match=r"not fitted yet. Call 'fit'"):
        getattr(RVR(), method)(X)


# Parameters


@pytest.mark.parametrize(
    ("name", "value", "kind", "message"),
    [
        ("basis", "gauss", ValueError, r"basis must be one of \[.*\], got 'gauss'"),
        ("basis", 3, TypeError, r"basis must be a name of .*, got 3"),
        ("basis", RBF, TypeError, r"basis must be a name of .*Basis object"),
        ("basis", RBF(-1.0), ValueError, r"length_scale of RBF must be positive .*got -1.0"),
        ("basis", RBF([1.0]), ValueError, r"has 1 entries for 2 features; give one"),
        ("solver", "newton", ValueError, r"solver must be one of \['em', .*\].*got 'newton'"),
        ("solver", None, ValueError, r"solver must be one of .*got None"),
        ("solver", Sequential, ValueError, r"solver must be .*a solver object, got <class"),
        ("prior", "jeffreys", ValueError, r"prior must be one of \['flat'.*got 'jeffreys'"),
        ("prior", -1.0, ValueError, r"prior must be .*a number c >= 0.*got -1.0"),
        ("prior", np.nan, ValueError, r"prior must be .*got nan"),
        ("prior", True, ValueError, r"prior must be .*got True"),
        ("prior", Flat, ValueError, r"prior must be .*such as Gamma\(a, b\), got <class"),
        ("noise", "guess", ValueError, r"noise must be 'estimate' or a positive .*'guess'"),
        ("noise", 0.0, ValueError, r"noise must be .*positive variance, got 0.0"),
        ("noise", -1, ValueError, r"noise must be .*positive variance, got -1"),
        ("noise", np.inf, ValueError, r"noise must be .*positive variance, got inf"),
        ("noise", None, ValueError, r"noise must be .*got None"),
        ("adapt", "yes", ValueError, r"adapt must be one of .*'ard'.*got 'yes'"),
        ("adapt", True, ValueError, r"adapt must be one of .*got True"),
        ("augment", "no", ValueError, r"augment must be True, False, 'fast' or a .*got 'no'"),
        ("augment", 0.0, ValueError, r"augment must be .*a positive variance, got 0.0"),
        ("augment", None, ValueError, r"augment must be .*got None"),
        ("calibrate", "no", ValueError, r"calibrate must be 'auto', None, a number .*got 'no'"),
        ("calibrate", 1, ValueError, r"calibrate must be .*folds from 2 on.*got 1"),
        ("calibrate", True, ValueError, r"calibrate must be .*got True"),
        ("calibrate", 2.5, ValueError, r"calibrate must be .*got 2.5"),
        ("n_restarts", -1, ValueError, r"n_restarts must be a whole number >= 0, got -1"),
        ("bias", "yes", ValueError, r"bias must be True or False, got 'yes'"),
        ("bias", None, ValueError, r"bias must be True or False, got None"),
        ("max_time", 0, ValueError, r"max_time must be a positive number of seconds, or None"),
        ("max_iter", 0, ValueError, r"max_iter must be a whole number >= 1, got 0"),
        ("max_iter", 10.5, ValueError, r"max_iter must be a whole number >= 1, got 10.5"),
        ("max_iter", "many", ValueError, r"max_iter must be a whole number >= 1, got 'many'"),
        ("max_iter", True, ValueError, r"max_iter must be a whole number >= 1, got True"),
        ("tol", 0.0, ValueError, r"tol must be a positive number .*, got 0.0"),
        ("tol", -1, ValueError, r"tol must be a positive number .*, got -1"),
        ("tol", np.nan, ValueError, r"tol must be a positive number .*, got nan"),
        ("tol", None, ValueError, r"tol must be a positive number .*, got None"),
        ("random_state", "dice", ValueError, r"random_state must be None, .* got 'dice'"),
        ("verbose", "loud", ValueError, r"verbose must be a whole number >= 0, got 'loud'"),
        ("verbose", -1, ValueError, r"verbose must be a whole number >= 0, got -1"),
        ("verbose", None, ValueError, r"verbose must be a whole number >= 0, got None"),
    ],
)
def test_wrong_parameter(name, value, kind, message):
    model = RVR().set_params(**{name: value})  # the constructor stores, fit validates
    with pytest.raises(kind, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "weights_")


def test_every_parameter_has_a_wrong_value():
    (mark,) = test_wrong_parameter.pytestmark
    assert {row[0] for row in mark.args[1]} == set(RVR().get_params(deep=False))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Smoothness(-1.0), "c of Smoothness must be a number >= 0 .* got -1.0"),
        (lambda: Smoothness(np.inf), "c of Smoothness must be a finite number, got inf"),
        (lambda: Gamma(-1.0, 1.0), "both positive or both zero, got -1.0 and 1.0"),
        (lambda: Gamma(1.0, 0.0), "both positive or both zero, got 1.0 and 0.0"),
        (lambda: Subspace(n_add=0), "n_add of Subspace must be a whole number >= 1, got 0"),
        (lambda: Subspace(n_cycles=0), "n_cycles of Subspace must be a whole number >= 1, got 0"),
        (lambda: Subspace(size=1.5), "size of Subspace must be a whole number >= 1, got 1.5"),
    ],
)
def test_wrong_parts(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [
        {"noise": np.float32(0.1)},
        {"noise": 1},
        {"prior": np.int64(1)},
        {"max_iter": np.int64(1000)},
        {"tol": np.float32(0.1)},
        {"tol": 1},
        {"bias": np.False_},
        {"verbose": False},
        {"random_state": np.random.RandomState(0)},
        {"solver": EM()},
    ],
    ids=lambda options: "-".join(f"{k}={type(v).__name__}" for k, v in options.items()),
)
def test_accepted_parameter(options):
    assert RVR(**options).fit(X, Y).converged_


@pytest.mark.filterwarnings("error")
def test_a_failed_fit_is_told(solver):
    with pytest.raises(ConvergenceWarning, match="raise max_iter"):
        RVR(solver=solver, max_iter=1).fit(X, Y)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", [csr_matrix, csr_array])
def test_sparse_matrices_are_refused_with_the_remedy(kind):
    X = np.linspace(-1, 1, 20)[:, None]
    remedy = r"Sparse data was passed for X, but dense data is required. Use '\.toarray\(\)'"
    with pytest.raises(TypeError, match=remedy):
        RVR().fit(kind(X), X[:, 0])
    model = RVR(adapt=None, calibrate=None).fit(X, X[:, 0])
    for method in (model.predict, model.predict_interval, model.sample_y):
        with pytest.raises(TypeError, match=remedy):
            method(kind(X))
