"""``sparsebayes fit``: fit a model to a table, judge it, store and draw it."""

from __future__ import annotations

import warnings
from argparse import Namespace
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from sparsebayes.basis import as_basis
from sparsebayes.cli.chunks import LARGE, ScaledChunks, refuse_text, refuse_whole
from sparsebayes.cli.csv_table import chosen_columns, open_rows, reading_notes
from sparsebayes.cli.reports.answer import Answer, check_output, write_outputs
from sparsebayes.cli.reports.data import fit_data
from sparsebayes.cli.reports.figures import check_directory, new_axes, png
from sparsebayes.cli.reports.progress_line import ProgressLine
from sparsebayes.cli.reports.report import fit_report
from sparsebayes.cli.tasks import PANELS, Scores, Task, choose, look_at, refuse_foreign
from sparsebayes.cli.text_inputs import (
    Levels,
    encoder,
    find_levels,
    levels_told,
    read_inputs,
    text_inputs,
)
from sparsebayes.datasets.loaders import data_file
from sparsebayes.persistence import dumps, final_estimator
from sparsebayes.rows.csv_reader import CSVFile
from sparsebayes.rows.table import TableError, TableFile


@dataclass(frozen=True)
class TrainingData:
    """A table split into inputs and targets, and what is to be done with it.

    `y` has a column for each target if there are several. `n_rows` may be more than the rows that
    are held, and `counts` says how often there is each label. `levels` has the different texts of
    inputs that hold text, and `notes` what is to be said of the file.
    """

    source: str
    X: np.ndarray
    y: np.ndarray
    features: list[str]
    targets: list[str]
    task: Task
    why: str
    n_rows: int
    counts: dict[str, int]
    levels: Levels
    notes: list[str]

    @property
    def target_name(self) -> str | list[str]:
        """The name of the target, or those of several."""
        return self.targets if len(self.targets) > 1 else self.targets[0]


@dataclass(frozen=True)
class FitResult:
    """A fitted model and what is to be said of it, for each target where there are several.

    `judged` is the number of rows of the training data on which `training` was found.
    """

    model: Any
    training: list[Scores]
    judged: int
    folds: int = 0
    held_out: list[Scores] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run(args: Namespace) -> Answer:
    """Fit to a file, or to one that comes with the package, and write the files."""
    bundled = "gases" if args.task == "classification" else "sensor"
    with data_file(f"{bundled}.csv") if args.csv is None else nullcontext() as path:
        return _run(args, path)


def _run(args: Namespace, bundled: Path | None) -> Answer:
    check_output(args.output, args.csv)
    if args.folds == 1:
        raise ValueError("--folds 1 leaves no rows to fit to; give 2 or more, or 0 for none")
    if args.figures:
        check_directory(args.figures)
    file, source, names, targets = _open(args, bundled)
    if args.figures and len(targets) > PANELS:
        raise ValueError(
            f"--figures draws {PANELS} targets at most, but --target names {len(targets)}; "
            "leave it out"
        )
    if args.chunk_rows is not None or file.n_bytes > LARGE:
        data, result = _read_chunks(file, source, names, targets, args)
    else:
        data = _read_data(file, source, names, targets, args)
        result = _fit(data, args)
    files: dict[Path, bytes] = {}
    if args.output:
        content = dumps(result.model, feature_names=data.features, target_name=data.target_name)
        files[Path(args.output)] = content
    if args.figures:
        files |= _figures(result.model, data, Path(args.figures))
    written = write_outputs(files, args.figures)
    return Answer(fit_report(result, data, written), fit_data(result, data, written))


def _open(args: Namespace, bundled: Path | None) -> tuple[TableFile, str, list[str], list[str]]:
    """The file or a bundled one, what it is called, and its inputs and targets."""
    if bundled is not None:
        file: TableFile = CSVFile(bundled)
        source = f"the bundled {'gases' if args.task == 'classification' else 'sensor'} data"
        targets = file.header.named(args.target) if args.target else file.header.columns[-1:]
    else:
        file = open_rows(args.csv, args)
        source = file.header.source
        if args.target is None:
            listed = ", ".join(map(repr, file.header.columns))
            raise TableError(f"--target is needed: which column of {listed}?")
        targets = file.header.named(args.target)
    names = chosen_columns(file.header, "--features", args.features, args.exclude, targets)
    return file, source, file.header.inputs(targets, names), targets


