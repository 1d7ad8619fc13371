"""Forecasters of series with dates: stored with them, and nothing else of pandas."""

import sys
from datetime import timedelta, timezone

import numpy as np
import pytest
from sklearn.base import clone

from sparsebayes import Forecaster, persistence
from sparsebayes.persistence import objects, trusted

from .crafting import row, small

pd = pytest.importorskip("pandas")

WALK = np.cumsum(np.random.default_rng(0).standard_normal(48))
DAYS = pd.date_range("2024-03-01", periods=48, freq="D")
SIMPLE = Forecaster(lags=2, difference=1, transform=None, seasons=None, calibrate=None)


def fitted(index, values=WALK):
    return clone(SIMPLE).fit(pd.Series(values[: len(index)], index, name="sales"))


def brought_back(model, tmp_path):
    persistence.save(model, tmp_path / "m.skops")
    return persistence.load(tmp_path / "m.skops")


def same_series(one, other):
    pd.testing.assert_series_equal(one, other)
    assert getattr(one.index, "freq", None) == getattr(other.index, "freq", None)


INDICES = {
    **{
        freq: pd.date_range("2024-01-01", periods=48, freq=freq)
        for freq in (
            *("D", "2D", "B", "W-WED", "MS", "ME", "BMS", "BME", "QS-FEB", "QE", "BQS", "BQE"),
            *("YS", "YE-MAR", "BYS", "BYE", "SMS", "SME", "WOM-3FRI", "LWOM-FRI"),
            *("h", "15min", "s", "ms", "us", "ns"),
        )
    },
    "no frequency": pd.DatetimeIndex(DAYS.to_numpy()),
    "gaps": DAYS.delete([5, 9]),
    "the 30th": pd.date_range("2020-01-30", periods=48, freq=pd.DateOffset(months=1, day=30)),
    "seconds": DAYS.as_unit("s").rename("when"),
    "zone": DAYS.tz_localize("Europe/Berlin"),
    "hours over a change of clocks": pd.date_range(
        "2024-03-30", periods=48, freq="h", tz="Europe/Berlin"
    ),
    "UTC": DAYS.tz_localize("UTC"),
    "away from UTC": DAYS.tz_localize(timezone(timedelta(hours=5, minutes=30))),
    "months": pd.period_range("2020-01", periods=48, freq="M"),
    "quarters": pd.period_range("2020Q1", periods=48, freq="2Q-FEB", name="quarter"),
    "range": pd.RangeIndex(3, 99, 2),
    "numbers": pd.Index(np.arange(10, 58)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_the_same_forecasts_at_the_same_times(tmp_path, index):
    model = fitted(index)
    again = brought_back(model, tmp_path)
    pd.testing.assert_index_equal(again.index_, model.index_, exact=True)
    assert getattr(again.index_, "freq", None) == getattr(model.index_, "freq", None)
    same_series(again.predict(5), model.predict(5))
    pd.testing.assert_frame_equal(again.predict_interval(5), model.predict_interval(5))
    new = pd.Series([1.0, 2.0], model.predict(2).index)
    for one in (again, model):
        one.update(new)
    same_series(brought_back(again, tmp_path).predict(3), model.predict(3))


def test_every_frequency_of_the_list_is_tried():
    tried = {trusted.name_of_offset(type(getattr(one, "freq", None))) for one in INDICES.values()}
    assert set(trusted._OFFSETS) - tried == set()


def test_inputs_with_dates(tmp_path):
    X = pd.DataFrame({"price": WALK[::-1]}, DAYS)
    model = clone(SIMPLE).fit(pd.Series(WALK[:40], DAYS[:40]), X[:40])
    again = brought_back(model, tmp_path)
    same_series(again.predict(4, X[40:]), model.predict(4, X[40:]))
    with pytest.raises(ValueError, match="must go on where y ends"):
        again.predict(4, X[41:])


def test_tables_of_series(tmp_path):
    wide = pd.DataFrame({"a": WALK, "b": WALK[::-1]}, DAYS)
    levels = pd.concat({name: wide[name] for name in wide}, names=["shop", "day"]).rename("sales")
    for table, options in ((wide, {}), (levels, {}), (levels.reset_index(), {"id": "shop"})):
        model = clone(SIMPLE).fit(table, **options)
        again = brought_back(model, tmp_path)
        for _ in range(2):
            later = model.predict(3)
            getattr(pd.testing, f"assert_{'series' if later.ndim == 1 else 'frame'}_equal")(
                again.predict(3), later
            )
            for one in (again, model):
                one.update(later)


HOLIDAY = pd.offsets.CustomBusinessDay(holidays=["2024-12-25"])


@pytest.mark.parametrize(
    ("freq", "match"),
    [
        (HOLIDAY, r"CustomBusinessDay at Forecaster\._one\.timeline\.index\.freq, .*bring back"),
        ("bh", "BusinessHour at .*save_and_load.md lists"),
        (pd.offsets.BusinessDay(offset=timedelta(hours=2)), "the frequency <BusinessDay: offset="),
    ],
)
def test_other_frequencies_are_refused(tmp_path, freq, match):
    model = fitted(pd.date_range("2024-01-01", periods=48, freq=freq))
    with pytest.raises(persistence.ModelFileError, match=match):
        persistence.save(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_other_zones_are_refused(tmp_path):
    tz = pytest.importorskip("dateutil.tz")
    model = fitted(DAYS.tz_localize(tz.tzoffset("here", 3600)))
    with pytest.raises(persistence.ModelFileError, match=r"time zone tzoffset.*use tz_convert"):
        persistence.save(model, tmp_path / "m.skops")


def test_without_pandas_the_extra_is_named(tmp_path, monkeypatch):
    persistence.save(fitted(DAYS), tmp_path / "dates.skops")
    persistence.save(clone(SIMPLE).fit(WALK), tmp_path / "array.skops")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"stored model of a series .*sparsebayes\[pandas\]"):
        persistence.load(tmp_path / "dates.skops")
    assert persistence.load(tmp_path / "array.skops").predict(2).shape == (2,)


# What nobody but an attacker writes.


def made(form, **state):
    return objects.unpack([{"class": form, "state": state}])


def dates(**changed):
    state = {"ticks": np.arange(4) * 86400, "unit": "s", "zone": None, "freq": None, "name": None}
    return made("pandas.DatetimeIndex", **(state | changed))


def offset(**changed):
    state = {"kind": "pandas.offsets.Day", "n": 1, "normalize": False, "options": []}
    return made("pandas offset", **(state | changed))


def test_what_is_changed_below_is_whole():
    assert str(dates(zone="Asia/Tokyo")[0]) == "1970-01-01 09:00:00+09:00"
    assert offset() == pd.offsets.Day()


@pytest.mark.parametrize(
    "changed",
    [
        {"zone": "dateutil//etc/passwd"},
        {"zone": "dateutil/UTC"},
        {"zone": "/etc/localtime"},
        {"zone": "Europe/../../secret"},
        {"zone": "tzlocal()"},
        {"zone": "Nowhere/Atall"},
        {"zone": 3},
        {"unit": "D"},
        {"unit": []},
        {"ticks": np.arange(4.0)},
        {"ticks": np.zeros((2, 2), dtype=int)},
        {"ticks": [1, 2]},
        {"name": []},
        {"freq": "D"},  # pandas would read it
    ],
)
def test_dates_that_are_none(changed):
    with pytest.raises(objects.Refused, match="damaged"):
        dates(**changed)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"kind": "pandas.offsets.CustomBusinessDay"}, "CustomBusinessDay, which is not trusted"),
        ({"kind": "os.system"}, "os.system, which is not trusted"),
        ({"kind": "pandas.offsets.to_offset"}, "which is not trusted"),
        ({"kind": ["pandas.offsets.Day"]}, "not trusted"),
        ({"n": 1.5}, "damaged"),
        ({"n": True}, "damaged"),
        ({"normalize": 1}, "damaged"),
        ({"options": [("offset", 1.0)]}, "damaged"),
        ({"options": [("holidays", "2024")]}, "damaged"),
        ({"options": 3}, "damaged"),
    ],
)
def test_frequencies_that_are_none(changed, match):
    with pytest.raises(objects.Refused, match=match):
        offset(**changed)


