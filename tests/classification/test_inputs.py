"""RVC on awkward data: a sane result, or an error that names what to do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from sparsebayes import Sequential, Smoothness
from sparsebayes.basis import RBF
from tests.classical import classical
from tests.conftest import GRID, SOLVERS, X3, Y3, X, Y

# Awkward inputs


def fit(inputs, labels, **options):
    """A fitted model that has been found sane on its own data."""
    model = classical(**options).fit(inputs, labels)
    probability = model.predict_proba(inputs)
    assert np.isfinite(probability).all()
    assert_allclose(probability.sum(axis=1), 1.0)
    assert np.isfinite(model.log_evidence_) and np.isfinite(model.sigma_).all()
    assert np.all(np.diff(model.evidence_path_) >= 0)
    return model


@pytest.fixture(
    params=[
        *SOLVERS,
        "probit",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("mean_field", "tap")),
    ]
)
def options(request):
    """Each solver with the default likelihood, each likelihood with the default solver."""
    if request.param in SOLVERS:
        return {"solver": request.param, "random_state": 0}
    inference = "laplace" if request.param == "probit" else request.param
    return {"link": "probit", "inference": inference}


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["rbf", "linear", "laplacian"])
def test_two_samples(options, basis):
    model = fit(X[:2], [0, 1], basis=basis, **options)
    assert np.abs(model.predict_proba(X[:2])[:, 1] - [0, 1]).max() <= 0.5 + 1e-9


@pytest.mark.sampled
def test_a_class_with_two_members(options):
    rows = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:2]])
    model = fit(X[rows], Y[rows], **options)
    assert model.predict_proba(X[rows])[:, 1].mean() < 0.25
    labels = np.where(np.arange(90) >= 88, 3, Y3)
    model = fit(X3, labels, **options)
    assert_array_equal(model.classes_, [0, 1, 2, 3])


def test_one_of_a_thousand(options):
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((1001, 2))
    labels = np.zeros(1001, dtype=int)
    labels[7] = 1
    model = fit(inputs, labels, basis="linear", **options)
    assert_allclose(model.predict_proba(inputs)[:, 1].mean(), 1 / 1001, atol=0.004)


@pytest.mark.sampled
@pytest.mark.parametrize("counts", [(30, 10), (5, 45), (20, 20), (20, 12, 8)], ids=str)
def test_identical_inputs_have_the_frequencies(options, counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    model = fit(np.ones((len(labels), 2)), labels, **options)
    frequency = np.array(counts) / sum(counts)
    probability = model.predict_proba([[1.0, 1.0]])[0]
    tolerance = 0.05 if len(counts) == 2 else 0.15
    assert_allclose(probability, frequency, atol=tolerance)


@pytest.mark.sampled
@pytest.mark.parametrize("basis", ["rbf", "linear"])
@pytest.mark.parametrize("several", [False, True])
def test_separable_classes(options, basis, several):
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-3, 3, size=(60, 2))
    labels = np.digitize(inputs[:, 0], [-1.0, 1.0] if several else [0.0])
    model = fit(inputs, labels, basis=basis, **options)
    assert np.isfinite(model.weights_).all()
    assert model.score(inputs, labels) > 0.9
    near = np.column_stack([np.linspace(-0.05, 0.05, 5), np.zeros(5)])
    probability = np.vstack([model.predict_proba(near), model.predict_proba(inputs)])
    assert np.all(probability >= 0) and np.all(probability <= 1)
    if options.get("inference") == "mean_field":
        return  # its evidence is flat there: the weights are as large as the search makes them
    assert np.abs(model.weights_).max() < 1e6
    if not several:
        assert np.all(probability > 0) and np.all(probability < 1)
        assert np.all(probability[:5] > 1e-3) and np.all(probability[:5] < 1 - 1e-3)


@pytest.mark.sampled
def test_a_constant_column(options):
    more = np.column_stack([X, np.full(len(X), 3.0)])
    model = fit(more, Y, basis=RBF(1.0), **options)
    plain = fit(X, Y, basis=RBF(1.0), **options)
    assert_allclose(model.predict_proba(more), plain.predict_proba(X), atol=1e-6)
    linear = [fit(Z, Y, basis="linear", **options) for Z in (np.column_stack([X, np.ones(80)]), X)]
    assert_allclose(
        linear[0].predict_proba(np.column_stack([X, np.ones(80)])),
        linear[1].predict_proba(X),
        atol=1e-5,
    )


@pytest.mark.sampled
def test_duplicated_rows(options):
    rows, labels = np.vstack([X, X]), np.concatenate([Y, Y])
    model = fit(rows, labels, **options)
    assert np.all(model.relevance_ <= len(X))  # of equal rows the first
    vectors = model.relevance_vectors_
    assert len(np.unique(vectors, axis=0)) == len(vectors)
    opposite = fit(rows, np.concatenate([Y, 1 - Y]), **options)
    assert_allclose(opposite.predict_proba(X), 0.5, atol=0.05)


@pytest.mark.sampled
def test_duplicated_functions(options):
    columns = rbf_kernel(X, X, gamma=2.0)
    twice = np.hstack([columns, columns[:, :20]])
    model = fit(twice, Y, basis="precomputed", **options)
    if options.get("solver") == "subspace":  # draws by number
        return
    plain = fit(columns, Y, basis="precomputed", **options)
    assert_allclose(model.predict_proba(twice), plain.predict_proba(columns), atol=1e-6)


@pytest.mark.sampled
def test_more_functions_than_samples(options):
    rng = np.random.default_rng(2)
    columns = rng.standard_normal((50, 300))
    labels = (columns[:, 7] - columns[:, 200] + 0.3 * rng.standard_normal(50) > 0).astype(int)
    model = fit(columns, labels, basis="linear", prior="bic", **options)
    assert len(model.relevance_) < 50
    assert model.score(columns, labels) > 0.8


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [1e12, 1e-12])
@pytest.mark.parametrize("basis", ["rbf", "linear", "polynomial"])
def test_scaled_inputs(options, scale, basis):
    plain = fit(X, Y, basis=basis, **options).predict_proba(X)
    model = fit(scale * X, Y, basis=basis, **options)
    assert_allclose(model.predict_proba(scale * X), plain, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_scaled_inputs_of_several_classes(scale):
    for basis in ("rbf", "linear"):
        plain = fit(X3, Y3, basis=basis).predict_proba(X3)
        model = fit(scale * X3, Y3, basis=basis)
        assert_allclose(model.predict_proba(scale * X3), plain, atol=1e-3)


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS[:3])
def test_permuted_samples(solver):
    order = np.random.default_rng(5).permutation(len(Y))
    model, permuted = (classical(solver=solver).fit(X[o], Y[o]) for o in (slice(None), order))
    assert_allclose(permuted.predict_proba(GRID), model.predict_proba(GRID), atol=1e-5)


@pytest.mark.slow
def test_float32_lists_and_memory_order():
    expected = classical().fit(X, Y).predict_proba(GRID)
    single = classical().fit(X.astype(np.float32), Y)
    assert single.predict_proba(GRID.astype(np.float32)).dtype == np.float64
    assert_allclose(single.predict_proba(GRID), expected, atol=1e-3)
    assert_array_equal(classical().fit(X.tolist(), Y.tolist()).predict_proba(GRID), expected)
    assert_allclose(
        classical().fit(np.asfortranarray(X), Y).predict_proba(GRID), expected, atol=1e-8
    )
    inputs, labels = X.copy(), Y.copy()
    inputs.flags.writeable = labels.flags.writeable = False
    assert_array_equal(classical().fit(inputs, labels).predict_proba(GRID), expected)


def spoil(array, value):
    array = array.astype(float)
    array.flat[3] = value
    return array


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
def test_no_numbers(value, what):
    remedy = r"[\s\S]*Drop these samples or repair their values\."
    with pytest.raises(ValueError, match=f"Input X contains {what}{remedy}"):
        classical().fit(spoil(X, value), Y)
    with pytest.raises(ValueError, match=f"Input sample_weight contains {what}{remedy}"):
        classical().fit(X, Y, spoil(np.ones(80), value))
    with pytest.raises(ValueError, match=f"Input y contains {what}{remedy}"):
        classical().fit(X, spoil(Y, value))
    model = classical().fit(X, Y)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=f"Input X contains {what}{remedy}"):
            method(spoil(X, value))


def test_wrong_shapes():
    with pytest.raises(ValueError, match=r"Expected 2D array, got 1D array"):
        classical().fit(X[:, 0], Y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[80, 79\]"):
        classical().fit(X, Y[:-1])
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(79,\), expected \(80,\)"):
        classical().fit(X, Y, np.ones(79))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        classical().fit(np.empty((0, 2)), np.empty(0))
    with pytest.raises(ValueError, match=r"Negative values in data passed to .*sample_weight"):
        classical().fit(X, Y, spoil(np.ones(80), -1.0))
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        classical().fit(X, Y, np.zeros(80))
    model = classical().fit(X, Y)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match="X has 3 features, but RVC is expecting 2 features"):
            method(np.ones((4, 3)))
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            method(np.ones(2))


METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function"]


@pytest.mark.parametrize("method", METHODS)
def test_unfitted(method):
    with pytest.raises(NotFittedError, match=r"not fitted yet. Call 'fit'"):
        getattr(classical(), method)(X)


# Parameters


@pytest.mark.parametrize(
    ("name", "value", "kind", "message"),
    [
        ("basis", "gauss", ValueError, r"basis must be one of \[.*\], got 'gauss'"),
        ("basis", 3, TypeError, r"basis must be a name of .*, got 3"),
        ("basis", RBF(-1.0), ValueError, r"length_scale of RBF must be positive .*got -1.0"),
        ("solver", "newton", ValueError, r"solver must be one of \['em', .*\].*got 'newton'"),
        ("solver", Sequential, ValueError, r"solver must be .*a solver object, got <class"),
        ("prior", "jeffreys", ValueError, r"prior must be one of \['flat'.*got 'jeffreys'"),
        ("prior", -1.0, ValueError, r"prior must be .*a number c >= 0.*got -1.0"),
        ("prior", np.nan, ValueError, r"prior must be .*got nan"),
        ("prior", Smoothness(2.0), ValueError, r"prior=Smoothness.*prior=Trace\(2.0\), or .* 2.0"),
        ("link", "cauchit", ValueError, r"link must be one of \['auto', .*got 'cauchit'"),
        ("link", None, ValueError, r"link must be one of .*got None"),
        ("inference", "ep", ValueError, r"inference must be one of \['laplace', .*got 'ep'"),
        ("inference", "tap", ValueError, r"inference='tap' needs link='probit'"),
        ("inference", "mean_field", ValueError, r"inference='mean_field' needs link='probit'"),
        ("multi_class", "ovo", ValueError, r"multi_class must be one of .*got 'ovo'"),
        ("share_alpha", "yes", ValueError, r"share_alpha must be True or False, got 'yes'"),
        ("share_alpha", None, ValueError, r"share_alpha must be True or False, got None"),
        ("adapt", "yes", ValueError, r"adapt must be one of .*'ard'.*got 'yes'"),
        ("adapt", True, ValueError, r"adapt must be one of .*got True"),
        ("calibrate", "no", ValueError, r"calibrate must be 'auto', None, .*got 'no'"),
        ("augment", "no", ValueError, r"augment must be True, False, 'fast' or a .*got 'no'"),
        ("augment", 0.0, ValueError, r"augment must be .*a positive variance, got 0.0"),
        ("augment", None, ValueError, r"augment must be .*got None"),
        ("bias", "yes", ValueError, r"bias must be True or False, got 'yes'"),
        ("class_weight", "heavy", ValueError, r"class_weight.*'heavy'"),
        ("class_weight", {0: -1.0, 1: 1.0}, ValueError, r"class_weight.*-1\.0"),
        ("class_weight", {0: np.nan, 1: 1.0}, ValueError, r"class_weight.*nan"),
        ("class_weight", {0: np.inf, 1: 1.0}, ValueError, r"class_weight.*inf"),
        ("class_weight", {0: "a", 1: 1.0}, ValueError, r"class_weight.*'a' for class 0"),
        ("class_weight", {7: 1.0}, ValueError, r"class_weight.*7, which is not.*\[0, 1\]"),
        ("class_weight", {"0": 1.0}, ValueError, r"class_weight.*'0', which is not.*\[0, 1\]"),
        ("class_weight", {0: 0.0, 1: 0.0}, ValueError, r"class_weight leaves no sample"),
        ("class_weight", 3.0, ValueError, r"class_weight.*3\.0"),
        ("class_weight", [1.0, 2.0], ValueError, r"class_weight must be .*\[1.0, 2.0\]"),
        ("max_time", 0, ValueError, r"max_time must be a positive number of seconds, or None"),
        ("max_iter", 0, ValueError, r"max_iter must be a whole number >= 1, got 0"),
        ("max_iter", 10.5, ValueError, r"max_iter must be a whole number >= 1, got 10.5"),
        ("tol", 0.0, ValueError, r"tol must be a positive number .*, got 0.0"),
        ("tol", None, ValueError, r"tol must be a positive number .*, got None"),
        ("n_jobs", "all", (ValueError, TypeError), r"n_jobs"),
        ("n_jobs", 0, ValueError, r"n_jobs"),
        ("random_state", "dice", ValueError, r"random_state must be None, .* got 'dice'"),
        ("verbose", "loud", ValueError, r"verbose must be a whole number >= 0, got 'loud'"),
        ("verbose", -1, ValueError, r"verbose must be a whole number >= 0, got -1"),
    ],
)
def test_wrong_parameter(name, value, kind, message):
    model = classical().set_params(**{name: value})  # the constructor stores, fit validates
    data = (X, Y) if name != "n_jobs" else (X3, Y3)
    if name == "n_jobs":
        model.set_params(multi_class="ovr")
    with pytest.raises(kind, match=message):
        model.fit(*data)
    assert not hasattr(model, "weights_")


def test_every_parameter_has_a_wrong_value():
    (mark,) = test_wrong_parameter.pytestmark
    assert {row[0] for row in mark.args[1]} == set(classical().get_params(deep=False))
