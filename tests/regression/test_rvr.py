"""RVR: its attributes, predictions, warnings, progress and interruption."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsebayes
from sparsebayes import EM, RVR, Gamma, Sequential, Smoothness, Subspace
from sparsebayes.basis import RBF, Linear
from sparsebayes.datasets import make_sinc
from sparsebayes.engine import Stop

SOLVERS = ["sequential", "em", "mackay", "subspace"]


def sinc(n_samples=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, size=(n_samples, 1))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(n_samples)


X, Y = sinc()
GRID = np.linspace(-15, 15, 41)[:, None]


@pytest.fixture(scope="module", params=SOLVERS)
def model(request):
    return RVR(adapt=None, calibrate=None, solver=request.param, random_state=0).fit(X, Y)


class Listener:
    """A callback that counts, and does something at a step of its choice."""

    def __init__(self, at=None, action=None):
        self.at, self.action = at, action
        self.calls = []
        self.steps = 0

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        self.calls.append(f"end {context.task_name}")
        if context.task_name == "step":
            self.steps += 1
            if self.steps == self.at:
                return self.action()
        return False


def interrupt():
    raise KeyboardInterrupt


class Stopping:
    """A solver that stops for the reason it is given."""

    def __init__(self, reason):
        self.reason = reason

    def climb(self, problem, tol, rng):
        yield from ()
        return self.reason


def test_attributes(model):
    size = len(model.relevance_)
    assert 2 <= size <= 20
    assert np.all(np.diff(model.relevance_) > 0)
    assert model.weights_.shape == model.alpha_.shape == model.determined_.shape == (size,)
    assert model.sigma_.shape == (size, size)
    assert_array_equal(model.sigma_, model.sigma_.T)
    assert_allclose(model.determined_, 1.0 - model.alpha_ * np.diag(model.sigma_), atol=1e-9)
    assert np.all(model.alpha_ > 0) and np.all(np.isfinite(model.alpha_))
    assert model.basis_.n_functions_ == size
    assert isinstance(model.noise_variance_, float) and isinstance(model.log_evidence_, float)
    assert 0.005 < model.noise_variance_ < 0.02
    assert model.converged_ and model.stop_reason_ == Stop.CONVERGED.value
    assert model.n_features_in_ == 1
    assert 1 <= len(model.evidence_path_) <= model.n_iter_
    assert_allclose(model.offset_, Y.mean())
    rises = np.diff(model.evidence_path_)
    assert np.all(rises >= -1e-9 * np.abs(model.evidence_path_).max())


def test_relevance_vectors_are_rows(model):
    centred = model.relevance_[model.relevance_ > 0] - 1  # the bias is number 0
    assert_array_equal(model.relevance_vectors_, X[centred])


def test_posterior_is_that_of_the_kept_functions(model):
    """Everything published follows from α, σ² and the columns."""
    columns = model.basis_.columns(X)
    beta = 1.0 / model.noise_variance_
    hessian = beta * columns.T @ columns + np.diag(model.alpha_)
    assert_allclose(model.sigma_ @ hessian, np.eye(len(hessian)), atol=1e-6)
    mean = np.linalg.solve(hessian, beta * columns.T @ (Y - Y.mean()))
    assert_allclose(model.weights_, mean, rtol=1e-6, atol=1e-8)
    cov = model.noise_variance_ * np.eye(len(Y)) + (columns / model.alpha_) @ columns.T
    residual = Y - Y.mean()
    dense = -0.5 * (
        len(Y) * np.log(2 * np.pi)
        + np.linalg.slogdet(cov)[1]
        + residual @ np.linalg.solve(cov, residual)
    )
    assert_allclose(model.log_evidence_, dense, rtol=1e-8)


def test_predictions_agree(model):
    mean = model.predict(GRID)
    with_std, std = model.predict(GRID, return_std=True)
    with_cov, cov = model.predict(GRID, return_cov=True)
    assert mean.shape == std.shape == (41,) and cov.shape == (41, 41)
    assert_array_equal(mean, with_std)
    assert_allclose(mean, with_cov, rtol=1e-12, atol=1e-14)
    assert_allclose(std**2, np.diag(cov), rtol=1e-10)
    assert_array_equal(cov, cov.T)
    assert np.linalg.eigvalsh(cov).min() > 0.99 * model.noise_variance_
    columns = model.basis_.columns(GRID)
    assert_allclose(mean, model.offset_ + columns @ model.weights_)
    expected = model.noise_variance_ + np.diag(columns @ model.sigma_ @ columns.T)
    assert_allclose(std**2, expected, rtol=1e-10)
    assert np.all(std**2 >= model.noise_variance_)  # noise included


def test_predictions_are_good(model):
    mean, std = model.predict(GRID[8:-8], return_std=True)
    truth = np.sinc(GRID[8:-8, 0] / np.pi)
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 0.08
    fresh, targets = sinc(500, seed=1)
    mean, std = model.predict(fresh, return_std=True)
    assert 0.88 < np.mean(np.abs(targets - mean) < 1.96 * std) < 0.99
    assert model.score(fresh, targets) > 0.8


def test_prediction_in_batches_is_the_same(model):
    from sklearn import config_context

    whole = model.predict(np.tile(GRID, (200, 1)), return_std=True)
    with config_context(working_memory=1):
        parts = model.predict(np.tile(GRID, (200, 1)), return_std=True)
    for one, other in zip(whole, parts, strict=True):
        assert_allclose(one, other, rtol=1e-12)


def test_std_and_cov_at_once(model):
    with pytest.raises(ValueError, match="return_std or return_cov, not for both"):
        model.predict(GRID, return_std=True, return_cov=True)


def test_samples_have_the_predictive_moments(model):
    points = GRID[::8]
    n_samples = 20_000
    samples = model.sample_y(points, n_samples, random_state=1)
    assert samples.shape == (6, n_samples)
    mean, cov = model.predict(points, return_cov=True)
    error = np.sqrt(np.diag(cov) / n_samples)
    assert np.all(np.abs(samples.mean(axis=1) - mean) < 5 * error)
    scale = np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    assert np.all(np.abs(np.cov(samples) - cov) < 5 * scale * np.sqrt(2 / n_samples))


def test_samples_by_seed(model):
    assert model.sample_y(GRID).shape == (41, 1)
    assert_array_equal(model.sample_y(GRID, 3), model.sample_y(GRID, 3, random_state=0))
    one, other = (model.sample_y(GRID, 3, random_state=seed) for seed in (1, 2))
    assert not np.array_equal(one, other)


def test_fixed_noise():
    model = RVR(noise=0.04).fit(X, Y)
    assert_allclose(model.noise_variance_, 0.04)
    loud = RVR(noise=4.0).fit(X, Y)
    assert len(loud.relevance_) < len(model.relevance_)


def test_without_bias():
    model = RVR(RBF(2.0), bias=False).fit(X, Y)
    assert_array_equal(X[model.relevance_], model.relevance_vectors_)
    assert len(model.relevance_vectors_) == len(model.relevance_)


def test_the_bias_is_number_zero():
    # Centring by the mean leaves an offset where the noise is not the only asymmetry.
    inputs = np.linspace(0, 1, 50)[:, None]
    targets = np.where(inputs[:, 0] > 0.9, 5.0, 0.0)
    model = RVR(RBF(0.05), noise=0.01).fit(inputs, targets)
    assert model.relevance_[0] == 0
    assert len(model.relevance_vectors_) == len(model.relevance_) - 1
    assert_allclose(model.predict([[0.5]]), 0.0, atol=0.1)


@cache
def by(solver, prior):
    return RVR(solver=solver, prior=prior, calibrate=None, random_state=0).fit(X, Y)


@pytest.mark.sampled
@pytest.mark.parametrize("prior", ["aic", "bic", "ric", 3.0, Gamma(1e-3, 1e-3)], ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
def test_priors(solver, prior):
    flat, model = by(solver, "flat"), by(solver, prior)
    assert model.converged_
    assert np.isfinite(model.predict(X)).all()
    # A prior takes away from the objective, and functions from the model.
    assert model.evidence_path_[-1] <= flat.evidence_path_[-1] + 1.0
    assert len(model.relevance_) <= len(flat.relevance_) + 2
    # Under a smoothness prior em and mackay, which start from all functions, may keep hardly any.
    if isinstance(prior, Gamma) or solver in ("sequential", "subspace"):
        truth = np.sinc(X[:, 0] / np.pi)
        assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.12  # a constant: 0.31


@pytest.mark.slow
def test_names_and_numbers_of_priors():
    half = 0.5 * np.log(len(Y))
    for name, c in [("aic", 1.0), ("bic", half), ("ric", 2.0 * half), ("flat", 0)]:
        named = by("sequential", name).predict(X)
        for prior in (c, Smoothness(c)):
            assert_allclose(by("sequential", prior).predict(X), named, rtol=1e-5)


def test_the_size_of_bic_counts_weights():
    # N of ½ log N is the number of samples that the weights stand for.
    weights = np.full(len(Y), 3.0)
    named = RVR(prior="bic").fit(X, Y, weights)
    number = RVR(prior=0.5 * np.log(3.0 * len(Y))).fit(X, Y, weights)
    assert_array_equal(named.predict(X), number.predict(X))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("sequential", Sequential()),
        ("em", EM()),
        ("mackay", EM(mackay=True)),
        ("subspace", Subspace()),
    ],
)
def test_solver_objects(name, solver):
    named = RVR(solver=name, random_state=0).fit(X, Y)
    assert_array_equal(RVR(solver=solver, random_state=0).fit(X, Y).weights_, named.weights_)


def test_bases():
    by_name = RVR("rbf").fit(X, Y)
    assert_array_equal(RVR(RBF()).fit(X, Y).weights_, by_name.weights_)
    scale = by_name.length_scale_[0]

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=0.5 / scale**2)

    by_function = RVR(kernel).fit(X, Y)
    assert_allclose(by_function.predict(GRID), by_name.predict(GRID), rtol=1e-6, atol=1e-8)
    precomputed = RVR("precomputed").fit(kernel(X, X), Y)
    assert_allclose(
        precomputed.predict(kernel(GRID, X)), by_name.predict(GRID), rtol=1e-6, atol=1e-8
    )
    assert precomputed.relevance_vectors_.shape == (0, len(X))


def test_linear_model_is_least_squares_where_the_data_decide():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((500, 3))
    targets = inputs @ [1.0, -2.0, 0.0] + 3.0 + 0.01 * rng.standard_normal(500)
    model = RVR("linear").fit(inputs, targets)
    expected = LinearRegression().fit(inputs, targets).predict(inputs)
    assert_allclose(model.predict(inputs), expected, atol=5e-3)
    assert {1, 2} <= set(model.relevance_)
    assert_allclose(model.noise_variance_, 1e-4, rtol=0.2)


def test_a_small_memory_budget_changes_little():
    from sklearn import config_context

    inputs, targets = sinc(300)
    roomy = RVR().fit(inputs, targets)
    with config_context(working_memory=0.25):
        narrow = RVR().fit(inputs, targets)
    assert narrow.converged_
    assert_allclose(narrow.log_evidence_, roomy.log_evidence_, rtol=0.02)
    inside = GRID[8:-8]
    assert_allclose(narrow.predict(inside), roomy.predict(inside), atol=0.05)


def test_sample_weight_moves_the_fit():
    weights = np.where(X[:, 0] > 0, 10.0, 0.1)
    model = RVR(noise=0.01).fit(X, Y, sample_weight=weights)
    plain = RVR(noise=0.01).fit(X, Y)
    right = X[:, 0] > 0
    error = [np.mean((m.predict(X[right]) - Y[right]) ** 2) for m in (model, plain)]
    assert error[0] < error[1]
    assert_array_equal(RVR().fit(X, Y, np.ones(len(Y))).weights_, RVR().fit(X, Y).weights_)


def test_fit_changes_nothing_but_the_model():
    inputs, targets, weights = X.copy(), Y.copy(), np.linspace(0.5, 1.5, len(Y))
    basis = RBF() + Linear()
    model = RVR(basis)
    before = repr(model.get_params())
    assert model.fit(inputs, targets, weights) is model
    assert_array_equal(inputs, X)
    assert_array_equal(targets, Y)
    assert_array_equal(weights, np.linspace(0.5, 1.5, len(Y)))
    assert repr(model.get_params()) == before
    assert model.basis is basis and not hasattr(basis, "n_functions_")
    inputs += 1.0  # the model has its own copy
    assert_array_equal(model.predict(GRID), clone(model).fit(X, Y, weights).predict(GRID))


@pytest.mark.slow
def test_scikit_learn_around_it():
    pipe = make_pipeline(StandardScaler(), RVR(RBF(0.5))).fit(X, Y)
    assert pipe.predict(GRID, return_std=True)[1].shape == (41,)
    plain = RVR(calibrate=None)
    assert cross_val_score(plain, X, Y, cv=3).mean() > 0.5
    search = GridSearchCV(plain, {"prior": ["flat", "bic"], "basis": [RBF(2.0), "linear"]}, cv=3)
    assert search.fit(X, Y).best_params_["basis"] == RBF(2.0) or search.best_score_ > 0.5
    target = TransformedTargetRegressor(plain, transformer=StandardScaler()).fit(X, Y)
    assert_allclose(target.predict(GRID), plain.fit(X, Y).predict(GRID), atol=1e-5)
    assert "RVR(prior='bic')" in repr(RVR(prior="bic"))


def test_feature_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 0] ** 2})
    model = RVR().fit(frame, Y)
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "c"}))


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_warns(solver):
    model = RVR(solver=solver, max_iter=2, random_state=0)
    with pytest.warns(
        ConvergenceWarning,
        match=r"^RVR stopped at max_iter before convergence; raise max_iter, or raise tol\.$",
    ) as caught:
        model.fit(X, Y)
    assert caught[0].filename == __file__
    assert not model.converged_ and model.n_iter_ == 2
    assert model.stop_reason_ == Stop.MAX_ITER.value
    assert np.isfinite(model.predict(GRID)).all()


BAD_STOPS = [stop for stop in Stop if not stop.converged and stop is not Stop.INTERRUPTED]


@pytest.mark.parametrize("reason", BAD_STOPS)
def test_every_bad_stop_warns(reason):
    with pytest.warns(ConvergenceWarning, match="RVR") as caught:
        model = RVR(solver=Stopping(reason)).fit(X, Y)
    assert str(caught[0].message) == f"RVR {reason.value}."
    assert not model.converged_
    mean, std = model.predict(GRID, return_std=True)  # a model without functions predicts
    assert_allclose(mean, Y.mean())
    assert np.all(std > 0)


@pytest.mark.parametrize("reason", [stop for stop in Stop if stop.converged])
def test_a_good_stop_is_silent(reason):
    assert RVR(solver=Stopping(reason)).fit(X, Y).stop_reason_ == reason.value


def test_smaller_tol_finds_no_less():
    loose, tight = (RVR(tol=tol).fit(X, Y).log_evidence_ for tol in (1.0, 1e-4))
    assert tight >= loose - 1e-6


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS)
def test_verbose_prints(solver, capsys):
    model = RVR(solver=solver, verbose=2, random_state=0).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert lines[0].startswith("[RVR] step     1  objective ")
    assert "functions" in lines[-1] and "noise variance" in lines[-1]
    RVR(solver=solver, verbose=1, random_state=0).fit(X, Y)
    assert len(capsys.readouterr().out.splitlines()) == -(-model.n_iter_ // 10)
    RVR(solver=solver, random_state=0).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def test_verbose_changes_nothing(capsys):
    assert_array_equal(RVR(verbose=2).fit(X, Y).weights_, RVR().fit(X, Y).weights_)


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS)
def test_callbacks_are_called(solver):
    pytest.importorskip("sklearn.callback")
    listener = Listener()
    model = RVR(solver=solver, random_state=0).set_callbacks(listener).fit(X, Y)
    step = ["begin step", "end step"]
    assert listener.calls == ["setup", "begin fit", *step * model.n_iter_, "end fit", "teardown"]
    assert_array_equal(model.weights_, RVR(solver=solver, random_state=0).fit(X, Y).weights_)


def test_callbacks_reach_through_grid_search():
    pytest.importorskip("sklearn.callback")
    listener = Listener()
    model = RVR().set_callbacks(listener)
    GridSearchCV(model, {"prior": ["flat", "bic"]}, cv=2, refit=False).fit(X, Y)
    assert listener.calls.count("setup") == listener.calls.count("teardown")


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (interrupt, lambda: pytest.raises(KeyboardInterrupt, match=r"^RVR interrupted; the model")),
        (
            lambda: True,
            lambda: pytest.warns(ConvergenceWarning, match="^RVR stopped by a callback"),
        ),
    ],
    ids=["Ctrl-C", "stop"],
)
def test_a_cut_search_leaves_the_best_model(solver, action, outcome):
    pytest.importorskip("sklearn.callback")
    listener = Listener(at=3, action=action)
    model = RVR(solver=solver, random_state=0).set_callbacks(listener)
    with outcome():
        model.fit(X, Y)
    assert model.n_iter_ == 3 and not model.converged_
    assert listener.calls[-2:] == ["end fit", "teardown"]
    assert model.log_evidence_ == pytest.approx(model.evidence_path_[-1])
    mean, std = model.predict(GRID, return_std=True)
    assert np.isfinite(mean).all() and np.all(std > 0)
    full = RVR(solver=solver, random_state=0).fit(X, Y)
    assert_array_equal(model.evidence_path_, full.evidence_path_[: len(model.evidence_path_)])


def test_other_errors_of_a_callback_are_not_swallowed():
    pytest.importorskip("sklearn.callback")

    def fail():
        raise RuntimeError("of the callback")

    listener = Listener(at=2, action=fail)
    with pytest.raises(RuntimeError, match="of the callback"):
        RVR().set_callbacks(listener).fit(X, Y)
    assert listener.calls[-1] == "teardown"


def test_version():
    assert sparsebayes.__version__.count(".") == 2


def test_rounding_is_no_evidence():
    """Nearly equal functions and a fixed noise: the evidence has a bound, whatever the model."""
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-3, 3, (80, 2))
    targets = np.sin(2 * inputs[:, 0]) + 0.1 * rng.standard_normal(80)
    model = RVR(RBF(5.0), noise=0.01).fit(inputs, targets)
    assert model.log_evidence_ <= -0.5 * 80 * np.log(2 * np.pi * 0.01)
    assert np.mean((model.predict(inputs) - targets) ** 2) < np.var(targets)


def test_restarts_end_no_lower_and_follow_the_seed():
    X, y, _ = make_sinc(60, noise=0.2, random_state=3)
    basis = RBF(0.7)
    ends = [
        RVR(basis, adapt=None, n_restarts=n, random_state=seed).fit(X, y)
        for n, seed in ((0, 0), (4, 0), (4, 0))
    ]
    assert ends[1].evidence_path_[-1] >= ends[0].evidence_path_[-1]
    assert ends[1].n_iter_ > ends[0].n_iter_
    np.testing.assert_array_equal(ends[1].weights_, ends[2].weights_)


@pytest.mark.parametrize("bad", [-1, 1.5, True, "3"])
def test_a_bad_number_of_restarts_is_named(bad):
    with pytest.raises(ValueError, match="n_restarts must be a whole number"):
        RVR(n_restarts=bad).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.5])


@pytest.mark.parametrize("solver", ["em", "mackay", "subspace"])
def test_restarts_of_other_solvers_are_refused_with_a_remedy(solver):
    with pytest.raises(ValueError, match=r"n_restarts=2 needs solver='sequential'.*n_restarts=0"):
        RVR(solver=solver, n_restarts=2).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.5])
