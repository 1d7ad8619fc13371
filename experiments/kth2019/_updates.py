"""The updates that KTH19 prints, (8), and nothing else: how many functions are left after each.

KTH19 prunes functions whose α "approach infinity" and stops when differences in α and σ² are small;
it states neither limit, nor the first α. Our solvers go on to the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparsebayes.basis import Basis, Bias

Array = np.ndarray

FIRST, LIMIT = 1e-6, 1e9  # the first α, and that of what leaves: ours
MOST = 2000


def left(basis: Basis, X: Array, y: Array) -> Iterator[tuple[int, float]]:
    """After each update the functions left, the bias not counted, and the largest change of log α.

    The change is infinite where functions leave.
    """
    columns = (Bias() + basis).fit(X).columns(X)
    active = np.arange(columns.shape[1])
    alpha, beta = np.full(len(active), FIRST), 10.0 / y.var()
    for _ in range(MOST):
        part = columns[:, active]
        cov = np.linalg.inv(np.diag(alpha) + beta * part.T @ part)
        mean = beta * cov @ (part.T @ y)
        determined = 1.0 - alpha * cov.diagonal()
        new = np.maximum(determined, np.finfo(float).tiny) / mean**2
        beta = (len(y) - determined.sum()) / np.sum((y - part @ mean) ** 2)
        keep = new < LIMIT
        change = np.abs(np.log(new / alpha)).max() if keep.all() else np.inf
        active, alpha = active[keep], new[keep]
        yield int(np.sum(active > 0)), float(change)


def counts(basis: Basis, X: Array, y: Array, after: tuple[int, ...], tol: float) -> list[int]:
    """The functions left after so many updates, and last where no log α moves by `tol`."""
    path = []
    for count, change in left(basis, X, y):
        path.append(count)
        if change < tol:
            break
    return [*(path[min(k, len(path)) - 1] for k in after), path[-1]]
