"""``sparsebayes predict``: predict the rows of a CSV or Parquet file with a stored model."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sparsebayes._support.files import check_output, write_files
from sparsebayes.classification import RVC
from sparsebayes.cli.csv_table import format_table
from sparsebayes.cli.curves.readings import InverseRows
from sparsebayes.cli.progress_line import ProgressLine, bar
from sparsebayes.cli.tasks import Classification, Columns, Regression, Task
from sparsebayes.persistence import ModelFileError, StoredModel, load_record
from sparsebayes.regression import RVR
from sparsebayes.rows.files import open_file, rows_at_a_time
from sparsebayes.rows.table import Table


def run(args: Namespace) -> None:
    """Write the predictions, or print them, a few rows at a time."""
    if args.output:
        check_output(args.output, args.csv, args.model)
    for name in ("unknown", "replicates"):
        if getattr(args, name) is not None and not args.inverse:
            raise ValueError(f"--{name} belongs to --inverse; give both or none")
    record = load_record(args.model)
    predictions = InverseRows(record, args) if args.inverse else _Predictions(record, args)
    if args.output:
        write_files({Path(args.output): (piece.encode() for piece in predictions)})
        print(f"{predictions.n_written} rows written to {args.output}")
    else:
        sys.stdout.writelines(predictions)
    if predictions.warning:
        print(f"sparsebayes: {predictions.warning}", file=sys.stderr)


class _Predictions:
    """The predictions of a file as pieces of a CSV text, and how many rows they were."""

    def __init__(self, record: StoredModel, args: Namespace) -> None:
        self.record, self.args = record, args
        self.n_rows = self.n_outside = 0

    @property
    def n_written(self) -> int:
        """Rows of the output."""
        return self.n_rows

    @property
    def warning(self) -> str | None:
        """What is to be said of rows outside the training data."""
        n_rows, outside = self.n_rows, self.n_outside
        if not outside:
            return None
        count = f"{outside} of {n_rows} rows" if n_rows > 1 else "the row"
        return f"{count} {'lie' if outside > 1 else 'lies'} outside the training data (inside is 0)"

    def __iter__(self) -> Iterator[str]:
        file = open_file(self.args.csv)
        names = self.record.feature_names or file.header.columns
        file.check(names)
        with ProgressLine(quiet=self.args.output is None) as line:
            for table in file.tables(names, rows_at_a_time(file, None)):
                columns = _predict(self.record, table, names, self.args.coverage)
                yield format_table(columns, header=not self.n_rows)
                self.n_rows += len(table)
                self.n_outside += int(np.sum(columns.get("inside", np.ones(1)) == 0))
                line.text = f"{bar(file.share)} of {self.args.csv}"


def _predict(
    record: StoredModel, table: Table, names: list[str], coverage: float | None
) -> Columns:
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
    X = table.numbers(names)
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
