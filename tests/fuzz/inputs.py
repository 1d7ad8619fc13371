"""The part "inputs": every route that data take, with everything of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.fuzz.catalogue import ALL, changed, combinations
from tests.fuzz.law import Case
from tests.fuzz.routes import Route, routes


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """First each entry for each parameter, in random order, then several at once without an end."""
    every = routes()
    systematic = [
        (route, {parameter: (entry,)})
        for route in every
        for parameter in route.good
        for entry in ALL
    ]
    for index in rng.permutation(len(systematic)):
        case = case_of(*systematic[index])
        if case is not None:
            yield case
    several = combinations(rng)
    while True:
        route = every[rng.integers(len(every))]
        case = case_of(route, {name: next(several) for name in route.good})
        if case is not None:
            yield case


def case_of(route: Route, entries: dict[str, tuple[str, ...]]) -> Case | None:
    """A route with entries of the catalogue in place of good data; None where they do not fit."""
    data: dict[str, Any] = {}
    for name, good in route.good.items():
        data[name] = changed(good, entries.get(name, ()))
        if data[name] is NotImplemented:
            return None
    told = "; ".join(f"{name}: {', '.join(of)}" for name, of in entries.items() if of)
    names = tuple(name for name, of in entries.items() if of) if route.named else ()
    return Case(f"{route.label} | {told}", lambda: route.run(**data), names)
