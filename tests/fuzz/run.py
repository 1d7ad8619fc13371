"""Try the cases of some parts, one after the other."""

from __future__ import annotations

import time
from collections import Counter
from typing import NamedTuple

import numpy as np

from tests.fuzz.law import Verdict, judge
from tests.fuzz.parts import PARTS

Counts = dict[str, Counter[str]]


class Share(NamedTuple):
    """The cases of one process: those whose index is `number` modulo `of`."""

    number: int = 0
    of: int = 1


def try_cases(
    names: tuple[str, ...], share: Share, seed: int, minutes: float, match: str = ""
) -> Counts:
    """What became of the cases of each part; violations are printed as they are found."""
    counts: Counts = {}
    ends = time.monotonic() + 60.0 * minutes
    for left, name in zip(range(len(names), 0, -1), names, strict=True):
        end = time.monotonic() + (ends - time.monotonic()) / left
        count = counts[name] = Counter()
        for index, case in enumerate(PARTS[name](np.random.default_rng(seed))):
            if time.monotonic() > end:
                break
            if index % share.of != share.number or match not in case.label:
                continue
            outcome = judge(case)
            count.update(["tried", outcome.verdict.value])
            if outcome.verdict is Verdict.VIOLATION:
                print(f"{name}: {outcome.label}: {outcome.reason}", flush=True)
    return counts
