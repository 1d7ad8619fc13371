"""``sparsebayes forecast``: forecast a column of a CSV file."""

from __future__ import annotations

import sys
import textwrap
import time
import warnings
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes._support.version import package_version
from sparsebayes.cli.csv_table import format_table
from sparsebayes.cli.reports.answer import Answer, check_output, write_outputs
from sparsebayes.cli.reports.figures import new_axes, png
from sparsebayes.cli.reports.progress_line import ProgressLine
from sparsebayes.cli.reports.report import Rows, aligned
from sparsebayes.cli.series.series_table import RESULTS, TimedColumn, read_columns

_SHOWN = 48  # rows of the table, if all are in a file
_TOLD = 20  # series of which the report has a line, and notes
_WIDTH = 88  # of lines about what was chosen
_ORIGINS = 15  # by which one autoregression is calibrated

Array = np.ndarray


@dataclass(frozen=True)
class ForecastColumn:
    """A series, its model and its forecast.

    Attributes
    ----------
    data : TimedColumn
    model : Forecaster
    positions : pandas.DatetimeIndex or ndarray, (horizon,)
        Times of the forecast.
    labels : list of str
        The same as they are written.
    results : dict of str to ndarray, (horizon,)
        Columns of `RESULTS`.
    """

    data: TimedColumn
    model: Any
    positions: Any
    labels: list[str]
    results: dict[str, Array]


def run(args: Namespace) -> Answer:
    """Forecast a column of a file, and write the files."""
    _check_files(args)
    start = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ProgressLine(quiet=args.quiet) as line:
            line.text = f"reading {args.csv}"
            columns, told = read_columns(args)
            line.text = f"forecasting {args.csv}"
            models = None if args.id else [_fitted(columns[0], args)]
        if models is None:
            models = _fitted_each(columns, args)  # tells by itself how far it is
        found = [_forecast_one(*one, args) for one in zip(columns, models, strict=True)]
        labelled = _table(found, args)
        files: dict[Path, bytes] = {}
        if args.output:
            files[Path(args.output)] = format_table(labelled, formulas=args.formulas).encode()
        if args.figure:
            files[Path(args.figure)] = _figure(found[0], args.coverage)
        rows = _of_several(found, args) if args.id else _of_one(found[0], args)
    notes = [" ".join(str(warning.message).split()) for warning in caught]
    notes = list(dict.fromkeys([*told, *notes]))
    written, seconds = write_outputs(files), time.monotonic() - start
    if any(data.turned for data in columns):
        rows.append(("order", "the rows were in descending order of time, and were turned round"))
    rows.append(("time", f"{seconds:.2f} s"))
    rows += [("note", note) for note in notes[:_TOLD]]
    if len(notes) > _TOLD:
        rows.append(("", f"({len(notes) - _TOLD} more notes)"))
    rows += [("written" if k == 0 else "", path) for k, path in enumerate(written)]
    title = f"sparsebayes {package_version()}: forecast"
    listed = _listed(labelled, _SHOWN if args.output else None)
    data = {
        "source": columns[0].source,
        "column": args.column,
        "coverage": args.coverage,
        "series": [_data(one) for one in found],
        "forecast": labelled,
        "seconds": seconds,
        "notes": notes,
        "written": written,
    }
    return Answer("\n".join([title, "", *aligned(rows), "", *listed]), data)


def _check_files(args: Namespace) -> None:
    """Raise before the work what would spoil the files after it."""
    for output in (args.output, args.figure):
        check_output(output, args.csv)
    for option in ("pool", "jobs"):
        if getattr(args, option) and not args.id:
            raise ValueError(f"--{option} is for several series; name their column with --id")
    if args.figure:
        if args.id:
            raise ValueError(f"--figure draws one series, not all of --id {args.id}; leave it out")
        require("matplotlib", "--figure")
        if args.output and Path(args.figure).resolve() == Path(args.output).resolve():
            raise ValueError(f"--figure {args.figure!r} is also the output; choose another name")
        if Path(args.figure).suffix.lower() != ".png":
            raise ValueError(f"--figure {args.figure!r} is written as .png; let its name end so")
    if args.quiet and not (args.output or args.figure or args.json):
        raise ValueError("--quiet leaves nothing to tell; give --output, --figure or --json")


