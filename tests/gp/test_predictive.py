"""Predictions of the reduced-rank process, what they keep, and the size of the support."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from sparsebayes import NoisyInputGPR, ReducedRankGPR
from sparsebayes.gp import trained as gp_trained
from sparsebayes.gp.kernels import KernelTo
from sparsebayes.gp.predictive import SupportPredictive
from sparsebayes.gp.support import BEYOND, JITTER, LEAST, Model, select


def data(n_samples=60, n_features=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n_samples, n_features))
    return X, np.sin(4 * X[:, 0]) + 0.1 * rng.standard_normal(n_samples)


def long_solve(matrix, right):
    """By elimination in extended precision, for positive definite matrices."""
    matrix, right = matrix.copy(), right.copy()
    for i in range(len(matrix)):
        ratio = matrix[i + 1 :, i] / matrix[i, i]
        matrix[i + 1 :] -= ratio[:, None] * matrix[i]
        right[i + 1 :] -= ratio[:, None] * right[i]
    for i in reversed(range(len(matrix))):
        right[i] = (right[i] - matrix[i, i + 1 :] @ right[i + 1 :]) / matrix[i, i]
    return right


def long_predictions(model, X, y, points):
    """Mean and variance of f by (3.29) as it stands, in extended precision."""
    constant, shape = model.kernel_.k1.constant_value, model.kernel_.k2.length_scale

    def kernel(a, b):
        a, b = a.astype(np.longdouble) / shape, b.astype(np.longdouble) / shape
        squares = ((a[:, None] - b) ** 2).sum(axis=2)
        return constant * np.exp(-squares / 2)

    Z, noise = model.support_vectors_, np.longdouble(model.noise_variance_)
    square = kernel(Z, Z) + JITTER * constant * np.eye(len(Z))
    columns, near = kernel(X, Z), kernel(Z, points)
    Q = columns @ long_solve(square, columns.T) + noise * np.eye(len(X))
    target = (y - model.offset_).astype(np.longdouble)[:, None]
    mean, variance = [], []
    for n, point in enumerate(points):
        full = kernel(X, point[None])
        inside = near[:, [n]].T @ long_solve(square, near[:, [n]])
        rest = full - columns @ long_solve(square, near[:, [n]])
        joint = Q + rest @ rest.T / (constant - inside)
        solved = long_solve(joint, np.hstack([target, full]))
        mean.append(full[:, 0] @ solved[:, 0])
        variance.append(constant - full[:, 0] @ solved[:, 1])
    return model.offset_ + np.array(mean), np.array(variance)


@pytest.mark.parametrize("noise", [1e-1, 1e-4, 1e-8])
def test_digits_of_the_extra_weight(noise):
    X, y = data(30)
    kernel = ConstantKernel(1.0) * RBF([0.7, 0.9])
    options = {"optimize": False, "noise": noise, "calibrate": None, "random_state": 0}
    model = ReducedRankGPR(kernel, n_support=9, **options).fit(X, y)
    points = np.vstack([data(6, seed=1)[0], model.support_vectors_[:3] + 1e-3])
    mean, std = model.predict(points, return_std=True, include_noise=False)
    expected, variance = long_predictions(model, X, y, points)
    scale = np.sqrt(noise)
    np.testing.assert_allclose(mean, expected.astype(float), atol=1e-6 * scale, rtol=0)
    np.testing.assert_allclose(std**2, variance.astype(float), atol=1e-6 * noise, rtol=1e-7)


def test_sums_without_digits_are_computed_from_the_residual(monkeypatch):
    X, y = data(30)
    options = {"optimize": False, "noise": 1e-6, "calibrate": None, "random_state": 0}
    model = ReducedRankGPR(1.0 * RBF(0.7), n_support=9, **options).fit(X, y)
    points = data(8, seed=1)[0]
    usual = model.predict(points, return_std=True)
    asked = []
    careful = gp_trained.TrainedSupport._carefully
    monkeypatch.setattr(
        gp_trained.TrainedSupport,
        "_carefully",
        lambda self, *parts: asked.append(len(parts[0])) or careful(self, *parts),
    )
    monkeypatch.setattr(gp_trained, "DIGITS", 1e-30)  # of all points
    np.testing.assert_allclose(model.predict(points, return_std=True), usual, rtol=1e-6)
    assert asked == [8]


def test_blocks_of_predictions_agree(monkeypatch):
    X, y = data()
    model = ReducedRankGPR(n_support=10, random_state=0).fit(X, y)
    points = data(25, seed=1)[0]
    whole = model.predict(points, return_std=True)
    monkeypatch.setattr("sparsebayes._support.batching.memory_budget", lambda: 8 * 1000)
    np.testing.assert_allclose(model.predict(points, return_std=True), whole, rtol=1e-8)
    np.testing.assert_allclose(model.predict(points), whole[0], rtol=1e-8)
    monkeypatch.undo()
    sizes = []
    block = SupportPredictive._block
    monkeypatch.setattr(
        SupportPredictive,
        "_block",
        lambda self, X, std: sizes.append(len(X)) or block(self, X, std),
    )
    monkeypatch.setattr("sparsebayes.gp.predictive.BLOCK", 3)
    monkeypatch.setattr("sparsebayes.gp.predictive.CACHE", 1)
    np.testing.assert_allclose(model.predict(points, return_std=True), whole, rtol=1e-8)
    assert sizes == [3] * 8 + [1]


KERNELS = [
    1.7 * RBF([0.6, 1.1]),
    RBF(0.8) * RBF(2.0),
    Matern(0.8, nu=1.5),
    RBF(0.5) + 0.3 * RBF(2.0),
    0.2 * DotProduct() + RBF(0.9),
    ConstantKernel(2.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernels_to_points_that_stay(kernel):
    X, points = data(7)[0], data(9, seed=1)[0]
    found = KernelTo(kernel, points)(X)
    np.testing.assert_allclose(found, kernel(X, points), rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=str)
def test_a_complete_support_is_the_full_process(kernel):
    X, y = data(40)
    X, y = np.vstack([X, X[:10]]), np.append(y, y[:10] + 0.2)  # some inputs twice
    options = {"optimize": False, "noise": 0.05, "calibrate": None}
    model = ReducedRankGPR(kernel, **options).fit(X, y)
    full = GaussianProcessRegressor(kernel + WhiteKernel(0.05), optimizer=None)
    full.fit(X, y - y.mean())
    points = np.vstack([data(20, seed=1)[0], X[:5]])
    for asked in ({"return_std": True}, {"return_cov": True}):
        mean, spread = model.predict(points, **asked)
        theirs, their_spread = full.predict(points, **asked)
        np.testing.assert_allclose(mean - y.mean(), theirs, atol=1e-7)
        np.testing.assert_allclose(spread, their_spread, atol=1e-7)
    np.testing.assert_array_equal(model.predict(points), model.predict(points, return_std=True)[0])
    assert len(model.support_) == 40


def test_what_is_kept_for_predictions_is_no_part_of_the_model():
    X, y = data(200)
    model = ReducedRankGPR(n_support=10, n_cycles=1, random_state=0).fit(X, y)
    before = len(pickle.dumps(model))
    expected = model.predict(X, return_std=True)
    kept = model.predictive().trained
    assert model.predictive().trained is kept and "_products" in vars(kept)
    assert len(pickle.dumps(model)) == before
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.predict(X, return_std=True), expected)
    again = model.fit(X, -y).predict(X)
    assert not np.allclose(again, expected[0])
    np.testing.assert_array_equal(again, pickle.loads(pickle.dumps(model)).predict(X))


def test_support_grows_while_the_evidence_does():
    X, y = data(400, 1)
    model = Model(1.0 * RBF(0.5), X, y, np.empty(0, dtype=int), 0.01)
    options = {"by_evidence": True, "n_search": 20, "candidates": np.arange(400)}
    whole, path = select(model, 40, rng=np.random.RandomState(0), **options)
    found, short = select(model, 40, rng=np.random.RandomState(0), slack=1.0, **options)
    np.testing.assert_array_equal(found, whole[: len(found)])
    np.testing.assert_array_equal(short, path[: len(found)])
    level, reached = -np.inf, 0
    for m, value in enumerate(path[: len(found)], start=1):
        if value > level + 1.0:
            level, reached = value, m
    assert len(found) == max(BEYOND * reached, reached + LEAST) < len(whole)
    rougher = replace(model, kernel=1.0 * RBF(0.15))
    more = select(rougher, 100, rng=np.random.RandomState(0), slack=1.0, **options)[0]
    assert len(found) < len(more) < 100


@pytest.mark.sampled
@pytest.mark.parametrize("selection", ["evidence", "posterior", "random"])
def test_auto_chooses_a_number(selection):
    X, y = data(600, 1)
    model = ReducedRankGPR(selection=selection, random_state=0).fit(X, y)
    assert 10 <= len(model.support_) < 60
    few = ReducedRankGPR(selection=selection, random_state=0).fit(X[:100], y[:100])
    assert len(few.support_) == 100
    given = ReducedRankGPR(n_support=100, selection=selection, random_state=0).fit(X, y)
    assert given.noise_variance_ == pytest.approx(model.noise_variance_, rel=0.1)


def test_white_kernel_is_the_start_of_the_noise():
    X, y = data(80)
    shape = 1.0 * RBF([1.0, 1.0])
    options = {"random_state": 0, "calibrate": None}
    model = ReducedRankGPR(WhiteKernel(0.02) + shape, **options).fit(X, y)
    plain = ReducedRankGPR(shape, **options).fit(X, y)
    assert str(model.kernel_).count("White") == 0 and model.kernel_.n_dims == 3
    assert model.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-3)
    bounded = ReducedRankGPR(shape + WhiteKernel(0.1, (0.05, 0.2)), **options).fit(X, y)
    assert bounded.noise_variance_ == pytest.approx(0.05)
    assert plain.noise_variance_ < 0.03
    fixed = ReducedRankGPR(shape + WhiteKernel(0.07, "fixed"), **options).fit(X, y)
    given = ReducedRankGPR(shape, noise=0.07, **options).fit(X, y)
    assert fixed.noise_variance_ == 0.07 and fixed.kernel_ == given.kernel_


def test_white_kernel_is_the_start_of_the_noise_of_outputs():
    X, y = data(60, 1)
    for level, bounds in ((0.07, "fixed"), (0.1, (0.05, 0.2))):
        kernel = 1.0 * RBF(1.0) + WhiteKernel(level, bounds)
        model = NoisyInputGPR(kernel, input_noise=1e-4, method="slope", random_state=0).fit(X, y)
        assert model.noise_variance_ == pytest.approx(level if bounds == "fixed" else 0.05)
        assert model.kernel_.n_dims == 2
    with pytest.raises(ValueError, match=r"WhiteKernel.*noise=0.1"):
        NoisyInputGPR(kernel, input_noise=1e-4, noise=0.1).fit(X, y)
