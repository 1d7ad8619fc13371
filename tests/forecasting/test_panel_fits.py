"""Forecasters of panels: each series as if alone, in any number of processes, with its inputs."""

import io
import os
import sys
import threading
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from sparsebayes import RVR
from sparsebayes.forecasting import Forecaster
from sparsebayes.forecasting.panels import SeriesCounter
from tests.sweeps import thinned

N, H = 40, 3
MONTHS = pd.date_range("2000-01-01", periods=N + H, freq="MS", name="month")
INPUTS = np.random.default_rng(5).standard_normal((N + H, 2))
NAMES = ["a", "b", "c"]
MODEL = {"estimator": RVR("linear"), "lags": 2, "difference": None, "transform": None}


def table(n=N):
    """Three series that follow the first input, the third of which begins later."""
    rng = np.random.default_rng(0)
    y = 5.0 + 0.5 * rng.standard_normal((N + H, 3)).cumsum(axis=0) + INPUTS[:, :1] * [1.0, 2.0, 3.0]
    y[:6, 2] = np.nan
    return pd.DataFrame(y, MONTHS, NAMES).iloc[:n]


WIDE = table()
LEVELS = WIDE.T.stack().dropna().rename("sales").rename_axis(["shop", "month"])
LONG = LEVELS.reset_index()
SHARED = pd.DataFrame(INPUTS, MONTHS, ["u", "v"])


def own_inputs():
    """Inputs of each series: those of all times a number."""
    tables = {name: SHARED * (k + 1) for k, name in enumerate(NAMES)}
    return pd.concat(tables, names=["shop", "month"])


OWN = own_inputs()


def single(name, X=None, **options):
    return Forecaster(**MODEL | options).fit(WIDE[name].dropna(), X)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_each_series_is_forecast_as_if_alone(n_jobs):
    model = Forecaster(n_jobs=n_jobs, random_state=0).fit(WIDE)
    assert list(model.forecasters_) == NAMES
    mean, std = model.predict(H, return_std=True)
    limits = model.predict_interval(H, 0.9)
    for name in NAMES:
        alone = Forecaster(random_state=0).fit(WIDE[name].dropna())
        expected = alone.predict(H, return_std=True)
        assert_array_equal(mean[name], expected[0])
        assert_array_equal(std[name], expected[1])
        assert_array_equal(limits[name], alone.predict_interval(H, 0.9))
    assert mean.index.equals(MONTHS[N:])


@pytest.mark.slow
def test_a_generator_gives_each_series_a_seed():
    found = []
    for n_jobs in (1, 2):
        model = Forecaster(**MODEL, n_jobs=n_jobs, random_state=np.random.RandomState(3))
        model.fit(WIDE)
        seeds = {one.random_state for one in model.forecasters_.values()}
        assert len(seeds) == 3
        found.append(model.predict(H, method="monte_carlo"))
    pd.testing.assert_frame_equal(*found)


def test_paths_of_different_series_are_drawn_apart():
    model = Forecaster(**MODEL, random_state=0).fit(WIDE.assign(b=WIDE["a"], c=WIDE["a"]))
    paths = model.simulate(H, 200)
    assert list(paths) == NAMES and paths["a"].shape == (200, H)
    correlation = np.corrcoef(paths["a"].iloc[:, 0], paths["b"].iloc[:, 0])[0, 1]
    assert abs(correlation) < 0.3
    assert_array_equal(model.simulate(H, 200)["b"], paths["b"])
    assert not np.array_equal(model.simulate(H, 200, random_state=1)["b"], paths["b"])


class Placed(RVR):
    """A model that tells where it was fitted."""

    def fit(self, X, y):
        self.process_, self.thread_ = os.getpid(), threading.current_thread().name
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [pytest.param(True, marks=pytest.mark.slow), False])
@pytest.mark.filterwarnings("default")  # of Dask's own
def test_a_dask_cluster(processes):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        model = Forecaster(**MODEL | {"estimator": Placed("linear", calibrate=None)}).fit(WIDE)
        mean = model.predict(H)
    found = [one.estimator_ for one in model.forecasters_.values()]
    if processes:
        assert os.getpid() not in {one.process_ for one in found}
    else:
        assert "MainThread" not in {one.thread_ for one in found}
    assert_array_equal(mean["c"], single("c").predict(H))


