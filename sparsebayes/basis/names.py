"""Bases by name."""

from __future__ import annotations

from typing import Any

from sparsebayes.basis.base import Basis
from sparsebayes.basis.fixed import Bias, Linear, Polynomial, Precomputed
from sparsebayes.basis.kernels import (
    RBF,
    KernelFunction,
    Laplacian,
    LinearSpline,
    ThinPlateSpline,
)

NAMES: dict[str, type[Basis]] = {
    "rbf": RBF,
    "linear_spline": LinearSpline,
    "thin_plate": ThinPlateSpline,
    "polynomial": Polynomial,
    "linear": Linear,
    "laplacian": Laplacian,
    "precomputed": Precomputed,
    "bias": Bias,
}


def as_basis(basis: Any) -> Basis:
    """A `Basis` from a name, a basis object or a callable ``k(X, Z)``."""
    if isinstance(basis, Basis):
        return basis
    if isinstance(basis, str):
        if basis in NAMES:
            return NAMES[basis]()
        raise ValueError(f"basis must be one of {sorted(NAMES)}, got {basis!r}.")
    if callable(basis) and not isinstance(basis, type):
        return KernelFunction(basis)
    raise TypeError(
        f"basis must be a name of {sorted(NAMES)}, a Basis object or a callable k(X, Z), "
        f"got {basis!r}."
    )
