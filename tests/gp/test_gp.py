"""Gaussian processes of reduced rank, and the leave-one-out criterion."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, SkipTestWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.utils.estimator_checks import check_estimator

from sparsebayes import LeaveOneOutGPR, ReducedRankGPR, loo_log_predictive
from sparsebayes.gp import kernels as gp_kernels
from sparsebayes.gp.support import Model, climb, evaluate, select

KERNELS = {
    "isotropic": 2.0 * RBF(1.3),
    "ard": 2.0 * RBF([1.0, 2.0, 0.7]),
    "fixed amplitude": ConstantKernel(1.5, "fixed") * RBF([1.0, 2.0, 0.7]),
    "fixed scale": ConstantKernel(1.5) * RBF(1.1, "fixed"),
    "matern": 1.5 * Matern([1.2, 0.8, 2.0], nu=1.5),
    "rational": RationalQuadratic(1.1, 0.7) + DotProduct(0.5),
    "power": (RBF(1.0) + ConstantKernel(0.3)) ** 2,
    "product": 2.0 * Matern(1.0, nu=2.5) * RBF(3.0) + 0.5 * ExpSineSquared(1.0, 3.0),
}
SUPPORT = np.array([3, 10, 20, 5, 33, 2, 17])
NOISE = 0.05


def make(n_samples=40, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, -1] + 0.2 * rng.standard_normal(n_samples)
    return X, y


X, Y = make()
CENTRED = Y - Y.mean()
GRID = np.random.default_rng(1).uniform(-3, 3, (25, 3))


def slope(function, theta, step=1e-5):
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + s) - function(theta - s)) / (2 * step) for s in steps])


def covariance(kernel, inputs, support, noise):
    columns = kernel(inputs, support)
    rank = columns @ np.linalg.solve(kernel(support), columns.T)
    return noise * np.eye(len(inputs)) + rank


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


def test_evidence_is_that_of_the_dense_normal(kernel):
    state, gradient = evaluate(Model(kernel, X, CENTRED, SUPPORT, NOISE))
    dense = multivariate_normal(np.zeros(len(X)), covariance(kernel, X, X[SUPPORT], NOISE))
    np.testing.assert_allclose(state.evidence, dense.logpdf(CENTRED), rtol=1e-7)
    assert gradient.size == 0


def test_evidence_gradient_is_the_finite_difference(kernel, monkeypatch):
    monkeypatch.setattr(gp_kernels, "BLOCK", 300)  # several blocks
    model = Model(kernel, X, CENTRED, SUPPORT, NOISE)

    def value(parameters):
        changed = kernel.clone_with_theta(parameters[:-1])
        return evaluate(replace(model, kernel=changed, noise=np.exp(parameters[-1])))[0].evidence

    expected = slope(value, np.append(kernel.theta, np.log(NOISE)))
    scale = np.abs(expected).max()
    for by_kernel, by_noise, part in (
        (1, 1, slice(None)),
        (1, 0, slice(-1)),
        (0, 1, slice(-1, None)),
    ):
        gradient = evaluate(model, bool(by_kernel), bool(by_noise))[1]
        np.testing.assert_allclose(gradient, expected[part], atol=1e-6 * scale)


def test_leave_one_out_gradient_is_the_finite_difference(kernel):
    kernel = kernel + WhiteKernel(NOISE)
    targets = np.column_stack([CENTRED, np.cos(X[:, 1])])
    value, gradient = loo_log_predictive(kernel, X, targets, 0.01, eval_gradient=True)
    assert value == loo_log_predictive(kernel, X, targets, 0.01)
    expected = slope(
        lambda theta: loo_log_predictive(kernel.clone_with_theta(theta), X, targets, 0.01),
        kernel.theta,
    )
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("noise", [0.1, np.linspace(0.05, 0.5, len(X))], ids=["one", "each"])
def test_leave_one_out_is_that_of_refits(noise):
    kernel = KERNELS["ard"]
    total = 0.0
    levels = np.broadcast_to(noise, len(X))
    for n in range(len(X)):
        rest = np.arange(len(X)) != n
        model = GaussianProcessRegressor(kernel, alpha=levels[rest], optimizer=None)
        mean, std = model.fit(X[rest], CENTRED[rest]).predict(X[[n]], return_std=True)
        total += norm(mean[0], np.sqrt(std[0] ** 2 + levels[n])).logpdf(CENTRED[n])
    np.testing.assert_allclose(loo_log_predictive(kernel, X, CENTRED, noise), total, rtol=1e-8)


@pytest.mark.parametrize("n_support", [40, 1000])
def test_all_points_as_support_are_the_full_process(n_support):
    kernel = KERNELS["ard"]
    full = GaussianProcessRegressor(kernel + WhiteKernel(NOISE), optimizer=None).fit(X, CENTRED)
    options = {"optimize": False, "noise": NOISE, "n_support": n_support, "calibrate": None}
    model = ReducedRankGPR(kernel, **options).fit(X, Y)
    assert sorted(model.support_) == list(range(len(X)))
    np.testing.assert_allclose(model.log_evidence_, full.log_marginal_likelihood_value_, rtol=1e-7)
    mean, cov = full.predict(GRID, return_cov=True)
    ours, std = model.predict(GRID, return_std=True)
    np.testing.assert_allclose(ours - Y.mean(), mean, atol=1e-6)
    np.testing.assert_allclose(std, np.sqrt(np.diag(cov)), atol=1e-6)
    np.testing.assert_allclose(model.predict(GRID, return_cov=True)[1], cov, atol=1e-6)
    bare = clone(model).set_params(augment=False).fit(X, Y)
    np.testing.assert_allclose(bare.predict(GRID) - Y.mean(), mean, atol=1e-6)


def test_optimum_with_all_points_is_that_of_the_full_process():
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0, 1.0], (1e-2, 1e3))
    full = GaussianProcessRegressor(kernel + WhiteKernel(0.1), alpha=0).fit(X, CENTRED)
    model = ReducedRankGPR(kernel).fit(X, Y)
    np.testing.assert_allclose(model.log_evidence_, full.log_marginal_likelihood_value_, atol=1e-3)


@pytest.mark.parametrize("extra", [False, True])
def test_predictions_are_those_of_the_dense_formulas(extra):
    kernel = KERNELS["ard"]
    options = {"optimize": False, "noise": NOISE, "augment": extra, "calibrate": None}
    model = ReducedRankGPR(kernel, n_support=8, random_state=0, **options).fit(X, Y)
    mean, std = model.predict(GRID, return_std=True)
    for n, point in enumerate(GRID):
        support = np.vstack([model.support_vectors_, point]) if extra else model.support_vectors_
        full = covariance(kernel, np.vstack([X, point]), support, NOISE)
        inner, cross = full[:-1, :-1], full[:-1, -1]
        solved = np.linalg.solve(inner, cross)
        np.testing.assert_allclose(mean[n], Y.mean() + solved @ CENTRED, rtol=1e-7)
        np.testing.assert_allclose(std[n] ** 2, full[-1, -1] - solved @ cross, rtol=1e-7)


def test_extra_weight_only_adds_variance():
    model = ReducedRankGPR(n_support=6, random_state=0, calibrate=None).fit(X, Y)
    far = np.vstack([GRID, X, 100 + GRID])
    extra = model.predict(far, return_std=True)[1]
    bare = model.set_params(augment=False).predict(far, return_std=True)[1]
    taken = 25 + model.support_  # but for rounding, which follows the rows of a batch
    np.testing.assert_allclose(extra[taken], bare[taken], rtol=1e-14)
    assert (extra >= bare * (1 - 1e-14)).all() and (extra[:25] > 1.01 * bare[:25]).any()
    np.testing.assert_allclose(bare[-25:], np.sqrt(model.noise_variance_))
    amplitude = model.kernel_.k1.constant_value
    np.testing.assert_allclose(extra[-25:] ** 2, amplitude + model.noise_variance_)


def test_covariance_agrees_with_the_marginals():
    model = ReducedRankGPR(n_support=6, random_state=0).fit(X, Y)
    for extra in (True, False):
        model.set_params(augment=extra)
        points = np.vstack([GRID, X[model.support_[:2]]])
        mean, std = model.predict(points, return_std=True)
        same, cov = model.predict(points, return_cov=True)
        np.testing.assert_allclose(same, mean)
        np.testing.assert_allclose(np.sqrt(np.diag(cov)), std)
        assert np.linalg.eigvalsh(cov).min() > 0.5 * model.noise_variance_


def test_weights_are_the_posterior_of_the_linear_model():
    model = ReducedRankGPR(KERNELS["ard"], n_support=7, random_state=0).fit(X, Y)
    columns, Z = model.kernel_(X, model.support_vectors_), model.support_vectors_
    precision = columns.T @ columns / model.noise_variance_ + model.kernel_(Z)
    np.testing.assert_allclose(model.sigma_ @ precision, np.eye(7), atol=1e-6)
    mean = np.linalg.solve(precision, columns.T @ CENTRED) / model.noise_variance_
    np.testing.assert_allclose(model.weights_, mean, rtol=1e-6)


@pytest.mark.parametrize("by_evidence", [True, False])
def test_greedy_selection_is_that_of_brute_force(by_evidence):
    kernel, noise, everyone = KERNELS["rational"], 2.0, np.arange(len(X))
    model = Model(kernel, X, CENTRED, SUPPORT, noise)

    def greedy(criterion):
        rng = np.random.RandomState(0)
        options = {"n_search": len(X), "rng": rng, "candidates": everyone}
        return select(model, 6, by_evidence=criterion, **options)

    found, path = greedy(by_evidence)
    assert not np.array_equal(found, greedy(not by_evidence)[0])

    def worth(support):
        cov = covariance(kernel, X, X[support], noise)
        if by_evidence:
            return multivariate_normal(np.zeros(len(X)), cov).logpdf(CENTRED)
        return -CENTRED @ np.linalg.solve(cov, CENTRED)

    chosen: list[int] = []
    for index in found:
        values = [worth([*chosen, i]) if i not in chosen else -np.inf for i in everyone]
        chosen.append(int(np.argmax(values)))
        assert chosen[-1] == index
    for m in range(1, 7):
        state = evaluate(replace(model, support=found[:m]))[0]
        np.testing.assert_allclose(path[m - 1], state.evidence, rtol=1e-7)


def test_selection_draws_candidates_and_refuses_dependent_ones():
    inputs = np.vstack([X, X[:5] + 1e-9])
    model = Model(RBF(1.0), inputs, np.append(CENTRED, CENTRED[:5]), SUPPORT, NOISE)
    options = {"by_evidence": True, "rng": np.random.RandomState(0)}
    found = select(model, 45, n_search=4, candidates=np.arange(45), **options)[0]
    assert len(found) == 40 and len(np.unique(found % 40)) == 40
    some = select(model, 45, n_search=4, candidates=np.arange(7), **options)[0]
    assert sorted(some) == list(range(7))


@pytest.mark.parametrize("selection", ["evidence", "posterior", "random"])
def test_fit_learns_and_repeats_itself(selection):
    inputs, y = make(200, 2)
    model = ReducedRankGPR(n_support=25, selection=selection, random_state=3)
    fitted = clone(model).fit(inputs, y)
    again = clone(model).fit(inputs, y)
    for name in ("support_", "evidence_path_", "noise_variance_", "weights_"):
        np.testing.assert_array_equal(getattr(fitted, name), getattr(again, name))
    assert fitted.converged_ and len(np.unique(fitted.support_)) == 25
    assert fitted.n_iter_ == len(fitted.evidence_path_) == 1 or selection != "random"
    assert (np.diff(fitted.evidence_path_) >= 0).all()
    assert selection == "random" or fitted.n_iter_ > 2
    assert fitted.evidence_path_[-1] == fitted.log_evidence_
    assert 0.5 < fitted.noise_variance_ / 0.04 < 2
    np.testing.assert_array_equal(fitted.support_vectors_, inputs[fitted.support_])
    start = evaluate(Model(RBF(1.0), inputs, y - y.mean(), fitted.support_, 0.1))[0]
    assert fitted.log_evidence_ > start.evidence
    assert fitted.score(inputs, y) > 0.9
    assert not np.array_equal(
        model.set_params(random_state=4).fit(inputs, y).support_, fitted.support_
    )


def test_turns_gain_evidence_over_a_random_support_set():
    inputs, y = make(300, 2)
    values = [
        ReducedRankGPR(n_support=12, selection=s, random_state=0).fit(inputs, y).log_evidence_
        for s in ("random", "posterior", "evidence")
    ]
    assert min(values[1:]) > values[0] + 2


def test_best_turn_is_kept(monkeypatch):
    values = []

    def spy(*args):
        model, finished = climb(*args)
        values.append(model.evidence)
        return model, finished

    monkeypatch.setattr("sparsebayes.gp.reduced_rank.climb", spy)
    inputs, y = make(100, 2)
    model = ReducedRankGPR(n_support=6, n_search=5, random_state=0).fit(inputs, y)
    turns, last = values[:-1], values[-1]
    assert turns[-1] < max(turns)  # else this tests nothing
    assert model.log_evidence_ == last >= max(turns)
    assert model.n_iter_ == len(turns)


def test_only_what_is_free_is_learned():
    kernel = ConstantKernel(2.0, "fixed") * RBF(1.0, (0.9, 1.1))
    model = ReducedRankGPR(kernel, n_support=10, random_state=0).fit(X, Y)
    assert model.kernel_.k1.constant_value == 2.0
    assert 0.9 <= model.kernel_.k2.length_scale <= 1.1 + 1e-12
    assert kernel == ConstantKernel(2.0, "fixed") * RBF(1.0, (0.9, 1.1))
    model.set_params(optimize=False).fit(X, Y)
    assert model.kernel_ == kernel and model.noise_variance_ > 0
    best = model.noise_variance_
    for noise in (0.8 * best, 1.25 * best):
        other = Model(kernel, X, CENTRED, model.support_, noise)
        assert evaluate(other)[0].evidence < model.log_evidence_
    model.set_params(noise=0.3).fit(X, Y)
    assert model.kernel_ == kernel and model.kernel_ is not kernel
    model.set_params(optimize=True).fit(X, Y)
    assert model.noise_variance_ == 0.3 and model.kernel_ != kernel


@pytest.mark.sampled
@pytest.mark.parametrize("scale", [1e-20, 1e-6, 1e6, 1e20])
def test_units_do_not_matter(scale):
    model = ReducedRankGPR(n_support=15, random_state=0).fit(X, Y)
    mean, std = model.predict(GRID, return_std=True)
    other = clone(model).fit(X * scale, Y * scale + 7 * scale)
    theirs, their_std = other.predict(GRID * scale, return_std=True)
    np.testing.assert_allclose(theirs / scale - 7, mean, atol=1e-3)
    np.testing.assert_allclose(their_std / scale, std, rtol=1e-3)


def test_constant_target():
    for constant in (0.0, 3.7, -1e9):
        model = ReducedRankGPR(n_support=5, random_state=0).fit(X, np.full(len(X), constant))
        mean, std = model.predict(GRID, return_std=True)
        np.testing.assert_allclose(mean, constant)
        assert (std <= 1e-6 * max(1.0, abs(constant))).all()


def test_one_sample_and_constant_input():
    model = ReducedRankGPR(calibrate=None).fit([[1.0, 2.0]], [3.0])
    np.testing.assert_allclose(model.predict([[1.0, 2.0], [50.0, 0.0]]), 3.0)
    constant = np.column_stack([X[:, 0], np.full(len(X), 1e8)])
    assert ReducedRankGPR(n_support=10, random_state=0).fit(constant, Y).score(constant, Y) > 0.5


def test_duplicates_are_taken_once():
    inputs, y = np.repeat(X, 3, axis=0), np.repeat(Y, 3)
    y = y + 0.1 * np.random.default_rng(0).standard_normal(len(y))
    for size in (20, 500):
        model = ReducedRankGPR(n_support=size, random_state=0).fit(inputs, y)
        rows = np.unique(model.support_vectors_, axis=0)
        assert len(rows) == len(model.support_) == min(size, len(X))


def test_smooth_kernels_whose_matrix_is_singular():
    inputs = np.linspace(-1, 1, 300)[:, None]
    y = np.sin(3 * inputs[:, 0]) + 0.01 * np.random.default_rng(0).standard_normal(300)
    model = ReducedRankGPR(n_support=100, random_state=0).fit(inputs, y)
    mean, std = model.predict(inputs, return_std=True)
    assert len(model.support_) < 100  # no more that differ beyond rounding
    np.testing.assert_allclose(mean, np.sin(3 * inputs[:, 0]), atol=0.01)
    np.testing.assert_allclose(std, 0.01, rtol=0.2)


def test_signal_beyond_rounding_above_the_noise():
    inputs = np.linspace(-1, 1, 50)[:, None]
    options = {"optimize": False, "augment": False, "n_support": 30}
    model = ReducedRankGPR(1e8 * RBF(0.5), noise=1e-12, **options)
    mean, std = model.fit(inputs, inputs[:, 0]).predict(inputs, return_std=True)
    assert np.isfinite(model.log_evidence_) and np.isfinite(std).all()
    np.testing.assert_allclose(mean, inputs[:, 0], atol=1e-3)


def test_kernel_that_is_no_covariance_is_told():
    class Difference(RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            return super().__call__(X, Y) - 2.0

    with pytest.raises(ValueError, match="not positive definite"):
        ReducedRankGPR(Difference(), optimize=False, noise=0.1).fit(X, Y)


def test_samples_have_the_predictive_moments():
    model = ReducedRankGPR(n_support=10, random_state=0).fit(X, Y)
    samples = model.sample_y(GRID[:4], 40_000, random_state=0)
    mean, cov = model.predict(GRID[:4], return_cov=True)
    error = np.sqrt(np.diag(cov) / 40_000)
    assert (np.abs(samples.mean(axis=1) - mean) < 4 * error).all()
    np.testing.assert_allclose(np.cov(samples), cov, atol=0.03 * cov.max())
    np.testing.assert_array_equal(model.sample_y(GRID, 2), model.sample_y(GRID, 2))


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"kernel": RBF() + WhiteKernel(), "noise": 0.1}, ValueError, r"WhiteKernel.*noise=0.1"),
        ({"kernel": RBF() * WhiteKernel()}, ValueError, "at most one WhiteKernel"),
        ({"kernel": RBF() + WhiteKernel() + WhiteKernel()}, ValueError, "at most one WhiteKernel"),
        ({"kernel": WhiteKernel()}, ValueError, "without noise"),
        ({"kernel": CompoundKernel([RBF()])}, ValueError, "several"),
        ({"kernel": "rbf"}, TypeError, "kernel must be"),
        ({"selection": "greedy"}, ValueError, "selection"),
        ({"n_support": 0}, ValueError, "n_support"),
        ({"n_support": "all"}, ValueError, "n_support"),
        ({"n_search": 1.5}, ValueError, "n_search"),
        ({"n_cycles": True}, ValueError, "n_cycles"),
        ({"noise": -1.0}, ValueError, "noise"),
        ({"augment": "yes"}, ValueError, "augment"),
        ({"tol": 0}, ValueError, "tol"),
    ],
)
def test_wrong_parameters_are_named(options, error, match):
    with pytest.raises(error, match=match):
        ReducedRankGPR(**options).fit(X, Y)


@pytest.mark.parametrize("estimator", [ReducedRankGPR(), LeaveOneOutGPR()], ids=str)
def test_missing_values_are_refused(estimator):
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(bad, Y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        estimator.fit(X, np.where(np.arange(len(X)) == 2, np.inf, Y))
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(X, Y).predict(bad)


def test_std_and_cov_together_are_refused():
    with pytest.raises(ValueError, match="not for both"):
        ReducedRankGPR(n_support=3).fit(X, Y).predict(X, return_std=True, return_cov=True)


def test_stop_before_the_top_is_told():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = ReducedRankGPR(max_iter=1).fit(X, Y)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="n_cycles"):
        ReducedRankGPR(n_support=5, n_cycles=2, tol=1e-9, random_state=0).fit(X, Y)


def test_leave_one_out_estimator_is_at_the_optimum_of_its_criterion():
    model = LeaveOneOutGPR(1.0 * RBF([1.0, 1.0, 1.0]) + WhiteKernel(0.1)).fit(X, CENTRED)
    value, gradient = loo_log_predictive(model.kernel_, X, CENTRED, 1e-10, eval_gradient=True)
    assert model.loo_log_predictive_ == value
    inside = (model.kernel_.theta < model.kernel_.bounds[:, 1] - 1e-3) & (
        model.kernel_.theta > model.kernel_.bounds[:, 0] + 1e-3
    )
    assert inside.sum() >= 3
    np.testing.assert_allclose(gradient[inside], 0, atol=0.02)
    by_evidence = GaussianProcessRegressor(model.kernel).fit(X, CENTRED)
    assert value > loo_log_predictive(by_evidence.kernel_, X, CENTRED) + 1e-3
    same = GaussianProcessRegressor(model.kernel_, optimizer=None).fit(X, CENTRED)
    for options in ({"return_std": True}, {"return_cov": True}):
        np.testing.assert_allclose(
            model.predict(GRID, **options)[1], same.predict(GRID, **options)[1]
        )
    np.testing.assert_allclose(model.sample_y(GRID), same.sample_y(GRID))


def test_leave_one_out_options():
    targets = np.column_stack([Y, X[:, 1]])
    kernel = 1.0 * RBF(1.0) + WhiteKernel(0.1)
    several = LeaveOneOutGPR(kernel, normalize_y=True).fit(X, targets)
    assert several.predict(GRID).shape == (25, 2)
    again = LeaveOneOutGPR(kernel, n_restarts_optimizer=2, random_state=0, normalize_y=True)
    assert again.fit(X, targets).loo_log_predictive_ >= several.loo_log_predictive_ - 1e-6
    fixed = LeaveOneOutGPR(kernel, optimizer=None).fit(X, Y)
    np.testing.assert_allclose(fixed.kernel_.theta, kernel.theta)

    values = []

    def stay(loss, theta, bounds):
        values.append(loss(theta, eval_gradient=False))
        return theta, values[-1]

    stayed = LeaveOneOutGPR(kernel, optimizer=stay).fit(X, Y)
    np.testing.assert_allclose(stayed.kernel_.theta, kernel.theta)
    stayed.set_params(n_restarts_optimizer=5, random_state=0).fit(X, Y)
    np.testing.assert_allclose(stayed.loo_log_predictive_, -min(values[1:]))
    assert len(values) == 7 and -max(values[1:]) < stayed.loo_log_predictive_
    with pytest.raises(ValueError, match="optimizer"):
        LeaveOneOutGPR(kernel, optimizer="newton").fit(X, Y)
    with pytest.raises(ValueError, match="noise"):
        loo_log_predictive(kernel, X, Y, -1.0)
    with pytest.raises(TypeError, match="kernel must be"):
        loo_log_predictive(None, X, Y)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        ReducedRankGPR(n_support=5, n_cycles=2, max_iter=10, random_state=0),
        LeaveOneOutGPR(RBF() + WhiteKernel(0.1)),
        pytest.param(
            ReducedRankGPR(n_support=20, selection="random", augment=False), marks=pytest.mark.slow
        ),
        pytest.param(LeaveOneOutGPR(), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_scikit_learn_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(estimator, on_fail=None)
    failed = {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] not in ("passed", "skipped")
    }
    assert failed == {} and len(results) > 40


def test_leave_one_out_predicts_in_the_units_of_the_targets():
    X = np.linspace(0.0, 6.0, 30)[:, None]
    y = 1000.0 + 50.0 * np.sin(X[:, 0])
    model = LeaveOneOutGPR(RBF() + WhiteKernel(0.01), normalize_y=True).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=5.0)
