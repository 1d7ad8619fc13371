"""Exogenous inputs of a panel: the same for all series, or rows of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsebayes._support.data import remedies
from sparsebayes._support.optional import require
from sparsebayes.forecasting.tables.panel import Panel, listed
from sparsebayes.forecasting.tables.timeline import given_index


def inputs_of_each(panel: Panel, X: Any, name: str = "X") -> list[Any]:
    """Inputs at the times of each series of a panel, in their order.

    Parameters
    ----------
    panel : Panel
    X : array-like, DataFrame or None
        One row for each time, which all series share; or for "levels" and "long" a table that
        tells the series apart as that of the values does.
    name : str, default="X"
        What the inputs are, for messages.
    """
    if X is None:
        return [None] * len(panel.names)
    if _tells_apart(panel, X, name):
        return _separated(panel, X, name)
    if given_index(X) is not None or panel.rows is None:
        return [X] * len(panel.names)
    with remedies(name):
        rows = np.asarray(X)
    given = int(panel.rows[-1]) + 1
    if rows.ndim > 2 or len(rows) != given:
        raise ValueError(
            f"{name} must have a row for each of the {given} rows of y, which all series share, "
            f"got shape {rows.shape}."
        )
    return [rows[panel.rows][start:] for start in panel.starts]


def later_inputs(panel: Panel, X: Any, timelines: Sequence[Any], name: str = "X") -> list[Any]:
    """Inputs after the end of each series of a panel, in their order.

    Parameters
    ----------
    panel : Panel
    X : array-like, DataFrame or None
        As in `inputs_of_each`; rows of times that are known already are left out.
    timelines : sequence of Timeline or None
        Of the series.
    name : str, default="X"
        What the inputs are, for messages.
    """
    if X is None:
        return [None] * len(panel.names)
    apart = _tells_apart(panel, X, name)
    several = _separated(panel, X, name) if apart else [X] * len(panel.names)
    return [
        _after(own, timeline, counted=apart and panel.counted)
        for own, timeline in zip(several, timelines, strict=True)
    ]


def _after(X: Any, timeline: Any, *, counted: bool) -> Any:
    index = given_index(X)
    if index is None or timeline is None:
        return X
    if counted:
        return X.set_axis(timeline.ahead(len(X)))
    alike = type(index) is type(timeline.index) and index.dtype == timeline.index.dtype
    return X[index > timeline.index[-1]] if alike else X  # what is not is complained of later


def _tells_apart(panel: Panel, X: Any, name: str) -> bool:
    """Whether a table of inputs has rows for each series."""
    index = given_index(X)
    if index is None:
        return False
    if panel.form == "long" and X.ndim == 2 and panel.labels[0] in X.columns:
        return True
    if index.nlevels == 1:
        return False
    levels = len(panel.labels)
    if panel.form != "levels" or index.nlevels != levels:
        expected = {
            "levels": f"an index of {levels} levels as y, or of times alone",
            "long": f"a column {panel.labels[0]!r} as y, or rows that all series share"
            if panel.labels
            else "",
        }.get(panel.form, "an index of times alone: all series share them")
        raise ValueError(
            f"{name} must have {expected}, got an index of {index.nlevels} levels; use "
            f"{name}.droplevel or {name}.reset_index."
        )
    return True


def _separated(panel: Panel, X: Any, name: str) -> list[Any]:
    """Rows of each series."""
    X = X.to_frame() if X.ndim == 1 else X
    found = _by_id(panel, X, name) if panel.form == "long" else _by_levels(X)
    known = set(panel.names)
    absent = [key for key in panel.names if key not in found]
    unknown = [key for key in found if key not in known]
    if absent:
        raise ValueError(f"{name} has no rows for series {absent[0]!r}; add them.")
    if unknown:
        raise ValueError(f"{name} has rows for {unknown[0]!r}, which is no series of y; drop them.")
    return [found[key] for key in panel.names]


def _by_levels(X: Any) -> dict[Any, Any]:
    ids = list(range(X.index.nlevels - 1))
    groups = X.groupby(level=ids if len(ids) > 1 else 0, sort=False, dropna=False)
    return {key: rows.droplevel(ids) for key, rows in groups}


def _by_id(panel: Panel, X: Any, name: str) -> dict[Any, Any]:
    pandas = require("pandas", "A long table of inputs")
    id, time = panel.labels[:2]
    dated = time in X.columns
    if not dated and not panel.counted and X.index.name != time:
        raise ValueError(
            f"{name} must have the times of its rows in a column or an index {time!r} as y, got "
            f"the columns {listed(X.columns)} and the index {X.index.name!r}."
        )
    found = {}
    for key, rows in X.groupby(id, sort=False, observed=True):
        own = rows.drop(columns=[id, time] if dated else [id])
        if dated:
            own = own.set_axis(pandas.Index(rows[time], name=time)).sort_index(kind="stable")
        elif panel.counted:
            own = own.set_axis(pandas.RangeIndex(len(own)))
        else:
            own = own.sort_index(kind="stable")
        found[key] = own
    return found
