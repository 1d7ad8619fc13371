"""Long sweeps: some of their cases are quick tests, all of them slow ones."""

from collections.abc import Iterable
from typing import Any

import pytest


def thinned(cases: Iterable[Any], every: int = 3) -> list[Any]:
    """Values for `pytest.mark.parametrize`, of which all but each third, or so, are slow."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] * (k % every > 0))
        for k, case in enumerate(cases)
    ]
