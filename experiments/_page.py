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
    """A table or figure with what is stored of it: a record of each of its experiments, or none."""

    row: Row
    records: list[dict[str, Any]]
    values: list[Value]
    stale: bool

    @property
    def verdict(self) -> Verdict:
        if not self.records or any(record["quick"] for record in self.records):
            return "missing"
        return of_all(value.verdict for value in self.values if value.verdict is not None)

    @property
    def strict(self) -> Verdict:
        """The same if most of our draws had to have what the document shows of one."""
        found = (value.strict for value in self.values)
        return "missing" if self.verdict == "missing" else of_all(v for v in found if v is not None)

    @property
    def counts(self) -> str:
        """How much of what is compared agrees, is better and is short."""
        found = [value.verdict for value in self.values]
        return " / ".join(str(found.count(kind)) for kind in ("agrees", "better", "short"))

    @property
    def commit(self) -> str:
        told = [one["commit"] + (" (quick)" if one["quick"] else "") for one in self.records]
        return ", ".join(dict.fromkeys(told)) or "-"

    @property
    def pictures(self) -> list[str]:
        found = [item for record in self.records for item in record["pictures"].items()]
        return [name for name, rows in found if self.row.id in rows]

    @property
    def reasons(self) -> list[str]:
        """What is said of it in words."""
        notes = [line for record in self.records for line in record["notes"]]
        return [line.partition(": ")[2] for line in notes if line.startswith(f"{self.row.id}: ")]


def read(folder: Path, name: str) -> dict[str, Any] | None:
    """The stored record of an experiment."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if name and path.exists() else None


def fresh(record: dict[str, Any], name: str) -> bool:
    """Whether a record is of the code as it is, or gives the same."""
    return _store.holds(record["state"], name)


def judged(folder: Path) -> Iterator[Judged]:
    """Every table and figure of the list."""
    for row in ROWS:
        found = {name: read(folder, name) for name in row.experiments}
        records = {name: record for name, record in found.items() if record is not None}
        if len(records) < len(found):
            records = {}  # a part of a table is not judged
        stored = [one for record in records.values() for one in record["values"]]
        values = [Value(**{"row": "", "paper": None, **one}) for one in stored]
        own = [value for value in values if value.row == row.id]
        stale = any(not fresh(record, name) for name, record in records.items())
        yield Judged(row, list(records.values()), own, stale)


def lines(found: list[Judged]) -> list[str]:
    """``ID<TAB>verdict<TAB>commit`` for each."""
    return [f"{one.row.id}\t{one.verdict}\t{one.commit}{' (stale)' * one.stale}" for one in found]


def page(found: list[Judged], pictures: str) -> str:
    """The same in Markdown, with numbers and pictures; `pictures` is where these are."""
    counts = {kind: 0 for kind in ("agrees", "better", "short", "missing")}
    for one in found:
        counts[one.verdict] += 1
    words = {"agrees": "agree", "better": "are better", "short": "are short"}
    told = ", ".join(f"{n} {words.get(kind, f'are {kind}')}" for kind, n in counts.items())
    lenient = sum(one.strict == "short" and one.verdict != "short" for one in found)
    parts = [
        "# The papers' tables and figures, made again",
        "",
        "Written by `python -m experiments report` from what `python -m experiments --all --jobs 2 "
        "--results experiments/results` has stored. A number agrees within the printed spread or a "
        "tenth. What a document shows of one draw of noise, examples or chance holds if at least "
        "a tenth of our draws have it. A table or figure is short if more than a fifth of what is "
        "compared is (`experiments/_verdicts.py`). A row is stale if its experiment or the package "
        "has changed since, but for changes of the package that leave its bits as they are "
        "(`ALIKE` in `experiments/_store.py`).",
        "",
        "In the tables, ± is a standard error over repetitions, and behind a verdict are the "
        "numbers of what agrees, is better and is short. RVR, RVC, `Subspace` and the default are "
        "ours; what is as printed is an algorithm as a document prints it, and the thesis' "
        "schedule QC04's way to learn length scales. RVM* is the augmented RVM of RQ05, RVMF the "
        "fast RVM of KTH19, SSEM the subspace EM of QC04. What a choice of ours was made by is "
        "marked as fitted, and not compared.",
        "",
        f"{len(found)} tables and figures: {told}. If more than half of our draws had to have what "
        f"a document shows of one, {lenient} more would be short.",
        "",
        "| | verdict | agrees / better / short | experiment | commit |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in found:
        stale = " (stale)" * one.stale
        link = f"[{one.row.id}](#{_anchor(one.row)})"
        names = ", ".join(one.row.experiments)
        parts.append(f"| {link} | {one.verdict} | {one.counts} | {names} | {one.commit}{stale} |")
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
    if not one.records:
        yield "Not stored yet."
        return
    made = [
        f"`python -m experiments {name}`, {record['date']}, {record['seconds']:.0f} s"
        for name, record in zip(one.row.experiments, one.records, strict=True)
    ]
    yield f"**{one.verdict}** ({one.counts}); {'; '.join(made)}."
    for reason in one.reasons:
        yield ""
        yield reason[:1].upper() + reason[1:]
    if one.values:
        yield ""
        yield "| | paper (± its spread) | ours (± standard error) | verdict |"
        yield "| --- | ---: | ---: | --- |"
        for value in one.values:
            _, paper, ours, error, _, verdict = value.cells()
            ours += f" ± {error}" * bool(error)
            yield f"| {' | '.join(map(_cell, (value.name, paper, ours, verdict)))} |"
    for name in one.pictures:
        yield ""
        yield f"![{one.row.id}]({pictures}/{name})"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def seconds_of(folder: Path, name: str) -> float:
    """How long an experiment took when it was stored; 0 if it never was."""
    record = read(folder, name)
    return 0.0 if record is None else float(record["seconds"])
