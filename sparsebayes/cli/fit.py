"""What the command line does between reading and writing."""

from __future__ import annotations

import io
import math
import warnings
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes._support.optional import require
from sparsebayes.cli.csv_table import Table, TableError, read_table
from sparsebayes.cli.tasks import Classification, Columns, Regression, Task, choose, refuse_foreign
from sparsebayes.datasets import load_gases, load_sensor
from sparsebayes.persistence import ModelFileError, StoredModel, final_estimator

# Widths tried, in standard deviations of the inputs times the root of their number.
_WIDTHS = np.geomspace(0.05, 2.0, 8)


@dataclass(frozen=True)
class Data:
    """A table split into inputs and target, and what is to be done with it."""

    source: str
    X: np.ndarray
    y: np.ndarray
    features: list[str]
    target: str
    task: Task
    why: str


@dataclass(frozen=True)
class Fit:
    """A fitted model and what is to be said of it."""

    model: Any
    widths_tried: int
    training: str
    folds: int = 0
    held_out: str | None = None
    notes: list[str] = field(default_factory=list)


def read_data(args: Namespace) -> Data:
    """Read the CSV file, or a bundled one."""
    if args.csv is None:
        classes = args.task == "classification"
        table = read_table((load_gases if classes else load_sensor)().filename)
        source = f"the bundled {'gases' if classes else 'sensor'} data"
        target = args.target or table.columns[-1]
    else:
        table, source, target = read_table(args.csv), args.csv, args.target
    if target is None:
        raise TableError(
            f"--target is needed: which column of {', '.join(map(repr, table.columns))}?"
        )
    names = [name.strip() for name in args.features.split(",")] if args.features else None
    names = names or [name for name in table.columns if name != target]
    if not names:
        raise TableError(f"{table.source}: there is no input column besides {target!r}")
    if target in names:
        raise TableError(f"column {target!r} is the target and cannot be an input")
    X = table.numbers(names)
    task, y, why = choose(table, target, args.task)
    refuse_foreign(args, task, why)
    return Data(source, X, y, names, target, task, why)


def fit(data: Data, args: Namespace) -> Fit:
    """Fit, and judge the fit by cross-validation with the same choices made in every fold."""
    task = data.task
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, tried = _fit_one(data.X, data.y, task, args)
    notes = list(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))
    training, held_out = task.judge(model, data.X, data.y), None
    obstacle = task.obstacle(data.y, args.folds)
    if args.folds >= 2 and obstacle is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all data has told them
            held_out = task.validate(
                lambda X, y: _fit_one(X, y, task, args)[0], data.X, data.y, args.folds, args.seed
            )
    elif args.folds >= 2:
        notes.append(f"no cross-validation: {obstacle}")
    return Fit(model, tried, training, args.folds, held_out, notes)


def _fit_one(X: np.ndarray, y: np.ndarray, task: Task, args: Namespace) -> tuple[Any, int]:
    """The fitted model, and the number of widths it was chosen from."""
    given = args.length_scale != "evidence"
    if given or task.adapts or not _has_length_scale(args.basis):
        return _build(X, task, args, args.length_scale).fit(X, y), 1
    several = X.shape[1] > 1
    spread = 1.0 if several else float(X.std()) or 1.0  # several inputs are standardised
    widths = [float(f"{w:.3g}") for w in _WIDTHS * spread * math.sqrt(X.shape[1])]
    models = [_build(X, task, args, width).fit(X, y) for width in widths]
    return max(models, key=lambda m: final_estimator(m).log_evidence_), len(models)


def _has_length_scale(basis: str) -> bool:
    return "length_scale" in _basis(basis).get_params()


def _basis(name: str) -> Any:
    from sparsebayes.basis import as_basis

    return as_basis(name)


def _build(X: np.ndarray, task: Task, args: Namespace, length_scale: Any) -> Any:
    basis = _basis(args.basis)
    if length_scale != "evidence":
        if not _has_length_scale(args.basis):
            raise ValueError(f"--length-scale: the basis {args.basis!r} has no length scale")
        basis.set_params(length_scale=length_scale)
    common = {
        "solver": args.solver,
        "prior": args.prior,
        "augment": args.augment,
        "bias": args.bias,
        "random_state": args.seed,
    }
    if args.max_iter is not None:
        common["max_iter"] = args.max_iter
    model = task.model(basis, common, args)
    return make_pipeline(StandardScaler(), model) if X.shape[1] > 1 else model


def predict(record: StoredModel, table: Table, coverage: float | None) -> Columns:
    """The predictions for the rows of a table, by name of their column."""
    task: Task
    if is_classifier(record.model):
        task = Classification()
    elif is_regressor(record.model):
        task = Regression()
    else:
        raise ModelFileError(
            f"the model is a {type(record.final).__name__}; predict needs a regression or a "
            "classification"
        )
    X = table.numbers(record.feature_names or table.columns)
    with warnings.catch_warnings():
        # The columns were matched by name above.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return task.predict(record.model, X, coverage)


def check_figures(directory: str) -> None:
    """Raise before the fit what would spoil the figures after it."""
    require("matplotlib", "--figures")
    path = Path(directory)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"--figures: {directory!r} is not a directory")


def figures(model: Any, data: Data, directory: Path) -> dict[Path, bytes]:
    """The figures of a fit, as the contents of PNG files."""
    from matplotlib.figure import Figure

    from sparsebayes.plots import EvidenceDisplay

    def axes():  # a Figure of its own: pyplot and the user's backend stay out of it
        return Figure(figsize=(8, 5), layout="constrained").subplots()

    files = {}
    shown = data.task.figure(model, data, axes)
    if shown is not None:
        files[directory / "fit.png"] = png(shown)
    if len(final_estimator(model).evidence_path_):  # a constant target leaves nothing to climb
        path = EvidenceDisplay.from_estimator(model, ax=axes()).figure_
        files[directory / "evidence.png"] = png(path)
    return files


def png(figure: Any) -> bytes:
    """The content of a PNG file."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=120)
    return stream.getvalue()
