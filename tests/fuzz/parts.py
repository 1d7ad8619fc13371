"""The parts of the suite: each makes cases without an end, the systematic ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.fuzz import functions, inputs, parameters
from tests.fuzz.fits import laws
from tests.fuzz.law import Case

PARTS: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "inputs": inputs.cases,
    "parameters": parameters.cases,
    "functions": functions.cases,
    "laws": laws.cases,
}
