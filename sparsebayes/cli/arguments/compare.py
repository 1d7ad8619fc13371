"""Arguments of ``sparsebayes compare``."""

from __future__ import annotations

from argparse import ArgumentParser

from sparsebayes.cli.arguments.tables import add_missing, add_reading
from sparsebayes.cli.arguments.types import probability

EXAMPLES = (
    "compare rbf.skops spline.skops --data held_out.csv",
    "compare *.skops --data held_out.csv --json",
    "compare rbf.skops spline.skops   # evidence and size alone",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument("models", metavar="MODEL", nargs="+", help="files written by fit")
    parser.add_argument(
        "--data",
        metavar="CSV",
        help="rows that no model was fitted to, with the input columns of all models and their "
        "target (default: none; evidence and size are compared)",
    )
    parser.add_argument(
        "--coverage", type=probability, metavar="P", help="regression: of the interval (0.95)"
    )
    add_missing(parser, "leaves them out")
    add_reading(parser)
