"""Prediction at Gaussian inputs: every model and method against Monte Carlo and limits."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, LeaveOneOutGPR, ReducedRankGPR, predict_uncertain
from sparsebayes.basis import RBF, Linear, Polynomial
from sparsebayes.uncertain.moment_maps import moment_map

METHODS = ("exact", "quadrature", "taylor", "monte_carlo")


def data(D, N=60):
    rng = np.random.default_rng(D)
    X = rng.uniform(-2, 2, (N, D))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X.sum(axis=1) + 5.0 + 0.1 * rng.standard_normal(N)


def _process(D):
    kernel = ConstantKernel() * GPRBF(np.ones(D)) + WhiteKernel(0.01)
    return GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None)


def _sums():
    kernel = ConstantKernel(2.0) * GPRBF(1.0) * GPRBF(3.0) + ConstantKernel(3.0) + GPRBF(5.0)
    return GaussianProcessRegressor(kernel + WhiteKernel(0.02), optimizer=None, normalize_y=True)


def _linear_too():
    kernel = GPRBF(2.0) + ConstantKernel(0.3) * DotProduct(0.5) + WhiteKernel(0.02)
    return GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True)


EXACT = {
    "rvr": lambda D: RVR(adapt=None),
    "rvr_ard": lambda D: RVR(RBF(np.linspace(1.0, 2.0, D))),
    "union": lambda D: RVR(RBF(1.0) + RBF(2.5) + Linear()),
    "linear": lambda D: RVR("linear"),
    "polynomial": lambda D: RVR(Polynomial(3 if D < 8 else 2)),
    "reduced_rank": lambda D: ReducedRankGPR(
        n_support=15, augment=False, optimize=False, random_state=0
    ),
    "process": _process,
    "process_sums": lambda D: _sums(),
    "process_linear": lambda D: _linear_too(),
    "reduced_rank_linear": lambda D: ReducedRankGPR(
        GPRBF(2.0) + 0.3 * DotProduct(0.5),
        n_support=15,
        augment=False,
        optimize=False,
        random_state=0,
    ),
}
OTHERS = {
    "rvr_star": lambda D: RVR(adapt=None, augment=True),
    "rvr_fast_star": lambda D: RVR(adapt=None, augment="fast"),
    "union_star": lambda D: RVR(RBF(1.0) + Linear(), augment=True),
    "reduced_rank_star": lambda D: ReducedRankGPR(n_support=15, optimize=False, random_state=0),
    "laplacian": lambda D: RVR("laplacian", adapt=None),
    "spline": lambda D: RVR("thin_plate", adapt=None),
    "matern": lambda D: GaussianProcessRegressor(Matern(2.0) + WhiteKernel(0.02), optimizer=None),
}
MODELS = {**EXACT, **OTHERS}
_fitted = {}


def fitted(name, D):
    if (name, D) not in _fitted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _fitted[name, D] = MODELS[name](D).fit(*data(D))
    return _fitted[name, D]


def covariances(D):
    """Small and large against the length scales; diagonal, full and singular."""
    rng = np.random.default_rng(10 + D)
    root = rng.standard_normal((D, D)) / np.sqrt(D)
    line = rng.standard_normal(D) / np.sqrt(D)
    return {
        "small": 1e-3 * np.diag(rng.uniform(0.5, 2.0, D)),
        "diagonal": np.diag(rng.uniform(0.1, 0.5, D)),
        "full": 0.5 * root @ root.T,
        "wide": 16.0 * root @ root.T,
        "singular": np.outer(line, line) * (D > 1),
    }


def disagreements(model, D, n_samples, *, exactly):
    """Where "auto" and draws differ by more than standard errors, or parts of the std."""
    mean = np.random.default_rng(20 + D).uniform(-2, 2, (1, D))
    part = (1e-9, 1e-9, 1e-9) if exactly else (0.01, 0.03, 0.02)
    out = []
    for i, (kind, cov) in enumerate(covariances(D).items()):
        options = {"return_cross_cov": True, "return_error": True}
        m, v, c, _ = predict_uncertain(model, mean, cov, **options)
        draws = {"method": "monte_carlo", "n_samples": n_samples, "random_state": i}
        M, V, C, errors = predict_uncertain(model, mean, cov, **draws, **options)
        # The spread of (x − u) m(x) is at most about √3 times std(x) std(m).
        spread = np.sqrt(np.diag(cov) * V[0])
        near = {
            "mean": abs(m - M)[0] <= 4.0 * errors[0, 0] + part[0] * np.sqrt(V[0]),
            "variance": abs(v - V)[0] <= 4.0 * errors[0, 1] + part[1] * V[0],
            "covariance": (abs(c - C)[0] <= (10.0 / np.sqrt(n_samples) + part[2]) * spread).all(),
        }
        out += [(kind, what) for what, good in near.items() if not good]
    return out


@pytest.mark.sampled
@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("D", [1, pytest.param(2, marks=pytest.mark.slow), 8])
def test_agreement_with_draws(name, D):
    model, exactly = fitted(name, D), name in EXACT
    assert moment_map(model).method == ("exact" if exactly else "quadrature")
    assert disagreements(model, D, 40_000 if exactly else 20_000, exactly=exactly) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("D", [1, 2, 8])
def test_agreement_with_a_million_draws(name, D):
    assert disagreements(fitted(name, D), D, 1_000_000, exactly=name in EXACT) == []


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["rvr_star", "union_star", "reduced_rank_star", "laplacian"])
@pytest.mark.parametrize("scale", [1e-4, 0.1, 10.0])
def test_quadrature_is_as_precise_as_it_says(name, scale):
    """In one dimension, against a fine trapezoid rule."""
    model = fitted(name, 1)
    nodes = np.linspace(-8.5, 8.5, 40_001)
    weights = np.exp(-0.5 * nodes**2)
    weights /= weights.sum()
    for centre in (-1.7, 0.2, 3.0):
        X = centre + np.sqrt(scale) * nodes[:, None]
        m, std = model.predict(X, return_std=True)
        first = weights @ m
        second = weights @ (std**2 + (m - first) ** 2)
        mean, variance, errors = predict_uncertain(model, [[centre]], [[scale]], return_error=True)
        assert abs(mean[0] - first) <= 0.01 * np.sqrt(second)
        assert abs(variance[0] - second) <= 0.03 * second
        # What lies in the tails shows in few of the turns, so very small errors are too small.
        assert abs(mean[0] - first) <= 5.0 * errors[0, 0] + 5e-4 * np.sqrt(second)
        assert abs(variance[0] - second) <= 5.0 * errors[0, 1] + 1e-3 * second


@pytest.mark.sampled
@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("method", METHODS)
def test_certain_inputs_are_predicted_as_ever(name, method):
    model = fitted(name, 2)
    if method == "exact" and name not in EXACT:
        return
    mean = np.random.default_rng(0).uniform(-3, 3, (4, 2))
    found = predict_uncertain(model, mean, np.zeros((2, 2)), method=method, n_samples=1000)
    m, std = model.predict(mean, return_std=True)
    np.testing.assert_allclose(found[0], m, rtol=1e-10)
    np.testing.assert_allclose(found[1], std**2, rtol=1e-10)


@pytest.mark.parametrize("name", list(MODELS))
def test_nearly_certain_inputs_are_predicted_nearly_as_ever(name):
    model = fitted(name, 2)
    mean = np.random.default_rng(1).uniform(-2, 2, (4, 2))
    for method in ("auto", "taylor"):
        found = predict_uncertain(model, mean, 1e-18 * np.eye(2), method=method)
        m, std = model.predict(mean, return_std=True)
        np.testing.assert_allclose(found[0], m, rtol=1e-7)
        np.testing.assert_allclose(found[1], std**2, rtol=1e-5)


@pytest.mark.parametrize("name", ["rvr", "union", "process_sums", "reduced_rank"])
def test_taylor_by_derivatives_and_by_differences(name):
    """A pipeline hides the closed form, and leaves differences."""
    model = fitted(name, 2)
    hidden = make_pipeline("passthrough", model)
    mean, cov = np.random.default_rng(2).uniform(-1, 1, (3, 2)), covariances(2)["full"] / 10
    ours = predict_uncertain(model, mean, cov, method="taylor", return_cross_cov=True)
    theirs = predict_uncertain(hidden, mean, cov, method="taylor", return_cross_cov=True)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-8)


def test_taylor_is_good_for_small_and_bad_for_large_covariances():
    model, cov = fitted("rvr", 1), np.eye(1)
    exact, taylor = (
        [predict_uncertain(model, [[0.4]], s * cov, method=m)[1][0] for s in (1e-3, 1.0)]
        for m in ("exact", "taylor")
    )
    assert abs(taylor[0] / exact[0] - 1) < 0.01
    assert abs(taylor[1] / exact[1] - 1) > 0.5


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["rvr", "rvr_star", "process", "reduced_rank"])
def test_many_inputs(name):
    """50 features, singular and zero covariances among them, in one call."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 50))
    model = MODELS[name](50)
    if isinstance(model, RVR):
        model.set_params(noise=0.01)
    model.fit(X, X[:, 0] + 0.1 * rng.standard_normal(40))
    root = rng.standard_normal((50, 50)) / 7.0
    cov = np.stack(
        [np.zeros((50, 50)), root[:, :3] @ root[:, :3].T, root @ root.T, 1e4 * np.eye(50)]
    )
    mean, variance, cross = predict_uncertain(model, X[:4], cov, return_cross_cov=True)
    assert np.isfinite(mean).all() and np.isfinite(cross).all()
    assert (variance > 0).all()
    for i in range(4):  # one by one they are the same
        alone = predict_uncertain(model, X[i : i + 1], cov[i])
        np.testing.assert_allclose([mean[i], variance[i]], np.ravel(alone), rtol=1e-8)


