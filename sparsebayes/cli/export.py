"""``sparsebayes export``: a stored model as C, ONNX or JSON."""

from __future__ import annotations

import warnings
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sparsebayes._support.files import check_output, write_files
from sparsebayes.cli.csv_table import target_names
from sparsebayes.export import ExportedModel, from_json, to_c, to_json, to_onnx
from sparsebayes.export.c.compiled import find_compiler, largest_difference, run_c
from sparsebayes.export.c.source import TOLERANCES
from sparsebayes.export.onnx.runtime import run_onnx
from sparsebayes.export.programs.models import program_of
from sparsebayes.export.programs.program import Program
from sparsebayes.persistence import StoredModel, load_record
from sparsebayes.rows.files import open_file

Array = np.ndarray

_SUFFIXES = {".c": "c", ".onnx": "onnx", ".json": "json"}
_ONNX_FLOAT = 1e-4  # of a standard deviation, by which a service in single precision may differ


def run(args: Namespace) -> None:
    """Write the files, after a comparison with Python if one is asked for, and tell their sizes."""
    kind = _kind(args)
    record = load_record(args.model)
    program = _program(record)
    std, dtype = not args.no_std, "float" if args.float else "double"
    if args.no_std and "std" not in program.outputs:
        raise ValueError("--no-std is for regressions; a classification has no standard deviations")
    files, notes = _files(kind, record, program, args, dtype, std)
    if args.output:
        for path in files:
            check_output(str(path), args.model, args.check)
    told = []
    if args.check is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the files have told them
            told = _checked(kind, record, program, args, dtype, std)
    if args.output:
        write_files(files)
        sizes = ", ".join(f"{path.name} ({len(content)} bytes)" for path, content in files.items())
        print(f"written: {sizes}")
    for line in [*_told(kind, files), *told, *(f"note: {note}" for note in notes)]:
        print(line)


def _kind(args: Namespace) -> str:
    """What to write: as asked for, or by the name of the file."""
    by_name = _SUFFIXES.get(Path(args.output).suffix.lower()) if args.output else None
    kind: str | None = args.to or by_name
    if kind is None:
        raise ValueError("--to is needed: c, onnx or json, unless -o names a file of that type")
    if args.output and by_name != kind:
        raise ValueError(f"-o {args.output}: the name of the file must end in .{kind}")
    if args.output is None and args.check is None:
        raise ValueError("-o is needed: the file to write (or --check to compare only)")
    if args.float and kind == "json":
        raise ValueError("--float is for c and onnx; JSON has all digits")
    return kind


def _program(record: StoredModel) -> Program:
    features: Any = record.feature_names or None
    program = program_of(record.model, features)
    if program.is_classifier or record.target_name is None:
        return program
    names = target_names(record.target_name, program.size("mean"))
    return program_of(record.model, features, names)


def _files(
    kind: str, record: StoredModel, program: Program, args: Namespace, dtype: str, std: bool
) -> tuple[dict[Path, bytes], list[str]]:
    """The contents of the files, and warnings."""
    names: dict[str, Any] = {
        "feature_names": program.feature_names or None,
        "target_names": program.target_names or None,
    }
    place = Path(args.output or f"model.{kind}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if kind == "c":
            texts = to_c(record.model, name=place.stem, dtype=dtype, std=std, **names)
            files = {place.with_name(name): text.encode() for name, text in texts.items()}
        elif kind == "onnx":
            model = to_onnx(record.model, dtype=dtype, std=std, **names)
            files = {place: model.SerializeToString()}
        else:
            files = {place: f"{to_json(_kept(program, std), **names)}\n".encode()}
    own = [w for w in caught if issubclass(w.category, UserWarning)]
    return files, [" ".join(str(warning.message).split()) for warning in own]


def _kept(program: Program, std: bool) -> Any:
    return ExportedModel(program if std else program.only("mean"))


def _told(kind: str, files: dict[Path, bytes]) -> list[str]:
    """What the header says of the size."""
    if kind != "c":
        return []
    header = next(content for path, content in files.items() if path.suffix == ".h").decode()
    return [header.splitlines()[1].strip(" *")]


def _checked(
    kind: str, record: StoredModel, program: Program, args: Namespace, dtype: str, std: bool
) -> list[str]:
    """Compare with Python at the rows of a file; an error if they differ."""
    file = open_file(args.check)
    names = program.feature_names or file.header.columns
    file.check(names)
    (table,) = file.tables(names, None)
    X = table.numbers(names)
    if dtype == "float":
        X = X.astype(np.float32).astype(np.float64)
    right = _by_python(record.model, program, X)
    of = "" if program.is_classifier else " of a standard deviation"
    wanted = ["mean"] if not std else list(program.outputs)
    limit, lines = TOLERANCES[dtype], []
    if kind == "json":
        found = from_json(to_json(_kept(program, std))).program.run(X)
    elif kind == "onnx":
        found = run_onnx(to_onnx(record.model, dtype=dtype, std=std), X, wanted)
        limit = _ONNX_FLOAT if dtype == "float" else limit
    else:
        compiler = find_compiler()
        if compiler is None:
            return ["not compared: no C compiler found (cc, gcc or clang; CC names another)"]
        found, size = run_c(record.model, X, dtype=dtype, std=std, compiler=compiler)
        lines = [f"compiled by {' '.join(compiler)}: {size} bytes of code and constants"]
    difference = largest_difference(found, right)
    if not difference <= limit:
        raise ValueError(
            f"--check {args.check}: the largest difference from Python is {difference:.2g}{of}, "
            f"more than {limit:g}; " + ("leave --float out" if dtype == "float" else "report it")
        )
    rows = f"{len(X)} row{'s' if len(X) > 1 else ''}"
    return [*lines, f"largest difference from Python at {rows}: {difference:.2g}{of}"]


def _by_python(model: Any, program: Program, X: Array) -> dict[str, Array]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        if is_classifier(model):
            return {"probabilities": model.predict_proba(X)}
        if is_regressor(model):
            mean, std = model.predict(X, return_std=True)
            return {"mean": mean.reshape(len(X), -1), "std": std.reshape(len(X), -1)}
    return program.run(X)  # one step of a forecast
