"""Series in CSV files: values, inputs and times of one, or of several that a column tells apart."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.cli.csv_table import read_series
from sparsebayes.cli.series.dates import all_numbers, read_dates
from sparsebayes.rows.dialect.numerals import is_missing
from sparsebayes.rows.table import Table, TableError

RESULTS = ("mean", "std", "lower", "upper")
STEP = "step"  # name of the times where there is no column for them
_EVEN = 1e-3  # of a step, by which numbers of equal distance may differ

Array = np.ndarray


@dataclass(frozen=True)
class Clock:
    """The times of a series, and how they go on.

    Attributes
    ----------
    name : str
        The column's.
    known : pandas.DatetimeIndex, ndarray or None
        Dates or numbers, at equal steps; None if steps are counted.
    given : pandas.DatetimeIndex or None
        Dates of the rows that are to be forecast.
    label : callable
        Writes a date or a number as those in the file are written.
    """

    name: str
    known: Any
    given: Any
    label: Callable[[Any], str]

    def before(self, size: int) -> Any:
        """Where the known values are drawn."""
        return np.arange(1 - size, 1) if self.known is None else self.known

    def ahead(self, forecast: Any) -> Any:
        """Where a forecast is drawn."""
        steps = np.arange(1, len(forecast) + 1)
        if self.known is None:
            return steps
        if self.given is None:
            first, last = self.known[0], self.known[-1]
            return last + ((last - first) / max(self.known.size - 1, 1) or 1.0) * steps
        later, given = forecast.index, self.given[: len(forecast)]
        wrong = np.flatnonzero(np.asarray(given != later[: len(given)]))
        if wrong.size:
            i = int(wrong[0])
            raise TableError(
                f"column {self.name!r} has {self.label(given[i])} where the dates before go on "
                f"with {self.label(later[i])}"
            )
        return later


@dataclass(frozen=True)
class TimedColumn:
    """A series of a CSV file, its inputs and its times.

    Attributes
    ----------
    source : str
        Name of the file.
    name : str
        The column's.
    key : str or None
        Which series of several it is.
    n_rows : int
        Rows of the file up to the last known value.
    y : ndarray or pandas.Series, (N,)
        NaN where a value or a row is missing.
    inputs : ndarray, (N, K), or None
        Exogenous columns; where a row is missing, those of the row before.
    later : ndarray, (rows, K), or None
        Those of the rows that are to be forecast.
    clock : Clock
    turned : bool
        Whether the rows came in descending order of time.
    """

    source: str
    name: str
    key: str | None
    n_rows: int
    y: Any
    inputs: Array | None
    later: Array | None
    clock: Clock
    turned: bool

    @property
    def span(self) -> str:
        """The first and the last time, if they have names."""
        if self.clock.known is None:
            return ""
        first, last = (self.clock.label(self.clock.known[k]) for k in (0, -1))
        return f"{first} to {last}"

    @property
    def missing(self) -> str:
        """What is missing, if anything is."""
        count, size = int(np.isnan(np.asarray(self.y)).sum()), len(self.y)
        rows = size - self.n_rows
        inside = f" ({rows} without a row)" if rows else ""
        return f"{count} of {size} values{inside}" if count else ""


@dataclass(frozen=True)
class _Times:
    """The times of all rows: dates, numbers or none."""

    name: str
    dates: Any
    numbers: Array | None
    cells: list[str]
    decimals: int
    write: Callable[[Any], str]

    @property
    def order(self) -> Any:
        """What rises with time, or None."""
        return self.numbers if self.dates is None else self.dates.asi8


def read_columns(args: Namespace) -> tuple[list[TimedColumn], list[str]]:
    """The series that the options of ``sparsebayes forecast`` name, and notes of how they came."""
    table, notes = read_series(args.csv, args)
    exog = [] if args.exog is None else [name.strip() for name in args.exog.split(",")]
    named = [name for name in (args.time, args.id) if name is not None]
    roles = [args.column, *named, *exog]
    for name in roles:
        table.texts(name)  # complains of a column that is not there
        if roles.count(name) > 1:
            raise TableError(f"column {name!r} is named more than once in the options")
    taken = RESULTS if args.time is not None else (*RESULTS, STEP)
    for name in named:
        if name in taken:
            raise TableError(f"{table.source}: column {name!r} has the name of a result; rename it")
    if args.date_format is not None and args.time is None:
        raise ValueError("--date-format is of the column that --time names; give that too")
    values, times = table.values([args.column])[:, 0], _times(table, args.time, args.date_format)
    inputs = table.numbers(exog) if exog else None
    groups = _groups(table, args.id)
    found = [_series(table, args.column, key, groups[key], values, inputs, times) for key in groups]
    return found, notes


def _groups(table: Table, name: str | None) -> dict[str | None, Array]:
    """The rows of each series, in the order in which these begin."""
    if name is None:
        return {None: np.arange(len(table))}
    rows: dict[str | None, list[int]] = {}
    for i, cell in enumerate(table.texts(name)):
        if not cell.strip():
            raise TableError(f"{table.where(i, name)}: the cell is empty; a series is needed")
        rows.setdefault(cell.strip(), []).append(i)
    return {key: np.array(own) for key, own in rows.items()}


def _times(table: Table, name: str | None, style: str | None) -> _Times:
    if name is None:
        return _Times(STEP, None, None, [], 0, str)
    cells = [cell.strip() for cell in table.texts(name)]
    for i, cell in enumerate(cells):
        if is_missing(cell, text=True):
            raise TableError(f"{table.where(i, name)}: the cell is empty; a time is needed")
    if style is None and all_numbers(cells):
        decimals = _decimals(cells)
        numbers = table.numbers([name])[:, 0]
        return _Times(name, None, numbers, cells, decimals, lambda value: f"{value:.{decimals}f}")
    dates = read_dates(table, name, style)
    return _Times(name, dates.index, None, cells, 0, dates.write)


def _decimals(cells: list[str]) -> int:
    """Digits after the point, at most."""
    if any("e" in cell.lower() for cell in cells):
        return 12
    return max(len(cell.partition(".")[2]) for cell in cells)


def _series(
    table: Table,
    name: str,
    key: str | None,
    rows: Array,
    values: Array,
    inputs: Array | None,
    times: _Times,
) -> TimedColumn:
    """One series: its rows in order, and those put in that are missing."""
    of_key = "" if key is None else f" of series {key!r}"
    turned = False
    if times.order is not None and len(rows) > 1:
        steps = np.diff(times.order[rows])
        turned = bool((steps < 0).all())
        if turned:
            rows = rows[::-1]
        elif key is not None:  # rows of several series come in any order
            rows = rows[np.argsort(times.order[rows], kind="stable")]
        _check_twice(table, key, rows, times)
    y = values[rows]
    size = int(np.flatnonzero(~np.isnan(y)).max(initial=-1)) + 1
    if size == 0:
        raise TableError(f"{table.source}: column {name!r}{of_key} holds no number")
    known, later = rows[:size], rows[size:]
    X = None if inputs is None else inputs[known]
    given = None
    if times.dates is not None:
        y, X = _dated(y[:size], X, times.dates[known], name, table.source + of_key)
        index, given = y.index, times.dates[later]
    elif times.numbers is not None:
        places, index = _numbered(table, rows, times, size)
        y, X = _spread(y[:size], X, places[:size])
    else:
        y, index = y[:size], None
    clock = Clock(times.name, index, given, times.write)
    after = None if inputs is None else inputs[later]
    return TimedColumn(table.source, name, key, size, y, X, after, clock, turned)


def _check_twice(table: Table, key: str | None, rows: Array, times: _Times) -> None:
    _, first = np.unique(times.order[rows], return_index=True)
    again = np.setdiff1d(np.arange(len(rows)), first)
    if again.size:
        i = int(rows[again[0]])
        several = ", or name the column that tells several series apart with --id"
        raise TableError(
            f"{table.where(i, times.name)}: {times.cells[i]} is there more than once"
            f"{'' if key is None else f' in series {key!r}'}; keep one row"
            f"{several if key is None else ''}"
        )


def _dated(
    y: Array, X: Array | None, dates: Any, name: str, source: str
) -> tuple[Any, Array | None]:
    from sparsebayes.forecasting.tables.exogenous import training_inputs
    from sparsebayes.forecasting.tables.timeline import read_series

    pandas = require("pandas", "--time")
    try:
        values, index, _ = read_series(pandas.Series(y, dates, name=name))
        if X is not None:
            table = pandas.DataFrame(X, dates)
            X = training_inputs(table, len(values), index, y=values)[0]
    except ValueError as error:
        raise TableError(f"{source}: {error}") from error
    return pandas.Series(values, index, name=name), X


def _spread(y: Array, X: Array | None, places: Array) -> tuple[Array, Array | None]:
    """Values at their places, NaN between; inputs with those before repeated."""
    size = int(places[-1]) + 1
    complete = np.full(size, np.nan)
    complete[places] = y
    before = np.searchsorted(places, np.arange(size), side="right") - 1
    return complete, None if X is None else X[before]


def _numbered(table: Table, rows: Array, times: _Times, size: int) -> tuple[Array, Array]:
    """Places of numbers on a grid of equal steps, and the grid up to the last known one."""
    from sparsebayes.forecasting.tables.time_grid import too_sparse

    numbers, cells, name = times.order[rows], [times.cells[i] for i in rows], times.name
    places = np.zeros(len(rows), dtype=np.int64)
    if len(rows) == 1:
        return places, numbers
    steps = np.diff(numbers)
    usual = float(np.median(steps))
    if steps.min() > 0:
        # Months as parts of a year differ by their rounding, if a step has more than one digit.
        width = float(steps[np.abs(steps - usual) < 0.5 * usual].mean())
        places[1:] = np.cumsum(np.maximum(np.round(steps / width), 1.0)).astype(np.int64)
        width = (numbers[-1] - numbers[0]) / places[-1]
        digit = 10.0**-times.decimals
        slack = 1.01 * digit if digit <= 0.2 * width else _EVEN * width
        off = np.abs(numbers - numbers[0] - width * places)
        if off.max() <= slack and not too_sparse(places):
            wrong = np.flatnonzero(np.diff(places[size - 1 :]) != 1)
            if wrong.size:
                i = size + int(wrong[0])
                raise TableError(
                    f"{table.where(int(rows[i]), name)}: {cells[i]} follows {cells[i - 1]}, but "
                    "rows to be forecast must leave no time out; add the rows between"
                )
            complete = numbers[0] + width * np.arange(places[size - 1] + 1.0)
            complete[places[:size]] = numbers[:size]
            return places, complete
    i = 1 + int(np.argmin(steps) if steps.min() <= 0 else np.abs(steps - usual).argmax())
    raise TableError(
        f"{table.where(int(rows[i]), name)}: {cells[i]} follows {cells[i - 1]}, but times must "
        f"rise in equal steps, here of {usual:g}, with few left out; fill the gap, sort the rows "
        "or leave --time out"
    )
