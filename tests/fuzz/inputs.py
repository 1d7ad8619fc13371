"""The part "inputs": every route that data take, with everything of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from tests.fuzz.catalogue import ALL, SHAPES, changed, combinations
from tests.fuzz.law import Case
from tests.fuzz.routes import Route, routes


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """First each entry for each parameter, in random order, then several at once without an end."""
    every, single = routes(), _single()
    for index in rng.permutation(len(single)):
        route, parameter, entry = single[index]
        case = case_of(route, {parameter: (entry,)})
        if case is not None:
            yield case
    several = combinations(rng)
    while True:
        route = every[rng.integers(len(every))]
        case = case_of(route, {name: next(several) for name in route.good})
        if case is not None:
            yield case


@cache
def _single() -> list[tuple[Route, str, str]]:
    return [(route, name, entry) for route in routes() for name in route.good for entry in ALL]


def case_of(route: Route, entries: dict[str, tuple[str, ...]]) -> Case | None:
    """A route with entries of the catalogue in place of good data; None where they do not fit."""
    data: dict[str, Any] = {}
    for name, good in route.good.items():
        data[name] = changed(good, entries.get(name, ()))
        if data[name] is NotImplemented:
            return None
    told = "; ".join(f"{name}: {', '.join(of)}" for name, of in entries.items() if of)
    names = tuple(name for name, of in entries.items() if of)
    if any(entry in SHAPES for of in entries.values() for entry in of):
        names = tuple(route.good)  # whichever is said to be longer than the other
    return Case(f"{route.label} | {told}", lambda: route.run(**data), names if route.named else ())
