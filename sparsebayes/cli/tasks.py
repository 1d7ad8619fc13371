"""Regression and classification on the command line: how to choose, build, judge and draw."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from sklearn.metrics import PredictionErrorDisplay, log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from sparsebayes._rvm.options import AdaptName
from sparsebayes.classification import RVC
from sparsebayes.cli.csv_table import TargetName, target_names
from sparsebayes.cli.reports.figures import new_panels
from sparsebayes.persistence import final_estimator
from sparsebayes.regression import RVR
from sparsebayes.rows.table import MOST_DIFFERENT, Column, Table, TableError

PANELS = 30  # of a figure, one for each target
_COVERAGE = 0.95
# Whole numbers are taken for classes where there are few different ones, and rows enough of each.
_MAX_CLASSES, _ROWS_PER_CLASS = 10, 5
_OPTIONS = {  # of one task only
    "regression": ("noise",),
    "classification": ("link", "inference", "multi_class", "share_alpha", "class_weight"),
}

Columns = dict[str, np.ndarray]
Scores = dict[str, float]


class Task(Protocol):
    """What the command line asks of a kind of model."""

    name: str

    def model(self, basis: Any, common: dict[str, Any], args: Namespace) -> Any:
        """The estimator, not fitted."""
        ...

    def judge(self, model: Any, X: np.ndarray, y: np.ndarray) -> list[Scores]:
        """How the model fits its training data, for each target."""
        ...

    def obstacle(self, y: np.ndarray, folds: int) -> str | None:
        """Why there can be no cross-validation."""
        ...

    def validate(
        self, fit: Callable[..., Any], X: np.ndarray, y: np.ndarray, folds: int, seed: int
    ) -> list[Scores]:
        """How held-out data are predicted, for each target."""
        ...

    def predict(
        self, model: Any, X: np.ndarray, coverage: float | None, target: TargetName
    ) -> Columns:
        """What is written for new data."""
        ...

    def figure(self, model: Any, data: Any, axes: Callable[..., Any]) -> Any:
        """The figure of the fit, or None."""
        ...


class Regression:
    name = "regression"

    def model(self, basis: Any, common: dict[str, Any], args: Namespace) -> Any:
        adapt: AdaptName | None = "ard" if args.length_scale == "evidence" else None
        return RVR(basis, noise=args.noise or "estimate", adapt=adapt, **common)

    def judge(self, model: Any, X: np.ndarray, y: np.ndarray) -> list[Scores]:
        found = []
        for target, residual in zip(_by_target(y), _by_target(y - model.predict(X)), strict=True):
            spread = np.sum((target - target.mean()) ** 2)
            r2 = 1 - np.sum(residual**2) / spread if spread > 0 else np.nan
            found.append({"rmse": _rms(residual), "r2": float(r2)})
        return found

    def obstacle(self, y: np.ndarray, folds: int) -> str | None:
        return f"{folds} folds need {2 * folds} rows" if len(y) < 2 * folds else None

    def validate(
        self, fit: Callable[..., Any], X: np.ndarray, y: np.ndarray, folds: int, seed: int
    ) -> list[Scores]:
        residual, inside = np.empty(y.shape), np.empty(y.shape, dtype=bool)
        for train, test in KFold(folds, shuffle=True, random_state=seed).split(X):
            model = fit(X[train], y[train])
            residual[test] = y[test] - model.predict(X[test])
            lower, upper = _interval(model, X[test], _COVERAGE)
            inside[test] = (lower <= y[test]) & (y[test] <= upper)
        return [
            {"rmse": _rms(wrong), "coverage": float(held.mean())}
            for wrong, held in zip(_by_target(residual), _by_target(inside), strict=True)
        ]

    def predict(
        self, model: Any, X: np.ndarray, coverage: float | None, target: TargetName
    ) -> Columns:
        mean, std = model.predict(X, return_std=True)
        lower, upper = _interval(model, X, coverage or _COVERAGE)
        columns = {"mean": mean, "std": std, "lower": lower, "upper": upper}
        names = target_names(target, len(_by_target(mean)))
        if len(names) == 1:
            return {kind: values.ravel() for kind, values in columns.items()}
        return {
            f"{kind}_{name}": values[:, k]
            for k, name in enumerate(names)
            for kind, values in columns.items()
        }

    def figure(self, model: Any, data: Any, axes: Callable[..., Any]) -> Any:
        from sparsebayes.plots import RegressionDisplay

        count = len(data.targets)
        if data.X.shape[1] > 1 or data.X.dtype == object:
            return _error_figure(model, data)
        return RegressionDisplay.from_estimator(
            model,
            data.X,
            data.y,
            ax=axes(8, 3.2 * count, rows=count, sharex=True) if count > 1 else axes(),
            feature_name=data.features[0],
            target_name=data.target_name,
        ).figure_


class Classification:
    name = "classification"

    def model(self, basis: Any, common: dict[str, Any], args: Namespace) -> Any:
        given = {name: getattr(args, name) for name in _OPTIONS[self.name]}
        chosen = {name: value for name, value in given.items() if value is not None}
        return RVC(basis, **chosen, **common)

    def judge(self, model: Any, X: np.ndarray, y: np.ndarray) -> list[Scores]:
        return [_scores(y, model.predict_proba(X), model.classes_)]

    def obstacle(self, y: np.ndarray, folds: int) -> str | None:
        labels, counts = np.unique(y, return_counts=True)
        if counts.min() < 2:
            return f"class {labels[counts.argmin()]} has one row only"
        if counts.max() < folds:
            return f"no class has {folds} rows, one for each fold"
        return None

    def validate(
        self, fit: Callable[..., Any], X: np.ndarray, y: np.ndarray, folds: int, seed: int
    ) -> list[Scores]:
        classes = np.unique(y)
        probability = np.empty((len(y), classes.size))
        # Two rows of a class are never in the same fold, so that every model knows every class.
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y):
            probability[test] = fit(X[train], y[train]).predict_proba(X[test])
        return [_scores(y, probability, classes)]

    def predict(
        self, model: Any, X: np.ndarray, coverage: float | None, target: TargetName
    ) -> Columns:
        if coverage is not None:
            raise ValueError("--coverage is for regression, but the model is a classification")
        probability = model.predict_proba(X)
        named = {f"p_{label}": p for label, p in zip(model.classes_, probability.T, strict=True)}
        return {"label": model.predict(X)} | named

    def figure(self, model: Any, data: Any, axes: Callable[..., Any]) -> Any:
        from sparsebayes.plots import ClassificationDisplay

        if data.X.shape[1] != 2 or data.X.dtype == object:
            return None
        return ClassificationDisplay.from_estimator(
            model,
            data.X,
            data.y,
            ax=axes(),
            feature_names=data.features,
            target_name=data.target_name,
        ).figure_


def _error_figure(model: Any, data: Any) -> Any:
    """Targets against their predictions, a panel for each."""
    count = len(data.targets)
    panels = new_panels(count, 4.0)
    values = _by_target(data.y), _by_target(model.predict(data.X))
    for k, (panel, y, predicted) in enumerate(zip(panels, *values, strict=True)):
        PredictionErrorDisplay.from_predictions(
            y, predicted, kind="actual_vs_predicted", subsample=None, ax=panel
        )
        if count > 1:
            panel.set_title(data.targets[k])
    return panels[0].figure


def _interval(model: Any, X: np.ndarray, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the central interval, also of the last step of a Pipeline."""
    final = final_estimator(model)
    return final.predict_interval(X if final is model else model[:-1].transform(X), coverage)


