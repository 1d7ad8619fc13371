"""What the page shows first: the rows of a table, or examples; and what may be chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._rvm.options import NOISES, PRIORS, SOLVERS
from sparsebayes.classification.likelihood import LINKS
from sparsebayes.datasets import make_signal
from sparsebayes.denoising import METHODS, NOISE_MODELS
from sparsebayes.explore.fields import MOST_POINTS, MOST_SAMPLES
from sparsebayes.explore.models import DICTIONARIES
from sparsebayes.export import FORMATS
from sparsebayes.rows.table import Column, Table, TableError

Array = np.ndarray

_NAMES = {"regression": ["x", "y"], "classification": ["x1", "x2", "label"], "denoise": ["y"]}


def choices() -> dict[str, list[str]]:
    """The words of each option, those of the library."""
    return {
        "solver": list(SOLVERS),
        "prior": list(PRIORS),
        "noise": list(NOISES),
        "link": list(LINKS),
        "dictionary": list(DICTIONARIES),
        "method": list(METHODS),
        "noise_model": list(NOISE_MODELS),
        "to": list(FORMATS),
    }


def examples() -> dict[str, dict[str, Any]]:
    """Data of each view, the same each time."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(-10.0, 10.0, 50))
    y = np.sinc(x / np.pi) + 0.1 * rng.standard_normal(50)
    angle = np.tile(np.linspace(0.0, np.pi, 20), 2)
    second = np.repeat([0, 1], 20)
    moons = np.column_stack(
        [
            np.where(second, 1.0 - np.cos(angle), np.cos(angle)),
            np.where(second, 0.5 - np.sin(angle), np.sin(angle)),
        ]
    ) + 0.15 * rng.standard_normal((40, 2))
    _, signal, _ = make_signal("blocks", 256, snr=5, random_state=0)
    return {
        "regression": {"x": _rounded(x), "y": _rounded(y)},
        "classification": {
            "x1": _rounded(moons[:, 0]),
            "x2": _rounded(moons[:, 1]),
            "label": np.where(second, "b", "a").tolist(),
        },
        "denoise": {"y": _rounded(signal)},
    }


def _rounded(values: Array) -> list[float]:
    return [float(value) for value in np.round(values, 4)]


def make_start(table: Table | None = None, names: list[str] | None = None) -> dict[str, Any]:
    """What the page asks for when it opens.

    Parameters
    ----------
    table : Table, default=None
        Takes the place of an example: of a signal if it has one column, of a regression if it has
        two, of a classification if it has two and a label.
    names : list of str, default=None
        Columns to take; None for all.
    """
    start: dict[str, Any] = {
        "view": "regression",
        "source": None,
        "data": examples(),
        "names": {view: list(columns) for view, columns in _NAMES.items()},
        "choices": choices(),
        "limits": {"points": MOST_POINTS, "samples": MOST_SAMPLES},
        "notes": [],
    }
    if table is None:
        return start
    names = list(table.columns) if names is None else names
    view = _view_of(table, names)
    most = MOST_SAMPLES if view == "denoise" else MOST_POINTS
    if len(table) > most:
        if view == "denoise":
            rows, told = np.arange(most), "the first"
        else:
            rows = np.linspace(0, len(table) - 1, most).astype(int)
            told = "evenly chosen ones"
        start["notes"] = [f"{table.source} has {len(table)} rows; these are {told}, {most}"]
    else:
        rows = np.arange(len(table))
    label = names[2:]
    columns: dict[str, Any] = {}
    for key, name in zip(_NAMES[view], names, strict=True):
        if name in label:
            cells = table.cells(name)
            columns[key] = [cells[i] for i in rows]
        else:
            columns[key] = table.numbers([name])[rows, 0].tolist()
    start["data"][view] = columns
    start["names"][view] = names
    return start | {"view": view, "source": table.source}


def _view_of(table: Table, names: list[str]) -> str:
    """Which view shows columns of these kinds, or a clear error."""
    table.header.places(names)
    if not 1 <= len(names) <= 3:
        raise TableError(
            f"{table.source} has {len(names)} columns, {', '.join(map(repr, names))}; the explorer "
            "shows one (a signal), two (x and y) or three (x1, x2 and a label): name them with "
            "--columns, or leave others out with --exclude"
        )
    least = {1: 16, 2: 3, 3: 4}[len(names)]
    if len(table) < least:
        raise TableError(
            f"{table.source} has {len(table)} rows in which no value is missing; this view needs "
            f"{least} at least"
        )
    if len(names) < 3:
        return "denoise" if len(names) == 1 else "regression"
    label = Column(names[2], as_text=True)
    label.add(table)
    if len(label.counts) != 2:
        raise TableError(
            f"{table.source}: the third column, {names[2]!r}, has {len(label.counts)} different "
            "values; it must be a label of two classes, or leave a column out with --columns "
            "or --exclude"
        )
    return "classification"
