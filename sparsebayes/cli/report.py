"""Plain-text reports of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from sparsebayes.persistence import StoredModel, final_estimator, package_version

if TYPE_CHECKING:
    from sparsebayes.cli.fit import FitResult, TrainingData

_ROWS = 20  # of the table of relevance vectors
_FEATURES = 4
_CLASSES = 6

Rows = list[tuple[str, str]]


def fit_report(result: FitResult, data: TrainingData, files: Iterable[Path]) -> str:
    """What ``sparsebayes fit`` prints."""
    final = final_estimator(result.model)
    several = len(data.features) > 1
    rows = [
        ("data", f"{data.source}: {len(data.y)} rows, target {data.target}"),
        ("task", f"{data.task.name}: {data.why}"),
        ("inputs", _listed(data.features)),
        ("", "standardised; the model file holds the scaler" if several else "used as they are"),
    ]
    if is_classifier(final):
        counts = [np.count_nonzero(data.y == label) for label in final.classes_]
        told = [f"{label}: {n}" for label, n in zip(final.classes_, counts, strict=True)]
        rows.append(("rows by class", joined(told)))
    basis, *settings = _settings(final)
    rows.append(basis)
    if result.widths_tried > 1:
        rows.append(("", f"length scale: the highest evidence of {result.widths_tried} tried"))
    learned = np.exp(final.basis_.log_scales())
    given = final.adapt is None or (final.adapt == "auto" and final.basis_.scales_given)
    if learned.size and not given:
        values = joined([f"{scale:.3g}" for scale in learned])
        rows.append(("", f"length scale learned: {values}{' (of each input)' if several else ''}"))
    rows += [*settings, *_outcome(final)]
    rows.append(("training data", result.training))
    if result.held_out:
        rows.append((f"{result.folds}-fold CV", result.held_out))
    rows += [("note", note) for note in result.notes]
    rows += [("written" if k == 0 else "", str(path)) for k, path in enumerate(files)]
    title = f"sparsebayes {package_version()}: relevance vector {data.task.name}"
    return "\n".join([title, "", *aligned(rows), "", *_table(final, data.features)])


def inspect_report(record: StoredModel, path: str) -> str:
    """What ``sparsebayes inspect`` prints."""
    final = record.final
    names = record.feature_names or [f"x{j}" for j in range(final.n_features_in_)]
    steps = [type(step).__name__ for _, step in getattr(record.model, "steps", [])[:-1]]
    rows = [
        ("file", path),
        ("kind", " after ".join([type(final).__name__, *reversed(steps)])),
        ("written by", f"sparsebayes {record.version}"),
        ("inputs", _listed(names)),
        ("target", record.target_name or "not named"),
    ]
    if is_classifier(final):
        rows.append(("classes", _listed(final.classes_)))
    rows += [*_settings(final), *_outcome(final)]
    return "\n".join([*aligned(rows), "", *_table(final, names)])


def joined(texts: list[str], most: int = 10) -> str:
    """The first few texts, with commas."""
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def _listed(names: Iterable[Any]) -> str:
    texts = [str(name) for name in names]
    return f"{len(texts)} ({joined(texts, 8)})"


def _settings(final: Any) -> Rows:
    basis, solver = ("basis", f"{final.basis_}"), f"{final.solver}, prior {final.prior}"
    if not is_classifier(final):
        noise = "noise estimated"
        if isinstance(final.noise, float | int):
            noise = f"noise variance {final.noise:g}"
        elif not isinstance(final.noise, str):
            noise += f", prior {final.noise}"
        return [basis, ("solver", f"{solver}, {noise}")]
    if len(final.classes_) == 2 or hasattr(final, "estimators_"):
        model = f"{final.link} link, {final.inference} inference"
        model += ", one model for each class" if hasattr(final, "estimators_") else ""
    else:
        model = "softmax, laplace inference"
        model += ", classes share precisions" if final.share_alpha else ""
    weight = "" if final.class_weight is None else f", class weight {final.class_weight}"
    return [basis, ("solver", solver), ("likelihood", model + weight)]


def _outcome(final: Any) -> Rows:
    stop = f"{final.stop_reason_} (iteration {final.n_iter_})"
    rows = [("relevance vectors", _kept(final))]
    if not is_classifier(final):
        rows.append(("noise std", f"{np.sqrt(final.noise_variance_):.4g}"))
        if final.calibrate is not None:
            bars = f"times {final.calibration_:.3g}"
            if getattr(final, "left_out_variance_", 0.0) > 0:
                bars += f", {np.sqrt(final.left_out_variance_):.3g} more away from the data"
            rows.append(("error bars", f"{bars}, by held-out folds"))
    elif len(final.classes_) > 2:
        counts = np.isfinite(final.alpha_).sum(axis=1)
        told = [f"{label}: {n}" for label, n in zip(final.classes_, counts, strict=True)]
        rows.append(("weights by class", joined(told)))
    return [
        *rows,
        ("log evidence", f"{final.log_evidence_:.4f}"),
        ("stopped", stop if final.converged_ else f"NOT CONVERGED: {stop}"),
    ]


def _vectors(final: Any) -> np.ndarray:
    """Relevance vectors, none for bases without centres."""
    vectors = getattr(final, "relevance_vectors_", None)
    return np.empty((0, final.n_features_in_)) if vectors is None else np.asarray(vectors)


def _bias_kept(final: Any) -> bool:
    return bool(final.bias and len(final.relevance_) and final.relevance_[0] == 0)


def _kept(final: Any) -> str:
    centred = len(_vectors(final))
    loose = len(final.relevance_) - centred
    if loose == 0:
        return f"{centred}"
    if loose == 1 and _bias_kept(final):
        return f"{centred}, and the bias"
    return f"{centred}, and {loose} functions without a centre"


def aligned(rows: Rows) -> list[str]:
    """Lines of names and texts in two columns."""
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {text}" for name, text in rows]


def _table(final: Any, features: list[str]) -> list[str]:
    """The kept basis functions: where they sit, and their weights."""
    alpha, coef = np.atleast_2d(final.alpha_), np.atleast_2d(final.weights_)
    kept = np.isfinite(alpha)
    stds = np.full(coef.shape, np.inf)
    stds[kept] = np.sqrt(np.diag(final.sigma_))
    vectors = _vectors(final)
    size = coef.shape[1]
    loose = size - len(vectors)  # functions without a centre come first
    shown = features[:_FEATURES]
    one = len(coef) == 1
    heads = ["weight", "std"] if one else [f"w[{c}]" for c in final.classes_[:_CLASSES]]
    cells = [["function", *shown, *heads]]
    order = np.arange(size)
    if size > _ROWS:
        order = np.sort(np.argsort(-(np.abs(coef) / stds).max(axis=0))[:_ROWS])
    for k in order:
        if k < loose:
            name, where = ("bias" if k == 0 and _bias_kept(final) else ""), [""] * len(shown)
        else:
            name, where = "", [f"{v:.5g}" for v in vectors[k - loose, : len(shown)]]
        if one:
            weights = [f"{coef[0, k]:.5g}", f"{stds[0, k]:.3g}"]
        else:  # blank where a class does not keep the function
            column = zip(coef[:_CLASSES, k], kept[:_CLASSES, k], strict=True)
            weights = [f"{w:.5g}" if there else "" for w, there in column]
        cells.append([name or f"#{final.relevance_[k]}", *where, *weights])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells
    ]
    lines.insert(1, "-" * len(lines[0]))
    if len(order) < size:
        lines.append(f"({size - len(order)} more, of smaller weight relative to their std)")
    if len(coef) > _CLASSES:
        lines.append(f"({len(coef) - _CLASSES} more classes)")
    return lines
