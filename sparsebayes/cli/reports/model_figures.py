"""Figures of a stored model, for which no data are at hand."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sparsebayes.cli.csv_table import target_names
from sparsebayes.cli.reports.figures import new_axes, new_panels, png
from sparsebayes.cli.text_inputs import stored_levels
from sparsebayes.persistence import StoredModel

_INPUTS = 12  # that have a panel at most


def model_figures(record: StoredModel, directory: Path) -> tuple[dict[Path, bytes], list[str]]:
    """The contents of PNG files, and why some are not drawn."""
    from sparsebayes.plots import EvidenceDisplay

    files, notes = {}, []
    try:
        files[directory / "effects.png"] = _effects(record)
    except ValueError as error:
        notes.append(f"no effects.png: {error}")
    if len(getattr(record.final, "evidence_path_", ())):
        figure = EvidenceDisplay.from_estimator(record.model, ax=new_axes()).figure_
        files[directory / "evidence.png"] = png(figure)
    return files, notes


def _effects(record: StoredModel) -> bytes:
    """The prediction along each input."""
    from sparsebayes.plots import EffectsDisplay

    model = record.model
    if not (is_classifier(model) or is_regressor(model)):
        raise ValueError(f"a {type(record.final).__name__} predicts from no inputs")
    text = ", ".join(map(repr, stored_levels(model, record.feature_names or [])))
    if text:
        raise ValueError(f"the inputs {text} are text, and only numbers have a range")
    count = int(model.n_features_in_)
    if count > _INPUTS:
        raise ValueError(f"the model has {count} inputs, and {_INPUTS} are drawn at most")
    targets = None
    if is_regressor(model):
        shape = np.shape(getattr(record.final, "weights_", ()))
        targets = target_names(record.target_name, shape[1] if len(shape) == 2 else 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        display = EffectsDisplay.from_estimator(
            model,
            axes=new_panels(count, 3.2),
            feature_names=record.feature_names or None,
            target_names=targets,
        )
    return png(display.figure_)
