"""``sparsebayes fit``: fit a model to a CSV file, judge it, store and draw it."""

from __future__ import annotations

import warnings
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes._support.files import check_output, write_files
from sparsebayes.basis import as_basis
from sparsebayes.cli.csv_table import TableError, read_table
from sparsebayes.cli.figures import check_directory, new_axes, png
from sparsebayes.cli.report import fit_report
from sparsebayes.cli.tasks import PANELS, Task, choose, refuse_foreign
from sparsebayes.datasets import load_gases, load_sensor
from sparsebayes.persistence import dumps, final_estimator


@dataclass(frozen=True)
class TrainingData:
    """A table split into inputs and targets, and what is to be done with it.

    `y` has a column for each target if there are several.
    """

    source: str
    X: np.ndarray
    y: np.ndarray
    features: list[str]
    targets: list[str]
    task: Task
    why: str

    @property
    def target_name(self) -> str | list[str]:
        """The name of the target, or those of several."""
        return self.targets if len(self.targets) > 1 else self.targets[0]


@dataclass(frozen=True)
class FitResult:
    """A fitted model and what is to be said of it, for each target where there are several."""

    model: Any
    training: list[str]
    folds: int = 0
    held_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run(args: Namespace) -> None:
    """Fit, print the report, and write the files."""
    if args.output:
        check_output(args.output, args.csv)
    if args.figures:
        check_directory(args.figures)
    data = _read_data(args)
    if args.figures and len(data.targets) > PANELS:
        raise ValueError(
            f"--figures draws {PANELS} targets at most, but --target names {len(data.targets)}; "
            "leave it out"
        )
    result = _fit(data, args)
    files: dict[Path, bytes] = {}
    if args.output:
        content = dumps(result.model, feature_names=data.features, target_name=data.target_name)
        files[Path(args.output)] = content
    if args.figures:
        files |= _figures(result.model, data, Path(args.figures))
    report = "" if args.quiet else fit_report(result, data, files)
    if args.figures:
        Path(args.figures).mkdir(parents=True, exist_ok=True)
    write_files(files)
    if report:
        print(report)


def _read_data(args: Namespace) -> TrainingData:
    """Read the CSV file, or a bundled one."""
    if args.csv is None:
        classes = args.task == "classification"
        table = read_table((load_gases if classes else load_sensor)().filename)
        source = f"the bundled {'gases' if classes else 'sensor'} data"
        targets = table.named(args.target) if args.target else table.columns[-1:]
    else:
        table, source = read_table(args.csv), args.csv
        if args.target is None:
            raise TableError(
                f"--target is needed: which column of {', '.join(map(repr, table.columns))}?"
            )
        targets = table.named(args.target)
    names = table.named(args.features) if args.features else None
    names = names or [name for name in table.columns if name not in targets]
    if not names:
        listed = ", ".join(map(repr, targets))
        raise TableError(f"{table.source}: there is no input column besides {listed}")
    for target in targets:
        if target in names:
            one = "the target" if len(targets) == 1 else "a target"
            raise TableError(f"column {target!r} is {one} and cannot be an input")
    X = table.numbers(names)
    task, y, why = choose(table, targets, args.task)
    refuse_foreign(args, task, why)
    return TrainingData(source, X, y, names, targets, task, why)


def _fit(data: TrainingData, args: Namespace) -> FitResult:
    """Fit, and judge the fit by cross-validation with the same choices made in every fold."""
    task = data.task
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = _build(data.X, task, args).fit(data.X, data.y)
    notes = list(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))
    training = task.judge(model, data.X, data.y)
    held_out: list[str] = []
    obstacle = task.obstacle(data.y, args.folds)
    if args.folds >= 2 and obstacle is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all data has told them
            held_out = task.validate(
                lambda X, y: _build(X, task, args).fit(X, y), data.X, data.y, args.folds, args.seed
            )
    elif args.folds >= 2:
        notes.append(f"no cross-validation: {obstacle}")
    return FitResult(model, training, args.folds, held_out, notes)


def _has_length_scale(basis: str) -> bool:
    return "length_scale" in as_basis(basis).get_params()


def _build(X: np.ndarray, task: Task, args: Namespace) -> Any:
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
    for name in ("prior", "max_iter"):
        if getattr(args, name) is not None:
            common[name] = getattr(args, name)
    model = task.model(basis, common, args)
    return make_pipeline(StandardScaler(), model) if X.shape[1] > 1 else model


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