@pytest.mark.slow
def test_a_panel_in_place_of_a_series():
    model = Forecaster(**MODEL).fit(WIDE["a"])
    model.fit(WIDE)
    assert not hasattr(model, "y_") and not hasattr(model, "chosen_")
    model.fit(WIDE["a"])
    assert_array_equal(model.predict(H), single("a").predict(H))
    with pytest.raises(ValueError, match="Series 'b'"):
        model.fit(WIDE.assign(b=np.where(np.arange(N) < N - 2, np.nan, 1.0)))
    assert_array_equal(model.predict(H), single("a").predict(H))  # an error changes nothing


# What goes wrong, and what is told.


@pytest.mark.parametrize("n_jobs", thinned([1, 2]))
def test_errors_name_the_series(n_jobs):
    short = WIDE.assign(b=np.where(np.arange(N) < N - 2, np.nan, 1.0))
    with pytest.raises(ValueError, match=r"^Series 'b': y has 2 known value\(s\)"):
        Forecaster(n_jobs=n_jobs).fit(short)


@pytest.mark.slow
def test_other_errors_of_ours_name_it_too():
    with pytest.raises(ValueError, match=r"^Series 'c': y has 7 .*no root|^Series 'c': y has -7"):
        Forecaster(transform="sqrt").fit(WIDE.assign(c=-7.0))
    with pytest.raises(TypeError, match=r"^Series '[abc]': estimator must have predict"):
        Forecaster(LinearRegression(), lags=1).fit(WIDE)


class Failing(RVR):
    """A model that cannot be fitted."""

    def fit(self, X, y):
        raise KeyError("nothing")


@pytest.mark.slow
def test_other_errors_name_the_series_too():
    with pytest.raises(RuntimeError, match=r"^Series 'a': KeyError: 'nothing'"):
        Forecaster(Failing("linear"), lags=1).fit(WIDE)


@pytest.mark.sampled
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_name_the_series(n_jobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        short = WIDE.assign(b=np.where(np.arange(N) < N - 12, np.nan, WIDE["b"]))
        Forecaster(**MODEL, calibrate=4, n_jobs=n_jobs).fit(short)
    told = [str(one.message) for one in caught]
    assert len(told) == 1 and told[0].startswith("Series 'b': The series of 12 values is too short")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.slow
def test_progress(capsys, monkeypatch):
    Forecaster(**MODEL).fit(WIDE)
    assert capsys.readouterr().err == ""
    model = Forecaster(**MODEL, verbose=1).fit(WIDE)
    lines = [f"{k} of 3 series fitted" for k in (1, 2, 3)]
    assert capsys.readouterr().err.splitlines() == lines
    model.predict(H)
    assert capsys.readouterr().err.splitlines()[-1] == "3 of 3 series forecast"
    with SeriesCounter(1000, "done", 1) as counter:
        for _ in range(1000):
            counter.count()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"{k}00 of 1000 series done" for k in range(1, 11)]
    monkeypatch.setattr(sys, "stderr", Terminal())
    model.fit(WIDE)
    told = sys.stderr.getvalue()
    assert told.startswith("\r1 of 3 series fitted") and told.endswith(
        "\r3 of 3 series fitted\x1b[K\n"
    )


# Inputs.


@pytest.mark.sampled
@pytest.mark.parametrize("y", [WIDE, LEVELS, LONG], ids=["wide", "levels", "long"])
def test_inputs_that_all_series_share(y):
    id = "shop" if y is LONG else None
    model = Forecaster(**MODEL).fit(y, SHARED, id=id)
    for name in NAMES:
        expected = single(name, SHARED[:N]).predict(H, SHARED[N:])
        for X in (SHARED, SHARED[N:], INPUTS[N:]):
            found = model.predict(H, X)
            assert_array_equal(one_of(found, name), expected)


