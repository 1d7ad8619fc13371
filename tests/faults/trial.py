"""A fault that was tried, and what was wrong afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """A fault that was tried.

    Attributes
    ----------
    label : str
        Says which.
    faults : tuple of str, default=()
        What was wrong.
    hit : bool, default=True
        Whether the fault came while there was something to disturb; others are not counted.
    """

    label: str
    faults: tuple[str, ...] = ()
    hit: bool = True


Trials = Iterator[Trial]
