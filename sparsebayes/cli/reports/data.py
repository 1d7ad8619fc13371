"""Reports of the command line for programs: what ``--json`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsebayes.cli.reports.report import stored_summary
from sparsebayes.cli.text_inputs import encoded_names
from sparsebayes.persistence import StoredModel, final_estimator

if TYPE_CHECKING:
    from sparsebayes.cli.fit import FitResult, TrainingData


def fit_data(result: FitResult, data: TrainingData, written: list[str]) -> dict[str, Any]:
    """What ``sparsebayes fit --json`` prints."""
    held_out = None
    if result.held_out:
        held_out = {"folds": result.folds, "scores": _by_target(data, result.held_out)}
    final = final_estimator(result.model)
    seen = encoded_names(result.model, data.features)
    names = {"feature_names": seen, "target_names": data.targets}
    return {
        "source": data.source,
        "rows": data.n_rows,
        "task": data.task.name,
        "why": data.why,
        "features": data.features,
        "targets": data.targets,
        "model": final.summary(**names).to_dict(),
        "training": {"rows": result.judged, "scores": _by_target(data, result.training)},
        "cross_validation": held_out,
        "notes": result.notes,
        "written": written,
    }


def inspect_data(record: StoredModel, path: str) -> dict[str, Any]:
    """What ``sparsebayes inspect --json`` prints."""
    names = record.feature_names or None
    targets = record.target_name
    return {
        "file": path,
        "steps": [type(step).__name__ for _, step in getattr(record.model, "steps", [])],
        "written_by": record.version,
        "features": names,
        "targets": [targets] if isinstance(targets, str) else targets,
        "model": stored_summary(record).to_dict(),
    }


def _by_target(data: TrainingData, scores: list[dict[str, float]]) -> list[dict[str, Any]]:
    return [{"target": name} | one for name, one in zip(data.targets, scores, strict=True)]
