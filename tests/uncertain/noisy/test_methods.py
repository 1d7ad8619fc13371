"""The methods for noisy inputs: their choice, their objectives and derivatives."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import GridSearchCV

from sparsebayes.engine.noisy_gp import smoothed_kernel
from sparsebayes.uncertain import Imputation, NoisyInputGPR, Slope, StochasticEM
from sparsebayes.uncertain.noisy import imputation, slope, stochastic_em
from sparsebayes.uncertain.noisy.regressor import as_method
from sparsebayes.uncertain.noisy.space import NoisyData, Space, normal_nodes

KERNELS = {
    "isotropic": 2.0 * RBF(1.3),
    "ard": 2.0 * RBF([1.0, 2.0]),
    "fixed amplitude": ConstantKernel(1.5, "fixed") * RBF([1.0, 2.0]),
    "fixed scale": RBF(1.1, "fixed") * ConstantKernel(1.5),
    "plain": RBF(1.1),
}
RNG = np.random.default_rng(0)
X2 = RNG.uniform(-3, 3, (25, 2))
Y2 = np.sin(X2[:, 0]) * np.cos(X2[:, 1]) + 0.2 * RNG.standard_normal(25)
DATA = NoisyData(Y2, X2, RNG.uniform(0.0, 0.5, (25, 2)))
GRID = RNG.uniform(-3, 3, (12, 2))


def difference(function, at, step=1e-6):
    steps = step * np.eye(len(at))
    return np.array([(function(at + s) - function(at - s)) / (2 * step) for s in steps])


@pytest.fixture(scope="module", params=KERNELS)
def space(request):
    return Space(
        KERNELS[request.param],
        0.1,
        2,
        by_kernel=True,
        noise_bounds=(1e-6, 10.0),
        factor=0.7,
        factor_bounds=(1e-6, 10.0),
    )


def test_space_reads_what_the_kernel_says(space):
    vector = space.start + 0.1
    kernel, noise, factor = space.read(vector)
    theta = space.theta(vector)
    clean = np.zeros((1, 2))
    expected = smoothed_kernel(X2, clean, GRID, clean, theta.amplitude, theta.scales)
    np.testing.assert_allclose(kernel(X2, GRID), expected)
    assert noise == theta.noise == pytest.approx(0.1 * np.exp(0.1))
    assert factor == space.input_factor(vector) == pytest.approx(0.7 * np.exp(0.1))


def test_slope_evidence_is_that_of_the_dense_normal(space):
    """With a profile of ones: the covariance of targets over inputs and functions."""
    value, _, found = slope.evaluate(space, space.start, DATA, np.ones(25))
    theta = space.theta(space.start)
    variances = 0.7 * DATA.variances
    cov = smoothed_kernel(X2, variances, X2, variances, theta.amplitude, theta.scales)
    np.fill_diagonal(cov, theta.amplitude + theta.noise)
    normal = multivariate_normal(np.zeros(25), cov)
    assert value == pytest.approx(normal.logpdf(Y2), rel=1e-7)
    rest = multivariate_normal(np.zeros(24), cov[1:, 1:]).logpdf(Y2[1:])
    others = [
        normal.logpdf(Y2)
        - multivariate_normal(np.zeros(24), np.delete(np.delete(cov, n, 0), n, 1)).logpdf(
            np.delete(Y2, n)
        )
        for n in range(25)
    ]
    assert others[0] == pytest.approx(normal.logpdf(Y2) - rest)
    assert found.loo == pytest.approx(sum(others), rel=1e-6)


def test_slope_evidence_gradient_is_the_finite_difference(space):
    profile = np.random.default_rng(3).uniform(0.2, 2.0, 25)
    _, gradient, _ = slope.evaluate(space, space.start, DATA, profile)
    expected = difference(lambda v: slope.evaluate(space, v, DATA, profile)[0], space.start)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_imputation_gradient_is_the_finite_difference(space):
    held = space.hold(space.start, 0.05)
    joint = np.concatenate([held.start, np.random.default_rng(3).standard_normal(50)])
    _, gradient = imputation.objective(held, DATA, joint)
    expected = difference(lambda z: imputation.objective(held, DATA, z)[0], joint)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_m_step_climbs_by_its_gradient(space):
    sets = np.random.default_rng(3).standard_normal((4, 25, 2))
    objective = stochastic_em.expected_evidence(space, DATA, sets)
    value, gradient = objective(space.start)
    expected = difference(lambda v: objective(v)[0], space.start)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    vector, best = stochastic_em.maximise(space, space.start, DATA, sets, 5)
    assert best > value + 1.0
    assert best == pytest.approx(objective(vector)[0])


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_nodes_have_the_moments_of_a_normal(n_features):
    nodes, weights = normal_nodes(n_features)
    np.testing.assert_allclose(weights.sum(), 1.0)
    np.testing.assert_allclose(weights @ nodes, 0.0, atol=1e-12)
    cov = (weights * nodes.T) @ nodes
    np.testing.assert_allclose(np.diag(cov), 1.0)
    np.testing.assert_allclose(cov, np.eye(n_features), atol=1e-9 if n_features < 3 else 0.35)


def test_steepness_is_the_posterior_mean_of_the_variance():
    """Against functions drawn from the posterior."""
    space = Space(2.0 * RBF(1.3), 0.1, 1, by_kernel=True, noise_bounds=(1e-6, 10.0))
    x, y = np.linspace(-3, 3, 8)[:, None], np.sin(np.linspace(-3, 3, 8))
    data = NoisyData(y, x, np.full((1, 1), 0.3))
    process = slope.evaluate(space, space.start, data, np.ones(8))[2].process
    nodes, weights = normal_nodes(1)
    places = x[2] + np.sqrt(0.3) * nodes
    mean, cov = process.joint(places)
    draws = np.random.default_rng(0).multivariate_normal(mean, cov, 20_000)
    variances = weights @ draws.T**2 - (weights @ draws.T) ** 2
    prior = 2.0 * (1.0 - 1.3 / np.sqrt(1.3**2 + 0.6))
    found = slope.steepness(data, process, process)[2] * prior
    assert abs(found - variances.mean()) < 4 * variances.std() / np.sqrt(20_000) < 0.05 * found


def test_drift_is_told_from_scatter():
    rng = np.random.default_rng(0)
    scatter = 0.3 * rng.standard_normal((30, 2))
    drift = np.arange(30)[:, None] * [0.1, 0.0]
    settled = [stochastic_em.settled(scatter[:n] - scatter[:n].mean(0), 0.1) for n in (20, 30)]
    assert not settled[0] and settled[1]
    assert not stochastic_em.settled(0.01 * scatter + drift, 0.1)


def test_names_stand_for_objects_with_their_defaults():
    kinds = {"stochastic_em": StochasticEM, "imputation": Imputation, "slope": Slope}
    for name, kind in kinds.items():
        found = as_method(name, 10)
        assert type(found) is kind and found.get_params() == kind().get_params()


def test_auto_takes_the_fast_method_where_samples_are_many():
    kinds = {n: type(as_method("auto", n)) for n in (1, 100, 101, 5000)}
    assert kinds == {1: StochasticEM, 100: StochasticEM, 101: Slope, 5000: Slope}
    assert NoisyInputGPR(input_noise=1.0).method == "auto"


def test_parameters_of_a_method_can_be_searched():
    model = NoisyInputGPR(input_noise=0.3, method=Slope(), random_state=0)
    search = GridSearchCV(model, {"method__max_iter": [1, 3]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = search.fit(X2, Y2).best_estimator_
        limited, free = (clone(model).set_params(method__max_iter=n).fit(X2, Y2) for n in (1, 20))
    assert limited.n_iter_ == 1 < free.n_iter_
    assert best.method_.max_iter == best.method.max_iter == search.best_params_["method__max_iter"]
    assert best.method_ is not best.method
    assert model.method.max_iter == 20  # clones were changed, not the method that was given
