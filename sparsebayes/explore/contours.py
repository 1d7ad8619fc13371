"""Lines on which a function on a grid has given values."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

# The edges of a cell that a line crosses, by which of its corners are above the level. Corners are
# numbered 0 (x, y), 1 (x + 1, y), 2 (x + 1, y + 1), 3 (x, y + 1), edge k goes from corner k to the
# next. Cells with two opposite corners above have two lines.
_CROSSED = {
    1: [(3, 0)], 2: [(0, 1)], 3: [(3, 1)], 4: [(1, 2)], 5: [(3, 0), (1, 2)], 6: [(0, 2)],
    7: [(3, 2)], 8: [(2, 3)], 9: [(2, 0)], 10: [(0, 1), (2, 3)], 11: [(2, 1)], 12: [(1, 3)],
    13: [(1, 0)], 14: [(0, 3)],
}  # fmt: skip
_CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))  # row and column


def contour(x: Array, y: Array, values: Array, level: float) -> Array:
    """Pieces of the lines at a level, each from one edge of a cell to another.

    Parameters
    ----------
    x, y : ndarray, (n,) and (m,)
        The grid.
    values : ndarray, (m, n)
        Of the function: one row for each of `y`.
    level : float

    Returns
    -------
    ndarray, (pieces, 2, 2)
        Begin and end of each, as (x, y).
    """
    above = values > level
    rows, columns = len(y) - 1, len(x) - 1
    kind = np.zeros((rows, columns), dtype=int)
    for k, (i, j) in enumerate(_CORNERS):
        kind |= above[i : i + rows, j : j + columns].astype(int) << k
    pieces = []
    for i, j in np.argwhere((kind > 0) & (kind < 15)).tolist():
        for edges in _CROSSED[int(kind[i, j])]:
            pieces.append([_crossing(x, y, values, level, i, j, edge) for edge in edges])
    return np.array(pieces).reshape(-1, 2, 2)


def _crossing(
    x: Array, y: Array, values: Array, level: float, i: int, j: int, edge: int
) -> tuple[float, float]:
    """Where the function has the value on an edge of cell (i, j), if it is linear there."""
    (a, b), (c, d) = _CORNERS[edge], _CORNERS[(edge + 1) % 4]
    low, high = float(values[i + a, j + b]), float(values[i + c, j + d])
    share = (level - low) / (high - low)
    return (
        float(x[j + b] + share * (x[j + d] - x[j + b])),
        float(y[i + a] + share * (y[i + c] - y[i + a])),
    )
