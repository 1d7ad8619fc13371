"""Fitted models side by side, on rows that none of them has seen."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.metrics import brier_score_loss, log_loss, root_mean_squared_error, zero_one_loss
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sparsebayes._support.data import check_labels, check_lengths, check_numbers, check_size
from sparsebayes._support.printed_table import PrintedColumn, PrintedTable, page, paragraph
from sparsebayes._support.validation import check_coverage
from sparsebayes.scores import crps, interval_coverage, negative_log_predictive_density

__all__ = ["Comparison", "compare"]

Array = np.ndarray
Row = dict[str, Any]

_EVIDENCE = (
    "log evidences can be compared only among models of one likelihood, fitted to the same rows"
)


class Comparison:
    """Fitted models side by side, the best first; made by :func:`compare`.

    Iterating over it gives a dict for each model. ``print`` shows a table, and so do notebooks.

    Parameters
    ----------
    kind : {"regression", "classification"}
        What the models do.
    n_rows : int
        Rows that the models were compared on.
    coverage : float
        Probability inside the intervals, of a regression.
    rows : list of dict
        One for each model, see :func:`compare`. What a model does not have is missing.
    notes : list of str
        What to bear in mind.

    See Also
    --------
    compare : Makes one.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, compare
    >>> X = np.linspace(0.0, 1.0, 60)[:, None]
    >>> y = 2 * X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> models = {name: RVR(name).fit(X[::2], y[::2]) for name in ("linear", "polynomial")}
    >>> found = compare(models, X[1::2], y[1::2])
    >>> found.kind, found.n_rows, len(found.rows)
    ('regression', 30, 2)
    """

    def __init__(
        self, kind: str, n_rows: int, coverage: float, rows: list[Row], notes: list[str]
    ) -> None:
        self.kind, self.n_rows, self.coverage = kind, n_rows, coverage
        self.rows, self.notes = rows, notes

    @property
    def _printed(self) -> PrintedTable:
        """Without the scores that no model has."""
        table = self._table
        there = {key for row in self.rows for key in row}
        return PrintedTable([one for one in table.columns if one.key in there], self.rows)

    @property
    def _table(self) -> PrintedTable:
        score = PrintedColumn
        regression = self.kind == "regression"
        density = ("nlpd", "NLPD") if regression else ("log_loss", "log loss")
        columns = [
            score("model", "model", left=True),
            score(*density, ".4f"),
            score("difference", "to best", ".4f"),
            score("standard_error", "±", ".4f"),
        ]
        if regression:
            columns += [
                score("crps", "CRPS", ".4g"),
                score("rmse", "RMSE", ".4g"),
                score("coverage", f"in {100 * self.coverage:g} %", ".1%"),
            ]
        else:
            columns += [score("error", "error", ".1%"), score("brier", "Brier", ".4f")]
        columns += [score("log_evidence", "log evidence", ".2f"), score("size", "size", ".4g")]
        return PrintedTable(columns, self.rows)

    @property
    def _title(self) -> str:
        if not self.n_rows:
            return f"{self.kind}, without held-out rows, the largest evidence first"
        return f"{self.kind} on {self.n_rows} held-out rows, the best model first"

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([self._title, "", *self._printed.lines(), *notes])

    def __repr__(self) -> str:
        return f"<Comparison: {self.kind}, {', '.join(row['model'] for row in self.rows)}>"

    def _repr_html_(self) -> str:
        notes = [paragraph(f"note: {note}") for note in self.notes]
        return page(paragraph(self._title, strong=True), self._printed.html(), *notes)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, text and lists, for JSON.

        Returns
        -------
        dict
            With "kind", "n_rows", "coverage", "models" (a dict for each, None for what a model
            does not have) and "notes".
        """
        return {
            "kind": self.kind,
            "n_rows": self.n_rows,
            "coverage": self.coverage,
            "models": self._table.records(),
            "notes": list(self.notes),
        }


