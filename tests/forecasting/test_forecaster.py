"""The forecaster: what it promises users."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as SquaredExponential
from sklearn.gaussian_process.kernels import WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import RVR, ReducedRankGPR
from sparsebayes.datasets import load_benchmark
from sparsebayes.forecasting import Forecaster
from tests.laws.test_imports import BLOCK, run

PLAIN = {"difference": None, "transform": None}
METHODS = ["auto", "exact", "taylor", "monte_carlo", "naive"]


def monthly(n=144, seed=0):
    """Growth and a yearly cycle that grows with it, as sales have."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    months = 0.2 * rng.standard_normal(12)
    shock = np.convolve(rng.standard_normal(n), 0.6 ** np.arange(20))[:n]
    values = 100 * np.exp(0.008 * t + months[t % 12] + 0.02 * shock)
    return pd.Series(values, pd.date_range("2010-01-01", periods=n, freq="MS"), name="sales")


def wave(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return np.sin(0.5 * np.arange(n)) + 0.1 * rng.standard_normal(n)


def chaos(n=320, seed=0):
    """The logistic map, observed with noise in it."""
    rng = np.random.default_rng(seed)
    y = np.full(n, 0.4)
    for t in range(1, n):
        y[t] = np.clip(3.7 * y[t - 1] * (1 - y[t - 1]) + 0.01 * rng.standard_normal(), 0, 1)
    return y


@pytest.fixture(scope="module")
def driven():
    """A series moved by two inputs, one of them two steps later."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((160, 2))
    y = np.zeros(160)
    for t in range(2, 160):
        y[t] = 0.6 * y[t - 1] + X[t, 0] - 0.5 * X[t - 2, 1] + 0.1 * rng.standard_normal()
    return y, X


@pytest.fixture(scope="module")
def fitted():
    return Forecaster(RVR("linear"), lags=4, **PLAIN, random_state=0).fit(wave())


@pytest.mark.slow
def test_a_monthly_series_just_works():
    y = monthly()
    model = Forecaster().fit(y[:120])
    mean, band = model.predict(24), model.predict_interval(24)
    assert mean.index.equals(y.index[120:]) and mean.name == "sales"
    assert band.index.equals(y.index[120:]) and list(band) == ["lower", "upper"]
    inside = (band.lower <= y[120:]) & (y[120:] <= band.upper)
    assert inside.sum() >= 20
    assert (np.abs(mean / y[120:] - 1) < 0.15).all()
    assert model.transform_ == "log" and model.difference_ == [12]


@pytest.mark.slow
def test_the_airline_series():
    try:
        archive = load_benchmark("timeseries_classic")
    except FileNotFoundError:
        pytest.skip("needs the benchmark data")
    values = archive["airline"].astype(float)
    y = pd.Series(values, pd.date_range("1949-01-01", periods=144, freq="MS"))
    band = Forecaster().fit(y[:120]).predict_interval(24)
    assert list(band.index) == list(y.index[120:])
    assert ((band.lower <= y[120:]) & (y[120:] <= band.upper)).sum() >= 20


@pytest.mark.slow
def test_the_default_is_linear_where_nothing_speaks_against_it():
    noise = np.random.default_rng(5).standard_normal(400)
    for y in (noise, np.cumsum(noise), wave(80)):
        model = Forecaster(lags=4, **PLAIN).fit(y)
        linear = Forecaster(RVR("linear"), lags=4, **PLAIN).fit(y)
        assert isinstance(model.estimator_, RVR)
        np.testing.assert_array_equal(model.predict(5), linear.predict(5))


@pytest.mark.slow
def test_the_default_is_curved_where_the_series_is():
    y = chaos()
    model = Forecaster(lags=1, **PLAIN).fit(y[:300])
    assert isinstance(model.estimator_, ReducedRankGPR)
    assert len(model.estimator_.support_) == 256
    linear = Forecaster(RVR("linear"), lags=1, **PLAIN).fit(y[:300])
    assert model.log_evidence_ > linear.log_evidence_ + 100
    assert (model.backtest(y, 3).nlpd < linear.backtest(y, 3).nlpd - 0.3).all()
    again = Forecaster(lags=1, **PLAIN).fit(y[:300])
    zero = Forecaster(lags=1, **PLAIN, random_state=0).fit(y[:300])
    np.testing.assert_array_equal(again.estimator_.support_, model.estimator_.support_)
    np.testing.assert_array_equal(zero.predict(5), model.predict(5))
    other = Forecaster(lags=1, **PLAIN, random_state=1).fit(y[:300])
    assert (other.estimator_.support_ != model.estimator_.support_).any()


@pytest.mark.slow
def test_noise_variance_is_in_units_of_what_is_modelled():
    rng = np.random.default_rng(2)
    walk = np.cumsum(30.0 * rng.standard_normal(400))
    model = Forecaster(RVR("linear"), lags=1, difference=[1], transform=None).fit(walk)
    assert model.noise_variance_ == pytest.approx(900, rel=0.15)
    grown = np.exp(0.001 * walk)
    model = Forecaster(RVR("linear"), lags=1, difference=[1], transform="log").fit(grown)
    assert model.noise_variance_ == pytest.approx(900e-6, rel=0.15)
    pipeline = make_pipeline(StandardScaler(), RVR("linear"))
    assert model.set_params(estimator=pipeline).fit(grown).noise_variance_ is None


def test_arrays_in_arrays_out(fitted):
    mean, std = fitted.predict(5, return_std=True)
    assert isinstance(mean, np.ndarray) and mean.shape == std.shape == (5,)
    lower, upper = fitted.predict_interval(5, coverage=0.8)
    np.testing.assert_allclose(upper - mean, ndtri(0.9) * std)
    np.testing.assert_allclose(mean - lower, ndtri(0.9) * std)
    again, cov = fitted.predict(5, return_cov=True)
    np.testing.assert_array_equal(again, mean)
    np.testing.assert_allclose(np.diagonal(cov), std**2)
    paths = fitted.simulate(5, 7)
    assert paths.shape == (7, 5)


@pytest.mark.slow
def test_pandas_in_pandas_out():
    y = pd.Series(wave(60), pd.period_range("2000-01", periods=60, freq="M"), name="w")
    model = Forecaster(RVR("linear"), lags=3, **PLAIN).fit(y)
    later = pd.period_range("2005-01", periods=4, freq="M")
    mean, cov = model.predict(4, return_cov=True)
    assert mean.index.equals(later) and cov.index.equals(later) and cov.columns.equals(later)
    assert model.simulate(4, 2).columns.equals(later)
    np.testing.assert_array_equal(
        mean.to_numpy(), Forecaster(RVR("linear"), lags=3, **PLAIN).fit(y.to_numpy()).predict(4)
    )


@pytest.mark.sampled
@pytest.mark.parametrize("kind", [np.float32, np.int64, list])
def test_kinds_of_numbers(kind):
    y = np.round(100 * wave(60))
    model = Forecaster(RVR("linear"), lags=3, **PLAIN)
    expected = clone(model).fit(y).predict(3)
    given = list(y) if kind is list else y.astype(kind)
    np.testing.assert_allclose(model.fit(given).predict(3), expected)


@pytest.mark.sampled
@pytest.mark.parametrize("difference", [None, [1], [1, 4]])
@pytest.mark.parametrize("method", ["exact", "naive", "monte_carlo"])
def test_scale_and_shift(difference, method):
    y = wave(80)
    model = Forecaster(RVR(adapt=None), lags=4, difference=difference, transform=None)
    model.set_params(random_state=0)
    mean, std = clone(model).fit(y).predict(6, return_std=True, method=method)
    moved = clone(model).fit(1e3 * y - 50).predict(6, return_std=True, method=method)
    np.testing.assert_allclose(moved[0], 1e3 * mean - 50, rtol=1e-6)
    np.testing.assert_allclose(moved[1], 1e3 * std, rtol=1e-6)


@pytest.mark.slow
def test_a_log_model_only_changes_scale():
    y = monthly(80).to_numpy()
    model = Forecaster(RVR("linear"), lags=2, difference=[12], transform="log", random_state=0)
    for method in ("exact", "monte_carlo"):
        mean, std = clone(model).fit(y).predict(6, return_std=True, method=method)
        moved = clone(model).fit(7 * y).predict(6, return_std=True, method=method)
        np.testing.assert_allclose(moved[0], 7 * mean, rtol=1e-8)
        np.testing.assert_allclose(moved[1], 7 * std, rtol=1e-8)


@pytest.mark.slow
def test_lognormal_moments_and_intervals():
    y = monthly(80).to_numpy()
    model = Forecaster(RVR("linear"), lags=2, difference=[12], transform="log", random_state=0)
    model.fit(y)
    mean, cov = model.predict(4, return_cov=True)
    paths = model.simulate(4, 40_000)
    np.testing.assert_allclose(mean, paths.mean(axis=0), rtol=2e-3)
    np.testing.assert_allclose(cov, np.cov(paths.T), rtol=0.06)
    exact, sampled = model.predict_interval(4), model.predict_interval(4, method="monte_carlo")
    np.testing.assert_allclose(exact, sampled, rtol=0.01)
    assert (exact[0] > 0).all()
    logs = Forecaster(RVR("linear"), lags=2, difference=[12], transform=None).fit(np.log(y))
    np.testing.assert_allclose(np.log(exact), logs.predict_interval(4))
    targets = np.log(y[model.n_past_ :])
    assert model.log_evidence_ == pytest.approx(logs.log_evidence_ - targets.sum())


def test_constant_series():
    for model in (Forecaster(), Forecaster(RVR(), lags=3, **PLAIN), Forecaster(lags=2)):
        mean, std = model.fit(np.full(40, 7.0)).predict(5, return_std=True)
        np.testing.assert_allclose(mean, 7.0, rtol=1e-6)
        assert (std < 1e-3).all()


def test_std_of_a_random_walk_grows_with_the_root():
    y = np.cumsum(np.random.default_rng(0).standard_normal(400))
    model = Forecaster(BayesianRidge(), lags=1, difference=[1], transform=None).fit(y)
    for method in ("taylor", "naive"):
        std = model.predict(50, return_std=True, method=method)[1]
        np.testing.assert_allclose(std / np.sqrt(np.arange(1, 51)), std[0], rtol=0.15)
    std = model.predict(50, return_std=True, method="naive")[1]
    np.testing.assert_allclose(std / np.sqrt(np.arange(1, 51)), std[0], rtol=0.01)


def test_naive_std_is_that_of_one_step(fitted):
    std = fitted.predict(8, return_std=True, method="naive")[1]
    mean, one = fitted.predict(1, return_std=True)
    assert std[0] == pytest.approx(one[0])
    later = clone(fitted).fit(wave())
    later.update(mean)  # the mean is fed back as if it had come
    assert std[1] == pytest.approx(later.predict(1, return_std=True)[1][0])
    propagated = fitted.predict(8, return_std=True)[1]
    assert (propagated[1:] > std[1:]).all()


@pytest.mark.parametrize("method", METHODS)
def test_methods_agree_on_one_step(fitted, method):
    mean, std = fitted.predict(1, return_std=True)
    other = fitted.predict(1, return_std=True, method=method, n_paths=20_000)
    np.testing.assert_allclose(other[0], mean, atol=4 * std[0] / np.sqrt(20_000))
    np.testing.assert_allclose(other[1], std, rtol=0.03)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "estimator",
    [
        RVR(augment=True, adapt=None),
        GaussianProcessRegressor(SquaredExponential(2.0) + WhiteKernel(0.1), optimizer=None),
        make_pipeline(StandardScaler(), RVR("linear")),
    ],
    ids=["augmented", "process", "pipeline"],
)
def test_estimators(estimator):
    y = wave(70)
    model = Forecaster(estimator, lags=3, **PLAIN, random_state=0).fit(y)
    sampled = model.predict(3, return_std=True, method="monte_carlo", n_paths=4000)
    for method in ("auto", "taylor"):
        mean, std = model.predict(3, return_std=True, method=method)
        np.testing.assert_allclose(mean, sampled[0], atol=0.3 * std.max())
        np.testing.assert_allclose(std, sampled[1], rtol=0.15)
    expected = estimator.__class__.__name__ != "Pipeline"
    assert (model.log_evidence_ is not None) == expected


@pytest.mark.slow
def test_units_of_exogenous_inputs_do_not_matter(driven):
    y, X = driven
    model = Forecaster(RVR(adapt=None), lags=1, exog_lags=[0], **PLAIN)
    expected = model.fit(y[:140], X[:140]).predict(4, X[140:144], return_std=True)
    scaled = X * 1000.0 + 5.0
    found = model.fit(y[:140], scaled[:140]).predict(4, scaled[140:144], return_std=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_exogenous_lags_may_reach_further_back_than_the_others(driven):
    y, X = driven
    process = GaussianProcessRegressor(SquaredExponential() + WhiteKernel(0.1), optimizer=None)
    model = Forecaster(process, lags=[1], exog_lags=[5], **PLAIN).fit(y[:60], X[:60])
    assert model.n_past_ == 5 and model.n_features_in_ == 1 + X.shape[1]
    inputs = (X[:60] - X[:60].mean(axis=0)) / X[:60].std(axis=0)
    np.testing.assert_allclose(model.estimator_.X_train_[:, 1:], inputs[:55])


@pytest.mark.slow
def test_exogenous_inputs(driven):
    y, X = driven
    model = Forecaster(RVR("linear"), lags=1, exog_lags=[0, 2], **PLAIN).fit(y[:140], X[:140])
    assert model.n_features_in_ == 5 and model.exog_lags_ == [0, 2]
    mean, std = model.predict(20, X[140:], return_std=True)
    assert (np.abs(y[140:] - mean) < 4 * std).all()
    assert np.corrcoef(mean, y[140:])[0, 1] > 0.95
    blind = Forecaster(RVR("linear"), lags=1, **PLAIN).fit(y[:140]).predict(20)
    assert np.mean((mean - y[140:]) ** 2) < 0.1 * np.mean((blind - y[140:]) ** 2)


def test_inputs_with_lags_need_fewer_future_rows(driven):
    y, X = driven
    model = Forecaster(RVR("linear"), lags=1, exog_lags=[2, 3], **PLAIN).fit(y[:140], X[:140])
    np.testing.assert_array_equal(model.predict(2), model.predict(5, X[140:143])[:2])
    with pytest.raises(ValueError, match=r"X is missing.*exog_lags=\[2, 3\] it needs 3 more"):
        model.predict(5)
    with pytest.raises(ValueError, match=r"X has 1 row\(s\).* 3 are needed: 2 missing"):
        model.predict(5, X[140:141])
    with pytest.raises(ValueError, match=r"X must have 2 columns as in fit, got 1"):
        model.predict(5, X[140:143, :1])


def test_inputs_in_pandas(driven):
    y, X = driven
    index = pd.date_range("2020-01-01", periods=160, freq="D")
    y, X = pd.Series(y, index), pd.DataFrame(X, index, columns=["a", "b"])
    model = Forecaster(RVR("linear"), lags=1, **PLAIN).fit(y[:150], X[:150])
    assert model.predict(4, X[150:154]).index.equals(index[150:154])
    with pytest.raises(ValueError, match=r"index of X must go on where y ends.*2020-05-30"):
        model.predict(4, X[151:155])
    with pytest.raises(ValueError, match=r"X and y must have the same index"):
        model.fit(y[:150], X[1:151])
    with pytest.raises(ValueError, match=r"columns \['b', 'a'\].*\['a', 'b'\]"):
        model.predict(4, X[150:154][["b", "a"]])


def test_update_then_predict_is_a_longer_history(driven):
    y, X = driven
    model = Forecaster(RVR("linear"), lags=2, exog_lags=[1], difference=[1], transform=None)
    model.fit(y[:120], X[:120])
    kept = model.estimator_
    model.update(y[120:130], X[120:130]).update(y[130:131], X[130:131])
    assert model.estimator_ is kept and len(model.y_) == 131
    mean, std = model.predict(3, X[131:134], return_std=True)
    expected = clone(model).fit(y[:120], X[:120]).backtest(y[:134], 3, X=X[:134], start=131)["auto"]
    np.testing.assert_allclose(mean, expected.mean[0], rtol=1e-12)
    np.testing.assert_allclose(std, expected.std[0], rtol=1e-12)
    with pytest.raises(ValueError, match="X_new is missing"):
        model.update(y[131:133])
    with pytest.raises(ValueError, match=r"X_new must have a row for each of the 2"):
        model.update(y[131:133], X[131:134])


@pytest.mark.slow
def test_update_continues_the_index():
    y = monthly(60)
    model = Forecaster(RVR("linear"), lags=2, difference=[12]).fit(y[:50])
    model.update(y[50:53])
    assert model.predict(2).index.equals(y.index[53:55])
    model.update(y[53:55].to_numpy())
    assert model.predict(2).index.equals(y.index[55:57])
    model.update(y[57:58])  # two times are skipped
    assert model.index_.equals(y.index[:58]) and np.isnan(model.y_[55:57]).all()
    assert model.predict(2).index.equals(y.index[58:60])
    with pytest.raises(ValueError, match="y_new must go on where y ends"):
        model.update(y[57:58])
    with pytest.raises(ValueError, match=r"y_new has -1 at position 0.*no logarithm"):
        model.update([-1.0])


def test_same_seed_same_paths(fitted):
    np.testing.assert_array_equal(fitted.simulate(4, 3), fitted.simulate(4, 3, random_state=0))
    assert (fitted.simulate(4, 3, random_state=1) != fitted.simulate(4, 3)).any()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda m: m.predict(0), r"horizon must be a whole number >= 1, got 0"),
        (lambda m: m.predict(2.0), r"horizon must be a whole number"),
        (lambda m: m.predict(2, method="best"), r"method must be one of"),
        (lambda m: m.predict(2, return_std=True, return_cov=True), r"not for both"),
        (lambda m: m.predict(2, X=[[1.0], [2.0]]), r"fit had no X"),
        (lambda m: m.predict_interval(2, coverage=1.0), r"coverage must lie between 0 and 1"),
        (lambda m: m.simulate(2, 0), r"n_paths must be a whole number >= 1"),
    ],
)
def test_refused_forecasts(fitted, call, match):
    with pytest.raises(ValueError, match=match):
        call(fitted)


@pytest.mark.parametrize(
    ("params", "y", "match"),
    [
        ({"lags": 12}, np.arange(10.0), r"y has 10 values, too few for lags=\[1, .*at least 14"),
        ({"lags": 3, "difference": [12]}, np.arange(15.0), r"after differences at \[12\]"),
        ({"transform": "log"}, np.arange(20.0), r"y has 0 at position 0.*transform=None"),
        ({"transform": "sqrt"}, np.arange(20.0) - 1, r"y has -1 at position 0.*no root"),
        ({"transform": "root"}, np.arange(20.0), r"transform must be one of"),
        ({"step": 0}, np.arange(20.0), r"step must be a whole number >= 1"),
        ({"lags": "all"}, np.arange(20.0), r"lags must be a whole number or a list"),
        ({"lags": 1}, np.ones(1), r"too few"),
        ({}, np.ones(2), r"y has 2 known value\(s\), but a forecast needs at least 3"),
        ({}, [1.0, np.nan, 2.0, np.nan], r"y has 2 known value\(s\)"),
        ({}, np.full(9, np.nan), r"all 9 are missing"),
        ({}, [1.0, np.inf, 2.0], r"y has inf at position 1"),
        ({"seasons": 1}, np.arange(20.0), r"seasons must be longer than one step, got 1"),
        ({"seasons": "week"}, np.arange(20.0), r"seasons must be 'auto', None, a number"),
    ],
)
def test_refused_fits(params, y, match):
    with pytest.raises(ValueError, match=match):
        Forecaster(**params).fit(y)


def test_an_estimator_without_std():
    with pytest.raises(TypeError, match=r"predict\(X, return_std=True\).*LinearRegression"):
        Forecaster(LinearRegression(), lags=2, **PLAIN).fit(wave(40))


@pytest.mark.slow
def test_conventions(fitted):
    model = Forecaster(RVR(), lags=[1, 12])
    assert clone(model).get_params()["lags"] == [1, 12]
    assert model.set_params(estimator__bias=False).estimator.bias is False
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(3), fitted.predict(3))
    y = wave(50)
    before = y.copy()
    Forecaster(RVR("linear"), lags=2).fit(y).update(y[:3])
    np.testing.assert_array_equal(y, before)


@pytest.mark.slow
def test_pandas_is_not_needed():
    code = BLOCK.format(blocked={"pandas"}) + (
        "import numpy as np\n"
        "from sparsebayes.forecasting import Forecaster\n"
        "from sparsebayes import RVR\n"
        "y = np.sin(np.arange(40.0))\n"
        "model = Forecaster(RVR('linear'), lags=3, difference=None).fit(y)\n"
        "print(model.predict(2).shape)\n"
    )
    assert run(code) == "(2,)\n"
