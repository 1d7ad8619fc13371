"""Arguments of ``sparsebayes export``."""

from __future__ import annotations

from argparse import ArgumentParser

from sparsebayes.cli.arguments.tables import add_missing, add_reading
from sparsebayes.export import FORMATS

EXAMPLES = (
    "export model.skops -o sensor.c --float --check data.csv",
    "export model.skops -o model.onnx",
    "export model.skops --to json -o model.json --no-std",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument("model", metavar="MODEL", help="file written by fit")
    parser.add_argument(
        "--to", choices=FORMATS, help="what to write (default: by the name of the file)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="NAME.c (with NAME.h beside it), NAME.onnx or NAME.json",
    )
    parser.add_argument(
        "--float", action="store_true", help="single precision, for small devices (double)"
    )
    parser.add_argument(
        "--no-std", action="store_true", help="leave the standard deviation of a regression out"
    )
    parser.add_argument(
        "--check",
        metavar="CSV",
        help="compare with Python at the rows of this file, and print the largest difference: C is "
        "compiled where a compiler is found (CC), ONNX needs onnxruntime",
    )
    add_missing(parser, "leaves them out of the comparison")
    add_reading(parser)
