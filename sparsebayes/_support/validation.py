"""Checks of parameters: each passes, or says what was given and what may be."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np

from sparsebayes._support.guesses.values import hint

LARGEST = 1e60  # of what is squared and multiplied: still numbers
_MOST = 2**63 - 1  # of what is counted: no array is longer


def as_number(value: Any) -> float | None:
    """A finite real number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return None
    return number if np.isfinite(number) else None


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to choose."""
    return isinstance(value, str) and value == "auto"


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """A whole number that is at least `least`, or a clear error; True and False are none."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= _MOST:
        most = " and below 2**63" if whole and int(value) > _MOST else ""
        remedy = hint(name, value)
        raise ValueError(f"{name} must be a whole number >= {least}{most}, got {value!r}{remedy}.")
    return int(value)


def positive_number(name: str, value: Any) -> float:
    """A finite number above 0, or a clear error."""
    number = as_number(value)
    if number is None or number <= 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}.")
    return number


def finite_number(name: str, value: Any, least: float = -np.inf, most: float = np.inf) -> float:
    """A finite number within bounds, or a clear error."""
    number = as_number(value)
    if number is None:
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    if not least <= number <= most:
        bounds = [f">= {least:g}"] * (least > -np.inf) + [f"<= {most:g}"] * (most < np.inf)
        raise ValueError(f"{name} must be a number {' and '.join(bounds)}, got {value!r}.")
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
    if gain is None or not 0 < gain < LARGEST:
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


# What functions are given: names, paths, seeds, jobs.


def as_names(name: str, given: Any) -> list[str]:
    """Texts in a row, or a single one; or a clear error."""
    if isinstance(given, str):
        return [given]
    listed = isinstance(given, Iterable) and not isinstance(given, bytes)
    if not listed or (isinstance(given, np.ndarray) and given.ndim != 1):
        raise TypeError(f"{name} must be a list of texts, got {given!r}.")
    return [str(one) for one in given]


def check_path(path: Any) -> None:
    """A path is a text or an object that stands for one, or a clear error."""
    if not isinstance(path, (str, PathLike)) or not str(path):
        raise TypeError(f"path must be the name of a file, got {path!r}.")


def as_random_state(random_state: Any) -> np.random.RandomState:
    """A source of random numbers as scikit-learn has it, or a clear error."""
    if random_state is None or random_state is np.random:
        return np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return random_state
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not whole or not 0 <= random_state < 2**32:
        raise ValueError(
            "random_state must be None, a whole number from 0 to 2**32 - 1, or a "
            f"numpy.random.RandomState, got {random_state!r}."
        )
    return np.random.RandomState(int(random_state))


def as_generator(random_state: Any) -> np.random.Generator:
    """A source of random numbers as NumPy has it, or a clear error."""
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    sources = (np.random.Generator, np.random.SeedSequence, np.random.BitGenerator)
    if random_state is None or isinstance(random_state, sources) or (whole and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ValueError(
        "random_state must be None, a whole number >= 0 or a numpy.random.Generator, "
        f"got {random_state!r}."
    )


def as_n_jobs(n_jobs: Any, n_tasks: int) -> int | None:
    """How many jobs joblib is told to run for some tasks, or a clear error."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            "n_jobs must be None, a whole number of jobs, or -1 for all processors, "
            f"got {n_jobs!r}."
        )
    return None if n_jobs is None else min(int(n_jobs), max(n_tasks, 1))
