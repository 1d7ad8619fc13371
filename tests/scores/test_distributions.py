"""Scores of predictive distributions against closed forms, integrals and Monte Carlo."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import kstest, norm

from sparsebayes import scores

RNG = np.random.default_rng(0)
Y = RNG.normal(size=40)
MEAN = RNG.normal(size=40)
STD = RNG.uniform(0.2, 2.0, 40)
WEIGHTS = RNG.integers(0, 4, 40)

AVERAGED = {
    "nlpd": scores.negative_log_predictive_density,
    "crps": scores.crps,
    "interval_score": scores.interval_score,
    "coverage": scores.interval_coverage,
    "width": lambda y, mean, std, **options: scores.interval_width(std, **options),
}
TAKES_Y = [name for name in AVERAGED if name != "width"]


def test_density_is_that_of_scipy():
    expected = -norm.logpdf(Y, MEAN, STD)
    values = scores.negative_log_predictive_density(Y, MEAN, STD, per_sample=True)
    assert_allclose(values, expected, rtol=1e-12)


def test_crps_is_the_integral_of_its_definition():
    values = scores.crps(Y[:5], MEAN[:5], STD[:5], per_sample=True)
    for value, y, mean, std in zip(values, Y, MEAN, STD, strict=False):
        below, _ = quad(lambda t, m=mean, s=std: norm.cdf(t, m, s) ** 2, -15, y)
        above, _ = quad(lambda t, m=mean, s=std: norm.sf(t, m, s) ** 2, y, 15)
        assert_allclose(value, below + above, atol=1e-7)


def test_crps_agrees_with_monte_carlo():
    # E|Z − y| − ½ E|Z − Z'| with its standard error
    z = RNG.normal(0.3, 1.7, (2, 200_000))
    draws = np.abs(z[0] - 1.1) - 0.5 * np.abs(z[0] - z[1])
    error = draws.std() / np.sqrt(draws.size)
    assert abs(scores.crps([1.1], [0.3], [1.7]) - draws.mean()) < 4 * error


def test_crps_of_a_sure_prediction_is_the_absolute_error():
    assert_allclose(scores.crps(Y, MEAN, 1e-9), np.abs(Y - MEAN).mean(), rtol=1e-6)


def test_interval_score_is_width_and_fine():
    half = norm.ppf(0.9) * STD
    low, high = MEAN - half, MEAN + half
    fine = 2 / 0.2 * (np.maximum(low - Y, 0) + np.maximum(Y - high, 0))
    values = scores.interval_score(Y, MEAN, STD, coverage=0.8, per_sample=True)
    assert (fine > 0).any() and (fine == 0).any()
    assert_allclose(values, 2 * half + fine)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_coverage_and_width_of_the_true_distribution(coverage):
    mean, std = RNG.normal(size=20_000), RNG.uniform(0.5, 2.0, 20_000)
    y = RNG.normal(mean, std)
    slack = 4 * np.sqrt(coverage * (1 - coverage) / y.size)
    assert abs(scores.interval_coverage(y, mean, std, coverage) - coverage) < slack
    inside = scores.interval_coverage(y, mean, std, coverage, per_sample=True)
    low, high = norm.interval(coverage, mean, std)
    assert_array_equal(inside, (low <= y) & (y <= high))
    assert_allclose(scores.interval_width(std, coverage), (high - low).mean())


def test_pit_values_are_uniform_for_the_true_distribution_only():
    mean, std = RNG.normal(size=2000), RNG.uniform(0.5, 2.0, 2000)
    y = RNG.normal(mean, std)
    assert kstest(scores.pit_values(y, mean, std), "uniform").pvalue > 0.01
    assert kstest(scores.pit_values(y, mean, 0.7 * std), "uniform").pvalue < 1e-6
    assert_allclose(scores.pit_values(Y, MEAN, STD), norm.cdf(Y, MEAN, STD))


@pytest.mark.parametrize("name", ["nlpd", "crps", "interval_score"])
def test_proper_scores_prefer_the_true_distribution(name):
    y = RNG.normal(0.5, 1.5, 20_000)
    truth = AVERAGED[name](y, 0.5, 1.5)
    for mean, std in [(0.5, 1.0), (0.5, 2.2), (1.2, 1.5)]:
        assert AVERAGED[name](y, mean, std) > truth + 0.01


@pytest.mark.parametrize("name", AVERAGED)
def test_weights_count_as_repeated_samples(name):
    weighted = AVERAGED[name](Y, MEAN, STD, sample_weight=WEIGHTS)
    repeated = AVERAGED[name](*(np.repeat(v, WEIGHTS) for v in (Y, MEAN, STD)))
    assert isinstance(weighted, float)
    assert_allclose(weighted, repeated)
    values = AVERAGED[name](Y, MEAN, STD, per_sample=True)
    assert values.shape == Y.shape
    assert_allclose(AVERAGED[name](Y, MEAN, STD), values.mean())


@pytest.mark.parametrize("name", TAKES_Y)
def test_numbers_and_columns_are_taken(name):
    expected = AVERAGED[name](Y, np.full(40, 0.2), np.full(40, 2.0))
    assert AVERAGED[name](list(Y), 0.2, 2) == expected
    assert AVERAGED[name](Y[:, None], np.full((40, 1), 0.2), np.float64(2.0)) == expected


@pytest.mark.parametrize("name", TAKES_Y)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mean": MEAN[:-1]}, r"mean must have shape \(40,\) like y, got \(39,\)"),
        ({"mean": np.zeros((40, 2))}, r"mean must have shape \(n_samples,\)"),
        ({"std": np.append(STD[1:], 0.0)}, "std must be positive, got 0"),
        ({"std": -1.0}, "std must be positive, got -1"),
        ({"y": np.append(Y[1:], np.nan)}, "y contains NaN"),
        ({"std": np.append(STD[1:], np.inf)}, "std contains infinity"),
        ({"sample_weight": WEIGHTS[1:]}, "sample_weight"),
        ({"sample_weight": np.zeros(40)}, "non-zero|some weight"),
        ({"sample_weight": WEIGHTS, "per_sample": True}, "sample_weight weighs an average"),
    ],
)
def test_bad_arguments_are_named(name, change, message):
    with pytest.raises(ValueError, match=message):
        AVERAGED[name](**({"y": Y, "mean": MEAN, "std": STD} | change))


@pytest.mark.parametrize("coverage", [0.0, 1.0, 95, float("nan")])
@pytest.mark.parametrize("name", ["interval_score", "coverage", "width"])
def test_coverage_is_a_probability(name, coverage):
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1"):
        AVERAGED[name](Y, MEAN, STD, coverage=coverage)


@pytest.mark.parametrize("name", ["crps", "interval_score"])
def test_missing_package_names_the_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "scoringrules", None)
    with pytest.raises(ImportError, match=r"pip install \"sparsebayes\[scores\]\""):
        AVERAGED[name](Y, MEAN, STD)
