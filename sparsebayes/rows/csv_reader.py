"""CSV files, read a few rows at a time.

Rows of nothing but numbers are found by an expression that says how these are written, and become
an array at once. All others are split into cells, by the rules of the module csv.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from typing import TextIO

import numpy as np
from scipy.io import mmread

from sparsebayes.rows.table import Header, Table, TableError, TableFile, is_number

Array = np.ndarray

_NUMBER = r"-?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?+[0-9]++)?+"


class CSVTable(Table):
    """Rows of a CSV file.

    Parameters
    ----------
    header : Header
    rows : list of list of str
        Cells.
    lines : sequence of int
        Line of the file on which each row ends, for messages.
    """

    def __init__(self, header: Header, rows: list[list[str]], lines: Sequence[int]) -> None:
        super().__init__(header)
        self._rows, self._lines = rows, lines

    def __len__(self) -> int:
        return len(self._lines)

    def where(self, i: int, name: str) -> str:
        return f"{self.source}: line {self._lines[i]}, column {name!r}"

    @property
    def only_numbers(self) -> bool:
        return False

    def texts(self, name: str) -> list[str]:
        (j,) = self.header.places([name])
        return [row[j] for row in self._rows]

    def numbers(self, names: Sequence[str]) -> Array:
        out = np.empty((len(self), len(names)))
        for k, name in enumerate(names):
            cells = self.texts(name)
            found = as_numbers("\n".join(cells), 1)
            if found is not None and len(found) == len(cells):
                out[:, k] = found[:, 0]
            else:
                out[:, k] = [self.number(cell, i, name) for i, cell in enumerate(cells)]
        return out


class NumbersTable(CSVTable):
    """Rows of a CSV file, all cells of which are numbers.

    Parameters
    ----------
    header : Header
    text : list of str
        The lines.
    values : ndarray, (rows, columns)
    first : int
        Number of the first line.
    """

    def __init__(self, header: Header, text: list[str], values: Array, first: int) -> None:
        super().__init__(header, [], range(first, first + len(values)))
        self._text, self._values = text, values

    @property
    def only_numbers(self) -> bool:
        return True

    def texts(self, name: str) -> list[str]:
        (j,) = self.header.places([name])
        return [line.split(",", j + 1)[j].rstrip("\r\n") for line in self._text]

    def numbers(self, names: Sequence[str]) -> Array:
        return self._values[:, self.header.places(names)]


class CSVFile(TableFile):
    """A CSV file whose first row names the columns.

    Parameters
    ----------
    path : str or path
    keep_empty : bool, default=False
        Lines without any cell are left out, and rows of empty cells unless this says that they are
        missing values.
    """

    def __init__(self, path: str | os.PathLike[str], *, keep_empty: bool = False) -> None:
        self.path, self.keep_empty = path, keep_empty
        self._source = os.fspath(path)
        with _errors(self._source), self._open() as stream:
            self.header = self._read_header(stream)[0]

    @property
    def n_bytes(self) -> int:
        return os.path.getsize(self.path)

    def _open(self) -> TextIO:
        return open(self.path, encoding="utf-8-sig", newline="")

    def _read_header(self, stream: TextIO) -> tuple[Header, int]:
        """The header, and the line on which it ends."""
        reader = csv.reader(stream)
        row = next((row for row in reader if any(cell.strip() for cell in row)), None)
        if row is None:
            raise TableError(f"{self._source}: the file is empty")
        columns = [name.strip() for name in row]
        if all(is_number(name) for name in columns):
            raise TableError(
                f"{self._source}: the first row must name the columns, but holds numbers"
            )
        repeated = sorted({name for name in columns if columns.count(name) > 1})
        if repeated:
            raise TableError(
                f"{self._source}: the column name {repeated[0]!r} occurs more than once"
            )
        return Header(self._source, columns), reader.line_num

    def tables(self, names: Sequence[str], size: int | None) -> Iterator[Table]:
        """All rows, so many at a time, or all at once."""
        self.header.places(names)
        total, some = max(self.n_bytes, 1), False
        with _errors(self._source), self._open() as stream:
            header, line = self._read_header(stream)
            if header != self.header:
                raise TableError(f"{self._source}: the file has changed since it was opened")
            for table in self._tables(stream, line, size):
                self.share = min(1.0, stream.buffer.tell() / total)
                some = True
                yield table
        if not some:
            raise TableError(f"{self._source}: there is a header but no row below it")

    def _tables(self, stream: TextIO, line: int, size: int | None) -> Iterator[Table]:
        while text := list(islice(stream, size)):
            joined = "".join(text)
            if '"' in joined:  # a cell may go over several lines: the rest is read cell by cell
                yield from self._split(chain(text, stream), line, size)
                return
            values = as_numbers(joined, len(self.header.columns))
            if values is not None and len(values) == len(text):
                yield NumbersTable(self.header, text, values, line + 1)
            else:
                yield from self._split(text, line, None)
            line += len(text)

    def _split(self, text: Iterable[str], line: int, size: int | None) -> Iterator[Table]:
        """Rows of cells; `line` is the number of the line before."""
        reader, width = csv.reader(text), len(self.header.columns)
        while True:
            rows: list[list[str]] = []
            lines: list[int] = []
            for row in reader:
                full = self.keep_empty and len(row) == width
                if not full and not any(cell.strip() for cell in row):
                    continue
                if len(row) != width:
                    raise TableError(
                        f"{self._source}: line {line + reader.line_num} has {len(row)} cells, the "
                        f"header has {width}"
                    )
                rows.append(row)
                lines.append(line + reader.line_num)
                if len(rows) == size:
                    break
            if not rows:
                return
            yield CSVTable(self.header, rows, lines)


@contextmanager
def _errors(source: str) -> Iterator[None]:
    """Errors of reading a file name it."""
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"{source}: no such file") from None
    except OSError as error:
        raise TableError(f"{source}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{source}: not a CSV file in UTF-8 ({error})") from error


def as_numbers(text: str, width: int) -> Array | None:
    """Lines of so many finite numbers with commas between, as an array; None for anything else."""
    raw = text.encode()
    if not raw.endswith(b"\n"):
        raw += b"\n"
    if _lines_of_numbers(width).fullmatch(raw) is None:
        return None
    # All is as it should be; scipy's reader of dense matrices is the fastest at hand.
    count = raw.count(b"\n")
    head = f"%%MatrixMarket matrix array real general\n{width} {count}\n"
    try:
        values = mmread(io.BytesIO(head.encode() + raw.replace(b",", b"\n").replace(b"\r", b"")))
    except (ValueError, OverflowError):
        return None
    return values.T if np.isfinite(values).all() else None


@lru_cache(maxsize=16)
def _lines_of_numbers(width: int) -> re.Pattern[bytes]:
    row = rf"(?:{_NUMBER},){{{width - 1}}}{_NUMBER}\r?+\n"
    return re.compile(rf"(?:{row})*+".encode())
