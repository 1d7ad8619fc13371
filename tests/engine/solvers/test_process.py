"""The Gaussian process that judges length scales."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sparsebayes._rvm.length_scales import ScaleFamily
from sparsebayes.basis import RBF, Bias, Laplacian, Linear
from sparsebayes.engine import Gaussian
from sparsebayes.engine.solvers.scales.process import ProcessModel, revived

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
Y = 3.0 * X[:, 0] + 0.01 * RNG.standard_normal(30)
WEIGHTS = RNG.uniform(0.5, 2.0, 30)
BASES = [RBF(1.3), Bias() + RBF([1.0, 2.0, 3.0]) + Linear() + Laplacian(0.7)]


def process(basis, noise, *, ard=True, size=30, price=2.0, noise_prior=(0.0, 0.0)):
    fitted = basis.fit(X, WEIGHTS)
    family = ScaleFamily(fitted, X, WEIGHTS, 1 << 28, ard=ard)
    return ProcessModel(Gaussian(Y, WEIGHTS, noise, *noise_prior), family, size, price)


@pytest.mark.parametrize("ard", [True, False])
@pytest.mark.parametrize("noise", [None, 0.1])
@pytest.mark.parametrize("basis", BASES, ids=str)
def test_derivatives(basis, noise, ard):
    model = process(basis, noise, ard=ard)
    point = model.begin(model.family.start, 1e-4)
    point = point + 0.1 * np.random.default_rng(1).standard_normal(point.size)
    _, slopes = model(point)
    steps = 1e-5 * np.eye(point.size)
    found = [(model(point + step)[0] - model(point - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(slopes, found, rtol=1e-6, atol=1e-6 * np.abs(slopes).max())


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_derivatives_with_a_prior_of_the_noise(basis):
    model = process(basis, None, noise_prior=(5.0, 0.3))
    point = model.begin(model.family.start, 1e-4)
    _, slopes = model(point)
    steps = 1e-5 * np.eye(point.size)
    found = [(model(point + step)[0] - model(point - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(slopes, found, rtol=1e-6, atol=1e-6 * np.abs(slopes).max())


@pytest.mark.parametrize("noise", [None, 0.1])
@pytest.mark.parametrize("basis", BASES, ids=str)
def test_values_and_slopes_of_whole_matrices(basis, noise):
    """One triangle of the inverse, and one kernel, give what all of them would."""
    model = process(basis, noise, price=0.0)
    theta = model.family.start + 0.1
    parts = model.family.covariances(theta, model.rows)
    if model.fixed is not None:
        parts.append(model.fixed @ model.fixed.T)
    target = model.targets[0]
    for ratio in model.ratios:
        cov = sum(parts) / ratio + np.diag(1.0 / model.weights)
        solved = np.linalg.solve(cov, target)
        energy = target @ solved
        variance = energy / 30 if noise is None else model.noise_variance[0]
        value = 15.0 * np.log(variance) if noise is None else 0.5 * energy / variance
        value += 0.5 * np.linalg.slogdet(cov)[1]
        slope = 0.5 * (np.linalg.inv(cov) - np.outer(solved, solved) / variance)
        found = model(model.begin(theta, ratio))
        assert found[0] == pytest.approx(value, rel=1e-10)
        by_ratio = [-np.sum(slope * part) / ratio for part in parts]
        scale = np.abs(by_ratio).max()
        np.testing.assert_allclose(found[1][theta.size :], by_ratio, rtol=1e-7, atol=1e-9 * scale)


@pytest.mark.parametrize("noise", [None, 0.1])
@pytest.mark.parametrize("basis", BASES, ids=str)
def test_trials_are_values(basis, noise):
    model = process(basis, noise)
    found = model.trials(model.family.start)
    assert len(found) == len(model.ratios)
    for (value, point), ratio in zip(found, model.ratios, strict=True):
        np.testing.assert_array_equal(point, model.begin(model.family.start, ratio))
        assert value == model(point)[0]


def test_a_kernel_is_computed_once(monkeypatch):
    """For all trials of a width, and for value and slopes of a point."""
    model, calls, kernel = process(RBF(1.3), None), [], RBF._decay
    monkeypatch.setattr(
        RBF, "_decay", staticmethod(lambda X, Z: calls.append(len(X)) or kernel(X, Z))
    )
    model.trials(model.family.start)
    model(model.begin(model.family.start, 0.1))
    assert calls == [30, 30]


def test_value_is_minus_the_log_density():
    model = process(RBF(1.3), 0.1, price=0.0)
    values = []
    for ratio in (0.1, 0.01):
        cov = RBF(1.3).fit(X).columns(X) * 0.1 / ratio + np.diag(0.1 / WEIGHTS)
        target = Y - np.average(Y, weights=WEIGHTS)
        density = multivariate_normal(np.zeros(30), cov).logpdf(target)
        values.append(model(model.begin(model.family.start, ratio))[0] + density)
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("price", [0.0, 2.0])
def test_the_best_noise_is_found(price):
    """It is free, so no fixed one has more evidence."""
    free = process(RBF(1.3), None, price=price)
    point = free.begin(free.family.start, 0.5)  # a signal that the prior leaves alone
    at = np.log(np.mean((Y - np.average(Y, weights=WEIGHTS)) ** 2))
    fixed = []
    for log_noise in np.linspace(at - 6.0, at + 2.0, 200):
        model = process(RBF(1.3), float(np.exp(log_noise)), price=0.0)
        fixed.append(model(point)[0] + 15.0 * (log_noise - at))
    prior = free(point)[0] - process(RBF(1.3), None, price=0.0)(point)[0]
    assert free(point)[0] - prior + 15.0 == pytest.approx(min(fixed), abs=0.02)


def test_the_best_noise_is_found_with_a_prior_of_it():
    shape, rate = 5.0, 0.3
    free = process(RBF(1.3), None, price=0.0, noise_prior=(shape, rate))
    point = free.begin(free.family.start, 0.5)
    at = np.log(np.mean((Y - np.average(Y, weights=WEIGHTS)) ** 2))
    fixed = []
    for log_noise in np.linspace(at - 6.0, at + 2.0, 400):
        value = process(RBF(1.3), float(np.exp(log_noise)), price=0.0)(point)[0]
        prior = shape * (log_noise - at) + rate * np.exp(-log_noise)
        fixed.append(value + 15.0 * (log_noise - at) + prior)
    assert free(point)[0] + 15.0 + shape == pytest.approx(min(fixed), abs=0.02)


def test_order_and_repetition_do_not_matter():
    order = np.random.default_rng(2).permutation(30)
    twice = np.concatenate([order, order])

    def value(rows, weights):
        fitted = RBF(1.3).fit(X[rows], weights)
        family = ScaleFamily(fitted, X[rows], weights, 1 << 28, ard=True)
        model = ProcessModel(Gaussian(Y[rows], weights, None), family, 12, 2.0)
        return model(model.begin(family.start, 0.01))[0]

    plain = value(np.arange(30), np.ones(30))
    assert value(order, np.ones(30)) == pytest.approx(plain, rel=1e-12)
    assert value(twice, np.full(60, 0.5)) == pytest.approx(plain, rel=1e-12)


def test_equal_rows_do_not_say_that_there_is_no_noise():
    rng = np.random.default_rng(3)
    inputs = np.repeat(rng.standard_normal((40, 2)), 2, axis=0)
    targets = np.repeat(rng.standard_normal(40), 2)
    fitted = RBF(1.0).fit(inputs)
    family = ScaleFamily(fitted, inputs, np.ones(80), 1 << 28, ard=True)
    model = ProcessModel(Gaussian(targets, np.ones(80), None), family, 80)
    narrow = family.start - 4.0
    loud, quiet = (model(model.begin(narrow, ratio))[0] for ratio in (1.0, 1e-6))
    assert loud == pytest.approx(quiet, abs=0.5)  # nothing tells narrow functions from noise


def test_only_inputs_that_matter_are_revived():
    model = process(RBF(1.3), None)  # the targets depend on the first input alone
    point = model.begin(model.family.start, 1e-2)
    point[:3] = model.family.spread + np.array([6.0, 6.0, 3.0])
    found = revived(model, point)
    np.testing.assert_allclose(found[:3], model.family.spread + np.array([2.0, 6.0, 3.0]))
    np.testing.assert_array_equal(found[3:], point[3:])
