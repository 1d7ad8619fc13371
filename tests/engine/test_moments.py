"""Closed forms against numerical integration, differences and limits."""

from itertools import product

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from sparsebayes.engine.moments import Bumps, LinearModel, Monomials

SIZES = {"bumps": (6,), "two": (5, 4), "monomials": (0,), "all": (4, 3, 0)}


def expansion(rng, D, kind, sign=1):
    bumps = [Bumps(rng.normal(size=(n, D)), rng.uniform(0.9, 2.0, D)) for n in SIZES[kind] if n]
    functions = list(bumps)
    if 0 in SIZES[kind]:
        eye = np.eye(D, dtype=int)
        functions.append(
            Monomials(np.array([0 * eye[0], eye[0], 2 * eye[-1], eye[0] + 2 * eye[-1]]))
        )
    size = sum(map(len, functions))
    root = rng.normal(size=(size, size)) * (0.3 if sign > 0 else 0.02)
    return LinearModel(
        functions, rng.normal(size=size), root, np.full(size, float(sign)), 0.4, 3.0, 0.1
    )


def covariance(rng, D, scale):
    root = rng.normal(size=(D, D)) / np.sqrt(D)
    return scale * root @ root.T


def integrated(model, mean, cov, size=240):
    """Mean, variance and covariance with the input, by the trapezoid rule."""
    nodes = np.linspace(-9.0, 9.0, size)
    weights = np.exp(-0.5 * nodes**2)
    weights = weights / weights.sum()
    D = len(mean)
    grid = np.array(list(product(nodes, repeat=D)))
    weight = np.prod(np.array(list(product(weights, repeat=D))), axis=1)
    values, axes = np.linalg.eigh(cov)
    X = mean + grid @ (axes * np.sqrt(np.maximum(values, 0.0))).T
    m, v = model.predict(X)
    first = weight @ m
    return first, weight @ (v + (m - first) ** 2), (weight * (m - first)) @ (X - mean)


# A variance that data reduce is of bumps: with polynomials it would become negative somewhere.
SIGNED = [*((kind, 1) for kind in SIZES), ("bumps", -1), ("two", -1)]


@pytest.mark.parametrize(("kind", "sign"), SIGNED)
@pytest.mark.parametrize("D", [1, 2])
@pytest.mark.parametrize("scale", [1e-8, 0.01, 1.0])
def test_closed_forms_equal_integrals(D, kind, sign, scale):
    rng = np.random.default_rng([D, len(kind), sign > 0])
    model, mean, cov = expansion(rng, D, kind, sign), rng.normal(size=D), covariance(rng, D, scale)
    found = model.exact(mean[None], cov[None])
    first, second, cross = integrated(model, mean, cov)
    np.testing.assert_allclose(found.mean[0], first, rtol=1e-9)
    np.testing.assert_allclose(found.variance[0], second, rtol=1e-9)
    np.testing.assert_allclose(cov @ found.slope[0], cross, rtol=1e-7, atol=1e-9 * np.sqrt(scale))


