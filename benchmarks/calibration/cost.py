"""What the calibration of the error bars costs: time and memory of a fit with it and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any

from benchmarks.calibration.coverage import make_split
from benchmarks.peers.error_bars import OURS, PLAIN, our_regressions
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, peak_memory, timed

Record = dict[str, Any]

PLANS = {300: ("boston", "kin8nm", "airfoil", "sml"), 1000: ("kin8nm", "power", "sml")}
QUICK = (("yacht", 300),)
REPEATS, WARM_UP = 3, 50


def entries(
    quick: bool, size: int | None = None, only: Sequence[str] = ()
) -> list[tuple[str, int]]:
    """The (set, training rows) asked for."""
    every = [(name, rows) for rows, names in PLANS.items() for name in names]
    return [
        (name, rows)
        for name, rows in (QUICK if quick else every)
        if size in (None, rows) and name in (only or (name,))
    ]


def run(entries: Sequence[tuple[str, int]]) -> Iterator[tuple[str, Record]]:
    """Time both in turns; yields (key, record)."""
    for name, size in entries:
        split = make_split(name, size, 0)
        models = our_regressions()
        times: dict[str, list[float]] = {model.name: [] for model in models}
        memory: dict[str, float | None] = {}
        with one_thread():
            for model in models:
                model.fit(make_split(name, WARM_UP, 0))
            for model in models:
                _, memory[model.name] = peak_memory(partial(model.fit, split))
            for _ in range(REPEATS):
                for model in models:
                    times[model.name].append(timed(model.fit, split)[1])
        record = {"name": name, "size": size, "shape": list(split.X.shape)}
        middle = {model: median(seconds) for model, seconds in times.items()}
        yield f"{name}/{size}", record | {"fit": middle, "memory": memory}


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each data set."""
    header = (
        "data", "N × D", f"{OURS}: fit, s", f"{PLAIN}: fit, s", "ratio",
        f"{OURS}: peak memory, MB", f"{PLAIN}: peak memory, MB",
    )  # fmt: skip
    rows = []
    for one in records.values():
        ours, plain = one["fit"][OURS], one["fit"][PLAIN]
        rows.append(
            (
                one["name"],
                "{} × {}".format(*one["shape"]),
                tables.seconds(ours),
                tables.seconds(plain),
                tables.ratio(ours / plain),
                *(tables.fixed(one["memory"][model], 1) for model in (OURS, PLAIN)),
            )
        )
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
CPU seconds of a fit, medians of {REPEATS} made in turns; peak memory is the rise of the resident
set during a fit of its own.
"""
