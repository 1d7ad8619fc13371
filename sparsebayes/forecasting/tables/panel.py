"""Panels: several series in one table, and their results put together in the same form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.forecasting.tables.timeline import Timeline, given_index

Array = np.ndarray


@dataclass(frozen=True)
class Panel:
    """Several series.

    Attributes
    ----------
    names : list
        What tells the series apart: columns, values of the id, or tuples of several.
    series : list of pandas.Series or ndarray
        In the same order.
    form : {"arrays", "wide", "levels", "long"}
        How they were given: columns of an array or of a DataFrame, the levels of an index before
        the last, or the rows of a long table.
    labels : tuple
        Names for tables of results. "wide": those of the levels of the columns; "levels": those
        of the levels of the index; "long": those of the columns of ids, times and values.
    value : object, default=None
        Name of the values of "levels"; the column, if they were a DataFrame.
    framed : bool, default=False
        Whether "levels" were a DataFrame.
    counted : bool, default=False
        Whether the times of "long" are the numbers of the rows of each series.
    starts : tuple of int, default=()
        Of "arrays" and "wide": how many rows each series leaves out at its beginning.
    rows : ndarray of int, default=None
        Of "arrays" and "wide": for each time the row of the table, or the row before where the
        table leaves that time out.
    """

    names: list[Any]
    series: list[Any]
    form: str
    labels: tuple[Any, ...] = ()
    value: Any = None
    framed: bool = False
    counted: bool = False
    starts: tuple[int, ...] = ()
    rows: Array | None = None


def as_panel(y: Any, id: Any = None, *, trim: bool = True) -> Panel | None:
    """The series of a table, or None if it is a single one.

    Parameters
    ----------
    y : DataFrame, Series or ndarray
        A DataFrame of several columns, one for each series; a Series or a DataFrame of one column
        whose index has several levels, the last of which is the time; with `id` a long table; or
        an array of shape (n_times, n_series). In columns of a table or an array, missing values
        before the first known one are left out: the series began later.
    id : str, default=None
        The column of a long table that tells the series apart. Times are its column of dates or
        periods, or else its index, or the number of the row in its series if the index only
        counts rows. Values are the one column that remains.
    trim : bool, default=True
        Whether the beginning of a column without values is left out; not of later values.

    Returns
    -------
    panel : Panel or None
    """
    index = given_index(y)
    if id is not None:
        return _long(y, id, index)
    if index is None:
        many = isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] > 1
        return _arrays(y, trim) if many else None
    if index.nlevels > 1:
        return _levels(y)
    return _wide(y, trim) if y.ndim == 2 and y.shape[1] > 1 else None


def _arrays(y: Array, trim: bool) -> Panel:
    names = list(range(y.shape[1]))
    series, starts = [], []
    for name in names:
        values = np.asarray(y[:, name])
        missing = np.array([value is None or value != value for value in values], dtype=bool)
        starts.append(_first_known(missing, name) if trim else 0)
        series.append(values[starts[-1] :])
    return Panel(names, series, "arrays", starts=tuple(starts), rows=np.arange(len(y)))


def _wide(y: Any, trim: bool) -> Panel:
    pandas = require("pandas", "A panel with an index")
    twice = y.columns[y.columns.duplicated()]
    if len(twice):
        raise ValueError(f"y has the column {twice[0]!r} more than once; rename or drop one.")
    texts = [name for name in y.columns if not _numeric(y[name])]
    if texts:
        raise ValueError(
            f"y has columns that hold no numbers, {listed(texts)}; drop them, or give id=... if "
            "one of them tells the series of a long table apart."
        )
    rows = np.arange(len(y))
    if isinstance(y.index, pandas.DatetimeIndex) and y.index.freq is None and len(y) > 2:
        complete = Timeline(y.index).index
        rows = np.maximum.accumulate(y.index.get_indexer(complete))
        y = y.reindex(complete)
    names = list(y.columns)
    series, starts = [], []
    for name in names:
        missing = y[name].isna().to_numpy()
        starts.append(_first_known(missing, name) if trim else 0)
        series.append(y[name].iloc[starts[-1] :])
    labels = tuple(y.columns.names)
    return Panel(names, series, "wide", labels, starts=tuple(starts), rows=rows)


def _levels(y: Any) -> Panel:
    framed = y.ndim == 2
    if framed:
        if y.shape[1] != 1:
            raise ValueError(
                f"y must have one column of values besides the levels of its index, got "
                f"{listed(y.columns)}; choose one."
            )
        y = y.iloc[:, 0]
    ids = list(range(y.index.nlevels - 1))
    names, series = [], []
    for name, values in y.groupby(level=ids if len(ids) > 1 else 0, sort=False, dropna=False):
        names.append(name)
        series.append(values.droplevel(ids))
    return Panel(names, series, "levels", tuple(y.index.names), y.name, framed)


def _long(y: Any, id: Any, index: Any) -> Panel:
    pandas = require("pandas", "A long table of series")
    if index is None or y.ndim != 2:
        raise ValueError(f"id={id!r} needs a long DataFrame, got {type(y).__name__}.")
    if index.nlevels > 1:
        raise ValueError(
            f"id={id!r} is for long tables, but the index of y has {index.nlevels} levels, which "
            "tell series apart already; leave id out or use y.reset_index()."
        )
    if id not in y.columns:
        raise ValueError(f"id={id!r} must be a column of y, which has {listed(y.columns)}.")
    missing = np.flatnonzero(y[id].isna())
    if missing.size:
        raise ValueError(f"y has no {id!r} at position {missing[0]}; drop that row.")
    rest = [name for name in y.columns if name != id]
    dates = [name for name in rest if _dated(y[name])]
    values = [name for name in rest if name not in dates and _numeric(y[name])]
    if len(dates) > 1 or len(values) != 1 or len(rest) != len(dates) + 1:
        raise ValueError(
            f"y must have one column of values and at most one of times besides {id!r}, got "
            f"{listed(rest)}; choose columns, make times of text with pandas.to_datetime, and put "
            "times that are numbers into the index."
        )
    counted = (
        not dates
        and isinstance(index, pandas.RangeIndex)
        and index.equals(pandas.RangeIndex(len(y)))
    )
    names, series = [], []
    for name, rows in y.groupby(id, sort=False, observed=True):
        found = rows[values[0]]
        if dates:
            times = rows[dates[0]]
            empty = np.flatnonzero(times.isna())
            if empty.size:
                raise ValueError(
                    f"Series {name!r} has no {dates[0]!r} at index {rows.index[empty[0]]}; drop "
                    "that row."
                )
            found = found.set_axis(pandas.Index(times, name=dates[0]))
        elif counted:
            found = found.set_axis(pandas.RangeIndex(len(found)))
        names.append(name)
        series.append(found.sort_index(kind="stable"))
    time = dates[0] if dates else index.name if index.name is not None else "time"
    return Panel(names, series, "long", (id, time, values[0]), counted=counted)


def together(panel: Panel, results: Mapping[Any, Any]) -> Any:
    """Results of all series in the form in which these were given.

    Parameters
    ----------
    panel : Panel
    results : mapping of name to result
        For each series a Series or an array of one value for each time, a DataFrame of several,
        such as lower and upper, or a tuple of these.

    Returns
    -------
    result : ndarray, Series, DataFrame or tuple
        "arrays": (n_times, n_series). "wide": a DataFrame with a column for each series, or with
        the levels series and column. "levels": with the levels of the given index. "long": a
        table with columns of ids, times and values. Of tuples a tuple of these.
    """
    absent = [name for name in panel.names if name not in results]
    if absent or len(results) != len(panel.names):
        raise ValueError(
            f"results must have one for each of the {len(panel.names)} series, got "
            f"{len(results)}{f' and none for {absent[0]!r}' if absent else ''}."
        )
    found = [results[name] for name in panel.names]
    if isinstance(found[0], tuple):
        parts = zip(*found, strict=True)
        return tuple(together(panel, dict(zip(panel.names, p, strict=True))) for p in parts)
    if panel.form == "arrays":
        return np.stack([np.asarray(values) for values in found], axis=1)
    pandas = require("pandas", "A panel with an index")
    if panel.form == "wide":
        return _columns(panel, found)
    *ids, time = panel.labels[:2] if panel.form == "long" else panel.labels
    if panel.form == "levels":
        stacked = pandas.concat(found, keys=panel.names, names=[*ids, time])
        if stacked.ndim == 2:
            return stacked
        return stacked.to_frame(panel.value) if panel.framed else stacked.rename(panel.value)
    value = panel.labels[2]
    tables = []
    for name, values in zip(panel.names, found, strict=True):
        table = values.to_frame(value) if values.ndim == 1 else values.copy()
        table.insert(0, time, values.index)
        table.insert(0, ids[0], name)
        tables.append(table)
    return pandas.concat(tables, ignore_index=True)


def _columns(panel: Panel, found: list[Any]) -> Any:
    pandas = require("pandas", "A panel with an index")
    index = found[0].index
    for values in found[1:]:
        if not index.equals(values.index):
            index = index.union(values.index)
    aligned = [v if index.equals(v.index) else v.reindex(index) for v in found]
    table = pandas.concat(aligned, axis=1, keys=panel.names)
    if found[0].ndim == 1:
        table.columns = table.columns.set_names(panel.labels)
    else:
        table.columns = table.columns.set_names([*panel.labels, *found[0].columns.names])
    table.index = index
    return table


def _first_known(missing: Array, name: Any) -> int:
    if missing.all():
        raise ValueError(
            f"Series {name!r} has no value that is known: all {missing.size} are missing (NaN); "
            "drop it."
        )
    return int(np.argmin(missing))


def _numeric(column: Any) -> bool:
    """Whether a column may hold numbers; objects may."""
    if column.dtype.kind == "O" and not hasattr(column, "cat"):
        return all(not isinstance(value, str) for value in column)
    return column.dtype.kind in "biuf"


def _dated(column: Any) -> bool:
    pandas = require("pandas", "A long table of series")
    return column.dtype.kind == "M" or isinstance(column.dtype, pandas.PeriodDtype)


def listed(names: Any) -> str:
    """Names for messages."""
    return ", ".join(map(repr, names)) or "none"
