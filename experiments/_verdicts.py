"""What is said of a number beside the document's, and of a table or figure by its numbers.

A number agrees within the printed spread, or within a tenth of the document's. It is better if it
lies further on the side that is known to be the better one, and else short. A statement that a
figure is there to show agrees if it holds, else it is short. What a document shows of one draw of
noise, examples or chance, which is not ours, holds if at least a tenth of our draws have it: then
that draw may be one of them. A table or figure is short if more than a fifth of what is compared
is; else better, if most of it is; else it agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

Verdict = Literal["agrees", "better", "short", "missing"]
Side = Literal["low", "high"]

_TENTH = 0.1
_FIFTH = 0.2
_MOST = 0.5


def of_number(paper: float, ours: float, spread: float | None, best: Side | None) -> Verdict:
    """Compare a number with the document's, whose spread may be printed."""
    if abs(ours - paper) <= max(spread or 0.0, _TENTH * abs(paper)):
        return "agrees"
    better = (ours < paper and best == "low") or (ours > paper and best == "high")
    return "better" if better else "short"


def may_be_one_of(holds: Iterable[bool]) -> bool:
    """Whether a draw of which a statement is true is not rare among ours."""
    counts = Counter(map(bool, holds))
    return counts[True] >= max(1.0, _TENTH * counts.total())


def of_all(verdicts: Iterable[Verdict]) -> Verdict:
    """Of a table or figure, by all that is compared in it; "missing" if nothing is."""
    counts = Counter(verdicts)
    total = counts.total()
    if not total:
        return "missing"
    if counts["short"] > _FIFTH * total:
        return "short"
    return "better" if counts["better"] > _MOST * total else "agrees"
