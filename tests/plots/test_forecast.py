"""The display of a forecast: what it draws is what was forecast."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from sparsebayes import RVR
from sparsebayes.forecasting import Forecaster
from sparsebayes.plots import ForecastDisplay

N, HORIZON = 60, 8
T = np.arange(N + HORIZON)
Y = 10.0 + 0.05 * T + np.sin(0.5 * T) + 0.1 * np.random.default_rng(0).standard_normal(T.size)
MODEL = Forecaster(RVR("linear"), lags=4, difference=1, transform=None, random_state=0)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def plain():
    return Forecaster(**MODEL.get_params(deep=False)).fit(Y[:N])


def dated(index):
    series = pd.Series(Y, index, name="level")
    return series, Forecaster(**MODEL.get_params(deep=False)).fit(series[:N])


def edges(band, x):
    """Lower and upper limit of a band at x."""
    vertices = band.get_paths()[0].vertices
    at = vertices[np.isclose(vertices[:, 0], x), 1]
    return at.min(), at.max()


def texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_arrays(plain):
    display = ForecastDisplay.from_forecaster(plain, HORIZON, truth=Y[N:], history=20)
    mean = plain.predict(HORIZON)
    x, y = display.line_.get_data()
    assert_array_equal(x, np.arange(N - 1, N + HORIZON))  # from the last known value on
    assert_array_equal(y, [Y[N - 1], *mean])
    assert_array_equal(display.history_.get_data(), [np.arange(N - 20, N), Y[N - 20 : N]])
    assert_array_equal(display.truth_.get_data(), [np.arange(N, N + HORIZON), Y[N:]])
    assert len(display.bands_) == 2
    for band, coverage in zip(display.bands_, (0.5, 0.95), strict=True):
        lower, upper = plain.predict_interval(HORIZON, coverage)
        for k in (0, 3, HORIZON - 1):
            assert_allclose(edges(band, N + k), (lower[k], upper[k]))
    assert texts(display) == ["history", "mean", "50 % interval", "95 % interval", "truth"]
    assert display.ax_.get_ylabel() == "y" and display.figure_ is display.ax_.figure


def test_wide_bands_are_below_narrow_ones_and_lighter(plain):
    display = ForecastDisplay.from_forecaster(plain, 4, coverage=(0.95, 0.5, 0.8))
    wide, narrow, middle = display.bands_
    assert wide.get_zorder() < middle.get_zorder() < narrow.get_zorder()
    red = [band.get_facecolor()[0, 0] for band in (wide, middle, narrow)]
    assert red[0] > red[1] > red[2]


def test_how_much_history(plain):
    for history, shown in ((None, 40), (7, 7), (10**6, N)):
        display = ForecastDisplay.from_forecaster(plain, HORIZON, history=history)
        assert len(display.history_.get_xdata()) == shown
    display = ForecastDisplay.from_forecaster(plain, HORIZON, history=0)
    assert display.history_ is None and texts(display)[0] == "mean"
    assert_array_equal(display.line_.get_ydata(), plain.predict(HORIZON))
    assert len(ForecastDisplay.from_forecaster(plain, 12).history_.get_xdata()) == 48


INDEXES = {
    "dates": pd.date_range("2020-01-01", periods=T.size, freq="MS", name="month"),
    "periods": pd.period_range("2020-01", periods=T.size, freq="M", name="month"),
    "zone": pd.date_range("2020-01-01", periods=T.size, freq="D", tz="Asia/Tokyo", name="month"),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_dates(kind):
    series, model = dated(INDEXES[kind])
    display = ForecastDisplay.from_forecaster(model, HORIZON, truth=series, coverage=0.9)
    later = INDEXES[kind][N - 1 :]
    later = later.to_timestamp() if kind == "periods" else later.tz_localize(None)
    assert_allclose(date2num(display.line_.get_xdata()), date2num(later))
    assert_array_equal(display.truth_.get_ydata(), Y[N:])  # matched by its index
    limits = model.predict_interval(HORIZON, 0.9)
    assert_allclose(edges(display.bands_[0], date2num(later[3])), limits.iloc[2])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("month", "level")
    display.figure_.canvas.draw()
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert 3 <= len(labels) <= 10
    assert {"dates": "2024", "periods": "2024", "zone": "Feb"}[kind] in labels


def test_whole_numbers_as_index():
    series, model = dated(pd.RangeIndex(1700, 1700 + T.size, name="year"))
    display = ForecastDisplay.from_forecaster(model, 3, truth=series[N + 1 :], time_name="A.D.")
    assert_array_equal(display.line_.get_xdata(), 1700 + np.arange(N - 1, N + 3))
    assert_array_equal(display.truth_.get_ydata(), [np.nan, *Y[N + 1 : N + 3]])
    assert display.ax_.get_xlabel() == "A.D."


def test_sampled_paths(plain):
    display = ForecastDisplay.from_forecaster(plain, HORIZON, method="monte_carlo", coverage=0.8)
    paths = plain.simulate(HORIZON, 1000)
    assert_allclose(display.line_.get_ydata()[1:], paths.mean(axis=0))
    assert_allclose(edges(display.bands_[0], N + 5), np.quantile(paths[:, 5], [0.1, 0.9]))


def test_method_and_inputs():
    inputs = np.random.default_rng(1).standard_normal((T.size, 1))
    model = Forecaster(**MODEL.get_params(deep=False)).fit(Y[:N], inputs[:N])
    display = ForecastDisplay.from_forecaster(model, HORIZON, inputs[N:], "naive")
    mean, limits = (
        model.predict(HORIZON, inputs[N:], method="naive"),
        model.predict_interval(HORIZON, 0.95, inputs[N:], "naive"),
    )
    assert_array_equal(display.line_.get_ydata()[1:], mean)
    assert_allclose(edges(display.bands_[1], N + 7), [limit[7] for limit in limits])


def test_one_step_is_visible(plain):
    display = ForecastDisplay.from_forecaster(plain, 1)
    assert np.ptp(edges(display.bands_[1], N)) > 0
    assert display.line_.get_marker() == "o"
    assert display.line_.get_markevery() == slice(1, None)  # not at the last known value
    assert ForecastDisplay.from_forecaster(plain, 31).line_.get_marker() == "None"


def test_constructor():
    mean = np.arange(4.0)
    _, ax = plt.subplots()
    display = ForecastDisplay(
        mean=mean, lower=mean - 1, upper=mean + 2, coverage=0.8, truth=mean[:2], history=[5.0, 4.0]
    ).plot(ax)
    assert display.ax_ is ax
    assert_array_equal(display.line_.get_data(), [[1, 2, 3, 4, 5], [4, 0, 1, 2, 3]])
    assert_array_equal(display.truth_.get_xdata(), [2, 3])
    assert edges(display.bands_[0], 4) == (1.0, 4.0)
    assert ax.get_xlabel() == ""
    display = ForecastDisplay(
        mean=mean,
        lower=[mean - 1],
        upper=[mean + 1],
        coverage=[0.5],
        times=["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"],
    ).plot()
    assert display.line_.get_xdata()[1] == np.datetime64("2024-01-02")
    assert display.history_ is None and display.truth_ is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coverage": 95}, "coverage must lie between 0 and 1"),
        ({"lower": np.zeros((2, 4))}, r"lower must have shape \(1, 4\)"),
        ({"upper": np.zeros(3)}, r"upper must have shape \(1, 4\).*got \(1, 3\)"),
        ({"truth": np.zeros(5)}, "truth must have at most 4 values"),
        ({"mean": np.zeros((2, 2))}, "mean must have one dimension"),
        ({"times": [1, 2]}, "times must have one time for each of the 4 values"),
        ({"history_times": [1, 2, 3]}, "history_times must have one time for each of the 2"),
        ({"times": np.arange("2024-01", "2024-05", dtype="M8[M]")}, "both be dates"),
    ],
)
def test_wrong_arrays(options, message):
    given = {"mean": np.zeros(4), "lower": np.zeros(4), "upper": np.ones(4), "coverage": 0.5}
    with pytest.raises(ValueError, match=message):
        ForecastDisplay(**{**given, "history": [1.0, 2.0], **options}).plot()
    assert not plt.get_fignums()  # nothing half drawn


def test_wrong_options(plain):
    draw = ForecastDisplay.from_forecaster
    with pytest.raises(NotFittedError):
        draw(MODEL, 3)
    for coverage in (0.0, (0.5, 1.0), ()):
        with pytest.raises(ValueError, match="coverage must lie between 0 and 1"):
            draw(plain, 3, coverage=coverage)
    for history in (-1, 2.5, True):
        with pytest.raises(ValueError, match="history must be a whole number"):
            draw(plain, 3, history=history)
    with pytest.raises(ValueError, match="horizon"):
        draw(plain, 0)
    series, model = dated(INDEXES["dates"])
    with pytest.raises(ValueError, match="truth has no value at the times of the forecast, 2025"):
        draw(model, 3, truth=series[:N])


def test_without_matplotlib(plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ForecastDisplay needs.*sparsebayes\[plots\]"):
        ForecastDisplay.from_forecaster(plain, 3)
