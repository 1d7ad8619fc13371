"""Regular grids of times: which one an index lies on, and the times that it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._support.optional import require

Array = np.ndarray

_MISSING = 0.25  # of the times of a grid may be left out,
_OUTAGE, _STEADY = 0.5, 0.9  # or so many, if this share of the steps is of one unit: few long gaps
_LEAST = 3  # dates from which a frequency can be told


@dataclass(frozen=True)
class TimeGrid:
    """Times at equal steps, and where those of an index are among them.

    Attributes
    ----------
    step : pandas offset, int or None
        From one time to the next: of dates, of whole numbers; None for periods.
    index : pandas.Index
        All times, from the first to the last that were given.
    places : ndarray of int
        Positions of the given times.
    """

    step: Any
    index: Any
    places: Array


def time_grid(index: Any, name: str) -> TimeGrid:
    """The grid of an index that is in order, or a clear error if it is irregular."""
    pandas = require("pandas", "A series with an index")
    if isinstance(index, pandas.DatetimeIndex):
        return _of_dates(index, name)
    if isinstance(index, pandas.PeriodIndex):
        return _of_periods(index, name)
    return _of_numbers(index, name)


def _whole(step: Any, index: Any) -> TimeGrid:
    return TimeGrid(step, index, np.arange(len(index)))


def _of_numbers(index: Any, name: str) -> TimeGrid:
    pandas = require("pandas", "A series with an index")
    if len(index) < 2:
        return _whole(1, index)
    steps = np.diff(index.to_numpy().astype(np.int64))
    step = _most_common(steps)
    if (steps == step).all():
        return _whole(step, index)
    first, stop = int(index[0]), int(index[-1]) + 1
    if (steps % step).any():
        _irregular(index, steps, name, f"{name}.to_numpy() if the steps are equal in time")
    remedy = f"{name}.reindex(range({first}, {stop}, {step}))"
    places = np.concatenate([[0], np.cumsum(steps // step)])
    _check_missing(places, index, name, f"steps of {step}", remedy)
    complete = pandas.RangeIndex(first, stop, step, name=index.name)
    return TimeGrid(step, complete, places)


def _of_periods(index: Any, name: str) -> TimeGrid:
    pandas = require("pandas", "A series with an index")
    places = (index.asi8 - index.asi8[:1]) // index.freq.n
    if len(index) < 2 or places[-1] + 1 == len(index):
        return _whole(None, index)
    remedy = (
        f"{name}.reindex(pandas.period_range({name}.index[0], {name}.index[-1], "
        f"freq={index.freqstr!r}))"
    )
    _check_missing(places, index, name, f"freq={index.freqstr!r}", remedy)
    complete = pandas.period_range(index[0], index[-1], freq=index.freq, name=index.name)
    return TimeGrid(None, complete, places)


def _of_dates(index: Any, name: str) -> TimeGrid:
    """Dates, whose steps may differ in length as months do."""
    pandas = require("pandas", "A series with an index")
    if index.freq is not None:
        return _whole(index.freq, index)
    if len(index) < _LEAST:
        raise ValueError(
            f"The index of {name} has {len(index)} dates and no frequency, which cannot be "
            f"inferred from fewer than {_LEAST}; set it with {name}.asfreq(...)."
        )
    found = _inferred(index)
    if found is not None and not _of_weekday(found):
        return _whole(found, index)
    sparse = None
    for offset, places in (*_weekday_of_month(index, found), *_candidates(index)):
        if not too_sparse(places):
            grid = _completed(index, offset, places)
            if grid is not None:
                return grid
        elif sparse is None:
            sparse = offset, places
    steps = np.diff(index.asi8)
    bins = _bins(pandas.Timedelta(np.timedelta64(int(np.median(steps)), index.unit)))
    remedy = f"{name}.resample({bins!r}).mean()"
    if sparse is not None:
        freq = pandas.tseries.frequencies.to_offset(sparse[0])
        text = getattr(freq, "freqstr", str(freq))
        remedy += f", or {name}.asfreq({text!r}) if they are missing indeed"
        _check_missing(sparse[1], index, name, f"freq={text!r}", remedy)
    _irregular(index, steps, name, remedy)
    raise AssertionError  # one of the two has raised


def _inferred(index: Any) -> Any:
    """The offset between all dates, None if they differ."""
    pandas = require("pandas", "A series with an index")
    asked = "future.infer_freq_returns_offset"  # since pandas 3.1; before, it is a string
    known = hasattr(pandas.options.future, asked.partition(".")[2])
    with pandas.option_context(asked, True) if known else nullcontext():
        return pandas.tseries.frequencies.to_offset(pandas.infer_freq(index))


def _of_weekday(offset: Any) -> bool:
    """Whether it is one such as the third Friday of a month."""
    return offset.freqstr.startswith("WOM")


def _weekday_of_month(index: Any, found: Any) -> Iterator[tuple[Any, Array]]:
    """Such as the third Friday, which pandas infers also of every third month or with gaps."""
    if found is not None:
        months = (12 * index.year + index.month).to_numpy().astype(np.int64)
        n = _most_common(np.diff(months))
        if not (np.diff(months) % n).any():
            yield n * found, (months - months[0]) // n


def _candidates(index: Any) -> Iterator[tuple[Any, Array]]:
    """Steps between dates, the likely ones first, and the number of each date on their grids."""
    pandas = require("pandas", "A series with an index")
    local = index.tz_localize(None)
    days = local.normalize()
    if (local - days).nunique() == 1:
        months = (12 * local.year + local.month).to_numpy().astype(np.int64)
        between = np.diff(months)
        if between.min() >= 1:
            step = _most_common(between)
            if not (between % step).any():
                for offset in _monthly(local, step):
                    yield offset, (months - months[0]) // step
        numbers = days.to_numpy().astype("datetime64[D]")
        between = np.diff(numbers).astype(np.int64)
        step = _most_common(between)
        if step == 1 and (days.day_of_week < 5).all() and (between >= 3).any():
            business = np.busday_count(numbers[0], numbers)
            yield pandas.offsets.BusinessDay(1), np.asarray(business, dtype=np.int64)
        if not (between % step).any():
            yield pandas.offsets.Day(step), np.concatenate([[0], np.cumsum(between // step)])
    ticks = np.diff(index.asi8)
    step = _most_common(ticks)
    length = pandas.Timedelta(np.timedelta64(step, index.unit))
    if length < pandas.Timedelta(days=1) and not (ticks % step).any():
        offset = pandas.tseries.frequencies.to_offset(length)
        yield offset, np.concatenate([[0], np.cumsum(ticks // step)])


def _monthly(local: Any, n: int) -> Iterator[Any]:
    """Offsets of n months that keep the place in the month which all dates have."""
    offsets = require("pandas", "A series with an index").offsets
    kinds = (
        offsets.MonthBegin,
        offsets.MonthEnd,
        offsets.BusinessMonthBegin,
        offsets.BusinessMonthEnd,
    )
    for kind in kinds:
        if all(map(kind().is_on_offset, local)):
            yield kind(n)
    day = int(local.day.max())
    if (local.day == np.minimum(day, local.days_in_month)).all():
        yield offsets.DateOffset(months=n, day=day)


def _completed(index: Any, offset: Any, places: Array) -> TimeGrid | None:
    """All dates of a grid, under pandas' usual name of its frequency; None if the given differ."""
    pandas = require("pandas", "A series with an index")
    complete = pandas.date_range(index[0], periods=int(places[-1]) + 1, freq=offset)
    if len(complete) <= places[-1] or (complete[places] != index).any():
        return None
    usual = _inferred(complete)
    if usual is not None and not _of_weekday(usual):
        complete.freq = usual
    complete = complete.as_unit(index.unit).rename(index.name)
    return TimeGrid(complete.freq, complete, places)


