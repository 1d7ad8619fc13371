"""Figures of the command line, as the contents of PNG files."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes._support.optional import require

_DPI = 120
_COLUMNS = 3  # panels side by side


def check_directory(directory: str) -> None:
    """Raise before the work what would spoil the figures after it."""
    require("matplotlib", "--figures")
    path = Path(directory)
    if directory == "-":
        raise ValueError("--figures - : figures are several files; name a directory")
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"--figures: {directory!r} is not a directory")


def new_axes(
    width: float = 8, height: float = 5, columns: int = 1, rows: int = 1, *, sharex: bool = False
) -> Any:
    """Axes of a Figure of its own: pyplot and the user's backend stay out of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure.subplots(rows, columns, sharex=sharex)


def new_panels(count: int, height: float) -> Any:
    """So many axes of one Figure, three side by side at most; `height` is that of a row."""
    if count == 1:
        return np.ravel(new_axes())
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    panels = np.ravel(new_axes(4.0 * columns, height * rows, columns, rows))
    for unused in panels[count:]:
        unused.remove()
    return panels[:count]


def png(figure: Any) -> bytes:
    """The content of a PNG file."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI)
    return stream.getvalue()
