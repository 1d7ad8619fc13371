"""Numbers as text, Markdown tables, and files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

MISSING = "–"
Limit = tuple[str, str, str, bool]  # what, the limit, measured, met


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


def seconds(value: float | None) -> str:
    """A time with three significant digits."""
    return number(value, 3)


def ratio(value: float | None) -> str:
    """A ratio to a reference with three significant digits."""
    return number(value, 3)


def signed(value: float) -> str:
    """`value` with its sign and two decimals."""
    return f"{value:+.2f}".replace("-", "−")


def at_most(what: str, measured: float, factor: float) -> Limit:
    """The line for a ratio that may not exceed `factor`; small ones are shown as 1/x."""
    bound = f"{factor:g}" if factor >= 1 else f"1/{1 / factor:g}"
    shown = f"{measured:.2f}" if measured >= 1 else f"1/{1 / measured:.1f}"
    return what, f"≤ {bound}", shown, measured <= factor


def limits(found: Iterable[Limit]) -> str:
    """The table of (what, limit, measured, met)."""
    rows = [(what, limit, value, "met" if met else "not met") for what, limit, value, met in found]
    return table(("", "limit", "measured", "verdict"), rows)


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
