"""Series as they are given: numbers, and the times of those that have an index."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from sparsebayes._support.data import check_plain, check_size
from sparsebayes._support.optional import require
from sparsebayes.forecasting.tables.time_grid import season_lengths, time_grid
from sparsebayes.forecasting.transforms import ValueTransform

Array = np.ndarray


def _indexed(values: Any) -> bool:
    """Whether it is a Series or DataFrame of pandas, without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, (pandas.Series, pandas.DataFrame))


def _pandas() -> Any:
    return require("pandas", "A series with an index")


class Timeline:
    """The index of a series, regular and in order, and how it goes on.

    Parameters
    ----------
    index : pandas.Index
        Dates, periods or whole numbers, in order; some times of a regular grid may be missing.
    name : str
        What has the index, for messages.

    Attributes
    ----------
    index : pandas.Index
        With the missing times.
    step : pandas offset, int or None
        From one time to the next: of dates, of whole numbers; None for periods.
    """

    def __init__(self, index: Any, name: str = "y") -> None:
        self.name = name
        _check_kind_of_times(index, name)
        _check_order(index, name)
        grid = time_grid(index, name)
        self.index, self.step = grid.index, grid.step

    def seasons(self) -> tuple[float, ...]:
        """Steps in the natural cycles of the dates, shortest first: 7 and 365.25 for days."""
        return season_lengths(self.index.freq if self.step is None else self.step)

    def season(self) -> int:
        """Steps in the natural cycle of single steps, 1 if there is none; see `seasons`."""
        step = self.step if self.step is not None else self.index.freq
        try:
            rule = step.rule_code.split("-")[0]
        except (AttributeError, NotImplementedError):
            rule = "MS" if getattr(step, "kwds", {}).get("months") == 1 else ""
        return _SEASONS.get(rule, 1) if getattr(step, "n", 1) == 1 else 1

    def ahead(self, horizon: int) -> Any:
        """The index of the next steps."""
        pandas, last = _pandas(), self.index[-1]
        if isinstance(self.index, pandas.DatetimeIndex):
            later = pandas.date_range(last, periods=horizon + 1, freq=self.step)
            later = later[later > last][:horizon]
            return later.rename(self.index.name)
        if isinstance(self.index, pandas.PeriodIndex):
            return pandas.period_range(
                last + 1, periods=horizon, freq=self.index.freq, name=self.index.name
            )
        first = int(last) + self.step
        return pandas.RangeIndex(
            first, first + horizon * self.step, self.step, name=self.index.name
        )

    def series_ahead(self, values: Array, name: Any) -> Any:
        """Values of the next steps as a Series."""
        return _pandas().Series(values, self.ahead(len(values)), name=name)

    def frame_ahead(self, values: Array, columns: Any = None) -> Any:
        """The same of several values for each step, (horizon, K), as a DataFrame."""
        return _pandas().DataFrame(values, self.ahead(len(values)), columns)

    def extended(self, index: Any, name: str) -> Timeline:
        """This timeline with `index` after it, which must go on where this one ends."""
        self.check_ahead(index, name)
        return self._joined(index)

    def check_ahead(self, index: Any, name: str) -> None:
        """`index` goes on where this one ends, or a clear error."""
        expected = self.ahead(len(index))
        self._check_kind(index, name)
        wrong = np.flatnonzero(np.asarray(index != expected))
        if wrong.size:
            i = int(wrong[0])
            raise ValueError(
                f"The index of {name} must go on where {self.name} ends, at "
                f"{self.index[-1]}: position {i} should be {expected[i]}, got {index[i]}."
            )

    def _check_kind(self, index: Any, name: str) -> None:
        own = self.index
        if index.dtype.kind in "iu" and own.dtype.kind in "iu":
            return
        zoned = [getattr(times, "tz", None) is not None for times in (index, own)]
        alike = type(index) is type(own) and zoned[0] == zoned[1]
        if not alike or (index.dtype.kind == "O" and index.dtype != own.dtype):
            raise ValueError(
                f"The index of {name} must be like that of {self.name} ({type(own).__name__}), got "
                f"{type(index).__name__} of {index.dtype} where that is of {own.dtype}."
            )

    def later(self, index: Any, values: Array, name: str) -> tuple[Timeline, Array]:
        """This timeline with times after it, some of which may be left out.

        Parameters
        ----------
        index : pandas.Index or None
            In order, after this timeline and on its grid. None: the next times.
        values : ndarray, (n, ...)
            What is known at these times.
        name : str
            What has them, for messages.

        Returns
        -------
        timeline : Timeline
            Up to the last of these times.
        values : ndarray, (m, ...)
            Those of all times after the old timeline, NaN at the times that were left out.
        """
        if index is None or not len(values):
            return self._joined(self.ahead(len(values))), values
        self._check_kind(index, name)
        _check_order(index, name)
        last = self.index[-1]
        if index[0] <= last:
            raise ValueError(
                f"The index of {name} must go on where {self.name} ends, at {last}: position 0 "
                f"should be {self.ahead(1)[0]} or later, got {index[0]}."
            )
        between = self._up_to(index[-1], name, len(index))
        places = between.get_indexer(index)
        wrong = np.flatnonzero(places < 0)
        if wrong.size:
            i = int(wrong[0])
            steps = self.ahead(len(between) + 1)
            raise ValueError(
                f"The index of {name} must go on in the steps of {self.name}, which ends at "
                f"{last}: {index[i]} at position {i} is none of them; the next one is "
                f"{steps[steps > index[i]][0]}."
            )
        complete = np.full((len(between), *values.shape[1:]), np.nan)
        complete[places] = values
        return self._joined(between), complete

    def _joined(self, later: Any) -> Timeline:
        longer = object.__new__(Timeline)
        longer.name, longer.step = self.name, self.step
        longer.index = self.index.append(later)
        return longer

    def _up_to(self, end: Any, name: str, count: int) -> Any:
        """The next steps up to a time, or a clear error if it is too far to be meant."""
        pandas, first, last = _pandas(), self.index[0], self.index[-1]
        dated = isinstance(self.index, pandas.DatetimeIndex)
        most, size = 2 * (len(self.index) + count) + 1000, len(self.index)
        if isinstance(self.index, pandas.PeriodIndex):
            steps = (end - last).n / self.index.freq.n
        elif not dated:
            steps = (end - last) / self.step
        else:
            steps = (end - last) / ((last - first) / (size - 1)) if size > 1 else 0.0
        if steps > most:
            raise ValueError(
                f"The index of {name} must go on where {self.name} ends, at {last}: {end} is more "
                f"than {most} steps later."
            )
        if dated:
            return pandas.date_range(last, end, freq=self.step, inclusive="right")
        return self.ahead(int(steps))


