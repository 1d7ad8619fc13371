"""``sparsebayes predict``: predict the rows of a table with a stored model."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sparsebayes.classification import RVC
from sparsebayes.cli.csv_table import (
    KeptColumns,
    csv_pieces,
    missing_notes,
    reading_notes,
    reading_of,
    spread,
)
from sparsebayes.cli.curves.readings import InverseRows
from sparsebayes.cli.model_file import open_model
from sparsebayes.cli.reports.answer import STANDARD, Answer, check_output, write_outputs
from sparsebayes.cli.reports.progress_line import ProgressLine, bar
from sparsebayes.cli.tasks import Classification, Columns, Regression, Task
from sparsebayes.cli.text_inputs import Levels, read_inputs, refuse_names, stored_levels
from sparsebayes.persistence import ModelFileError, StoredModel
from sparsebayes.regression import RVR
from sparsebayes.rows.files import open_file, rows_at_a_time
from sparsebayes.rows.missing import SomeRows, incomplete
from sparsebayes.rows.table import Table


def run(args: Namespace) -> Answer:
    """Write the predictions, or print them, a few rows at a time."""
    check_output(args.output, args.csv, args.model)
    for name in ("unknown", "replicates"):
        if getattr(args, name) is not None and not args.inverse:
            raise ValueError(f"--{name} belongs to --inverse; give both or none")
    record = open_model(args.model)
    predictions = InverseRows(record, args) if args.inverse else _Predictions(record, args)
    columns: Columns | None = None
    written: list[str] = []
    if args.json and args.output is None:
        parts = list(predictions)
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    else:
        pieces = (piece.encode() for piece in csv_pieces(predictions, formulas=args.formulas))
        written = write_outputs({Path(args.output or STANDARD): pieces})
    told = f"{predictions.n_written} rows written to {written[0]}" if written else ""
    notes = predictions.notes + ([predictions.warning] if predictions.warning else [])
    data = {
        "model": args.model,
        "source": args.csv,
        "rows": predictions.n_rows,
        predictions.doubtful: predictions.n_doubtful,
        "predictions": columns,
        "notes": notes,
        "written": written,
    }
    return Answer(told, data, notes)


class _Predictions:
    """The predictions of a file, some rows at a time, and how many rows they were."""

    doubtful = "outside"  # what `n_doubtful` counts

    def __init__(self, record: StoredModel, args: Namespace) -> None:
        self.record, self.args = record, args
        self.n_rows = self.n_doubtful = self.n_missing = 0
        self._told: list[str] = []

    @property
    def notes(self) -> list[str]:
        """How the file was read, and how many rows have no prediction."""
        return self._told + missing_notes(self.n_missing, self.n_rows)

    @property
    def n_written(self) -> int:
        """Rows of the output."""
        return self.n_rows

    @property
    def warning(self) -> str | None:
        """What is to be said of rows outside the training data."""
        n_rows, outside = self.n_rows, self.n_doubtful
        if not outside:
            return None
        count = f"{outside} of {n_rows} rows" if n_rows > 1 else "the row"
        return f"{count} {'lie' if outside > 1 else 'lies'} outside the training data (inside is 0)"

    def __iter__(self) -> Iterator[Columns]:
        refuse_names(self.record.model)
        file = open_file(self.args.csv, reading_of(self.args))
        self._told = reading_notes(file)
        names = self.record.feature_names or file.header.columns
        levels = stored_levels(self.record.model, names)
        file.check([name for name in names if name not in levels])
        file.header.places(names)
        kept = KeptColumns(file, self.args.keep)
        quiet = self.args.quiet or self.args.output in (None, STANDARD)
        with ProgressLine(quiet=quiet) as line:
            for table in file.tables(names, rows_at_a_time(file, None)):
                out = incomplete(table, names, levels) & (self.args.missing == "drop")
                columns = self._columns(table, names, levels, out)
                yield kept.beside(columns, len(table))
                self.n_rows += len(table)
                self.n_missing += int(out.sum())
                self.n_doubtful += int(np.sum(columns.get("inside", np.ones(1)) == 0))
                line.text = f"{bar(file.share)} of {self.args.csv}"

    def _columns(self, table: Table, names: list[str], levels: Levels, out: np.ndarray) -> Columns:
        """The predictions of all rows, empty for those that are not complete."""
        record, coverage = self.record, self.args.coverage
        if not out.any():
            return _predict(record, read_inputs(table, names, levels), coverage)
        if out.all():  # predict any row, for the names of the columns
            X = np.array([[levels[name][0] if name in levels else 0.0 for name in names]], object)
            X = X if levels else X.astype(float)
            found = {name: own[:0] for name, own in _predict(record, X, coverage).items()}
        else:
            X = read_inputs(SomeRows(table, ~out), names, levels)
            found = _predict(record, X, coverage)
        return {name: spread(own, ~out) for name, own in found.items()}


def _predict(record: StoredModel, X: np.ndarray, coverage: float | None) -> Columns:
    """The predictions for the rows of a table, by name of their column."""
    task: Task
    if is_classifier(record.model):
        task = Classification()
    elif is_regressor(record.model):
        task = Regression()
    else:
        raise ModelFileError(
            f"the model is a {type(record.final).__name__}; predict needs a regression or a "
            "classification"
        )
    with warnings.catch_warnings():
        # The columns were matched by name above.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        found = task.predict(record.model, X, coverage, record.target_name)
        return found | _inside(record, X)


def _inside(record: StoredModel, X: np.ndarray) -> Columns:
    """Whether each row lies inside the training data, of models that can tell: 1 or 0."""
    final = record.final
    if not isinstance(final, (RVR, RVC)) or final.basis_.reach() is None:
        return {}
    if final is not record.model:
        X = record.model[:-1].transform(X)
    return {"inside": final.inside(X).astype(int)}