def _by_target(values: np.ndarray) -> np.ndarray:
    """A row for each target."""
    return values.reshape(len(values), -1).T


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _scores(y: np.ndarray, probability: np.ndarray, classes: np.ndarray) -> Scores:
    wrong = int(np.count_nonzero(classes[probability.argmax(axis=1)] != y))
    loss = float(log_loss(y, probability, labels=classes))
    return {"wrong": wrong, "rows": len(y), "log_loss": loss}


def told(scores: Scores) -> str:
    """The scores as a text."""
    if "wrong" in scores:
        wrong, rows = scores["wrong"], scores["rows"]
        error = f"error {100 * wrong / rows:.1f} % ({wrong} of {rows})"
        return f"{error}, log loss {scores['log_loss']:.4f}"
    error = f"RMSE {scores['rmse']:.4g}"
    if "coverage" in scores:
        return f"{error}, 95 % intervals cover {100 * scores['coverage']:.1f} %"
    return f"{error}, R² {scores['r2']:.4f}"


def look_at(tables: Iterable[Table], targets: list[str], wanted: str) -> list[Column]:
    """What the targets hold."""
    columns = [Column(target, as_text=wanted == "classification") for target in targets]
    for table in tables:
        for column in columns:
            column.add(table)
    return columns


def choose(columns: list[Column], source: str, wanted: str) -> tuple[Task, str, str]:
    """The task, what the targets are read as (see `Column.kind`), and the reason."""
    if len(columns) > 1:
        return Regression(), "numbers", _choose_several(columns, source, wanted)
    (column,) = columns
    why = "asked for by --task"
    if wanted == "auto":
        wanted, why = _guess(column)
    if wanted == "regression":
        return Regression(), "numbers", why
    count = len(column.counts)
    if count < 2:
        raise TableError(
            f"{source}: column {column.name!r} holds one label only, {next(iter(column.counts))!r};"
            " a classification needs two"
        )
    if count > MOST_DIFFERENT:
        raise TableError(
            f"{source}: column {column.name!r} holds more than {MOST_DIFFERENT} different labels; "
            "a classification has fewer"
        )
    if 2 * count > column.n_rows:
        text = False in column.first
        remedy = "take out of the cells what is no number" if text else "use --task regression"
        raise TableError(
            f"{column.first[not text]} is one of {count} different labels in {column.n_rows} rows; "
            f"classes need several rows each; for a regression {remedy}"
        )
    # Whole numbers where all labels are such; else text, which comes back as it was.
    return Classification(), "whole" if column.kind == "whole" else "text", why