def compare(models: Any, X: Any = None, y: Any = None, *, coverage: float = 0.95) -> Comparison:
    """Compare fitted models on rows that were held out.

    It is the last step before one of them is used: which predicts best, by how much, and whether
    the difference is more than chance.

    Parameters
    ----------
    models : dict or list
        Fitted regressors or fitted classifiers by name; a list gets names from their classes. They
        may be of this package or of scikit-learn, pipelines, searches or posterior samples.
    X : array-like of shape (n_samples, n_features), default=None
        Rows that no model was fitted to; None compares log evidence and size alone.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
        Their targets or labels.
    coverage : float, default=0.95
        Probability inside the intervals whose share of targets is counted.

    Returns
    -------
    Comparison
        The best first: by `nlpd` or `log_loss`, then those that give no density. Without rows, by
        `log_evidence`.

        Of a regression each row has `model`; `nlpd`, minus the mean log density of the
        targets; `difference`, how much that is above the best; `standard_error` of the
        difference, from its spread over the rows; `crps`; `rmse`; `coverage`, the share of targets
        in the interval; `log_evidence`; `size`, the number of functions or rows that predictions
        are made of. Where a model gives no standard deviations, what needs them is missing.
        Of a classification: `log_loss`, `difference`, `standard_error`, `error`, `brier`,
        `log_evidence` and `size`.

    See Also
    --------
    sparsebayes.scores : The scores by themselves, and scorers for searches.

    Notes
    -----
    Predictions count as Gaussian ones, except that intervals are the model's own where it has
    `predict_interval` and densities those of its `log_density`, as of posterior samples. With
    several targets scores are averages over them.
    A difference is worth little where it is less than two standard errors, and the standard error
    is that of rows which are independent; it says nothing of other training data.
    Log evidences are of the training data: those of models fitted to other rows, to other targets
    or in other units cannot be compared. A model whose evidence is that of standardised targets
    (``GaussianProcessRegressor(normalize_y=True)``) has none here. Log loss and Brier score are
    those of scikit-learn, where a probability counts as at least 2.2e-16. `crps` needs the package
    scoringrules; without it a note says so.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from sparsebayes import RVR, compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, (160, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_normal(160)
    >>> models = {"line": BayesianRidge().fit(X[:80], y[:80]), "curve": RVR().fit(X[:80], y[:80])}
    >>> found = compare(models, X[80:], y[80:])
    >>> [row["model"] for row in found]
    ['curve', 'line']
    >>> bool(found.rows[1]["difference"] > 2 * found.rows[1]["standard_error"])
    True
    """
    coverage = check_coverage(coverage)
    named = _named(models)
    kinds = {name: _kind(name, model) for name, model in named.items()}
    kind = next(iter(kinds.values()))
    others = [name for name, other in kinds.items() if other != kind]
    if others:
        raise ValueError(
            f"models mixes regressors and classifiers: {next(iter(kinds))!r} does {kind} and "
            f"{others[0]!r} does {kinds[others[0]]}; compare them apart."
        )
    notes: list[str] = []
    if (X is None) != (y is None):
        given, missing = ("X", "y") if y is None else ("y", "X")
        raise ValueError(f"{given} is given, but {missing} is None; give both, or neither.")
    if X is None:
        return _without_rows(kind, coverage, named)
    if kind == "classification":
        y = check_labels(y)
        check_lengths(X, y)
        found = [_classified(name, model, X, y) for name, model in named.items()]
    else:
        y = check_size("y", check_numbers("y", y))
        check_lengths(X, y)
        found = [_regressed(name, model, X, y, coverage, notes) for name, model in named.items()]
    if sum("log_evidence" in row for row, _ in found) > 1:
        notes.append(_EVIDENCE)
    main, second = ("log_loss", "error") if kind == "classification" else ("nlpd", "rmse")
    found.sort(key=lambda pair: (pair[0].get(main, np.inf), pair[0][second]))
    best = found[0][1]
    for row, each in found:
        if best is not None and each is not None:
            row["difference"] = float(np.mean(each - best))
            if len(each) > 1:
                row["standard_error"] = float(np.std(each - best, ddof=1) / np.sqrt(len(each)))
    return Comparison(kind, len(y), coverage, [row for row, _ in found], notes)


def _without_rows(kind: str, coverage: float, named: Mapping[str, Any]) -> Comparison:
    """What can be said of models alone."""
    rows = []
    for name, model in named.items():
        final, _ = _unwrapped(model)
        rows.append({"model": name, **_size(final), **_log_evidence(final)})
    rows.sort(key=lambda row: -row.get("log_evidence", -np.inf))
    notes = [_EVIDENCE] if sum("log_evidence" in row for row in rows) > 1 else []
    return Comparison(kind, 0, coverage, rows, notes)


def _named(models: Any) -> dict[str, Any]:
    """Models by name, or a clear error."""
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    elif isinstance(models, Sequence) and not isinstance(models, (str, bytes, Pipeline)):
        kinds = [type(_unwrapped(model)[0]).__name__ for model in models]
        named = {}
        for k, kind in enumerate(kinds):
            number = f" {kinds[: k + 1].count(kind)}" if kinds.count(kind) > 1 else ""
            named[kind + number] = models[k]
    else:
        raise TypeError(
            "models must be a list of fitted models or a dict of them by name, "
            f"got {type(models).__name__}; put a single model into a list."
        )
    if not named:
        raise ValueError("models is empty; give at least one fitted model.")
    return named


