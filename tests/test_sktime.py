"""The adapter for sktime: the numbers of `Forecaster`, the interface of sktime."""

import importlib
import inspect
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import lognorm, norm

from sparsebayes import RVR
from sparsebayes.forecasting import Forecaster
from tests.sweeps import thinned

pytest.importorskip("sktime")
pd = importlib.import_module("pandas")
SparseBayesForecaster = importlib.import_module("sparsebayes.sktime").SparseBayesForecaster

MODEL = RVR("linear")
SETTINGS = {
    "levels": {"lags": 3, "difference": None, "transform": None},
    "differences": {"lags": [1, 4], "difference": [1, 4], "transform": None},
    "log": {"lags": 2, "difference": 1, "transform": "log"},
    "calibrated": {"lags": 3, "difference": None, "transform": None, "calibrate": "auto"},
}
FH = [1, 2, 5]


def series(n=60, seed=0):
    """A positive quarterly series with trend and season."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    values = np.exp(2.0 + 0.01 * t + 0.2 * np.sin(np.pi * t / 2) + 0.05 * rng.standard_normal(n))
    return pd.Series(values, pd.period_range("2001Q1", periods=n, freq="Q"), name="sales")


Y = series()
X = pd.DataFrame(np.random.default_rng(1).standard_normal((len(Y), 2)), Y.index, columns=["a", "b"])


@pytest.fixture(scope="module", params=SETTINGS)
def pair(request):
    """The adapter and what it adapts, fitted to the same series."""
    options = SETTINGS[request.param]
    return (
        SparseBayesForecaster(MODEL, **options).fit(Y[:50]),
        Forecaster(MODEL, **options).fit(Y[:50]),
    )


def test_parameters_are_those_of_the_forecaster():
    ours = inspect.signature(Forecaster).parameters
    theirs = dict(inspect.signature(SparseBayesForecaster).parameters)
    assert theirs.pop("method").default == "auto"
    assert {name: p.default for name, p in theirs.items()} == {
        name: p.default for name, p in ours.items()
    }


@pytest.mark.sampled
def test_mean_and_variance(pair):
    adapter, plain = pair
    mean, std = plain.predict(5, return_std=True)
    forecast = adapter.predict(FH)
    assert forecast.name == "sales"
    chosen = mean.iloc[[0, 1, 4]]
    assert forecast.index.equals(chosen.index)
    assert forecast.index.astype(str).tolist() == ["2013Q3", "2013Q4", "2014Q3"]
    assert_allclose(forecast, chosen)
    variance = adapter.predict_var(FH)
    assert list(variance.columns) == ["sales"]
    assert_allclose(variance["sales"], std.iloc[[0, 1, 4]] ** 2)
    _, cov = plain.predict(5, return_cov=True)
    found = adapter.predict_var(FH, cov=True)
    assert_allclose(found, cov.iloc[[0, 1, 4], [0, 1, 4]])
    assert_allclose(np.diag(found), variance["sales"])


def test_intervals_and_quantiles(pair):
    adapter, plain = pair
    found = adapter.predict_interval(FH, coverage=[0.5, 0.9])
    for coverage in (0.5, 0.9):
        limits = plain.predict_interval(5, coverage).iloc[[0, 1, 4]]
        assert_allclose(found["sales", coverage], limits)
    quantiles = adapter.predict_quantiles(FH, alpha=[0.05, 0.5, 0.95])
    assert_allclose(quantiles["sales", 0.05], found["sales", 0.9, "lower"])
    median = quantiles["sales", 0.5].to_numpy()
    mean = adapter.predict(FH).to_numpy()
    if plain.transform_ == "log":
        assert (median < mean).all()
    else:
        assert_allclose(median, mean)


def test_sampled_paths():
    options = {**SETTINGS["differences"], "random_state": 3}
    adapter = SparseBayesForecaster(MODEL, method="monte_carlo", **options).fit(Y)
    plain = Forecaster(MODEL, **options).fit(Y)
    assert_allclose(adapter.predict(FH), plain.predict(5, method="monte_carlo").iloc[[0, 1, 4]])
    limits = plain.predict_interval(5, 0.8, method="monte_carlo").iloc[[0, 1, 4]]
    assert_allclose(adapter.predict_interval(FH, coverage=0.8), limits)
    with pytest.raises(NotImplementedError, match="use predict_quantiles"):
        adapter.predict_proba(FH)


def test_known_times_are_forecast_one_step_ahead():
    plain = Forecaster(MODEL, **SETTINGS["differences"]).fit(Y[:50])
    adapter = SparseBayesForecaster(MODEL, **SETTINGS["differences"]).fit(Y[:50])
    adapter.update(Y[50:], update_params=False)
    found = adapter.predict(Y.index)
    assert found.index.equals(Y.index)
    first = 9  # lags and differences
    assert found.isna().to_numpy().tolist() == [True] * first + [False] * (len(Y) - first)
    limits = adapter.predict_interval(Y.index, coverage=0.9)["sales", 0.9]
    for k in (50, 52, 59):
        assert_allclose(found.iloc[k], plain.predict(1).iloc[0])
        assert_allclose(limits.iloc[k], plain.predict_interval(1, 0.9).iloc[0])
        plain.update(Y[k : {50: 52, 52: 59, 59: 60}[k]])
    mixed = adapter.predict([-1, 0, 1])
    assert_allclose(mixed, [*found.iloc[-2:], plain.predict(1).iloc[0]])
    with pytest.raises(NotImplementedError, match="after the last known"):
        adapter.predict_var([0, 1], cov=True)


@pytest.mark.sampled
@pytest.mark.parametrize("exog_lags", [0, [0, 1], 1])
def test_exogenous_inputs(exog_lags):
    options = {**SETTINGS["levels"], "exog_lags": exog_lags}
    adapter = SparseBayesForecaster(MODEL, **options).fit(Y[:50], X[:50])
    plain = Forecaster(MODEL, **options).fit(Y[:50], X[:50])
    expected = plain.predict(5, X[50:55])
    assert_allclose(adapter.predict([1, 5], X=X[50:]), expected.iloc[[0, 4]])
    assert_allclose(adapter.predict([1, 5], X=X), expected.iloc[[0, 4]])  # known rows are skipped
    with pytest.raises(ValueError, match="missing"):
        adapter.predict([1, 5], X=X[50:53])
    adapter.update(Y[50:53], X=X[50:53], update_params=False)
    plain.update(Y[50:53], X[50:53])
    assert_allclose(adapter.predict([3], X=X[53:]), plain.predict(3, X[53:56]).iloc[[2]])


def test_update():
    options = SETTINGS["levels"]
    plain = Forecaster(MODEL, **options).fit(Y[:50])
    adapter = SparseBayesForecaster(MODEL, **options).fit(Y[:50])
    weights = adapter.forecaster_.estimator_.weights_
    adapter.update(Y[45:55], update_params=False)  # what is known is left out
    plain.update(Y[50:55])
    assert_array_equal(adapter.forecaster_.y_, Y[:55])
    assert_array_equal(adapter.forecaster_.estimator_.weights_, weights)
    assert_array_equal(adapter.predict(FH), plain.predict(5).iloc[[0, 1, 4]])
    adapter.update(Y[55:])
    assert not np.array_equal(adapter.forecaster_.estimator_.weights_, weights)
    assert_array_equal(adapter.predict([1]), Forecaster(MODEL, **options).fit(Y).predict(1))
    # sktime sets the present back to the end of what it was given.
    adapter.update(Y[:58], update_params=False)
    assert adapter.predict([2, 3]).index.equals(pd.period_range("2015Q4", periods=2, freq="Q"))
    assert_allclose(adapter.predict([3]), Forecaster(MODEL, **options).fit(Y).predict(1))


def test_times_that_an_update_leaves_out_are_missing():
    adapter = SparseBayesForecaster(MODEL, **SETTINGS["levels"]).fit(Y[:50])
    adapter.update(Y[52:], update_params=False)
    plain = Forecaster(MODEL, **SETTINGS["levels"]).fit(Y[:50]).update(Y[52:])
    assert np.isnan(adapter.forecaster_.y_[50:52]).all()
    assert_array_equal(adapter.predict([1]), plain.predict(1))


def gapped():
    y = Y.copy()
    y.iloc[[7, 30, 31]] = np.nan
    return y


@pytest.mark.sampled
@pytest.mark.parametrize("left_out", [False, True])
def test_missing_values(left_out):
    y = gapped()
    options = SETTINGS["levels"]
    adapter = SparseBayesForecaster(MODEL, **options).fit(y.dropna() if left_out else y)
    plain = Forecaster(MODEL, **options).fit(y)
    assert_array_equal(adapter.predict([1, 2]), plain.predict(2))
    known = adapter.predict(Y.index)
    assert known.isna().to_numpy().tolist() == [True] * 3 + [False] * 57
    spread = np.sqrt(adapter.predict_var(Y.index)["sales"])
    assert spread.iloc[32] > 1.1 * spread.iloc[40]  # a lag is a guess
    adapter.update(y[-3:] * np.nan, update_params=True)
    assert SparseBayesForecaster.get_class_tag("capability:missing_values")


# The mixture, whose distribution is no normal one.


@pytest.fixture(scope="module")
def mixtures():
    y = gapped()
    return SparseBayesForecaster(random_state=0).fit(y), Forecaster(random_state=0).fit(y)


@pytest.mark.slow
def test_quantiles_of_the_mixture(mixtures):
    adapter, plain = mixtures
    assert len(plain._one.fitted.combination.models) > 1
    found = adapter.predict_interval(FH, coverage=[0.5, 0.9])
    for coverage in (0.5, 0.9):
        limits = plain.predict_interval(5, coverage).iloc[[0, 1, 4]]
        assert_allclose(found["sales", coverage], limits)
    mean, std = plain.predict(5, return_std=True)
    assert_allclose(adapter.predict(FH), mean.iloc[[0, 1, 4]])
    assert_allclose(adapter.predict_var(FH)["sales"], std.iloc[[0, 1, 4]] ** 2)
    paths = plain.simulate(5, 20_000, random_state=0).to_numpy()[:, [0, 1, 4]]
    quantile = adapter.predict_quantiles(FH, alpha=0.1)["sales", 0.1]
    assert_allclose((paths < quantile.to_numpy()).mean(axis=0), 0.1, atol=0.01)
    known = adapter.predict_quantiles(Y.index[-20:], alpha=[0.05, 0.95])
    inside = (known.iloc[:, 0] <= Y[-20:]) & (Y[-20:] <= known.iloc[:, 1])
    assert inside.mean() > 0.7


def test_a_mixture_of_distributions(mixtures):
    skpro = pytest.importorskip("skpro.distributions")
    adapter, plain = mixtures
    found = adapter.predict_proba(FH)
    assert isinstance(found, skpro.Mixture)
    assert len(found.distributions) == len(plain._one.fitted.combination.models)
    assert_allclose(found.mean()["sales"], adapter.predict(FH))
    assert_allclose(found.var()["sales"], adapter.predict_var(FH)["sales"])
    quantiles = adapter.predict_quantiles(FH, alpha=0.3).set_axis(["sales"], axis=1)
    assert_allclose(found.cdf(quantiles)["sales"], 0.3, atol=1e-6)


@pytest.mark.slow
def test_distributions_that_have_no_name():
    """Counts: forecasts have a mass at 0."""
    pytest.importorskip("skpro")
    counts = pd.Series(np.random.default_rng(0).poisson(1.0, 60), Y.index, name="sales")
    adapter = SparseBayesForecaster().fit(counts)
    found = adapter.predict_proba(FH)
    for level in (0.05, 0.3, 0.75, 0.98):  # whole numbers, as the counts are
        quantile = adapter.predict_quantiles(FH, alpha=level)["sales", level]
        assert_array_equal(found.ppf(level)["sales"], quantile)
        assert_array_equal(quantile, np.rint(quantile))
    # The mean of the forecast is that of values that are not rounded.
    assert_allclose(found.mean()["sales"], adapter.predict(FH), atol=0.05)
    assert (found.ppf(0.01)["sales"] >= 0).all()


# Panels and hierarchies.


def panel(levels=("shop",)):
    """Three series, of which one begins later, one ends earlier, and one has a gap."""
    keys = [tuple(f"{name}{k}" for name in levels) for k in range(3)]
    parts = [series(seed=0)[10:], series(seed=1)[:-2], gapped()]
    tables = {
        key if len(levels) > 1 else key[0]: part for key, part in zip(keys, parts, strict=True)
    }
    return pd.concat(tables, names=[*levels, "quarter"]).to_frame("sales")


@pytest.mark.slow
@pytest.mark.parametrize("levels", thinned([("town", "shop"), ("shop",)]))
@pytest.mark.parametrize(
    "options", thinned([{"estimator": MODEL, **SETTINGS["log"]}, {"random_state": 0}])
)
def test_panels_in_one_call(levels, options):
    y = panel(levels)
    adapter = SparseBayesForecaster(**options).fit(y)
    names = list(adapter.forecaster_.forecasters_)
    assert len(names) == 3 and not adapter._is_vectorized
    found, var = adapter.predict(FH), adapter.predict_var(FH)
    limits = adapter.predict_interval(FH, coverage=0.8)
    proba = adapter.predict_proba(FH)
    times = pd.period_range("2016Q1", periods=5, freq="Q")[[0, 1, 4]]
    for k, name in enumerate(names):
        alone = Forecaster(**options).fit(y.loc[name, "sales"])
        ahead = 7 if k == 1 else 5  # it ends earlier
        mean, std = (m.loc[times] for m in alone.predict(ahead, return_std=True))
        assert_allclose(found.loc[name, "sales"], mean)
        assert found.loc[name].index.equals(times)
        assert_allclose(var.loc[name, "sales"], std**2)
        assert_allclose(limits.loc[name], alone.predict_interval(ahead, 0.8).loc[times])
        assert_allclose(proba.mean().loc[name, "sales"], mean, rtol=0.02)
    assert found.index.names[:-1] == list(levels)
    assert_array_equal(proba.index, found.index)
    known = adapter.predict(Y.index)
    assert known.loc[names[0]].isna().to_numpy()[:10].all()
    assert known.loc[names[0]].notna().to_numpy()[30:].all()
    with pytest.raises(NotImplementedError, match="is for one series"):
        adapter.predict_var(FH, cov=True)


@pytest.mark.slow
def test_panels_with_inputs_and_updates():
    y = panel().sort_index()
    inputs = pd.concat({name: X * (k + 1) for k, name in enumerate(("shop0", "shop1", "shop2"))},
                       names=["shop", "quarter"])  # fmt: skip
    times = y.index.get_level_values(1)
    first, second = y[times < Y.index[50]], y[times >= Y.index[50]]
    options = {**SETTINGS["levels"], "exog_lags": [0, 1]}
    for refit in (False, True):
        adapter = SparseBayesForecaster(MODEL, **options).fit(first, inputs.loc[first.index])
        adapter.update(second, inputs.loc[second.index], update_params=refit)
        later = inputs.rename({time: time + 10 for time in Y.index}, level=1)
        found = adapter.predict([1, 2], later)
        for k in (0, 2):
            own, name = X * (k + 1), f"shop{k}"
            begin = first.loc[name, "sales"]
            plain = Forecaster(MODEL, **options).fit(begin, own.loc[begin.index])
            rest = second.loc[name, "sales"]
            if refit:
                whole = y.loc[name, "sales"]
                plain = Forecaster(MODEL, **options).fit(whole, own.loc[whole.index])
            else:
                plain.update(rest, own.loc[rest.index])
            shifted = own.rename({time: time + 10 for time in Y.index})
            expected = plain.predict(2, shifted.loc[shifted.index > Y.index[-1]])
            assert_allclose(found.loc[name, "sales"], expected, rtol=1e-6)


@pytest.mark.slow
def test_a_shared_model():
    y = panel()
    adapter = SparseBayesForecaster(pool=True, **SETTINGS["levels"]).fit(y)
    expected = Forecaster(pool=True, **SETTINGS["levels"]).fit(y).predict(7)
    assert_allclose(adapter.predict([1]).loc["shop2"], expected.loc["shop2"].iloc[[0]])
    assert_allclose(adapter.predict([1]).loc["shop1"], expected.loc["shop1"].iloc[[2]])
    with pytest.raises(ValueError, match="pool=True is for several series"):
        SparseBayesForecaster(pool=True).fit(Y)


def test_normal_distributions():
    pytest.importorskip("skpro")
    adapter = SparseBayesForecaster(MODEL, **SETTINGS["levels"]).fit(Y)
    found = adapter.predict_proba(FH)
    assert_allclose(found.mean()["sales"], adapter.predict(FH))
    assert_allclose(found.var()["sales"], adapter.predict_var(FH)["sales"])


def test_lognormal_distributions():
    pytest.importorskip("skpro")
    adapter = SparseBayesForecaster(MODEL, **SETTINGS["log"]).fit(Y)
    found = adapter.predict_proba(FH)
    assert_allclose(found.mean()["sales"], adapter.predict(FH))
    assert_allclose(found.ppf(0.9)["sales"], adapter.predict_quantiles(FH, alpha=0.9).iloc[:, 0])


def test_quantiles_by_another_route():
    adapter = SparseBayesForecaster(MODEL, **SETTINGS["log"]).fit(Y)
    mean, variance = adapter.predict([3]).iloc[0], adapter.predict_var([3]).iloc[0, 0]
    sigma = np.sqrt(np.log1p(variance / mean**2))
    expected = lognorm.ppf(0.2, sigma, scale=mean * np.exp(-0.5 * sigma**2))
    assert_allclose(adapter.predict_quantiles([3], alpha=0.2), expected)
    adapter = SparseBayesForecaster(MODEL, **SETTINGS["levels"]).fit(Y)
    mean, variance = adapter.predict([3]).iloc[0], adapter.predict_var([3]).iloc[0, 0]
    expected = norm.ppf(0.2, mean, np.sqrt(variance))
    assert_allclose(adapter.predict_quantiles([3], alpha=0.2), expected)


def test_without_sktime(monkeypatch):
    for name in ("sktime", "sktime.forecasting", "sktime.forecasting.base"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "sparsebayes.sktime")
    with pytest.raises(ImportError, match=r'pip install "sparsebayes\[sktime\]"'):
        importlib.import_module("sparsebayes.sktime")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of sktime and pandas
def test_checks_of_sktime():
    from sktime.utils.estimator_checks import check_estimator

    results = check_estimator(SparseBayesForecaster, raise_exceptions=True, verbose=False)
    assert len(results) > 300 and set(results.values()) == {"PASSED"}
