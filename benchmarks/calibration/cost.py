"""What the calibration of the error bars costs: time and memory with it and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.calibration.coverage import ROWS, make_split
from benchmarks.peers.error_bars import OURS, PLAIN, our_regressions
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, peak_memory, repeated, timed

Record = dict[str, Any]

PLANS = {300: ("boston", "kin8nm", "airfoil", "sml"), 1000: ("kin8nm", "power", "sml")}
QUICK = (("yacht", 300),)
REPEATS, WARM_UP = 3, 50
TIME, MEMORY = 1.5, 1.5  # limits of the ratios


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
        predict: dict[str, dict[str, float]] = {}
        rows = np.resize(split.X_test, (ROWS, split.X_test.shape[1]))
        with one_thread():
            for model in models:
                model.fit(make_split(name, WARM_UP, 0))
            for model in models:
                fitted, memory[model.name] = peak_memory(partial(model.fit, split))
                predict[model.name] = {
                    "mean": repeated(fitted.predict, rows)[1],
                    "std": repeated(model.predict, fitted, rows)[1],
                }
            for _ in range(REPEATS):
                for model in models:
                    times[model.name].append(timed(model.fit, split)[1])
        record = {"name": name, "size": size, "shape": list(split.X.shape)}
        middle = {model: median(seconds) for model, seconds in times.items()}
        yield f"{name}/{size}", record | {"fit": middle, "memory": memory, "predict": predict}


def limits(records: dict[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    if records:
        ratios = [_ratio(one["fit"]) for one in records.values()]
        middle = f"{median(ratios):.2f}, largest {max(ratios):.2f}"
        yield "time with calibration / without, median", f"≤ {TIME}", middle, median(ratios) <= TIME
        peaks = [_ratio(one["memory"]) for one in records.values() if all(one["memory"].values())]
        if peaks:
            shown = f"{max(peaks):.2f}"
            yield "peak memory, largest ratio", f"≤ {MEMORY}", shown, max(peaks) <= MEMORY


def _ratio(values: dict[str, Any]) -> float:
    return values[OURS] / values[PLAIN]


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each data set."""
    header = (
        "data", "N × D", f"{OURS}: fit, s", f"{PLAIN}: fit, s", "ratio",
        f"{OURS}: peak memory, MB", f"{PLAIN}: peak memory, MB",
        f"predict {ROWS}, ms", "ratio", "with std, ms", "ratio",
    )  # fmt: skip
    rows = []
    for one in records.values():
        fit, predict = one["fit"], one["predict"]
        cells: list[str] = []
        for kind in ("mean", "std"):
            times = {model: predict[model][kind] for model in (OURS, PLAIN)}
            cells += [tables.number(1e3 * times[OURS], 3), tables.ratio(_ratio(times))]
        rows.append(
            (
                one["name"],
                "{} × {}".format(*one["shape"]),
                tables.seconds(fit[OURS]),
                tables.seconds(fit[PLAIN]),
                tables.ratio(_ratio(fit)),
                *(tables.fixed(one["memory"][model], 1) for model in (OURS, PLAIN)),
                *cells,
            )
        )
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
CPU seconds of a fit, medians of {REPEATS} made in turns; peak memory is the rise of the resident
set during a fit of its own. Predictions are those of {ROWS} rows, means alone and with standard
deviations; the ratios are to {PLAIN}.
"""
