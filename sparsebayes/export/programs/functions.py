"""Basis functions as steps of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from sparsebayes.basis.base import Basis
from sparsebayes.basis.fixed import Fixed
from sparsebayes.basis.kernels import RBF, Centred, KernelFunction, Laplacian, Scaled
from sparsebayes.basis.splines import LinearSpline, ThinPlateSpline
from sparsebayes.basis.union import Union
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.program import ProgramBuilder, Value

Array = np.ndarray

_KERNELS: dict[type[Scaled], str] = {
    RBF: "rbf",
    Laplacian: "laplacian",
    ThinPlateSpline: "thin_plate",
    LinearSpline: "linear_spline",
}


class NotExportableError(ValueError):
    """The model has a part that cannot be written as a program.

    The message names the part. A model file of `sparsebayes.persistence` may hold it all the same.

    See Also
    --------
    to_c : Raises it.
    to_json : Raises it too.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR
    >>> from sparsebayes.export import NotExportableError, to_json
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> model = RVR(lambda X, Z: np.cos(X - Z.T), noise=0.1).fit(X, X[:, 0])
    >>> try:
    ...     text = to_json(model)
    ... except NotExportableError:
    ...     print("no functions of the user")
    no functions of the user
    """


@dataclass(frozen=True)
class FunctionValues:
    """The functions of a basis in a program, those that are constant apart.

    Attributes
    ----------
    builder : ProgramBuilder
    value : Value or None
        Those that vary; None if none does.
    varying, constant : ndarray of int
        Which of the functions vary, in the order of `value`, and which are 1 everywhere.
    """

    builder: ProgramBuilder
    value: Value | None
    varying: Array
    constant: Array

    def linear(self, name: str, matrix: Array, offset: Array) -> Value:
        """``matrix φ + offset``, (K, S) and (K,)."""
        offset = offset + matrix[:, self.constant].sum(axis=1)
        if self.value is None:
            return self.builder.constant(name, offset)
        matrix = matrix[:, self.varying]
        return self.builder.add(
            name, "matrix", self.value, matrix=matrix, offset=offset if offset.any() else None
        )

    def energy(self, name: str, root: Array) -> Value:
        """``‖rootᵀ φ‖²``, of a root (S, M): a triangle of numbers is enough."""
        if not root.size:
            return self.builder.constant(name, 0.0)
        half = np.column_stack([root[self.varying].T, root[self.constant].sum(axis=0)])
        size = len(self.varying)
        turned = np.zeros((size + 1, size + 1))
        found = np.linalg.qr(half, mode="r")
        turned[: len(found)] = found
        rest = turned[size, size] ** 2
        if self.value is None:
            return self.builder.constant(name, rest)
        offset = turned[:size, size] if self.constant.size else None
        triangle = turned[np.triu_indices(size)]  # row by row, without the last column
        half_value = self.builder.add(
            f"{name}_root", "triangle", self.value, triangle=triangle, offset=offset
        )
        squares = self.builder.add(name, "squares", half_value)
        if not rest:
            return squares
        return self.builder.scaled(f"{name}_sum", squares, 1.0, -rest)


def write_functions(inputs: Inputs, basis: Basis) -> FunctionValues:
    """The functions of a fitted basis."""
    values: list[Value] = []
    varying: list[int] = []
    constant: list[int] = []
    first = 0
    for part in _parts(basis):
        count = part.n_functions_
        numbers = np.arange(first, first + count)
        first += count
        if not count:
            continue
        if isinstance(part, Fixed) and not part.powers().any():
            constant += numbers.tolist()
            continue
        values.append(_write(part, inputs))
        varying += numbers.tolist()
    builder = inputs.builder
    value = builder.join("functions", values) if values else None
    return FunctionValues(
        builder, value, np.array(varying, dtype=np.intp), np.array(constant, dtype=np.intp)
    )


def _parts(basis: Basis) -> Sequence[Basis]:
    if isinstance(basis, Union):
        return [*_parts(basis.left_), *_parts(basis.right_)]
    return [basis]


@singledispatch
def _write(basis: Basis, inputs: Inputs) -> Value:
    raise NotExportableError(
        f"basis_={basis!r} cannot be exported: {type(basis).__name__} is not among the functions "
        "that other languages know."
    )


@_write.register
def _(basis: Fixed, inputs: Inputs) -> Value:
    powers = basis.powers()
    plain = inputs.plain()
    if np.all(powers.sum(axis=1) == 1):
        index = powers.argmax(axis=1)
        every = index.size == plain.size and np.all(index == np.arange(plain.size))
        return plain if every else inputs.builder.add("linear", "pick", plain, index=index)
    return inputs.builder.add("monomials", "monomials", plain, powers=powers)


@_write.register
def _(basis: Scaled, inputs: Inputs) -> Value:
    return write_kernel(inputs, basis, basis.centers_)


@_write.register
def _(basis: KernelFunction, inputs: Inputs) -> Value:
    raise NotExportableError(
        f"basis_={basis!r} cannot be exported, since it calls a Python function; use a kernel of "
        "sparsebayes.basis, such as RBF() or Laplacian()."
    )


def write_kernel(inputs: Inputs, kernel: Centred, points: Array, name: str = "") -> Value:
    """``k(x, points)``."""
    operation = _KERNELS.get(type(kernel))
    if operation is None or not isinstance(kernel, Scaled):
        return _write(kernel, inputs)  # tells
    moving = kernel.stationary
    scale = np.asarray(kernel.length_scale_, dtype=np.float64)
    value, origin = inputs.in_units(scale, points if moving else None)
    centres = (points - (origin if moving else 0.0)) / scale
    return inputs.builder.add(name or operation, operation, value, centres=centres)


def write_peak(inputs: Inputs, kernel: Centred) -> Value:
    """``k(x, x)``."""
    builder = inputs.builder
    if kernel.stationary:
        origin = np.zeros((1, inputs.size))
        return builder.constant("peak", kernel.between(origin, origin)[0, 0])
    if type(kernel) is not LinearSpline:
        return _write(kernel, inputs)  # tells
    value, _ = inputs.in_units(np.asarray(kernel.length_scale_, dtype=np.float64), None)
    square = builder.add("square", "power", value, exponent=2.0)
    rest = builder.scaled("rest", value, 1.0 / 3.0, -3.0)
    factors = builder.scaled("factors", builder.add("cubic", "multiply", square, rest), 1.0, -1.0)
    return builder.add("peak", "product", factors)
