"""Series as they are given: numbers, and the times of those that have an index."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from sparsebayes._support.optional import require

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
        Dates, periods or whole numbers.
    name : str
        What has the index, for messages.
    """

    def __init__(self, index: Any, name: str = "y") -> None:
        pandas = _pandas()
        self.name = name
        dated = isinstance(index, (pandas.DatetimeIndex, pandas.PeriodIndex))
        if not dated and index.dtype.kind not in "iu":
            raise ValueError(
                f"The index of {name} must be dates, periods or whole numbers, got "
                f"{type(index).__name__} of {index.dtype}; convert it, for instance with "
                f"pandas.to_datetime({name}.index), or pass {name}.to_numpy()."
            )
        self._check_order(index)
        self.step: Any = None
        if isinstance(index, pandas.DatetimeIndex):
            self.step = self._frequency(index)
        elif isinstance(index, pandas.PeriodIndex):
            self._check_steps(index, index.asi8, 1)
        elif len(index) > 1:
            numbers = index.to_numpy()
            self.step = int(numbers[1]) - int(numbers[0])
            self._check_steps(index, numbers, self.step)
        else:
            self.step = 1
        self.index = index

    def _check_order(self, index: Any) -> None:
        name = self.name
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

    def _check_steps(self, index: Any, numbers: Array, step: int) -> None:
        wrong = np.flatnonzero(np.diff(numbers) != step)
        if wrong.size:
            i = int(wrong[0])
            raise ValueError(
                f"The index of {self.name} has a gap: {index[i]} at position {i} is followed by "
                f"{index[i + 1]}; add the missing rows with values, for instance by "
                f"{self.name}.reindex(...).interpolate()."
            )

    def _frequency(self, index: Any) -> Any:
        """The offset between dates, which may differ in length as months do."""
        pandas = _pandas()
        if index.freq is not None:
            return index.freq
        if len(index) < 3:
            raise ValueError(
                f"The index of {self.name} has {len(index)} dates and no frequency, which cannot "
                f"be inferred from fewer than 3; set it with {self.name}.asfreq(...)."
            )
        found = pandas.infer_freq(index)
        if found is not None:
            return pandas.tseries.frequencies.to_offset(found)
        for part in (index[:12], index[-12:], index[:3], index[-3:]):
            found = pandas.infer_freq(part) if len(part) > 2 else None
            if found is None:
                continue
            expected = pandas.date_range(index[0], index[-1], freq=found)
            if index.isin(expected).all():
                gap = expected.difference(index)[0]
                raise ValueError(
                    f"The index of {self.name} has a gap: {gap} is missing before position "
                    f"{index.searchsorted(gap)}; fill it, for instance with "
                    f"{self.name}.asfreq({found!r}).interpolate()."
                )
        steps = np.diff(index.asi8)
        i = int(np.flatnonzero(steps != np.median(steps))[0])
        raise ValueError(
            f"The index of {self.name} is irregular: {index[i]} at position {i} is followed by "
            f"{index[i + 1]}, unlike the others; bring it to regular times, for instance with "
            f"{self.name}.resample('D').mean().interpolate()."
        )

    def season(self) -> int:
        """Steps in the natural cycle of the dates, 1 if there is none."""
        step = self.step if self.step is not None else self.index.freq
        rule = str(getattr(step, "rule_code", getattr(step, "name", ""))).split("-")[0]
        if getattr(step, "n", 1) != 1:
            return 1
        return _SEASONS.get(rule, 1)

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
        longer = object.__new__(Timeline)
        longer.name, longer.step = self.name, self.step
        longer.index = self.index.append(index)
        return longer

    def check_ahead(self, index: Any, name: str) -> None:
        """`index` goes on where this one ends, or a clear error."""
        expected = self.ahead(len(index))
        whole = index.dtype.kind in "iu" and expected.dtype.kind in "iu"
        if not whole and type(index) is not type(expected):
            raise ValueError(
                f"The index of {name} must be like that of {self.name} "
                f"({type(self.index).__name__}), got {type(index).__name__} of {index.dtype}."
            )
        wrong = np.flatnonzero(np.asarray(index != expected))
        if wrong.size:
            i = int(wrong[0])
            raise ValueError(
                f"The index of {name} must go on where {self.name} ends, at "
                f"{self.index[-1]}: position {i} should be {expected[i]}, got {index[i]}."
            )


# Steps of a year, a week or a day, by pandas' name of one step without its anchor.
_SEASONS = {
    **dict.fromkeys(("M", "ME", "MS", "BM", "BME", "BMS"), 12),
    **dict.fromkeys(("Q", "QE", "QS", "BQ", "BQE", "BQS"), 4),
    **dict.fromkeys(("W",), 52),
    **dict.fromkeys(("D",), 7),
    **dict.fromkeys(("B",), 5),
    **dict.fromkeys(("H", "h"), 24),
}


def read_series(y: Any, name: str = "y", least: int = 1) -> tuple[Array, Any, Any]:
    """The values (N,) as floats, the index of pandas or None, and the name of the series."""
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
    if values.size < least:
        raise ValueError(f"{name} must have at least {least} value(s), got {values.size}.")
    _check_finite(values, index, name)
    return values, index, label


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
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}") from error


def check_positive(y: Array, name: str) -> None:
    """All values have a logarithm, or a clear error."""
    wrong = np.flatnonzero(y <= 0)
    if wrong.size:
        raise ValueError(
            f"{name} has {y[wrong[0]]:g} at position {wrong[0]}, which has no logarithm; fit "
            "with transform=None."
        )


def _check_finite(values: Array, index: Any, name: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        i = int(bad[0][0])
        where = f"position {i}" if index is None else f"position {i} ({index[i]})"
        raise ValueError(
            f"{name} has {values[tuple(bad[0])]} at {where}; fill such values, for instance with "
            "pandas' interpolate(), or drop the part of the series before them."
        )
