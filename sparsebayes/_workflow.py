"""What the command line does between reading and writing."""

from __future__ import annotations

import io
import math
import warnings
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import is_regressor
from sklearn.metrics import PredictionErrorDisplay
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes._table import Table, TableError, read_table
from sparsebayes.datasets import load_sensor
from sparsebayes.persistence import ModelFileError, StoredModel, final_estimator

_COVERAGE = 0.95
# Widths tried, in standard deviations of the inputs times the root of their number.
_WIDTHS = np.geomspace(0.05, 2.0, 8)


@dataclass(frozen=True)
class Data:
    """A table split into inputs and target."""

    source: str
    X: np.ndarray
    y: np.ndarray
    features: list[str]
    target: str


@dataclass(frozen=True)
class CrossValidation:
    """How held-out samples were predicted."""

    folds: int
    rmse: float
    coverage: float


@dataclass(frozen=True)
class Fit:
    """A fitted model and what is to be said of it."""

    model: Any
    widths_tried: int
    rmse: float
    r2: float
    cv: CrossValidation | None = None
    notes: list[str] = field(default_factory=list)


def read_data(csv: str | None, target: str | None, features: str | None) -> Data:
    """Read the CSV file, or the bundled one."""
    if csv is None:
        bundled = load_sensor()
        table, source = read_table(bundled.filename), "the bundled sensor data"
        target = target or bundled.target_names[0]
    else:
        table, source = read_table(csv), csv
    if target is None:
        raise TableError(
            f"--target is needed: which column of {', '.join(map(repr, table.columns))}?"
        )
    names = [name.strip() for name in features.split(",")] if features else None
    names = names or [name for name in table.columns if name != target]
    if not names:
        raise TableError(f"{table.source}: there is no input column besides {target!r}")
    if target in names:
        raise TableError(f"column {target!r} is the target and cannot be an input")
    values = table.numbers([*names, target])
    return Data(source, values[:, :-1], values[:, -1], names, target)


def fit(data: Data, args: Namespace) -> Fit:
    """Fit, and judge the fit by cross-validation with the same choices made in every fold."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, tried = _fit_one(data.X, data.y, args)
    notes = list(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))
    residual = data.y - model.predict(data.X)
    spread = np.sum((data.y - data.y.mean()) ** 2)
    enough = args.folds >= 2 and len(data.y) >= 2 * args.folds
    return Fit(
        model=model,
        widths_tried=tried,
        rmse=_rms(residual),
        r2=1 - np.sum(residual**2) / spread if spread > 0 else math.nan,
        cv=_cross_validate(data, args) if enough else None,
        notes=notes,
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _cross_validate(data: Data, args: Namespace) -> CrossValidation:
    residual, inside = np.empty(len(data.y)), np.empty(len(data.y), dtype=bool)
    splitter = KFold(args.folds, shuffle=True, random_state=args.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all data has told them
        for train, test in splitter.split(data.X):
            model, _ = _fit_one(data.X[train], data.y[train], args)
            mean, std = model.predict(data.X[test], return_std=True)
            residual[test] = data.y[test] - mean
            inside[test] = np.abs(residual[test]) <= ndtri(0.5 + _COVERAGE / 2) * std
    return CrossValidation(args.folds, _rms(residual), float(inside.mean()))


def _fit_one(X: np.ndarray, y: np.ndarray, args: Namespace) -> tuple[Any, int]:
    """The fitted model, and the number of widths it was chosen from."""
    if args.length_scale != "evidence" or not _has_length_scale(args.basis):
        return _build(X, args, args.length_scale).fit(X, y), 1
    several = X.shape[1] > 1
    spread = 1.0 if several else float(X.std()) or 1.0  # several inputs are standardised
    widths = [float(f"{w:.3g}") for w in _WIDTHS * spread * math.sqrt(X.shape[1])]
    models = [_build(X, args, width).fit(X, y) for width in widths]
    return max(models, key=lambda m: final_estimator(m).log_evidence_), len(models)


def _has_length_scale(basis: str) -> bool:
    return "length_scale" in _basis(basis).get_params()


def _basis(name: str) -> Any:
    from sparsebayes.basis import as_basis

    return as_basis(name)


def _build(X: np.ndarray, args: Namespace, length_scale: Any) -> Any:
    from sparsebayes import RVR

    basis = _basis(args.basis)
    if length_scale != "evidence":
        if not _has_length_scale(args.basis):
            raise ValueError(f"--length-scale: the basis {args.basis!r} has no length scale")
        basis.set_params(length_scale=length_scale)
    options = {} if args.max_iter is None else {"max_iter": args.max_iter}
    model = RVR(
        basis,
        solver=args.solver,
        prior=args.prior,
        noise=args.noise,
        bias=args.bias,
        random_state=args.seed,
        **options,
    )
    return make_pipeline(StandardScaler(), model) if X.shape[1] > 1 else model


def predict(record: StoredModel, table: Table, coverage: float) -> tuple[Sequence[str], np.ndarray]:
    """Column names and the array (rows, 4) of mean, std, lower, upper."""
    if not is_regressor(record.model):
        raise ModelFileError(
            f"the model is a {type(record.final).__name__}; predict needs a regression model"
        )
    names = record.feature_names or table.columns
    X = table.numbers(names)
    with warnings.catch_warnings():
        # The columns were matched by name above.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        mean, std = record.model.predict(X, return_std=True)
    half = ndtri(0.5 + coverage / 2) * std
    values = np.column_stack([mean, std, mean - half, mean + half])
    return ("mean", "std", "lower", "upper"), values


def check_figures(directory: str) -> None:
    """Raise before the fit what would spoil the figures after it."""
    from sparsebayes.plots import require_matplotlib

    require_matplotlib("--figures")
    path = Path(directory)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"--figures: {directory!r} is not a directory")


def figures(model: Any, data: Data, directory: Path) -> dict[Path, bytes]:
    """The figures of a fit, as the contents of PNG files."""
    from matplotlib.figure import Figure

    from sparsebayes.plots import EvidenceDisplay, RegressionDisplay

    def axes():  # a Figure of its own: pyplot and the user's backend stay out of it
        return Figure(figsize=(8, 5), layout="constrained").subplots()

    if data.X.shape[1] == 1:
        shown = RegressionDisplay.from_estimator(
            model,
            data.X,
            data.y,
            ax=axes(),
            feature_name=data.features[0],
            target_name=data.target,
        ).figure_
    else:
        shown = PredictionErrorDisplay.from_predictions(
            data.y, model.predict(data.X), kind="actual_vs_predicted", subsample=None, ax=axes()
        ).figure_
    files = {directory / "fit.png": _png(shown)}
    if len(final_estimator(model).evidence_path_):  # a constant target leaves nothing to climb
        path = EvidenceDisplay.from_estimator(model, ax=axes()).figure_
        files[directory / "evidence.png"] = _png(path)
    return files


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=120)
    return stream.getvalue()