def _choose_several(columns: list[Column], source: str, wanted: str) -> str:
    """The reason for a regression on several targets, which must be numbers."""
    if wanted == "classification":
        raise TableError(
            f"--task classification has one target, but --target names {len(columns)}; "
            "fit a model for each"
        )
    if wanted == "regression":
        return "asked for by --task"
    for column in columns:
        kind, reason = _guess(column)
        if kind == "classification":
            raise TableError(
                f"{source}: column {column.name!r} is taken for classes ({reason}), and "
                "several targets are for regression; name it as the only target"
            )
    return f"there are {len(columns)} targets"


def _guess(column: Column) -> tuple[str, str]:
    if not column.n_numbers:
        return "classification", "the target holds text"
    if column.n_numbers < column.n_rows:
        odd = column.n_numbers < column.n_rows / 2  # what the fewer cells are
        told = "is a number, other cells are text" if odd else "is not a number, other cells are"
        raise TableError(
            f"{column.first[odd]} {told}; repair it, or take all cells as "
            "labels with --task classification"
        )
    count = len(column.values)
    few = 2 <= count <= min(_MAX_CLASSES, column.n_rows / _ROWS_PER_CLASS)
    number = f"more than {MOST_DIFFERENT}" if count > MOST_DIFFERENT else str(count)
    kind = f"{number} different {'whole ' if column.whole else ''}numbers"
    kind = kind if count > 1 else "one number"
    if column.whole and few:
        return "classification", f"the target holds {kind}; --task regression overrides"
    return "regression", f"the target holds {kind}; --task classification overrides"


def refuse_foreign(args: Namespace, task: Task, why: str) -> None:
    """Raise if an option of the other task was given."""
    for name, options in _OPTIONS.items():
        given = [option for option in options if getattr(args, option) is not None]
        if given and name != task.name:
            raise ValueError(
                f"--{given[0].replace('_', '-')} is for {name}, but the task is {task.name} ({why})"
            )
