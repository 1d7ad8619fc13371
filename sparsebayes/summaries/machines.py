"""Summaries of relevance vector machines."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from sparsebayes._support.printed_table import PrintedColumn, PrintedTable
from sparsebayes.classification.likelihood import prior_of
from sparsebayes.regression import StudentT
from sparsebayes.summaries.summary import (
    Fact,
    Summary,
    joined,
    largest,
    listed,
    names_of_inputs,
    names_of_targets,
    of_each,
    stopped,
    unprinted,
)

Array = np.ndarray

_CENTRE = 4  # inputs of a centre in print
_OUTPUTS = 6  # classes or targets in print


def machine(
    model: Any, *, feature_names: Any = None, target_names: Any = None, inputs: Any = None
) -> Summary:
    """Of an RVR or RVC; `inputs` are rows at which noise that varies is shown."""
    features = names_of_inputs(model, feature_names)
    labels = is_classifier(model)
    targets = names_of_targets(1 if labels else np.size(model.noise_variance_), target_names)
    facts = [
        Fact("rows", "rows", f"{model._n_rows}", model._n_rows),
        Fact("inputs", "inputs", listed(features), features),
    ]
    if target_names is not None or len(targets) > 1:
        told = listed(targets) if len(targets) > 1 else targets[0]
        facts.append(Fact("targets", f"target{'s' * (len(targets) > 1)}", told, targets))
    if labels:
        facts.append(Fact("classes", "classes", listed(model.classes_), model.classes_))
    facts += [*_settings(model, len(features)), *_outcome(model, targets, inputs)]
    table = _functions(model, features, model.classes_ if labels else targets)
    task = "classification" if labels else "regression"
    return Summary(f"{type(model).__name__}: relevance vector {task}", facts, {"functions": table})


def _settings(model: Any, n_inputs: int) -> list[Fact]:
    """What was asked for, and what stands for "auto"."""
    facts = [Fact("basis", "basis", f"{model.basis_}", f"{model.basis_}")]
    scales = model.basis_.length_scales
    if scales:
        told = joined([f"{scale:.3g}" for scale in np.concatenate(scales)])
        given = model.adapt is None or (model.adapt == "auto" and model.basis_.scales_given)
        what = f"length scale{' given' if model.basis_.scales_given else ''}"
        what = what if given else "length scale learned"
        told = f"{what}: {told}{' (of each input)' if n_inputs > 1 else ''}"
        facts.append(Fact("length_scales", "", told, list(scales)))
    prior = prior_of(model.prior, model.link_) if is_classifier(model) else model.prior
    told = f"{model.solver}, prior {prior}"
    if not is_classifier(model):
        noise = _noise_setting(model.noise)
        return [
            *facts,
            Fact("solver", "solver", f"{told}, {noise}", f"{model.solver}"),
            unprinted("prior", f"{prior}"),
            unprinted("noise", noise),
        ]
    return [
        *facts,
        Fact("solver", "solver", told, f"{model.solver}"),
        unprinted("prior", f"{prior}"),
        Fact("likelihood", "likelihood", _likelihood(model), _likelihood(model)),
    ]


def _likelihood(model: Any) -> str:
    if model.link_ == "least_squares":
        told = "least squares"
    elif len(model.classes_) == 2 or hasattr(model, "estimators_"):
        told = f"{model.link_} link, {model.inference} inference"
        told += ", one model for each class" if hasattr(model, "estimators_") else ""
    else:
        told = "softmax, laplace inference"
        told += ", classes share precisions" if model.share_alpha else ""
    told += " (chosen by rows held out)" if model.link == "auto" else ""
    return told + ("" if model.class_weight is None else f", class weight {model.class_weight}")


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


def _outcome(model: Any, targets: Sequence[str], inputs: Array | None) -> list[Fact]:
    """What was found."""
    facts = []
    if model.approximation_ is not None:
        facts.append(Fact("approximation", "many rows", model.approximation_, model.approximation_))
    facts.append(Fact("n_functions", *_kept(model), len(model.relevance_)))
    if not is_classifier(model):
        facts += [*_noise(model, targets, inputs), *_error_bars(model, targets)]
    else:
        if len(model.classes_) > 2:
            counts = np.isfinite(model.alpha_).sum(axis=1)
            each = [f"{label}: {n}" for label, n in zip(model.classes_, counts, strict=True)]
            facts.append(Fact("weights_by_class", "weights by class", joined(each), counts))
        if model._temperature is not None:
            slope = model._temperature.slope
            told = f"log odds times {slope:.3g}, by rows held out"
            facts.append(Fact("calibration", "probabilities", told, slope))
    facts += [
        Fact("log_evidence", "log evidence", f"{model.log_evidence_:.4f}", model.log_evidence_),
        *stopped(
            model.converged_, f"{model.stop_reason_} (iteration {model.n_iter_})", model.n_iter_
        ),
    ]
    return facts


def _kept(model: Any) -> tuple[str, str]:
    """What the kept functions are called, and how many there are."""
    if not model.basis_.centred:
        return "functions", f"{len(model.relevance_)}"
    kinds = model.basis_.kinds()
    centred, loose = int((kinds >= 0).sum()), int((kinds < 0).sum())
    told = f"{centred}"
    if loose == 1 and model.bias and model.relevance_[0] == 0:
        told += ", and the bias"
    elif loose:
        told += f", and {loose} functions without a centre"
    return "relevance vectors", told


def _noise(model: Any, targets: Sequence[str], inputs: Array | None) -> list[Fact]:
    """What was found of the noise; where it varies, at these inputs or the relevance vectors."""
    stds = np.sqrt(np.atleast_1d(model.noise_variance_))
    texts = [f"{std:.4g}" for std in stds]
    value: Any = stds
    facts = []
    if hasattr(model, "nu_"):
        found = f"Student's t with nu = {model.nu_:.3g}; 68 % of the noise are within its std"
        if np.isinf(model.nu_):
            found = "none: nu = inf, the noise is normal"
        facts.append(Fact("nu", "outliers", found, model.nu_))
    elif isinstance(model.noise, str) and model.noise == "varying":
        where = model.relevance_vectors_ if inputs is None else inputs
        texts = ["varies with the inputs" for _ in targets]
        if len(where) > 1:
            noise = model.predictive().noise_at(where) / np.square(model.calibration_)
            value = np.sqrt([noise.min(axis=0), noise.max(axis=0)]).reshape(2, -1).T
            place = " at the relevance vectors" if inputs is None else ""
            texts = [_span(low, high) + place for low, high in value]
    return [Fact("noise_std", "noise std", of_each(targets, texts), value), *facts]


def _span(low: float, high: float) -> str:
    if high <= (1 + 1e-9) * low:
        return f"{high:.4g}, not found to vary with the inputs"
    return f"varies with the inputs: {low:.4g} to {high:.4g}"


def _error_bars(model: Any, targets: Sequence[str]) -> list[Fact]:
    if model.calibrate is None:
        return []
    factors, texts = np.atleast_1d(model.calibration_), []
    more = np.atleast_1d(np.sqrt(model.left_out_variance_))
    for factor, left in zip(factors, more, strict=True):
        away = f", {left:.3g} more away from the data" if left > 0 else ""
        texts.append(f"times {factor:.3g}{away}, by held-out folds")
    return [
        Fact("calibration", "error bars", of_each(targets, texts), factors),
        unprinted("left_out_std", more),
    ]


def _functions(model: Any, features: Sequence[str], outputs: Sequence[Any]) -> PrintedTable:
    """The kept basis functions: where they sit, their weights, and how the data determine them."""
    values = _by_output(model)
    alike = model.determined_.ndim == 1  # for all targets
    outputs = [str(name) for name in outputs]
    names = _names(model, features)
    where = iter(model.relevance_vectors_)
    centred = model.basis_.kinds() >= 0
    one = len(values["weight"]) == 1
    rows = []
    for k, name in enumerate(names):
        row = {"function": name, "number": model.relevance_[k]}
        row["centre"] = next(where) if centred[k] else None
        for key, of_outputs in values.items():
            column = [None if np.isnan(value) else value for value in of_outputs[:, k]]
            row[key] = column[0] if one else dict(zip(outputs, column, strict=True))
        if alike:
            row["gamma"] = model.determined_[k]
        rows.append(row)
    columns = [PrintedColumn("function", "function")]
    if centred.any():
        shown = list(enumerate(features))[:_CENTRE]
        columns += [PrintedColumn(("centre", j), name, ".5g") for j, name in shown]
    below = []
    if one:
        columns += [
            PrintedColumn("weight", "weight", ".5g"),
            PrintedColumn("std", "std", ".3g"),
        ]
    else:
        columns += [
            PrintedColumn(("weight", name), f"w[{name}]", ".5g", error=("std", name))
            for name in outputs[:_OUTPUTS]
        ]
    if alike or one:
        columns.append(PrintedColumn("gamma", "gamma", ".3f"))
    if one:
        columns.append(PrintedColumn("alpha", "alpha", ".3g"))
    with np.errstate(invalid="ignore", divide="ignore"):
        importance = np.nan_to_num(np.abs(values["weight"]) / values["std"], nan=0.0).max(axis=0)
    chosen = largest(importance)
    if chosen is not None:
        count = len(rows) - len(chosen)
        below.append(f"({count} more, of smaller weight relative to their std)")
    if len(outputs) > _OUTPUTS and not one:
        kind = "classes" if is_classifier(model) else "targets"
        below.append(f"({len(outputs) - _OUTPUTS} more {kind})")
    return PrintedTable(columns, rows, chosen, below)


def _names(model: Any, features: Sequence[str]) -> list[str]:
    """Of each kept function, its number where it has none."""
    names = model.basis_.function_names(features)
    return [name or f"#{k}" for name, k in zip(names, model.relevance_, strict=True)]


def _by_output(model: Any) -> dict[str, Array]:
    """Weight, std, gamma and alpha of each class or target, (K, S); NaN where it is not kept."""
    alpha, coef, sigma = model.alpha_, model.weights_, model.sigma_
    if sigma.ndim == 3:  # of several targets, which keep the same functions
        alpha, coef = alpha.T, coef.T
    alpha, coef = np.atleast_2d(alpha), np.atleast_2d(coef)
    gamma = np.array(np.broadcast_to(model.determined_, coef.shape))
    kept = np.isfinite(alpha)
    variances = np.diagonal(sigma)
    if variances.ndim == 2 or len(coef) == 1 or model.link_ == "least_squares":
        variances = np.broadcast_to(variances, coef.shape)[kept]  # those of each, or of all alike
    std = np.full(coef.shape, np.nan)
    std[kept] = np.sqrt(variances)
    found = {"weight": coef, "std": std, "gamma": gamma, "alpha": alpha}
    return {key: np.where(kept, values, np.nan) for key, values in found.items()}
