"""Products among functions, row by row, for as many functions as there is memory for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray


class GramRows:
    """Rows of ``ΦᵀWΦ`` of functions that were asked for, until there is no more room.

    Attributes
    ----------
    held : ndarray, (at least the rows in use, M)
        The rows, in the order in which they came.
    """

    def __init__(self, n_functions: int, most: int) -> None:
        self.held = np.empty((0, n_functions))
        self._slot = np.full(n_functions, -1)  # where a function's row is
        self._count = 0
        self._most = most

    def slots(self, index: Array, compute: Callable[[Array], Array]) -> Array:
        """Where the rows of these functions are in `held`; `compute` gives those that lack."""
        slots = self._slot[index]
        if slots.size and np.minimum.reduce(slots) < 0:
            self._add(index, compute)
            slots = self._slot[index]
        return slots

    def _add(self, index: Array, compute: Callable[[Array], Array]) -> None:
        new = index[self._slot[index] < 0]
        if self._count + new.size > self._most:  # forget what is not asked for now
            kept = index[self._slot[index] >= 0]
            rows = self.held[self._slot[kept]]
            self._slot[:] = -1
            self._slot[kept] = np.arange(kept.size)
            self.held[: kept.size] = rows
            self._count = kept.size
        end = self._count + new.size
        if end > len(self.held):
            capacity = max(end, 64, min(2 * len(self.held), self._most))
            grown = np.empty((capacity, self.held.shape[1]))
            grown[: self._count] = self.held[: self._count]
            self.held = grown
        self.held[self._count : end] = compute(new)
        self._slot[new] = np.arange(self._count, end)
        self._count = end

    def among(self, index: Array) -> tuple[Array, Array]:
        """Which of these functions have a row, and their products with all of these."""
        slots = self._slot[index]
        known = np.flatnonzero(slots >= 0)
        return known, self.held[slots[known][:, None], index]

    def begin(self, known: Array, rows: Array) -> None:
        """Start with rows of these functions."""
        self.held, self._count = rows, known.size
        self._slot[known] = np.arange(known.size)
