"""The updates that KTH19 prints, (8), and nothing else: how many functions are left after each.

KTH19 prunes functions whose α "approach infinity" and stops when differences in α and σ² are small;
it states neither limit, nor the first α, but that all its data sets have the same. Our solvers go
on to the optimum. `STOP` is the decade with which these updates have about KTH19's number of
vectors on the regression sets of its tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sparsebayes.basis import Basis, Bias

Array = np.ndarray

FIRST, LIMIT = 1e-6, 1e9  # the first α, and that of what leaves: ours
STOP = 0.1  # the change of log α below which the updates end
STOPS = (1.0, STOP, 0.01)  # that were tried
MOST = 2000


class Update(NamedTuple):
    """The functions left, the bias not counted, the largest change of log α, and σ.

    The change is infinite where functions leave.
    """

    vectors: int
    change: float
    sigma: float


def left(basis: Basis, X: Array, y: Array, noise: float | None = None) -> Iterator[Update]:
    """After each update; `noise` is a fixed σ."""
    columns = (Bias() + basis).fit(X).columns(X)
    active = np.arange(columns.shape[1])
    alpha, beta = np.full(len(active), FIRST), noise**-2 if noise else 10.0 / y.var()
    for _ in range(MOST):
        part = columns[:, active]
        cov = np.linalg.inv(np.diag(alpha) + beta * part.T @ part)
        mean = beta * cov @ (part.T @ y)
        determined = 1.0 - alpha * cov.diagonal()
        new = np.maximum(determined, np.finfo(float).tiny) / mean**2
        if noise is None:
            beta = (len(y) - determined.sum()) / np.sum((y - part @ mean) ** 2)
        keep = new < LIMIT
        change = np.abs(np.log(new / alpha)).max() if keep.all() else np.inf
        active, alpha = active[keep], new[keep]
        yield Update(int(np.sum(active > 0)), float(change), float(beta**-0.5))


def end(basis: Basis, X: Array, y: Array, stop: float = STOP, noise: float | None = None) -> Update:
    """Where no log α moves by `stop`."""
    for update in left(basis, X, y, noise):
        if update.change < stop:
            return update
    return update


def counts(basis: Basis, X: Array, y: Array, after: tuple[int, ...]) -> list[int]:
    """The functions left after so many updates, and last at the end."""
    path = []
    for update in left(basis, X, y):
        path.append(update.vectors)
        if update.change < STOP:
            break
    return [*(path[min(k, len(path)) - 1] for k in after), path[-1]]


def vectors_by_stop(basis: Basis, X: Array, y: Array) -> list[int]:
    """Of all `STOPS`, on one way."""
    found: list[int] = []
    for update in left(basis, X, y):
        while len(found) < len(STOPS) and update.change < STOPS[len(found)]:
            found.append(update.vectors)
        if len(found) == len(STOPS):
            return found
    return found + [update.vectors] * (len(STOPS) - len(found))
