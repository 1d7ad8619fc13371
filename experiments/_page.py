"""All stored results as one page, and one line for each table and figure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from experiments import _store
from experiments._report import Value
from experiments._rows import DOCUMENTS, ROWS, Row
from experiments._verdicts import Verdict, of_all


class Judged(NamedTuple):
    """A table or figure with what is stored of it; no record if there is nothing."""

    row: Row
    record: dict[str, Any] | None
    values: list[Value]
    stale: bool

    @property
    def verdict(self) -> Verdict:
        if self.record is None or self.record["quick"]:
            return "missing"
        return of_all(value.verdict for value in self.values if value.verdict is not None)

    @property
    def commit(self) -> str:
        if self.record is None:
            return "-"
        return self.record["commit"] + (" (quick)" if self.record["quick"] else "")

    @property
    def pictures(self) -> list[str]:
        found = {} if self.record is None else self.record["pictures"]
        return [name for name, rows in found.items() if self.row.id in rows]

    @property
    def reasons(self) -> list[str]:
        """What is said of it in words."""
        notes = [] if self.record is None else self.record["notes"]
        return [line.partition(": ")[2] for line in notes if line.startswith(f"{self.row.id}: ")]


def read(folder: Path, name: str) -> dict[str, Any] | None:
    """The stored record of an experiment."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if name and path.exists() else None


def fresh(record: dict[str, Any], name: str) -> bool:
    """Whether a record is of the code as it is."""
    return record["state"] == _store.state_of(name)


def judged(folder: Path) -> Iterator[Judged]:
    """Every table and figure of the list."""
    for row in ROWS:
        record = read(folder, row.experiment)
        stored = [] if record is None else record["values"]
        values = [Value(**{"row": "", "paper": None, **one}) for one in stored]
        own = [value for value in values if value.row == row.id]
        stale = record is not None and not fresh(record, row.experiment)
        yield Judged(row, record, own, stale)


def lines(found: list[Judged]) -> list[str]:
    """``ID<TAB>verdict<TAB>commit`` for each."""
    return [f"{one.row.id}\t{one.verdict}\t{one.commit}{' (stale)' * one.stale}" for one in found]


def page(found: list[Judged], pictures: str) -> str:
    """The same in Markdown, with numbers and pictures; `pictures` is where these are."""
    counts = {kind: 0 for kind in ("agrees", "better", "short", "missing")}
    for one in found:
        counts[one.verdict] += 1
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    parts = [
        "# The papers' tables and figures, made again",
        "",
        "Written by `python -m experiments report` from what `python -m experiments --all --jobs 2 "
        "--results experiments/results` has stored. A number agrees within the printed spread or a "
        "tenth; a table or figure is short if more than a fifth of what is compared is "
        "(`experiments/_verdicts.py`).",
        "",
        f"{len(found)} tables and figures: {told}.",
        "",
        "| | verdict | experiment | commit |",
        "| --- | --- | --- | --- |",
    ]
    for one in found:
        stale = " (stale)" * one.stale
        link = f"[{one.row.id}](#{_anchor(one.row)})"
        parts.append(f"| {link} | {one.verdict} | {one.row.experiment} | {one.commit}{stale} |")
    document = ""
    for one in found:
        if one.row.document != document:
            document = one.row.document
            parts += ["", f"## {DOCUMENTS[document]} ({document})"]
        parts += ["", *_section(one, pictures)]
    return "\n".join(parts) + "\n"


def _anchor(row: Row) -> str:
    kept = "".join(c for c in row.id.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def _section(one: Judged, pictures: str) -> Iterator[str]:
    yield f"### {one.row.id}"
    yield ""
    if one.record is None:
        yield "Not stored yet."
        return
    seconds = one.record["seconds"]
    yield (
        f"**{one.verdict}**; `python -m experiments {one.row.experiment}`, "
        f"{one.record['date']}, {seconds:.0f} s."
    )
    for reason in one.reasons:
        yield f"{reason}"
    if one.values:
        yield ""
        yield "| | paper | ours | verdict |"
        yield "| --- | ---: | ---: | --- |"
        for value in one.values:
            _, paper, ours, error, _, verdict = value.cells()
            yield f"| {value.name} | {paper} | {ours}{f' ± {error}' if error else ''} | {verdict} |"
    for name in one.pictures:
        yield ""
        yield f"![{one.row.id}]({pictures}/{name})"


def seconds_of(folder: Path, name: str) -> float:
    """How long an experiment took when it was stored; 0 if it never was."""
    record = read(folder, name)
    return 0.0 if record is None else float(record["seconds"])
