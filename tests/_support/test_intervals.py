"""Intervals of predictive distributions that are not normal, against integrals and draws."""

from itertools import pairwise

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import norm
from scipy.stats import t as student

from sparsebayes import RVR, LeaveOneOutGPR, NoisyInputGPR, ReducedRankGPR, StudentT
from sparsebayes._support.calibration import normal_width
from sparsebayes._support.intervals import mixture_quantile, student_half_width
from sparsebayes.basis import RBF
from tests.sweeps import thinned

RNG = np.random.default_rng(0)
X = RNG.uniform(-10, 10, (60, 1))
Y = np.sinc(X[:, 0] / np.pi) + 0.1 * RNG.standard_t(3, 60)
NORMAL = X, np.sinc(X[:, 0] / np.pi) + 0.1 * RNG.uniform(-1, 1, 60)
NEW = np.linspace(-14, 14, 40)[:, None]
NUS = (0.2, 1.0, 3.0, 4.5, 30.0, 1e4)


def inside(half, std, scale, nu):
    """How much of normal plus t lies within `half`, by the convolution."""

    def density(noise):
        ends = norm.cdf([half - noise, -half - noise], scale=std)
        return student.pdf(noise / scale, nu) / scale * (ends[0] - ends[1])

    edges = np.array([-np.inf, -half - 6 * std, -half, 0.0, half, half + 6 * std, np.inf])
    return sum(quad(density, *pair)[0] for pair in pairwise(edges))


def covered(draws, lower, upper):
    """Share of draws below, inside and above, at each row."""
    below, above = draws < lower[..., None], draws > upper[..., None]
    return below.mean(axis=-1), 1 - (below | above).mean(axis=-1), above.mean(axis=-1)


@pytest.mark.sampled
@pytest.mark.parametrize("nu", NUS[1:])
@pytest.mark.parametrize("coverage", [0.3, 0.95, 0.999])
def test_widths_hold_what_they_should(nu, coverage):
    for variance, noise in ((1.0, 1.0), (0.1, 2.0), (3.0, 0.01)):
        half = student_half_width(variance, noise, coverage, nu)
        found = inside(float(half), np.sqrt(variance), np.sqrt(noise) / normal_width(nu), nu)
        assert_allclose(1 - found, 1 - coverage, rtol=1e-5)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("coverage", [0.01, 0.5, 0.95, 0.9999])
def test_widths_of_either_part_alone(nu, coverage):
    of_normal, of_t = student_half_width([4.0, 0.0], [0.0, 4.0], coverage, nu)
    assert_allclose(of_normal, 2.0 * norm.ppf(0.5 + coverage / 2), rtol=1e-8)
    assert_allclose(of_t, 2.0 * student.ppf(0.5 + coverage / 2, nu) / normal_width(nu), rtol=1e-6)


def test_widths_take_any_shape_and_little_memory():
    variance, noise = RNG.uniform(0, 1, (700, 2)), np.array([0.1, 0.3])
    whole = student_half_width(variance, noise, 0.9, 3.0)
    assert whole.shape == (700, 2)
    assert whole[5, 1] == pytest.approx(float(student_half_width(variance[5, 1], 0.3, 0.9, 3.0)))
    with sklearn.config_context(working_memory=1):
        assert_allclose(student_half_width(variance, noise, 0.9, 3.0), whole, rtol=1e-9)
    assert_array_equal(student_half_width([0.0, -1e-20], 0.0, 0.9, 3.0), 0.0)


@pytest.mark.sampled
@pytest.mark.parametrize("nu", thinned(NUS))
@pytest.mark.parametrize("coverage", [0.5, 0.95, 0.9999])
def test_widths_of_many_rows_are_those_of_few(nu, coverage):
    noise = np.concatenate([[0.0, 1.0], RNG.uniform(0, 1, 1500), RNG.uniform(0, 1, 1500) ** 6])
    together = student_half_width(1 - noise, noise, coverage, nu)
    parts = [student_half_width(1 - part, part, coverage, nu) for part in np.split(noise, 2)]
    assert_allclose(together, np.concatenate(parts), rtol=1e-6)
    same = student_half_width(np.full(3000, 0.2), 1.0, coverage, nu)
    assert_allclose(same, student_half_width(0.2, 1.0, coverage, nu), rtol=1e-9)


