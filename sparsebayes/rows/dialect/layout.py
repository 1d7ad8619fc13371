"""Where the rows of a table begin, and what its columns are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sparsebayes.rows.dialect.numerals import is_missing

Row = tuple[int, list[str]]  # the line on which it ends, and its cells

_UNIT = (
    r"(?:[yzafpnuµμmcdhkMGT]?(?:m|s|g|A|K|V|W|J|N|C|F|H|T|L|l|M|Pa|Hz|Ohm|ohm|Ω|Ω|eV|bar|mol|cd|lx|lm"
    r"|rad|Bq|Gy|Sv|Wh)|[°º][CFK]?|deg[CFK]?|%|‰|ppm|ppb|ppt|dBm?|min|h|hr|d|sec|rpm|px|pH|psi|in|ft"
    r"|counts?|cts|a\.?u\.?|arb\.? ?u\.?)"
)
_UNITS = re.compile(rf"[\[(<].*[\])>]|-|{_UNIT}(?:\^?-?[0-9²³]*(?:[/*·. ]{_UNIT}\^?-?[0-9²³]*)*)")
_RULE = re.compile(r"[-=+:| ]+")  # under a header
_BEGINS_LIKE_A_DATE = re.compile(r"\s*\d{1,4}[-./:]\d")


@dataclass(frozen=True)
class TableLayout:
    """Where a table is in a file.

    Attributes
    ----------
    names : list of str
        Of the columns.
    header : int or None
        Line of the header; None if there is none.
    first : int
        Line from which on there are rows.
    above : int
        Lines with text above the header that are no comments.
    units : list of str
        Cells of a row of units below the header.
    text : frozenset of int
        Numbers of the columns that hold text.
    trailing : bool
        Whether rows end in a delimiter.
    """

    names: list[str]
    header: int | None
    first: int
    above: int
    units: list[str]
    text: frozenset[int]
    trailing: bool


class LayoutFinder:
    """Finds the header of a table and its first row.

    Parameters
    ----------
    rows : list of (int, list of str)
        Those at the beginning of the file that are no comments.
    is_number : callable
        Of a cell.
    other_names : callable
        From a line and the number of columns to other cells of that line, or None: of comments,
        and of headers with blanks in their names.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        is_number: Callable[[str], bool],
        other_names: Callable[[int, int], list[str] | None],
    ) -> None:
        self.is_number, self.other_names = is_number, other_names
        rows = [row for row in rows if any(cell.strip() for cell in row[1])]
        self.width = self._usual_width(rows)
        same = [cells for _, cells in rows if len(cells) == self.width]
        self.trailing = self.width > 1 and not any(cells[-1].strip() for cells in same)
        self.width -= self.trailing
        self.rows = [(line, self._without_end(cells)) for line, cells in rows]

    def _usual_width(self, rows: Sequence[Row]) -> int:
        """Cells of most rows; rows of numbers count most."""
        found: dict[int, float] = {}
        for _, cells in rows:
            share = sum(map(self.is_number, cells)) / len(cells)
            found[len(cells)] = found.get(len(cells), 0.0) + 0.1 + share
        return max(found, key=lambda width: (found[width], width))

    def _without_end(self, cells: list[str]) -> list[str]:
        longer = self.trailing and len(cells) == self.width + 1 and not cells[-1].strip()
        return cells[:-1] if longer else cells

    def find(self, header: int | str | None) -> TableLayout:
        """The layout; the header is found, or on the given line, or there is "none"."""
        if isinstance(header, int):
            return self._given(header)
        numeric = self._columns_of_numbers([r for r in self.rows if len(r[1]) == self.width], True)
        table = [k for k, (_, cells) in enumerate(self.rows) if len(cells) == self.width]
        data = next((k for k in table if self._is_data(self.rows[k][1], numeric)), None)
        if header == "none":
            return self._without_header(table[0] if data is None else data)
        if data is None:  # all columns hold text
            return self._below(table[0])
        if data == table[0]:
            return self._above_first(data, numeric)
        named = [k for k in table if k < data and self._is_text(self.rows[k][1])]
        if not named:
            if len([k for k in table if k < data]) == 1:  # names some of which are numbers
                return self._below(table[0])
            raise ValueError(
                f"line {self.rows[data][0]} holds numbers, but no line above it names the columns; "
                "say which line does (option header), or 'none'"
            )
        # A row whose numbers are all missing is the first one, and no header.
        while len(named) > 1 and all(is_missing(self.rows[named[-1]][1][j]) for j in numeric):
            named.pop()
        last = named[-1]
        if len(named) > 1 and named[-2] == last - 1 and self._has_units(last):
            last -= 1
        return self._below(last)

    def _columns_of_numbers(self, rows: Sequence[Row], later: bool) -> set[int]:
        """Those with no less numbers than other cells, in all rows or the later half."""
        if later:
            rows = rows[len(rows) // 2 :]
        found = set()
        for j in range(self.width):
            cells = [cells[j] for _, cells in rows]
            numbers = sum(map(self.is_number, cells))
            text = sum(not self.is_number(cell) and not is_missing(cell) for cell in cells)
            if numbers and numbers >= text:
                found.add(j)
        return found

    def _is_data(self, cells: list[str], numeric: set[int]) -> bool:
        """Whether there is a number, or a sign of its absence, wherever there are numbers."""
        there = [self.is_number(cells[j]) for j in numeric]
        return any(there) and all(
            number or is_missing(cells[j]) for j, number in zip(numeric, there, strict=True)
        )

    def _is_text(self, cells: list[str]) -> bool:
        real = any(not is_missing(cell) for cell in cells)
        return real and not any(map(self.is_number, cells))

    def _above_first(self, data: int, numeric: set[int]) -> TableLayout:
        """The first line of the usual width looks like all others: is its text data?"""
        line, cells = self.rows[data]
        others = [cell for j, cell in enumerate(cells) if j not in numeric]
        text = [cell for cell in others if not is_missing(cell) and not self.is_number(cell)]
        if text and not any(map(_BEGINS_LIKE_A_DATE.match, text)):
            raise ValueError(
                f"line {line} may name the columns or be the first row; say which line names them "
                f"(option header, {line}), or 'none'"
            )
        above = self.rows[data - 1][0] if data else line - 1
        names = self.other_names(above, self.width) if above >= 1 else None
        if names is not None and not any(map(self.is_number, names)):
            return self._layout(names, above, data, data - 1 if data else 0)
        if data:
            raise ValueError(
                f"line {above} has {len(self.rows[data - 1][1])} cells, but the rows below have "
                f"{self.width}; name each column, or say which line names them (option header, a "
                "line or 'none'), what is between cells (option delimiter) or what the decimal "
                "mark is (option decimal)"
            )
        return self._without_header(data)

    def _without_header(self, data: int) -> TableLayout:
        return self._layout([f"c{j + 1}" for j in range(self.width)], None, data, data)

    def _below(self, k: int) -> TableLayout:
        """The layout of a table whose header is this row."""
        line, names = self.rows[k]
        first, units = k + 1, []
        below = self.rows[first][1] if first < len(self.rows) else []
        if len(below) == len(names) and self._has_units(first):
            first, units = first + 1, [cell.strip() for cell in below]
        return self._layout(names, line, first, k, units)

    def _has_units(self, k: int) -> bool:
        """Whether this row, below a header, holds units or is a line of dashes."""
        cells = self.rows[k][1]
        rest = [row for row in self.rows[k + 1 :] if len(row[1]) == len(cells) == self.width]
        above = [cells[j] for j in self._columns_of_numbers(rest, False)]
        return _are_units(cells, above) and not any(map(self.is_number, cells))

    def _given(self, line: int) -> TableLayout:
        """The layout of a table whose header is on this line."""
        for k, (own, names) in enumerate(self.rows):
            if own == line:
                self.width = len(names)
                return self._below(k)
        k = sum(own < line for own, _ in self.rows)
        others = self.other_names(line, self.width)
        if others is None:
            raise ValueError(f"line {line} names no columns; say which line does (option header)")
        return self._layout(others, line, k, k)

    def _layout(
        self,
        names: list[str],
        header: int | None,
        first: int,
        above: int,
        units: Sequence[str] = (),
    ) -> TableLayout:
        names = [name.strip() or f"c{j + 1}" for j, name in enumerate(names)]
        data = [row for row in self.rows[first:] if len(row[1]) == self.width]
        numeric = self._columns_of_numbers(data, False)
        text = set()
        for j in set(range(self.width)) - numeric:
            if any(not is_missing(cells[j], text=True) for _, cells in data):
                text.add(j)
        if first < len(self.rows):
            start = self.rows[first][0]
            if header is not None:  # a row may go over several lines
                start = (self.rows[first - 1][0] if first else header) + 1
        else:
            start = (self.rows[-1][0] if self.rows else 0) + 1
        shown = [] if all(_RULE.fullmatch(u) for u in units) else list(units)
        return TableLayout(names, header, start, above, shown, frozenset(text), self.trailing)


def _are_units(cells: Sequence[str], above: Sequence[str]) -> bool:
    """Whether all cells are units or empty, some of them above numbers, or a line under a header.

    Else m and A may be texts of the first row, and dashes its missing values.
    """
    cells = [cell.strip() for cell in cells if cell.strip()]
    if cells and all(map(_RULE.fullmatch, cells)):
        return max(map(len, cells)) > len("--")
    real = any(not is_missing(cell) for cell in above)
    return real and all(map(_UNITS.fullmatch, cells))
