"""``sparsebayes compare``: stored models side by side, on rows that none of them has seen."""

from __future__ import annotations

import warnings
from argparse import Namespace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsebayes.cli.csv_table import open_rows, reading_notes
from sparsebayes.cli.model_file import open_model
from sparsebayes.cli.reports.answer import Answer
from sparsebayes.cli.text_inputs import Levels, read_inputs, stored_levels
from sparsebayes.comparison import compare
from sparsebayes.persistence import StoredModel
from sparsebayes.rows.table import TableFile


def run(args: Namespace) -> Answer:
    """The table of models, the best first."""
    records = _records(args.models)
    models, X, y = {name: record.model for name, record in records.items()}, None, None
    notes: list[str] = []
    if args.data is not None:
        file = open_rows(args.data, args)
        models, X, y = _held_out(records, file)
        notes = reading_notes(file)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        found = compare(models, X, y, coverage=args.coverage or 0.95)
    _check_targets(records)
    return Answer(str(found), {"source": args.data, **found.to_dict(), "notes": notes}, notes)


def _records(paths: list[str]) -> dict[str, StoredModel]:
    """The models by the names of their files."""
    records: dict[str, StoredModel] = {}
    for path in paths:
        if path in records:
            raise ValueError(f"MODEL {path!r} is named twice")
        records[path] = open_model(path)
    return records


def _held_out(
    records: dict[str, StoredModel], file: TableFile
) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Models that pick their own columns, and the inputs and targets of a file."""
    targets = _targets(records)
    inputs = {
        name: record.feature_names or file.header.inputs(targets)
        for name, record in records.items()
    }
    columns = list(dict.fromkeys(column for own in inputs.values() for column in own))
    levels: Levels = {}
    for name, record in records.items():
        for column, known in stored_levels(record.model, inputs[name]).items():
            others = levels.get(column, known)
            levels[column] = [level for level in known if level in others]
    file.check([column for column in columns if column not in levels])
    (table,) = file.tables([*columns, *targets], None)
    final = next(iter(records.values())).final
    if is_classifier(final):
        kind = "text" if final.classes_.dtype.kind in "OUS" else "whole"
        y = table.labels(targets[0], kind)
    else:
        y = table.numbers(targets)
        y = y[:, 0] if len(targets) == 1 else y
    models = {}
    for name, record in records.items():
        places = [columns.index(column) for column in inputs[name]]
        pick = FunctionTransformer(np.take, kw_args={"indices": places, "axis": 1})
        models[name] = Pipeline([("columns", pick), ("model", record.model)])
    return models, read_inputs(table, columns, levels), y


def _check_targets(records: dict[str, StoredModel]) -> None:
    """A clear error unless all models predict the same columns."""
    (first, record), *others = records.items()
    for name, other in others:
        if other.target_name != record.target_name:
            raise ValueError(
                f"{first} predicts {record.target_name!r}, and {name} {other.target_name!r}; "
                "compare models of the same target"
            )


def _targets(records: dict[str, StoredModel]) -> list[str]:
    """The columns that all models predict."""
    _check_targets(records)
    first, record = next(iter(records.items()))
    if record.target_name is None:
        raise ValueError(
            f"{first} does not name its target; store it with persistence.save(..., target_name=)"
        )
    names = record.target_name
    return [names] if isinstance(names, str) else names
