"""``sparsebayes predict``: predict the rows of a CSV file with a stored model."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from pathlib import Path

from sklearn.base import is_classifier, is_regressor

from sparsebayes._support.files import check_output, write_files
from sparsebayes.cli.csv_table import Table, format_table, read_table
from sparsebayes.cli.tasks import Classification, Columns, Regression, Task
from sparsebayes.persistence import ModelFileError, StoredModel, load_record


def run(args: Namespace) -> None:
    """Write the predictions, or print them."""
    if args.output:
        check_output(args.output, args.csv, args.model)
    record = load_record(args.model)
    table = read_table(args.csv)
    text = format_table(_predict(record, table, args.coverage))
    if args.output:
        write_files({Path(args.output): text.encode()})
        print(f"{len(table.rows)} rows written to {args.output}")
    else:
        sys.stdout.write(text)


def _predict(record: StoredModel, table: Table, coverage: float | None) -> Columns:
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
    X = table.numbers(record.feature_names or table.columns)
    with warnings.catch_warnings():
        # The columns were matched by name above.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return task.predict(record.model, X, coverage)
