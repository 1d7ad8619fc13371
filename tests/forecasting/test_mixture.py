"""The forecaster as a mixture of candidates: gaps, counts, seasons, inputs, short series."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sparsebayes.forecasting import Forecaster


def seasonal(n=192, seed=0):
    """A year that repeats, on a level that wanders."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = 50 + 0.1 * t + np.cumsum(0.5 * rng.standard_normal(n))
    return level + 8 * np.sin(np.pi * t / 6) + rng.standard_normal(n)


def rmse(a, b):
    return float(np.sqrt(np.mean((np.asarray(a) - np.asarray(b)) ** 2)))


@pytest.fixture(scope="module")
def complete():
    y = seasonal()
    return Forecaster(random_state=0).fit(y[:180]), y


@pytest.fixture(scope="module")
def broken():
    """Missing values here and there, and near the end."""
    y = seasonal()
    y[np.random.default_rng(1).random(192) < 0.1] = np.nan
    y[[170, 178]] = np.nan
    return Forecaster(random_state=0).fit(y[:180])


@pytest.mark.slow
def test_missing_values_cost_little(complete):
    """Means over several series of errors with holes, with a gap, and of complete series."""
    errors = []
    for seed in range(2):
        y = seasonal(seed=seed)
        holes, gap = y[:180].copy(), y[:180].copy()
        holes[np.random.default_rng(seed).random(180) < 0.2] = np.nan
        gap[80:110] = np.nan
        errors.append(
            [rmse(Forecaster().fit(v).predict(12), y[180:]) for v in (y[:180], holes, gap)]
        )
    whole, holes, gap = np.mean(errors, axis=0)
    assert holes < 1.4 * whole and gap < 1.3 * whole
    assert whole < 2.0  # the season alone is 5.7


@pytest.mark.slow
def test_what_was_not_seen_lately_is_less_sure(complete):
    model, y = complete
    late = y[:180].copy()
    late[-10:] = np.nan
    ended = Forecaster().fit(late)
    std, wider = (one.predict(12, return_std=True)[1] for one in (model, ended))
    assert wider[0] > 1.2 * std[0] and (wider > std).all()
    assert rmse(ended.predict(12), y[180:]) < 3.0
    assert np.isnan(ended.y_[-10:]).all() and len(ended.y_) == 180


@pytest.mark.slow
def test_gaps_of_any_length_have_forecasts():
    y = seasonal(180)
    y[60:150] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Forecaster().fit(y)
        methods = ["auto", "monte_carlo"]
        result = model.backtest(y, 6, 9, start=100, methods=methods, n_paths=50)
    for method in result.methods:
        assert np.isfinite(result[method].mean).all() and (result[method].std > 0).all()


@pytest.mark.slow
def test_missing_times_are_missing_values():
    y = pd.Series(seasonal(120), pd.date_range("2010-01-01", periods=120, freq="MS"))
    gone = y.drop(y.index[[30, 31, 77]])
    marked = y.copy()
    marked.iloc[[30, 31, 77]] = np.nan
    one, other = Forecaster().fit(gone), Forecaster().fit(marked)
    pd.testing.assert_series_equal(one.predict(6), other.predict(6))
    assert one.index_.equals(y.index) and one.predict(6).index[0] == pd.Timestamp("2020-01-01")


@pytest.mark.slow
def test_updates_are_a_longer_record(complete):
    """Values, missing ones and skipped times: all the same as one record from the beginning."""
    y = seasonal(192, seed=3)
    later = y[150:180].copy()
    later[[4, 20, 21]] = np.nan
    index = pd.date_range("2010-01-01", periods=192, freq="MS")
    dated = pd.Series(np.append(y[:150], later), index[:180])
    at_once = Forecaster().fit(dated[:150]).update(dated[150:])
    expected = at_once.predict(8, return_cov=True)
    model = Forecaster().fit(dated[:150])
    for start, stop in pairwise([150, 151, 152, 160, 180]):
        model.update(dated[start:stop])
    for found, other in zip(model.predict(8, return_cov=True), expected, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-6, atol=1e-8)
    skipping = Forecaster().fit(dated[:150]).update(dated[150:].dropna())
    for found, other in zip(skipping.predict(8, return_cov=True), expected, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-9)
    np.testing.assert_array_equal(skipping.y_, at_once.y_)
    known = Forecaster().fit(dated[:150]).backtest(dated.to_numpy(), 8, start=172)
    assert known.origins[-1] == 172
    part = Forecaster().fit(dated[:150]).update(dated[150:172]).predict(8, return_std=True)
    # Guesses of missing values in a backtest also know what came later.
    np.testing.assert_allclose(known["auto"].mean[0], part[0], atol=0.1 * part[1].max())


