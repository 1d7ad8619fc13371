"""The methods that a regressor gets for its `predictive()`."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from sparsebayes import RVR, NoisyInputGPR, ReducedRankGPR
from sparsebayes._support.predictive import GaussianRegressorMixin, Predictive

X = np.linspace(-1, 1, 4)[:, None]


class Line(Predictive):
    """``f(x) = 2x + w`` with ``w ~ N(0, 1)``, in noise of variance 3."""

    noise = 3.0

    def mean(self, X):
        return 2.0 * X[:, 0]

    def marginal(self, X):
        return self.mean(X), np.ones(len(X))

    def joint(self, X):
        return self.mean(X), np.ones((len(X), len(X)))

    def draw(self, X, n_samples, rng):
        return self.mean(X)[:, None] + rng.standard_normal(n_samples)

    def closed_form(self):
        return None, "a line"


class Ruler(GaussianRegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.n_features_in_ = 1
        return self

    def predictive(self):
        return Line()


RULER = Ruler().fit(X, X[:, 0])


def test_predict_adds_the_noise():
    assert_array_equal(RULER.predict(X), 2.0 * X[:, 0])
    mean, std = RULER.predict(X, return_std=True)
    assert_array_equal(mean, 2.0 * X[:, 0])
    assert_array_equal(std, 2.0)
    mean, cov = RULER.predict(X, return_cov=True)
    assert_array_equal(mean, 2.0 * X[:, 0])
    assert_array_equal(cov, np.ones((4, 4)) + 3.0 * np.eye(4))


def test_intervals_are_those_of_observations():
    for coverage in (0.5, 0.95):
        lower, upper = RULER.predict_interval(X, coverage)
        assert_allclose([lower, upper], norm.interval(coverage, 2.0 * X[:, 0], 2.0))
    assert_array_equal(RULER.predict_interval(X), RULER.predict_interval(X, coverage=0.95))


def test_samples_have_the_moments():
    draws = RULER.sample_y(X, 20_000, random_state=1)
    mean, cov = RULER.predict(X, return_cov=True)
    assert_allclose(draws.mean(axis=1), mean, atol=0.06)
    assert_allclose(np.cov(draws), cov, atol=0.15)
    assert_array_equal(RULER.sample_y(X, 3), RULER.sample_y(X, 3, random_state=0))
    assert RULER.sample_y(X).shape == (4, 1)


def test_uncertain_inputs():
    mean, variance = RULER.predict_uncertain([[0.5]], [[1.0]])
    assert_allclose(mean, 1.0, atol=0.01)
    assert_allclose(variance, 4.0 + 1.0 + 3.0, rtol=0.01)
    with pytest.raises(ValueError, match=r"no closed form for Ruler with a line; .*quadrature"):
        RULER.predict_uncertain([[0.5]], [[1.0]], method="exact")


def test_what_is_wrong_is_told():
    with pytest.raises(ValueError, match="not for both"):
        RULER.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="n_samples must be a whole number >= 1, got 0"):
        RULER.sample_y(X, 0)
    for coverage in (0.0, 1, 95, "all"):
        with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got"):
            RULER.predict_interval(X, coverage)
    with pytest.raises(ValueError, match=r"NaN[\s\S]*Drop these samples"):
        RULER.predict([[np.nan]])
    for method in (Ruler().predict, Ruler().predict_interval, Ruler().sample_y):
        with pytest.raises(NotFittedError):
            method(X)


def test_what_is_missing_is_told_at_once():
    class Empty(GaussianRegressorMixin, BaseEstimator):
        pass

    with pytest.raises(TypeError, match="predictive"):
        Empty()


@pytest.mark.parametrize("name", ["predict", "predict_interval", "sample_y", "predict_uncertain"])
def test_the_methods_are_written_once(name):
    ours = inspect.unwrap(getattr(GaussianRegressorMixin, name))
    models = RVR, ReducedRankGPR, NoisyInputGPR
    assert all(inspect.unwrap(getattr(model, name)) is ours for model in models)
