"""Plain-text reports of the command line: where data and models come from, then the summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from sparsebayes._support.summary import NamedSummaryMixin
from sparsebayes._support.version import package_version
from sparsebayes.cli.csv_table import target_names
from sparsebayes.cli.tasks import told
from sparsebayes.cli.text_inputs import encoded_names
from sparsebayes.persistence import StoredModel, final_estimator
from sparsebayes.summaries import Summary
from sparsebayes.summaries.describe import describe
from sparsebayes.summaries.summary import Rows, aligned, joined, listed, of_each

if TYPE_CHECKING:
    from sparsebayes.cli.fit import FitResult, TrainingData

__all__ = ["Rows", "aligned", "fit_report", "inspect_report", "joined"]


def fit_report(result: FitResult, data: TrainingData, files: Sequence[str]) -> str:
    """What ``sparsebayes fit`` prints."""
    final = final_estimator(result.model)
    several = len(data.features) > 1
    named = f"target{'s' if len(data.targets) > 1 else ''} {joined(data.targets)}"
    rows = [
        ("data", f"{data.source}: {data.n_rows} rows, {named}"),
        ("task", f"{data.task.name}: {data.why}"),
        ("inputs", listed(data.features)),
        ("", "standardised; the model file holds the scaler" if several else "used as they are"),
    ]
    if is_classifier(final):
        counts = [data.counts[str(label)] for label in final.classes_]
        each = [f"{label}: {n}" for label, n in zip(final.classes_, counts, strict=True)]
        rows.append(("rows by class", joined(each)))
    inputs = data.X if final is result.model else result.model[:-1].transform(data.X)
    seen = encoded_names(result.model, data.features)
    names = {"feature_names": seen, "target_names": data.targets}
    found = describe(final, **names, inputs=inputs)
    rows += found.rows(without=("rows", "inputs", "targets", "classes"))
    of = "" if result.judged == data.n_rows else f" (on {result.judged} of the rows)"
    training = [told(scores) + of for scores in result.training]
    rows += _of_each("training data", data.targets, training)
    if result.held_out:
        held_out = [told(scores) for scores in result.held_out]
        rows += _of_each(f"{result.folds}-fold CV", data.targets, held_out)
    rows += [("note", note) for note in result.notes]
    rows += [("written" if k == 0 else "", path) for k, path in enumerate(files)]
    title = f"sparsebayes {package_version()}: relevance vector {data.task.name}"
    return "\n".join([title, "", *aligned(rows), *found.table_lines()])


def inspect_report(record: StoredModel, path: str) -> str:
    """What ``sparsebayes inspect`` prints."""
    final = record.final
    names = record.feature_names or [f"x{j}" for j in range(getattr(final, "n_features_in_", 0))]
    steps = [type(step).__name__ for _, step in getattr(record.model, "steps", [])[:-1]]
    rows = [
        ("file", path),
        ("kind", " after ".join([type(final).__name__, *reversed(steps)])),
        ("written by", f"sparsebayes {record.version}"),
        ("inputs", listed(names)),
    ]
    if isinstance(record.target_name, list):
        rows.append(("targets", listed(record.target_name)))
    else:
        rows.append(("target", record.target_name or "not named"))
    found = stored_summary(record)
    rows += found.rows(without=("inputs", "targets"))
    return "\n".join([*aligned(rows), *found.table_lines()])


def stored_summary(record: StoredModel) -> Summary:
    """The summary of a stored model, with the names in the file."""
    final, names = record.final, encoded_names(record.model, record.feature_names)
    if not isinstance(final, NamedSummaryMixin):
        return final.summary()
    known = len(names) == getattr(final, "n_features_in_", 0)  # steps may change their number
    targets = target_names(record.target_name, _n_targets(final))
    return final.summary(feature_names=names if known else None, target_names=targets)


def _n_targets(final: Any) -> int:
    if is_classifier(final):
        return 1
    trained = getattr(final, "y_train_", None)  # of scikit-learn's processes
    if trained is not None:
        return 1 if trained.ndim == 1 else trained.shape[1]
    return int(np.size(final.noise_variance_))


def _of_each(name: str, targets: Sequence[str], texts: Sequence[str]) -> Rows:
    """A line, or one for each of several targets."""
    lines = of_each(targets, texts)
    return [(name if k == 0 else "", line) for k, line in enumerate(lines)]
