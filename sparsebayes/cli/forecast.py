"""``sparsebayes forecast``: forecast a column of a CSV file."""

from __future__ import annotations

import re
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes._support.files import check_output, write_files
from sparsebayes._support.optional import require
from sparsebayes.cli.csv_table import format_table, read_table
from sparsebayes.cli.figures import new_axes, png
from sparsebayes.cli.progress_line import ProgressLine
from sparsebayes.cli.report import Rows, aligned
from sparsebayes.persistence import package_version
from sparsebayes.rows.table import Table, TableError, is_missing, is_number

_RESULTS = ("mean", "std", "lower", "upper")
_STEP = "step"  # name of the times where there is no column for them
_EVEN = 1e-3  # of a step, by which numbers of equal distance may differ
_SHOWN = 48  # rows of the table, if all are in a file

Array = np.ndarray


@dataclass(frozen=True)
class Clock:
    """The times of the rows, and how they go on.

    Attributes
    ----------
    name : str
        The column's.
    index : pandas.DatetimeIndex, or None
        Dates of all rows.
    numbers : ndarray, or None
        Numbers of all rows, at equal distances.
    label : callable
        Writes a date or a number as those in the file are written.
    """

    name: str
    index: Any
    numbers: Array | None
    label: Callable[[Any], str]

    def known(self, size: int) -> Any:
        """Where the first `size` values are drawn."""
        if self.index is not None:
            return self.index[:size]
        return np.arange(1 - size, 1) if self.numbers is None else self.numbers[:size]

    def ahead(self, forecast: Any, size: int) -> Any:
        """Where the forecast after `size` values is drawn."""
        steps = np.arange(1, len(forecast) + 1)
        if self.index is not None:
            later, given = forecast.index, self.index[size : size + len(forecast)]
            wrong = np.flatnonzero(np.asarray(given != later[: len(given)]))
            if wrong.size:
                i = int(wrong[0])
                raise TableError(
                    f"column {self.name!r} has {self.label(given[i])} where the dates before go on "
                    f"with {self.label(later[i])}"
                )
            return later
        if self.numbers is None:
            return steps
        first, last = self.numbers[0], self.numbers[-1]
        width = (last - first) / max(self.numbers.size - 1, 1) or 1.0
        return self.numbers[size - 1] + width * steps


@dataclass(frozen=True)
class TimedColumn:
    """A column of a CSV file, its inputs and its times.

    Attributes
    ----------
    table : Table
    name : str
    y : ndarray or pandas.Series, (N,)
    inputs : ndarray, (N + later rows, K), or None
        Exogenous columns, of the known rows and of those that are to be forecast.
    clock : Clock
    """

    table: Table
    name: str
    y: Any
    inputs: Array | None
    clock: Clock

    @property
    def about(self) -> str:
        """What the report says of it."""
        text = f"{self.table.source}: {len(self.y)} rows, column {self.name}"
        if self.clock.name != _STEP:
            cells = self.table.texts(self.clock.name)
            text += f", {cells[0].strip()} to {cells[len(self.y) - 1].strip()}"
        return text


def run(args: Namespace) -> None:
    """Forecast, write the files, and print the report."""
    _check_files(args)
    files, report = _forecast(args)
    write_files(files)
    if not args.quiet:
        print(report)


def _check_files(args: Namespace) -> None:
    """Raise before the work what would spoil the files after it."""
    for output in filter(None, (args.output, args.figure)):
        check_output(output, args.csv)
    if args.figure:
        require("matplotlib", "--figure")
        if args.output and Path(args.figure).resolve() == Path(args.output).resolve():
            raise ValueError(f"--figure {args.figure!r} is also the output; choose another name")
        if Path(args.figure).suffix.lower() != ".png":
            raise ValueError(f"--figure {args.figure!r} is written as .png; let its name end so")
    if args.quiet and not (args.output or args.figure):
        raise ValueError("--quiet leaves nothing to tell; give --output or --figure")


