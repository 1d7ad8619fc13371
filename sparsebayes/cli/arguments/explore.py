"""Arguments of ``sparsebayes explore``."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from sparsebayes.cli.arguments.tables import TABLE, add_missing, add_reading
from sparsebayes.cli.arguments.types import positive, whole

EXAMPLES = (
    "explore",
    "explore curve.csv --columns temperature,response",
    "explore trace.csv --end-with-tab",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument(
        "csv",
        metavar="CSV",
        nargs="?",
        help="one column of numbers (a signal), two (a regression), or two and a label of two "
        f"classes (default: examples); {TABLE}",
    )
    parser.add_argument(
        "--columns", metavar="NAMES", help="columns to show, with commas between (all)"
    )
    parser.add_argument(
        "--exclude", metavar="NAMES", help="show all but these, in place of --columns"
    )
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="to listen at (a free one)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, and open no browser"
    )
    parser.add_argument(
        "--end-with-tab", action="store_true", help="end when the last tab of the page is closed"
    )
    parser.add_argument(
        "--idle",
        type=positive,
        metavar="S",
        help="end after so many seconds without a request; an open page asks every five (never)",
    )
    add_missing(parser, "leaves them out")
    add_reading(parser)


def _port(text: str) -> int:
    number = whole(text)
    if number > 65535:
        raise ArgumentTypeError(f"must be a whole number, 0 to 65535, got {text!r}")
    return number
