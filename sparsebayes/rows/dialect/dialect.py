"""How a file of text is written: found in its first lines, unless it is given."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

from sparsebayes.rows.dialect.delimiters import (
    BLANKS,
    ONE_COLUMN,
    find_delimiters,
    name_of,
    split,
)
from sparsebayes.rows.dialect.layout import LayoutFinder, TableLayout
from sparsebayes.rows.dialect.numerals import (
    MARKS,
    Numerals,
    find_numerals,
    looks_like_number,
    refuse_fractions,
    with_thousands,
)
from sparsebayes.rows.dialect.opening import FileBytes
from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.table import TableError

COMMENTS = ("#", "%", "//", "!")
_LINES = 1000  # that are looked at
_CHARACTERS = 1 << 20
# Cells of Excel, no comments.
_ERROR = re.compile(r"#(?:N/A|NV|[^\W\d_]+/?0?[!?])\s*(?:[-+.,;|\t\d]|$)", re.IGNORECASE)
_CALLED = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


@dataclass(frozen=True)
class Dialect:
    """How a file of text is written.

    Attributes
    ----------
    encoding : str
    delimiter : str
    numerals : Numerals
    layout : TableLayout
    comments : tuple of str
        What lines begin with that are left out.
    n_comments : int
        How many of these there are in the first 1000 lines.
    """

    encoding: str
    delimiter: str
    numerals: Numerals
    layout: TableLayout
    comments: tuple[str, ...]
    n_comments: int

    def is_comment(self, line: str) -> bool:
        """Whether a line is left out."""
        return _is_comment(line, self.comments)

    @property
    def told(self) -> str | None:
        """What is to be said of the file, in a line; None of one with commas, points and header."""
        layout, told = self.layout, []
        if self.delimiter not in (",", ONE_COLUMN):
            told.append(f"separated by {name_of(self.delimiter)}")
        if self.numerals.decimal != ".":
            told.append(f"decimal {MARKS[self.numerals.decimal]}")
        if self.numerals.thousands:
            mark = self.numerals.thousands
            told.append(f"thousands set apart by {'blanks' if mark.isspace() else mark}")
        if codecs.lookup(self.encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
            told.append(_CALLED.get(self.encoding, self.encoding.upper()))
        if layout.header is None:
            first, last = layout.names[0], layout.names[-1]
            named = f"columns {first} to {last}" if first != last else f"column {first}"
            told.append(f"no header: {named}")
        for count, what in ((self.n_comments, "comment line"), (layout.above, "line")):
            if count:
                above = " above the header" if what == "line" else ""
                told.append(f"{count} {what}{'s' if count > 1 else ''}{above} left out")
        if layout.units:
            told.append(f"a row of units ({', '.join(layout.units)})")
        return ", ".join(told) or None


def find_dialect(file: FileBytes, reading: Reading) -> Dialect:
    """How a file is written, or an error that says what to do."""
    encoding = reading.encoding or file.find_encoding()
    lines = _first_lines(file, encoding)
    if not any(line.strip() for line in lines):
        raise TableError(f"{file.name}: the file is empty")
    comments = _comments(lines)
    bare = ["" if _is_comment(line, comments) else line for line in lines]
    given = reading.delimiter
    refusals: list[ValueError] = []
    tabs = False  # whether they make a table whose numbers cannot be known; so would blanks
    for delimiter in [given] if given else find_delimiters(bare, reading.decimal):
        if tabs and delimiter == BLANKS:
            continue
        try:
            finder = LayoutFinder(
                list(split(bare, delimiter)),
                partial(looks_like_number, decimal=reading.decimal),
                _Names(lines, comments, delimiter),
            )
            layout = finder.find(reading.header)
            tabs = delimiter == "\t"
            numerals = numerals_of(finder, layout, reading.decimal, delimiter)
            break
        except csv.Error as error:
            raise TableError(f"{file.name}: not a table of text ({error})") from error
        except ValueError as error:
            refusals.append(error)
    else:
        raise TableError(f"{file.name}: {refusals[0]}") from refusals[0]
    left_out = sum(_is_comment(line, comments) for line in lines)
    left_out -= layout.header is not None and _is_comment(lines[layout.header - 1], comments)
    return Dialect(encoding, delimiter, numerals, layout, comments, left_out)


def numerals_of(
    finder: LayoutFinder,
    layout: TableLayout,
    decimal: str | None,
    delimiter: str,
    unit: str = "line",
) -> Numerals:
    """How the numbers of a table are written."""
    columns = {
        j: [
            (row[j], f"{unit} {line}, column {name!r}")
            for line, row in finder.rows
            if line >= layout.first and len(row) == len(layout.names)
        ]
        for j, name in enumerate(layout.names)
        if j not in layout.text
    }
    cells = list(chain(*zip(*columns.values(), strict=True)))  # row by row
    if decimal is not None:
        return with_thousands(decimal, (cell for cell, _ in cells))
    numerals = find_numerals(cells, delimiter)
    if numerals.sure and (numerals.decimal == "," or delimiter == ";"):
        for column in columns.values():
            refuse_fractions(column, numerals)
    return numerals


def _first_lines(file: FileBytes, encoding: str) -> list[str]:
    stream, raw = file.text(encoding)
    with raw, stream:
        text = stream.read(_CHARACTERS)
        if stream.read(1):  # the last line may not be whole
            text = text[: text.rfind("\n") + 1] or text
    if "\0" in text:
        raise TableError(f"{file.name}: a binary file, not a table of text; export it as .csv")
    return list(islice(text.split("\n"), _LINES))


def _comments(lines: Sequence[str]) -> tuple[str, ...]:
    """What comments may begin with; not what all rows of a table begin with."""
    found, lines = [], [line for line in lines if line.strip()]
    for mark in COMMENTS:
        other = [line for line in lines if not _is_comment(line, (mark,))]
        cells = re.split(r"[\s;,|]+", other[0]) if len(other) == 1 else []
        if len(other) > 1 or len(other) == len(lines) or any(map(looks_like_number, cells)):
            found.append(mark)
    return tuple(found)


def _is_comment(line: str, marks: tuple[str, ...]) -> bool:
    line = line.lstrip()
    return bool(marks) and line.startswith(marks) and _ERROR.match(line) is None


@dataclass(frozen=True)
class _Names:
    """Names in comments, and names with blanks that are set apart by several of these."""

    lines: Sequence[str]
    comments: tuple[str, ...]
    delimiter: str

    def __call__(self, line: int, width: int) -> list[str] | None:
        if line > len(self.lines):
            return None
        text = self.lines[line - 1].strip()
        if _is_comment(text, self.comments):
            ((_, first),) = split([text], self.delimiter)
            if self.delimiter != BLANKS and first[0].strip() in COMMENTS and len(first) == width:
                return [cell.strip() for cell in first]  # a column that is called #
            text = text.lstrip("".join(self.comments)).strip()
        elif self.delimiter != BLANKS:
            return None
        ways = [list(cells) for _, cells in split([text], self.delimiter)]
        if self.delimiter == BLANKS:
            ways.append(re.split(r"\s{2,}|\t+", text))
        ways = [[cell.strip() for cell in cells] for cells in ways]
        if width == 1 and " " in text:  # a sentence
            return None
        return next((cells for cells in ways if len(cells) == width and all(cells)), None)
