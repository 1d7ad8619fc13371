"""Errors, bands and time on all series, beside the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.forecasters import ours, protocol
from benchmarks.forecasters.scores import (
    Scores,
    geometric_mean,
    naive_error,
    ratio,
    scored,
)
from benchmarks.forecasters.series import SERIES, Given, Missing, half_of
from benchmarks.forecasters.stored import Outcome, Store
from benchmarks.peers.forecasters import BEST, NAMES
from benchmarks.tools import tables

Array = np.ndarray
Results = Mapping[str, Mapping[str, Scores]]  # by series and model

MODELS = (ours.NAME, *NAMES)
BEST_NAME = "best of three"


def rolled(given: Given, forecast: Callable[[Array, int], Outcome | None]) -> Scores | None:
    """Scores of a model over the origins; None where it fails at one of them."""
    y = given.values()
    steps = protocol.horizon(given, len(y))
    found = []
    for origin in protocol.origins(len(y), steps, given.season):
        known, truth = y[:origin], y[origin : origin + steps]
        outcome = forecast(known, steps)
        if outcome is None:
            return None
        found.append((outcome, truth, naive_error(known, given.season)))
    return scored(found)


def there(given: Given) -> bool:
    """Whether the series can be had; a word if not."""
    try:
        given.values()
    except Missing as error:
        print(f"{given.name} is left out: {error}", file=sys.stderr, flush=True)
        return False
    return True


def run(chosen: Sequence[Given], own: bool = True) -> Iterator[tuple[str, dict[str, Scores]]]:
    """(name, scores by model) of each series; those that cannot be had are named.

    Parameters
    ----------
    chosen : sequence of Given
    own : bool
        Whether to run ours too.
    """
    for given in chosen:
        if not there(given):
            continue
        found: dict[str, Scores | None] = {}
        if own:
            found[ours.NAME] = rolled(given, partial(ours.outcome, given))
        store = Store(given)
        for name in NAMES:
            found[name] = rolled(given, partial(store.outcome, name))
        print(f"measured: {given.name}", file=sys.stderr, flush=True)
        yield given.name, {name: one for name, one in found.items() if one is not None}


def best(models: Mapping[str, Scores], score: str) -> float | None:
    """The smallest score of AutoARIMA, AutoETS and Theta."""
    found = [getattr(models[name], score) for name in BEST if name in models]
    return min(found) if found else None


def ratios(results: Results, other: str, score: str, seasonal: bool = False) -> list[float]:
    """Scores of another over ours, of each series that both have."""
    found = []
    for name, models in results.items():
        if ours.NAME not in models or (seasonal and SERIES[name].season == 1):
            continue
        if other == BEST_NAME:
            value = best(models, score)
        else:
            value = getattr(models[other], score) if other in models else None
        if value is not None:
            found.append(ratio(value, getattr(models[ours.NAME], score)))
    return found


def summary(results: Results) -> str:
    """Geometric means of the others' scores over ours: above 1 ours is better."""
    rows = []
    for other in (*NAMES, BEST_NAME):
        row = [other]
        for seasonal in (False, True):
            found = {s: ratios(results, other, s, seasonal) for s in ("mase", "crps")}
            row += [tables.fixed(geometric_mean(some), 3) for some in found.values()]
            row.append(f"{sum(one > 1 for one in found['crps'])} of {len(found['crps'])}")
        rows.append(row)
    header = ("others / ours", "MASE", "CRPS", "ours better")
    return tables.table((*header, *(f"{word}, seasonal" for word in header[1:])), rows)


def bands(results: Results) -> str:
    """What the 95 % intervals of each model cover."""
    rows = []
    for model in MODELS:
        found = {name: models[model] for name, models in results.items() if model in models}
        if not found:
            continue
        lowest = min(found, key=lambda name: found[name].coverage)
        rows.append(
            (
                model,
                tables.fixed(100 * float(np.mean([one.coverage for one in found.values()])), 1),
                tables.fixed(
                    100 * float(np.mean([one.late_coverage for one in found.values()])), 1
                ),
                f"{100 * found[lowest].coverage:.0f} ({lowest})",
                tables.number(float(np.mean([one.seconds for one in found.values()])), 2),
            )
        )
    header = ("95 % intervals", "cover, %", "last third", "lowest", "seconds, mean")
    return tables.table(header, rows)


def each(results: Results) -> str:
    """A row for each series."""
    rows = []
    for name, models in results.items():
        row = [name, half_of(name), str(SERIES[name].season)]
        for score in ("mase", "crps"):
            for model in MODELS:
                value = getattr(models[model], score) if model in models else None
                row.append(tables.fixed(value, 3))
        own = models.get(ours.NAME)
        row += [
            tables.fixed(None if own is None else 100 * own.coverage, 0),
            tables.fixed(None if own is None else 100 * own.late_coverage, 0),
            tables.number(None if own is None else own.seconds, 2),
        ]
        rows.append(row)
    brief = ("ours", "ARIMA", "ETS", "Theta", "naive")
    header = (
        "",
        "half",
        "season",
        *(f"MASE {word}" for word in brief),
        *(f"CRPS {word}" for word in brief),
        "cover, %",
        "last third",
        "seconds",
    )
    return tables.table(header, rows)


def failures(results: Results) -> str:
    """Which models failed where."""
    found = [
        f"{model} on {name}"
        for name, models in results.items()
        for model in MODELS
        if model not in models
    ]
    return f"Without a forecast: {', '.join(found)}.\n" if found else ""


def to_markdown(results: Results) -> str:
    """All tables."""
    parts = [NOTES, summary(results), "", bands(results), "", each(results), "", failures(results)]
    return "\n".join(parts)


NOTES = """\
From three origins each, fitted afresh to all values before. MASE and CRPS are in units of the
seasonal naive error of the known values; CRPS is twice the pinball loss, averaged over 21 levels
from 0.025 to 0.975. The first table has geometric means over series of the others' scores over
ours, scores below 0.01 counted as 0.01: above 1 ours is better; and on how many series our CRPS is
lower. The best of three is AutoARIMA's, AutoETS's or Theta's, whichever is smallest on the series.
Coverages are means over series. Seconds are those of one fit and forecast.
"""
