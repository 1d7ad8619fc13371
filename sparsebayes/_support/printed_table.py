"""Tables of results: as text, as HTML for notebooks, and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

Key = str | tuple[str | int, ...]

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
    key : str or tuple
        Where its values are in a row: a key, or keys one inside the other.
    title : str
        Its name in print.
    digits : str
        How its numbers are printed, as in ``format(number, ".4g")``.
    left : bool
        Whether it is set to the left.
    error : str or tuple, or None
        Where the standard deviations of its values are, if they are printed beside them.
    """

    key: Key
    title: str
    digits: str = ""
    left: bool = False
    error: Key | None = None

    def text(self, row: dict[str, Any]) -> str:
        """Its value in a row in print, nothing where there is none."""
        value = _value(row, self.key)
        if value is None:
            return ""
        text = value if isinstance(value, str) else format(value, self.digits)
        deviation = None if self.error is None else _value(row, self.error)
        return text if deviation is None else f"{text} ± {deviation:.2g}"


def _value(row: Any, key: Key) -> Any:
    """What a row has there, None if it has nothing."""
    for step in key if isinstance(key, tuple) else (key,):
        if row is None or (isinstance(row, dict) and step not in row):
            return None
        row = row[step]
    return row


@dataclass(frozen=True)
class PrintedTable:
    """Rows of values, some of which are printed in columns.

    Attributes
    ----------
    columns : sequence of PrintedColumn
    rows : sequence of dict
        What a row does not have is a blank cell.
    shown : sequence of int, or None
        The rows that are printed; None is all. Plain data has all.
    below : sequence of str
        Lines below it in print.
    """

    columns: Sequence[PrintedColumn]
    rows: Sequence[dict[str, Any]]
    shown: Sequence[int] | None = None
    below: Sequence[str] = ()

    def _cells(self) -> list[list[str]]:
        numbers = range(len(self.rows)) if self.shown is None else self.shown
        return [[column.text(self.rows[k]) for column in self.columns] for k in numbers]

    def lines(self) -> list[str]:
        """Lines of text."""
        cells = [[column.title for column in self.columns], *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for row in cells:
            placed = [
                text.ljust(width) if column.left else text.rjust(width)
                for column, text, width in zip(self.columns, row, widths, strict=True)
            ]
            lines.append("  ".join(placed).rstrip())
        lines.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
        return [*lines, *self.below]

    def html(self) -> str:
        """As HTML, escaped."""
        head = self._html_row("th", [column.title for column in self.columns])
        body = "".join(self._html_row("td", texts) for texts in self._cells())
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        return "\n".join([table, *map(paragraph, self.below)])

    def _html_row(self, tag: str, texts: Sequence[str]) -> str:
        left, cells = ' class="left"', ""
        for column, text in zip(self.columns, texts, strict=True):
            cells += f"<{tag}{left if column.left else ''}>{escape(text)}</{tag}>"
        return f"<tr>{cells}</tr>"

    def records(self) -> list[dict[str, Any]]:
        """All rows as plain data, None for what a row does not have."""
        blank = {column.key: None for column in self.columns if isinstance(column.key, str)}
        return [plain({**blank, **row}) for row in self.rows]
