"""``sparsebayes completion``: a script by which a shell completes commands, options and files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from sparsebayes._support.optional import require
from sparsebayes.cli.parser import COMMANDS, make_parser
from sparsebayes.cli.reports.answer import Answer

_FILES = {"CSV", "FILE", "IN", "MODEL", "OUT"}  # arguments shown so take the names of files
_DIRECTORIES = {"DIR"}


def run(args: Namespace) -> Answer:
    """The script."""
    shtab = require("shtab", "Shell completion")
    parser = make_parser(COMMANDS)
    _mark_files(parser, shtab)
    script = shtab.complete(parser, shell=args.shell)
    return Answer(script.rstrip("\n"), {"shell": args.shell, "script": script})


def _mark_files(parser: ArgumentParser, shtab: Any) -> None:
    """Say which arguments are files, of the parser and of its commands."""
    for action in parser._actions:
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif isinstance(action.choices, dict):
            for command in action.choices.values():
                if isinstance(command, ArgumentParser):
                    _mark_files(command, shtab)
