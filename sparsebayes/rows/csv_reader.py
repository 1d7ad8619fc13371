"""CSV files and their kin, read a few rows at a time.

Rows of nothing but numbers are found by an expression that says how these are written, and become
an array at once. All others are split into cells, by the rules of the module csv.
"""

from __future__ import annotations

import csv
import io
import lzma
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from typing import TextIO

import numpy as np
from scipy.io import mmread

from sparsebayes.rows.dialect.delimiters import BLANKS, split, split_plainly
from sparsebayes.rows.dialect.dialect import Dialect, find_dialect
from sparsebayes.rows.dialect.numerals import Numerals, is_missing
from sparsebayes.rows.dialect.opening import FileBytes
from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.table import Header, JoinedTable, Table, TableError, TableFile, is_number

Array = np.ndarray

_NUMBER = r"[-+]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?+[0-9]++)?+"
_BLOCK = 1 << 22  # characters that are read at a time where all rows are asked for


class CellsTable(Table):
    """Rows of cells, in which numbers are written as Python does.

    Parameters
    ----------
    header : Header
    cells : dict of str to sequence of str
        Those of each column.
    lines : ndarray of int
        Line of the file on which each row ends, for messages.
    unit : str, default="line"
        What messages call it.
    """

    def __init__(
        self,
        header: Header,
        cells: dict[str, Sequence[str]],
        lines: Array,
        unit: str = "line",
    ) -> None:
        super().__init__(header)
        # A text takes a fraction of the memory of its cells.
        self._texts = {name: _joined(own) for name, own in cells.items()}
        self._lines, self._unit = lines, unit

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def n_between(self) -> int:
        """Lines between the rows that are none: comments, or empty."""
        return int(self._lines[-1] - self._lines[0]) + 1 - len(self._lines)

    def where(self, i: int, name: str) -> str:
        return f"{self.source}: {self._unit} {self._lines[i]}, column {name!r}"

    @property
    def only_numbers(self) -> bool:
        return False

    def texts(self, name: str) -> list[str]:
        self.header.places([name])
        return self._texts[name].split("\n")

    def values(self, names: Sequence[str]) -> Array:
        self.header.places(names)
        out = np.empty((len(self), len(names)))
        for k, name in enumerate(names):
            raw = self._texts[name].encode()
            found = as_numbers(raw, 1)
            if found is None:
                found = as_numbers(without_absent(raw), 1, missing=True)
            if found is not None and len(found) == len(self):
                out[:, k] = found[:, 0]
                continue
            out[:, k] = [
                np.nan if is_missing(cell) else self.number(cell, i, name)
                for i, cell in enumerate(self.texts(name))
            ]
        return out


def _joined(cells: Sequence[str]) -> str:
    """Cells in one text, each on a line."""
    text = "\n".join(cells)
    if text.count("\n") == len(cells) - 1:
        return text
    return "\n".join(cell.replace("\n", " ") for cell in cells)


class NumbersTable(Table):
    """Rows of a file, all cells of which are numbers or missing.

    Parameters
    ----------
    header : Header
    raw : bytes
        The lines, with commas between cells.
    values : ndarray, (rows, columns)
        NaN where a cell is missing.
    first : int
        Number of the first line.
    """

    def __init__(self, header: Header, raw: bytes, values: Array, first: int) -> None:
        super().__init__(header)
        self._raw, self._values, self._first = raw, values, first
        self._complete = not np.isnan(values).any()

    def __len__(self) -> int:
        return len(self._values)

    def where(self, i: int, name: str) -> str:
        return f"{self.source}: line {self._first + i}, column {name!r}"

    @property
    def only_numbers(self) -> bool:
        return self._complete

    def missing(self, name: str, *, text: bool) -> Array:
        return np.isnan(self.values([name])[:, 0])

    def texts(self, name: str) -> list[str]:
        (j,) = self.header.places([name])
        return [line.split(",", j + 1)[j].strip() for line in self._raw.decode().splitlines()]

    def values(self, names: Sequence[str]) -> Array:
        return self._values[:, self.header.places(names)]