@pytest.mark.slow
def test_paths_have_the_moments_and_quantiles_of_forecasts(complete, broken):
    for model in (complete[0], broken):
        mean, cov = model.predict(6, return_cov=True)
        std = np.sqrt(np.diagonal(cov))
        np.testing.assert_allclose(model.predict(6, return_std=True), [mean, std])
        paths = model.simulate(6, 20_000)
        np.testing.assert_allclose(paths.mean(axis=0), mean, atol=0.03 * std.max())
        np.testing.assert_allclose(paths.std(axis=0), std, rtol=0.04)
        correlation = cov / np.outer(std, std)
        np.testing.assert_allclose(np.corrcoef(paths.T), correlation, atol=0.04)
        limits = np.quantile(paths, [0.1, 0.9], axis=0)
        np.testing.assert_allclose(model.predict_interval(6, 0.8), limits, atol=0.08 * std.max())
        drawn = model.predict(6, return_std=True, method="monte_carlo", n_paths=20_000)
        np.testing.assert_allclose(drawn[1], std, rtol=0.04)


@pytest.mark.slow
def test_backtests_are_forecasts(complete):
    model, y = complete
    result = model.backtest(y, 5, step=3, methods=["auto", "monte_carlo"], n_paths=4000)
    assert result.origins[0] == 180
    for i, origin in enumerate(result.origins.tolist()):
        one = Forecaster(random_state=0).fit(y[:180])
        if origin > 180:
            one.update(y[180:origin])
        mean, std = one.predict(5, return_std=True)
        np.testing.assert_allclose(result["auto"].mean[i], mean, rtol=1e-6)
        np.testing.assert_allclose(result["auto"].std[i], std, rtol=1e-6)
    sampled, exact = result["monte_carlo"], result["auto"]
    np.testing.assert_allclose(sampled.mean, exact.mean, atol=0.08 * exact.std.max())
    np.testing.assert_allclose(sampled.std, exact.std, rtol=0.08)
    lower, upper = model.predict_interval(5, 0.95)
    inside = (lower <= y[180:185]) & (y[180:185] <= upper)
    alone = model.backtest(y[:185], 5)
    np.testing.assert_array_equal(alone.coverage, inside)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_forecasts(complete):
    model, y = complete
    again = clone(model).fit(y[:180])
    np.testing.assert_array_equal(again.simulate(6, 5), model.simulate(6, 5))
    np.testing.assert_array_equal(again.predict_interval(6), model.predict_interval(6))
    assert again.chosen_ == model.chosen_ and again.candidates_ == model.candidates_
    assert (model.simulate(6, 5, random_state=1) != model.simulate(6, 5)).any()


def test_what_was_chosen_is_told(complete):
    model, _ = complete
    weights = np.array([one.weight for one in model.candidates_])
    assert weights.sum() == pytest.approx(1) and (np.diff(weights) <= 0).all()
    names = [one.name for one in model.candidates_]
    assert len(set(names)) == len(names) and "season 12 ago" in names
    told = next(one for one in model.candidates_ if one.name == "season 12 ago")
    assert told.score == pytest.approx(1.0)
    best = model.candidates_[0]
    assert model.chosen_.startswith(f"{best.weight:.2f} {best.name}") and best.score < 0.9
    assert "past origins" in model.chosen_ and "of the naive forecast's" in model.chosen_
    assert (model.calibration_ >= 1).all()


@pytest.mark.slow
def test_bands_have_their_coverage():
    inside = []
    for seed in range(4):
        y = seasonal(seed=seed + 10)
        lower, upper = Forecaster().fit(y[:180]).predict_interval(12, 0.8)
        inside.append((lower <= y[180:]) & (y[180:] <= upper))
    assert 0.65 < np.mean(inside) <= 0.97


@pytest.mark.slow
def test_counts():
    rng = np.random.default_rng(0)
    for rate, n in ((0.4, 120), (6.0, 90)):
        y = rng.poisson(rate, n).astype(float)
        model = Forecaster(random_state=0).fit(y[:-10])
        lower, upper = model.predict_interval(10)
        assert (lower >= 0).all() and (upper > 0).all()
        assert ((lower == 0).all()) if rate < 1 else (upper > rate).all()
        paths, mean = model.simulate(10, 2000), model.predict(10)
        assert (paths >= 0).all() and np.abs(mean - rate).max() < max(rate, 0.6)
        assert (paths == np.rint(paths)).all() and (lower == np.rint(lower)).all()
        np.testing.assert_allclose(paths.mean(axis=0), mean, atol=0.25 * max(rate, 1.0))
        assert ((lower <= y[-10:]) & (y[-10:] <= upper)).mean() >= 0.7


@pytest.mark.slow
def test_roots_may_be_asked_for():
    rng = np.random.default_rng(2)
    y = rng.gamma(2.0, 3.0, 100)
    model = Forecaster(transform="sqrt", random_state=0).fit(y)
    assert model.transform_ == "sqrt"
    assert all(
        one.name.startswith("sqrt") or "ago" in one.name or "last" in one.name
        for one in model.candidates_
    )
    lower, upper = model.predict_interval(5)
    mean, std = model.predict(5, return_std=True)
    assert (lower >= 0).all() and (upper > mean).all()
    paths = model.simulate(5, 20_000)
    np.testing.assert_allclose(paths.mean(axis=0), mean, rtol=0.03)
    np.testing.assert_allclose(paths.std(axis=0), std, rtol=0.05)
    np.testing.assert_allclose(
        np.quantile(paths, [0.025, 0.975], axis=0), [lower, upper], atol=0.1 * std.max()
    )
    for given in ("log", None):
        assert Forecaster(transform=given).fit(y).transform_ == given


