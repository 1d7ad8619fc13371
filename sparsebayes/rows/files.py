"""Rows of files, in chunks that are read anew for each pass."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from sparsebayes._support.validation import as_names, check_choice, check_path, whole_number
from sparsebayes.rows.csv_reader import CSVFile
from sparsebayes.rows.dialect.opening import FileBytes
from sparsebayes.rows.dialect.reading import Reading
from sparsebayes.rows.excel_reader import ExcelFile
from sparsebayes.rows.missing import MISSING, CompleteRows
from sparsebayes.rows.parquet_reader import ParquetFile
from sparsebayes.rows.table import Array, Column, Table, TableError, TableFile

_CELLS = 1 << 19  # of a chunk: 4 MB as numbers
Path = str | os.PathLike[str]


class FileRows:
    """What rows of files have in common: chunks ``(X, y)``, or ``(X, y, weights)``.

    Parameters
    ----------
    file : TableFile
    target : str or list of str
    features : list of str or None
        None for all other columns.
    chunk_rows : int or None
    weight : str, default=None
        Column of sample weights.
    kind : str, default=None
        What a single target holds, as `Column.kind` says it, where that is known.
    """

    def __init__(
        self,
        file: TableFile,
        target: str | Sequence[str],
        features: Sequence[str] | None,
        chunk_rows: int | None,
        weight: str | None = None,
        kind: str | None = None,
    ) -> None:
        self.file, self.target, self.weight = file, target, weight
        self.chunk_rows = rows_at_a_time(file, chunk_rows)
        if isinstance(features, str):
            raise ValueError(f"features must be a list of names, got {features!r}.")
        features = None if features is None else as_names("features", features)
        self._targets = as_names("target", target)
        if not self._targets:
            raise ValueError(f"target must name a column, or several, got {target!r}.")
        if weight is not None and not isinstance(weight, str):
            raise TypeError(f"weight must be the name of a column, got {weight!r}.")
        file.header.places(self._targets)
        beside = [] if weight is None else [weight]
        file.header.places(beside)
        if weight in self._targets or (features is not None and weight in features):
            raise ValueError(f"weight={weight!r} is a target or an input, too.")
        if features is None:
            features = file.header.inputs([*self._targets, *beside])
        self.feature_names = file.header.inputs(self._targets, features)
        self._names = [*self.feature_names, *self._targets, *beside]
        self._kind = kind

    def __iter__(self) -> Iterator[tuple[Array, ...]]:
        for table in self.file.tables(self._names, self.chunk_rows):
            yield self._chunk(table)

    def _chunk(self, table: Table) -> tuple[Array, ...]:
        X = table.numbers(self.feature_names)
        y = table.labels(self.target, self.kind) if isinstance(self.target, str) else None
        chunk = (X, table.numbers(self._targets) if y is None else y)
        return chunk if self.weight is None else (*chunk, table.numbers([self.weight])[:, 0])

    @property
    def kind(self) -> str:
        """What a single target holds, the same in all chunks."""
        if self._kind is None:
            name = self._targets[0]
            self._kind = self.file.known_kind(name)
        if self._kind is None:
            column = Column(name)
            for table in self.file.tables([name], self.chunk_rows):
                column.add(table)
                if column.fractions:
                    break  # what follows is read as numbers, or refused
            self._kind = column.kind
        return self._kind

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.file.header.source!r}, target={self.target!r})"


class CSV(FileRows):
    """Rows of a CSV file, for `RVR.fit`, `RVC.fit` and whatever else takes chunks.

    Each iteration reads the file from its beginning, so many rows at a time, and gives pairs
    ``(X, y)`` of arrays. How the file is written is found in its first lines, where it is not
    given: see ``docs/howto/files.md``. A cell that is no number is an error that names its line and
    column.

    Parameters
    ----------
    path : str or path
        The file; it may be packed (gzip, bz2, xz, or zip of one file). "-" is standard input.
    target : str or list of str
        The column to predict, or several. A single one may hold labels: text, or whole numbers,
        which stay such. It is text in all chunks if one cell of it is no number, and floats if one
        is not whole; to know this the column is read once, up to the first chunk with fractions.
    features : list of str, default=None
        The inputs; None for all other columns.
    chunk_rows : int, default=None
        Rows that are read at a time; None for those of half a million cells.
    delimiter : str, default=None
        What is between cells: one character, or "tab"; "space" is any run of blanks.
    decimal : {".", ","}, default=None
        The decimal mark.
    encoding : str, default=None
        Of the text, as Python names it.
    header : int or "none", default=None
        The line that names the columns, the first being 1; with "none" they are c1, c2 and so on.
    missing : {"error", "drop"}, default="error"
        What to do with rows in which a cell is empty, NA or the like: refuse them, or leave them
        out. `left_out` then tells how many these were.

    Attributes
    ----------
    feature_names : list of str
        The inputs.
    told : str or None
        How the file was read, in a line; None of one with commas, decimal points and a header.
    left_out : str or None
        Rows that were left out in the last pass, and the columns in which a value was missing.

    See Also
    --------
    Parquet : The same for Parquet files.
    sparsebayes.Statistics : Sums over rows, formed part by part.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sparsebayes.rows import CSV
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "big.csv"
    ...     _ = path.write_text("a,b,y\\n1,2,0.5\\n3,4,1.5\\n5,6,2.5\\n")
    ...     for X, y in CSV(path, target="y", chunk_rows=2):
    ...         print(X.tolist(), y)
    [[1.0, 2.0], [3.0, 4.0]] [0.5 1.5]
    [[5.0, 6.0]] [2.5]
    """

    def __init__(
        self,
        path: Path,
        *,
        target: str | Sequence[str],
        features: Sequence[str] | None = None,
        chunk_rows: int | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        header: int | str | None = None,
        missing: str = "error",
    ) -> None:
        check_path(path)
        check_choice("missing", missing, MISSING)
        file: TableFile = CSVFile(path, Reading(delimiter, decimal, encoding, header))
        self._complete = CompleteRows(file) if missing == "drop" else None
        super().__init__(self._complete or file, target, features, chunk_rows)

    @property
    def told(self) -> str | None:
        """How the file was read, in a line; None of one with commas, points and a header."""
        return self.file.told

    @property
    def left_out(self) -> str | None:
        """Rows that were left out in the last pass, in a line; None if there were none."""
        return None if self._complete is None else self._complete.left_out


class Parquet(FileRows):
    """Rows of a Parquet file, for `RVR.fit`, `RVC.fit` and whatever else takes chunks.

    Each iteration reads the file from its beginning, so many rows at a time and no other columns
    than those that are asked for. It needs pyarrow, the extra ``parquet``.

    Parameters
    ----------
    path : str or path
        The file.
    target : str or list of str
        The column to predict, or several. A single one may be text or whole numbers: labels.
    features : list of str, default=None
        The inputs, which must be numbers; None for all other columns.
    chunk_rows : int, default=None
        Rows that are read at a time; None for those of half a million cells.
    weight : str, default=None
        Column of sample weights; chunks are then ``(X, y, weights)``.

    Attributes
    ----------
    feature_names : list of str
        The inputs.

    See Also
    --------
    CSV : The same for CSV files.
    sparsebayes.Statistics : Sums over rows, formed part by part.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow, pyarrow.parquet
    >>> from sparsebayes.rows import Parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "big.parquet"
    ...     table = pyarrow.table({"a": [1.0, 2.0, 3.0], "y": ["no", "yes", "no"]})
    ...     pyarrow.parquet.write_table(table, path)
    ...     for X, y in Parquet(path, target="y", chunk_rows=2):
    ...         print(X.tolist(), y)
    [[1.0], [2.0]] ['no' 'yes']
    [[3.0]] ['no']
    """

    def __init__(
        self,
        path: Path,
        *,
        target: str | Sequence[str],
        features: Sequence[str] | None = None,
        chunk_rows: int | None = None,
        weight: str | None = None,
    ) -> None:
        check_path(path)
        file = ParquetFile(path)
        super().__init__(file, target, features, chunk_rows, weight)
        several = [] if isinstance(target, str) else self._targets
        file.check([*self.feature_names, *several, *([] if weight is None else [weight])])
        if file.kinds[self._targets[0]] == "other":
            raise TableError(
                f"{file.header.source}: the target {target!r} ({file.types[self._targets[0]]}) "
                "holds neither numbers nor text; store it as one of these"
            )


def rows_at_a_time(file: TableFile, chunk_rows: int | None) -> int:
    """Rows of a chunk: as given, or those of half a million cells."""
    if chunk_rows is None:
        return max(1, _CELLS // len(file.header.columns))
    return whole_number("chunk_rows", chunk_rows)


def open_file(path: Path, reading: Reading | None = None, *, keep_empty: bool = False) -> TableFile:
    """A file of any kind that is known: text, a sheet of Excel, or Parquet.

    Parameters
    ----------
    path : str or path
        "-" for standard input.
    reading : Reading, default=None
        What is known of how it is written; the rest is found.
    keep_empty : bool, default=False
        Whether rows of empty cells are missing values; else they are left out.
    """
    reading = reading or Reading()
    file = FileBytes(path)
    if file.is_parquet:
        if reading != Reading():
            raise TableError(
                f"{file.name}: a Parquet file says itself how it is written; leave out what is "
                "said of delimiter, decimal mark, encoding, header and sheet"
            )
        return ParquetFile(file)
    if file.is_excel:
        return ExcelFile(file, reading, keep_empty=keep_empty)
    return CSVFile(file, reading, keep_empty=keep_empty)
