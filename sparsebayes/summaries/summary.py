"""A summary: facts about a model, and tables of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from sparsebayes._support.printed_table import PrintedTable, page, paragraph, plain
from sparsebayes._support.validation import as_names

SHOWN = 20  # rows of a table in print
MOST_NAMES, MOST_TARGETS = 8, 10  # in one fact
Rows = list[tuple[str, str]]


@dataclass(frozen=True)
class Fact:
    """One line of a summary, or several.

    Attributes
    ----------
    key : str
        Its name in plain data.
    label : str
        Its name in print; empty where it goes on with the line above.
    text : str or list of str
        Its lines in print.
    value : object
        Its value in plain data.
    """

    key: str
    label: str
    text: str | Sequence[str]
    value: Any

    @property
    def lines(self) -> list[str]:
        return [self.text] if isinstance(self.text, str) else list(self.text)


class Summary:
    """What was fitted: facts about a model, then tables of its parts.

    Made by the method `summary` of a fitted estimator. ``print`` and notebooks show it.

    Parameters
    ----------
    title : str
        The first line.
    facts : iterable of Fact
        With `key`, `label`, `text` and `value`.
    tables : dict, default=None
        By name; in print a table has at most 20 rows.

    See Also
    --------
    sparsebayes.compare : Several models side by side.
    sparsebayes.RVR : Its `summary` gives one.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> y = 2 * X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(30)
    >>> found = RVR("linear").fit(X, y).summary()
    >>> found.title
    'RVR: relevance vector regression'
    >>> found.to_dict()["n_functions"]
    2
    """

    def __init__(
        self, title: str, facts: Iterable[Fact], tables: dict[str, PrintedTable] | None = None
    ) -> None:
        self.title, self.facts, self.tables = title, list(facts), tables or {}

    def rows(self, without: Iterable[str] = ()) -> Rows:
        """List labels and texts of the facts, line by line.

        Parameters
        ----------
        without : iterable of str
            Keys of facts to leave out.

        Returns
        -------
        list of (str, str)
            A label, empty where a fact goes on, and a text.
        """
        rows: Rows = []
        left_out = as_names("without", without)
        for fact in self.facts:
            if fact.key not in left_out:
                rows += [(fact.label if k == 0 else "", line) for k, line in enumerate(fact.lines)]
        return rows

    def table_lines(self) -> list[str]:
        """Print the tables as lines of text, each after an empty line.

        Returns
        -------
        list of str
            The lines.
        """
        return [line for table in self.tables.values() for line in ("", *table.lines())]

    def __str__(self) -> str:
        return "\n".join([self.title, "", *aligned(self.rows()), *self.table_lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th class="left">{escape(label)}</th><td class="left">{escape(text)}</td></tr>'
            for label, text in self.rows()
        )
        tables = [table.html() for table in self.tables.values()]
        return page(paragraph(self.title, strong=True), f"<table>{cells}</table>", *tables)

    def to_dict(self) -> dict[str, Any]:
        """Turn all of it into plain numbers, text and lists, for JSON.

        Returns
        -------
        dict
            The facts by their keys, and a list of dicts for each table, with all of its rows.
            Numbers that are infinite or missing are None.
        """
        found: dict[str, Any] = {"title": self.title}
        found |= {fact.key: plain(fact.value) for fact in self.facts}
        return found | {name: table.records() for name, table in self.tables.items()}


def unprinted(key: str, value: Any) -> Fact:
    """A fact that only plain data has."""
    return Fact(key, "", (), value)


def aligned(rows: Rows) -> list[str]:
    """Lines of labels and texts in two columns."""
    width = max(len(label) for label, _ in rows)
    return [f"{label:<{width}}  {text}" for label, text in rows]


def joined(texts: Sequence[str], most: int = 10) -> str:
    """The first few texts, with commas."""
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def listed(names: Iterable[Any]) -> str:
    """How many there are, and the first few."""
    texts = [str(name) for name in names]
    return f"{len(texts)} ({joined(texts, MOST_NAMES)})"


def of_each(names: Sequence[str], texts: Sequence[str], more: str = "targets") -> list[str]:
    """A text, or one for each of several targets."""
    if len(texts) == 1:
        return list(texts)
    lines = [f"{name}: {text}" for name, text in zip(names, texts, strict=True)][:MOST_TARGETS]
    if len(texts) > MOST_TARGETS:
        lines.append(f"({len(texts) - MOST_TARGETS} more {more})")
    return lines


def stopped(converged: bool, how: str, n_iter: int) -> list[Fact]:
    """Whether a fit has converged, and why it ended."""
    told = how if converged else f"NOT CONVERGED: {how}"
    return [
        Fact("stopped", "stopped", told, how),
        unprinted("converged", converged),
        unprinted("n_iter", n_iter),
    ]


def largest(importance: np.ndarray) -> list[int] | None:
    """The rows to show, in their order, where there are too many; None is all."""
    if importance.size <= SHOWN:
        return None
    return np.sort(np.argsort(-importance, kind="stable")[:SHOWN]).tolist()


def names_of_inputs(model: Any, given: Any) -> list[str]:
    """Names of the inputs of a model, or a clear error."""
    count = model.n_features_in_
    if given is None:
        given = getattr(model, "feature_names_in_", [f"x{j}" for j in range(count)])
    names = as_names("feature_names", given)
    if len(names) != count:
        raise ValueError(
            f"feature_names has {len(names)} names, but the model has {count} inputs; give one "
            "for each."
        )
    return names


def names_of_targets(count: int, given: Any) -> list[str]:
    """Names of the targets of a model, or a clear error."""
    if given is None:
        given = ["y"] if count == 1 else [f"y{k}" for k in range(count)]
    names = as_names("target_names", given)
    if len(names) != count:
        raise ValueError(
            f"target_names has {len(names)} names, but the model has {count} targets; give one "
            "for each."
        )
    return names
