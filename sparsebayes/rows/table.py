"""Tables of numbers and labels that are read from files, with errors that point at the cell."""

from __future__ import annotations

import csv
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sparsebayes.rows.dialect.numerals import is_missing, unit_of

Array = np.ndarray


class TableError(ValueError):
    """A file does not hold what is asked of it."""


@dataclass(frozen=True)
class Header:
    """The columns of a file.

    Parameters
    ----------
    source : str
        Name of the file, for messages.
    columns : list of str
    text : frozenset of str
        Those that are known to hold text.
    """

    source: str
    columns: list[str]
    text: frozenset[str] = frozenset()

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
        self.places(names)
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise TableError(f"column {repeated[0]!r} is named more than once in {text!r}")
        return names

    def places(self, names: Sequence[str]) -> list[int]:
        """Which columns these are, or a clear error."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise TableError(
                f"{self.source}: no column {', '.join(map(repr, missing))}; "
                f"the columns are {', '.join(map(repr, self.columns))}"
            )
        return [self.columns.index(name) for name in names]

    def inputs(self, targets: Sequence[str], names: Sequence[str] | None = None) -> list[str]:
        """The columns that are inputs: those named, or all but the targets."""
        names = list(names or [name for name in self.columns if name not in targets])
        if not names:
            listed = ", ".join(map(repr, targets))
            raise TableError(f"{self.source}: there is no input column besides {listed}")
        self.places(names)
        for target in targets:
            if target in names:
                one = "the target" if len(targets) == 1 else "a target"
                raise TableError(f"column {target!r} is {one} and cannot be an input")
        return names


class Table(ABC):
    """Rows of a file that follow each other.

    Parameters
    ----------
    header : Header
    """

    def __init__(self, header: Header) -> None:
        self.header = header
        self.source, self.columns = header.source, header.columns

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def values(self, names: Sequence[str]) -> Array:
        """The named columns as an array of shape (rows, names), NaN where a value is missing."""

    @abstractmethod
    def texts(self, name: str) -> list[str]:
        """The named column as it is written."""

    @abstractmethod
    def where(self, i: int, name: str) -> str:
        """A cell's place, for messages."""

    @property
    @abstractmethod
    def only_numbers(self) -> bool:
        """Whether it is known that all columns hold finite numbers."""

    def named(self, text: str) -> list[str]:
        """The columns that a text names: one, or several with commas between."""
        return self.header.named(text)

    def numbers(self, names: Sequence[str]) -> Array:
        """The named columns as an array of finite numbers of shape (rows, names)."""
        values = self.values(names)
        wrong = np.argwhere(np.isnan(values))
        if len(wrong):
            i, k = map(int, wrong[0])
            self.number(self.texts(names[k])[i], i, names[k])
        return np.asfortranarray(values)  # sums have the same digits, however the file is written

    def missing(self, name: str, *, text: bool) -> Array:
        """In which rows the named column, of text or of numbers, has no value."""
        if self.only_numbers:
            return np.zeros(len(self), dtype=bool)
        return np.array([is_missing(cell, text=text) for cell in self.texts(name)], dtype=bool)

    def cells(self, name: str) -> list[str]:
        """The named column as text, with no cell that is empty or a number that is not finite."""
        cells = [cell.strip() for cell in self.texts(name)]
        wrong = {
            cell
            for cell in set(cells)
            if not cell or (is_number(cell) and not math.isfinite(float(cell)))
        }
        if wrong:
            i = next(i for i, cell in enumerate(cells) if cell in wrong)
            self.number(cells[i], i, name, "a number or a label")
        return cells

    def labels(self, name: str, kind: str) -> Array:
        """The named column as what `Column.kind` says that it holds."""
        if kind == "text":
            return np.array(self.cells(name))
        values = self.numbers([name])[:, 0]
        if kind == "numbers":
            return values
        if np.abs(values).max() <= 2.0**53:
            return values.astype(np.int64)
        return np.array([int(cell) for cell in self.cells(name)])

    def number(self, cell: str, i: int, name: str, needed: str = "a number") -> float:
        """A cell as a finite number, or a clear error."""
        if not cell.strip():
            raise TableError(f"{self.where(i, name)}: the cell is empty; {needed} is needed")
        try:
            value = to_float(cell)
        except ValueError:
            what, unit = f"{self.where(i, name)}: {cell!r}", unit_of(cell)
            if is_missing(cell):
                raise TableError(f"{what} stands for a missing value; {needed} is needed") from None
            if unit is not None:
                raise TableError(
                    f"{what} is a number with the unit {unit!r}; write the number alone, and the "
                    "unit into the header"
                ) from None
            raise TableError(
                f"{what} is not a number; correct it, or leave the column out"
            ) from None
        if not math.isfinite(value):
            raise TableError(
                f"{self.where(i, name)}: {cell!r} is not a finite number; drop or fill the row"
            )
        return value


