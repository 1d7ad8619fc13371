"""Summaries of Gaussian processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import WhiteKernel

from sparsebayes._support.printed_table import PrintedColumn, PrintedTable
from sparsebayes.summaries.summary import (
    Fact,
    Summary,
    joined,
    largest,
    listed,
    names_of_inputs,
    names_of_targets,
    stopped,
    unprinted,
)

_CENTRE = 4  # inputs of a support input in print


def reduced_rank(model: Any, *, feature_names: Any = None, target_names: Any = None) -> Summary:
    """Of a ReducedRankGPR."""
    features = names_of_inputs(model, feature_names)
    size, rows = len(model.support_), len(model.X_train_)
    how = "all of them" if size == rows else f"chosen by {model.selection}"
    facts = [
        *_data(rows, features, 1, target_names),
        *_kernel(model, features),
        Fact("n_support", "support inputs", f"{size} of {rows} rows, {how}", size),
        unprinted("selection", model.selection),
        *_noise_std(model, "estimated" if isinstance(model.noise, str) else "given"),
    ]
    if model.calibrate is not None:
        told = f"times {model.calibration_:.3g}, by held-out folds"
        facts.append(Fact("calibration", "error bars", told, model.calibration_))
    facts += [
        Fact("log_evidence", "log evidence", f"{model.log_evidence_:.4f}", model.log_evidence_),
        *_turns(model),
    ]
    table = _support(model, features)
    return Summary("ReducedRankGPR: Gaussian process of reduced rank", facts, {"support": table})


def leave_one_out(model: Any, *, feature_names: Any = None, target_names: Any = None) -> Summary:
    """Of a LeaveOneOutGPR."""
    features = names_of_inputs(model, feature_names)
    count = 1 if model.y_train_.ndim == 1 else model.y_train_.shape[1]
    facts = [
        *_data(len(model.X_train_), features, count, target_names),
        *_kernel(model, features),
    ]
    noises = [part for part in _parts(model.kernel_) if isinstance(part, WhiteKernel)]
    if noises:
        # In units of the targets as they were fitted, which normalize_y standardises.
        unit = np.atleast_1d(model._y_train_std)
        stds = np.sqrt(sum(part.noise_level for part in noises)) * unit
        told = joined([f"{std:.4g}" for std in stds])
        facts.append(Fact("noise_std", "noise std", f"{told}, of the WhiteKernel", stds))
    standardised = ", of standardised targets" if model.normalize_y else ""
    value, evidence = model.loo_log_predictive_, model.log_marginal_likelihood_value_
    facts += [
        Fact("loo_log_predictive", "leave-one-out", f"{value:.4f}{standardised}", value),
        Fact("log_evidence", "log evidence", f"{evidence:.4f}{standardised}", evidence),
    ]
    return Summary("LeaveOneOutGPR: Gaussian process tuned by what is left out", facts)


def noisy_inputs(model: Any, *, feature_names: Any = None, target_names: Any = None) -> Summary:
    """Of a NoisyInputGPR."""
    features = names_of_inputs(model, feature_names)
    estimated = isinstance(model.input_noise, str)
    stds = np.sqrt(model.input_noise_)
    told = []
    for low, high in zip(stds.min(axis=0), stds.max(axis=0), strict=True):
        told.append(f"{high:.4g}" if low == high else f"{low:.4g} to {high:.4g}")
    how = "estimated" if estimated else "given"
    facts = [
        *_data(len(model.inputs_), features, 1, target_names),
        Fact("method", "method", f"{model.method_}", f"{model.method_}"),
        *_kernel(model, features),
        Fact("input_noise_std", "noise of inputs", f"std {joined(told)}, {how}", stds.mean(axis=0)),
        *_noise_std(model, "estimated" if isinstance(model.noise, str) else "given"),
    ]
    if hasattr(model, "samples_"):
        fewest = float(model.effective_sample_size_.min())
        told_draws = f"{len(model.samples_)} sets of inputs, worth at least {fewest:.0f} draws"
        facts += [
            Fact("n_samples", "samples", told_draws, len(model.samples_)),
            unprinted("effective_sample_size", fewest),
        ]
    if hasattr(model, "log_evidence_"):
        value = model.log_evidence_
        facts.append(Fact("log_evidence", "log evidence", f"{value:.4f}", value))
    facts += _turns(model)
    return Summary("NoisyInputGPR: Gaussian process on inputs that are known with noise", facts)


def _data(rows: int, features: Sequence[str], n_targets: int, target_names: Any) -> list[Fact]:
    facts = [
        Fact("rows", "rows", f"{rows}", rows),
        Fact("inputs", "inputs", listed(features), features),
    ]
    targets = names_of_targets(n_targets, target_names)
    if n_targets > 1:
        facts.append(Fact("targets", "targets", listed(targets), targets))
    elif target_names is not None:
        facts.append(Fact("targets", "target", targets[0], targets))
    return facts


def _parts(kernel: Any) -> list[Any]:
    """The kernels that one is made of, each once, itself included."""
    return [kernel, *kernel.get_params(deep=True).values()]


def _kernel(model: Any, features: Sequence[str]) -> list[Fact]:
    """The kernel, and the length scales in it by input."""
    kernel = model.kernel_
    facts = [Fact("kernel", "kernel", f"{kernel}", f"{kernel}")]
    scales = [np.atleast_1d(p.length_scale) for p in _parts(kernel) if hasattr(p, "length_scale")]
    if scales:
        lines = []
        for scale in scales:
            texts = [f"{value:.3g}" for value in scale]
            if len(scale) == len(features) > 1:
                texts = [f"{name} {text}" for name, text in zip(features, texts, strict=True)]
            lines.append(joined(texts))
        label = "length scale" + "s" * (sum(map(len, scales)) > 1)
        facts.append(Fact("length_scales", label, lines, scales))
    return facts


def _noise_std(model: Any, how: str) -> list[Fact]:
    std = float(np.sqrt(model.noise_variance_))
    return [Fact("noise_std", "noise std", f"{std:.4g}, {how}", std)]


def _turns(model: Any) -> list[Fact]:
    how = f"after {model.n_iter_} turn{'s' * (model.n_iter_ != 1)}"
    return stopped(model.converged_, how, model.n_iter_)


def _support(model: Any, features: Sequence[str]) -> PrintedTable:
    """The support inputs and their weights."""
    stds = np.sqrt(np.diagonal(model.sigma_))
    rows = [
        {"row": row, "centre": centre, "weight": weight, "std": std}
        for row, centre, weight, std in zip(
            model.support_, model.support_vectors_, model.weights_, stds, strict=True
        )
    ]
    shown = list(enumerate(features))[:_CENTRE]
    columns = [
        PrintedColumn("row", "row"),
        *(PrintedColumn(("centre", j), name, ".5g") for j, name in shown),
        PrintedColumn("weight", "weight", ".5g"),
        PrintedColumn("std", "std", ".3g"),
    ]
    chosen = largest(np.abs(model.weights_) / stds)
    below = []
    if chosen is not None:
        count = len(rows) - len(chosen)
        below.append(f"({count} more, of smaller weight relative to their std)")
    return PrintedTable(columns, rows, chosen, below)