def _read_data(
    file: TableFile, source: str, names: list[str], targets: list[str], args: Namespace
) -> TrainingData:
    """All rows of a file."""
    text = text_inputs(file, names, args.categorical)
    (table,) = file.tables([*names, *targets], None)
    levels = find_levels(table, text)
    X = read_inputs(table, names, levels)
    columns = look_at([table], targets, args.task)
    task, kind, why = choose(columns, table.source, args.task)
    several = len(targets) > 1
    y = table.numbers(targets) if several else table.labels(targets[0], kind)
    refuse_foreign(args, task, why)
    notes = [*reading_notes(file), *levels_told(levels)]
    counts = columns[0].counts
    return TrainingData(source, X, y, names, targets, task, why, len(table), counts, levels, notes)


def _read_chunks(
    file: TableFile, source: str, names: list[str], targets: list[str], args: Namespace
) -> tuple[TrainingData, FitResult]:
    """Fit to a file that is read in chunks; what is held of it is a sample."""
    refuse_whole(args, source)
    refuse_text(file, names)
    with ProgressLine(quiet=args.quiet) as line:
        chunks = ScaledChunks(file, names, targets, args.chunk_rows, line)
        columns = look_at(chunks.first_pass(), targets, args.task)
        task, kind, why = choose(columns, file.header.source, args.task)
        refuse_foreign(args, task, why)
        chunks.kind = kind
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = _estimator(task, args).fit(chunks)
    model = model if chunks.scaler is None else make_pipeline(chunks.scaler, model)
    X, y = chunks.sample
    n_rows = columns[0].n_rows
    notes, counts = reading_notes(file), columns[0].counts
    data = TrainingData(source, X, y, names, targets, task, why, n_rows, counts, {}, notes)
    training = task.judge(model, X, y)
    notes = [*notes, *_told(caught)]
    if args.folds >= 2:
        notes.append(
            "no cross-validation: it needs all rows in memory, and these were read in chunks"
        )
    return data, FitResult(model, training, len(X), notes=notes)


def _fit(data: TrainingData, args: Namespace) -> FitResult:
    """Fit, and judge the fit by cross-validation with the same choices made in every fold."""
    task = data.task
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = _build(data, args).fit(data.X, data.y)
    notes = [*data.notes, *_told(caught)]
    training = task.judge(model, data.X, data.y)
    held_out: list[Scores] = []
    obstacle = task.obstacle(data.y, args.folds)
    if args.folds >= 2 and obstacle is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all data has told them
            held_out = task.validate(
                lambda X, y: _build(data, args).fit(X, y), data.X, data.y, args.folds, args.seed
            )
    elif args.folds >= 2:
        notes.append(f"no cross-validation: {obstacle}")
    return FitResult(model, training, len(data.X), args.folds, held_out, notes)


def _told(caught: list[Any]) -> list[str]:
    """Warnings, each once and on one line."""
    return list(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))


def _has_length_scale(basis: str) -> bool:
    return "length_scale" in as_basis(basis).get_params()


def _build(data: TrainingData, args: Namespace) -> Any:
    model = _estimator(data.task, args)
    if len(data.features) == 1 and not data.levels:
        return model
    return make_pipeline(encoder(data.features, data.levels), model)


def _estimator(task: Task, args: Namespace) -> Any:
    basis, length_scale = as_basis(args.basis), args.length_scale
    if length_scale != "evidence":
        if not _has_length_scale(args.basis):
            raise ValueError(f"--length-scale: the basis {args.basis!r} has no length scale")
        basis.set_params(length_scale=length_scale)
    common = {
        "solver": args.solver,
        "augment": args.augment,
        "bias": args.bias,
        "random_state": args.seed,
    }
    for name in ("prior", "max_iter", "max_time"):
        if getattr(args, name) is not None:
            common[name] = getattr(args, name)
    return task.model(basis, common, args)


def _figures(model: Any, data: TrainingData, directory: Path) -> dict[Path, bytes]:
    """The figures of a fit, as the contents of PNG files."""
    from sparsebayes.plots import EvidenceDisplay

    files = {}
    shown = data.task.figure(model, data, new_axes)
    if shown is not None:
        files[directory / "fit.png"] = png(shown)
    if len(final_estimator(model).evidence_path_):  # a constant target leaves nothing to climb
        path = EvidenceDisplay.from_estimator(model, ax=new_axes()).figure_
        files[directory / "evidence.png"] = png(path)
    return files
