"""Plain-text reports of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from sparsebayes._support.version import package_version
from sparsebayes.classification.likelihood import prior_of
from sparsebayes.cli.csv_table import target_names
from sparsebayes.cli.tasks import told
from sparsebayes.cli.text_inputs import encoded_names
from sparsebayes.persistence import StoredModel, final_estimator
from sparsebayes.regression import StudentT

if TYPE_CHECKING:
    from sparsebayes.cli.fit import FitResult, TrainingData

_ROWS = 20  # of the table of relevance vectors
_FEATURES = 4
_OUTPUTS = 6  # classes or targets, of the same table
_TARGETS = 10  # of the other lines

Rows = list[tuple[str, str]]


def fit_report(result: FitResult, data: TrainingData, files: Sequence[str]) -> str:
    """What ``sparsebayes fit`` prints."""
    final = final_estimator(result.model)
    several = len(data.features) > 1
    named = f"target{'s' if len(data.targets) > 1 else ''} {joined(data.targets)}"
    rows = [
        ("data", f"{data.source}: {data.n_rows} rows, {named}"),
        ("task", f"{data.task.name}: {data.why}"),
        ("inputs", _listed(data.features)),
        ("", "standardised; the model file holds the scaler" if several else "used as they are"),
    ]
    if is_classifier(final):
        counts = [data.counts[str(label)] for label in final.classes_]
        each = [f"{label}: {n}" for label, n in zip(final.classes_, counts, strict=True)]
        rows.append(("rows by class", joined(each)))
    basis, *settings = _settings(final)
    rows.append(basis)
    learned = np.exp(final.basis_.log_scales())
    given = final.adapt is None or (final.adapt == "auto" and final.basis_.scales_given)
    if learned.size and not given:
        values = joined([f"{scale:.3g}" for scale in learned])
        rows.append(("", f"length scale learned: {values}{' (of each input)' if several else ''}"))
    inputs = data.X if final is result.model else result.model[:-1].transform(data.X)
    rows += [*settings, *_outcome(final, data.targets, inputs)]
    of = "" if result.judged == data.n_rows else f" (on {result.judged} of the rows)"
    training = [told(scores) + of for scores in result.training]
    rows += _of_each("training data", data.targets, training)
    if result.held_out:
        held_out = [told(scores) for scores in result.held_out]
        rows += _of_each(f"{result.folds}-fold CV", data.targets, held_out)
    rows += [("note", note) for note in result.notes]
    rows += [("written" if k == 0 else "", path) for k, path in enumerate(files)]
    title = f"sparsebayes {package_version()}: relevance vector {data.task.name}"
    seen = encoded_names(result.model, data.features)
    return "\n".join([title, "", *aligned(rows), "", *_table(final, seen, data.targets)])


def inspect_report(record: StoredModel, path: str) -> str:
    """What ``sparsebayes inspect`` prints."""
    final = record.final
    names = record.feature_names or [f"x{j}" for j in range(getattr(final, "n_features_in_", 0))]
    steps = [type(step).__name__ for _, step in getattr(record.model, "steps", [])[:-1]]
    rows = [
        ("file", path),
        ("kind", " after ".join([type(final).__name__, *reversed(steps)])),
        ("written by", f"sparsebayes {record.version}"),
        ("inputs", _listed(names)),
    ]
    if isinstance(record.target_name, list):
        rows.append(("targets", _listed(record.target_name)))
    else:
        rows.append(("target", record.target_name or "not named"))
    if not hasattr(final, "relevance_"):  # no relevance vector machine
        return "\n".join(aligned([*rows, ("model", " ".join(f"{final}".split()))]))
    count = 1 if is_classifier(final) else np.size(final.noise_variance_)
    targets = target_names(record.target_name, count)
    if is_classifier(final):
        rows.append(("classes", _listed(final.classes_)))
    rows += [*_settings(final), *_outcome(final, targets)]
    seen = encoded_names(record.model, names)
    return "\n".join([*aligned(rows), "", *_table(final, seen, targets)])


def joined(texts: list[str], most: int = 10) -> str:
    """The first few texts, with commas."""
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def _listed(names: Iterable[Any]) -> str:
    texts = [str(name) for name in names]
    return f"{len(texts)} ({joined(texts, 8)})"


def _of_each(name: str, targets: Sequence[str], texts: Sequence[str]) -> Rows:
    """A line, or one for each of several targets."""
    if len(texts) == 1:
        return [(name, texts[0])]
    lines = [f"{t}: {text}" for t, text in zip(targets, texts, strict=True)][:_TARGETS]
    if len(texts) > _TARGETS:
        lines.append(f"({len(texts) - _TARGETS} more targets)")
    return [(name if k == 0 else "", line) for k, line in enumerate(lines)]


def _settings(final: Any) -> Rows:
    basis = ("basis", f"{final.basis_}")
    if not is_classifier(final):
        solver = f"{final.solver}, prior {final.prior}"
        return [basis, ("solver", f"{solver}, {_noise_setting(final.noise)}")]
    solver = f"{final.solver}, prior {prior_of(final.prior, final.link_)}"
    if final.link_ == "least_squares":
        model = "least squares"
    elif len(final.classes_) == 2 or hasattr(final, "estimators_"):
        model = f"{final.link_} link, {final.inference} inference"
        model += ", one model for each class" if hasattr(final, "estimators_") else ""
    else:
        model = "softmax, laplace inference"
        model += ", classes share precisions" if final.share_alpha else ""
    model += " (chosen by rows held out)" if final.link == "auto" else ""
    weight = "" if final.class_weight is None else f", class weight {final.class_weight}"
    return [basis, ("solver", solver), ("likelihood", model + weight)]


def _noise_setting(noise: Any) -> str:
    if isinstance(noise, StudentT) or (isinstance(noise, str) and noise == "student"):
        return "noise with outliers"
    if isinstance(noise, str):
        return "noise that varies with the inputs" if noise == "varying" else "noise estimated"
    if isinstance(noise, Real):
        return f"noise variance {noise:g}"
    if isinstance(noise, (list, tuple, np.ndarray)):
        return f"noise variances {joined([f'{variance:g}' for variance in noise])}"
    return f"noise estimated, prior {noise}"


def _noise(final: Any, targets: Sequence[str], inputs: np.ndarray | None) -> Rows:
    """What was found of the noise; where it varies, at these inputs or the relevance vectors."""
    texts = [f"{std:.4g}" for std in np.sqrt(np.atleast_1d(final.noise_variance_))]
    if hasattr(final, "nu_"):
        found = f"Student's t with nu = {final.nu_:.3g}; 68 % of the noise are within its std"
        if np.isinf(final.nu_):
            found = "none: nu = inf, the noise is normal"
        return [*_of_each("noise std", targets, texts), ("outliers", found)]
    if isinstance(final.noise, str) and final.noise == "varying":
        where = _vectors(final) if inputs is None else inputs
        texts = ["varies with the inputs" for _ in targets]
        if len(where) > 1:
            noise = final.predictive().noise_at(where) / np.square(final.calibration_)
            spans = np.sqrt([noise.min(axis=0), noise.max(axis=0)]).reshape(2, -1).T
            place = " at the relevance vectors" if inputs is None else ""
            texts = [_span(low, high) + place for low, high in spans]
    return _of_each("noise std", targets, texts)


def _span(low: float, high: float) -> str:
    if high <= (1 + 1e-9) * low:
        return f"{high:.4g}, not found to vary with the inputs"
    return f"varies with the inputs: {low:.4g} to {high:.4g}"


def _outcome(final: Any, targets: Sequence[str], inputs: np.ndarray | None = None) -> Rows:
    stop = f"{final.stop_reason_} (iteration {final.n_iter_})"
    rows = [("relevance vectors", _kept(final))]
    if getattr(final, "approximation_", None):
        rows.insert(0, ("many rows", final.approximation_))
    if not is_classifier(final):
        rows += _noise(final, targets, inputs)
        if final.calibrate is not None:
            bars = []
            more = np.atleast_1d(np.sqrt(final.left_out_variance_))
            for factor, left in zip(np.atleast_1d(final.calibration_), more, strict=True):
                away = f", {left:.3g} more away from the data" if left > 0 else ""
                bars.append(f"times {factor:.3g}{away}, by held-out folds")
            rows += _of_each("error bars", targets, bars)
    elif len(final.classes_) > 2:
        counts = np.isfinite(final.alpha_).sum(axis=1)
        each = [f"{label}: {n}" for label, n in zip(final.classes_, counts, strict=True)]
        rows.append(("weights by class", joined(each)))
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


def _weights(final: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights and their standard deviations, and which are kept: a row for a class or target."""
    alpha, coef, sigma = final.alpha_, final.weights_, final.sigma_
    if sigma.ndim == 3:  # of several targets, which keep the same functions
        alpha, coef, variances = alpha.T, coef.T, np.diagonal(sigma)
    else:
        alpha, coef, variances = np.atleast_2d(alpha), np.atleast_2d(coef), np.diagonal(sigma)
    kept = np.isfinite(alpha)
    stds = np.full(coef.shape, np.inf)
    if variances.size == coef.shape[1]:  # the same for all classes, by least squares
        variances = np.broadcast_to(variances, coef.shape)
    stds[kept] = np.sqrt(variances if variances.ndim == 1 else variances[kept])
    return coef, stds, kept


def _table(final: Any, features: list[str], targets: Sequence[str]) -> list[str]:
    """The kept basis functions: where they sit, and their weights."""
    coef, stds, kept = _weights(final)
    outputs = final.classes_ if is_classifier(final) else targets
    vectors = _vectors(final)
    size = coef.shape[1]
    loose = size - len(vectors)  # functions without a centre come first
    shown = features[:_FEATURES]
    one = len(coef) == 1
    heads = ["weight", "std"] if one else [f"w[{name}]" for name in outputs[:_OUTPUTS]]
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
        else:  # blank where a class does not keep the function, or a target is constant
            column = zip(coef[:_OUTPUTS, k], kept[:_OUTPUTS, k], strict=True)
            weights = [f"{w:.5g}" if there else "" for w, there in column]
        cells.append([name or f"#{final.relevance_[k]}", *where, *weights])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells
    ]
    lines.insert(1, "-" * len(lines[0]))
    if len(order) < size:
        lines.append(f"({size - len(order)} more, of smaller weight relative to their std)")
    if len(coef) > _OUTPUTS:
        kind = "classes" if is_classifier(final) else "targets"
        lines.append(f"({len(coef) - _OUTPUTS} more {kind})")
    return lines