def one_of(found, name):
    """The values of a series in a result of any form."""
    if isinstance(found, pd.Series):
        return found[name]
    return found[name] if name in found else found.loc[found["shop"] == name, "sales"]


def test_inputs_of_arrays_begin_with_each_series():
    model = Forecaster(**MODEL).fit(WIDE.to_numpy(), INPUTS[:N])
    found = model.predict(H, INPUTS[N:])
    alone = Forecaster(**MODEL).fit(WIDE["c"].to_numpy()[6:], INPUTS[6:N])
    assert_array_equal(found[:, 2], alone.predict(H, INPUTS[N:]))


@pytest.mark.slow
def test_inputs_without_times_of_a_table_that_leaves_some_out():
    kept = np.delete(np.arange(N), 20)
    model = Forecaster(**MODEL).fit(pd.DataFrame(WIDE, list(MONTHS))[:N].iloc[kept], INPUTS[kept])
    filled = INPUTS[:N].copy()
    filled[20] = INPUTS[19]
    y = WIDE["c"].copy()
    y.iloc[20] = np.nan
    alone = Forecaster(**MODEL).fit(y[6:], filled[6:])
    assert_array_equal(model.predict(H, INPUTS[N:])["c"], alone.predict(H, INPUTS[N:]))


@pytest.mark.sampled
@pytest.mark.parametrize("form", ["levels", "long", "indexed"])
def test_inputs_of_each_series(form):
    known = OWN[OWN.index.get_level_values(1) < MONTHS[N]]
    later = OWN[OWN.index.get_level_values(1) >= MONTHS[N]]
    y, id = LEVELS, None
    if form == "long":
        y, id = LONG, "shop"
        known, later = (X.reset_index().sample(frac=1.0, random_state=0) for X in (known, later))
    if form == "indexed":
        y, id = LONG.set_index("month"), "shop"
        known, later = (X.reset_index("shop") for X in (known, later))
    model = Forecaster(**MODEL).fit(y, known, id=id)
    found = model.predict(H, later)
    for k, name in enumerate(NAMES):
        own = (k + 1) * SHARED
        expected = single(name, own[:N]).predict(H, own[N:])
        assert_allclose(one_of(found, name), expected, rtol=1e-6)


@pytest.mark.slow
def test_inputs_of_rows_that_are_counted():
    y = LONG[["shop", "sales"]]
    kept = OWN.loc[LEVELS.index].reset_index("shop").reset_index(drop=True)
    later = OWN[OWN.index.get_level_values(1) >= MONTHS[N]].reset_index("shop")
    model = Forecaster(**MODEL).fit(y, kept, id="shop")
    found = model.predict(H, later.reset_index(drop=True))
    own = 3 * INPUTS
    alone = Forecaster(**MODEL).fit(WIDE["c"].dropna().to_numpy(), own[6:N])
    assert_allclose(found.loc[found["shop"] == "c", "sales"], alone.predict(H, own[N:]))
    assert list(found.loc[found["shop"] == "c", "time"]) == [34, 35, 36]


