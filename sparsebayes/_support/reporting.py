"""What `verbose` prints."""

from __future__ import annotations

import sys
from typing import TextIO

_EVERY = 10  # steps between two lines
_LINES = 10  # in all, where the number of steps is known


class Reporter:
    """Lines about the progress of a fit.

    Parameters
    ----------
    name : str
        Who reports.
    verbose : int
        0 prints nothing; 1 the first of every ten steps, or ten steps in all where it is known
        how many there are; 2 each step.
    stream : file or None, default=None
        Standard output if None.
    total : int or None, default=None
        How many steps there are, if that is known.
    """

    def __init__(
        self, name: str, verbose: int, stream: TextIO | None = None, *, total: int | None = None
    ) -> None:
        self.name, self.verbose, self.stream, self.total = name, int(verbose), stream, total

    def due(self, step: int) -> bool:
        """Whether step number `step`, counted from 1, is to be reported."""
        if self.verbose != 1:
            return self.verbose > 1
        if self.total is None:
            return step % _EVERY == 1
        return step * _LINES // self.total > (step - 1) * _LINES // self.total

    def tell(self, text: str) -> None:
        """Print a line, unless nothing is to be printed."""
        if self.verbose:
            print(f"[{self.name}] {text}", file=self.stream or sys.stdout, flush=True)