@pytest.mark.parametrize("kind", list(SIZES))
def test_singular_covariance(kind):
    rng = np.random.default_rng(3)
    model, mean, line = expansion(rng, 2, kind), rng.normal(size=2), rng.normal(size=2)
    cov = np.outer(line, line)
    found = model.exact(mean[None], cov[None])
    first, second, cross = integrated(model, mean, cov)
    np.testing.assert_allclose(found.mean[0], first, rtol=1e-9)
    np.testing.assert_allclose(found.variance[0], second, rtol=1e-9)
    np.testing.assert_allclose(cov @ found.slope[0], cross, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("kind", list(SIZES))
def test_slope_is_how_the_mean_moves(kind):
    rng = np.random.default_rng(4)
    model, mean, cov = expansion(rng, 3, kind), rng.normal(size=3), covariance(rng, 3, 0.5)
    step = 1e-5 * np.eye(3)
    there = [model.exact((mean + side * step), np.stack([cov] * 3)).mean for side in (1, -1)]
    found = model.exact(mean[None], cov[None])
    np.testing.assert_allclose(found.slope[0], (there[0] - there[1]) / 2e-5, rtol=1e-6, atol=1e-8)


def test_slope_gives_covariances_with_anything_jointly_gaussian():
    """Stein's lemma for a variable that is not an input, by integration over both."""
    rng = np.random.default_rng(5)
    model, joint = expansion(rng, 1, "all"), covariance(rng, 2, 1.0)
    nodes, weights = hermegauss(60)
    pairs = np.array(list(product(nodes, repeat=2))) @ np.linalg.cholesky(joint).T
    weight = np.multiply.outer(weights, weights).ravel() / weights.sum() ** 2
    expected = weight @ (model.predict(pairs[:, :1])[0] * pairs[:, 1])
    found = model.exact(np.zeros((1, 1)), joint[None, :1, :1])
    np.testing.assert_allclose(joint[1, 0] * found.slope[0, 0], expected, rtol=1e-9)


def test_many_inputs_at_once_are_those_one_by_one():
    rng = np.random.default_rng(6)
    model = expansion(rng, 3, "all")
    mean, cov = rng.normal(size=(5, 3)), np.stack([covariance(rng, 3, 0.3) for _ in range(5)])
    together = model.exact(mean, cov)
    for i in range(5):
        alone = model.exact(mean[i : i + 1], cov[i : i + 1])
        for ours, theirs in zip(together[:3], alone[:3], strict=True):
            np.testing.assert_allclose(ours[i], theirs[0], rtol=1e-12)


def test_families_of_equal_scales_are_one_family():
    rng = np.random.default_rng(7)
    centers, scales = rng.normal(size=(7, 2)), np.array([0.5, 2.0])
    weights, root = rng.normal(size=7), rng.normal(size=(7, 7))
    cov, mean = covariance(rng, 2, 2.0)[None], rng.normal(size=(1, 2))
    one = LinearModel([Bumps(centers, scales)], weights, root, np.ones(7), 0.0, 0.0, 0.0)
    parts = [Bumps(centers[:3], scales), Bumps(centers[3:], scales)]
    two = LinearModel(parts, weights, root, np.ones(7), 0.0, 0.0, 0.0)
    for ours, theirs in zip(one.exact(mean, cov)[:3], two.exact(mean, cov)[:3], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("kind", list(SIZES))
def test_nothing_is_added_without_uncertainty(kind):
    rng = np.random.default_rng(8)
    model, mean = expansion(rng, 4, kind), rng.normal(size=(3, 4))
    zero = np.zeros((3, 4, 4))
    for found in (model.exact(mean, zero), model.taylor(mean, zero)):
        np.testing.assert_allclose(found.mean, model.predict(mean)[0], rtol=1e-12)
        np.testing.assert_allclose(found.variance, model.predict(mean)[1], rtol=1e-12)


def test_small_covariances_far_from_the_origin_do_not_cancel():
    """The variance of x³ at 1000 ± 1e-6 is (3e6 · 1e-6)² = 9."""
    model = LinearModel(
        [Monomials(np.array([[3]]))], np.ones(1), np.zeros((1, 1)), np.ones(1), 0.0, 0.0, 0.0
    )
    found = model.exact(np.array([[1000.0]]), np.array([[[1e-12]]]))
    np.testing.assert_allclose(found.variance, 9.0, rtol=1e-9)


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e8])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6, 1e12])
def test_far_away_and_wide_inputs_are_numbers(distance, scale):
    rng = np.random.default_rng(9)
    model = expansion(rng, 3, "two", sign=-1)
    found = model.exact(np.full((1, 3), distance), scale * np.eye(3)[None])
    assert all(np.isfinite(part).all() for part in found[:3])
    assert 0.1 <= found.variance[0] <= 3.0 + 10.0 * np.abs(model.weights).sum() ** 2


def test_large_weights_of_functions_far_away_are_numbers():
    """Where E φ_i E φ_j underflows and its excess overflows, the product must not be NaN."""
    weights, root = np.full(4, 1e10), 1e10 * np.eye(4)
    bumps = Bumps(np.array([[0.0], [0.5], [-0.5], [30.0]]), np.ones(1))
    model = LinearModel([bumps], weights, root, np.ones(4), 0.0, 0.0, 0.0)
    mean = np.linspace(10.0, 120.0, 400)[:, None]
    for scale in (0.1, 0.5, 2.0, 10.0):
        found = model.exact(mean, np.full((400, 1, 1), scale))
        assert all(np.isfinite(part).all() for part in found[:3])


def test_variance_is_never_below_the_noise():
    """Weights of 1e8 that cancel leave rounding, which must not become a negative variance."""
    centers = np.linspace(-1, 1, 40)[:, None]
    weights = 1e8 * (-1.0) ** np.arange(40)
    root = np.zeros((1, 40))
    model = LinearModel([Bumps(centers, np.ones(1))], weights, root, np.ones(1), 0.0, 0.01, 0.01)
    mean = np.linspace(-3, 3, 200)[:, None]
    for scale in (1e-14, 1e-6, 1.0):
        assert model.exact(mean, np.full((200, 1, 1), scale)).variance.min() >= 0.01


@pytest.mark.parametrize(("kind", "sign"), SIGNED)
def test_taylor_uses_the_derivatives(kind, sign):
    rng = np.random.default_rng(10)
    model, mean, cov = expansion(rng, 2, kind, sign), rng.normal(size=2), covariance(rng, 2, 0.02)
    step = 1e-4
    moved = mean + step * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    corners = mean + step * np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    m, v = model.predict(moved)
    gradient = np.array([m[1] - m[2], m[3] - m[4]]) / (2 * step)
    mixed = model.predict(corners)[1] @ [1, 1, -1, -1] / (4 * step**2)
    diagonal = np.array([v[1] + v[2], v[3] + v[4]]) - 2 * v[0]
    hessian = np.diag(diagonal / step**2) + mixed * (1 - np.eye(2))
    expected = v[0] + 0.5 * np.trace(hessian @ cov) + gradient @ cov @ gradient
    found = model.taylor(mean[None], cov[None])
    np.testing.assert_allclose(found.mean[0], m[0], rtol=1e-12)
    np.testing.assert_allclose(found.variance[0], expected, rtol=1e-5)
    np.testing.assert_allclose(found.slope[0], gradient, rtol=1e-5, atol=1e-7)
