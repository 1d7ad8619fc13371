"""Arguments of ``sparsebayes predict``."""

from __future__ import annotations

from argparse import ArgumentParser

from sparsebayes.cli.arguments.tables import TABLE, add_missing, add_reading, add_writing
from sparsebayes.cli.arguments.types import positive_whole, probability

EXAMPLES = (
    "predict model.skops new.csv -o predictions.csv",
    "predict model.skops new.csv -o predictions.csv --keep sample,date",
    "predict curve.skops readings.csv --inverse",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument("model", metavar="MODEL", help="file written by fit")
    parser.add_argument("csv", metavar="CSV", help=f"data with the model's input columns: {TABLE}")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="CSV of mean, std, lower, upper, of several targets mean_A, std_A and so on for each; "
        "of a classification label and probabilities; inside is 0 outside the training data "
        "(default: stdout)",
    )
    parser.add_argument(
        "--keep",
        metavar="A,B,...",
        help="columns of CSV to write beside the predictions, as they stand there, such as the "
        "number of a sample; 'all' for all",
    )
    parser.add_argument(
        "--coverage", type=probability, metavar="P", help="regression: of the interval (0.95)"
    )
    add_missing(parser, "predicts nothing for them: they keep their place, with empty cells")
    add_writing(parser)
    add_reading(parser)
    inverse = parser.add_argument_group("calibration curves")
    inverse.add_argument(
        "--inverse",
        action="store_true",
        help="from readings, in the column of the target, back to the input: a row for each branch "
        "with reading, branch, probability, mean, lower and upper; explained is 0 if no input in "
        "the range of the training data explains the reading",
    )
    inverse.add_argument(
        "--unknown",
        metavar="NAME",
        help="the input to find, if the model has several; CSV has columns of the others",
    )
    inverse.add_argument(
        "--replicates",
        type=positive_whole,
        metavar="N",
        help="each value is the mean of so many readings (1)",
    )
