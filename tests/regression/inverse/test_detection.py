"""Limits of detection: closed form of a line, probabilities by simulation, errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sparsebayes import RVR
from sparsebayes.datasets import make_sinc
from sparsebayes.regression import detection_limit


def line(slope=2.0, **options):
    """y = 3 + slope x, noise 0.5, from 0 to 10."""
    x = np.linspace(0, 10, 50)
    y = 3 + slope * x + 0.5 * np.random.default_rng(0).standard_normal(50)
    return RVR("linear", **options).fit(x[:, None], y)


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_definitions(slope):
    model = line(slope)
    found = model.detection_limit(alpha=0.05, beta=0.1)
    sign = np.sign(slope)
    (mean, at), (std, wide) = model.predict([[0.0], [found.detection_limit]], return_std=True)
    assert found.rising == (slope > 0) and found.blank == 0.0
    assert_allclose([found.blank_mean, found.blank_std], [mean, std], rtol=1e-9)
    assert_allclose(found.critical_value, mean + sign * norm.ppf(0.95) * std, rtol=1e-9)
    below = norm.cdf(sign * (found.critical_value - at) / wide)
    assert_allclose(below, 0.1, atol=1e-6)
    # In closed form, as far as the std is the same at both.
    width = (norm.ppf(0.95) + norm.ppf(0.9)) * std / abs(model.coef_[0])
    assert_allclose(found.detection_limit, width, rtol=0.02)
    assert_allclose(found.quantification_limit, 10 * std / abs(model.coef_[0]), rtol=0.05)


def check(found, model, slope, relative=0.1):
    """Both limits are where their definitions hold, and do not hold a little below."""
    limit, quantified = found.detection_limit, found.quantification_limit
    around = np.array([[limit], [quantified], [0.999 * limit], [0.999 * quantified]])
    mean, std = model.predict(around, return_std=True)
    below = norm.cdf((found.critical_value - mean) / std)
    assert_allclose(below[0], found.beta, rtol=1e-6)
    assert below[2] > found.beta
    needed = relative * np.abs(slope(around[:, 0])) * (around[:, 0] - found.blank)
    assert_allclose(std[1], needed[1], rtol=1e-6)
    assert std[3] > needed[3]


@pytest.mark.parametrize("highest", [1e3, 1e7])
def test_limits_over_decades(highest):
    x = np.r_[np.geomspace(0.01, highest, 60), np.zeros(5)]
    y = x + 0.01 * np.random.default_rng(0).normal(size=65)
    model = RVR("linear", noise=1e-4, calibrate=None).fit(x[:, None], y)
    found = model.detection_limit()
    check(found, model, lambda x: model.coef_[0] + 0 * x)
    assert_allclose(found.quantification_limit, 0.1, rtol=0.1)


def test_limits_of_a_curve_that_bends():
    x = np.repeat(np.linspace(0, 10, 11), 4)
    y = 2 + 30 * x / (8 + x) + 0.3 * np.random.default_rng(0).standard_normal(x.size)
    model = RVR().fit(x[:, None], y)

    def slope(x, step=1e-4):
        ends = [model.predict((x + sign * step)[:, None]) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * step)

    check(model.detection_limit(), model, slope)


@pytest.mark.parametrize("deviation", [0.01, 0.023])
def test_first_crossings_near_the_blank(deviation):
    # x/(1 + x) is steep enough between 0.1 and 8 or 0.6 and 1.6, within a range of 1000.
    x = np.geomspace(1e-3, 1e3, 200)[:, None]
    y = (x / (1 + x))[:, 0] + deviation * np.random.default_rng(0).standard_normal(200)
    saturates = FunctionTransformer(lambda x: x / (1 + x))
    model = make_pipeline(saturates, RVR("linear", noise=deviation**2, calibrate=None)).fit(x, y)
    found = detection_limit(model, 0.0, bounds=(0, 1000))
    check(found, model, lambda x: model[-1].coef_[0] / (1 + x) ** 2)


def test_replicates_lower_the_limit():
    model = line()
    one, four, many = (model.detection_limit(n_replicates=n) for n in (1, 4, 10**6))
    assert 0.5 < four.detection_limit / one.detection_limit < 0.6
    assert many.detection_limit > 0.1 * one.detection_limit  # what is uncertain of the curve stays
    assert four.n_replicates == 4


def test_blank_in_the_middle_and_units():
    model = line()
    later = model.detection_limit(5.0)
    first = model.detection_limit()
    assert_allclose(later.detection_limit - 5.0, first.detection_limit, rtol=0.1)
    x = np.linspace(0, 10, 50)
    y = 3 + 2.0 * x + 0.5 * np.random.default_rng(0).standard_normal(50)
    scaled = make_pipeline(StandardScaler(), RVR("linear")).fit(x[:, None], y)
    assert_allclose(detection_limit(scaled).detection_limit, first.detection_limit, rtol=0.03)


def test_one_of_several_targets():
    x = np.linspace(0, 10, 60)
    y = np.column_stack([x, -5 * x]) + np.random.default_rng(0).standard_normal((60, 2))
    model = RVR("linear").fit(x[:, None], y)
    limits = [model.detection_limit(target=k) for k in (0, 1)]
    assert [limit.rising for limit in limits] == [True, False]
    assert limits[1].detection_limit < 0.4 * limits[0].detection_limit
    with pytest.raises(ValueError, match="from 0 to 1, since the model has 2 targets, got None"):
        model.detection_limit()
    with pytest.raises(ValueError, match="is for models with several targets"):
        line().detection_limit(target=0)


def test_what_cannot_be_is_told():
    model = line()
    with pytest.raises(ValueError, match=r"blank must be an input between 0 and 10.*got 11"):
        model.detection_limit(11)
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, got 0"):
        model.detection_limit(alpha=0)
    with pytest.raises(ValueError, match=r"alpha \+ beta must be less than 1.*got 0.5 and 0.5"):
        model.detection_limit(alpha=0.5, beta=0.5)
    with pytest.raises(ValueError, match=r"n_replicates must be a whole number >= 1, got 0.5"):
        model.detection_limit(n_replicates=0.5)
    with pytest.raises(ValueError, match="relative_std must be a positive number, got -1"):
        model.detection_limit(relative_std=-1)
    with pytest.raises(ValueError, match="no readings differ enough from those of a blank"):
        model.detection_limit(9.9)
    assert model.detection_limit(relative_std=1e-6).quantification_limit is None
    outliers = line(noise="student")
    if not np.isinf(outliers.nu_):
        with pytest.raises(ValueError, match="use n_replicates=1"):
            outliers.detection_limit(n_replicates=2)


def test_a_curve_that_turns_near_the_blank_is_refused():
    x = np.linspace(0, 10, 100)
    y = np.where(x < 2, -0.05 * x, -0.1 + (x - 2)) * 10
    y += 0.3 * np.random.default_rng(0).standard_normal(100)
    with pytest.raises(ValueError, match=r"not monotone between the blank, 0,.*another blank"):
        RVR().fit(x[:, None], y).detection_limit()
    X, y, _ = make_sinc(100, noise=0.1, random_state=0)
    found = RVR().fit(X, y).detection_limit(-4.0)  # from a minimum up to the peak
    assert found.rising and -4 < found.detection_limit < 0