class JoinedTable(Table):
    """Tables of one file, one below the other.

    Parameters
    ----------
    parts : list of Table
    """

    def __init__(self, parts: Sequence[Table]) -> None:
        super().__init__(parts[0].header)
        self._parts = parts
        self._ends = np.cumsum([len(part) for part in parts])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def where(self, i: int, name: str) -> str:
        k = int(np.searchsorted(self._ends, i, side="right"))
        return self._parts[k].where(i - int(self._ends[k] - len(self._parts[k])), name)

    @property
    def only_numbers(self) -> bool:
        return all(part.only_numbers for part in self._parts)

    def texts(self, name: str) -> list[str]:
        return [cell for part in self._parts for cell in part.texts(name)]

    def missing(self, name: str, *, text: bool) -> Array:
        return np.concatenate([part.missing(name, text=text) for part in self._parts])

    def values(self, names: Sequence[str]) -> Array:
        out = np.empty((len(self), len(names)))
        for part, end in zip(self._parts, self._ends, strict=True):
            out[end - len(part) : end] = part.values(names)
        return out


class TableFile(ABC):
    """A file of rows, which is read a few at a time, as often as one likes.

    Attributes
    ----------
    header : Header
    share : float
        How much of the file was read in the last pass, between 0 and 1.
    """

    header: Header
    share: float = 0.0

    @abstractmethod
    def tables(self, names: Sequence[str], size: int | None) -> Iterator[Table]:
        """All rows, so many at a time; the named columns are asked for."""

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """What the rows take, about."""

    @property
    def told(self) -> str | None:
        """How the file was read, in a line; None if there is nothing to be said."""
        return None

    def check(self, inputs: Sequence[str]) -> None:
        """A clear error for inputs that are not there, or are known to hold no numbers."""
        self.header.places(inputs)

    def known_kind(self, name: str) -> str | None:
        """What a column is known to hold before it is read, as `Column.kind` says it."""
        return None


MOST_DIFFERENT = 10_000  # values of a column that are told apart


@dataclass
class Column:
    """What a column holds, found table by table.

    Attributes
    ----------
    name : str
    as_text : bool
        Whether numbers are counted as they are written, too; else not where some are not whole.
    n_rows : int
    n_numbers : int
        Cells that are numbers.
    whole : bool
        Whether all of these are whole.
    plain : bool
        Whether all cells are whole numbers as Python writes them: then these may be labels.
    values : set of float
        Different numbers, no more than `MOST_DIFFERENT` and one.
    counts : dict of str to int
        How often each text stands there, where there are no more than that.
    first : dict of bool to str
        The place of the first cell that is a number (True) and of the first that is not, and what
        it holds.
    """

    name: str
    as_text: bool = False
    n_rows: int = 0
    n_numbers: int = 0
    whole: bool = True
    plain: bool = True
    values: set[float] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    first: dict[bool, str] = field(default_factory=dict)

    def add(self, table: Table) -> None:
        """Look at further rows."""
        self.n_rows += len(table)
        if table.only_numbers and not self.as_text:
            values = table.numbers([self.name])[:, 0]
            if not np.all(values == np.round(values)):
                if True not in self.first:
                    self.first[True] = _cell(table, 0, self.name)
                self._add_fractions(values)
                return
        cells = table.cells(self.name)
        different: dict[str, int] = {}
        for cell in cells:
            different[cell] = different.get(cell, 0) + 1
        for cell, count in different.items():
            number = is_number(cell)
            if number not in self.first:
                self.first[number] = _cell(table, cells.index(cell), self.name)
            self.plain = self.plain and _is_plain(cell)
            if number:
                self.n_numbers += count
                value = float(cell)
                self.whole = self.whole and value == round(value)
                if len(self.values) <= MOST_DIFFERENT:
                    self.values.add(value)
            if len(self.counts) <= MOST_DIFFERENT or cell in self.counts:
                self.counts[cell] = self.counts.get(cell, 0) + count

    def _add_fractions(self, values: Array) -> None:
        self.n_numbers += len(values)
        self.whole = self.plain = False
        if len(self.values) <= MOST_DIFFERENT:
            self.values.update(np.unique(values)[: MOST_DIFFERENT + 1].tolist())

    @property
    def kind(self) -> str:
        """ "whole" if all cells are plain whole numbers, "numbers", or "text"."""
        if self.n_numbers < self.n_rows:
            return "text"
        return "whole" if self.plain else "numbers"

    @property
    def fractions(self) -> bool:
        """Whether all cells seen are numbers, and some are not whole."""
        return self.n_numbers == self.n_rows and not self.whole


def is_number(text: str) -> bool:
    """Whether a cell reads as a number, finite or not."""
    try:
        to_float(text)
    except ValueError:
        return False
    return True


def to_float(cell: str) -> float:
    """A number as it is written in files; 4_1, which Python takes for 41, is none."""
    if "_" in cell:
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)


def _is_plain(cell: str) -> bool:
    """Whether a cell is a whole number that comes back as it was."""
    return len(cell) < 18 and cell.removeprefix("-").isdecimal() and str(int(cell)) == cell


def _cell(table: Table, i: int, name: str) -> str:
    return f"{table.where(i, name)}: {table.texts(name)[i].strip()!r}"
