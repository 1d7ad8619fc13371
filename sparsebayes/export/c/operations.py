"""The operations of a program in C99."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparsebayes.export.c.code import CCode, Lines, block, loop
from sparsebayes.export.c.probabilities import (
    logit_average,
    normal,
    normalise,
    softmax,
    softmax_average,
)
from sparsebayes.export.programs.program import ProgramStep


def write_step(code: CCode, step: ProgramStep) -> Lines:
    """The statements that compute a step, whose variable is declared already."""
    return C_OPERATIONS[step.operation](code, step)


def _map(write: Callable[[CCode, ProgramStep, str], str]) -> Callable[[CCode, ProgramStep], Lines]:
    """An operation of single entries of a value."""

    def lines(code: CCode, step: ProgramStep) -> Lines:
        value = write(code, step, code.ref(step.of[0]))
        return loop("i", step.size, [f"{code.ref(step.name)} = {value};"])

    return lines


def _pair(sign: str) -> Callable[[CCode, ProgramStep], Lines]:
    def lines(code: CCode, step: ProgramStep) -> Lines:
        left, right = (code.ref(name) for name in step.of)
        return loop("i", step.size, [f"{code.ref(step.name)} = {left} {sign} {right};"])

    return lines


def _scale(code: CCode, step: ProgramStep, value: str) -> str:
    if "shift" in step.constants:
        value = f"({value} - {code.array(step, 'shift')}[i])"
    if "factor" in step.constants:
        value = f"{value} * {code.array(step, 'factor')}[i]"
    return value


def _pick(code: CCode, step: ProgramStep) -> Lines:
    (source,), index = step.of, step.constants["index"].astype(int)
    if index.size == 1:
        return [f"{step.name} = {code.ref(source, str(index[0]))};"]
    if code.sizes[source] == 1:
        place = "0"
    elif np.all(np.diff(index) == 1):
        place = f"i + {index[0]}" if index[0] else "i"
    else:
        place = f"{code.whole(step, 'index')}[i]"
    return loop("i", step.size, [f"{step.name}[i] = {code.ref(source, place)};"])


def _join(code: CCode, step: ProgramStep) -> Lines:
    lines, first = [], 0
    for name in step.of:
        place = f"i + {first}" if first else "i"
        target = f"{step.name}[{place if code.sizes[name] > 1 else first}]"
        lines += loop("i", code.sizes[name], [f"{target} = {code.ref(name)};"])
        first += code.sizes[name]
    return lines


def _begin(code: CCode, step: ProgramStep) -> str:
    offset = f"{code.array(step, 'offset')}[i]" if "offset" in step.constants else "0"
    return f"{code.real} total = {offset};"


def _matrix(code: CCode, step: ProgramStep) -> Lines:
    (source,), matrix = step.of, code.array(step, "matrix")
    inner = loop("j", code.sizes[source], [f"total += {matrix}[i][j] * {code.ref(source, 'j')};"])
    body = [_begin(code, step), *inner, f"{code.ref(step.name)} = total;"]
    lines = loop("i", step.size, body)
    return block(lines) if step.size == 1 else lines


def _triangle(code: CCode, step: ProgramStep) -> Lines:
    (source,), triangle = step.of, code.array(step, "triangle")
    if step.size == 1:
        offset = f" + {code.array(step, 'offset')}[0]" if "offset" in step.constants else ""
        return [f"{step.name} = {triangle}[0] * {code.ref(source, '0')}{offset};"]
    inner = [f"for (int j = i; j < {step.size}; j++)",
             f"    total += {triangle}[n++] * {source}[j];"]  # fmt: skip
    body = [_begin(code, step), *inner, f"{step.name}[i] = total;"]
    return block(["int n = 0;", *loop("i", step.size, body)])


def _solve_triangle(code: CCode, step: ProgramStep) -> Lines:
    (source,), triangle = step.of, code.array(step, "triangle")
    if step.size == 1:
        return [f"{step.name} = {code.ref(source, '0')} / {triangle}[0];"]
    body = [
        f"{code.real} total = {source}[i];",
        "for (int j = 0; j < i; j++)",
        f"    total -= {triangle}[n++] * {step.name}[j];",
        f"{step.name}[i] = total / {triangle}[n++];",
    ]
    return block(["int n = 0;", *loop("i", step.size, body)])


def _centred(
    term: str, end: Callable[[CCode, ProgramStep], str], start: str = "0"
) -> Callable[[CCode, ProgramStep], Lines]:
    """A kernel: `t` is the difference to a centre, `term` is done with it for each input."""

    def lines(code: CCode, step: ProgramStep) -> Lines:
        (source,), centres = step.of, code.array(step, "centres")
        put = term.replace("fabs", code.call("fabs"))
        difference = f"{code.real} t = {code.ref(source, 'j')} - {centres}[i][j];"
        inner = loop("j", code.sizes[source], [difference, f"total {put};"])
        result = f"{code.ref(step.name)} = {end(code, step)};"
        body = [f"{code.real} total = {start};", *inner, result]
        out = loop("i", step.size, body)
        return block(out) if step.size == 1 else out

    return lines


def _exp(factor: float) -> Callable[[CCode, ProgramStep], str]:
    def end(code: CCode, step: ProgramStep) -> str:
        product = "-total" if factor == -1 else f"{code.number(factor)} * total"
        return f"{code.call('exp')}({product})"

    return end


def _thin_plate(code: CCode, step: ProgramStep) -> str:
    return f"total > 0 ? {code.number(0.5)} * total * {code.call('log')}(total) : 0"


def _rational_quadratic(code: CCode, step: ProgramStep) -> str:
    alpha = step.constants["alpha"]
    scaled = f"1 + total * {code.number(0.5 / alpha)}"
    return f"{code.call('pow')}({scaled}, {code.number(-alpha)})"


def _matern(code: CCode, step: ProgramStep) -> str:
    nu = step.constants["nu"]
    name = code.function(f"matern_{round(2 * nu)}", [
        f"static REAL matern_{round(2 * nu)}(REAL squared)",
        "{",
        f"    const REAL r = {code.call('sqrt')}({code.number(2.0 * nu)} * squared);",
        "    return "
        + {0.5: "", 1.5: "(1 + r) * ", 2.5: "(1 + r + r * r / 3) * "}[nu]
        + f"{code.call('exp')}(-r);",
        "}",
    ])  # fmt: skip
    return f"{name}(total)"


def _periodic(code: CCode, step: ProgramStep) -> str:
    name = f"{step.name}_of"
    inner = f"{code.number(np.pi / step.constants['period'])} * {code.call('sqrt')}(squared)"
    code.function(name, [
        f"static REAL {name}(REAL squared)",
        "{",
        f"    const REAL wave = {code.call('sin')}({inner});",
        f"    return {code.call('exp')}({code.number(-2.0 / step.constants['length_scale'] ** 2)}"
        " * wave * wave);",
        "}",
    ])  # fmt: skip
    return f"{name}(total)"


def _linear_spline(code: CCode, step: ProgramStep) -> Lines:
    (source,), centres = step.of, code.array(step, "centres")
    inner = [
        f"const {code.real} a = {code.ref(source, 'j')}, b = {centres}[i][j];",
        f"const {code.real} least = a < b ? a : b;",
        "total *= 1 + a * b + least * (a * b - least * ((a + b) / 2 - least / 3));",
    ]
    body = [
        f"{code.real} total = 1;",
        *loop("j", code.sizes[source], inner),
        f"{code.ref(step.name)} = total;",
    ]
    lines = loop("i", step.size, body)
    return block(lines) if step.size == 1 else lines


def _monomials(code: CCode, step: ProgramStep) -> Lines:
    (source,), powers = step.of, code.whole(step, "powers")
    inner = loop(
        "j",
        code.sizes[source],
        [f"for (int k = 0; k < {powers}[i][j]; k++)", f"    total *= {code.ref(source, 'j')};"],
    )
    body = [f"{code.real} total = 1;", *inner, f"{code.ref(step.name)} = total;"]
    lines = loop("i", step.size, body)
    return block(lines) if step.size == 1 else lines


def _power(code: CCode, step: ProgramStep, value: str) -> str:
    exponent = step.constants["exponent"]
    if exponent == 2.0:
        return f"{value} * {value}"
    return f"{code.call('pow')}({value}, {code.number(exponent)})"


def _clip(code: CCode, step: ProgramStep, value: str) -> str:
    for key, sign in (("low", "<"), ("high", ">")):
        if key in step.constants:
            bound = code.number(step.constants[key])
            value = f"({value} {sign} {bound} ? {bound} : {value})"
    return value


def _above(code: CCode, step: ProgramStep, value: str) -> str:
    return f"{value} > {code.number(step.constants['threshold'])} ? 1 : 0"


def _reduction(start: str, term: str) -> Callable[[CCode, ProgramStep], Lines]:
    def lines(code: CCode, step: ProgramStep) -> Lines:
        put = term.replace("v", code.ref(step.of[0]))
        if "weights" in step.constants:
            put += f" * {code.array(step, 'weights')}[i]"
        body = loop("i", code.sizes[step.of[0]], [f"{step.name} {put};"])
        return [f"{step.name} = {start};", *body]

    return lines


def _products(code: CCode, step: ProgramStep) -> Lines:
    left, right = step.of
    rows, columns = (int(step.constants[key]) for key in ("rows", "columns"))
    length = code.sizes[left] // rows

    def at(name: str, index: str, count: int) -> str:
        if length == 1:
            return code.ref(name, index if count > 1 else "0")
        return code.ref(name, f"{index} * {length} + k" if count > 1 else "k")

    term = f"total += {at(left, 'i', rows)} * {at(right, 'j', columns)};"
    place = f"i * {columns} + j" if rows > 1 and columns > 1 else "i" if rows > 1 else "j"
    body = [
        f"{code.real} total = 0;",
        *loop("k", length, [term]),
        f"{code.ref(step.name, place if step.size > 1 else '0')} = total;",
    ]
    inner = loop("j", columns, body) if columns > 1 else body
    lines = loop("i", rows, inner) if rows > 1 else inner
    return block(lines) if step.size == 1 else lines


def _half_solve(code: CCode, step: ProgramStep) -> Lines:
    matrix, vectors = step.of
    size = round(code.sizes[matrix] ** 0.5)
    rows = step.size // size
    root = code.call("sqrt")
    if size == 1:
        limited = f"{root}({matrix} > 1 ? {matrix} : 1)"
        return loop("i", rows, [f"{code.ref(step.name)} = {code.ref(vectors)} / {limited};"])
    code.function("half_solve", [
        "/* Rows of `out` times the inverse of the Cholesky factor of a. */",
        "static void half_solve(REAL *a, REAL *out, int size, int rows)",
        "{",
        "    for (int k = 0; k < size; k++) {",
        f"        const REAL root = {root}(a[k * size + k] > 1 ? a[k * size + k] : 1);",
        "        for (int i = 0; i < rows; i++)",
        "            out[i * size + k] /= root;",
        "        for (int j = k + 1; j < size; j++)",
        "            a[j * size + k] /= root;",
        "        for (int j = k + 1; j < size; j++) {",
        "            for (int i = 0; i < rows; i++)",
        "                out[i * size + j] -= out[i * size + k] * a[j * size + k];",
        "            for (int i = j; i < size; i++)",
        "                a[i * size + j] -= a[i * size + k] * a[j * size + k];",
        "        }",
        "    }",
        "}",
    ])  # fmt: skip
    return block([
        f"{code.real} a[{size * size}];",
        *loop("i", size * size, [f"a[i] = {matrix}[i];"]),
        *loop("i", step.size, [f"{step.name}[i] = {vectors}[i];"]),
        f"half_solve(a, {step.name}, {size}, {rows});",
    ])  # fmt: skip


def _constant(code: CCode, step: ProgramStep) -> Lines:
    values = step.constants["values"]
    if step.size == 1:
        return [f"{step.name} = {code.number(values[0])};"]
    return loop("i", step.size, [f"{step.name}[i] = {code.array(step, 'values')}[i];"])


def _called(function: str) -> Callable[[CCode, ProgramStep], Lines]:
    return _map(lambda code, step, value: f"{code.call(function)}({value})")


C_OPERATIONS: dict[str, Callable[[CCode, ProgramStep], Lines]] = {
    "constant": _constant,
    "scale": _map(_scale),
    "pick": _pick,
    "join": _join,
    "matrix": _matrix,
    "triangle": _triangle,
    "solve_triangle": _solve_triangle,
    "rbf": _centred("+= t * t", _exp(-0.5)),
    "laplacian": _centred("+= fabs(t)", _exp(-1)),
    "thin_plate": _centred("+= t * t", _thin_plate),
    "linear_spline": _linear_spline,
    "matern": _centred("+= t * t", _matern),
    "rational_quadratic": _centred("+= t * t", _rational_quadratic),
    "periodic": _centred("+= t * t", _periodic),
    "monomials": _monomials,
    "add": _pair("+"),
    "subtract": _pair("-"),
    "multiply": _pair("*"),
    "divide": _pair("/"),
    "power": _map(_power),
    "exp": _called("exp"),
    "expm1": _called("expm1"),
    "log": _called("log"),
    "sqrt": _called("sqrt"),
    "clip": _map(_clip),
    "above": _map(_above),
    "sum": _reduction("0", "+= v"),
    "product": _reduction("1", "*= v"),
    "squares": _reduction("0", "+= v * v"),
    "products": _products,
    "half_solve": _half_solve,
    "normal": _map(normal),
    "logit_average": logit_average,
    "softmax_average": softmax_average,
    "softmax": softmax,
    "normalise": normalise,
}