def test_estimators_have_the_method():
    mean, cov = np.zeros((2, 2)), np.eye(2)
    for name in ("rvr", "rvr_star", "reduced_rank"):
        model = fitted(name, 2)
        for ours, theirs in zip(
            model.predict_uncertain(mean, cov), predict_uncertain(model, mean, cov), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
        assert not np.allclose(
            model.predict_uncertain(mean, cov, method="taylor")[0],
            model.predict_uncertain(mean, cov)[0],
            rtol=1e-3,
        )


@pytest.mark.slow
def test_offsets_and_units_pass_through():
    X, y = data(2)
    mean, cov = np.zeros((1, 2)), covariances(2)["full"]
    for make in (MODELS["union"], MODELS["rvr_star"], MODELS["process"]):
        m, v = predict_uncertain(make(2).fit(X, y), mean, cov)
        M, V = predict_uncertain(make(2).fit(X, 1e4 * y - 7e6), mean, cov)
        np.testing.assert_allclose((M + 7e6) / 1e4, m, rtol=1e-6)
        np.testing.assert_allclose(V / 1e8, v, rtol=1e-4)


def test_same_seed_same_result_and_another_seed_another():
    model, mean, cov = fitted("rvr_star", 2), np.zeros((1, 2)), np.eye(2)
    for method in ("quadrature", "monte_carlo"):
        one, same, other = (
            predict_uncertain(model, mean, cov, method=method, random_state=seed)[0][0]
            for seed in (0, 0, 1)
        )
        assert one == same != other


@pytest.mark.slow
def test_errors_shrink_with_more_draws():
    model, mean, cov = fitted("rvr_star", 2), np.zeros((1, 2)), np.eye(2)
    few, many = (
        predict_uncertain(model, mean, cov, method="monte_carlo", n_samples=n, return_error=True)[
            2
        ][0]
        for n in (1000, 100_000)
    )
    np.testing.assert_allclose(few / many, 10.0, rtol=0.2)
    assert (predict_uncertain(fitted("rvr", 2), mean, cov, return_error=True)[2] == 0).all()


@pytest.mark.slow
def test_standard_errors_of_draws_are_right():
    """Over seeds, estimates scatter as their standard errors say."""
    model, mean, cov = fitted("rvr", 2), np.zeros((1, 2)), np.eye(2)
    found = np.array(
        [
            np.concatenate(
                [
                    np.ravel(part)
                    for part in predict_uncertain(
                        model, mean, cov, method="monte_carlo", n_samples=400, random_state=seed,
                        return_error=True,
                    )
                ]
            )
            for seed in range(200)
        ]
    )  # fmt: skip
    np.testing.assert_allclose(found[:, :2].std(axis=0), found[:, 2:].mean(axis=0), rtol=0.15)
    truth = np.ravel(predict_uncertain(model, mean, cov))
    assert (abs(found[:, :2].mean(axis=0) - truth) < 4 * found[:, 2:].mean(axis=0) / 14).all()


def test_too_small_a_budget_is_told():
    X = np.linspace(-10, 10, 60)[:, None]
    model = RVR(RBF(0.2), noise=0.01, augment=True).fit(X, np.sin(5 * X[:, 0]))
    with pytest.warns(ConvergenceWarning, match="raise n_samples"):
        predict_uncertain(model, np.zeros((1, 1)), [[25.0]], n_samples=64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict_uncertain(model, np.zeros((1, 1)), [[25.0]])


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("rvr_star", "RVR with augment"),
        ("reduced_rank_star", "ReducedRankGPR with augment"),
        ("laplacian", "Laplacian()"),
        ("matern", "kernel=Matern"),
    ],
)
def test_exact_says_why_not_and_what_else(name, what):
    with pytest.raises(ValueError, match=r"no closed form.*quadrature") as caught:
        predict_uncertain(fitted(name, 2), np.zeros((1, 2)), np.eye(2), method="exact")
    assert what in str(caught.value)


