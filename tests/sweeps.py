"""Long sweeps: some of their cases are quick tests, all of them slow ones."""

from collections.abc import Iterable
from math import gcd
from typing import Any

import pytest


def thinned(cases: Iterable[Any], every: int = 3) -> list[Any]:
    """Values for `pytest.mark.parametrize`, of which all but each third, or so, are slow."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] * (k % every > 0))
        for k, case in enumerate(cases)
    ]


def covering(first: Iterable[Any], second: dict[str, Any]) -> list[Any]:
    """Pairs, of which all but those that have each value once, or so, are slow."""
    return [
        pytest.param(
            one,
            other,
            marks=[pytest.mark.slow] * ((i + j) % len(second) > 0),
            id=f"{one}-{name}",
        )
        for i, one in enumerate(first)
        for j, (name, other) in enumerate(second.items())
    ]


def some(size: int, count: int) -> set[int]:
    """So many of the first `size` numbers, the first among them, in step with no product of few."""
    step = max(size // count, 1)
    while gcd(step, size) > 1:
        step += 1
    return {k * step % size for k in range(min(count, size))}
