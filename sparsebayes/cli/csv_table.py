"""Tables in files, opened as the options say, and written as CSV."""

from __future__ import annotations

import copy
import csv
import io
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from sparsebayes.cli.arguments.tables import OPTIONS
from sparsebayes.rows.dialect.numerals import looks_like_number
from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.files import open_file, rows_at_a_time
from sparsebayes.rows.missing import CompleteRows
from sparsebayes.rows.table import Header, Table, TableError, TableFile, is_number

_RUN = ("=", "+", "-", "@", "\t", "\r")  # beginnings of what spreadsheets take for formulas

ALL = "all"  # columns, where names are asked for

TargetName = str | list[str] | None  # as a model file has it


def reading_of(args: Namespace) -> Reading:
    """How a table is to be read, as the options say."""
    return Reading(**{name: getattr(args, name) for name in OPTIONS})


def open_rows(path: str, args: Namespace) -> TableFile:
    """A file of rows; those in which a value is missing are left out, or refused when read."""
    file = open_file(path, reading_of(args))
    return CompleteRows(file) if args.missing == "drop" else file


def chosen_columns(
    header: Header,
    option: str,
    names: str | None,
    excluded: str | None,
    targets: Sequence[str] = (),
) -> list[str] | None:
    """The columns that an option names, or all but those of --exclude; None if none is given."""
    if excluded is None:
        return None if names is None else header.named(names)
    if names is not None:
        raise ValueError(
            f"{option} {names!r} and --exclude {excluded!r} both choose columns; give one of them"
        )
    left_out = header.named(excluded)
    for target in targets:
        if target in left_out:
            raise TableError(
                f"--exclude {excluded!r} names {target!r}, which is to be predicted; leave it out "
                "of --exclude, where targets need not stand"
            )
    kept = [name for name in header.columns if name not in (*left_out, *targets)]
    if not kept:
        besides = f" besides {', '.join(map(repr, targets))}" if targets else ""
        raise TableError(
            f"--exclude {excluded!r} leaves no column of {header.source}{besides}; exclude fewer"
        )
    return kept


def read_series(path: str, args: Namespace) -> tuple[Table, list[str]]:
    """All rows of a file, and notes of how it was read; rows may be empty, as gaps of series."""
    file = open_file(path, reading_of(args), keep_empty=True)
    (table,) = file.tables([], None)
    notes, between = reading_notes(file), getattr(table, "n_between", 0)
    if len(table.columns) == 1 and between:  # an empty line may have been meant as a gap
        lines = "line was" if between == 1 else "lines were"
        notes.append(f"{between} {lines} left out between the values; write NA for a missing one")
    return table, notes


def reading_notes(file: TableFile) -> list[str]:
    """How a file was read, and what was left out of it."""
    notes = [] if file.told is None else [f"{file.header.source} was read as {file.told}"]
    if isinstance(file, CompleteRows) and file.left_out:
        notes.append(file.left_out)
    return notes


def missing_notes(count: int, n_rows: int) -> list[str]:
    """What is said of rows that keep their place but have no result."""
    if not count:
        return []
    rows = f"{count} of {n_rows} rows have" if n_rows > 1 else "the row has"
    return [f"{rows} cells that are empty or NA, and no prediction (empty cells)"]


def spread(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Values at the places of rows that were kept, and nothing at those of the others."""
    out = np.full(len(kept), None, dtype=object)
    out[kept] = values.tolist()
    return out


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


class KeptColumns:
    """Columns of a file that stand beside results, each cell as it is written in the file.

    Parameters
    ----------
    file : TableFile
    asked : str or None
        What --keep names: columns, or "all"; None for none.
    """

    def __init__(self, file: TableFile, asked: str | None) -> None:
        columns, self.names = file.header.columns, list[str]()
        if asked is not None:
            self.names = columns if asked.strip() == ALL else file.header.named(asked)
        # Read apart from the inputs: numbers of text are brought into one form, and text is not.
        as_text = copy.copy(file)
        as_text.header = replace(file.header, text=frozenset(columns))
        self._source, self._rows = file.header.source, self._read(as_text)

    def _read(self, file: TableFile) -> Iterator[tuple[str, ...]]:
        for table in file.tables(self.names, rows_at_a_time(file, None)):
            yield from zip(*map(table.texts, self.names), strict=True)

    def beside(
        self, results: Mapping[str, np.ndarray], n_rows: int, places: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """The next rows of the file and their results, which are for the rows at these places."""
        if not self.names:
            return dict(results)
        twice = [name for name in self.names if name in results]
        if twice:
            raise ValueError(
                f"--keep: the column {twice[0]!r} of {self._source} has the name of a result; "
                "rename it in the file, or keep others alone"
            )
        cells = np.array(list(islice(self._rows, n_rows)), dtype=object)
        cells = cells if places is None else cells[places]
        return dict(zip(self.names, cells.T, strict=True)) | dict(results)


def format_table(
    columns: Mapping[str, np.ndarray], *, header: bool = True, formulas: bool = False
) -> str:
    """A CSV text; each number is written so that reading it back gives the same number.

    Text that a spreadsheet would run has an apostrophe before it, unless `formulas` keeps it.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    cells = [values.tolist() for values in columns.values()]
    names = list(columns)
    if not formulas:
        names, *cells = [list(map(_harmless, column)) for column in (names, *cells)]
    if header:
        writer.writerow(names)
    writer.writerows(zip(*cells, strict=True))
    return stream.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet runs; numbers stay, also as text and with a decimal comma."""
    if not isinstance(cell, str) or not cell.startswith(_RUN):
        return cell
    return cell if is_number(cell) or looks_like_number(cell) else f"'{cell}"


def csv_pieces(
    parts: Iterable[Mapping[str, np.ndarray]], *, formulas: bool = False
) -> Iterator[str]:
    """A CSV text, piece by piece."""
    for k, columns in enumerate(parts):
        yield format_table(columns, header=k == 0, formulas=formulas)