@pytest.mark.slow
def test_days_of_a_week_and_of_a_year():
    """Sixty days ahead are nearer than the values of a year ago."""
    rng = np.random.default_rng(0)
    t = np.arange(860)
    y = 20 + 6 * np.sin(2 * np.pi * t / 365.25) + rng.standard_normal(860)
    y += np.array([0, 0, 0, 0, 0, 4, 5])[t % 7]
    dated = pd.Series(y[:800], pd.date_range("2020-01-01", periods=800, freq="D"))
    model = Forecaster().fit(dated)  # dates tell seasons
    mean = model.predict(60)
    assert "365.25 in" in model.chosen_
    assert rmse(mean, y[800:]) < 1.4 < rmse(y[800 - 365 : 860 - 365], y[800:])


@pytest.mark.slow
def test_given_seasons_are_those_of_dates():
    t = np.arange(800)
    y = 20 + 6 * np.sin(2 * np.pi * t / 365.25) + np.random.default_rng(0).standard_normal(800)
    dated = pd.Series(y, pd.date_range("2020-01-01", periods=800, freq="D"))
    told, given = Forecaster().fit(dated), Forecaster(seasons=(7, 365.25)).fit(y)
    assert given.chosen_ == told.chosen_
    np.testing.assert_array_equal(given.predict(60), told.predict(60))


@pytest.mark.sampled
@pytest.mark.parametrize("n", [3, 4, 5, 6, 8, 10, 12])
def test_short_series(n):
    rng = np.random.default_rng(n)
    for y in (5 + rng.standard_normal(n), np.arange(1.0, n + 1), rng.poisson(2.0, n) + 0.0):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = Forecaster().fit(y)
            mean, std = model.predict(5, return_std=True)
            lower, upper = model.predict_interval(5)
            model.update(y[:2]).predict(2)
        assert np.isfinite(mean).all() and np.isfinite(std).all() and (lower <= upper).all()
        assert np.abs(mean - y.mean()).max() < 10 * (np.ptp(y) + 1)


@pytest.mark.parametrize("value", [0.0, 7.0, -3.5, 1e8])
def test_constant_series(value):
    for n in (3, 12, 50):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = Forecaster().fit(np.full(n, value))
            mean, std = model.predict(4, return_std=True)
            limits = model.predict_interval(4)
        np.testing.assert_allclose(mean, value, rtol=1e-6, atol=1e-9)
        assert np.isfinite(std).all() and np.isfinite(limits).all()
        assert (std < 1e-3 * max(abs(value), 1.0)).all()


def test_units_do_not_matter(complete):
    model, y = complete
    mean, std = model.predict(6, return_std=True)
    moved = Forecaster(transform=None).fit(1e4 + 250 * y[:180]).predict(6, return_std=True)
    plain = Forecaster(transform=None).fit(y[:180]).predict(6, return_std=True)
    np.testing.assert_allclose(moved[0], 1e4 + 250 * plain[0], rtol=1e-6)
    np.testing.assert_allclose(moved[1], 250 * plain[1], rtol=1e-5)
    np.testing.assert_allclose(plain[0], mean, atol=2 * std.max())


def test_inputs_are_used_by_all_candidates():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 2))
    y = 30 + 4 * X[:, 0] + np.cumsum(0.3 * rng.standard_normal(150))
    y[2:] += 2 * X[:-2, 1]
    model = Forecaster(exog_lags=[0, 2]).fit(y[:140], X[:140])
    blind = Forecaster().fit(y[:140])
    assert rmse(model.predict(10, X[140:]), y[140:]) < 0.4 * rmse(blind.predict(10), y[140:])
    scores = {one.name: one.score for one in model.candidates_}
    assert scores["smoothing, no trend"] < 0.4
    assert scores["autoregression of differences 1"] < 0.6
    wrong = model.predict(10, -X[140:])
    assert rmse(wrong, y[140:]) > 3.0
    with pytest.raises(ValueError, match=r"X is missing.*it needs 10 more row"):
        model.predict(10)
    model.update(y[140:145], X[140:145])
    assert rmse(model.predict(5, X[145:]), y[145:]) < 2.0


@pytest.mark.slow
def test_curved_series_have_a_process():
    y = np.full(160, 0.4)
    for t in range(1, 160):
        y[t] = 3.7 * y[t - 1] * (1 - y[t - 1])
    model = Forecaster().fit(y[:150])
    assert "ReducedRankGPR" in model.candidates_[0].name and model.candidates_[0].weight > 0.9
    assert model.estimator_ is not None and model.lags_[0] == 1 and model.difference_ == []
    assert rmse(model.predict(3), y[150:153]) < 0.05


def test_attributes_of_arrays(complete):
    model, y = complete
    np.testing.assert_array_equal(model.y_, y[:180])
    assert model.index_ is None and model.name_ is None and model.log_evidence_ is None
    assert model.n_times_ == 180 and model.n_inputs_ == 0 and model.X_.shape == (180, 0)
    assert model.n_past_ >= 12