def _most_common(steps: Array) -> int:
    """The shortest of the most common steps."""
    values, counts = np.unique(steps, return_counts=True)
    return int(values[np.argmax(counts)])


def too_sparse(places: Array) -> bool:
    """Whether too much of a grid is missing to believe in it."""
    missing = 1.0 - len(places) / (int(places[-1]) + 1)
    steady = np.mean(np.diff(places) == 1)
    return bool(missing > (_OUTAGE if steady >= _STEADY else _MISSING))


def _check_missing(places: Array, index: Any, name: str, grid: str, remedy: str) -> None:
    if too_sparse(places):
        size = int(places[-1]) + 1
        raise ValueError(
            f"The index of {name} is irregular: with {grid} from {index[0]} to {index[-1]}, "
            f"{size - len(places)} of {size} times are missing, too many; bring it to regular "
            f"times, for instance with {remedy}."
        )


def _irregular(index: Any, steps: Array, name: str, remedy: str) -> None:
    i = int(np.flatnonzero(steps != np.sort(steps)[len(steps) // 2])[0])
    raise ValueError(
        f"The index of {name} is irregular: {index[i]} at position {i} is followed by "
        f"{index[i + 1]}, unlike the others; bring it to regular times, for instance with "
        f"{remedy}."
    )


def _bins(step: Any) -> str:
    """A frequency of pandas, about as long as most steps or longer."""
    lengths = {"min": 60, "h": 3600, "D": 86400, "W": 7 * 86400, "MS": 31 * 86400}
    for freq, seconds in lengths.items():
        if step.total_seconds() <= 1.1 * seconds:
            return freq
    return "YS"


# Seconds, and steps of a month, of pandas' names of one step without anchor.
_SECONDS = {"D": 86400.0, "W": 7 * 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3}
_MONTHS = {
    **dict.fromkeys(("M", "ME", "MS", "BM", "BME", "BMS", "CBME", "CBMS", "WOM", "LWOM"), 1.0),
    **dict.fromkeys(("Q", "QE", "QS", "BQ", "BQE", "BQS"), 3.0),
    **dict.fromkeys(("Y", "YE", "YS", "BY", "BYE", "BYS", "A"), 12.0),
    **dict.fromkeys(("SM", "SME", "SMS"), 0.5),
}
_MINUTE, _HOUR, _DAY, _WEEK, _YEAR = 60.0, 3600.0, 86400.0, 7 * 86400.0, 365.25 * 86400.0
# Cycles that matter for steps of at least so many seconds.
_CYCLES = (
    (_WEEK, (_YEAR,)),
    (_DAY, (_WEEK, _YEAR)),
    (_HOUR, (_DAY, _WEEK, _YEAR)),
    (5 * _MINUTE, (_DAY, _WEEK)),
    (_MINUTE, (_HOUR, _DAY)),
    (1.0, (_MINUTE, _HOUR)),
)


def season_lengths(step: Any) -> tuple[float, ...]:
    """Steps in the natural cycles of a step between dates or periods, shortest first."""
    months = getattr(step, "kwds", {}).get("months")
    try:
        rule = step.rule_code.split("-")[0]
    except (AttributeError, NotImplementedError):  # numbers, and offsets without a name
        rule = ""
    n = getattr(step, "n", 1)
    months = _MONTHS.get(rule, months)
    if months is not None:
        return _whole_cycles([12.0 / (n * months)])
    if rule in ("B", "C"):
        return (*_whole_cycles([5.0 / n]), 365.25 * 5.0 / 7.0 / n)
    seconds = n * _SECONDS.get(rule, 0.0)
    for least, cycles in _CYCLES:
        if seconds >= least:
            lengths = [cycle / seconds for cycle in cycles if cycle != _YEAR]
            year = _YEAR / seconds
            yearly = _whole_cycles([year]) or ((year,) if year > 2.0 else ())
            return _whole_cycles(lengths) + (yearly if _YEAR in cycles else ())
    return ()


def _whole_cycles(lengths: list[float]) -> tuple[float, ...]:
    """Those of at least two steps that are whole numbers, as such."""
    return tuple(
        round(length) for length in lengths if length > 1.5 and abs(length - round(length)) < 1e-6
    )
