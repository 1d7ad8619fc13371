"""``sparsebayes denoise``: denoise a column of a CSV file, an array, a sound or an image."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from sparsebayes._support.version import package_version
from sparsebayes.cli.arguments.tables import OPTIONS
from sparsebayes.cli.csv_table import format_table, read_series
from sparsebayes.cli.media import OTHERS, SUFFIXES, Media, encode_npy, place, read_media
from sparsebayes.cli.reports.answer import STANDARD, Answer, check_output, is_stdout, write_outputs
from sparsebayes.cli.reports.figures import check_directory, new_axes, png
from sparsebayes.cli.reports.progress_line import ProgressLine
from sparsebayes.cli.reports.report import Rows, aligned, joined
from sparsebayes.denoising import LONGEST, METHODS, Denoised, denoise
from sparsebayes.rows.dialect.numerals import is_missing
from sparsebayes.rows.table import Table, TableError, is_number

_COVERAGE = 0.95
_RESULTS = ("denoised", "std", "lower", "upper")
_KINDS = {".csv": ".csv", **SUFFIXES}
# Further files of which a column is denoised; what is made of it is a .csv file.
_TABLES = (".tsv", ".txt", ".dat", ".gz", ".bz2", ".xz", ".zip", ".xlsx", ".parquet", ".pq")
# Options of one kind of file only.
_OPTIONS = {
    ".csv": ("column", "time", "coverage", *OPTIONS),
    ".npy": ("axes",),
    ".tif": ("volume",),
}
_CHUNK = 1 << 20  # values that are looked at at a time
_SHOWN = 1 << 14  # samples in the figure of a long signal


@dataclass
class Outcome:
    """The results of all channels of a file; `std` is empty if it was not asked for."""

    signal: np.ndarray
    std: np.ndarray
    results: list[Denoised] = field(default_factory=list)
    removed: float = 0.0  # sum of squares
    energy: float = 0.0  # the same of the samples, without their means
    missing: int = 0
    figures: dict[Path, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def run(args: Namespace) -> Answer:
    """Denoise, and write the files."""
    _check_files(args)
    kind = _check_options(args)
    start = time.monotonic()
    with ProgressLine(quiet=args.quiet) as line:
        line.text = f"reading {args.input}"
        data = _column(args) if kind == ".csv" else _media(args)
        outcome = _denoise(data, args, line)
        line.text = f"writing {args.output}"
        files = {Path(args.output): data.encode(outcome.signal, outcome.std)}
        if args.std:
            files[Path(args.std)] = encode_npy(outcome.std)
        files |= outcome.figures
        written = write_outputs(files, args.figures)
    found = _data(data, outcome, args, time.monotonic() - start, written)
    return Answer(_report(data, outcome, args, found), found)


def _check_files(args: Namespace) -> None:
    """Raise before the work what would spoil the files after it."""
    for output in (args.output, args.std):
        check_output(output, args.input)
    if args.std and Path(args.std).resolve() == Path(args.output).resolve():
        raise ValueError(f"--std {args.std!r} is also the output; choose another name")
    if args.figures:
        check_directory(args.figures)


def _check_options(args: Namespace) -> str:
    """The kind of file; options that do not fit are refused before the work begins."""
    suffix = Path(args.input).suffix
    table = args.input == STANDARD or suffix.lower() in _TABLES
    kind = ".csv" if table else _KINDS.get(suffix.lower())
    if kind is None:
        raise ValueError(
            f"{args.input}: files of type {suffix or 'none'!r} cannot be denoised; those of type "
            f"{', '.join([*_KINDS, *_TABLES])} can"
        )
    output = kind if is_stdout(args.output) else _KINDS.get(Path(args.output).suffix.lower())
    if output not in (kind, OTHERS.get(kind, kind)):
        ends = f"{kind} or {OTHERS[kind]}" if kind in OTHERS else kind
        raise ValueError(
            f"output {args.output!r} must be of the type of the input; let its name end in {ends}"
        )
    for owner, options in _OPTIONS.items():
        given = [option for option in options if getattr(args, option) is not None]
        if given and owner != kind:
            what = "tables" if owner == ".csv" else f"{owner} files"
            raise ValueError(f"--{given[0]} is for {what}, but the input is {args.input!r}")
    if args.std and kind == ".csv":
        raise ValueError("--std is not for .csv files, in which std is a column of the output")
    if args.std and Path(args.std).suffix.lower() != ".npy":
        raise ValueError(f"--std {args.std!r} is written as .npy; let its name end so")
    return kind


def _media(args: Namespace) -> Media:
    output = None if is_stdout(args.output) else args.output
    most = {} if args.max_values is None else {"max_values": args.max_values}
    return read_media(args.input, output, volume=bool(args.volume), **most)


def _column(args: Namespace) -> Media:
    """The column to denoise, and the table of results that is written in its place."""
    table, notes = read_series(args.input, args)
    name = args.column
    if name is None:
        numeric = [c for c in table.columns if c != args.time and _is_numeric(table, c)]
        if len(numeric) != 1:
            raise TableError(
                f"{table.source}: --column is needed: which of {', '.join(map(repr, numeric))}?"
                if numeric
                else f"{table.source}: no column holds numbers only"
            )
        name = numeric[0]
    if name == args.time:
        raise TableError(f"column {name!r} is the time and cannot be denoised too")
    for given in (name, args.time):
        if given in _RESULTS:
            raise TableError(
                f"{table.source}: column {given!r} has the name of a result; rename it"
            )
    t = None if args.time is None else table.numbers([args.time])[:, 0]
    kept = [name] if args.time is None else [args.time, name]

    def write(signal: np.ndarray, std: np.ndarray) -> bytes:
        half = float(ndtri(0.5 + 0.5 * (args.coverage or _COVERAGE))) * std
        columns = {name: np.array(table.texts(name), dtype=object) for name in kept}
        results = (signal, std, signal - half, signal + half)
        return format_table(
            columns | dict(zip(_RESULTS, results, strict=True)), formulas=args.formulas
        ).encode()

    about = f"{len(table)} rows, column {name}"
    values = table.values([name])[:, 0]
    return Media(table.source, values, (("", ...),), about, write, holds_std=True, t=t, notes=notes)


def _is_numeric(table: Table, name: str) -> bool:
    present = [cell for cell in table.texts(name) if not is_missing(cell)]
    return bool(present) and all(map(is_number, present))


def _denoise(data: Media, args: Namespace, line: ProgressLine) -> Outcome:
    """Denoise the channels, one after another."""
    args.method = args.method or ("average" if args.prior is None else "sparse")
    args.prior = args.prior or "bic"
    _check_values(data, args)
    options = {name: getattr(args, name) for name in ("dictionary", "prior", "noise", "method")}
    options |= {"axes": args.axes, "t": data.t, "n_shifts": args.n_shifts or "auto"}
    options["noise_model"] = args.noise_model
    channels = data.channels
    if data.colours is not None:
        channels, options["channel_axis"] = (("", data.colours),), -1
    dtype, with_std = _float_type(data.values), data.holds_std or bool(args.std or args.figures)
    shape = data.values.shape
    outcome = Outcome(place(shape, dtype), place(shape if with_std else (0,), dtype))
    outcome.notes += data.notes
    if sum(np.size(data.values[where]) for _, where in channels) < data.values.size:
        outcome.signal[...] = data.values  # what is not denoised stays
        outcome.std[...] = 0.0
    for k, (name, where) in enumerate(channels):
        counted = f", {name} ({k + 1} of {len(channels)})" if name else ""
        line.text = f"denoising {data.source}{counted}"
        y = data.values[where]
        if y.dtype.kind == "f" and y.dtype != dtype:
            y = y.astype(dtype)
        std = outcome.std[where] if with_std else None
        with warnings.catch_warnings(record=True) as caught, line.following():
            warnings.simplefilter("always")
            verbose = 2 if line.shown else 0
            result = denoise(y, out=outcome.signal[where], std_out=std, verbose=verbose, **options)
        told = dict.fromkeys(" ".join(str(w.message).split()) for w in caught)
        outcome.notes += [f"{name}: {note}" if name else note for note in told]
        if args.figures:
            stem = "_".join(["denoised", *name.split()])
            drawn = _figure(result, y, data.t)
            outcome.figures[Path(args.figures) / f"{stem}.png"] = drawn
        outcome.results.append(result)
        _compare(outcome, y, result.signal)
    return outcome


def _float_type(values: np.ndarray) -> np.dtype:
    """Of the results: single precision for floats of that or less, and for long short integers."""
    single = values.dtype.kind == "f" and values.dtype.itemsize <= 4
    short = values.size > LONGEST and values.dtype.itemsize <= 2  # saves half of the place
    return np.dtype(np.float32 if single or short else np.float64)


def _parts(*arrays: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Parts of arrays of the same shape, in double precision."""
    step = max(1, _CHUNK * len(arrays[0]) // max(arrays[0].size, 1))
    for start in range(0, len(arrays[0]), step):
        yield tuple(np.asarray(one[start : start + step], np.float64) for one in arrays)


def _compare(outcome: Outcome, y: np.ndarray, signal: np.ndarray) -> None:
    """Count what was removed, and what was missing."""
    total = square = 0.0
    count = 0
    for before, after in _parts(y, signal):
        seen = ~np.isnan(before)
        values = before[seen]
        outcome.removed += float(np.sum((values - after[seen]) ** 2))
        total, square = total + float(values.sum()), square + float(np.sum(values**2))
        count += values.size
    outcome.missing += y.size - count
    outcome.energy += max(square - total**2 / max(count, 1), 0.0)


def _check_values(data: Media, args: Namespace) -> None:
    values = data.values
    if values.dtype.kind == "f":
        if any(np.isinf(part).any() for (part,) in _parts(values)):
            raise ValueError(
                f"{data.source}: there are infinite values; NaN stands for missing ones"
            )
        for name, where in data.channels:
            if all(np.isnan(part).all() for (part,) in _parts(values[where])):
                raise ValueError(f"{data.source}: every sample{name and f' of {name}'} is missing")
    several = values.ndim > 1 and args.axes is not None
    if args.figures and (several or values[data.channels[0][1]].ndim > 2):
        raise ValueError(f"--figures draws one signal or image; {data.source} has more")


def _figure(result: Denoised, y: np.ndarray, t: np.ndarray | None) -> bytes:
    """Of a long signal the middle."""
    from sparsebayes.plots import DenoiseDisplay

    axes = new_axes(13, 4.5, columns=3) if y.ndim == 2 else new_axes()
    if y.ndim > 1 or y.size <= LONGEST:
        return png(DenoiseDisplay.from_denoised(result, y, t=t, ax=axes).figure_)
    middle = slice((y.size - _SHOWN) // 2, (y.size + _SHOWN) // 2)
    samples, signal, std = (one[middle].astype(float) for one in (y, result.signal, result.std))
    numbers = np.arange(middle.start, middle.stop) if t is None else t[middle]
    display = DenoiseDisplay(y=samples, signal=signal, std=std, members=[], t=numbers)
    return png(display.plot(axes).figure_)


def _data(
    data: Media, outcome: Outcome, args: Namespace, seconds: float, written: list[str]
) -> dict[str, Any]:
    """What is to be said of the results, for programs."""
    results = outcome.results
    variances = np.concatenate([np.ravel(one.noise_variance) for one in results])
    kept, count = _counts(results)
    return {
        "source": data.source,
        "shape": list(data.values.shape),
        "missing": outcome.missing,
        "dictionaries": list(dict.fromkeys(map(_dictionaries, results))),
        "method": args.method,
        "noise_model": args.noise_model,
        "noise_std": np.sqrt(variances),
        "kept": kept,
        "coefficients": count,
        "removed": outcome.removed / outcome.energy if outcome.energy > 0 else 0.0,
        "seconds": seconds,
        "notes": outcome.notes,
        "written": written,
    }


def _report(data: Media, outcome: Outcome, args: Namespace, found: dict[str, Any]) -> str:
    results = outcome.results
    filled = f", {outcome.missing} missing (filled)" if outcome.missing else ""
    given = "" if isinstance(args.noise, str) else " (given)"
    noise = joined([f"{std:.4g}" for std in found["noise_std"]])
    averaged = any(one.method == "average" for one in results)
    how = "kept by more than half," if averaged else "kept"
    rows: Rows = [
        ("data", f"{data.source}: {data.about}{filled}"),
        ("dictionary", joined(found["dictionaries"])),
        ("method", joined(list(dict.fromkeys(map(_how, results))))),
    ]
    if any(one.method == "sparse" for one in results):
        rows.append(("prior", str(args.prior)))
    if args.noise_model != "gaussian":
        rows.append(("noise model", args.noise_model))
    rows += [
        ("noise std", noise + given),
        ("coefficients", f"{found['kept']} {how} of {found['coefficients']}"),
        ("removed", f"{100 * found['removed']:.3g} % of the variance"),
        ("time", f"{found['seconds']:.2f} s"),
    ]
    rows += [("note", note) for note in outcome.notes]
    rows += [("written" if k == 0 else "", path) for k, path in enumerate(found["written"])]
    return "\n".join([f"sparsebayes {package_version()}: denoising", "", *aligned(rows)])


def _how(result: Denoised) -> str:
    bases = f" ({result.n_bases} bases)" if result.method == "average" else ""
    return METHODS[result.method] + bases


def _dictionaries(result: Denoised) -> str:
    """The names of those that are averaged over, or joined."""
    return " and ".join(
        " + ".join(member.label for member in one.members) for one in result.dictionaries
    )


def _counts(results: Iterable[Denoised]) -> tuple[int, int]:
    """How many coefficients were kept, and of how many; averages drop none."""
    kept = count = 0
    for result in results:
        kept += int(np.sum(result.n_active))
        averaged = result.method == "average"
        count += result.signal.size if averaged else np.size(result.coefficients)
    return kept, count
