"""Series of pandas and their indices as plain data: dates, periods and whole numbers.

Times are whole numbers with a unit, a frequency is the name of an offset of the list and its
numbers. What they are made into is checked, and compared with what was stored before it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.persistence import trusted
from sparsebayes.persistence.archive import Refused, damaged, short

Plain = dict[str, Any]

_UNITS = ("s", "ms", "us", "ns")
# Names as zoneinfo has them, and distances from UTC. Not what starts small: "dateutil/" and what
# follows it would be read as a file.
_ZONE = re.compile(r"[A-Z][\w+-]*(/[A-Z][\w+-]*)*|UTC[+-][0-9]{2}:[0-9]{2}", re.ASCII)


def _pandas() -> Any:
    return require("pandas", "A stored model of a series with an index")


def form_of(value: Any) -> str | None:
    """The name of the form of a value, None if it is nothing of pandas that can be stored."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return None
    if isinstance(value, pandas.offsets.BaseOffset):
        return "pandas offset" if trusted.name_of_offset(type(value)) else None
    if type(value) is pandas.Index:
        return "pandas.Index" if value.dtype.kind in "iu" else None
    kinds = ("DatetimeIndex", "PeriodIndex", "RangeIndex", "Series")
    return next((f"pandas.{kind}" for kind in kinds if type(value) is getattr(pandas, kind)), None)


def _take_offset(offset: Any) -> Plain:
    options = [(key, value) for key, value in offset.kwds.items() if type(value) in (int, str)]
    kind = trusted.name_of_offset(type(offset))
    state = {"kind": kind, "n": int(offset.n), "normalize": bool(offset.normalize)}
    if _make_offset(**state, options=options) != offset:
        raise Refused(f"holds the frequency {short(repr(offset))}, which a file cannot bring back")
    return {**state, "options": options}


def _make_offset(kind: Any, n: Any, normalize: Any, options: Any) -> Any:
    _pandas()
    plain = all(type(key) is str and type(value) in (int, str) for key, value in options)
    if not plain or type(n) is not int or type(normalize) is not bool:
        raise damaged("a frequency that is none")
    try:
        made = trusted.offset_named(kind)
    except KeyError:
        raise Refused(f"holds the frequency {short(kind)}, which is not trusted") from None
    return made(n, normalize, **dict(options))


def _take_dates(index: Any) -> Plain:
    zone = None if index.tz is None else str(index.tz)
    state = {"ticks": index.asi8, "unit": index.unit, "zone": zone, "name": index.name}
    try:
        same = _make_dates(**state, freq=None).equals(index)
    except Exception:  # whatever pandas says of a zone that it does not find
        same = False
    if not same:
        raise Refused(
            f"holds dates in the time zone {short(zone)}, which a file cannot bring back; use "
            "tz_convert with a name such as 'Europe/Berlin', or 'UTC'"
        )
    return {**state, "freq": index.freq}


def _make_dates(ticks: Any, unit: Any, zone: Any, freq: Any, name: Any) -> Any:
    pandas = _pandas()
    if unit not in _UNITS or not (zone is None or _ZONE.fullmatch(zone)):
        raise damaged("dates that are none")
    index = pandas.DatetimeIndex(_whole_numbers(ticks).view(f"M8[{unit}]"), name=name)
    if zone is not None:
        index = index.tz_localize("UTC").tz_convert(zone)
    if freq is not None:
        index.freq = _checked(freq)  # pandas checks that the dates have it
    return index


def _make_periods(ordinals: Any, freq: Any, name: Any) -> Any:
    pandas = _pandas()
    kind = pandas.PeriodDtype(_checked(freq))
    periods = pandas.arrays.PeriodArray(_whole_numbers(ordinals), dtype=kind)
    return pandas.PeriodIndex(periods, name=name)


def _checked(freq: Any) -> Any:
    """A frequency that is one already; pandas would read one from text, too."""
    if not isinstance(freq, _pandas().offsets.BaseOffset):
        raise damaged("a frequency that is none")
    return freq


def _whole_numbers(values: Any) -> np.ndarray:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype != np.int64:
        raise damaged("times that are none")
    return values.copy()


def _make_index(values: Any, name: Any) -> Any:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu":
        raise damaged("an index of no whole numbers")
    return _pandas().Index(values.copy(), name=name)


def _make_series(values: Any, index: Any, name: Any) -> Any:
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        raise damaged("a series of no values")
    return _pandas().Series(values.copy(), index, name=name)


def _take_series(series: Any) -> Plain:
    return {"values": np.asarray(series), "index": series.index, "name": series.name}


def _make_timeline(name: Any, index: Any, step: Any) -> Any:
    pandas = _pandas()
    good = isinstance(name, str) and isinstance(index, pandas.Index) and len(index) > 0
    if not good or index.hasnans or not (index.is_monotonic_increasing and index.is_unique):
        raise damaged("times that are not in order")
    if isinstance(index, pandas.PeriodIndex):
        good = step is None
    elif isinstance(index, pandas.DatetimeIndex):
        good = isinstance(step, pandas.offsets.BaseOffset) and index[-1] + step > index[-1]
    else:
        good = type(step) is int and step > 0
    if not good:
        raise damaged("times that do not go on")
    timeline: Any = object.__new__(trusted.class_named("forecasting.Timeline"))
    vars(timeline).update(name=name, index=index, step=step)
    return timeline


# How each is taken apart, and made again.
FORMS: dict[str, tuple[Callable[[Any], Plain], Callable[..., Any]]] = {
    "forecasting.Timeline": (lambda timeline: dict(vars(timeline)), _make_timeline),
    "pandas offset": (_take_offset, _make_offset),
    "pandas.DatetimeIndex": (_take_dates, _make_dates),
    "pandas.Index": (
        lambda index: {"values": index.to_numpy(), "name": index.name},
        _make_index,
    ),
    "pandas.PeriodIndex": (
        lambda index: {"ordinals": index.asi8, "freq": index.freq, "name": index.name},
        _make_periods,
    ),
    "pandas.RangeIndex": (
        lambda index: {
            "start": int(index.start),
            "stop": int(index.stop),
            "step": int(index.step),
            "name": index.name,
        },
        lambda start, stop, step, name: _pandas().RangeIndex(start, stop, step, name=name),
    ),
    "pandas.Series": (_take_series, _make_series),
}
