"""Numbers and labels in CSV files, with errors that point at the cell."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

TargetName = str | list[str] | None  # as a model file has it


class TableError(ValueError):
    """A CSV file does not hold what is asked of it."""


@dataclass(frozen=True)
class Table:
    """A CSV file as text.

    Parameters
    ----------
    source : str
        Name of the file, for messages.
    columns : list of str
        Header.
    rows : list of list of str
        Cells.
    lines : list of int
        Line of the file on which each row ends, for messages.
    """

    source: str
    columns: list[str]
    rows: list[list[str]]
    lines: list[int]

    def named(self, text: str) -> list[str]:
        """The columns that a text names: one, or several with commas between.

        A name with a comma in it is taken as it is, and put in double quotes among others.
        """
        names = [text.strip()]
        if names[0] not in self.columns:
            try:
                (cells,) = csv.reader([text], skipinitialspace=True)
            except (csv.Error, ValueError):  # line ends, or nothing
                cells = names
            names = [cell.strip() for cell in cells] or names
        self._check_columns(names)
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise TableError(f"column {repeated[0]!r} is named more than once in {text!r}")
        return names

    def numbers(self, names: Sequence[str]) -> np.ndarray:
        """The named columns as an array of shape (rows, names)."""
        self._check_columns(names)
        out = np.empty((len(self.rows), len(names)))
        for k, name in enumerate(names):
            j = self.columns.index(name)
            for i, row in enumerate(self.rows):
                out[i, k] = self._number(row[j], i, name)
        return out

    def series(self, name: str) -> np.ndarray:
        """The named column, with NaN where a cell is empty or "nan"."""
        cells = enumerate(self.texts(name))
        return np.array([np.nan if is_missing(c) else self._number(c, i, name) for i, c in cells])

    def texts(self, name: str) -> list[str]:
        """The named column as it is written."""
        self._check_columns([name])
        j = self.columns.index(name)
        return [row[j] for row in self.rows]

    def cells(self, name: str) -> list[str]:
        """The named column as text, with no cell that is empty or a number that is not finite."""
        cells = [cell.strip() for cell in self.texts(name)]
        for i, cell in enumerate(cells):
            if not cell or (is_number(cell) and not math.isfinite(float(cell))):
                self._number(cell, i, name, "a number or a label")
        return cells

    def where(self, i: int, name: str) -> str:
        """A cell's place, for messages."""
        return f"{self.source}: line {self.lines[i]}, column {name!r}"

    def _check_columns(self, names: Sequence[str]) -> None:
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise TableError(
                f"{self.source}: no column {', '.join(map(repr, missing))}; "
                f"the columns are {', '.join(map(repr, self.columns))}"
            )

    def _number(self, cell: str, i: int, name: str, needed: str = "a number") -> float:
        if not cell.strip():
            raise TableError(f"{self.where(i, name)}: the cell is empty; {needed} is needed")
        try:
            value = float(cell)
        except ValueError:
            raise TableError(f"{self.where(i, name)}: {cell!r} is not a number") from None
        if not math.isfinite(value):
            raise TableError(
                f"{self.where(i, name)}: {cell!r} is not a finite number; drop or fill the row"
            )
        return value


def is_number(text: str) -> bool:
    """Whether a cell reads as a number, finite or not."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_missing(text: str) -> bool:
    """Whether a cell is empty or says "nan"."""
    return text.strip().lower() in ("", "nan")


def read_table(path: str | os.PathLike[str], *, keep_empty: bool = False) -> Table:
    """Read a CSV file whose first row names the columns.

    Lines without any cell are left out, and rows of empty cells unless `keep_empty` says that
    they are missing values.
    """
    source = os.fspath(path)
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            numbered: list[tuple[list[str], int]] = []
            for row in reader:
                full = keep_empty and numbered and len(row) == len(numbered[0][0])
                if full or any(cell.strip() for cell in row):
                    numbered.append((row, reader.line_num))
    except FileNotFoundError:
        raise TableError(f"{source}: no such file") from None
    except OSError as error:
        raise TableError(f"{source}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{source}: not a CSV file in UTF-8 ({error})") from error
    if not numbered:
        raise TableError(f"{source}: the file is empty")
    columns = [name.strip() for name in numbered[0][0]]
    if all(is_number(name) for name in columns):
        raise TableError(f"{source}: the first row must name the columns, but holds numbers")
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if repeated:
        raise TableError(f"{source}: the column name {repeated[0]!r} occurs more than once")
    if len(numbered) == 1:
        raise TableError(f"{source}: there is a header but no row below it")
    for row, line in numbered[1:]:
        if len(row) != len(columns):
            raise TableError(
                f"{source}: line {line} has {len(row)} cells, the header has {len(columns)}"
            )
    rows, lines = zip(*numbered[1:], strict=True)
    return Table(source, columns, list(rows), list(lines))


def target_names(stored: TargetName, count: int) -> list[str]:
    """A name for each target of a stored model; where there are none they are numbered."""
    if isinstance(stored, list):
        if not len(stored) == len(set(stored)) == count:
            raise ValueError(
                f"the model file names the targets {', '.join(map(repr, stored))}, but the model "
                f"has {count}; save it with one name for each"
            )
        return stored
    return [stored or "y"] if count == 1 else [f"{stored or 'y'}{k}" for k in range(count)]


def format_table(columns: Mapping[str, np.ndarray]) -> str:
    """A CSV text; each number is written so that reading it back gives the same number."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return stream.getvalue()