def _forecast(args: Namespace) -> tuple[dict[Path, bytes], str]:
    """Forecast a column of a file.

    Parameters
    ----------
    args : Namespace
        The options of the command.

    Returns
    -------
    files : dict of Path to bytes
        Contents of the files to write.
    report : str
        Text of the report.
    """
    from sparsebayes.forecasting import Forecaster

    start = time.monotonic()
    with ProgressLine(quiet=args.quiet) as line, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line.text = f"reading {args.csv}"
        data = _read(args)
        line.text = f"fitting {args.csv}"
        model = Forecaster(
            lags=args.lags,
            step=args.step,
            difference=args.difference,
            transform=None if args.transform == "none" else args.transform,
            exog_lags=args.exog_lags,
            calibrate="auto" if args.calibrate else None,
            random_state=args.seed,
        )
        known = None if data.inputs is None else data.inputs[: len(data.y)]
        later = None if data.inputs is None else data.inputs[len(data.y) :]
        try:
            model.fit(data.y, known)
            line.text = f"forecasting {args.csv}"
            forecast, std = model.predict(args.horizon, later, True, args.method)
            limits = model.predict_interval(args.horizon, args.coverage, later, args.method)
            positions = data.clock.ahead(forecast, len(data.y))
        except ValueError as error:
            raise ValueError(f"{args.csv}: {error}") from error
        labels = [data.clock.label(position) for position in positions]
        lower, upper = np.asarray(limits) if isinstance(limits, tuple) else np.asarray(limits).T
        values = (np.asarray(forecast), np.asarray(std), lower, upper)
        columns = dict(zip(_RESULTS, values, strict=True))
        files: dict[Path, bytes] = {}
        if args.output:
            timed = {data.clock.name: np.array(labels, dtype=object)}
            files[Path(args.output)] = format_table(timed | columns).encode()
        if args.figure:
            files[Path(args.figure)] = _figure(data, columns, positions, args.coverage)
        rows = _outcome(model, data, known, args)
    rows.append(("time", f"{time.monotonic() - start:.2f} s"))
    notes = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
    rows += [("note", note) for note in notes]
    rows += [("written" if k == 0 else "", str(path)) for k, path in enumerate(files)]
    shown = len(labels) if not args.output else _SHOWN
    title = f"sparsebayes {package_version()}: forecast"
    table = _listed(data.clock.name, labels, columns, shown)
    return files, "\n".join([title, "", *aligned(rows), "", *table])


def _read(args: Namespace) -> TimedColumn:
    table = read_table(args.csv, keep_empty=True)
    exog = [] if args.exog is None else [name.strip() for name in args.exog.split(",")]
    roles = [args.column, *([] if args.time is None else [args.time]), *exog]
    for name in roles:
        table.texts(name)  # complains of a column that is not there
        if roles.count(name) > 1:
            raise TableError(f"column {name!r} is named more than once in the options")
    if args.time in _RESULTS:
        raise TableError(
            f"{table.source}: column {args.time!r} has the name of a result; rename it"
        )
    y = table.series(args.column)
    size = int(np.flatnonzero(~np.isnan(y)).max(initial=-1)) + 1
    if size == 0:
        raise TableError(f"{table.source}: column {args.column!r} holds no number")
    gaps = np.flatnonzero(np.isnan(y[:size]))
    if gaps.size:
        raise TableError(
            f"{table.where(int(gaps[0]), args.column)}: the cell is empty, and values follow; "
            "fill it, for instance with sparsebayes denoise"
        )
    clock, series = _clock(table, args.time), y[:size]
    if clock.index is not None:
        pandas = require("pandas", "--time")
        series = pandas.Series(series, clock.index[:size], name=args.column)
    inputs = table.numbers(exog) if exog else None
    return TimedColumn(table, args.column, series, inputs, clock)


def _clock(table: Table, name: str | None) -> Clock:
    if name is None:
        return Clock(_STEP, None, None, str)
    cells = [cell.strip() for cell in table.texts(name)]
    for i, cell in enumerate(cells):
        if is_missing(cell):
            raise TableError(f"{table.where(i, name)}: the cell is empty; a time is needed")
    if all(map(is_number, cells)):
        return _numbered(table, name, cells)
    dates = f"{table.source}: column {name!r} of dates"
    pandas = require("pandas", f"{dates} (without --time the steps are counted)")
    for i, cell in enumerate(cells):
        if not re.match(r"\d{4}-\d\d", cell):
            raise TableError(
                f"{table.where(i, name)}: {cell!r} is neither a number nor a date such as "
                "2024-01-31"
            )
    try:
        index = pandas.DatetimeIndex(pandas.to_datetime(cells, format="ISO8601"), name=name)
    except ValueError as error:
        raise TableError(f"{table.source}: column {name!r}: {error}") from error
    return Clock(name, index, None, _date_style(cells))


