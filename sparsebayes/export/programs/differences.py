"""How far what was exported is from Python."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from sparsebayes.export.programs.program import Program

Array = np.ndarray

# In standard deviations (of probabilities as they are), by which arithmetic may differ; and beside
# that, of the largest value: Python itself has no more digits where large numbers cancel.
TOLERANCES = {"double": 1e-8, "float": 1e-3}
ROUNDING = {"double": 1e-9, "float": 4.0 * float(np.finfo(np.float32).eps)}


def unit_of(right: dict[str, Array]) -> Array:
    """What differences are told in: the standard deviation, of probabilities 1.

    Without standard deviations, the spread of the means, or 1 where they do not vary.
    """
    if "std" in right:
        return np.where(right["std"] > 0, right["std"], 1.0)
    if "mean" in right:
        spread = right["mean"].std(axis=0)
        return np.broadcast_to(np.where(spread > 0, spread, 1.0), right["mean"].shape)
    return np.ones_like(right["probabilities"])


def largest_difference(found: dict[str, Array], right: dict[str, Array]) -> float:
    """The largest of all outputs, in `unit_of`; infinite if something is no number."""
    unit = unit_of(right)
    with np.errstate(all="ignore"):
        parts = [np.abs(values.astype(np.float64) - right[name]) for name, values in found.items()]
        worst = [float(np.max(part / unit, initial=0.0)) for part in parts]
    return float(np.max(worst)) if np.all(np.isfinite(worst)) else float("inf")


def agree(
    found: dict[str, Array], right: dict[str, Array], dtype: str, limit: float | None = None
) -> bool:
    """Whether they differ by no more than arithmetic explains."""
    limit = TOLERANCES[dtype] if limit is None else limit
    with np.errstate(all="ignore"):
        return all(
            bool(np.all(np.abs(values.astype(np.float64) - right[name])
                        <= limit * unit_of(right) + slack(right, dtype)))
            for name, values in found.items()
        )  # fmt: skip


def slack(right: dict[str, Array], dtype: str) -> float:
    """What rounding of the largest value may come to."""
    largest = max(float(np.max(np.abs(values), initial=0.0)) for values in right.values())
    return ROUNDING[dtype] * largest


def tried_inputs(program: Program) -> Array:
    """The examples of a program, and the points half-way between them."""
    examples = program.examples
    middles = [(a + b)[None] / 2 for a, b in combinations(examples, 2)]
    return np.concatenate([examples, *middles]) if len(examples) else examples


def float_error(program: Program, part: Program | None = None) -> float:
    """By how much single precision errs, at most, at inputs like those of the training.

    Parameters
    ----------
    program : Program
        In the units of whose standard deviations it is told.
    part : Program, default=None
        The one that is computed in single precision; None is the same.
    """
    X: Any = tried_inputs(program)
    if not len(X):
        return 0.0
    right = program.run(X)
    with np.errstate(all="ignore"):
        short = (program if part is None else part).run(X.astype(np.float32), np.float32)
    return largest_difference(short, right)
