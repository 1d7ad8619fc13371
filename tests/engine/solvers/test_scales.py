"""Derivatives of the evidence with respect to length scales, and the search for scales."""

from __future__ import annotations

import numpy as np
import pytest

from sparsebayes._rvm.length_scales import ScaleFamily
from sparsebayes.basis import RBF, Bias, Laplacian, Linear, LinearSpline, ThinPlateSpline
from sparsebayes.engine import (
    Exact,
    Flat,
    Gamma,
    Gaussian,
    Latent,
    Logit,
    Probit,
    Smoothness,
    Softmax,
    Trace,
)
from sparsebayes.engine.solvers.scales.adaptive import SharedPrecisionModel
from sparsebayes.engine.solvers.scales.process import descend, follow

BASES = [
    RBF(0.8),
    RBF([0.5, 1.0, 2.0]),
    Laplacian(0.8),
    ThinPlateSpline(1.3),
    LinearSpline([1.0, 2.0, 0.7]),
    RBF(0.8) + Laplacian([0.5, 1.0, 2.0]),
    RBF(0.8) + Linear(),
]


def slope(function, point, step=1e-5):
    """Central differences."""
    out = np.empty(point.size)
    for i in range(point.size):
        move = np.zeros(point.size)
        move[i] = step
        out[i] = (function(point + move) - function(point - move)) / (2 * step)
    return out


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(30)


def problem_of(kind, target, design):
    weights = np.linspace(0.5, 1.5, target.size)
    labels = np.where(target > 0, 1.0, -1.0)
    classes = np.digitize(target, [-0.5, 0.5])
    return {
        "flat": lambda: Exact(design, Flat(), Gaussian(target, weights)),
        "smooth": lambda: Exact(design, Smoothness(2.0), Gaussian(target, weights)),
        "gamma": lambda: Exact(design, Gamma(1.0, 0.1), Gaussian(target, weights, 0.05)),
        "logit": lambda: Latent(design, Flat(), Logit(labels, weights)),
        "probit": lambda: Latent(design, Flat(), Probit(labels, weights)),
        "tap": lambda: Latent(design, Flat(), Probit(labels, np.ones(target.size), "posterior")),
        "trace": lambda: Latent(design, Trace(0.7), Logit(labels, weights)),
        "softmax": lambda: Latent(design, Flat(), Softmax(classes, weights, 3)),
        "shared": lambda: Latent(design, Trace(0.7), Softmax(classes, weights, 3), share=True),
    }[kind]()


@pytest.mark.parametrize("basis", BASES, ids=str)
def test_scale_slopes(data, basis):
    X, _ = data
    rng = np.random.default_rng(1)
    fitted = (Bias() + basis).fit(X)
    index = np.array([3, 0, 7, 31 % fitted.n_functions_, 12])
    weights = rng.standard_normal((len(X), index.size))
    theta = fitted.log_scales()
    found = fitted.scale_slopes(X, index, weights)

    def value(theta):
        return float((weights * fitted.rescaled(theta).columns(X, index)).sum())

    np.testing.assert_allclose(found, slope(value, theta), rtol=1e-6, atol=1e-7)


def test_scale_slopes_far_from_the_origin(data):
    X, _ = data
    index, weights = np.arange(30), np.ones((30, 30))
    near = RBF(0.8).fit(X).scale_slopes(X, index, weights)
    far = RBF(0.8).fit(X + 1e5).scale_slopes(X + 1e5, index, weights)
    np.testing.assert_allclose(far, near, rtol=1e-6)


@pytest.mark.parametrize("ard", [True, False])
@pytest.mark.parametrize(
    "kind",
    ["flat", "smooth", "gamma", "logit", "probit", "tap", "trace", "softmax", "shared"],
)
def test_derivatives_of_the_objective(data, kind, ard):
    X, y = data
    fitted = (Bias() + RBF([0.8, 1.0, 1.2])).fit(X)
    family = ScaleFamily(fitted, X, np.ones(len(X)), 1 << 28, ard=ard)
    base = problem_of(kind, y, family.design(family.start))
    size = base.n_functions
    active = np.array([4, 0, 9, 17, 25, *([40, 62] if size > 62 else [])])
    alpha = np.linspace(0.3, 3.0, active.size)
    beta = base.beta
    theta = family.start + 0.1

    def state(theta, alpha=alpha, beta=beta):
        problem = base.rebase(family.design(theta))
        return problem, problem.evaluate(active, alpha, float(beta))

    problem, here = state(theta)
    by_alpha, by_beta, slopes = problem.derivatives(here)
    by_theta = family.slopes(theta, problem.used(active), slopes)
    loose = {"rtol": 2e-4, "atol": 2e-4} if kind == "tap" else {"rtol": 1e-5, "atol": 1e-6}
    expected = slope(lambda t: state(t)[1].objective, theta, 1e-4)
    np.testing.assert_allclose(by_theta, expected, **loose)
    if kind == "trace" or kind == "shared":  # B is held in the trace's own derivative by α
        return
    expected = slope(lambda a: state(theta, np.exp(a))[1].objective, np.log(alpha), 1e-4)
    np.testing.assert_allclose(by_alpha, expected, **loose)
    if problem.noise is not None:
        value = slope(lambda b: state(theta, alpha, np.exp(b[0]))[1].objective, np.log([beta]))
        assert by_beta == pytest.approx(value[0], rel=1e-5)


