"""The forms in which covariances of inputs are given, and what they cost."""

import tracemalloc

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import BayesianRidge

from sparsebayes import RVR, ReducedRankGPR, predict_uncertain
from sparsebayes.basis import RBF, Linear
from sparsebayes.engine.moments import LinearModel
from tests.uncertain.test_predict import MODELS, covariances, fitted

ALL = {"return_cross_cov": True, "return_error": True}


def inputs(n, D):
    return np.random.default_rng(D).uniform(-2, 2, (n, D))


def same(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["auto", "taylor", "monte_carlo"])
@pytest.mark.parametrize("name", MODELS)
def test_every_form_is_a_covariance_for_each_input(name, method):
    model, mean = fitted(name, 2), inputs(4, 2)
    options = {"method": method, "n_samples": 1024, **ALL}
    full, variances = covariances(2)["full"], np.array([0.3, 0.0])
    of_each = np.random.default_rng(0).uniform(0.0, 0.5, (4, 2))
    of_each[1] = 0.0  # certain
    for form, given in (
        (full, {"cov": full}),
        (full, {"cov": np.broadcast_to(full, (4, 2, 2))}),
        (0.2 * np.eye(2), {"cov": 0.2}),
        (np.diag(variances), {"cov": variances}),
        (np.zeros((2, 2)), {"cov": 0}),
        (np.stack([np.diag(row) for row in of_each]), {"variances": of_each}),
    ):
        each = np.array(np.broadcast_to(form, (4, 2, 2)))
        ours = predict_uncertain(model, mean, **given, **options)
        same(ours, predict_uncertain(model, mean, each, **options))


def test_as_many_inputs_as_features():
    """Two dimensions are one covariance, one dimension is variances of the features: always."""
    model, mean = fitted("rvr", 2), inputs(2, 2)
    ones = np.ones((2, 2))
    same(predict_uncertain(model, mean, ones), predict_uncertain(model, mean, np.stack([ones] * 2)))
    same(predict_uncertain(model, mean, variances=ones), predict_uncertain(model, mean, np.eye(2)))
    one = predict_uncertain(model, mean, [0.1, 0.7])
    same(one, predict_uncertain(model, mean, np.diag([0.1, 0.7])))
    with pytest.raises(ValueError, match="symmetric"):
        predict_uncertain(model, mean, [[0.1, 0.2], [0.3, 0.4]])


def test_the_method_takes_them_too():
    model, mean = fitted("rvr", 2), inputs(3, 2)
    same(model.predict_uncertain(mean, 0.2), predict_uncertain(model, mean, 0.2 * np.eye(2)))
    variances = np.random.default_rng(0).uniform(0.0, 0.5, (3, 2))
    same(
        model.predict_uncertain(mean, variances=variances, method="taylor"),
        predict_uncertain(model, mean, variances=variances, method="taylor"),
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"cov is missing \(None\); give it, or variances of shape \(3, 2\)"),
        ({"cov": 1.0, "variances": np.ones((3, 2))}, "cannot both be given"),
        ({"cov": np.ones((3, 2))}, r"cov must be .* got \(3, 2\); .*given as variances="),
        ({"cov": np.ones(3)}, r"shape \(2,\) or \(2, 2\), or \(3, 2, 2\) .* got \(3,\)"),
        ({"cov": []}, r"got \(0,\)"),
        ({"cov": -1.0}, "cov must not be negative; it holds a variance of -1"),
        ({"cov": [1.0, -2.0]}, "cov must not be negative; it holds a variance of -2"),
        ({"cov": np.nan}, "cov contains NaN"),
        ({"cov": [1.0, np.inf]}, "cov contains infinity"),
        ({"cov": [[1.0, 3.0], [3.0, 1.0]]}, "negative eigenvalue; it has one of -2"),
        ({"cov": [np.eye(2), np.eye(2), -np.eye(2)]}, "that of input 2 has one of -1"),
        ({"variances": 1.0}, r"variances must have shape \(3, 2\), .* got \(\); .* as cov"),
        ({"variances": np.ones(2)}, r"variances must have shape \(3, 2\), .* got \(2,\)"),
        ({"variances": np.ones((2, 2))}, r"got \(2, 2\)"),
        ({"variances": [[1, 1], [1, -3], [1, 1]]}, "that of input 1, feature 1 is -3"),
        ({"variances": np.full((3, 2), np.nan)}, "variances contains NaN"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        predict_uncertain(fitted("rvr", 2), np.zeros((3, 2)), **given)


def test_given_covariances_stay_as_they_are():
    cov, variances = np.diag([0.1, 0.2]), np.full((3, 2), 0.1)
    for array, given in ((cov, {"cov": cov}), (variances, {"variances": variances})):
        array.setflags(write=False)
        predict_uncertain(fitted("union", 2), inputs(3, 2), **given, **ALL)


N, D = 20_000, 20


def peak(model, method, **given):
    """Bytes that a prediction held at most."""
    mean = inputs(N, D)
    with config_context(working_memory=4):
        tracemalloc.start()
        try:
            predict_uncertain(model, mean, method=method, n_samples=2, **given, **ALL)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.fixture(scope="module")
def many_features():
    X = inputs(60, D)
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(60)
    return {
        "closed form": RVR(RBF(6.0) + Linear(), adapt=None, calibrate=None).fit(X, y),
        "all rows": ReducedRankGPR(optimize=False, calibrate=None).fit(X, y),
        "support": ReducedRankGPR(n_support=10, optimize=False, calibrate=None).fit(X, y),
        "other": BayesianRidge().fit(X, y),
    }


ROOT = np.random.default_rng(0).standard_normal((D, D)) / D
SHARED = ROOT @ ROOT.T


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:quadrature with 8 nodes")
@pytest.mark.parametrize(
    ("model", "method", "given"),
    [
        ("closed form", "exact", {"cov": SHARED}),
        ("all rows", "exact", {"cov": SHARED}),
        ("support", "quadrature", {"cov": SHARED}),
        ("closed form", "exact", {"cov": 0.1}),
        ("closed form", "exact", {"cov": np.broadcast_to(SHARED, (N, D, D))}),
        ("closed form", "exact", {"variances": np.full((N, D), 0.1)}),
        ("closed form", "taylor", {"cov": SHARED}),
        ("other", "taylor", {"cov": SHARED}),
        ("other", "monte_carlo", {"cov": SHARED}),
    ],
)
def test_no_matrix_for_each_input_is_held(many_features, model, method, given):
    """It would take 64 MB; means, slopes and batches take a part of that."""
    assert peak(many_features[model], method, **given) < N * D * D * 8 / 3


def test_one_covariance_is_decomposed_once(monkeypatch):
    shapes = []
    exact = LinearModel.exact
    monkeypatch.setattr(
        LinearModel, "exact", lambda self, m, c: shapes.append(c.shape) or exact(self, m, c)
    )
    predict_uncertain(fitted("rvr", 2), inputs(50, 2), covariances(2)["full"])
    assert shapes == [(1, 2, 2)]