class CSVFile(TableFile):
    """A file of text whose lines are rows of cells.

    Parameters
    ----------
    file : str, path or FileBytes
    reading : Reading, default=None
        What is known of how it is written; the rest is found.
    keep_empty : bool, default=False
        Lines without any cell are left out, and rows of empty cells unless this says that they are
        missing values.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | FileBytes,
        reading: Reading | None = None,
        *,
        keep_empty: bool = False,
    ) -> None:
        with _errors(str(file)):
            self._bytes = file if isinstance(file, FileBytes) else FileBytes(file)
        self._source, self.keep_empty = self._bytes.name, keep_empty
        self._reading = reading or Reading()
        if self._reading.sheet is not None:
            raise TableError(f"{self._source}: no Excel file, and has no sheet; leave it out")
        with _errors(self._source):
            self.dialect = find_dialect(self._bytes, self._reading)
        self._stamp = self._bytes.stamp()
        self.header = make_header(self._source, self.dialect)

    @property
    def n_bytes(self) -> int:
        return self._bytes.size

    @property
    def told(self) -> str | None:
        return self.dialect.told

    def tables(self, names: Sequence[str], size: int | None) -> Iterator[Table]:
        """All rows, so many at a time, or all at once."""
        self.header.places(names)
        with _errors(self._source):
            if self._bytes.stamp() != self._stamp:
                if find_dialect(self._bytes, self._reading) != self.dialect:
                    raise TableError(f"{self._source}: the file has changed since it was opened")
                self._stamp = self._bytes.stamp()
            found = self._parts(list(names) or self.header.columns, size)
            if size is None:
                parts = list(found)
                found = iter([JoinedTable(parts)] if len(parts) > 1 else parts)
            some = False
            for table in found:
                some = True
                yield table
        if not some:
            raise TableError(f"{self._source}: there is a header but no row below it")

    def _parts(self, names: list[str], size: int | None) -> Iterator[Table]:
        stream, file = self._bytes.text(self.dialect.encoding)
        total = max(os.path.getsize(self._bytes.path), 1)
        with file, stream:
            for _ in islice(stream, self.dialect.layout.first - 1):
                pass
            for table in self._read(stream, self.dialect.layout.first - 1, names, size):
                self.share = min(1.0, file.tell() / total)
                yield table

    def _read(
        self, stream: TextIO, line: int, names: list[str], size: int | None
    ) -> Iterator[Table]:
        """Tables of a few rows each; `line` is the number of the line before."""
        dialect = self.dialect
        while text := _block(stream, size):
            if '"' in text:  # a cell may go over several lines: the rest is read cell by cell
                lines: Iterable[str] = chain(io.StringIO(text), stream)
                rows = split(map(self._bare, lines), dialect.delimiter)
                yield from self._cells(rows, line, names, size or _BLOCK // 64)
                return
            count = text.count("\n") + (not text.endswith("\n"))
            raw = None if self.header.text else _plain(text.encode(), dialect)
            values = None if raw is None else self._numbers(raw)
            if raw is not None and values is not None and len(values) == count:
                yield NumbersTable(self.header, raw, values, line + 1)
            else:
                lines = text.split("\n")
                if any(mark in text for mark in dialect.comments):
                    lines = map(self._bare, lines)
                rows = split_plainly(lines, dialect.delimiter)
                yield from self._cells(rows, line, names, None)
            line += count

    def _numbers(self, raw: bytes) -> Array | None:
        """Lines of numbers and missing values as an array; None if there are others."""
        width = len(self.header.columns)
        values = as_numbers(raw, width)
        if values is None and width > 1:  # an empty line is no missing value
            values = as_numbers(without_absent(raw), width, missing=True)
            if values is not None and not self.keep_empty and np.isnan(values).all(axis=1).any():
                return None  # rows of empty cells are left out
        return values

    def _bare(self, line: str) -> str:
        return "" if self.dialect.is_comment(line) else line

    def _cells(
        self, rows: Iterator[tuple[int, list[str]]], line: int, names: list[str], size: int | None
    ) -> Iterator[Table]:
        """Tables of cells; `line` is the number of the line before."""
        dialect, width = self.dialect, len(self.header.columns)
        rows = self._rows(rows, line, width)
        places = self.header.places(names)
        while some := list(islice(rows, size)):
            numbers = np.array([number for number, _ in some])
            columns = list(zip(*(row for _, row in some), strict=True))
            own: dict[str, Sequence[str]]
            own = {name: columns[j] for name, j in zip(names, places, strict=True)}
            for name in names:
                if name not in self.header.text:
                    own[name] = standard(own[name], dialect.numerals, self._source, name, numbers)
            yield CellsTable(self.header, own, numbers)

    def _rows(
        self, rows: Iterator[tuple[int, list[str]]], line: int, width: int
    ) -> Iterator[tuple[int, list[str]]]:
        """Rows that are not empty, each with the number of its line."""
        trailing = self.dialect.layout.trailing
        for number, row in rows:
            if len(row) == width and row[0].strip():
                yield line + number, row
                continue
            if trailing and len(row) == width + 1 and not row[-1].strip():
                del row[-1]
            if not (self.keep_empty and len(row) == width) and not any(map(str.strip, row)):
                continue
            if len(row) != width:
                raise TableError(
                    f"{self._source}: line {line + number} has {len(row)} cells, the header has "
                    f"{width}; give each row as many, in one table"
                )
            yield line + number, row


def make_header(source: str, dialect: Dialect) -> Header:
    """The columns of a file, or a clear error if two have one name."""
    columns = dialect.layout.names
    repeated = [name for name in columns if columns.count(name) > 1]
    if repeated:
        places = ", ".join(str(j + 1) for j, name in enumerate(columns) if name == repeated[0])
        raise TableError(
            f"{source}: line {dialect.layout.header}: the column name {repeated[0]!r} occurs more "
            f"than once (columns {places}); rename one"
        )
    return Header(source, columns, frozenset(columns[j] for j in dialect.layout.text))


def standard(
    cells: Sequence[str], numerals: Numerals, source: str, name: str, lines: Array
) -> Sequence[str]:
    """Cells of a column of numbers as Python writes these; others as they are."""
    if numerals.decimal == ".":
        text = "".join(cells)
        if not any(mark in text for mark in _MARKS) or _UNUSUAL.search(text) is None:
            return cells
    else:
        text = "\n".join(cells).translate({ord(","): ".", ord("."): "?"})
        if _lines_of_numbers(1, False, False).fullmatch(text.encode() + b"\n"):
            return text.split("\n")
    found = []
    for line, cell in zip(lines, cells, strict=True):
        plain = numerals.plain(cell)
        if plain is None and "." in cell and numerals.decimal == "," and is_number(cell):
            raise TableError(
                f"{source}: line {line}, column {name!r}: {cell!r} has a point where other numbers "
                "have a decimal comma; write all with one mark, or leave the column out"
            )
        if plain is None and not is_missing(cell) and numerals.other in cell:
            other = Numerals(numerals.other, True).plain(cell)
            if other is not None or Numerals(numerals.decimal, True).plain(cell) is not None:
                mark = "comma" if numerals.other == "," else "point"
                raise TableError(
                    f"{source}: line {line}, column {name!r}: {cell!r} has a {mark}, which other "
                    "numbers do not have; say what the decimal mark is (option decimal, '.' or ',')"
                )
        found.append(cell if plain is None else plain)
    return found


_MARKS = ",'’ \u00a0\u2009\u202f\u2212"  # of thousands, and a minus
_UNUSUAL = re.compile(rf"[0-9][{_MARKS}][0-9]|{_MARKS[-1]}")


def _block(stream: TextIO, size: int | None) -> str:
    """So many lines, or a few million characters."""
    if size is not None:
        return "".join(islice(stream, size))
    text = stream.read(_BLOCK)
    return text + stream.readline() if text and not text.endswith("\n") else text


def _plain(raw: bytes, dialect: Dialect) -> bytes | None:
    """Lines with commas between cells and points in numbers; other points become no number."""
    delimiter, decimal = dialect.delimiter, dialect.numerals.decimal
    if len(delimiter.encode()) > 1:
        return None
    if delimiter == BLANKS:
        if decimal == ",":
            raw = raw.translate(bytes.maketrans(b",.", b".?"))
        return b"\n".join(b",".join(line.split()) for line in raw.split(b"\n"))
    if (delimiter, decimal) != (",", "."):
        old, new = b",.", b"?."
        if decimal == ",":
            old, new = b".,", b"?."
        table = bytearray(bytes.maketrans(old, new))
        table[ord(delimiter)] = ord(",")
        raw = raw.translate(table)
    return raw.replace(b",\n", b"\n") if dialect.layout.trailing else raw


@contextmanager
def _errors(source: str) -> Iterator[None]:
    """Errors of reading a file name it."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise TableError(f"{source}: a damaged packed file; store it again") from error
    except UnicodeDecodeError as error:
        raise TableError(
            f"{source}: byte {error.object[error.start]:#04x} is no {error.encoding.upper()}; say "
            "what the encoding is (option encoding, such as cp1252)"
        ) from error
    except csv.Error as error:
        raise TableError(
            f"{source}: not a table of text ({error}); look for a quote that is not closed"
        ) from error
    except OSError as error:
        raise TableError(f"{source}: {error.strerror or error}") from error