@pytest.mark.parametrize("share", [0.005, 0.25, 0.975])
def test_quantiles_of_mixtures(share):
    means, stds = RNG.normal(size=(5, 30)), RNG.uniform(0.01, 1.0, (5, 30))
    found = mixture_quantile(means, stds, share)
    assert_allclose(norm.cdf(found, means, stds).mean(axis=0), share, rtol=1e-6)
    alone = mixture_quantile(means[:1], stds[:1], share)
    assert_allclose(alone, norm.ppf(share, means[0], stds[0]), rtol=1e-12)


@pytest.mark.slow
def test_normal_noise_is_so_many_standard_deviations():
    targets = np.column_stack([Y, 10 * np.cos(X[:, 0])])
    models = [
        RVR(RBF(2.0)).fit(X, Y),
        RVR(RBF(2.0)).fit(X, targets),
        RVR(RBF(2.0), noise="varying").fit(X, Y),
        RVR(RBF(2.0), augment=True).fit(X, Y),
        ReducedRankGPR().fit(X, Y),
        LeaveOneOutGPR().fit(X, Y),
        RVR(RBF(2.0), noise=StudentT()).fit(*NORMAL),
    ]
    assert models[-1].nu_ == np.inf
    for model in models:
        mean, std = model.predict(NEW, return_std=True)
        lower, upper = model.predict_interval(NEW, coverage=0.9)
        assert lower.shape == mean.shape
        assert_allclose([lower, upper], norm.interval(0.9, mean, std), rtol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("coverage", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("targets", [1, 2])
def test_intervals_with_outliers_hold_draws(coverage, targets):
    y = Y if targets == 1 else np.column_stack([Y, 10 * Y[::-1]])
    model = RVR(RBF(2.0), noise=StudentT(3.0), augment=True).fit(X, y)
    draws = model.sample_y(NEW, 20_000, random_state=1)
    lower, upper = model.predict_interval(NEW, coverage)
    assert lower.shape == model.predict(NEW).shape
    slack = 4.5 * np.sqrt(coverage * (1 - coverage) / 20_000)
    below, held, above = covered(draws, lower, upper)
    assert_allclose(held, coverage, atol=slack)
    assert_allclose(below, above, atol=0.015)
    # Student's t of all of the standard deviation holds more where the function varies.
    mean, std = model.predict(NEW, return_std=True)
    half = student.ppf(0.5 + coverage / 2, 3.0) / normal_width(3.0) * std
    if coverage > 0.9:
        assert covered(draws, mean - half, mean + half)[1].max() > coverage + slack


@pytest.mark.slow
def test_intervals_of_a_mixture_hold_draws():
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-3, 3, (40, 1))
    y = np.sin(2 * inputs[:, 0]) + 0.05 * rng.standard_normal(40)
    noisy = inputs + 0.4 * rng.standard_normal(inputs.shape)
    model = NoisyInputGPR(input_noise=0.16, random_state=0).fit(noisy, y)
    assert len(model.predictive().processes) > 1
    points = np.linspace(-3, 3, 25)[:, None]
    draws = model.sample_y(points, 20_000, random_state=0)
    mean, std = model.predict(points, return_std=True)
    for coverage in (0.5, 0.99):
        below, _, above = covered(draws, *model.predict_interval(points, coverage))
        outside = 0.5 * (1 - coverage)
        slack = 4.5 * np.sqrt(outside * (1 - outside) / 20_000)
        assert_allclose(below, outside, atol=slack)
        assert_allclose(above, outside, atol=slack)
        by_moments = covered(draws, *norm.interval(coverage, mean, std))[1]
        assert np.abs(by_moments - coverage).max() > 2 * slack  # it is not normal


def test_leave_one_out_must_be_fitted_and_takes_probabilities():
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1, got 2"):
        LeaveOneOutGPR().fit(X[:10], Y[:10]).predict_interval(NEW, 2)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        LeaveOneOutGPR().predict_interval(NEW)
