"""Checks of parameters: each passes, or says what was given and what may be."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from sparsebayes._support.guesses.values import hint


def as_number(value: Any) -> float | None:
    """A finite real number, None for anything else."""
    if not isinstance(value, bool) and isinstance(value, Real) and np.isfinite(float(value)):
        return float(value)
    return None


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to choose."""
    return isinstance(value, str) and value == "auto"


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """A whole number that is at least `least`, or a clear error; True and False are none."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < least:
        remedy = hint(name, value)
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}{remedy}.")
    return int(value)


def positive_number(name: str, value: Any) -> float:
    """A finite number above 0, or a clear error."""
    number = as_number(value)
    if number is None or number <= 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    return number


def check_coverage(coverage: Any, name: str = "coverage") -> float:
    """The probability of an interval, between 0 and 1, or a clear error."""
    share = as_number(coverage)
    if share is None or not 0 < share < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {coverage!r}.")
    return share


def check_limits(max_iter: Any, tol: Any) -> None:
    """`max_iter` and `tol` are what they should be, or a clear error."""
    whole_number("max_iter", max_iter)
    gain = as_number(tol)
    if gain is None or gain <= 0:
        raise ValueError(f"tol must be a positive number (in units of log evidence), got {tol!r}.")


def check_switches(*, verbose: Any = 0, **switches: Any) -> None:
    """`verbose` and what can be True or False are what they should be, or a clear error."""
    for name, value in switches.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name} must be True or False, got {value!r}.")
    if not isinstance(verbose, (Integral, np.bool_)) or int(verbose) < 0:
        raise ValueError(f"verbose must be a whole number >= 0, got {verbose!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...], *, or_none: bool = False) -> None:
    """`value` is one of the words, or None if that may be; else a clear error."""
    if not (isinstance(value, str) and value in choices) and not (or_none and value is None):
        listed = f"{list(choices)}{' or None' if or_none else ''}"
        remedy = hint(name, value, choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}{remedy}.")


def check_range(y: np.ndarray, name: str = "y") -> None:
    """The squares of the targets are numbers, or a clear error."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest > 0 and not 1e-60 < largest < 1e60:
        raise ValueError(
            f"The largest {'target' if name == 'y' else f'value of {name}'} is {largest:.3g}, and "
            f"its square is out of range; rescale {name} to between 1e-60 and 1e60."
        )
