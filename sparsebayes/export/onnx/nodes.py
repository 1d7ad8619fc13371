"""Each operation of a program as nodes of ONNX. `operations` says what they mean.

A value is a tensor (n, m) with n open. Only nodes are used that onnxruntime has for float and
double; there is no Erf for double.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from sparsebayes.export.onnx.graph import OnnxGraph
from sparsebayes.export.onnx.probabilities import logit_average, normal, softmax_average
from sparsebayes.export.programs.program import INPUT, Program, Value

Array = np.ndarray

# Differences from all centres in all inputs are held at once up to so many numbers a row.
_AT_ONCE = 2048
_REFINEMENTS = 2  # of a triangular solve by the inverse


def write_nodes(graph: OnnxGraph, program: Program, x: str) -> dict[str, str]:
    """The steps of a program as nodes; the name of each output."""
    values = {INPUT: Value(x, program.n_inputs)}
    for step in program.steps:
        graph.name_after(step.name)
        given = [values[name] for name in step.of]
        values[step.name] = Value(NODES[step.operation](graph, *given, **step.constants), step.size)
    return {output: values[name].name for output, name in program.outputs.items()}


def _constant(graph: OnnxGraph, v: Value, values: Array) -> str:
    rows = graph.add("Gather", graph.add("Shape", v.name), graph.whole([0]), axis=0)
    shape = graph.add("Concat", rows, graph.whole([values.size]), axis=0)
    return graph.add("Expand", values[None], shape)


def _scale(
    graph: OnnxGraph, v: Value, shift: Array | None = None, factor: Array | None = None
) -> str:
    """A single factor as a matrix: onnxruntime (1.31) fuses it as a float with products beside."""
    out = v.name if shift is None else graph.add("Sub", v.name, shift)
    if factor is None:
        return out
    return graph.add("MatMul", out, factor[None]) if v.size == 1 else graph.add("Mul", out, factor)


def _pick(graph: OnnxGraph, v: Value, index: Array) -> str:
    return graph.add("Gather", v.name, graph.whole(index), axis=1)


def _join(graph: OnnxGraph, *v: Value) -> str:
    return graph.add("Concat", *(one.name for one in v), axis=1)


def _matrix(graph: OnnxGraph, v: Value, matrix: Array, offset: Array | None = None) -> str:
    out = graph.add("MatMul", v.name, matrix.T)
    return out if offset is None else graph.add("Add", out, offset)


def _triangle(graph: OnnxGraph, v: Value, triangle: Array, offset: Array | None = None) -> str:
    full = np.zeros((v.size, v.size))
    full[np.triu_indices(v.size)] = triangle
    return _matrix(graph, v, full, offset)


def _solve_triangle(graph: OnnxGraph, v: Value, triangle: Array) -> str:
    """By the inverse, and what that leaves over solved for again."""
    lower = np.zeros((v.size, v.size))
    lower[np.tril_indices(v.size)] = triangle
    inverse = solve_triangular(lower, np.eye(v.size), lower=True).T
    out = graph.add("MatMul", v.name, inverse)
    for _ in range(_REFINEMENTS):
        rest = graph.add("Sub", v.name, graph.add("MatMul", out, lower.T))
        out = graph.add("Add", out, graph.add("MatMul", rest, inverse))
    return out


# Functions around centres.


def _by_input(
    graph: OnnxGraph, v: Value, centres: Array, each: Callable[[str, str], str], product: bool
) -> str:
    """A sum or product over inputs of ``each(x, z)``, (n, S): all at once, or one by one."""
    n_centres, n_inputs = centres.shape
    if n_inputs > 1 and centres.size <= _AT_ONCE:
        x = graph.add("Unsqueeze", v.name, graph.whole([1]))
        parts = each(x, graph.numbers(centres))  # (n, S, D)
        if not product:
            return graph.sum(parts, 2)
        out = graph.product(parts, n_inputs, 2)
        return graph.add("Reshape", out, graph.whole([0, n_centres]))
    columns = [graph.slice(v.name, d, d + 1, 1) for d in range(n_inputs)]
    out, *rest = (each(x, graph.numbers(z)) for x, z in zip(columns, centres.T, strict=True))
    for part in rest:
        out = graph.add("Mul" if product else "Add", out, part)
    return out


def _squared(graph: OnnxGraph, v: Value, centres: Array, exact: bool = False) -> str:
    """Squared distances. Of many numbers by a product of matrices, in double.

    The product's error is some roundings of the squared distances from the mean of the centres;
    where the root of it is taken that is too much (`exact`).
    """
    if exact or centres.size <= _AT_ONCE:

        def square(x: str, z: str) -> str:
            away = graph.add("Sub", x, z)
            return graph.add("Mul", away, away)

        return _by_input(graph, v, centres, square, product=False)
    double = np.dtype(np.float64)
    given = v.name if graph.dtype == double else graph.cast(v.name, double)
    middle = centres.mean(axis=0)
    around = centres - middle
    x = graph.add("Sub", given, graph.tensor(middle))
    own = graph.sum(graph.add("Mul", x, x), 1, keepdims=True)
    both = graph.add("MatMul", x, graph.tensor(-2.0 * around.T))
    squares = graph.add("Add", own, graph.tensor((around * around).sum(axis=1)))
    out = graph.add("Max", graph.add("Add", both, squares), graph.tensor(np.zeros(1)))
    return out if graph.dtype == double else graph.cast(out, graph.dtype)


def _rbf(graph: OnnxGraph, v: Value, centres: Array) -> str:
    return graph.add("Exp", graph.add("Mul", _squared(graph, v, centres), -0.5))


def _laplacian(graph: OnnxGraph, v: Value, centres: Array) -> str:
    def distance(x: str, z: str) -> str:
        return graph.add("Abs", graph.add("Sub", x, z))

    away = _by_input(graph, v, centres, distance, product=False)
    return graph.add("Exp", graph.add("Neg", away))


def _thin_plate(graph: OnnxGraph, v: Value, centres: Array) -> str:
    squared = _squared(graph, v, centres)
    seen = graph.add("Where", graph.add("Greater", squared, 0.0), squared, 1.0)
    return graph.add("Mul", graph.add("Mul", squared, 0.5), graph.add("Log", seen))


def _linear_spline(graph: OnnxGraph, v: Value, centres: Array) -> str:
    def factor(x: str, z: str) -> str:
        least, both = graph.add("Min", x, z), graph.add("Mul", x, z)
        middle = graph.add("Mul", graph.add("Add", x, z), 0.5)
        middle = graph.add("Sub", middle, graph.add("Div", least, 3.0))
        inner = graph.add("Sub", both, graph.add("Mul", least, middle))
        whole = graph.add("Add", both, graph.add("Mul", least, inner))
        return graph.add("Add", whole, 1.0)

    return _by_input(graph, v, centres, factor, product=True)


def _matern(graph: OnnxGraph, v: Value, centres: Array, nu: float) -> str:
    distance = graph.add("Sqrt", _squared(graph, v, centres, exact=True))
    r = graph.add("Mul", distance, np.sqrt(2.0 * nu))
    out = graph.add("Exp", graph.add("Neg", r))
    if nu == 0.5:
        return out
    front = graph.add("Add", r, 1.0)
    if nu == 2.5:
        front = graph.add("Add", front, graph.add("Div", graph.add("Mul", r, r), 3.0))
    return graph.add("Mul", front, out)


def _rational_quadratic(graph: OnnxGraph, v: Value, centres: Array, alpha: float) -> str:
    away = graph.add("Mul", _squared(graph, v, centres), 0.5 / alpha)
    return graph.add("Pow", graph.add("Add", away, 1.0), -alpha)


def _periodic(
    graph: OnnxGraph, v: Value, centres: Array, period: float, length_scale: float
) -> str:
    distance = graph.add("Sqrt", _squared(graph, v, centres, exact=True))
    wave = graph.add("Sin", graph.add("Mul", distance, np.pi / period))
    return graph.add("Exp", graph.add("Mul", graph.add("Mul", wave, wave), -2.0 / length_scale**2))


def _monomials(graph: OnnxGraph, v: Value, powers: Array) -> str:
    """Products of inputs, each as often as its power says; 1 fills the shorter ones."""
    powers = powers.astype(int)
    longest = max(int(powers.sum(axis=1).max()), 1)
    factors = np.full((len(powers), longest), v.size)
    for row, power in zip(factors, powers, strict=True):
        named = np.repeat(np.arange(v.size), power)
        row[: named.size] = named
    inputs = graph.add("Concat", v.name, _constant(graph, v, np.ones(1)), axis=1)
    out, *rest = (graph.add("Gather", inputs, graph.whole(index), axis=1) for index in factors.T)
    for part in rest:
        out = graph.add("Mul", out, part)
    return out


# Arithmetic.


def _binary(operator: str) -> Callable[[OnnxGraph, Value, Value], str]:
    return lambda graph, a, b: graph.add(operator, a.name, b.name)


def _unary(operator: str) -> Callable[[OnnxGraph, Value], str]:
    return lambda graph, v: graph.add(operator, v.name)


def _expm1(graph: OnnxGraph, v: Value) -> str:
    """``(exp v + 1) tanh(v/2)``: nothing cancels where v is small."""
    half = graph.add("Tanh", graph.add("Mul", v.name, 0.5))
    return graph.add("Mul", graph.add("Add", graph.add("Exp", v.name), 1.0), half)


def _power(graph: OnnxGraph, v: Value, exponent: float) -> str:
    return graph.add("Pow", v.name, exponent)


def _clip(graph: OnnxGraph, v: Value, low: float | None = None, high: float | None = None) -> str:
    out = v.name if low is None else graph.add("Max", v.name, low)
    return out if high is None else graph.add("Min", out, high)


def _above(graph: OnnxGraph, v: Value, threshold: float) -> str:
    return graph.cast(graph.add("Greater", v.name, threshold), graph.dtype)


def _sum(graph: OnnxGraph, v: Value) -> str:
    return graph.sum(v.name, 1, keepdims=True)


def _product(graph: OnnxGraph, v: Value) -> str:
    return graph.product(v.name, v.size, 1)


def _squares(graph: OnnxGraph, v: Value, weights: Array | None = None) -> str:
    out = graph.add("Mul", v.name, v.name)
    out = out if weights is None else graph.add("Mul", out, weights)
    return graph.sum(out, 1, keepdims=True)


def _products(graph: OnnxGraph, a: Value, b: Value, rows: float, columns: float) -> str:
    """One vector of b at a time, turned by its shape.

    A Transpose before a MatMul of doubles stops older releases of onnxruntime (issue 28136).
    """
    rows, columns = int(rows), int(columns)
    if rows == columns == 1:
        return graph.sum(graph.add("Mul", a.name, b.name), 1, keepdims=True)
    if rows == 1:
        return _products(graph, b, a, columns, rows)
    width = a.size // rows
    left = graph.add("Reshape", a.name, graph.whole([0, rows, width]))
    shape, parts = graph.whole([0, width, 1]), []
    for column in range(columns):
        one = b.name
        if columns > 1:
            one = graph.slice(one, column * width, (column + 1) * width, 1)
        parts.append(graph.add("MatMul", left, graph.add("Reshape", one, shape)))
    out = parts[0] if columns == 1 else graph.add("Concat", *parts, axis=2)
    return graph.add("Reshape", out, graph.whole([0, rows * columns]))


def _half_solve(graph: OnnxGraph, a: Value, b: Value) -> str:
    size = round(a.size**0.5)
    A = graph.add("Reshape", a.name, graph.whole([0, size, size]))
    B = graph.add("Reshape", b.name, graph.whole([0, b.size // size, size]))
    columns = []
    for left in range(size, 0, -1):  # rows and columns of A that are left
        pivot = graph.slice(graph.slice(A, 0, 1, 1), 0, 1, 2) if left > 1 else A
        root = graph.add("Sqrt", graph.add("Max", pivot, 1.0))
        first = graph.slice(B, 0, 1, 2) if left > 1 else B
        columns.append(graph.add("Div", first, root))
        if left > 1:
            rest = graph.slice(A, 1, left, 1)
            below = graph.add("Div", graph.slice(rest, 0, 1, 2), root)  # (n, left − 1, 1)
            beside = graph.add("Reshape", below, graph.whole([0, 1, left - 1]))
            A = graph.add("Sub", graph.slice(rest, 1, left, 2), graph.add("Mul", below, beside))
            B = graph.slice(B, 1, left, 2)
            B = graph.add("Sub", B, graph.add("Mul", columns[-1], beside))
    out = columns[0] if size == 1 else graph.add("Concat", *columns, axis=2)
    return graph.add("Reshape", out, graph.whole([0, b.size]))


def _softmax(graph: OnnxGraph, v: Value) -> str:
    return graph.add("Softmax", v.name, axis=1)


def _normalise(graph: OnnxGraph, v: Value) -> str:
    total = graph.sum(v.name, 1, keepdims=True)
    some = graph.add("Greater", total, 0.0)
    shares = graph.add("Div", v.name, graph.add("Where", some, total, 1.0))
    return graph.add("Where", some, shares, 1.0 / v.size)


NODES: dict[str, Callable[..., str]] = {
    "constant": _constant,
    "scale": _scale,
    "pick": _pick,
    "join": _join,
    "matrix": _matrix,
    "triangle": _triangle,
    "solve_triangle": _solve_triangle,
    "rbf": _rbf,
    "laplacian": _laplacian,
    "thin_plate": _thin_plate,
    "linear_spline": _linear_spline,
    "matern": _matern,
    "rational_quadratic": _rational_quadratic,
    "periodic": _periodic,
    "monomials": _monomials,
    "add": _binary("Add"),
    "subtract": _binary("Sub"),
    "multiply": _binary("Mul"),
    "divide": _binary("Div"),
    "power": _power,
    "exp": _unary("Exp"),
    "expm1": _expm1,
    "log": _unary("Log"),
    "sqrt": _unary("Sqrt"),
    "clip": _clip,
    "above": _above,
    "sum": _sum,
    "product": _product,
    "squares": _squares,
    "products": _products,
    "half_solve": _half_solve,
    "normal": lambda graph, v: normal(graph, v.name),
    "logit_average": logit_average,
    "softmax_average": softmax_average,
    "softmax": _softmax,
    "normalise": _normalise,
}
