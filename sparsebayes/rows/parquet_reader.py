"""Parquet files, read a few rows at a time by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.rows.dialect.numerals import is_missing
from sparsebayes.rows.dialect.opening import FileBytes
from sparsebayes.rows.table import Header, Table, TableError, TableFile

Array = np.ndarray


class ArrowTable(Table):
    """Rows of a Parquet file.

    Parameters
    ----------
    header : Header
    batch : pyarrow.RecordBatch or pyarrow.Table
    first : int
        Number of the first row, for messages.
    """

    def __init__(self, header: Header, batch: Any, first: int) -> None:
        super().__init__(header)
        self._batch, self._first = batch, first

    def __len__(self) -> int:
        return self._batch.num_rows

    def where(self, i: int, name: str) -> str:
        return f"{self.source}: row {self._first + i}, column {name!r}"

    @property
    def only_numbers(self) -> bool:
        return False

    def texts(self, name: str) -> list[str]:
        self.header.places([name])
        values = self._batch.column(name).to_pylist()
        return ["" if value is None else str(value) for value in values]

    def missing(self, name: str, *, text: bool) -> Array:
        if name in self.header.text:
            return super().missing(name, text=text)
        return np.isnan(self.values([name])[:, 0])

    def values(self, names: Sequence[str]) -> Array:
        self.header.places(names)
        arrow = require("pyarrow", "A Parquet file")
        out = np.empty((len(self), len(names)))
        for k, name in enumerate(names):
            column = self._batch.column(name)
            if kind_of(column.type) == "text":
                out[:, k] = [
                    np.nan if is_missing(cell) else self.number(cell, i, name)
                    for i, cell in enumerate(self.texts(name))
                ]
                continue
            if arrow.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            column = column.cast(arrow.float64(), safe=False)
            out[:, k] = np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
            wrong = np.isinf(out[:, k])
            if wrong.any():
                i = int(wrong.argmax())
                self.number(str(out[i, k]), i, name)
        return out


class ParquetFile(TableFile):
    """A Parquet file.

    Parameters
    ----------
    file : str, path or FileBytes
    """

    def __init__(self, file: str | os.PathLike[str] | FileBytes) -> None:
        self._file = file  # what was piped to standard input is kept as long as this
        if isinstance(file, FileBytes):
            self.path, self._source = file.path, file.name
        else:
            self.path = self._source = os.fspath(file)
        with self._open() as opened:
            schema, metadata = opened.schema_arrow, opened.metadata
            self.kinds = {field.name: kind_of(field.type) for field in schema}
            self.types = {field.name: str(field.type) for field in schema}
            self.n_rows = int(metadata.num_rows)
            groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
            self._bytes = sum(group.total_byte_size for group in groups)
        text = frozenset(name for name, kind in self.kinds.items() if kind == "text")
        self.header = Header(self._source, list(self.kinds), text)
        if not self.n_rows:
            raise TableError(f"{self._source}: the file has no rows")

    @property
    def n_bytes(self) -> int:
        return self._bytes

    def _open(self) -> Any:
        parquet = require("pyarrow.parquet", "A Parquet file")
        if not os.path.exists(self.path):
            raise TableError(f"{self._source}: no such file")
        if os.path.isdir(self.path):
            raise TableError(f"{self._source}: is a directory; name a file in it")
        try:
            return parquet.ParquetFile(self.path, pre_buffer=False)
        except ValueError as error:  # as pyarrow's own are
            raise TableError(f"{self._source}: not a Parquet file ({error})") from error

    def known_kind(self, name: str) -> str | None:
        return self.kinds[name]

    def check(self, inputs: Sequence[str]) -> None:
        """A clear error for inputs that hold no numbers."""
        self.header.places(inputs)
        other = [name for name in inputs if self.kinds[name] not in ("numbers", "whole")]
        if other:
            listed = ", ".join(f"{name!r} ({self.types[name]})" for name in other)
            raise TableError(
                f"{self._source}: the columns {listed} hold no numbers; leave them out by naming "
                "the features, or store them as numbers"
            )

    def tables(self, names: Sequence[str], size: int | None) -> Iterator[Table]:
        """All rows, so many at a time, or all at once; the named columns alone are read."""
        self.header.places(names)
        columns, first = list(dict.fromkeys(names)) or self.header.columns, 0
        with self._open() as file:
            if size is None:
                yield ArrowTable(self.header, file.read(columns=columns), 0)
                return
            for batch in file.iter_batches(batch_size=size, columns=columns):
                if batch.num_rows:
                    self.share = (first + batch.num_rows) / self.n_rows
                    yield ArrowTable(self.header, batch, first)
                    first += batch.num_rows


def kind_of(kind: Any) -> str:
    """What a type of pyarrow holds: "numbers", "whole" (numbers), "text" or "other"."""
    types = require("pyarrow.types", "A Parquet file")
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_integer(kind) or types.is_boolean(kind):
        return "whole"
    view = getattr(types, "is_string_view", None)
    if types.is_string(kind) or types.is_large_string(kind) or (view and view(kind)):
        return "text"
    return "other"
