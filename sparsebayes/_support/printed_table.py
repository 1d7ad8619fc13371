"""Tables of results: as text, as HTML for notebooks, and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

# Colours and backgrounds are the notebook's own, light or dark.
_STYLE = """<style>
.sparsebayes table {border-collapse: collapse; font-size: 0.9em; margin: 0.4em 0;}
.sparsebayes th, .sparsebayes td {color: inherit; background: none; padding: 0.1em 0.6em;
  text-align: right; font-variant-numeric: tabular-nums;}
.sparsebayes .left {text-align: left;}
.sparsebayes thead th {border-bottom: 1px solid currentColor;}
.sparsebayes p {margin: 0.2em 0;}
</style>"""


def page(*parts: str) -> str:
    """Pieces of HTML as one that brings its own style."""
    return "\n".join(['<div class="sparsebayes">', _STYLE, *parts, "</div>"])


def paragraph(text: str, *, strong: bool = False) -> str:
    """A line of text as HTML."""
    told = escape(text)
    return f"<p>{f'<strong>{told}</strong>' if strong else told}</p>"


def plain(value: Any) -> Any:
    """What JSON can hold: numbers that are finite, text, lists; None for what is no number."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


@dataclass(frozen=True)
class PrintedColumn:
    """A column of a table.

    Attributes
    ----------
    key : str
        Its name in plain data.
    title : str
        Its name in print.
    digits : str
        How its numbers are printed, as in ``format(number, ".4g")``.
    left : bool
        Whether it is set to the left.
    """

    key: str
    title: str
    digits: str = ""
    left: bool = False

    def text(self, value: Any) -> str:
        """A value in print, nothing for None."""
        if value is None:
            return ""
        return value if isinstance(value, str) else format(value, self.digits)


@dataclass(frozen=True)
class PrintedTable:
    """Rows of values by the keys of columns.

    Attributes
    ----------
    columns : sequence of PrintedColumn
    rows : sequence of dict
        By the keys of the columns; a key that is missing is a blank cell.
    shown : sequence of int, or None
        The rows that are printed; None is all. Plain data has all.
    below : sequence of str
        Lines below it in print.
    """

    columns: Sequence[PrintedColumn]
    rows: Sequence[dict[str, Any]]
    shown: Sequence[int] | None = None
    below: Sequence[str] = field(default_factory=tuple)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def _cells(self) -> list[list[str]]:
        rows: Iterable[dict[str, Any]] = self.rows
        if self.shown is not None:
            rows = (self.rows[k] for k in self.shown)
        return [[column.text(row.get(column.key)) for column in self.columns] for row in rows]

    def lines(self) -> list[str]:
        """Lines of text."""
        cells = [[column.title for column in self.columns], *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            set_in = [
                text.ljust(width) if column.left else text.rjust(width)
                for column, text, width in zip(self.columns, row, widths, strict=True)
            ]
            lines.append("  ".join(set_in).rstrip())
        lines.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
        return [*lines, *self.below]

    def html(self) -> str:
        """As HTML, escaped."""

        def row(tag: str, texts: Sequence[str]) -> str:
            left, cells = ' class="left"', ""
            for column, text in zip(self.columns, texts, strict=True):
                cells += f"<{tag}{left if column.left else ''}>{escape(text)}</{tag}>"
            return f"<tr>{cells}</tr>"

        head = row("th", [column.title for column in self.columns])
        body = "".join(row("td", texts) for texts in self._cells())
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        return "\n".join([table, *map(paragraph, self.below)])

    def records(self) -> list[dict[str, Any]]:
        """All rows as plain data, None for what a row does not have."""
        keys = [column.key for column in self.columns]
        return [{key: plain(row.get(key)) for key in keys} for row in self.rows]