def test_high_degrees_have_no_closed_form():
    X, y = data(1)
    model = RVR(Polynomial(4)).fit(X, y)
    assert moment_map(model).method == "quadrature"


def test_any_model_with_return_std():
    X, y = data(2)
    mean, cov = np.zeros((1, 2)), np.eye(2)
    for model in (BayesianRidge(), make_pipeline(StandardScaler(), BayesianRidge())):
        model.fit(X, y)
        linear = model[-1] if hasattr(model, "steps") else model
        scale = model[0].scale_ if hasattr(model, "steps") else 1.0
        m, v = predict_uncertain(model, mean, cov)
        at_mean, std = model.predict(mean, return_std=True)
        slopes = linear.coef_ / scale
        spread = np.trace(
            linear.sigma_ / np.multiply.outer(scale, scale) if np.ndim(scale) else linear.sigma_
        )
        np.testing.assert_allclose(m, at_mean, atol=0.01 * np.sqrt(v[0]))
        np.testing.assert_allclose(v, std**2 + slopes @ slopes + spread, rtol=0.01)
    with pytest.raises(TypeError, match="method predict"):
        predict_uncertain(LinearRegression().fit(X, y), mean, cov)


def test_leave_one_out_process_is_a_process():
    X, y = data(1)
    assert moment_map(LeaveOneOutGPR().fit(X, y)).method == "exact"


