"""Standard output and error whose reader is gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

CLOSED = 141  # 128 + SIGPIPE, as shells report it


def until_closed(program: Callable[[list[str]], int], argv: list[str]) -> int:
    """Run a program that prints; its exit code, or 141 once nobody reads what it prints."""
    try:
        try:
            return program(argv)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # or a closed pipe shows at exit only
    except BrokenPipeError:
        _silence_closed()
        return CLOSED


def _silence_closed() -> None:
    """Lead streams whose pipe is closed to nowhere, or the interpreter complains as it exits."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
