"""What is asked of a basis whose rows are read in chunks."""

from __future__ import annotations

from typing import Any

from sparsebayes.basis import Basis, as_basis
from sparsebayes.basis.centres import is_number
from sparsebayes.rows.dask_rows import DaskRows
from sparsebayes.rows.sample import SAMPLE
from sparsebayes.rows.source import Rows


def kernels_of(basis: Basis) -> list[Any]:
    """The parts of a basis, fitted or not, that have centres."""
    parts, found = [basis], []
    while parts:
        part = parts.pop()
        parts += [getattr(part, side) for side in ("left", "right") if hasattr(part, side)]
        if hasattr(part, "centres"):
            found.append(part)
    return found


def sample_size(basis: Any) -> int:
    """How many rows are looked at by themselves: more where more centres are drawn from them."""
    numbers = [one.centres for one in kernels_of(as_basis(basis))]
    drawn = [int(one) for one in numbers if one is not None and is_number(one)]
    return max([SAMPLE, *(2 * number for number in drawn)])


def refuse_all_rows(basis: Any, name: str, rows: Rows) -> None:
    """A clear error for a basis that would have a function for each row of a cluster."""
    kernels = kernels_of(as_basis(basis))
    if isinstance(rows, DaskRows) and any(kernel.centres is None for kernel in kernels):
        raise ValueError(
            f"basis={basis!r} has a function for each row, and the rows of a dask collection "
            f"are not fetched; say how many functions or which, as in {name}(RBF(centres=1000)) or "
            "RBF(centres=points)."
        )
