"""Columns of text among the inputs: an input of 0 and 1 for each of their different texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sparsebayes.rows.dialect.numerals import unit_of
from sparsebayes.rows.table import Array, Table, TableError, TableFile, is_number

CHOICES = ("auto", "error")
_MOST = 20  # different texts of a column
_SHOWN = 3

Levels = dict[str, list[str]]  # the different texts of each column of text


def text_inputs(file: TableFile, names: Sequence[str], choice: str) -> list[str]:
    """The inputs that hold text; the others are checked to hold numbers."""
    text = [name for name in names if name in file.header.text]
    if text and choice == "error":
        listed = ", ".join(map(repr, text))
        raise TableError(
            f"{file.header.source}: the inputs {listed} hold text; leave them out with --exclude "
            "or --features, or let --categorical auto encode them"
        )
    file.check([name for name in names if name not in text])
    return text


def find_levels(table: Table, text: Sequence[str]) -> Levels:
    """The different texts of each column, or an error if it is no column of a few."""
    return {name: _levels(table, name) for name in text}


def _levels(table: Table, name: str) -> list[str]:
    cells = [cell.strip() for cell in table.texts(name)]
    levels = sorted(set(cells))
    place = f"{table.source}: column {name!r}"
    units = {unit_of(level) for level in levels}
    if None not in units and len(units) == 1:
        raise TableError(
            f"{table.where(0, name)}: {cells[0]!r} is a number with the unit {units.pop()!r}; write"
            " the numbers alone, or leave the column out with --exclude or --features"
        )
    for i, cell in enumerate(cells):
        if is_number(cell):
            raise TableError(
                f"{table.where(i, name)}: {cell!r} is a number, other cells of the column are text;"
                " correct it, or leave the column out with --exclude or --features"
            )
    if len(levels) > _MOST or 2 * len(levels) > len(cells):
        raise TableError(
            f"{place} holds {len(levels)} different texts in {len(cells)} rows, such as "
            f"{cells[0]!r}; at most {_MOST}, with two rows each, are encoded: leave it out with "
            "--exclude or --features"
        )
    if len(levels) == 1:
        raise TableError(
            f"{place} holds {cells[0]!r} in all rows; leave it out with --exclude or --features"
        )
    return levels


def read_inputs(table: Table, names: Sequence[str], levels: Levels) -> Array:
    """The inputs of all rows: floats, or objects if some are text, of which all are known."""
    numbers = [name for name in names if name not in levels]
    if not levels:
        return table.numbers(numbers)
    X = np.empty((len(table), len(names)), dtype=object)
    X[:, [names.index(name) for name in numbers]] = table.numbers(numbers)
    for name, known in levels.items():
        cells = [cell.strip() for cell in table.texts(name)]
        for i, cell in enumerate(cells):
            if cell not in known:
                raise TableError(
                    f"{table.where(i, name)}: {cell!r} is not known to the model, which knows "
                    f"{', '.join(map(repr, known))}; correct it, or leave the row out"
                )
        X[:, names.index(name)] = cells
    return X


def encoder(names: Sequence[str], levels: Levels) -> Any:
    """The first step of a model: numbers are standardised, texts become inputs of 0 and 1."""
    if not levels:
        return StandardScaler()
    text = [name for name in names if name in levels]
    one_hot = OneHotEncoder(
        categories=[np.array(levels[name], dtype=object) for name in text],
        drop="if_binary",
        sparse_output=False,
    )
    numbers = [j for j, name in enumerate(names) if name not in levels]
    steps: list[Any] = [("text", one_hot, [names.index(name) for name in text])]
    if numbers:
        steps.insert(0, ("numbers", StandardScaler(), numbers))
    return ColumnTransformer(steps, sparse_threshold=0.0, verbose_feature_names_out=False)


def stored_levels(model: Any, names: Sequence[str]) -> Levels:
    """The texts that a stored model knows, by the names of its inputs."""
    columns = model[0] if isinstance(model, Pipeline) else None
    if not isinstance(columns, ColumnTransformer):
        return {}
    for _, step, places in columns.transformers_:
        if isinstance(step, OneHotEncoder):
            own = [place if isinstance(place, str) else names[place] for place in places]
            known = ([str(level) for level in levels] for levels in step.categories_)
            return dict(zip(own, known, strict=True))
    return {}


def refuse_names(model: Any) -> None:
    """Refuse a model whose first step takes columns by name, which arrays do not have."""
    columns = model[0] if isinstance(model, Pipeline) else None
    if not isinstance(columns, ColumnTransformer):
        return
    for name, _, places in columns.transformers_:
        if any(isinstance(place, str) for place in np.atleast_1d(np.array(places, dtype=object))):
            raise ValueError(
                f"the step {name!r} of the stored pipeline takes columns by name, which needs a "
                "data frame: predict in Python (sparsebayes.persistence.load), or fit it with "
                "numbers of columns."
            )


def encoded_names(model: Any, names: list[str]) -> list[str]:
    """The inputs as the last step of a model sees them."""
    if not stored_levels(model, names):
        return names
    return [str(name) for name in model[0].get_feature_names_out(names)]


def levels_told(levels: Levels) -> list[str]:
    """What was done to columns of text, for the notes of a report."""
    notes = []
    for name, known in levels.items():
        shown = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
        notes.append(f"{name} holds text: an input of 0 and 1 for each of {shown} ({len(known)})")
    return notes
