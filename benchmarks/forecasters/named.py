"""Cases of which one asks by name: the airline's last years, and four series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.forecasters import compare, ours
from benchmarks.forecasters.scores import inside, percent_error, ratio
from benchmarks.forecasters.series import SERIES, Given
from benchmarks.forecasters.stored import Outcome, Store
from benchmarks.peers.forecasters import NAMES
from benchmarks.tools import tables

AIRLINE = "AirPassengers"
HELD_OUT = (36, 24)  # months
BAND = 0.9
COMPARED = ("uspop", "wineind", "USAccDeaths", "cpi")


def airline_rows() -> Iterator[tuple[str, ...]]:
    """MAPE and coverage of each model, for each number of months held out."""
    given = SERIES[AIRLINE]
    y, store = given.values(), Store(given)
    found: dict[str, list[str]] = {name: [] for name in (ours.NAME, *NAMES)}
    for months in HELD_OUT:
        known, truth = y[:-months], y[-months:]
        outcomes: dict[str, Outcome | None] = {ours.NAME: ours.outcome(given, known, months)}
        outcomes |= {name: store.outcome(name, known, months) for name in NAMES}
        for name, one in outcomes.items():
            error = None if one is None else percent_error(truth, one.mean)
            share = None if one is None else 100 * np.mean(inside(truth, one.quantiles, BAND))
            found[name] += [tables.fixed(error, 2), tables.fixed(share, 0)]
    yield from ((name, *row) for name, row in found.items())


def store_airline() -> None:
    """Make the forecasts of the others."""
    given = SERIES[AIRLINE]
    y, store = given.values(), Store(given)
    for months in HELD_OUT:
        for name in NAMES:
            store.outcome(name, y[:-months], months)


def airline() -> str:
    """The table of the airline."""
    header = [AIRLINE]
    for months in HELD_OUT:
        header += [f"{months} months: MAPE, %", f"{100 * BAND:.0f} % band covers, %"]
    return tables.table(header, airline_rows())


def against_best(results: compare.Results) -> str:
    """Our CRPS over the best of three, of the series that are asked for."""
    rows = []
    for name in COMPARED:
        models = results.get(name, {})
        value = compare.best(models, "crps")
        if value is None or ours.NAME not in models:
            continue
        own = models[ours.NAME].crps
        rows.append((name, *(tables.fixed(one, 3) for one in (own, value, ratio(own, value)))))
    return tables.table(("", "CRPS", compare.BEST_NAME, "ours / best"), rows)


def to_markdown(chosen: Sequence[Given], results: compare.Results | None = None) -> str:
    """Both tables, of the chosen series; scores that are known are not measured again."""
    names = [given.name for given in chosen]
    wanted = [SERIES[name] for name in COMPARED if name in names]
    found = dict(results) if results is not None else dict(compare.run(wanted))
    parts = [airline(), ""] if AIRLINE in names else []
    return "\n".join([*parts, against_best(found), ""])
