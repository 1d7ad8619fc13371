"""Files that are larger than what is held at a time: their rows, scaled, in chunks."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

import numpy as np
from sklearn.preprocessing import StandardScaler

from sparsebayes.cli.reports.progress_line import ProgressLine, bar
from sparsebayes.rows.chunk import Chunk
from sparsebayes.rows.files import FileRows, rows_at_a_time
from sparsebayes.rows.sample import Sample
from sparsebayes.rows.table import Table, TableError, TableFile

LARGE = 64 << 20  # bytes beyond which a file is read in chunks
_SAMPLE = 10_000  # rows that are held, for the report and figures


class ScaledChunks:
    """Chunks of a file as the model sees them: several inputs are standardised.

    Parameters
    ----------
    file : TableFile
    names, targets : list of str
    chunk_rows : int or None
    line : ProgressLine
        Told how far each pass is.

    Attributes
    ----------
    scaler : StandardScaler or None
        Fitted in the first pass.
    kind : str
        What a single target holds, as `Column.kind` says it; set after the first pass.
    sample : tuple of ndarray
        Inputs, as they are in the file, and targets of some rows, after a later pass.
    """

    def __init__(
        self,
        file: TableFile,
        names: list[str],
        targets: list[str],
        chunk_rows: int | None,
        line: ProgressLine,
    ) -> None:
        self.file, self.names, self.targets = file, names, targets
        self.chunk_rows = rows_at_a_time(file, chunk_rows)
        self.line = line
        self.scaler = StandardScaler() if len(names) > 1 else None
        self.kind = "numbers"
        self._sample: Sample | None = None
        self._passes = 0

    def first_pass(self) -> Iterator[Table]:
        """All tables, each after the scaler has seen it."""
        for table in self.file.tables([*self.names, *self.targets], self.chunk_rows):
            X = table.numbers(self.names)
            if self.scaler is not None:
                self.scaler.partial_fit(X)
            yield table
            self._tell()
        self._passes += 1

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        target = self.targets if len(self.targets) > 1 else self.targets[0]
        source = FileRows(self.file, target, self.names, self.chunk_rows, kind=self.kind)
        first, sample = 0, None
        for X, y in source:
            if self._sample is None:
                one = Sample.of(Chunk(first, X, y, np.ones(len(X))), _SAMPLE)
                sample = one if sample is None else sample + one
            yield (X if self.scaler is None else self.scaler.transform(X)), y
            first += len(X)
            self._tell()
        self._sample = sample if self._sample is None else self._sample
        self._passes += 1

    def _tell(self) -> None:
        share = bar(self.file.share)
        self.line.text = f"{share} of {self.file.header.source}, pass {self._passes + 1}"

    @property
    def sample(self) -> tuple[np.ndarray, np.ndarray]:
        if self._sample is None:
            for _ in self:
                pass
        assert self._sample is not None
        return self._sample.X, self._sample.y


def refuse_text(file: TableFile, names: list[str]) -> None:
    """A clear error for inputs that hold text, which are not encoded in chunks."""
    text = [name for name in names if name in file.header.text]
    if text:
        raise TableError(
            f"{file.header.source}: the inputs {', '.join(map(repr, text))} hold text, which is "
            "encoded only where all rows are read at once (files of 64 MB at most, without "
            "--chunk-rows); leave them out with --exclude or --features"
        )
    file.check(names)


def refuse_whole(args: Namespace, source: str) -> None:
    """A clear error for options that need all rows in memory."""
    given = "--augment" if args.augment else None
    if args.noise in ("student", "varying"):
        given = f"--noise {args.noise}"
    if given is not None:
        raise ValueError(
            f"{given} needs all rows in memory, but {source} is read in chunks, as files of more "
            "than 64 MB are and with --chunk-rows; leave it out, or fit to fewer rows"
        )
