"""What `verbose` prints."""

from __future__ import annotations

import sys
from typing import TextIO

_EVERY = 10


class Reporter:
    """Lines about the progress of a fit.

    Parameters
    ----------
    name : str
        Who reports.
    verbose : int
        0 prints nothing, 1 the first of every ten steps, 2 each step.
    stream : file or None, default=None
        Standard output if None.
    """

    def __init__(self, name: str, verbose: int, stream: TextIO | None = None) -> None:
        self.name, self.verbose, self.stream = name, int(verbose), stream

    def due(self, step: int) -> bool:
        """Whether step number `step`, counted from 1, is to be told."""
        return self.verbose > 1 or (self.verbose == 1 and step % _EVERY == 1)

    def tell(self, text: str) -> None:
        """Print a line, unless nothing is to be printed."""
        if self.verbose:
            print(f"[{self.name}] {text}", file=self.stream or sys.stdout, flush=True)
