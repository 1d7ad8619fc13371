"""What every experiment hands back: numbers beside the document's, notes and figures."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments import _store
from experiments._rows import IDS
from experiments._verdicts import Side, Verdict, may_be_one_of, of_number

HEADER = ("", "paper", "ours", "± standard error", "repetitions", "verdict")

# Okabe and Ito's palette, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#5A5A5A"

_DPI = 90  # of stored pictures


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


@dataclass(frozen=True)
class Value:
    """A number or a statement, and what the document has in its place.

    Attributes
    ----------
    row : str
        The table or figure it belongs to, "" for what no document has.
    name : str
    paper, ours : float, str or None
        Of a statement: "holds" or "does not hold", and on how many draws.
    error : float or None
        The standard error of ours.
    count : int
        Of repetitions.
    spread : float or None
        That of the paper's number, where it is printed.
    best : "low", "high" or None
        Which numbers are better than the paper's.
    had : int or None
        Of what the document shows of one draw: the number of ours that have it.
    """

    row: str
    name: str
    paper: float | str | None
    ours: float | str
    error: float | None = None
    count: int = 1
    spread: float | None = None
    best: Side | None = None
    had: int | None = None

    @property
    def verdict(self) -> Verdict | None:
        """By the rule of `_verdicts`; None where there is nothing to compare."""
        if not self.row or self.paper is None:
            return None
        if isinstance(self.paper, str) or isinstance(self.ours, str):
            if self.paper != _HOLDS:
                return None
            return "agrees" if str(self.ours).startswith(_HOLDS) else "short"
        return of_number(self.paper, self.ours, self.spread, self.best)

    @property
    def strict(self) -> Verdict | None:
        """The verdict if more than half of our draws had to have what the document shows of one."""
        if self.had is None:
            return self.verdict
        return "agrees" if 2 * self.had > self.count else "short"

    def cells(self) -> tuple[str, ...]:
        """As named by `HEADER`."""
        paper = _text(self.paper) + (f" ± {self.spread:g}" if self.spread else "")
        ours = self.ours if isinstance(self.ours, str) else number(self.ours)
        error = "" if self.error is None else f"{self.error:.2g}"
        name = f"{self.row}: {self.name}" if self.row else self.name
        return name, paper, ours, error, str(self.count), self.verdict or ""


_HOLDS, _FAILS = "holds", "does not hold"


@dataclass
class Report:
    """Values, notes below them, and figures.

    Attributes
    ----------
    title : str
    values : list of Value
    notes : list of str
    pictures : dict of str to (matplotlib Figure, tuple of str)
        By the end of their file names, "" for the only one: with what they are pictures of.
    row : str
        The table or figure of the documents that what is added next belongs to.
    """

    title: str
    values: list[Value] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures: dict[str, tuple[Any, tuple[str, ...]]] = field(default_factory=dict)
    row: str = ""

    def add(
        self,
        name: str,
        paper: Any,
        ours: Any,
        repetitions: int | None = None,
        *,
        spread: float | None = None,
        best: Side | None = None,
    ) -> None:
        """Add a number; `ours` is a value, or the values of all repetitions."""
        assert not self.row or self.row in IDS, self.row
        shown: float | str = ours
        error, count = None, repetitions or 1
        if not isinstance(ours, str):
            values = np.asarray(ours, dtype=float)
            shown = float(values.mean())
            if values.ndim:
                count = values.size
                error = standard_error(values) if count > 1 else None
        paper = paper if paper is None or isinstance(paper, str) else float(paper)
        self.values.append(Value(self.row, name, paper, shown, error, count, spread, best))

    def claim(self, statement: str, holds: bool, repetitions: int | None = None) -> None:
        """Add what the document says in words, and whether it holds here."""
        assert not self.row or self.row in IDS, self.row
        ours = _HOLDS if holds else _FAILS
        self.values.append(Value(self.row, statement, _HOLDS, ours, None, repetitions or 1))

    def shown(self, statement: str, holds: Sequence[bool] | np.ndarray) -> None:
        """Add what the document shows of one draw, and which of ours have it."""
        assert not self.row or self.row in IDS, self.row
        of, count = len(holds), int(np.sum(holds))
        told = f"{_HOLDS if may_be_one_of(holds) else _FAILS}, on {count} of {of}"
        self.values.append(Value(self.row, statement, _HOLDS, told, None, of, had=count))

    def draw(self, figure: Any, end: str = "", *rows: str) -> None:
        """Add a figure, of these tables or figures of the documents, by default of `row`."""
        of = rows or ((self.row,) if self.row else ())
        assert IDS.issuperset(of), of
        self.pictures[end] = figure, of

    def note(self, line: str) -> None:
        """Add a line below the table."""
        self.notes.append(line)

    def text(self) -> str:
        """The values and the notes, aligned for a terminal."""
        lines = [self.title, "", *_aligned([HEADER, *(value.cells() for value in self.values)])]
        return "\n".join([*lines, "", *self.notes]).rstrip() + "\n"

    def save(self, folder: Path, name: str, about: dict[str, Any]) -> list[Path]:
        """Write the record (JSON) and the figures (PNG): all of them, or none."""
        folder.mkdir(parents=True, exist_ok=True)
        files, pictures = {}, {}
        for end, (figure, rows) in self.pictures.items():
            stream = io.BytesIO()
            figure.savefig(stream, format="png", dpi=_DPI)
            path = folder / f"{name}{'_' + end if end else ''}.png"
            files[path], pictures[path.name] = stream.getvalue(), rows
        record = {
            "title": self.title,
            **about,
            "values": [_compact(value) for value in self.values],
            "notes": self.notes,
            "pictures": pictures,
        }
        text = json.dumps(record, ensure_ascii=False, indent=1)
        files[folder / f"{name}.json"] = (text + "\n").encode()  # the last: it names the others
        for path, content in files.items():
            part = path.with_name(f".{path.name}.part")  # an interrupted run leaves no half file
            part.write_bytes(content)
            part.replace(path)
        return list(files)


def _compact(value: Value) -> dict[str, Any]:
    """A value without what it does not have, numbers to six digits."""
    kept = {key: one for key, one in asdict(value).items() if one not in (None, "")}
    return {
        key: float(f"{one:.6g}") if isinstance(one, float) else one for key, one in kept.items()
    }


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
    """``function(*task)`` for all tasks, on `jobs` processes, with progress on stderr.

    Where units are kept, what was computed before is not computed again.
    """
    from joblib import Parallel, delayed

    tasks, units = list(tasks), _store.current()
    paths = [None if units is None else units.path(function, task) for task in tasks]
    results: dict[int, Any] = {}
    for number, path in enumerate(paths):
        if units is not None and path is not None and path.exists():
            results[number] = units.load(path)
    left = [number for number in range(len(tasks)) if number not in results]
    begin, known = time.monotonic(), len(results)
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for number, *made in parallel(delayed(_timed)(n, function, tasks[n]) for n in left):
        results[number] = made[0]
        path = paths[number]
        if path is not None:
            _store.Units.save(path, *made)
        done = len(results) - known
        if len(results) % max(1, len(tasks) // 10) == 0:
            rest = (time.monotonic() - begin) / done * (len(left) - done)
            progress(f"{label}: {len(results)}/{len(tasks)}, {duration(rest)} left")
    return [results[number] for number in range(len(tasks))]


def _timed(number: int, function: Any, task: tuple) -> tuple[int, Any, float]:
    """The number of a task, its result, and the seconds it took."""
    begin = time.monotonic()
    result = function(*task)
    return number, result, time.monotonic() - begin


def duration(seconds: float) -> str:
    """Hours and minutes, or seconds where it is short."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


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
