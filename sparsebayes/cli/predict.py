"""``sparsebayes predict``: predict the rows of a CSV file with a stored model."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sparsebayes._support.files import check_output, write_files
from sparsebayes.classification import RVC
from sparsebayes.cli.csv_table import Table, format_table, read_table
from sparsebayes.cli.tasks import Classification, Columns, Regression, Task
from sparsebayes.persistence import ModelFileError, StoredModel, load_record
from sparsebayes.regression import RVR


def run(args: Namespace) -> None:
    """Write the predictions, or print them."""
    if args.output:
        check_output(args.output, args.csv, args.model)
    record = load_record(args.model)
    table = read_table(args.csv)
    columns = _predict(record, table, args.coverage)
    text = format_table(columns)
    if args.output:
        write_files({Path(args.output): text.encode()})
        print(f"{len(table.rows)} rows written to {args.output}")
    else:
        sys.stdout.write(text)
    outside = np.count_nonzero(columns.get("inside", np.ones(1)) == 0)
    if outside:
        count = f"{outside} of {len(table.rows)} rows" if len(table.rows) > 1 else "the row"
        told = f"{count} {'lie' if outside > 1 else 'lies'} outside the training data"
        print(f"sparsebayes: {told} (inside is 0)", file=sys.stderr)


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
