"""``sparsebayes denoise``: denoise a column of a CSV file, an array, a sound or an image."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from sparsebayes._support.files import check_output, write_files
from sparsebayes.cli.csv_table import (
    Table,
    TableError,
    format_table,
    is_missing,
    is_number,
    read_table,
)
from sparsebayes.cli.figures import check_directory, new_axes, png
from sparsebayes.cli.media import SUFFIXES, Media, encode_npy, read_media
from sparsebayes.cli.progress_line import ProgressLine
from sparsebayes.cli.report import Rows, aligned, joined
from sparsebayes.denoising import METHODS, denoise
from sparsebayes.dictionaries import as_dictionary
from sparsebayes.persistence import package_version

_COVERAGE = 0.95
_RESULTS = ("denoised", "std", "lower", "upper")
_KINDS = {".csv": ".csv", **SUFFIXES}
_OPTIONS = {".csv": ("column", "time", "coverage"), ".npy": ("axes",)}  # of one kind of file only


@dataclass
class Outcome:
    """The results of all channels of a file; `std` is empty if it was not asked for."""

    signal: np.ndarray
    std: np.ndarray
    noise_variances: list[float] = field(default_factory=list)
    kept: int = 0
    coefficients: int = 0
    figures: dict[Path, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def run(args: Namespace) -> None:
    """Denoise, write the files, and print the report."""
    _check_files(args)
    files, report = _denoise_file(args)
    if args.figures:
        Path(args.figures).mkdir(parents=True, exist_ok=True)
    write_files(files)
    if not args.quiet:
        print(report)


def _check_files(args: Namespace) -> None:
    """Raise before the work what would spoil the files after it."""
    for output in filter(None, (args.output, args.std)):
        check_output(output, args.input)
    if args.std and Path(args.std).resolve() == Path(args.output).resolve():
        raise ValueError(f"--std {args.std!r} is also the output; choose another name")
    if args.figures:
        check_directory(args.figures)


def _denoise_file(args: Namespace) -> tuple[dict[Path, bytes], str]:
    """Denoise a file.

    Parameters
    ----------
    args : Namespace
        The options of the command.

    Returns
    -------
    files : dict of Path to bytes
        Files to write, by name.
    report : str
        Text of the report.
    """
    kind = _check_options(args)
    start = time.monotonic()
    with ProgressLine(quiet=args.quiet) as line:
        line.text = f"reading {args.input}"
        data = _column(args) if kind == ".csv" else read_media(args.input)
        outcome = _denoise(data, args, line)
        line.text = f"writing {args.output}"
        files = {Path(args.output): data.encode(outcome.signal, outcome.std)}
    if args.std:
        files[Path(args.std)] = encode_npy(outcome.std)
    files |= outcome.figures
    return files, _report(data, outcome, args, time.monotonic() - start, files)


def _check_options(args: Namespace) -> str:
    """The kind of file; options that do not fit are refused before the work begins."""
    suffix = Path(args.input).suffix
    kind = _KINDS.get(suffix.lower())
    if kind is None:
        raise ValueError(
            f"{args.input}: files of type {suffix or 'none'!r} cannot be denoised; those of type "
            f"{', '.join(_KINDS)} can"
        )
    if _KINDS.get(Path(args.output).suffix.lower()) != kind:
        raise ValueError(
            f"output {args.output!r} must be of the type of the input; let its name end in {kind}"
        )
    for owner, options in _OPTIONS.items():
        given = [option for option in options if getattr(args, option) is not None]
        if given and owner != kind:
            raise ValueError(f"--{given[0]} is for {owner} files, but the input is {args.input!r}")
    if args.std and kind == ".csv":
        raise ValueError("--std is not for .csv files, in which std is a column of the output")
    if args.std and Path(args.std).suffix.lower() != ".npy":
        raise ValueError(f"--std {args.std!r} is written as .npy; let its name end so")
    return kind


def _column(args: Namespace) -> Media:
    """The column to denoise, and the table of results that is written in its place."""
    table = read_table(args.input, keep_empty=True)
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
        return format_table(columns | dict(zip(_RESULTS, results, strict=True))).encode()

    about = f"{len(table.rows)} rows, column {name}"
    return Media(table.source, table.series(name), (("", ...),), about, write, holds_std=True, t=t)


def _is_numeric(table: Table, name: str) -> bool:
    present = [cell for cell in table.texts(name) if not is_missing(cell)]
    return bool(present) and all(map(is_number, present))


def _denoise(data: Media, args: Namespace, line: ProgressLine) -> Outcome:
    """Denoise the channels, one after another."""
    args.method = args.method or _method(data, args)
    args.prior = args.prior or "bic"
    options = {name: getattr(args, name) for name in ("dictionary", "prior", "noise", "method")}
    options |= {"axes": args.axes, "t": data.t}
    _check_values(data, args)
    single = data.values.dtype.kind == "f" and data.values.dtype.itemsize <= 4
    signal = data.values.astype(np.float32 if single else np.float64)
    with_std = data.holds_std or bool(args.std)
    outcome = Outcome(signal, np.zeros(signal.shape if with_std else 0, signal.dtype))
    for k, (name, place) in enumerate(data.channels):
        counted = f", {name} ({k + 1} of {len(data.channels)})" if name else ""
        line.text = f"denoising {data.source}{counted}"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = denoise(signal[place], **options)
            if with_std:
                outcome.std[place] = result.std
        told = dict.fromkeys(" ".join(str(w.message).split()) for w in caught)
        outcome.notes += [f"{name}: {note}" if name else note for note in told]
        if args.figures:
            stem = "_".join(["denoised", *name.split()])
            drawn = _figure(result, signal[place], options["t"])
            outcome.figures[Path(args.figures) / f"{stem}.png"] = drawn
        signal[place] = result.signal
        outcome.noise_variances += np.ravel(result.noise_variance).tolist()
        outcome.kept += int(np.sum(result.n_active))
        outcome.coefficients += np.size(result.coefficients)
    return outcome


def _method(data: Media, args: Namespace) -> str:
    """The default: for images, which are hardly sparse, the average over precisions."""
    if not data.image or args.prior is not None or np.isnan(data.values).any():
        return "sparse"
    return "ash" if as_dictionary(args.dictionary).orthonormal else "sparse"


def _check_values(data: Media, args: Namespace) -> None:
    values = data.values
    if np.isinf(values).any():
        raise ValueError(f"{data.source}: there are infinite values; NaN stands for missing ones")
    for name, place in data.channels:
        if np.isnan(values[place]).all():
            raise ValueError(f"{data.source}: every sample{name and f' of {name}'} is missing")
    several = values.ndim > 1 and args.axes is not None
    if args.figures and (several or values[data.channels[0][1]].ndim > 2):
        raise ValueError(f"--figures draws one signal or image; {data.source} has more")


def _figure(result: Any, y: np.ndarray, t: np.ndarray | None) -> bytes:
    from sparsebayes.plots import DenoiseDisplay

    axes = new_axes(13, 4.5, columns=3) if y.ndim == 2 else new_axes()
    return png(DenoiseDisplay.from_denoised(result, y, t=t, ax=axes).figure_)


def _report(
    data: Media, outcome: Outcome, args: Namespace, seconds: float, files: Iterable[Path]
) -> str:
    missing = np.count_nonzero(np.isnan(data.values))
    filled = f", {missing} missing (filled)" if missing else ""
    estimated = "" if args.noise == "estimate" else " (given)"
    noise = joined([f"{std:.4g}" for std in np.sqrt(outcome.noise_variances)])
    how = ("method", METHODS[args.method])
    if args.method == "sparse":
        how = ("prior", str(args.prior))
    rows: Rows = [
        ("data", f"{data.source}: {data.about}{filled}"),
        ("dictionary", args.dictionary),
        how,
        ("noise std", noise + estimated),
        ("coefficients", f"{outcome.kept} kept of {outcome.coefficients}"),
        ("time", f"{seconds:.2f} s"),
    ]
    rows += [("note", note) for note in outcome.notes]
    rows += [("written" if k == 0 else "", str(path)) for k, path in enumerate(files)]
    return "\n".join([f"sparsebayes {package_version()}: denoising", "", *aligned(rows)])
