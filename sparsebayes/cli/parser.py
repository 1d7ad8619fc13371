"""The command line: its commands, their arguments, and `main`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import NoReturn

from sparsebayes._support.streams import STDOUT, naming, until_closed

# Each command is the function `run` of the module of its name; its arguments are in the module of
# that name in `arguments`. Both are imported when the command is chosen, so that --help is quick.

_PROGRAM = "sparsebayes"


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _complain(f"{message} (see {self.prog} --help)")
        raise SystemExit(2)


def _complain(message: str) -> None:
    print(f"{_PROGRAM}: error: {' '.join(message.split())}", file=sys.stderr)


COMMANDS = {
    "fit": "fit a model to a CSV or Parquet file and report on it",
    "predict": "predict the rows of a CSV or Parquet file",
    "inspect": "describe a stored model",
    "denoise": "denoise a signal, a sound or an image",
    "forecast": "forecast a column of a CSV file",
    "compare": "compare stored models on rows that none of them has seen",
    "export": "write a stored model as C, ONNX or JSON",
    "explore": "open a local page on which models follow points that are dragged",
    "completion": "print a script by which a shell completes commands and options",
}


def make_parser(chosen: Collection[str] = ()) -> ArgumentParser:
    """The parser of all commands; only the chosen ones have their arguments."""
    parser = _Parser(
        prog=_PROGRAM,
        description="Sparse Bayesian regression, classification and forecasts on CSV files; "
        "denoising of signals and images.",
        epilog="exit codes: 0; 2 after an error, which is one line on stderr; 130 after Ctrl-C; "
        "141 if the reader of the output has closed the pipe, as head does.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sentence = f"{summary[0].upper()}{summary[1:]}."  # CSV keeps its letters
        command = commands.add_parser(name, help=summary, description=sentence)
        if name in chosen:
            arguments = import_module(f"sparsebayes.cli.arguments.{name}")
            arguments.add_arguments(command)
            command.add_argument("--json", action="store_true", help="print a JSON object instead")
            command.add_argument(
                "--quiet", action="store_true", help="print no report, notes or progress"
            )
            command.formatter_class = RawDescriptionHelpFormatter
            command.epilog = _examples(arguments.EXAMPLES)
    return parser


def _examples(lines: Sequence[str]) -> str:
    return "\n".join(["examples:", *(f"  {_PROGRAM} {line}" for line in lines)])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    It is what ``sparsebayes`` and ``python -m sparsebayes`` call.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments; None takes the process's.

    Returns
    -------
    int
        0; 2 after an error, which is one line on stderr; 130 after an interruption; 141 if what
        reads the output has closed the pipe, about which nothing is said.

    See Also
    --------
    sparsebayes.persistence.load : Brings back a model that ``fit`` stored.

    Examples
    --------
    >>> from sparsebayes.cli import main
    >>> main(["inspect", "nothing.skops"])
    2
    """
    return until_closed(_run, sys.argv[1:] if argv is None else list(argv))


def _run(argv: list[str]) -> int:
    """Run the command that the arguments name; its exit code."""
    try:
        return _command(argv)
    except OSError as error:
        if isinstance(error, BrokenPipeError) or error.filename == STDOUT:
            raise
        told = error.strerror and error.filename
        _complain(f"{error.filename}: {error.strerror}" if told else str(error))
        return 2
    except (ValueError, ImportError, NotImplementedError) as error:
        _complain(str(error))
        return 2
    except KeyboardInterrupt:
        print(f"{_PROGRAM}: interrupted", file=sys.stderr)
        return 130


def _command(argv: list[str]) -> int:
    parser = make_parser([word for word in argv if not word.startswith("-")][:1])
    args = parser.parse_args(argv)
    if args.version:
        from sparsebayes._support.version import package_version

        with naming(STDOUT):
            print(f"{_PROGRAM} {package_version()}")
        return 0
    if args.command is None:
        parser.error(f"name a command: {', '.join(COMMANDS)}")
    from sparsebayes.cli.reports.answer import check_streams

    check_streams(args)
    answer = import_module(f"sparsebayes.cli.{args.command}").run(args)
    with naming(STDOUT):
        answer.tell(args)
    return 0