def without_absent(raw: bytes) -> bytes:
    """Lines with commas between cells, in which "nan" stands for missing values."""
    end = b"" if raw.endswith(b"\n") else b"\n"
    return _ABSENT.sub(rb"\1nan", b"\n" + raw + end)[1:]


def as_numbers(raw: bytes, width: int, *, missing: bool = False) -> Array | None:
    """Lines of so many finite numbers with commas between, as an array; None for anything else.

    If values may be missing, "nan" stands for them.
    """
    if not raw.endswith(b"\n"):
        raw += b"\n"
    if _lines_of_numbers(width, b" " in raw or b"\t" in raw, missing).fullmatch(raw) is None:
        return None
    # All is as it should be; scipy's reader of dense matrices is the fastest at hand.
    count = raw.count(b"\n")
    head = f"%%MatrixMarket matrix array real general\n{width} {count}\n"
    raw = raw.translate(bytes.maketrans(b",", b"\n"), b" \t\r+")
    try:
        values = mmread(io.BytesIO(head.encode() + raw))
    except (ValueError, OverflowError):
        return None
    return None if (np.isinf(values) if missing else ~np.isfinite(values)).any() else values.T


# What is written most in a column of numbers; the rest is found cell by cell.
_ABSENT = re.compile(
    rb"([,\n])[ \t]*+(?:NA|N/A|#N/A|n/a|na|nan|NaN|NAN|null|NULL|-|--|\?|)[ \t]*+(?=[,\r\n])"
)


@lru_cache(maxsize=16)
def _lines_of_numbers(width: int, blanks: bool, missing: bool) -> re.Pattern[bytes]:
    number = rf"(?:{_NUMBER}|nan)" if missing else _NUMBER
    number = rf"[ \t]*+{number}[ \t]*+" if blanks else number
    row = rf"(?:{number},){{{width - 1}}}{number}\r?+\n"
    return re.compile(rf"(?:{row})*+".encode())