def test_periods_of_a_frequency_that_is_text():
    state = {"ordinals": np.arange(4), "freq": pd.offsets.MonthEnd(), "name": None}
    assert str(made("pandas.PeriodIndex", **state)[1]) == "1970-02"
    with pytest.raises(objects.Refused, match="a frequency that is none"):
        made("pandas.PeriodIndex", **(state | {"freq": "M"}))


def test_a_frequency_that_the_dates_do_not_have():
    with pytest.raises(objects.Refused, match="does not conform"):
        dates(freq=pd.offsets.Hour())


@pytest.mark.parametrize(
    "changed",
    [
        {"step": pd.offsets.Day(0)},
        {"step": pd.offsets.Day(-1)},
        {"step": None},
        {"step": 1},
        {"name": 3},
        {"index": DAYS[::-1]},
        {"index": DAYS[[0, 1, 1]]},
        {"index": DAYS[:0]},
        {"index": [1, 2, 3]},
        {"index": pd.RangeIndex(4)},
        {"index": pd.RangeIndex(4), "step": 0},
        {"index": pd.period_range("2020", periods=4, freq="M")},
    ],
)
def test_times_that_do_not_go_on(changed):
    state = {"name": "y", "index": DAYS, "step": pd.offsets.Day()}
    assert made("forecasting.Timeline", **state).ahead(1)[0] == pd.Timestamp("2024-04-18")
    with pytest.raises(objects.Refused, match="damaged"):
        made("forecasting.Timeline", **(state | changed))


def test_a_file_of_dates_is_no_model(tmp_path):
    state = {"kind": "pandas.offsets.Day", "n": 1, "normalize": False, "options": []}
    (tmp_path / "m.skops").write_bytes(small(row("pandas offset", **state)))
    with pytest.raises(persistence.ModelFileError, match="no estimator of sparsebayes but a Day"):
        persistence.load(tmp_path / "m.skops")
