"""Arguments of all commands that read a table: how it is written, and what is missing in it."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from sparsebayes.cli.arguments.types import positive_whole

# The lists of the library, which is not imported for --help.
DECIMALS = (".", ",")
MISSING = ("drop", "error")
OPTIONS = ("delimiter", "decimal", "encoding", "header", "sheet")
TABLE = (
    "CSV and the like in any usual dialect, packed or not, a sheet of an .xlsx file, or a .parquet "
    "file; - is stdin"
)


def add_reading(parser: ArgumentParser) -> None:
    """Add the options that say how a table is written."""
    group = parser.add_argument_group("how the table is written (default: found in it)")
    group.add_argument(
        "--delimiter", metavar="C", help="between cells: a character, 'tab' or 'space'"
    )
    group.add_argument("--decimal", choices=DECIMALS, help="the decimal mark")
    group.add_argument("--encoding", metavar="E", help="of the text, such as utf-8 or cp1252")
    group.add_argument(
        "--header",
        type=_line_or_none,
        metavar="LINE",
        help="number of the line that names the columns, or 'none': they are then c1, c2, ...",
    )
    group.add_argument("--sheet", metavar="NAME", help="of an .xlsx file (the first)")


def add_missing(parser: ArgumentParser, dropped: str) -> None:
    """Add the option that says what is done with rows in which a cell is empty or NA."""
    parser.add_argument(
        "--missing",
        choices=MISSING,
        default="drop",
        help=f"rows with a cell that is empty, NA or the like: 'drop' (default) {dropped}, and "
        "says how many; 'error' refuses them",
    )


def add_writing(parser: ArgumentParser) -> None:
    """Add the option that says what is done with text that a spreadsheet would run."""
    parser.add_argument(
        "--formulas",
        action="store_true",
        help="write text that begins with =, +, - or @ as it is (default: with ' before it, so "
        "that no spreadsheet runs it)",
    )


def _line_or_none(text: str) -> int | str:
    try:
        return text if text == "none" else positive_whole(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(f"must be the number of a line or 'none', got {text!r}") from None
