"""Weights of classes, and how frequent they are."""

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


def prior_ratio(class_prior: Any, seen: np.ndarray) -> np.ndarray | None:
    """How much more frequent classes are than they were seen, or a clear error; None for None."""
    if class_prior is None:
        return None
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        prior = np.empty(0)
    usable = prior.shape == seen.shape and np.isfinite(prior).all() and np.all(prior >= 0)
    if not usable or not prior.any():
        raise ValueError(
            f"class_prior must be one number >= 0 for each of the {seen.size} classes, in the "
            f"order of classes_ and not all 0, got {class_prior!r}."
        )
    return prior / prior.sum() / seen


def reweighted(probability: np.ndarray, ratio: np.ndarray | None) -> np.ndarray:
    """Probabilities, (n, K), where classes are so much more frequent."""
    if ratio is None:
        return probability
    probability = probability * ratio
    total = probability.sum(axis=1, keepdims=True)
    # Where all that is left is as good as impossible, nothing but the ratio is known.
    known = np.tile(ratio / ratio.sum(), (len(probability), 1))
    return np.divide(probability, total, out=known, where=total > 0)
