"""What :class:`ParetoClassifier` is given: its parameters, its samples and the part held out."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from sparsebayes._support.data import check_inputs, check_labels
from sparsebayes._support.validation import as_number, check_choice, check_switches, whole_number

Array = np.ndarray
PenaltyName = Literal["l0+", "l1", "smoothness"]
SeedName = Literal["rvc"]


def check_parameters(model: Any) -> None:
    """Those of the constructor but for the basis and the random state."""
    check_choice("penalty", model.penalty, get_args(PenaltyName))
    check_switches(bias=model.bias, verbose=model.verbose)
    check_choice("seeds", model.seeds, get_args(SeedName), or_none=True)
    whole_number("population", model.population, least=4)
    whole_number("n_evaluations", model.n_evaluations)
    if model.n_evaluations < model.population:
        raise ValueError(
            f"n_evaluations={model.n_evaluations} is less than population={model.population}, "
            "of which each is evaluated; raise the one or lower the other."
        )
    if model.validation_fraction is not None:
        share = as_number(model.validation_fraction)
        if share is None or not 0 < share < 1:
            raise ValueError(
                "validation_fraction must be None or a number between 0 and 1, "
                f"got {model.validation_fraction!r}."
            )


def two_classes(y: Array) -> Array:
    """The labels there are; the second is the positive one."""
    classes = np.unique(y)
    if classes.size != 2:
        found = ", ".join(repr(label) for label in classes[:5].tolist())
        count = "only one class" if classes.size == 1 else f"{classes.size} classes"
        raise ValueError(
            "Only binary classification is supported: ParetoClassifier needs samples of two "
            f"classes, got {count}: {found}; y must hold two labels."
        )
    return classes


def check_samples(model: Any, X: Any, y: Any, names: tuple[str, str]) -> tuple[Array, Array]:
    """Inputs, and whether their labels are the positive one; both classes are there."""
    X, y = check_inputs(model, X, name=names[0]), check_labels(y, name=names[1])
    name = names[1]
    if len(X) != len(y):
        raise ValueError(f"{name} must have one label for each of {len(X)} rows, got {len(y)}.")
    strange = sorted({str(label) for label in y[~np.isin(y, model.classes_)].tolist()})
    if strange:
        raise ValueError(
            f"{name} holds labels that are not among the classes{'' if name == 'y' else ' of y'} "
            f"{model.classes_.tolist()!r}: {', '.join(strange[:5])}."
        )
    absent = [label for label in model.classes_.tolist() if not np.any(y == label)]
    if absent:
        raise ValueError(
            f"{name} has no sample of class {absent[0]!r}, so that one of the rates cannot "
            "be measured; both classes are needed."
        )
    return X, y == model.classes_[1]


def held_out_part(positive: Array, share: Any, classes: Array, rng: np.random.Generator) -> Array:
    """Where samples are held out: this share of each class, at least one and not all of them."""
    held = np.zeros(len(positive), dtype=bool)
    for k, label in enumerate(classes.tolist()):
        rows = rng.permutation(np.flatnonzero(positive == bool(k)))
        if rows.size < 2:
            raise ValueError(
                f"validation_fraction={share!r} needs at least two samples of each class, and "
                f"class {label!r} has one; give X_val and y_val, or validation_fraction=None."
            )
        count = round(float(share) * rows.size)
        held[rows[: min(max(count, 1), rows.size - 1)]] = True
    return held