def _data(one: ForecastColumn) -> dict[str, Any]:
    """What was learned of a series, for programs."""
    data, model = one.data, one.model
    return {
        "key": data.key,
        "rows": data.n_rows,
        "values": len(data.y),
        "missing": int(np.isnan(np.asarray(data.y)).sum()),
        "chosen": model.chosen_,
        "lags": list(model.lags_) if _alone(model) else None,
        "calibration": model.calibration_,
    }


def _forecaster(args: Namespace) -> Any:
    """The model that the options ask for."""
    from sparsebayes.forecasting import Forecaster

    return Forecaster(
        lags=args.lags,
        step=args.step,
        difference=args.difference,
        transform=None if args.transform == "none" else args.transform,
        seasons=None if args.seasons == "none" else args.seasons,
        exog_lags=args.exog_lags,
        calibrate={None: "auto", True: _ORIGINS, False: None}[args.calibrate],
        pool=args.pool,
        n_jobs=args.jobs,
        verbose=int(sys.stderr.isatty() and not args.quiet),
        random_state=args.seed,
    )


def _fitted(data: TimedColumn, args: Namespace) -> Any:
    try:
        return _forecaster(args).fit(data.y, data.inputs)
    except ValueError as error:
        raise ValueError(f"{args.csv}: {error}") from error


def _fitted_each(columns: list[TimedColumn], args: Namespace) -> list[Any]:
    from sparsebayes.forecasting.panels import fit_each

    keys = [data.key for data in columns]
    series, inputs = [data.y for data in columns], [data.inputs for data in columns]
    try:
        models = fit_each(_forecaster(args), keys, series, inputs)
    except ValueError as error:
        raise ValueError(f"{args.csv}: {error}") from error
    return [models[key] for key in keys]


def _forecast_one(data: TimedColumn, model: Any, args: Namespace) -> ForecastColumn:
    try:
        forecast, std = model.predict(args.horizon, data.later, True, args.method)
        limits = model.predict_interval(args.horizon, args.coverage, data.later, args.method)
        positions = data.clock.ahead(forecast)
    except ValueError as error:
        of_key = "" if data.key is None else f" Series {data.key!r}:"
        raise ValueError(f"{args.csv}:{of_key} {error}") from error
    labels = [data.clock.label(position) for position in positions]
    lower, upper = np.asarray(limits) if isinstance(limits, tuple) else np.asarray(limits).T
    values = (np.asarray(forecast), np.asarray(std), lower, upper)
    return ForecastColumn(data, model, positions, labels, dict(zip(RESULTS, values, strict=True)))


def _table(found: list[ForecastColumn], args: Namespace) -> dict[str, Array]:
    """The columns of the result, one series after the other."""
    columns: dict[str, Array] = {}
    if args.id:
        keys = [one.data.key for one in found for _ in one.labels]
        columns[args.id] = np.array(keys, dtype=object)
    labels = [label for one in found for label in one.labels]
    columns[found[0].data.clock.name] = np.array(labels, dtype=object)
    for name in RESULTS:
        columns[name] = np.concatenate([one.results[name] for one in found])
    return columns


def _of_several(found: list[ForecastColumn], args: Namespace) -> Rows:
    """A line for each series, for the report."""
    n_rows = sum(one.data.n_rows for one in found)
    about = f"{n_rows} rows, column {args.column}, {len(found)} series by {args.id}"
    rows: Rows = [("data", f"{found[0].data.source}: {about}")]
    for one in found[:_TOLD]:
        data, model = one.data, one.model
        parts = [f"{len(data.y)} values", data.span, data.missing and f"missing {data.missing}"]
        chosen = [model.chosen_.partition(";")[0]]
        if _alone(model):
            chosen.append(f"lags {_lags(model.lags_)}")
        rows += _wrapped(str(data.key), "; ".join([", ".join(filter(None, parts)), *chosen]))
    if len(found) > _TOLD:
        rows.append(("", f"({len(found) - _TOLD} more series)"))
    return rows


