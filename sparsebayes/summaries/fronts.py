"""Summaries of fronts of classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._support.printed_table import PrintedColumn, PrintedTable
from sparsebayes.summaries.summary import (
    SHOWN,
    Fact,
    Summary,
    listed,
    names_of_inputs,
    names_of_targets,
    unprinted,
)


def front(model: Any, *, feature_names: Any = None, target_names: Any = None) -> Summary:
    """Of a ParetoClassifier."""
    features = names_of_inputs(model, feature_names)
    negative, positive = (str(label) for label in model.classes_)
    (train, held_out), count = model.counts_.sum(axis=1).tolist(), len(model.weights_)
    told = f"{train} for training, {held_out} held out"
    facts = [
        Fact("rows", "rows", told, train + held_out),
        unprinted("rows_held_out", held_out),
        Fact("inputs", "inputs", listed(features), features),
    ]
    if target_names is not None:
        targets = names_of_targets(1, target_names)
        facts.append(Fact("targets", "target", targets[0], targets))
    facts += [
        Fact("classes", "classes", f"{negative}, {positive} (positive)", model.classes_),
        Fact("basis", "basis", f"{model.basis_}", f"{model.basis_}"),
        Fact("penalty", "penalty", model.penalty, model.penalty),
        Fact("n_evaluations", "tried", f"{model.n_evaluations_} classifiers", model.n_evaluations_),
        Fact("n_classifiers", "front", f"{count} classifiers", count),
        Fact(
            "n_functions",
            "kernels",
            f"{len(model.relevance_)} in all, {model.front_.n_kernels.min()} to "
            f"{model.front_.n_kernels.max()} in a classifier",
            len(model.relevance_),
        ),
    ]
    return Summary("ParetoClassifier: a front of classifiers", facts, {"front": _front(model)})


def _front(model: Any) -> PrintedTable:
    """The classifiers; where there are many, some that are spread over the front are printed."""
    names = model.front_.dtype.names
    rows = [
        {"point": point, **dict(zip(names, record.tolist(), strict=True))}
        for point, record in enumerate(model._front)
    ]
    columns = [
        PrintedColumn("point", "point"),
        PrintedColumn("fpr", "fpr", ".3f"),
        PrintedColumn("tpr", "tpr", ".3f"),
        PrintedColumn("complexity", "complexity", ".3f"),
        PrintedColumn("n_kernels", "kernels"),
    ]
    if model.counts_[1].any():
        columns += [
            PrintedColumn("held_out_fpr", "held-out fpr", ".3f"),
            PrintedColumn("held_out_tpr", "held-out tpr", ".3f"),
        ]
    if len(rows) <= SHOWN:
        return PrintedTable(columns, rows)
    shown = np.linspace(0, len(rows) - 1, SHOWN).round().astype(int).tolist()
    return PrintedTable(columns, rows, shown, [f"({len(rows) - SHOWN} more between them)"])
