"""``sparsebayes export``: a stored model as C, ONNX or JSON."""

from __future__ import annotations

import warnings
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from sparsebayes.cli.csv_table import open_rows, reading_notes, target_names
from sparsebayes.cli.model_file import open_model
from sparsebayes.cli.reports.answer import STANDARD, Answer, check_output, is_stdout, write_outputs
from sparsebayes.cli.text_inputs import refuse_names, stored_levels
from sparsebayes.export import ExportedModel, to_c, to_json, to_onnx
from sparsebayes.export.c.compiled import CompilerError, find_compiler, run_c
from sparsebayes.export.formats import Precision
from sparsebayes.export.onnx.runtime import run_onnx
from sparsebayes.export.programs.differences import agree, largest_difference
from sparsebayes.export.programs.models import program_of
from sparsebayes.forecasting import Forecaster
from sparsebayes.forecasting.one_step import one_step
from sparsebayes.persistence import StoredModel

Array = np.ndarray

_SUFFIXES = {".c": "c", ".onnx": "onnx", ".json": "json"}
_SERVICE = 1e-4  # of a standard deviation, by which ONNX in single precision may differ


def run(args: Namespace) -> Answer:
    """Write the files, after a comparison with Python if one is asked for, and tell their sizes."""
    kind = _kind(args)
    record = open_model(args.model)
    text = stored_levels(record.model, record.feature_names)
    if text:
        raise ValueError(
            f"{args.model}: the inputs {', '.join(map(repr, text))} are text, and such a model "
            "cannot be exported; fit one without them (--exclude), or to columns of 0 and 1"
        )
    if args.no_std and is_classifier(record.model):
        raise ValueError("--no-std is for regressions; a classification has no standard deviations")
    export = _Export(kind, record, "float" if args.float else "double", not args.no_std)
    named = args.output is not None and not is_stdout(args.output)
    place = Path(args.output if named else f"model.{kind}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        files = export.files(place)
    notes = [
        " ".join(str(one.message).split())
        for one in caught
        if issubclass(one.category, UserWarning)
    ]
    about = None
    if kind == "c":  # what the header says of the size
        header = next(content for path, content in files.items() if path.suffix == ".h").decode()
        about = header.splitlines()[1].strip(" *")
    if is_stdout(args.output):
        files = {Path(STANDARD): files[place]}
    for path in files if args.output else ():
        check_output(str(path), args.model, args.check)
    check = None
    if args.check is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the files have told them
            check = _checked(export, args)
    written = write_outputs(files) if args.output else []
    sizes = {path: len(files[Path(path)]) for path in written}
    lines = []
    if written:
        told = (f"{Path(path).name} ({size} bytes)" for path, size in sizes.items())
        lines.append(f"written: {', '.join(told)}")
    lines += [about] if about else []
    lines += check.lines if check else []
    lines += [f"note: {note}" for note in notes]
    data = {
        "model": args.model,
        "format": kind,
        "precision": export.dtype,
        "about": about,
        "check": check and {name: getattr(check, name) for name in ("rows", "difference", "size")},
        "notes": notes,
        "written": written,
        "bytes": list(sizes.values()),
    }
    return Answer("\n".join(lines), data)


def _kind(args: Namespace) -> str:
    """What to write: as asked for, or by the name of the file."""
    piped = is_stdout(args.output)
    by_name = _SUFFIXES.get(Path(args.output).suffix) if args.output and not piped else None
    kind: str | None = args.to or by_name
    if kind is None:
        raise ValueError("--to is needed: c, onnx or json, unless -o names a file of that type")
    if piped and kind == "c":
        raise ValueError("-o -: C is two files, which stdout cannot hold; name one of them with -o")
    if args.output and not piped and by_name != kind:
        raise ValueError(f"-o {args.output}: the name of the file must end in .{kind}")
    if args.output is None and args.check is None:
        raise ValueError("-o is needed: the file to write (or --check to compare only)")
    if args.float and kind == "json":
        raise ValueError("--float is for c and onnx; JSON has all digits")
    return kind


@dataclass(frozen=True)
class _Export:
    """What is asked for: the format, the model, the numbers, and whether with std."""

    kind: str
    record: StoredModel
    dtype: Precision
    std: bool

    @property
    def _names(self) -> dict[str, Any]:
        record, names = self.record, {"feature_names": self.record.feature_names or None}
        if record.target_name is None or is_classifier(record.model):
            return names
        count = len(np.atleast_1d(getattr(record.final, "offset_", 0.0)))
        return names | {"target_names": target_names(record.target_name, count)}

    def files(self, place: Path) -> dict[Path, bytes]:
        """The contents of the files."""
        model = self.record.model
        if self.kind == "onnx":
            found = to_onnx(model, dtype=self.dtype, std=self.std, **self._names)
            return {place: found.SerializeToString()}
        if self.kind == "json":
            return {place: f"{to_json(self._program(), **self._names)}\n".encode()}
        texts = to_c(model, name=place.stem, dtype=self.dtype, std=self.std, **self._names)
        return {place.with_name(name): text.encode() for name, text in texts.items()}

    def _program(self) -> ExportedModel:
        program = program_of(self.record.model)
        return ExportedModel(program if self.std else program.without_std())

    def inputs(self) -> list[str]:
        """The columns that the model takes."""
        if self.record.feature_names or not isinstance(self.record.model, Forecaster):
            return self.record.feature_names
        return program_of(self.record.model).feature_names

    def predict(self, X: Array) -> tuple[dict[str, Array], str, int | None]:
        """What was exported says of the rows of X, a line to tell, and bytes of compiled code.

        Nothing is said of the rows where it cannot run.
        """
        outputs = ["probabilities"] if is_classifier(self.record.model) else ["mean", "std"]
        outputs = outputs if self.std else ["mean"]
        if self.kind == "json":
            return self._program().program.run(X), "", None
        if self.kind == "onnx":
            found = to_onnx(self.record.model, dtype=self.dtype, std=self.std)
            return run_onnx(found, X, outputs), "", None
        compiler = find_compiler()
        if compiler is None:
            missing = "not compared: no C compiler found (cc, gcc or clang; CC names another)"
            return {}, missing, None
        try:
            values, size = run_c(
                self.record.model, X, dtype=self.dtype, std=self.std, compiler=compiler
            )
        except CompilerError as error:
            raise ValueError(
                f"--check: {error}; CC must name a compiler for this machine, or leave --check out"
            ) from error
        by = " ".join(compiler)
        return values, f"compiled by {by}: {size} bytes of code and constants", size


@dataclass(frozen=True)
class _Check:
    """A comparison with Python: the largest difference, None if it could not be made."""

    rows: int
    lines: list[str]
    difference: float | None = None
    size: int | None = None


def _checked(export: _Export, args: Namespace) -> _Check:
    """Compare with Python at the rows of a file; an error if they differ."""
    refuse_names(export.record.model)
    csv, file = args.check, open_rows(args.check, args)
    names = export.inputs() or file.header.columns
    file.check(names)
    (table,) = file.tables(names, None)
    X, notes = table.numbers(names), reading_notes(file)
    if export.dtype == "float":
        with np.errstate(over="ignore"):
            X = X.astype(np.float32).astype(np.float64)
        if not np.isfinite(X).all():
            raise ValueError(f"--float: {csv} has numbers that single precision does not")
    right = _by_python(export.record.model, X)
    found, line, size = export.predict(X)
    lines = [*notes, *([line] if line else [])]
    if not found:
        return _Check(len(X), lines)
    limit = _SERVICE if export.kind == "onnx" and export.dtype == "float" else None
    difference = largest_difference(found, right)
    of = " of a standard deviation" if "std" in right else ""
    if not agree(found, right, export.dtype, limit):
        remedy = "leave --float out" if export.dtype == "float" else "large numbers cancel in it"
        raise ValueError(
            f"--check {csv}: the largest difference from Python is {difference:.2g}{of}; {remedy}"
        )
    rows = f"{len(X)} row{'s' if len(X) > 1 else ''}"
    lines.append(f"largest difference from Python at {rows}: {difference:.2g}{of}")
    return _Check(len(X), lines, difference, size)


def _by_python(model: Any, X: Array) -> dict[str, Array]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        if is_classifier(model):
            return {"probabilities": model.predict_proba(X)}
        if isinstance(model, Forecaster):
            mean, std = one_step(model).predict(X)
        else:
            mean, std = model.predict(X, return_std=True)
    return {"mean": mean.reshape(len(X), -1), "std": std.reshape(len(X), -1)}