def _wrapped(name: str, text: str) -> Rows:
    """A row, or several for a long text."""
    lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [(name if k == 0 else "", line) for k, line in enumerate(lines)]


def _alone(model: Any) -> bool:
    """Whether it is one autoregression."""
    return len(model.candidates_) == 1 and model.estimator_ is not None


def _lags(lags: list[int]) -> str:
    spaced = np.diff(lags)
    if len(lags) > 3 and (spaced == spaced[0]).all():
        return f"{lags[0]}, {lags[1]}, ..., {lags[-1]}"
    return ", ".join(map(str, lags))


def _of_one(one: ForecastColumn, args: Namespace) -> Rows:
    """What was learned, for the report."""
    data, model = one.data, one.model
    span = data.span and f", {data.span}"
    rows: Rows = [("data", f"{data.source}: {data.n_rows} rows, column {data.name}{span}")]
    if data.missing:
        rows.append(("missing", data.missing))
    rows += _wrapped("chosen", model.chosen_)
    if _alone(model):
        rows += _of_autoregression(model, data, args)
    elif data.inputs is not None:
        rows.append(_inputs(model, args))
    if (model.calibration_ > 1.0).any():
        last = min(args.horizon, len(model.calibration_))
        ends = (
            f"{model.calibration_[0]:.2f} at step 1, {model.calibration_[last - 1]:.2f} at {last}"
        )
        rows.append(("calibration", f"std times {ends} (from forecasts of the past)"))
    return rows


def _inputs(model: Any, args: Namespace) -> tuple[str, str]:
    return "inputs", f"{args.exog}, lags {', '.join(map(str, model.exog_lags_))}"


def _of_autoregression(model: Any, data: TimedColumn, args: Namespace) -> Rows:
    periods = ", ".join(map(str, model.difference_)) or "none"
    of_log = {"log": " (of the logarithm)", "sqrt": " (of the root)"}.get(model.transform_, "")
    rows: Rows = [("lags", _lags(model.lags_)), ("differences", periods + of_log)]
    if model.exog_lags_:
        rows.append(_inputs(model, args))
    estimator = model.estimator_
    linear = hasattr(estimator, "relevance_")
    kept = estimator.relevance_ if linear else estimator.support_
    rows.append(("model", "linear" if linear else "Gaussian process of reduced rank"))
    rows.append(("functions kept", f"{len(kept)}"))
    rows.append(("noise std", f"{np.sqrt(model.noise_variance_):.4g}{of_log}"))
    known = np.asarray(data.y)
    # The methods differ from the second step on.
    one = model.backtest(known, 1, X=data.inputs, coverage=args.coverage, methods="naive")
    error = float(np.sqrt(one.squared_error[0]))
    inside = f"{100 * one.coverage[0]:.0f} % inside {100 * args.coverage:g} % intervals"
    fitted = f"(of the {np.isfinite(one.truth).sum()} values fitted)"
    rows.append(("one step ahead", f"error {error:.4g} (rms), {inside} {fitted}"))
    return rows


def _figure(one: ForecastColumn, coverage: float) -> bytes:
    from sparsebayes.plots import ForecastDisplay

    data, size = one.data, len(one.data.y)
    start = max(0, size - max(4 * len(one.labels), 40))
    display = ForecastDisplay(
        mean=one.results["mean"],
        lower=one.results["lower"],
        upper=one.results["upper"],
        coverage=coverage,
        history=np.asarray(data.y)[start:],
        times=one.positions,
        history_times=data.clock.before(size)[start:],
        target_name=data.name,
        time_name=data.clock.name,
    )
    return png(display.plot(new_axes()).figure_)


def _listed(columns: dict[str, Array], shown: int | None) -> Iterable[str]:
    """The table of the forecast; the last four columns are numbers."""
    cells = [list(columns)]
    rows = list(zip(*columns.values(), strict=True))
    for row in rows[:shown]:
        n = len(row) - len(RESULTS)
        cells.append([*row[:n], *(f"{value:.5g}" for value in row[n:])])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    lines.insert(1, "-" * len(lines[0]))
    if shown is not None and len(rows) > shown:
        lines.append(f"({len(rows) - shown} more in the file)")
    return lines
