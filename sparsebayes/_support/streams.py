"""Errors of files and of standard output: a full disk, or a reader that is gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STDOUT = "standard output"  # what errors call it
CLOSED = 141  # 128 + SIGPIPE, as shells report it


@contextmanager
def naming(path: str | os.PathLike[str], name: str | None = None) -> Iterator[None]:
    """Errors of the system name the file `path`, not the temporary one that is called `name`."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, name):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def until_closed(program: Callable[[list[str]], int], argv: list[str]) -> int:
    """Run a program that prints; its exit code, or 141 once nobody reads what it prints.

    Where standard output cannot be written for another reason, this is told, and the code is 2.
    """
    try:
        try:
            return program(argv)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # or a closed pipe shows at exit only
    except BrokenPipeError:
        _silence()
        return CLOSED
    except OSError as error:
        _silence()
        print(f"sparsebayes: error: {STDOUT}: {error.strerror}", file=sys.stderr)
        return 2


def _silence() -> None:
    """Lead streams that cannot be written to nowhere, or the interpreter complains as it exits."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
