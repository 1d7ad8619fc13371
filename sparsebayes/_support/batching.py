"""How much memory a computation may take, and how rows are divided to stay within it."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn import get_config

_OVERHEAD = 16  # numbers that any row takes besides: inputs, results, indices


def memory_budget() -> int:
    """Bytes that an array of a fit may take, by scikit-learn's configuration."""
    return int(get_config()["working_memory"] * 2**20)


def batches(n_rows: int, numbers: int, most: int | None = None) -> Iterator[slice]:
    """Slices of the rows; each takes the memory budget at so many numbers a row.

    With `most` none has more rows than these.
    """
    size = max(1, memory_budget() // 8 // (numbers + _OVERHEAD))
    size = size if most is None else min(size, most)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
