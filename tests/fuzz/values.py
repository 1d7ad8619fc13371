"""Values that an argument may be given by mistake; `shown` is what an error may call one."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression

from sparsebayes import RVR
from sparsebayes.basis import RBF


class Hollow:
    """An object that has nothing but a name, like the mock of a test."""

    def __repr__(self) -> str:
        return "<Hollow>"


def _fitted() -> Any:
    return LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])


BAD: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "-1": lambda: -1,
    "0": lambda: 0,
    "2": lambda: 2,
    "0.5": lambda: 0.5,
    "1e300": lambda: 1e300,
    "1e-300": lambda: 1e-300,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "10**30": lambda: 10**30,
    "10**400": lambda: 10**400,
    "1j": lambda: 1j,
    "''": lambda: "",
    "'nonsense'": lambda: "nonsense",
    "'3'": lambda: "3",
    "b'x'": lambda: b"x",
    "[]": lambda: [],
    "[nan]": lambda: [float("nan")],
    "['a', 1]": lambda: ["a", 1],
    "{}": lambda: {},
    "()": lambda: (),
    "object()": object,
    "Hollow()": Hollow,
    "int": lambda: int,
    "RVR": lambda: RVR,
    "RBF": lambda: RBF,
    "lambda": lambda: lambda *given, **named: None,
    "RBF()": RBF,
    "fitted": _fitted,
    "float32": lambda: np.float32(0.5),
    "int64": lambda: np.int64(3),
    "0-d array": lambda: np.array(0.5),
    "array (2, 3)": lambda: np.arange(6.0).reshape(2, 3),
    "array of nan": lambda: np.full(3, np.nan),
    "array of objects": lambda: np.array([object(), None]),
    "date": lambda: datetime.datetime(2026, 1, 1),
    "datetime64": lambda: np.datetime64("2026-01-01"),
}
"""What makes each value; a new one for each case."""


# Words of scikit-learn for a value.
DESCRIBED = {
    "None": ("NaN", "missing"),
    "nan": ("NaN",),
    "inf": ("infinity",),
    "-inf": ("infinity", "Negative"),
    "-1": ("Negative",),
    "0": ("non-zero",),
    "()": ("[]",),
}


def shown(value: Any) -> tuple[str, ...]:
    """What an error may show of a value: itself, its type, its length or shape."""
    parts = [repr(value)[:50], type(value).__name__, *DESCRIBED.get(repr(value), ())]
    if str(value):
        parts.append(str(value)[:50])
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 1e300):
        parts += [f"{value:g}", f"{value:.3g}"]
    if isinstance(value, type):
        parts.append(value.__name__)
    if isinstance(value, list | tuple | dict | str | bytes):
        parts += [str(len(value)), "empty"]
    if isinstance(value, str):
        parts.append("1 name")
    if np.isscalar(value):
        parts += ["()", "scalar"]
    if isinstance(value, list | np.ndarray):
        array = np.asarray(value, dtype=object)
        parts += [str(array.shape), *map(str, array.shape), "NaN", "nan"]
        parts += [word for one in array.flat for word in (type(one).__name__, str(one))]
    return tuple(parts)
