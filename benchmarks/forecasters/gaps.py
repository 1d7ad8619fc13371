"""Series of which some values are missing (NaN): the errors over those of the complete series."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.forecasters import ours
from benchmarks.forecasters.compare import rolled, there
from benchmarks.forecasters.scores import geometric_mean, ratio
from benchmarks.forecasters.series import Given
from benchmarks.forecasters.stored import Outcome
from benchmarks.tools import tables

Array = np.ndarray

SHARE = 0.1  # of the values, at random
SHORTEST = 4  # values in a gap, where the season is shorter


def scattered(y: Array, season: int) -> Array:
    """Without a tenth of the values, at random."""
    rng = np.random.default_rng(len(y))
    out = y.copy()
    out[rng.choice(len(y), max(1, round(SHARE * len(y))), replace=False)] = np.nan
    return out


def middle(y: Array, season: int) -> Array:
    """Without a season in the middle."""
    run = max(season, SHORTEST)
    out, first = y.copy(), (len(y) - run) // 2
    out[first : first + run] = np.nan
    return out


def late(y: Array, season: int) -> Array:
    """Without a season that ends a twentieth of the series, at least two values, before its end."""
    run = max(season, SHORTEST)
    out, end = y.copy(), len(y) - max(2, len(y) // 20)
    out[end - run : end] = np.nan
    return out


KINDS: dict[str, Callable[[Array, int], Array]] = {
    "a tenth": scattered,
    "a season, middle": middle,
    "a season, late": late,
}


def mase(given: Given, kind: str = "") -> float | None:
    """The error with a kind of gap, or of the complete series; None where the fit fails."""

    def forecast(y: Array, steps: int) -> Outcome | None:
        known = KINDS[kind](y, given.season) if kind else y
        return ours.outcome(given, known, steps, f", {kind}" if kind else "")

    found = rolled(given, forecast)
    return None if found is None else found.mase


def run(chosen: Sequence[Given]) -> Iterator[tuple[str, dict[str, float | None]]]:
    """(name, MASE of the complete series and of each kind of gap)."""
    for given in chosen:
        if there(given):
            yield given.name, {kind: mase(given, kind) for kind in ("", *KINDS)}
            print(f"measured: {given.name}", file=sys.stderr, flush=True)


def to_markdown(chosen: Sequence[Given]) -> str:
    """A row for each series, then the geometric means."""
    rows: list[list[str]] = []
    all_ratios: dict[str, list[float]] = {kind: [] for kind in KINDS}
    failed = dict.fromkeys(KINDS, 0)
    for name, found in run(chosen):
        complete = found[""]
        row = [name, tables.fixed(complete, 3)]
        for kind in KINDS:
            with_gaps, value = found[kind], None
            failed[kind] += with_gaps is None
            if with_gaps is not None and complete is not None:
                value = ratio(with_gaps, complete)
                all_ratios[kind].append(value)
            row.append(tables.fixed(value, 3))
        rows.append(row)
    means = [geometric_mean(all_ratios[kind]) for kind in KINDS]
    rows.append(["geometric mean", "", *(tables.fixed(value, 3) for value in means)])
    rows.append(
        ["largest", "", *(tables.fixed(max(all_ratios[k], default=None), 3) for k in KINDS)]
    )
    rows.append(["failed", "", *(str(failed[kind]) for kind in KINDS)])
    header = ("", "MASE, complete", *(f"{kind}: / complete" for kind in KINDS))
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = """\
MASE of `Forecaster()` fitted to what is left of the known values, over that with all of them; both
in units of the naive error of all known values. A gap is a season long, at least four values.
"""