@pytest.mark.slow
def test_series_that_end_at_different_times():
    y = LEVELS.drop([("a", time) for time in MONTHS[N - 4 : N]])
    model = Forecaster(**MODEL).fit(y, SHARED)
    found = model.predict(H, SHARED)
    assert list(found["a"].index) == list(MONTHS[N - 4 : N - 1])
    alone = Forecaster(**MODEL).fit(WIDE["a"][:-4], SHARED[: N - 4])
    assert_array_equal(found["a"], alone.predict(H, SHARED[N - 4 : N - 1]))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: fit(WIDE.to_numpy(), INPUTS), r"X must have a row for each of the 40 .*43"),
        (lambda: fit(WIDE, OWN), r"X must have an index of times alone.*got an index of 2 levels"),
        (lambda: fit(LEVELS, OWN.drop("b")), r"X has no rows for series 'b'; add them"),
        (lambda: fit(LEVELS, OWN.rename({"b": "z"})), r"no rows for series 'b'"),
        (lambda: fit(LEVELS, pd.concat([OWN, OWN.loc[["a"]].rename({"a": "z"})])), r"for 'z', whi"),
        (lambda: fit(LEVELS, pd.concat({"x": OWN})), r"index of 2 levels as y, or of times alone"),
        (lambda: fit(LONG, OWN, "shop"), r"X must have a column 'shop' as y, or rows that all"),
        (lambda: fit(LONG, OWN.reset_index("shop", drop=False).reset_index(drop=True), "shop"),
         r"a column or an index 'month' as y, got the columns 'shop', 'u', 'v'"),
        (lambda: fit(WIDE, SHARED[:20]), r"Series 'a': X and y must have the same index"),
        (lambda: fit(WIDE, SHARED).predict(H), r"Series 'a': X is missing"),
        (lambda: fit(WIDE, SHARED).predict(H, SHARED[:N]), r"Series 'a': X has 0 row\(s\)"),
        (lambda: fit(WIDE, SHARED).predict(H, SHARED[N + 1 :]), r"Series 'a': X has 2 row"),
        (lambda: fit(LEVELS, OWN).predict(H, OWN.drop("c")), r"X has no rows for series 'c'"),
        (lambda: fit(WIDE).predict(H, SHARED), r"Series 'a': X was given, but fit had no X"),
        (lambda: fit(WIDE).predict(H, return_cov=True), r"return_cov is for one series"),
        (lambda: fit(WIDE).backtest(WIDE, H), r"backtest is for one series"),
    ],
)  # fmt: skip
def test_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def fit(y, X=None, id=None):
    return Forecaster(**MODEL).fit(y, X, id=id)


# Updates.


@pytest.mark.slow
def test_updates():
    later = table(N + H)[N:]
    model = Forecaster(**MODEL).fit(WIDE, SHARED)
    assert model.update(later, SHARED) is model
    alone = single("b", SHARED[:N]).update(later["b"], SHARED[N:])
    after = np.ones((2, 2))
    assert_array_equal(model.predict(2, after)["b"], alone.predict(2, after))
    arrays = fit(WIDE.to_numpy()).update(later.to_numpy())
    assert_array_equal(arrays.forecasters_[2].y_[-H:], later["c"])


@pytest.mark.slow
def test_updates_with_missing_values_keep_their_times():
    later = table(N + H)[N:].to_numpy(copy=True)
    later[:2, 1] = np.nan
    later[:, 2] = np.nan
    for model in (fit(WIDE), fit(WIDE.to_numpy())):
        new = later if isinstance(next(iter(model.forecasters_)), int) else pd.DataFrame(
            later, MONTHS[N:], NAMES
        )  # fmt: skip
        model.update(new)
        second, third = list(model.forecasters_.values())[1:]
        assert_array_equal(second.y_[-H:], later[:, 1])
        assert np.isnan(third.y_[-H:]).all() and len(third.y_) == N - 6 + H


def test_updates_of_some_series():
    later = pd.Series([1.0, 2.0], [("b", MONTHS[N]), ("b", MONTHS[N + 1])])
    later.index = pd.MultiIndex.from_tuples(later.index)
    model = fit(LEVELS).update(later)
    assert [len(one.y_) for one in model.forecasters_.values()] == [N, N + 2, N - 6]
    counted = fit(LONG[["shop", "sales"]], id="shop")
    counted.update(pd.DataFrame({"shop": ["c", "c"], "sales": [1.0, 2.0]}))
    assert list(counted.forecasters_["c"].index_[-2:]) == [34, 35]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("new", "match"),
    [
        (table(N + H)[["a", "b"]][N:], r"y_new must have the 3 series of fit, in the same form\."),
        (table(N + H)["a"][N:], r"y_new must have the 3 series"),
        (table(N + H).rename(columns={"b": "z"})[N:], r"in the same form, got 'z'"),
        (table(N + H)[N - 1 :], r"Series 'a': The index of y_new must go on where y ends"),
    ],
)
def test_refused_updates(new, match):
    model = fit(WIDE)
    with pytest.raises(ValueError, match=match):
        model.update(new)
    assert len(model.forecasters_["a"].y_) == N
