"""Gaussian paths against closed forms and sampled paths."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import BayesianRidge

from sparsebayes import RVR
from sparsebayes.basis import RBF, Linear
from sparsebayes.forecasting.lags import Differences
from sparsebayes.forecasting.propagation import LIMIT, Recursion, draw, follow_means, propagate
from sparsebayes.forecasting.transforms import LEVEL
from sparsebayes.uncertain.moment_maps import moment_map

LAGS = (1, 2, 4)
WEIGHTS = np.array([0.7, -0.3, 0.2])
NOISE = 0.3


class LinearModel:
    """A sure linear autoregression with known noise."""

    def predict(self, X, return_std=False):
        mean = 0.1 + X[:, : len(LAGS)] @ WEIGHTS + X[:, len(LAGS) :].sum(axis=1)
        return mean, np.full(len(X), NOISE)


def linear_moments(mean, cov):
    slope = np.concatenate([WEIGHTS, np.ones(mean.shape[1] - len(LAGS))])
    spread = np.einsum("i,nij,j->n", slope, cov, slope)
    return SimpleNamespace(
        mean=LinearModel().predict(mean)[0],
        variance=NOISE**2 + spread,
        slope=np.tile(slope, (len(mean), 1)),
    )


def closed_form(horizon):
    """Covariance of the path of the process: responses to the shocks of each step."""
    response = np.zeros(horizon)
    response[0] = 1.0
    for k in range(1, horizon):
        response[k] = sum(
            w * response[k - lag] for w, lag in zip(WEIGHTS, LAGS, strict=True) if k >= lag
        )
    shocks = np.array(
        [[response[i - j] if i >= j else 0 for j in range(horizon)] for i in range(horizon)]
    )
    return NOISE**2 * shocks @ shocks.T


def test_path_covariance_of_a_linear_process():
    past = np.random.default_rng(0).standard_normal((3, 6))
    known = np.random.default_rng(1).standard_normal((3, 12, 2))
    mean, cov = propagate(linear_moments, past, known, LAGS)
    for each in cov:
        np.testing.assert_allclose(each, closed_form(12), atol=1e-13)
    fed_back, variance = follow_means(LinearModel(), past, known, LAGS)
    np.testing.assert_allclose(mean, fed_back, atol=1e-13)
    np.testing.assert_allclose(variance, NOISE**2)


def test_more_past_than_needed_changes_nothing():
    past, known = np.random.default_rng(0).standard_normal((2, 9)), np.zeros((2, 5, 0))
    long, short = (propagate(linear_moments, p, known, LAGS) for p in (past, past[:, -4:]))
    np.testing.assert_array_equal(long[0], short[0])
    np.testing.assert_array_equal(long[1], short[1])


def test_too_small_a_variance_is_raised_to_what_the_past_explains():
    def stingy(mean, cov):
        found = linear_moments(mean, cov)
        found.variance = np.where(cov.any(axis=(1, 2)), 0.0, found.variance)
        return found

    _, cov = propagate(stingy, np.ones((1, 4)), np.zeros((1, 10, 0)), LAGS)
    assert np.linalg.eigvalsh(cov[0]).min() > -1e-12
    assert (np.diagonal(cov[0]) > 0).all()


@pytest.fixture(scope="module")
def nonlinear():
    rng = np.random.default_rng(0)
    y = np.zeros(200)
    for t in range(2, 200):
        y[t] = 0.8 * np.sin(2 * y[t - 1]) - 0.4 * y[t - 2] + 0.15 * rng.standard_normal()
    rows = np.column_stack([y[1:-1], y[:-2]])
    return RVR(RBF() + Linear(), adapt=None).fit(rows, y[2:]), y


@pytest.mark.parametrize("periods", [(), (1,), (1, 2)])
def test_gaussian_paths_agree_with_sampled_paths(nonlinear, periods):
    model, y = nonlinear
    recursion = Recursion(model, (1, 2), LEVEL, Differences(periods), 0.2, 1.5)
    history, known = y[None, -8:], np.zeros((1, 3, 0))
    paths = recursion.sample(history, known, 40_000, np.random.RandomState(0))[0]
    found = recursion.gaussian(history, known, "exact", with_cov=True)
    # The first two steps are exact, later ones take what they are given for Gaussian.
    slack = np.array([0.0, 0.0, 0.05])[: paths.shape[1]]
    std = paths.std(axis=0)
    error = std / np.sqrt(len(paths))
    assert (np.abs(found.mean[0] - paths.mean(axis=0)) < 4 * error + slack * std).all()
    np.testing.assert_allclose(found.cov[0, :2, :2], np.cov(paths[:, :2].T), rtol=0.04)
    np.testing.assert_allclose(found.variance[0], paths.var(axis=0), rtol=0.1)
    np.testing.assert_array_equal(found.variance[0], np.diagonal(found.cov[0]))


@pytest.mark.parametrize("method", ["exact", "taylor"])
def test_covariances_are_positive_semidefinite(nonlinear, method):
    model, y = nonlinear
    windows = np.lib.stride_tricks.sliding_window_view(y, 2)[::7]
    _, cov = propagate(moment_map(model, method), windows, np.zeros((len(windows), 30, 0)), (1, 2))
    np.testing.assert_array_equal(cov, cov.transpose(0, 2, 1))
    largest = np.einsum("nhh->nh", cov).max(axis=1)
    assert (np.linalg.eigvalsh(cov).min(axis=1) > -1e-10 * largest).all()


@pytest.mark.slow
def test_paths_do_not_depend_on_their_batch(nonlinear):
    model, y = nonlinear
    recursion = Recursion(model, (1, 2), LEVEL, Differences((1,)), 0.0, 1.0)
    history, known = np.lib.stride_tricks.sliding_window_view(y, 3), np.zeros((198, 12, 0))
    together = recursion.gaussian(history, known, "exact")
    with sklearn.config_context(working_memory=0.05):
        apart = recursion.gaussian(history, known, "exact")
    np.testing.assert_allclose(together.mean, apart.mean, atol=1e-10)
    np.testing.assert_allclose(together.variance, apart.variance, rtol=1e-8)


def test_unstable_recursions_stay_finite_and_say_so():
    rows = np.linspace(-1, 1, 20)[:, None]
    model = BayesianRidge().fit(rows, 100 * rows[:, 0] + 0.1 * np.sin(9 * rows[:, 0]))
    recursion = Recursion(model, (1,), LEVEL, Differences(()), 0.0, 2.0)
    history, known = np.ones((1, 1)), np.zeros((1, 400, 0))
    for method in ("naive", "taylor"):
        with pytest.warns(RuntimeWarning, match=r"without bound.* at step 4.*use a difference"):
            found = recursion.gaussian(history, known, method, with_cov=True)
        assert np.isfinite(found.mean).all() and np.isfinite(found.cov).all()
        assert found.mean.max() == 2.0 * LIMIT
    with pytest.warns(RuntimeWarning, match="without bound"):
        assert np.isfinite(recursion.sample(history, known, 3, np.random.RandomState(0))).all()


def test_draws_have_the_spread_of_the_process():
    past, known = np.zeros((20_000, 4)), np.zeros((20_000, 6, 0))
    paths = draw(LinearModel(), past, known, LAGS, np.random.RandomState(0))
    np.testing.assert_allclose(np.cov(paths.T), closed_form(6), atol=0.004)
