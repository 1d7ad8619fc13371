"""Weights of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsebayes._support.validation import as_number


def weigh_classes(class_weight: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of the samples times those of their classes."""
    if class_weight is None:
        return weights
    classes, labels = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(labels, weights)
        seen = totals > 0
        factors = np.zeros(classes.size)
        factors[seen] = totals.sum() / (seen.sum() * totals[seen])
        return weights * factors[labels]
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict from class to weight, "
            f"got {class_weight!r}."
        )
    unknown = [label for label in class_weight if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"class_weight has a weight for {unknown[0]!r}, which is not among the classes "
            f"{classes.tolist()!r}."
        )
    factors = np.ones(classes.size)
    for i, label in enumerate(classes.tolist()):
        value = class_weight.get(label, 1.0)
        weight = as_number(value)
        if weight is None or weight < 0:
            raise ValueError(f"class_weight must be >= 0, got {value!r} for class {label!r}.")
        factors[i] = weight
    weights = weights * factors[labels]
    if not weights.any():
        raise ValueError("class_weight leaves no sample any weight; give some.")
    return weights
