"""Series of which some values are missing (NaN): the errors over those of the complete series."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.forecasters import ours
from benchmarks.forecasters.compare import rolled
from benchmarks.forecasters.scores import geometric_mean, ratio
from benchmarks.forecasters.series import Given, Missing
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


def run(chosen: Sequence[Given]) -> Iterator[tuple[str, dict[str, float | None]]]:
    """(name, MASE of the complete series and of each kind of gap); None where the fit fails."""
    for given in chosen:

        def mase(cut: Callable[[Array, int], Array] | None, kind: str, given: Given = given):
            def forecast(y: Array, steps: int):
                known = y if cut is None else cut(y, given.season)
                return ours.outcome(given, known, steps, f", {kind}")

            found = rolled(given, forecast)
            return None if found is None else found.mase

        try:
            complete = mase(None, "complete")
            yield (
                given.name,
                {"": complete} | {kind: mase(cut, kind) for kind, cut in KINDS.items()},
            )
        except Missing as error:
            print(f"{given.name} is left out: {error}", file=sys.stderr, flush=True)


def to_markdown(chosen: Sequence[Given]) -> str:
    """A row for each series, then the geometric means."""
    rows, all_ratios = [], {kind: [] for kind in KINDS}
    failed = dict.fromkeys(KINDS, 0)
    for name, found in run(chosen):
        row = [name, tables.fixed(found[""], 3)]
        for kind in KINDS:
            value = None
            if found[kind] is None:
                failed[kind] += 1
            elif found[""] is not None:
                value = ratio(found[kind], found[""])
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
