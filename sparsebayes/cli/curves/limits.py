"""``sparsebayes inspect --detection-limit``: limits of a stored calibration curve."""

from __future__ import annotations

from argparse import Namespace

import numpy as np
from sklearn.base import is_regressor

from sparsebayes.cli.csv_table import target_names
from sparsebayes.cli.reports.report import aligned
from sparsebayes.persistence import ModelFileError, StoredModel
from sparsebayes.regression import DetectionLimit, detection_limit

_OPTIONS = {"blank": "blank", "alpha": "alpha", "beta": "beta", "replicates": "n_replicates"}


def refuse_alone(args: Namespace) -> None:
    """Raise if an option of --detection-limit was given without it."""
    given = [name for name in _OPTIONS if getattr(args, name) is not None]
    if given and not args.detection_limit:
        raise ValueError(f"--{given[0]} belongs to --detection-limit; give both or none")


def find_limits(record: StoredModel, args: Namespace) -> dict[str, DetectionLimit]:
    """The limits by each target."""
    if not is_regressor(record.model):
        raise ModelFileError(
            f"--detection-limit is for regression, but the model is a {type(record.final).__name__}"
        )
    if record.model.n_features_in_ > 1:
        raise ValueError(
            f"--detection-limit needs a model of one input, and this one has "
            f"{record.model.n_features_in_}; sparsebayes.regression.detection_limit takes the "
            "others by X"
        )
    options = {
        name: getattr(args, option)
        for option, name in _OPTIONS.items()
        if getattr(args, option) is not None
    }
    shape = np.shape(record.final.weights_)
    count = shape[1] if len(shape) == 2 else 1
    return {
        target: detection_limit(record.model, target=k if len(shape) == 2 else None, **options)
        for k, target in enumerate(target_names(record.target_name, count))
    }


def limits_report(record: StoredModel, limits: dict[str, DetectionLimit]) -> str:
    """What is printed of the limits."""
    unit = (record.feature_names or ["x0"])[0]
    lines = []
    for target, found in limits.items():
        lines += ["", f"limits of {unit} by {target}", *aligned(_rows(found, unit, target))]
    return "\n".join(lines)


def _rows(found: DetectionLimit, unit: str, target: str) -> list[tuple[str, str]]:
    blank = f"{target} {found.blank_mean:.4g} ± {found.blank_std:.2g} at {unit} {found.blank:.4g}"
    averaged = f", mean of {found.n_replicates} readings" if found.n_replicates > 1 else ""
    side = "above" if found.rising else "below"
    quantified = "none in the range of the training data"
    if found.quantification_limit is not None:
        place = f"{unit} {found.quantification_limit:.4g}"
        quantified = f"{place}, where its std is 10 % of the way from the blank"
    return [
        ("blank", blank + averaged),
        ("critical value", f"{target} {found.critical_value:.4g}; of blanks {100 * found.alpha:g} %"
         f" are {side} it"),
        ("detection limit", f"{unit} {found.detection_limit:.4g}, missed in "
         f"{100 * found.beta:g} %"),
        ("quantification limit", quantified),
    ]  # fmt: skip
