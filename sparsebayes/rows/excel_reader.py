"""Sheets of Excel files (.xlsx), read by openpyxl."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.rows.csv_reader import CellsTable, make_header, standard
from sparsebayes.rows.dialect.dialect import Dialect, numerals_of
from sparsebayes.rows.dialect.layout import LayoutFinder, Row
from sparsebayes.rows.dialect.numerals import looks_like_number
from sparsebayes.rows.dialect.opening import FileBytes
from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.table import Table, TableError, TableFile

_LOOKED_AT = 1000  # rows


class ExcelFile(TableFile):
    """A sheet of an Excel file; it is held in memory.

    Parameters
    ----------
    file : FileBytes
    reading : Reading
        The sheet, the first if it names none, and the header.
    keep_empty : bool
        Whether rows of empty cells are missing values; else they are left out.
    """

    def __init__(self, file: FileBytes, reading: Reading, *, keep_empty: bool = False) -> None:
        self._bytes, self._source = file, file.name
        self.sheet, rows, fractions = _cells(file, reading)
        if not rows:
            raise TableError(
                f"{self._source}: the sheet {self.sheet!r} is empty; name another (option sheet)"
            )
        try:
            finder = LayoutFinder(
                rows[:_LOOKED_AT],
                lambda cell: looks_like_number(cell, reading.decimal),
                lambda line, width: None,
            )
            layout = finder.find(reading.header)
            numerals = numerals_of(finder, layout, reading.decimal, ",", "row")
            if fractions and reading.decimal is None and numerals.decimal == ",":
                raise ValueError(
                    "some cells are texts with a decimal comma, others fractions; say so (option "
                    "decimal, ',')"
                )
        except ValueError as error:
            raise TableError(f"{self._source}: {str(error).replace('line ', 'row ')}") from error
        self.dialect = Dialect("utf-8", ",", numerals, layout, (), 0)
        self.header = make_header(self._source, self.dialect)
        width = len(self.header.columns)
        self._rows = [
            (line, row[:width])
            for line, row in rows
            if line >= layout.first and (keep_empty or any(cell.strip() for cell in row))
        ]
        if not self._rows:
            raise TableError(f"{self._source}: there is a header but no row below it")

    @property
    def n_bytes(self) -> int:
        return self._bytes.size

    @property
    def told(self) -> str | None:
        return ", ".join(filter(None, [f"sheet {self.sheet!r}", self.dialect.told]))

    def tables(self, names: Sequence[str], size: int | None) -> Iterator[Table]:
        """All rows, so many at a time, or all at once."""
        names = list(names) or self.header.columns
        places = self.header.places(names)
        step = size or len(self._rows)
        for first in range(0, len(self._rows), step):
            some = self._rows[first : first + step]
            lines = np.array([line for line, _ in some])
            columns = list(zip(*(row for _, row in some), strict=True))
            own: dict[str, Sequence[str]] = {}
            for name, j in zip(names, places, strict=True):
                own[name] = columns[j]
                if name not in self.header.text:
                    own[name] = standard(
                        columns[j], self.dialect.numerals, self._source, name, lines
                    )
            self.share = (first + len(some)) / len(self._rows)
            yield CellsTable(self.header, own, lines, "row")


def _cells(file: FileBytes, reading: Reading) -> tuple[str, list[Row], bool]:
    """The name of the sheet, its cells as texts, all rows of one width, and if it has fractions."""
    sheet, decimal, fractions = reading.sheet, reading.decimal or ".", False
    openpyxl = require("openpyxl", "An Excel file")
    with open(file.path, "rb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions, which are not read
        try:
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            sheets = {one.title: one for one in book.worksheets}
            chosen = next(iter(sheets)) if sheet is None else sheet
            rows = []
            for k, row in enumerate(sheets[chosen].iter_rows(values_only=True)):
                rows.append((k + 1, [_text(value, decimal) for value in row]))
                fractions = fractions or any(isinstance(value, float) for value in row)
        except KeyError:
            listed = ", ".join(map(repr, sheets))
            raise TableError(f"{file.name}: no sheet {sheet!r}; the sheets are {listed}") from None
        except Exception as error:  # of a damaged file whatever the reader stumbles on
            raise TableError(f"{file.name}: not a readable Excel file ({error})") from error
    return chosen, _trimmed(rows), fractions


def _trimmed(rows: list[Row]) -> list[Row]:
    """Without empty columns at the right, and without empty rows at the end."""
    filled = [max((j + 1 for j, c in enumerate(row) if c.strip()), default=0) for _, row in rows]
    width = max(filled, default=0)
    last = max((k + 1 for k, count in enumerate(filled) if count), default=0)
    return [(line, (row + [""] * width)[:width]) for line, row in rows[:last]]


def _text(value: Any, decimal: str) -> str:
    """A cell as it would stand in a file of text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime):
        whole = value.time() == time()
        return value.date().isoformat() if whole else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return repr(value).replace(".", decimal) if isinstance(value, float) else str(value)