# Steps of a year, a week or a day, by pandas' name of one step without its anchor.
_SEASONS = {
    **dict.fromkeys(("M", "ME", "MS", "BM", "BME", "BMS"), 12),
    **dict.fromkeys(("Q", "QE", "QS", "BQ", "BQE", "BQS"), 4),
    **dict.fromkeys(("W",), 52),
    **dict.fromkeys(("D",), 7),
    **dict.fromkeys(("B",), 5),
    **dict.fromkeys(("H", "h"), 24),
}


def _check_kind_of_times(index: Any, name: str) -> None:
    pandas = _pandas()
    dated = isinstance(index, (pandas.DatetimeIndex, pandas.PeriodIndex))
    if not dated and index.dtype.kind not in "iu":
        raise ValueError(
            f"The index of {name} must be dates, periods or whole numbers, got "
            f"{type(index).__name__} of {index.dtype}; convert it, for instance with "
            f"pandas.to_datetime({name}.index), or pass {name}.to_numpy()."
        )


def _check_order(index: Any, name: str) -> None:
    missing = np.flatnonzero(index.isna())
    if missing.size:
        raise ValueError(
            f"The index of {name} has no time at position {missing[0]}; drop that row."
        )
    twice = np.flatnonzero(index.duplicated())
    if twice.size:
        i = int(twice[0])
        raise ValueError(
            f"The index of {name} has {index[i]} more than once, again at position {i}; keep "
            f"one, for instance with {name}.groupby(level=0).mean()."
        )
    if not index.is_monotonic_increasing:
        i = int(np.flatnonzero(index[1:] < index[:-1])[0]) + 1
        raise ValueError(
            f"The index of {name} is not in order: {index[i]} at position {i} comes after "
            f"{index[i - 1]}; use {name}.sort_index()."
        )


