"""Bases by name."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np

from sparsebayes._support.guesses.values import hint
from sparsebayes.basis.base import Basis
from sparsebayes.basis.fixed import Bias, Linear, Polynomial, Precomputed
from sparsebayes.basis.kernels import RBF, KernelFunction, Laplacian
from sparsebayes.basis.splines import LinearSpline, ThinPlateSpline

BasisName = Literal[
    "rbf",
    "linear_spline",
    "thin_plate",
    "polynomial",
    "linear",
    "laplacian",
    "precomputed",
    "bias",
]
BasisLike = BasisName | Basis | Callable[[np.ndarray, np.ndarray], np.ndarray]
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
    """Make a basis of a name, a basis object or a function of two arguments.

    Estimators do this with their argument `basis`.

    Parameters
    ----------
    basis : str, Basis or callable
        A name such as "rbf"; a basis, which is given back; or ``k(X, Z)``.

    Returns
    -------
    Basis
        Not fitted, unless it was.

    See Also
    --------
    RBF : What "rbf" stands for.
    KernelFunction : What a function of two arguments becomes.

    Examples
    --------
    >>> from sparsebayes.basis import as_basis
    >>> as_basis("rbf")
    RBF()
    >>> as_basis("rbf") + "linear"
    RBF() + Linear()
    """
    if isinstance(basis, Basis):
        return basis
    if isinstance(basis, str):
        if basis in NAMES:
            return NAMES[basis]()
        remedy = hint("basis", basis)
        raise ValueError(f"basis must be one of {sorted(NAMES)}, got {basis!r}{remedy}.")
    if callable(basis) and not isinstance(basis, type):
        _check_noiseless(basis)
        return KernelFunction(basis)
    remedy = hint("basis", basis)
    if isinstance(basis, (list, tuple)):
        remedy = "; several are joined by +, as RBF() + Linear()"
    elif isinstance(basis, Real):
        remedy = "; a length scale belongs to a kernel, as RBF(length_scale=1.0)"
    elif isinstance(basis, np.ndarray):
        remedy = "; where the columns of X are the functions use 'precomputed'"
    given = f"an array of shape {basis.shape}" if isinstance(basis, np.ndarray) else repr(basis)
    raise TypeError(
        f"basis must be a name of {sorted(NAMES)}, a Basis object or a callable k(X, Z), "
        f"got {given}{remedy}."
    )


def _check_noiseless(kernel: Any) -> None:
    """A kernel of scikit-learn has no noise in it, or a clear error."""
    parts = kernel.get_params().values() if hasattr(kernel, "get_params") else ()
    if any(type(part).__name__ == "WhiteKernel" for part in (kernel, *parts)):
        raise ValueError(
            f"basis={kernel} has a WhiteKernel in it, but the noise is no function of the inputs: "
            "leave it out; noise= of the model estimates it, or takes its variance."
        )