def test_a_model_sees_what_there_is_to_explain():
    """Of many samples it takes some, unless their targets are all zero."""
    X = np.linspace(-1, 1, 5001)[:, None]
    target = np.zeros(5001)
    target[[1, 3]] = 1.0, -1.0
    fitted = RBF(0.1).fit(X)
    family = ScaleFamily(fitted, X, np.ones(5001), 1 << 28, ard=True)
    problem = Exact(family.design(family.start), Flat(), Gaussian(target, np.ones(5001)))
    model = SharedPrecisionModel(problem, family, 1e6)
    assert model.problem.n_samples == 5001
    assert np.isfinite(model(model.begin(family.start, 1e-4))[0])
    usual = Exact(family.design(family.start), Flat(), Gaussian(np.cos(X[:, 0]), np.ones(5001)))
    assert SharedPrecisionModel(usual, family, 1e6).problem.n_samples == 2501


@pytest.mark.parametrize("kind", ["smooth", "gamma", "logit", "tap", "softmax", "shared"])
def test_derivatives_of_a_model(data, kind):
    X, y = data
    fitted = (Bias() + RBF([0.8, 1.0, 1.2]) + Laplacian(2.0)).fit(X)
    family = ScaleFamily(fitted, X, np.ones(len(X)), 1 << 28, ard=True)
    model = SharedPrecisionModel(problem_of(kind, y, family.design(family.start)), family)
    point = model.begin(family.start + 0.1, 1e-2)
    found = model(point)[1]
    expected = slope(lambda p: model(p)[0], point, 1e-4)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_trials_of_a_model_are_its_values(data):
    X, y = data
    fitted = (Bias() + RBF([0.8, 1.0, 1.2]) + Laplacian(2.0)).fit(X)
    family = ScaleFamily(fitted, X, np.ones(len(X)), 1 << 28, ard=True)
    model = SharedPrecisionModel(problem_of("flat", y, family.design(family.start)), family)
    for (value, point), ratio in zip(model.trials(family.start), model.ratios, strict=True):
        np.testing.assert_array_equal(point, model.begin(family.start, ratio))
        assert value == pytest.approx(model(point)[0], rel=1e-12)


class Valley:
    """A parabola in one direction, a thousand times flatter in another; it counts its calls."""

    n_rows = 1

    def __init__(self):
        self.family = type("Line", (), {"start": np.zeros(2)})()
        self.bounds, self.calls = [(-50.0, 50.0)] * 2, 0

    def __call__(self, point):
        self.calls += 1
        steep, flat = point
        value = 100.0 * (flat - np.tanh(steep)) ** 2 + 0.01 * (steep - 6.0) ** 2
        by_flat = 200.0 * (flat - np.tanh(steep))
        return value, np.array([-by_flat / np.cosh(steep) ** 2 + 0.02 * (steep - 6.0), by_flat])


def test_a_search_ends_a_little_above_what_is_known():
    start, calls = np.array([-3.0, 5.0]), {}
    for known in (1e20, -1e-3, -5.0):
        model = Valley()
        value, _ = descend(model, start, 200, known=known)
        calls[known] = model.calls
        assert value < 1.0 if known == -1e-3 else value < 1e-2
    assert calls[-1e-3] < calls[1e20] == calls[-5.0]


def test_no_point_is_evaluated_twice():
    seen = []

    class Once(Valley):
        def __call__(self, point):
            seen.append(point.tobytes())
            return super().__call__(point)

    descend(Once(), np.array([-3.0, 5.0]), 200)
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("start", [[5.0, 1.0], [6.5, 0.9], [9.0, -3.0], [20.0, 5.0]])
def test_a_search_with_a_known_curvature_ends_where_one_without_it_does(start):
    start = np.array(start)
    model, before = Valley(), Valley()
    value, point = follow(model, before, start, 200)
    assert value == model(point)[0] < 1e-2
    if abs(start[0] - 6.0) < 2.0:  # near the end, where the curvature is what it was
        assert model.calls <= 5
    assert before.calls == 3  # a slope, and another for each direction


def test_a_search_with_a_known_curvature_stays_within_bounds_and_ends_above_what_is_known():
    class Narrow(Valley):
        def __init__(self):
            super().__init__()
            self.bounds = [(-50.0, 4.0), (-50.0, 50.0)]

    _, point = follow(Narrow(), Valley(), np.array([3.0, 0.5]), 200)
    np.testing.assert_allclose(point, [4.0, np.tanh(4.0)], atol=0.02)
    calls = {}
    for known in (1e20, -1e-3):
        model = Valley()
        follow(model, Valley(), np.array([-3.0, 5.0]), 200, known=known)
        calls[known] = model.calls
    assert calls[-1e-3] < calls[1e20]