def read_series(
    y: Any, name: str = "y", least: int = 1, *, complete: bool = True
) -> tuple[Array, Any, Any]:
    """A series as it is given: numbers, times and name.

    Parameters
    ----------
    y : array-like or pandas.Series, (N,), or one column
        NaN, None and pandas' NA are missing values.
    name : str, default="y"
        What it is, for messages.
    least : int, default=1
        The number of values that must be known.
    complete : bool, default=True
        Whether times that the index leaves out of a regular grid are put in, with NaN. Few later
        times show no grid: give those to `Timeline.later`.

    Returns
    -------
    values : ndarray, (M,)
        NaN where they are missing.
    index : pandas.Index or None
    label
        Name of the series, None for arrays.
    """
    index = label = None
    if _indexed(y):
        index = y.index
        if y.ndim == 2:
            if y.shape[1] != 1:
                raise ValueError(
                    f"{name} must be one series, got a DataFrame of {y.shape[1]} columns; "
                    "choose one."
                )
            y = y.iloc[:, 0]
        label = y.name
    values = _numbers(y, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must have shape (n_times,), got {values.shape}.")
    _check_values(values, index, name, least)
    if complete and index is not None and _has_grid(index):
        _check_kind_of_times(index, name)
        _check_order(index, name)
        grid = time_grid(index, name)
        if len(grid.index) > len(values):
            known, values = values, np.full(len(grid.index), np.nan)
            values[grid.places], index = known, grid.index
    return values, index, label


def _has_grid(index: Any) -> bool:
    """Whether there are enough times to tell; fewer are complained of where they do not suffice."""
    return len(index) > 2 or getattr(index, "freq", None) is not None


def _check_values(values: Array, index: Any, name: str, least: int) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        i = int(infinite[0])
        raise ValueError(
            f"{name} has {values[i]} at {_place(i, index)}; put NaN there if the value is missing."
        )
    known = int(np.isfinite(values).sum())
    if least and values.size and not known:
        raise ValueError(
            f"{name} has no value that is known: all {values.size} are missing (NaN); give at "
            f"least {least}."
        )
    if known < least:
        raise ValueError(f"{name} must have at least {least} value(s), got {known}.")


def given_index(y: Any) -> Any:
    """The index of a series as it is given, None if it is no series of pandas."""
    return y.index if _indexed(y) else None


def read_inputs(X: Any, name: str = "X") -> tuple[Array, Any]:
    """Exogenous inputs (N, K) as floats, and the index of pandas or None."""
    index = X.index if _indexed(X) else None
    values = _numbers(X, name)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise ValueError(f"{name} must have shape (n_times, n_inputs), got {values.shape}.")
    _check_finite(values, index, name)
    return values, index


def _numbers(values: Any, name: str) -> Array:
    """As floats whose squares are numbers, with NaN for what is missing."""
    try:
        array = np.asarray(check_plain(name, values, gaps=True))
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        if array.dtype.kind == "O":
            array = np.where(_absent(array), np.nan, array)
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}") from error
    check_size(name, array[np.isfinite(array)])
    return array


def _absent(array: Array) -> Array:
    """Where an array of objects has None or pandas' NA."""
    pandas = sys.modules.get("pandas")
    nothing = (None,) if pandas is None else (None, pandas.NA)
    found = [any(value is none for none in nothing) for value in array.ravel()]
    return np.array(found, dtype=bool).reshape(array.shape)


def check_range(y: Array, transform: ValueTransform, name: str) -> None:
    """All known values have a logarithm or a root, if that is modelled, or a clear error."""
    if transform.parameter is None:
        return
    low = y <= 0 if transform.parameter == "log" else y < 0
    wrong = np.flatnonzero(low)
    if wrong.size:
        kind = {"log": "logarithm", "sqrt": "root"}[transform.parameter]
        raise ValueError(
            f"{name} has {y[wrong[0]]:g} at position {wrong[0]}, which has no {kind}; fit with "
            "transform=None."
        )


def _place(i: int, index: Any) -> str:
    return f"position {i}" if index is None else f"position {i} ({index[i]})"


def _check_finite(values: Array, index: Any, name: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"{name} has {values[tuple(bad[0])]} at {_place(int(bad[0][0]), index)}; fill such "
            "values, for instance with pandas' interpolate(), or drop the part of the series "
            "before them."
        )