def _numbered(table: Table, name: str, cells: list[str]) -> Clock:
    numbers, decimals = table.numbers([name])[:, 0], _decimals(cells)
    steps = np.diff(numbers)
    if steps.size:
        even = np.linspace(numbers[0], numbers[-1], numbers.size)
        # Months as parts of a year differ by their rounding, if a step has more than one digit.
        width, digit = abs(steps.mean()), 10.0**-decimals
        slack = 1.01 * digit if digit <= 0.2 * width else _EVEN * width
        if steps.min() <= 0 or np.abs(numbers - even).max() > slack:
            usual = np.median(steps)
            i = 1 + int(np.argmin(steps) if steps.min() <= 0 else np.abs(steps - usual).argmax())
            raise TableError(
                f"{table.where(i, name)}: {cells[i]} follows {cells[i - 1]}, but times must rise "
                f"in equal steps, here of {usual:g}; fill the gap, sort the rows or leave --time "
                "out"
            )
    return Clock(name, None, numbers, lambda value: f"{value:.{decimals}f}")


def _decimals(cells: list[str]) -> int:
    """Digits after the point, at most."""
    if any("e" in cell.lower() for cell in cells):
        return 12
    return max(len(cell.partition(".")[2]) for cell in cells)


def _date_style(cells: list[str]) -> Callable[[Any], str]:
    """Writes dates with as much detail as the file has."""
    for pattern, style in ((r"\d{4}-\d\d", "%Y-%m"), (r"\d{4}-\d\d-\d\d", "%Y-%m-%d")):
        if all(re.fullmatch(pattern, cell) for cell in cells):
            return lambda value: value.strftime(style)
    separator = "T" if "T" in cells[-1] else " "
    return lambda value: value.isoformat(sep=separator)


def _outcome(model: Any, data: TimedColumn, inputs: Array | None, args: Namespace) -> Rows:
    """What was learned, for the report."""
    lags = model.lags_
    spaced = np.diff(lags)
    if len(lags) > 3 and (spaced == spaced[0]).all():
        listed = f"{lags[0]}, {lags[1]}, ..., {lags[-1]}"
    else:
        listed = ", ".join(map(str, lags))
    periods = ", ".join(map(str, model.difference_)) or "none"
    estimator = model.estimator_
    of_log = " (of the logarithm)" if model.transform_ == "log" else ""
    rows: Rows = [("data", data.about), ("lags", listed), ("differences", periods + of_log)]
    if model.exog_lags_:
        rows.append(("inputs", f"{args.exog}, lags {', '.join(map(str, model.exog_lags_))}"))
    linear = hasattr(estimator, "relevance_")
    kept = estimator.relevance_ if linear else estimator.support_
    rows.append(("model", "linear" if linear else "Gaussian process of reduced rank"))
    rows.append(("functions kept", f"{len(kept)}"))
    rows.append(("noise std", f"{np.sqrt(model.noise_variance_):.4g}{of_log}"))
    if (model.calibration_ > 1.0).any():
        last = min(args.horizon, len(model.calibration_))
        ends = (
            f"{model.calibration_[0]:.2f} at step 1, {model.calibration_[last - 1]:.2f} at {last}"
        )
        rows.append(("calibration", f"std times {ends} (from forecasts of the last third)"))
    known = np.asarray(data.y)
    # The methods differ from the second step on.
    one = model.backtest(known, 1, X=inputs, coverage=args.coverage, methods="naive")
    error = float(np.sqrt(one.squared_error[0]))
    inside = f"{100 * one.coverage[0]:.0f} % inside {100 * args.coverage:g} % intervals"
    fitted = f"(of the {one.n_origins} values fitted)"
    rows.append(("one step ahead", f"error {error:.4g} (rms), {inside} {fitted}"))
    return rows


def _figure(data: TimedColumn, columns: dict[str, Array], positions: Any, coverage: float) -> bytes:
    from sparsebayes.plots import ForecastDisplay

    clock, size = data.clock, len(data.y)
    before = clock.known(size)
    start = max(0, size - max(4 * len(positions), 40))
    display = ForecastDisplay(
        mean=columns["mean"],
        lower=columns["lower"],
        upper=columns["upper"],
        coverage=coverage,
        history=np.asarray(data.y)[start:],
        times=positions,
        history_times=before[start:],
        target_name=data.name,
        time_name=clock.name,
    )
    return png(display.plot(new_axes()).figure_)


def _listed(name: str, labels: list[str], columns: dict[str, Array], shown: int) -> Iterable[str]:
    """The table of the forecast."""
    cells = [[name, *columns]]
    for label, *values in list(zip(labels, *columns.values(), strict=True))[:shown]:
        cells.append([label, *(f"{value:.5g}" for value in values)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, "-" * len(lines[0]))
    if len(labels) > shown:
        lines.append(f"({len(labels) - shown} more in the file)")
    return lines
