"""Gaussian processes on noisy training inputs."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError, SkipTestWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.estimator_checks import check_estimator

from sparsebayes.uncertain import (
    NoisyInputGPR,
    Slope,
    StochasticEM,
    predict_uncertain,
)
from sparsebayes.uncertain.noisy import imputation, slope, stochastic_em
from sparsebayes.uncertain.noisy.space import NoisyData, Space
from tests.uncertain.noisy.examples import (
    DATA,
    FEW,
    GRID,
    METHODS,
    TEST,
    X2,
    X_FEW,
    Y2,
    Y_FEW,
    X,
    Y,
    fit,
    quick,
    sinc,
)


def density(model, X, y):
    mean, std = model.predict(X, return_std=True)
    return norm.logpdf(y, mean, std).mean()


@pytest.fixture(scope="module", params=METHODS)
def fitted(request):
    return fit(quick(request.param), X, Y)


@pytest.mark.parametrize("method", ["slope", "stochastic_em"])
def test_without_input_noise_it_is_the_ordinary_process(method):
    model = quick(method, input_noise=0.0).fit(X2, Y2 + 3.0)
    kernel = clone(model.kernel_) + WhiteKernel(model.noise_variance_)
    plain = GaussianProcessRegressor(kernel, alpha=0.0).fit(X2, Y2 + 3.0 - model.offset_)
    np.testing.assert_allclose(
        model.predict(GRID), plain.predict(GRID) + model.offset_, rtol=1e-4, atol=1e-5
    )
    std = plain.predict(GRID, return_std=True)[1]
    np.testing.assert_allclose(model.predict(GRID, return_std=True)[1], std, rtol=1e-3)
    # The optimum: scikit-learn finds no more.
    assert plain.log_marginal_likelihood_value_ < model.log_evidence_ + 0.05
    np.testing.assert_array_equal(model.input_noise_, 0.0)


def test_imputation_without_input_noise_leaves_the_inputs():
    model = quick("imputation", input_noise=0.0, noise=0.01).fit(X2, Y2)
    np.testing.assert_array_equal(model.inputs_, X2)
    assert model.noise_variance_ == 0.01


@pytest.mark.slow
def test_slope_beats_the_plain_process_and_finds_the_noise():
    gains = []
    for seed in range(4):
        observed, y, test, targets = sinc(seed, 150)
        model = quick("slope").fit(observed, y)
        plain = quick("slope", input_noise=0.0).fit(observed, y)
        gains.append(density(model, test, targets) - density(plain, test, targets))
        assert plain.noise_variance_ > 0.14**2 > 0.1**2 > model.noise_variance_
    assert min(gains) > 0.3


@pytest.mark.slow
def test_many_samples_begin_with_some(monkeypatch):
    observed, y, test, targets = sinc(0, 150)
    whole = quick("slope").fit(observed, y)
    monkeypatch.setattr(slope, "SUBSET", 75)
    sizes = []
    evaluate = slope.evaluate

    def counted(space, vector, data, profile):
        sizes.append(len(data.y))
        return evaluate(space, vector, data, profile)

    monkeypatch.setattr(slope, "evaluate", counted)
    model = quick("slope").fit(observed, y)
    assert abs(density(model, test, targets) - density(whole, test, targets)) < 0.1
    assert model.input_noise_.shape == (150, 1) and set(sizes) == {75, 150}
    assert sizes.count(150) < 2 * 3 * slope.POLISH


def test_another_method_leaves_nothing_of_the_one_before():
    model = fit(quick("stochastic_em"), *FEW)
    assert hasattr(model, "samples_") and not hasattr(model, "log_evidence_")
    assert isinstance(model.method_, StochasticEM)
    fit(model.set_params(method="slope"), *FEW)
    assert isinstance(model.method_, Slope)
    assert hasattr(model, "log_evidence_")
    for name in ("samples_", "acceptance_", "noise_path_", "effective_sample_size_"):
        assert not hasattr(model, name)


@pytest.mark.slow
def test_imputation_beats_the_plain_process():
    gains = []
    for seed in (1, 7):
        observed, y, test, targets = sinc(seed)
        model = NoisyInputGPR(input_noise=1.0, method="imputation", random_state=0)
        model.fit(observed, y)
        plain = quick("slope", input_noise=0.0).fit(observed, y)
        gains.append(density(model, test, targets) - density(plain, test, targets))
        assert model.noise_variance_ < 0.7 * plain.noise_variance_
        clean = np.linspace(-10, 10, 50)[:, None]
        error, raw = (np.abs(x - clean).mean() for x in (model.inputs_, observed))
        assert error < raw
        assert len(model.noise_path_) == model.n_iter_
        assert model.noise_path_[-1] == model.noise_variance_
        assert np.all(np.diff(model.noise_path_) < 0)
    assert min(gains) > 0.2


@pytest.mark.slow
def test_imputation_with_too_little_noise_spoils_predictions():
    """QC04 Fig. 4.5: why the annealing must stop."""
    observed, y, test, targets = sinc(1)
    chosen = NoisyInputGPR(input_noise=1.0, method="imputation", random_state=0).fit(observed, y)
    low = fit(NoisyInputGPR(input_noise=1.0, method="imputation", noise=1e-5), observed, y)
    assert density(low, test, targets) < density(chosen, test, targets) - 2.0


def test_without_annealing_the_start_is_the_kernel():
    kernel = 1.0 * RBF(2.0)
    one = quick("imputation", kernel=kernel, n_levels=1, noise=0.01, optimize=False).fit(X, Y)
    assert one.kernel_ == kernel and one.n_iter_ == 1
    theta = Space(kernel, 0.01, 1, by_kernel=False, noise_bounds=None)
    data = NoisyData(Y - Y.mean(), X, np.ones((1, 1)))
    still, _ = imputation.objective(theta, data, np.zeros(30))
    assert one.log_evidence_ > still


@pytest.mark.slow
def test_stochastic_em_knows_more_than_the_plain_process():
    model = fit(quick("stochastic_em", max_iter=8, n_samples=16), *sinc(1)[:2])
    plain = quick("slope", input_noise=0.0).fit(*sinc(1)[:2])
    assert density(model, *sinc(1)[2:]) > density(plain, *sinc(1)[2:]) + 0.2
    assert model.samples_.shape == (16, 50, 1)
    np.testing.assert_allclose(model.inputs_, model.samples_.mean(axis=0))
    assert model.sample_log_density_.shape == (16,)
    assert 0.5 < model.acceptance_ <= 1.0
    assert model.effective_sample_size_.shape == (50, 1)
    assert model.step_size_ > 0
    assert len(model.evidence_path_) == len(model.noise_path_) == model.n_iter_ == 8
    assert not model.converged_
    clean = np.linspace(-10, 10, 50)[:, None]
    assert np.abs(model.inputs_ - clean).mean() < np.abs(sinc(1)[0] - clean).mean()


@pytest.mark.slow
def test_samples_come_with_their_log_density():
    model = fit(quick("stochastic_em", input_noise=0.8), *FEW)
    prior = [norm.logpdf(x, X_FEW, np.sqrt(0.8)).sum() for x in model.samples_]
    likelihood = [
        multivariate_normal(
            np.zeros(12), model.kernel_(x) + model.noise_variance_ * np.eye(12)
        ).logpdf(Y_FEW - model.offset_)
        for x in model.samples_
    ]
    difference = np.add(prior, likelihood) - model.sample_log_density_
    np.testing.assert_allclose(difference, difference[0], atol=1e-5)


@pytest.mark.slow
def test_points_without_noise_stay():
    variances = np.where(np.arange(30) % 2, 0.5, 0.0)
    for method in ("stochastic_em", "imputation"):
        model = fit(quick(method, input_noise=variances), X, Y)
        np.testing.assert_array_equal(model.inputs_[::2], X[::2])
        assert np.all(model.inputs_[1::2] != X[1::2])


@pytest.mark.sampled
def test_use_before_fit_and_both_returns_are_refused(fitted):
    with pytest.raises(NotFittedError):
        quick("slope").predict(X)
    with pytest.raises(NotFittedError):
        quick("slope").predict_uncertain(X, [[1.0]])
    with pytest.raises(ValueError, match="not for both"):
        fitted.predict(TEST, return_std=True, return_cov=True)


def test_predictions_agree_with_each_other(fitted):
    mean, std = fitted.predict(TEST[:9], return_std=True)
    np.testing.assert_allclose(fitted.predict(TEST[:9]), mean)
    same, cov = fitted.predict(TEST[:9], return_cov=True)
    np.testing.assert_allclose(same, mean)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), std, rtol=1e-6)
    assert np.linalg.eigvalsh(cov)[0] > 0
    assert np.all(std**2 > fitted.noise_variance_)
    far = fitted.predict([[1e3]], return_std=True)
    assert far[0] == pytest.approx(fitted.offset_)


def test_draws_have_the_moments_of_the_prediction(fitted):
    mean, cov = fitted.predict(TEST[:3], return_cov=True)
    draws = fitted.sample_y(TEST[:3], 20_000, random_state=1)
    assert draws.shape == (3, 20_000)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(draws), cov, atol=0.05 * cov.max())
    again = fitted.sample_y(TEST[:3], 20_000, random_state=1)
    np.testing.assert_array_equal(draws, again)


def test_prediction_at_uncertain_inputs(fitted):
    mean, std = fitted.predict(TEST[:4], return_std=True)
    means, variances = fitted.predict_uncertain(TEST[:4], [[0.0]])
    np.testing.assert_allclose(means, mean)
    np.testing.assert_allclose(variances, std**2)
    means, variances = fitted.predict_uncertain(TEST[:4], [[0.8]])
    exact = fitted.predict_uncertain(TEST[:4], [[0.8]], method="exact")
    np.testing.assert_array_equal(means, exact[0])
    drawn = predict_uncertain(
        fitted, TEST[:4], [[0.8]], method="monte_carlo", return_error=True, n_samples=4000
    )
    assert np.all(np.abs(means - drawn[0]) < 5 * drawn[2][:, 0])
    assert np.all(np.abs(variances - drawn[1]) < 5 * drawn[2][:, 1])


def test_uncertain_inputs_after_different_noises_take_quadrature():
    model = fit(quick("slope", input_noise=DATA.variances), X2, Y2)
    means, variances = model.predict_uncertain(GRID[:2], 0.1 * np.eye(2))
    draws = GRID[:2, None] + np.sqrt(0.1) * np.random.default_rng(0).standard_normal((1, 4000, 2))
    m, s = model.predict(draws.reshape(-1, 2), return_std=True)
    np.testing.assert_allclose(means, m.reshape(2, -1).mean(axis=1), atol=0.05)
    total = (s**2).reshape(2, -1).mean(axis=1) + m.reshape(2, -1).var(axis=1)
    np.testing.assert_allclose(variances, total, rtol=0.15)
    with pytest.raises(ValueError, match="exact"):
        model.predict_uncertain(GRID[:2], 0.1 * np.eye(2), method="exact")


@pytest.mark.slow
def test_same_seed_same_result(fitted):
    again = fit(clone(fitted), X, Y)
    np.testing.assert_array_equal(again.predict(TEST), fitted.predict(TEST))
    np.testing.assert_array_equal(again.inputs_, fitted.inputs_)
    if isinstance(fitted.method, StochasticEM):
        other = fit(clone(fitted).set_params(random_state=1), *FEW)
        same = fit(clone(fitted), *FEW)
        assert np.all(other.samples_ != same.samples_)


@pytest.mark.parametrize(("by_x", "by_y"), [(1e4, 1e-5), (1e-4, 1e6)])
def test_units_do_not_matter(by_x, by_y):
    variances = np.random.default_rng(0).uniform(0.2, 1.0, 30)
    model = quick("slope", input_noise=variances).fit(X, Y)
    scaled = quick("slope", input_noise=by_x**2 * variances).fit(by_x * X, by_y * Y)
    mean, std = model.predict(TEST, return_std=True)
    found = scaled.predict(by_x * TEST, return_std=True)
    np.testing.assert_allclose(found[0], by_y * mean, rtol=1e-3, atol=1e-4 * by_y)
    np.testing.assert_allclose(found[1], by_y * std, rtol=1e-3)


@pytest.mark.sampled
@pytest.mark.parametrize("method", METHODS)
def test_estimated_input_noise_has_the_units_of_the_inputs(method):
    scale = np.array([1.0, 100.0])
    one = fit(quick(method, input_noise="estimate"), X2, Y2)
    other = fit(quick(method, input_noise="estimate"), X2 * scale, Y2)
    np.testing.assert_allclose(
        one.input_noise_ / X2.var(axis=0), one.input_noise_[0, 0] / X2[:, 0].var()
    )
    np.testing.assert_allclose(other.input_noise_, one.input_noise_ * scale**2, rtol=0.02)


@pytest.mark.slow
def test_input_noise_is_estimated():
    observed, y, _, _ = sinc(0, 300)
    model = quick("slope", input_noise="estimate").fit(observed, y)
    assert 0.5 < model.input_noise_[0, 0] < 1.6


def test_nothing_to_learn_is_sampled_only():
    kernel = ConstantKernel(0.2, "fixed") * RBF(1.5, "fixed")
    model = quick("stochastic_em", kernel=kernel, noise=0.01).fit(*FEW)
    assert model.converged_ and len(model.evidence_path_) == 0


@pytest.mark.slow
def test_unsettled_search_warns():
    with pytest.warns(ConvergenceWarning, match="after 3 turns; raise max_iter"):
        quick("stochastic_em").fit(*FEW)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        quick("imputation", max_iter=1).fit(*FEW)


@pytest.mark.slow
def test_progress_is_told(capsys):
    fit(quick("stochastic_em", verbose=2), *FEW)
    assert capsys.readouterr().out.count("[NoisyInputGPR] turn") == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "learned"),
    [
        ("slope", False),
        pytest.param("slope", True, marks=pytest.mark.slow),
        pytest.param("imputation", True, marks=pytest.mark.slow),
        pytest.param("stochastic_em", True, marks=pytest.mark.slow),
    ],
)
def test_estimator_checks(method, learned, monkeypatch):
    model = quick(method, input_noise=0.1)
    if not learned:
        model.set_params(optimize=False, noise=0.1)
    if method == "stochastic_em":
        model.set_params(method=StochasticEM(n_samples=2, n_chains=1, max_iter=1))
        monkeypatch.setattr(stochastic_em, "WARM_UP", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(model, on_fail=None)
    assert len(results) > 40
    failed = {
        r["check_name"]: repr(r["exception"])
        for r in results
        if r["status"] not in ("passed", "skipped")
    }
    assert failed == {}
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}


def test_input_noise_has_no_default():
    with pytest.raises(TypeError, match="input_noise"):
        NoisyInputGPR()


@pytest.mark.slow
def test_chains_agree():
    """R-hat of two runs at fixed hyperparameters, on the example of QC04 4.3.2."""
    arviz = pytest.importorskip("arviz")
    observed, y, _, _ = sinc(0)
    kernel = ConstantKernel(0.15, "fixed") * RBF(2.2, "fixed")
    inputs, values = [], []
    for seed in range(2):
        model = NoisyInputGPR(
            kernel,
            input_noise=1.0,
            noise=0.045**2,
            method=StochasticEM(n_samples=400, n_chains=1, thin=6),
            random_state=seed,
        ).fit(observed, y)
        inputs.append(model.samples_[:, :, 0])
        values.append(model.sample_log_density_)
    assert float(np.asarray(arviz.rhat(np.array(values))).max()) < 1.05
    by_input = [
        float(np.asarray(arviz.rhat(chains))) for chains in np.array(inputs).T.swapaxes(1, 2)
    ]
    assert max(by_input) < 1.05


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_stochastic_em_on_the_sinc_example(seed):
    """QC04 4.3.2: the output noise is 0.05, a plain process says 0.16 or more."""
    observed, y, test, targets = sinc(seed)
    model = NoisyInputGPR(input_noise=1.0, random_state=0).fit(observed, y)
    plain = quick("slope", input_noise=0.0).fit(observed, y)
    assert 0.03 < np.sqrt(model.noise_variance_) < 0.09 < 0.15 < np.sqrt(plain.noise_variance_)
    assert density(model, test, targets) > density(plain, test, targets) + 0.3
