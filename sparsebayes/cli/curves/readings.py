"""``sparsebayes predict --inverse``: from readings in a file back to the input."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

import numpy as np
from sklearn.base import is_regressor

from sparsebayes.cli.csv_table import (
    KeptColumns,
    missing_notes,
    reading_notes,
    reading_of,
    target_names,
)
from sparsebayes.cli.reports.answer import STANDARD
from sparsebayes.cli.reports.progress_line import ProgressLine, bar
from sparsebayes.persistence import ModelFileError, StoredModel
from sparsebayes.regression import InversePrediction, inverse_predict
from sparsebayes.rows.files import open_file, rows_at_a_time
from sparsebayes.rows.missing import SomeRows, incomplete

_ROWS = 1000  # at a time: a density is held for each
_NAMES = ("reading", "branch", "probability", "mean", "lower", "upper", "explained")


class InverseRows:
    """The inputs of readings, some of these at a time; a row for each branch."""

    doubtful = "unexplained"  # what `n_doubtful` counts

    def __init__(self, record: StoredModel, args: Namespace) -> None:
        if not is_regressor(record.model):
            raise ModelFileError(
                f"--inverse is for regression, but the model is a {type(record.final).__name__}"
            )
        self.record, self.args = record, args
        self.n_rows = self.n_written = self.n_doubtful = self.n_missing = 0
        self._told: list[str] = []
        inputs = record.feature_names or [f"x{j}" for j in range(record.model.n_features_in_)]
        self.inputs, self.unknown = inputs, _unknown(inputs, args.unknown)
        self.bounds: tuple[float, float] | None = None

    @property
    def notes(self) -> list[str]:
        """How the file was read, and how many readings lack something."""
        return self._told + missing_notes(self.n_missing, self.n_rows)

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        file = open_file(self.args.csv, reading_of(self.args))
        self._told = reading_notes(file)
        shape = np.shape(self.record.final.weights_)
        targets = target_names(self.record.target_name, shape[1] if len(shape) == 2 else 1)
        known = [name for name in self.inputs if name != self.unknown]
        file.check([*targets, *known])
        kept = KeptColumns(file, self.args.keep)
        quiet = self.args.quiet or self.args.output in (None, STANDARD)
        with ProgressLine(quiet=quiet) as line:
            size = min(_ROWS, rows_at_a_time(file, None))
            for rows in file.tables([*targets, *known], size):
                out = incomplete(rows, [*targets, *known]) & (self.args.missing == "drop")
                numbers = self.n_rows + 1 + np.arange(len(rows))
                self.n_rows += len(rows)
                self.n_missing += int(out.sum())
                if out.all():
                    yield kept.beside(_nothing(numbers), len(rows))
                    self.n_written += len(rows)
                    continue
                table = SomeRows(rows, ~out)
                y, X = table.numbers(targets), None
                if known:
                    X = np.full((len(table), len(self.inputs)), np.nan)
                    X[:, [name != self.unknown for name in self.inputs]] = table.numbers(known)
                found = inverse_predict(
                    self.record.model,
                    y if len(shape) == 2 else y[:, 0],
                    X=X,
                    coverage=self.args.coverage or 0.95,
                    n_replicates=self.args.replicates or 1,
                )
                columns = _columns(found, numbers[~out])
                if out.any():
                    columns = _merged(columns, _nothing(numbers[out]))
                places = columns["reading"].astype(int) - numbers[0]
                yield kept.beside(columns, len(rows), places)
                self.n_written += len(columns["reading"])
                self.n_doubtful += int(np.sum(~found.explained))
                self.bounds = found.bounds
                line.text = f"{bar(file.share)} of {self.args.csv}"

    @property
    def warning(self) -> str | None:
        """What is to be said of readings that nothing explains."""
        if not self.n_doubtful or self.bounds is None:
            return None
        low, high = self.bounds
        several = f"{self.n_doubtful} of {self.n_rows} readings"
        count = several if self.n_rows > 1 else "the reading"
        verb = "are" if self.n_doubtful > 1 else "is"
        place = f"{self.unknown} from {low:g} to {high:g}"
        return f"{count} {verb} explained by no {place} (explained is 0)"


def _unknown(inputs: list[str], wanted: str | None) -> str:
    """The input that is asked for."""
    listed = ", ".join(map(repr, inputs))
    if wanted is None and len(inputs) > 1:
        raise ValueError(
            f"the model has {len(inputs)} inputs, {listed}; say which one --inverse is to find with"
            " --unknown, and give columns of the others"
        )
    if wanted is not None and wanted not in inputs:
        raise ValueError(f"--unknown {wanted!r} is no input of the model; these are {listed}")
    return inputs[0] if wanted is None else wanted


def _nothing(numbers: np.ndarray) -> dict[str, np.ndarray]:
    """Rows of readings that lack something: their numbers alone."""
    nothing = np.full(len(numbers), None, dtype=object)
    return {"reading": numbers} | dict.fromkeys(_NAMES[1:], nothing)


def _merged(columns: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The rows of both, in the order of the readings."""
    order = np.argsort(np.concatenate([columns["reading"], others["reading"]]), kind="stable")
    return {
        name: np.concatenate([own.astype(object), others[name].astype(object)])[order]
        for name, own in columns.items()
    }


def _columns(found: InversePrediction, numbers: np.ndarray) -> dict[str, np.ndarray]:
    """A row for each branch, with the number of its reading."""
    rows = [
        (numbers[i], k + 1, *branch, int(found.explained[i]))
        for i, branches in enumerate(found.branches)
        for k, branch in enumerate(branches)
    ]
    reading, branch, lower, upper, probability, mean, _, explained = zip(*rows, strict=True)
    columns = (reading, branch, probability, mean, lower, upper, explained)
    return {name: np.array(own) for name, own in zip(_NAMES, columns, strict=True)}
