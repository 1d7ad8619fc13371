"""Tables in CSV files, read whole and written."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.files import open_file
from sparsebayes.rows.table import Table

TargetName = str | list[str] | None  # as a model file has it


def read_table(
    path: str | os.PathLike[str], reading: Reading | None = None, *, keep_empty: bool = False
) -> tuple[Table, str | None]:
    """All rows of a file, and how it was read.

    Lines without any cell are left out, and rows of empty cells unless `keep_empty` says that
    they are missing values.
    """
    file = open_file(path, reading, keep_empty=keep_empty)
    (table,) = file.tables([], None)
    return table, file.told


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


def format_table(columns: Mapping[str, np.ndarray], *, header: bool = True) -> str:
    """A CSV text; each number is written so that reading it back gives the same number."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return stream.getvalue()


def csv_pieces(parts: Iterable[Mapping[str, np.ndarray]]) -> Iterator[str]:
    """A CSV text, piece by piece."""
    for k, columns in enumerate(parts):
        yield format_table(columns, header=k == 0)
