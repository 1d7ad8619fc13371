"""The parts of the suite: each makes cases without an end, the systematic ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.fuzz.law import Case
from tests.fuzz.laws import laws

PARTS: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {"laws": laws}