def _unwrapped(model: Any, X: Any = None) -> tuple[Any, Any]:
    """What predicts in the end, the best of a search or the last step of a Pipeline; its inputs."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            X = X if X is None or len(model) == 1 else model[:-1].transform(X)
            model = model[-1]
        else:
            return model, X


def _kind(name: str, model: Any) -> str:
    """Whether a fitted model does regression or classification, or a clear error."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
        if is_classifier(model):
            return "classification"
        if is_regressor(model):
            return "regression"
    elif hasattr(model, "predict_proba"):
        return "classification"
    elif hasattr(model, "predict"):  # posterior samples
        return "regression"
    raise TypeError(
        f"models[{name!r}] is a {type(model).__name__}; compare takes fitted regressors and "
        "classifiers, and pipelines and searches of them."
    )


def _regressed(
    name: str, model: Any, X: Any, y: Array, coverage: float, notes: list[str]
) -> tuple[Row, Array | None]:
    """The scores of a regressor, and its negative log density at each row."""
    model, X = _unwrapped(model, X)
    row, each, std = {"model": name, **_size(model), **_log_evidence(model)}, None, None
    if "return_std" in inspect.signature(model.predict).parameters:
        mean, std = (np.asarray(values) for values in model.predict(X, return_std=True))
    else:
        mean = np.asarray(model.predict(X))
    if mean.shape != y.shape:
        raise ValueError(
            f"y must have shape {mean.shape} like the predictions of {name!r}, got {y.shape}."
        )
    row["rmse"] = float(root_mean_squared_error(y, mean))
    if std is not None:
        columns = (values.reshape(len(y), -1).T for values in (y, mean, std))
        targets: list[tuple[Array, Array, Array]] = list(zip(*columns, strict=True))
        if hasattr(model, "log_density"):
            each = -model.log_density(X, y)
        else:
            densities = [negative_log_predictive_density(*t, per_sample=True) for t in targets]
            each = np.mean(densities, axis=0)
        row["nlpd"] = float(np.mean(each))
        try:
            row["crps"] = float(np.mean([crps(*target) for target in targets]))
        except ImportError as error:
            if str(error) not in notes:
                notes.append(str(error))
        if hasattr(model, "predict_interval"):
            lower, upper = model.predict_interval(X, coverage)
            row["coverage"] = float(np.mean((lower <= y) & (y <= upper)))
        else:
            inside = [interval_coverage(*target, coverage=coverage) for target in targets]
            row["coverage"] = float(np.mean(inside))
    return row, each


def _classified(name: str, model: Any, X: Any, y: Array) -> tuple[Row, Array | None]:
    """The scores of a classifier, and its log loss at each row."""
    model, X = _unwrapped(model, X)
    row, each = {"model": name, **_size(model), **_log_evidence(model)}, None
    classes = np.asarray(model.classes_)
    new = sorted(set(y.tolist()) - set(classes.tolist()))
    if new:
        raise ValueError(
            f"y has the label {new[0]!r}, which {name!r} was not fitted to; its labels are "
            f"{classes.tolist()}. Leave such rows out."
        )
    row["error"] = float(zero_one_loss(y, model.predict(X)))
    if hasattr(model, "predict_proba"):
        probability = np.asarray(model.predict_proba(X), dtype=np.float64)
        number = {label: k for k, label in enumerate(classes.tolist())}
        own = probability[np.arange(len(y)), [number[label] for label in y.tolist()]]
        each = -np.log(np.maximum(own, np.finfo(np.float64).eps))
        row["log_loss"] = float(log_loss(y, probability, labels=classes))
        if len(classes) == 2:
            row["brier"] = float(brier_score_loss(y == classes[1], probability[:, 1]))
        else:
            row["brier"] = float(brier_score_loss(y, probability, labels=classes))
    return row, each


def _log_evidence(model: Any) -> Row:
    """Of the targets in their own units, if the model has it."""
    if hasattr(model, "log_evidence_"):
        return {"log_evidence": float(model.log_evidence_)}
    if hasattr(model, "log_marginal_likelihood_value_") and not getattr(
        model, "normalize_y", False
    ):
        return {"log_evidence": float(model.log_marginal_likelihood_value_)}
    return {}


def _size(model: Any) -> Row:
    """The number of functions or rows that predictions are made of, if that is known."""
    for kept in ("relevance_", "support_vectors_", "X_train_", "inputs_"):
        if hasattr(model, kept):
            return {"size": len(getattr(model, kept))}
    if hasattr(model, "inclusion_of_any"):  # of posterior samples: on average
        return {"size": float(model.inclusion_of_any.sum())}
    if hasattr(model, "coef_"):
        return {"size": int(np.count_nonzero(np.atleast_2d(model.coef_).any(axis=0)))}
    return {}
