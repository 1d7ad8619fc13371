"""What every experiment hands back: a table beside the paper's, notes and figures."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HEADER = ("row", "paper", "ours", "± standard error", "repetitions")

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#5A5A5A"


@dataclass(frozen=True)
class Options:
    """How to run an experiment.

    Attributes
    ----------
    quick : bool
        Fewer repetitions or smaller data: under about two minutes.
    jobs : int
        Processes for the repetitions.
    seed : int
        Of all random numbers.
    repetitions : int or None
        Overrides the experiment's own number.
    """

    quick: bool = False
    jobs: int = 1
    seed: int = 0
    repetitions: int | None = None

    def count(self, full: int, quick: int) -> int:
        """The number of repetitions."""
        return self.repetitions or (quick if self.quick else full)


@dataclass
class Report:
    """A table, notes below it, and figures.

    Attributes
    ----------
    title : str
    rows : list of tuple
        As named by `HEADER`.
    notes : list of str
    figures : dict of str to matplotlib Figure
        By the end of their file names; "" for the only one.
    """

    title: str
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, paper: Any, ours: Any, repetitions: int | None = None) -> None:
        """Add a row; `ours` is a value, or the values of all repetitions."""
        values = np.asarray(ours, dtype=float) if not isinstance(ours, str) else None
        error = ""
        if values is None:
            shown, count = ours, repetitions or 1
        elif values.ndim == 0:
            shown, count = number(values), repetitions or 1
        else:
            shown, count = number(values.mean()), values.size
            if count > 1:
                error = f"{standard_error(values):.2g}"
        self.rows.append((name, _text(paper), shown, error, str(count)))

    def note(self, line: str) -> None:
        """Add a line below the table."""
        self.notes.append(line)

    def text(self) -> str:
        """The table and the notes, aligned for a terminal."""
        lines = [self.title, "", *_aligned([HEADER, *self.rows])]
        return "\n".join([*lines, "", *self.notes]).rstrip() + "\n"

    def markdown(self) -> str:
        """The same as Markdown."""
        body = [HEADER, ("---",) * len(HEADER), *self.rows]
        table = ["| " + " | ".join(row) + " |" for row in body]
        notes = [f"- {line}" for line in self.notes]
        return "\n".join([f"# {self.title}", "", *table, "", *notes]).rstrip() + "\n"

    def csv(self) -> str:
        """The table alone as CSV."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([HEADER, *self.rows])
        return stream.getvalue()

    def save(self, folder: Path, stem: str) -> list[Path]:
        """Write the table (Markdown, CSV) and the figures (PNG): all of them, or none."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {
            folder / f"{stem}.md": self.markdown().encode(),
            folder / f"{stem}.csv": self.csv().encode(),
        }
        for end, figure in self.figures.items():
            stream = io.BytesIO()
            figure.savefig(stream, format="png", dpi=150)
            files[folder / f"{stem}{'_' + end if end else ''}.png"] = stream.getvalue()
        for path, content in files.items():
            part = path.with_name(f".{path.name}.part")  # an interrupted run leaves no half file
            part.write_bytes(content)
            part.replace(path)
        return list(files)


def number(value: Any) -> str:
    """Four significant digits, without an exponent where that can be avoided."""
    value = float(value)
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        digits = 4 - 1 - int(np.floor(np.log10(abs(value)))) if value else 0
        return f"{value:.{max(digits, 0)}f}" if digits < 8 else f"{value:.3e}"
    return f"{value:.3e}"


def standard_error(values: Sequence[float] | np.ndarray) -> float:
    """Of the mean."""
    values = np.asarray(values)
    return float(values.std(ddof=1) / np.sqrt(values.size))


def new_figure(width: float = 8.0, height: float = 4.0) -> Any:
    """A figure that belongs to no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        remedy = 'pip install "sparsebayes[plots]"'
        raise ImportError(f"figures of experiments need matplotlib: {remedy}") from error

    return Figure(figsize=(width, height), layout="constrained")


def repeat(function: Any, tasks: Iterable[tuple], *, jobs: int, label: str) -> list[Any]:
    """``function(*task)`` for all tasks, on `jobs` processes, with progress on stderr."""
    from joblib import Parallel, delayed

    tasks = list(tasks)
    results = []
    parallel = Parallel(n_jobs=jobs, return_as="generator")
    for result in parallel(delayed(function)(*task) for task in tasks):
        results.append(result)
        if len(results) % max(1, len(tasks) // 10) == 0:
            progress(f"{label}: {len(results)}/{len(tasks)}")
    return results


def progress(line: str) -> None:
    """Tell how far things are, apart from the results."""
    print(line, file=sys.stderr, flush=True)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:g}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        lines.append(" | ".join(cells))
    lines.insert(1, "-+-".join("-" * w for w in widths))
    return lines
