"""What people hand to a model instead of a plain array of floats.

Each entry makes something odd of a good array: of one dimension (targets, weights, a series) or two
(inputs). An entry that makes no sense for an array gives `NotImplemented`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

try:
    import polars
except ImportError:  # an optional container
    polars = None

Array = np.ndarray
Change = Callable[[Array], Any]


def _with_cell(value: Any, dtype: Any = None) -> Change:
    """One value in place of another."""

    def change(good: Array) -> Any:
        array = np.array(good, dtype=dtype)
        if not array.size:
            return NotImplemented
        array.flat[min(2, array.size - 1)] = value
        return array

    return change


def _each(kind: Callable[[float], Any]) -> Change:
    """Every value as an object of another kind."""

    def change(good: Array) -> Any:
        array = np.empty(np.shape(good), dtype=object)
        for place, value in np.ndenumerate(good):
            array[place] = kind(float(value))
        return array

    return change


def _first(count: int) -> Change:
    return lambda good: good[:count] if np.ndim(good) else NotImplemented


def _two(change: Change) -> Change:
    """Only of inputs."""
    return lambda good: change(good) if np.ndim(good) == 2 else NotImplemented


def _one(change: Change) -> Change:
    """Only of targets, weights and series."""
    return lambda good: change(good) if np.ndim(good) == 1 else NotImplemented


def _collinear(good: Array) -> Array:
    return good[:, :1] * np.arange(1.0, good.shape[1] + 1)


def _unlike_scales(good: Array) -> Array:
    return good * np.logspace(-9, 9, good.shape[1])


def _duplicates(good: Array) -> Array:
    return good[np.arange(len(good)) // 4 * 4 % max(len(good), 1)]


def _outlier(good: Array) -> Any:
    return _with_cell(1e12)(good)


def _times(factor: float) -> Change:
    return lambda good: good * factor


FACTORS = (1e300, 1e200, 1e160, 1e100, 1e60, 1e30, 1e-30, 1e-60, 1e-100, 1e-160, 1e-300, -1.0)

VALUES: dict[str, Change] = {
    "NaN": _with_cell(np.nan),
    "all NaN": lambda good: np.full_like(good, np.nan),
    "inf": _with_cell(np.inf),
    "-inf": _with_cell(-np.inf),
    **{f"times {factor:g}": _times(factor) for factor in FACTORS},
    "denormal": lambda good: good * 1e-320,
    "one 1e300": _with_cell(1e300),
    "one 1e-300": _with_cell(1e-300),
    "one 1e12": _outlier,
    "zeros": lambda good: np.zeros_like(good),
    "ones": lambda good: np.ones_like(good),
    "a constant": lambda good: np.full_like(good, 0.1),
    "a large constant": lambda good: np.full_like(good, 1e15),
    "duplicates": _duplicates,
    "plus 1e8": lambda good: good + 1e8,
    "plus 1e15": lambda good: good + 1e15,
    "tiny variation": lambda good: 1.0 + 1e-15 * np.round(good),
    "small variation": lambda good: 1.0 + 1e-9 * good,
    "collinear": _two(_collinear),
    "unlike scales": _two(_unlike_scales),
    "a zero column": _two(lambda good: good * np.r_[0.0, np.ones(good.shape[1] - 1)]),
    "two values": lambda good: np.sign(good),
    "rounded": np.round,
    "sorted": lambda good: np.sort(good, axis=0),
    "negative": lambda good: -np.abs(good),
}
"""Values that are extreme, degenerate or missing."""


def _structured(good: Array) -> Any:
    return np.array([(float(v),) for v in np.ravel(good)], dtype=[("a", float)])


TYPES: dict[str, Change] = {
    **{
        str(dtype): lambda good, dtype=dtype: np.asarray(good).astype(dtype)
        for dtype in ("float16", "float32", "longdouble", "int8", "int64", "bool", ">f8", ">i4")
    },
    "uint8": lambda good: np.abs(good).astype("uint8"),
    "complex": lambda good: np.asarray(good) + 1j,
    "complex without imaginary part": lambda good: np.asarray(good, dtype=complex),
    "object": lambda good: np.asarray(good, dtype=object),
    "object with None": _with_cell(None, object),
    "object with NaN": _with_cell(np.nan, object),
    "object with pd.NA": _with_cell(pd.NA, object),
    "object with a word": _with_cell("a lot", object),
    "object with a list": _with_cell([1.0], object),
    "object with a complex number": _with_cell(1j, object),
    "object with huge int": _with_cell(10**400, object),
    "numbers in strings": lambda good: np.asarray(good).astype(str),
    "words": lambda good: np.full(np.shape(good), "word"),
    "bytes": lambda good: np.asarray(good).astype("S"),
    "empty strings": lambda good: np.full(np.shape(good), ""),
    "datetime64": lambda good: np.asarray(good * 10).astype("int64").astype("datetime64[D]"),
    "timedelta64": lambda good: np.asarray(good * 10).astype("int64").astype("timedelta64[s]"),
    "NaT": lambda good: np.full(np.shape(good), np.datetime64("NaT")),
    "Decimal": _each(lambda value: Decimal(repr(value))),
    "Decimal with NaN": _with_cell(Decimal("NaN"), object),
    "Fraction": _each(Fraction),
    "structured": _structured,
}
"""Other types of number, and what is no number."""


def _ragged(good: Array) -> Any:
    rows = np.asarray(good).tolist()
    return [*rows[:-1], [1.0, 2.0, 3.0]] if rows else NotImplemented


SHAPES: dict[str, Change] = {
    "a scalar": lambda good: np.array(1.0),
    "a number": lambda good: 1.0,
    "flat": _two(np.ravel),
    "one row": _one(lambda good: good[None]),
    "a column": _one(lambda good: good[:, None]),
    "two columns": _one(lambda good: np.stack([good, -good], axis=1)),
    "three dimensions": lambda good: np.asarray(good)[..., None, None],
    "no columns": _two(lambda good: good[:, :0]),
    "one column": _two(lambda good: good[:, :1]),
    "more columns": _two(lambda good: np.hstack([good, good])),
    "no rows": _first(0),
    "1 row": _first(1),
    "2 rows": _first(2),
    "3 rows": _first(3),
    "a row less": lambda good: good[:-1],
    "ragged": _ragged,
}
"""Other numbers of rows, columns and dimensions."""


def _frame(good: Array, **options: Any) -> Any:
    if np.ndim(good) == 2:
        return pd.DataFrame(good, columns=[f"x{i}" for i in range(np.shape(good)[1])], **options)
    return pd.Series(good, name="y", **options)


def _nullable(good: Array) -> Any:
    frame = _frame(good).astype("Float64")
    if frame.size:
        frame.iloc[0] = pd.NA
    return frame


def _categorical(good: Array) -> Any:
    return _frame(good).astype(str).astype("category")


def _mixed(good: Array) -> Any:
    frame = _frame(good)
    frame["x0"] = [f"level {k % 3}" for k in range(len(frame))]
    return frame


def _dates(good: Array) -> Any:
    frame = _frame(good)
    frame["x0"] = pd.date_range("2020-01-01", periods=len(frame))
    return frame


def _index(make: Callable[[int], Any]) -> Change:
    return lambda good: _frame(good, index=make(len(good)))


def _columns(*names: Any) -> Change:
    def change(good: Array) -> Any:
        return pd.DataFrame(good, columns=names) if good.shape[1] == len(names) else NotImplemented

    return _two(change)


def _masked(good: Array) -> Any:
    mask = np.zeros(np.shape(good), dtype=bool)
    mask.flat[:1] = True
    return np.ma.MaskedArray(good, mask)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sparsebayes-fuzz-")


def _memory_map(good: Array) -> Any:
    if not np.size(good):
        return NotImplemented
    with tempfile.NamedTemporaryFile(dir=_folder().name) as file:
        mapped = np.memmap(file.name, dtype=float, mode="w+", shape=np.shape(good))
        mapped[...] = good
        return mapped


def _read_only(good: Array) -> Array:
    array = np.array(good)
    array.flags.writeable = False
    return array


def _strided(good: Array) -> Array:
    return np.repeat(good, 2, axis=0)[::2]


class _Like:
    """An object that becomes an array when it is asked to."""

    def __init__(self, good: Array) -> None:
        self._good = good

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._good, dtype=dtype)


CONTAINERS: dict[str, Change] = {
    "list": lambda good: np.asarray(good).tolist(),
    "tuple": lambda good: tuple(map(tuple, good)) if np.ndim(good) == 2 else tuple(good),
    "list of arrays": _two(list),
    "pandas": _frame,
    "pandas, float32": lambda good: _frame(good).astype("float32"),
    "pandas, nullable": lambda good: _frame(good).astype("Float64"),
    "pandas, nullable with NA": _nullable,
    "pandas, nullable integers": lambda good: _frame(np.round(good)).astype("Int64"),
    "pandas, object": lambda good: _frame(good).astype(object),
    "pandas, categorical": _categorical,
    "pandas, strings": lambda good: _frame(good).astype(str),
    "pandas, mixed": _two(_mixed),
    "pandas, dates in a column": _two(_dates),
    "pandas, a duplicate index": _index(lambda n: [0] * n),
    "pandas, words as index": _index(lambda n: [f"row {i}" for i in range(n)]),
    "pandas, dates as index": _index(lambda n: pd.date_range("2020", periods=n, freq="D")),
    "pandas, index in disorder": _index(lambda n: np.arange(n)[::-1]),
    "pandas, equal columns": _columns("a", "a"),
    "pandas, numbers as columns": _columns(0, 1),
    "pandas, mixed columns": _columns(0, "a"),
    "pandas, columns in two levels": _columns(("a", "b"), ("a", "c")),
    "pandas, one column": _one(lambda good: pd.DataFrame({"y": good})),
    "csr_matrix": _two(scipy.sparse.csr_matrix),
    "csr_array": _two(scipy.sparse.csr_array),
    "coo_array": _two(scipy.sparse.coo_array),
    "masked, nothing hidden": np.ma.MaskedArray,
    "masked": _masked,
    "memory map": _memory_map,
    "read-only": _read_only,
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "reversed": lambda good: good[::-1],
    "np.matrix": _two(lambda good: scipy.sparse.csr_matrix(good).todense()),
    "generator": lambda good: (row for row in good),
    "dict": lambda good: {"a": 1.0},
    "set": lambda good: {1.0, 2.0},
    "None": lambda good: None,
    "a word": lambda good: "word",
    "a path": lambda good: "/no/such/file.csv",
    "bytes object": lambda good: b"0123",
    "range": _one(lambda good: range(len(good))),
    "an object": lambda good: object(),
    "a function": lambda good: len,
    "array-like": _Like,
}
if polars is not None:
    CONTAINERS |= {
        "polars": lambda good: (
            polars.DataFrame({f"x{i}": good[:, i] for i in range(good.shape[1])})
            if np.ndim(good) == 2
            else polars.Series("y", good)
        ),
        "polars with null": lambda good: (
            polars.DataFrame({"x0": [None, *good[1:, 0]], "x1": good[:, -1]})
            if np.ndim(good) == 2 and len(good)
            else NotImplemented
        ),
    }

ALL = {**VALUES, **TYPES, **SHAPES, **CONTAINERS}
"""The whole catalogue."""


def _fails_to_build(change: Change, good: Array) -> Any:
    with np.errstate(all="ignore"):
        return change(good)


def changed(good: Array, names: tuple[str, ...]) -> Any:
    """A good array with some entries of the catalogue applied one after the other.

    `NotImplemented` where that is not possible.
    """
    found: Any = good
    for name in names:
        if not isinstance(found, np.ndarray) or not np.ndim(found):
            return NotImplemented
        try:
            found = _fails_to_build(ALL[name], found)
        except (ValueError, TypeError, OverflowError, IndexError):
            return NotImplemented  # one that the entry before has left nothing for
        if found is NotImplemented:
            return found
    return found


def combinations(rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
    """Entries at random, without an end: a value, a shape, then a type or a container."""
    while True:
        kinds = [VALUES, SHAPES, (TYPES, CONTAINERS)[rng.integers(2)]]
        chosen = [kind for kind in kinds if rng.random() < 0.6]
        yield tuple(list(kind)[rng.integers(len(kind))] for kind in chosen)
