"""Arguments of ``sparsebayes inspect``."""

from __future__ import annotations

from argparse import ArgumentParser

from sparsebayes.cli.arguments.types import positive_whole, probability

EXAMPLES = (
    "inspect model.skops",
    "inspect model.skops --figures figures",
    "inspect curve.skops --detection-limit",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument("model", metavar="MODEL", help="file written by fit")
    parser.add_argument(
        "--figures",
        metavar="DIR",
        help="write figures (PNG) into this directory: the prediction along each input, and the "
        "evidence path",
    )
    limits = parser.add_argument_group("calibration curves")
    limits.add_argument(
        "--detection-limit",
        action="store_true",
        help="critical value, detection and quantification limit of a curve of one input",
    )
    limits.add_argument(
        "--blank", type=float, metavar="X", help="input of a blank (smallest of the training data)"
    )
    limits.add_argument(
        "--alpha", type=probability, metavar="P", help="blanks taken for something (0.05)"
    )
    limits.add_argument(
        "--beta", type=probability, metavar="P", help="missed at the detection limit (0.05)"
    )
    limits.add_argument(
        "--replicates", type=positive_whole, metavar="N", help="readings that are averaged (1)"
    )
