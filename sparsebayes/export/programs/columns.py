"""ColumnTransformers in programs: which columns each step takes, and how to undo them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from sparsebayes.export.programs.functions import NotExportableError

Array = np.ndarray


def parts_of(step: ColumnTransformer) -> Iterator[tuple[str, list[Any], Array]]:
    """The parts that make columns: their names, their steps, and the numbers of what they take."""
    if any(weight != 1.0 for weight in (step.transformer_weights or {}).values()):
        raise NotExportableError(
            f"transformer_weights={step.transformer_weights!r} of a ColumnTransformer cannot be "
            "exported; use transformer_weights=None and fit again."
        )
    for name, part, columns in step.transformers_:
        places = _places(step, columns)
        if places.size and not (isinstance(part, str) and part == "drop"):
            yield name, _steps(part), places


def _steps(part: Any) -> list[Any]:
    """The steps of a part, one after the other."""
    if isinstance(part, Pipeline):
        return [one for _, step in part.steps for one in _steps(step)]
    as_it_is = part is None or (isinstance(part, str) and part == "passthrough")
    return [] if as_it_is else [part]


def _places(step: ColumnTransformer, columns: Any) -> Array:
    """The numbers of columns that are given by number, by name, by a mask or by a slice."""
    names = [str(name) for name in getattr(step, "feature_names_in_", [])]
    everything = np.arange(step.n_features_in_)
    if isinstance(columns, slice):
        ends = [columns.start, columns.stop]
        if any(isinstance(end, str) for end in ends):  # with the last, as in pandas
            first, last = (None if end is None else names.index(end) for end in ends)
            columns = slice(first, None if last is None else last + 1, columns.step)
        return everything[columns]
    given = [columns] if isinstance(columns, (str, int, np.integer)) else list(columns)
    if any(isinstance(one, str) for one in given):
        return np.array([names.index(str(one)) for one in given], dtype=int)
    mask = bool(given) and all(isinstance(one, (bool, np.bool_)) for one in given)
    return everything[np.array(given, dtype=bool if mask else int)]


def undone(step: Any, Z: Array) -> Array:
    """Inputs of a step that gives Z; of columns that it does not take, zeros."""
    if not isinstance(step, ColumnTransformer):
        return np.asarray(step.inverse_transform(Z))
    X = np.zeros((len(Z), step.n_features_in_))
    for name, steps, places in parts_of(step):
        part = Z[:, step.output_indices_[name]]
        for one in reversed(steps):
            part = undone(one, part)
        X[:, places] = part
    return X
