"""Numbers as text, Markdown tables, and files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

MISSING = "–"


def number(value: float | None, digits: int) -> str:
    """`value` with so many significant digits, never in exponential notation."""
    if value is None:
        return MISSING
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    exponent = int(f"{abs(rounded):e}".partition("e")[2])
    return f"{rounded:.{max(0, digits - 1 - exponent)}f}"


def fixed(value: float | None, decimals: int) -> str:
    """`value` with so many decimals."""
    return MISSING if value is None else f"{value:.{decimals}f}"


def seconds(value: float) -> str:
    """A time with three significant digits."""
    return number(value, 3)


def ratio(value: float | None) -> str:
    """A ratio to a reference with three significant digits."""
    return number(value, 3)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, the first column to the left and the others to the right, padded."""
    cells = [list(header), *(list(row) for row in rows)]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(header))]
    lines = []
    for row in cells:
        first = row[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("| " + " | ".join([first, *rest]) + " |")
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(lines)


def write(path: Path, text: str) -> None:
    """Write under a temporary name beside `path`, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(name, 0o644)  # mkstemp gives 0o600
        os.replace(name, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)