@pytest.mark.slow
def test_data_frames():
    pandas = pytest.importorskip("pandas")
    X, y = data(2)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    for model in (RVR(adapt=None, augment=True), _process(2), BayesianRidge()):
        model.fit(frame, y)
        expected = predict_uncertain(model, X[:2], np.eye(2))
        found = predict_uncertain(model, frame[:2], np.eye(2))
        np.testing.assert_array_equal(found, expected)


def test_float32_and_lists():
    model = fitted("rvr", 2)
    expected = predict_uncertain(model, np.zeros((1, 2)), np.eye(2))
    single = predict_uncertain(model, np.zeros((1, 2), np.float32), np.eye(2, dtype=np.float32))
    np.testing.assert_allclose(single, expected)
    np.testing.assert_allclose(predict_uncertain(model, [[0, 0]], [[1, 0], [0, 1]]), expected)


@pytest.mark.parametrize(
    ("mean", "cov", "message"),
    [
        (np.zeros((1, 3)), np.eye(3), "3 features, but the model was fitted with 2"),
        (np.zeros(2), np.eye(2), "1D array"),
        (np.zeros((1, 2)), np.ones((1, 2)), r"\(1, 2, 2\) with.* as variances="),
        (np.zeros((3, 2)), np.stack([np.eye(2)] * 2), r"got \(2, 2, 2\)"),
        (np.zeros((1, 2)), -np.eye(2), "negative eigenvalue"),
        (np.zeros((1, 2)), [[1.0, 3.0], [3.0, 1.0]], "negative eigenvalue; that of input 0"),
        (np.zeros((1, 2)), [[1.0, 0.5], [0.0, 1.0]], "symmetric"),
        (np.full((1, 2), np.nan), np.eye(2), "mean contains NaN"),
        (np.zeros((1, 2)), np.full((2, 2), np.inf), "cov contains infinity"),
    ],
)
def test_bad_inputs(mean, cov, message):
    with pytest.raises(ValueError, match=message):
        predict_uncertain(fitted("rvr", 2), mean, cov)


def test_bad_parameters():
    model, mean, cov = fitted("rvr", 2), np.zeros((1, 2)), np.eye(2)
    with pytest.raises(ValueError, match="method must be one of"):
        predict_uncertain(model, mean, cov, method="sampling")
    for n_samples in (1, 0, -5, 1.5, True, "many"):
        with pytest.raises(ValueError, match="n_samples"):
            predict_uncertain(model, mean, cov, method="monte_carlo", n_samples=n_samples)
    with pytest.raises(NotFittedError):
        predict_uncertain(RVR(), mean, cov)
    with pytest.raises(NotFittedError):
        predict_uncertain(GaussianProcessRegressor(), mean, cov)
    X, y = data(2)
    several = _process(2).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="single target"):
        predict_uncertain(several, mean, cov)


def test_models_without_functions():
    """A constant target leaves no function, or the bias alone."""
    X = np.linspace(0, 1, 10)[:, None]
    for bias in (True, False):
        model = RVR(bias=bias, noise=0.5).fit(X, np.full(10, 3.0))
        mean, variance, cross = predict_uncertain(model, X[:2], [[1.0]], return_cross_cov=True)
        np.testing.assert_allclose(mean, 3.0)
        assert (variance >= 0.5).all() and (cross == 0).all()
