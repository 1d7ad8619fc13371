"""Rows in which a value is missing: left out, and counted."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import numpy as np

from sparsebayes.rows.table import Array, Table, TableError, TableFile

MISSING = ("drop", "error")  # what is done with rows in which a value is missing
_TOLD = 5  # columns


def incomplete(table: Table, names: Sequence[str], text: Container[str] = ()) -> Array:
    """In which rows one of the named columns, some of which hold text, has no value."""
    out = np.zeros(len(table), dtype=bool)
    for name in [] if table.only_numbers else names:
        out |= table.missing(name, text=name in text)
    return out


class SomeRows(Table):
    """Some rows of a table.

    Parameters
    ----------
    table : Table
    kept : ndarray of bool, (rows,)
    """

    def __init__(self, table: Table, kept: Array) -> None:
        super().__init__(table.header)
        self._table, self._places = table, np.flatnonzero(kept)

    def __len__(self) -> int:
        return len(self._places)

    def where(self, i: int, name: str) -> str:
        return self._table.where(int(self._places[i]), name)

    @property
    def only_numbers(self) -> bool:
        return self._table.only_numbers

    def missing(self, name: str, *, text: bool) -> Array:
        return self._table.missing(name, text=text)[self._places]

    def texts(self, name: str) -> list[str]:
        cells = self._table.texts(name)
        return [cells[i] for i in self._places]

    def values(self, names: Sequence[str]) -> Array:
        return self._table.values(names)[self._places]


class CompleteRows(TableFile):
    """The rows of a file in which no value is missing.

    Parameters
    ----------
    file : TableFile

    Attributes
    ----------
    n_left_out : int
        Rows that were left out in the last pass.
    """

    def __init__(self, file: TableFile) -> None:
        self.file, self.header = file, file.header
        self.n_left_out = 0
        self._absent: dict[str, int] = {}

    @property
    def share(self) -> float:  # type: ignore[override]
        return self.file.share

    @property
    def n_bytes(self) -> int:
        return self.file.n_bytes

    @property
    def told(self) -> str | None:
        return self.file.told

    def check(self, inputs: Sequence[str]) -> None:
        self.file.check(inputs)

    def known_kind(self, name: str) -> str | None:
        return self.file.known_kind(name)

    def tables(self, names: Sequence[str], size: int | None) -> Iterator[Table]:
        """Those rows in which none of the named columns lacks a value."""
        n_left_out, absent, some = 0, dict.fromkeys(names, 0), False
        for table in self.file.tables(names, size):
            out = np.zeros(len(table), dtype=bool)
            if not table.only_numbers:
                for name in absent:
                    missing = table.missing(name, text=name in self.header.text)
                    absent[name] += int(missing.sum())
                    out |= missing
            n_left_out += int(out.sum())
            self.n_left_out, self._absent = n_left_out, dict(absent)
            if not out.all():
                some = True
                yield SomeRows(table, ~out) if out.any() else table
        if not some:
            raise TableError(
                f"{self.header.source}: no row is complete: {self._where()}; leave columns out "
                "(option features), or fill them"
            )

    @property
    def left_out(self) -> str | None:
        """What was left out in the last pass, in a line; None if nothing was."""
        count = self.n_left_out
        if not count:
            return None
        return f"{count} row{'s' if count > 1 else ''} left out: {self._where()}"

    def _where(self) -> str:
        found = sorted(
            ((count, name) for name, count in self._absent.items() if count),
            key=lambda one: -one[0],
        )
        listed = ", ".join(f"{name!r} ({count})" for count, name in found[:_TOLD])
        return f"cells empty or NA in {listed}{', ...' if len(found) > _TOLD else ''}"
