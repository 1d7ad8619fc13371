"""The operations of a program in C99."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsebayes.classification.class_probability import (
    KEPT,
    LOGIT_NODES,
    N_NODES,
    SCALES,
    SHARES,
    TIE,
    hermite,
    logistic_nodes,
)
from sparsebayes.export.program import INPUT, ProgramStep

Array = np.ndarray
Lines = list[str]

_SQRT_HALF = 0.5**0.5


@dataclass
class CCode:
    """What a program needs besides its steps: constants and functions, in the order of their use.

    Attributes
    ----------
    real : str
        "double" or "float".
    sizes : dict of str to int
        Of the values so far.
    constants, functions : dict of str to Lines
        Definitions, by name.
    n_bytes : int
        Of the constants.
    """

    real: str
    sizes: dict[str, int]
    constants: dict[str, Lines] = field(default_factory=dict)
    functions: dict[str, Lines] = field(default_factory=dict)
    n_bytes: int = 0

    def call(self, function: str) -> str:
        """The name of a function of math.h."""
        return function + ("f" if self.real == "float" else "")

    def number(self, value: float) -> str:
        """A literal."""
        if self.real == "double":
            return repr(float(value))
        with np.errstate(over="ignore", under="ignore"):
            short = np.float32(value)
        if not np.isfinite(short):
            raise ValueError(
                f"dtype='float' has no number for {value:g}, which the model needs; use "
                "dtype='double'."
            )
        if abs(short) < np.finfo(np.float32).tiny:
            return "0.0f"
        text = np.format_float_scientific(short, trim="0", exp_digits=1)
        plain = np.format_float_positional(short, trim="0")
        return (plain if len(plain) <= len(text) else text) + "f"

    def ref(self, name: str, index: str = "i") -> str:
        """An entry of a value; one that is a single number has no index."""
        return name if name != INPUT and self.sizes[name] == 1 else f"{name}[{index}]"

    def array(self, step: ProgramStep, key: str) -> str:
        """A constant of a step, as an array."""
        values = step.constants[key]
        name = f"{step.name}_{key}"
        self.n_bytes += values.size * (8 if self.real == "double" else 4)
        self.constants[name] = _definition(self.real, name, values, self.number)
        return name

    def whole(self, step: ProgramStep, key: str) -> str:
        """The same of whole numbers from 0 on."""
        values = step.constants[key].astype(int)
        name, most = f"{step.name}_{key}", int(values.max())
        kind, size = ("unsigned char", 1) if most < 256 else ("unsigned short", 2)
        if most >= 1 << 16:
            kind, size = "unsigned long", 8
        self.n_bytes += values.size * size
        self.constants[name] = _definition(kind, name, values, str)
        return name

    def function(self, name: str, lines: Lines) -> str:
        """A function that several steps may call."""
        self.functions[name] = [line.replace("REAL", self.real) for line in lines]
        return name


def _definition(kind: str, name: str, values: Array, write: Callable[[Any], str]) -> Lines:
    axes = "".join(f"[{size}]" for size in values.shape)
    rows = [", ".join(write(value) for value in row) for row in np.atleast_2d(values)]
    if values.ndim == 2:
        rows = [f"{{{row}}}" for row in rows]
    return [f"static const {kind} {name}{axes} = {{", *_wrapped(",\n".join(rows)), "};"]


def _wrapped(text: str, width: int = 96) -> Lines:
    """Lines of a list of numbers that are not too long."""
    lines = []
    for row in text.split("\n"):
        line = "   "
        for word in row.split(" "):
            if len(line) + 1 + len(word) > width:
                lines.append(line)
                line = "   "
            line += f" {word}"
        lines.append(line)
    return lines


def loop(index: str, count: int, body: Lines, first: str = "0") -> Lines:
    """A loop; of one turn, its body."""
    if count == 1 and first == "0":
        return [_at_zero(line, index) for line in body]
    inner = [f"    {line}" for line in body]
    if len(body) == 1:
        return [f"for (int {index} = {first}; {index} < {count}; {index}++)", *inner]
    return [f"for (int {index} = {first}; {index} < {count}; {index}++) {{", *inner, "}"]


def _at_zero(line: str, index: str) -> str:
    return line.replace(f"[{index}]", "[0]")


def block(lines: Lines) -> Lines:
    """Lines with names of their own."""
    return ["{", *(f"    {line}" for line in lines), "}"]


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
    if np.all(np.diff(index) == 1):
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


def _normal(code: CCode, step: ProgramStep, value: str) -> str:
    return f"{_normal_cdf(code)}({value})"


def _normal_cdf(code: CCode) -> str:
    scaled = f"{code.number(-_SQRT_HALF)} * z"
    return code.function("normal_cdf", [
        "static REAL normal_cdf(REAL z)",
        "{",
        f"    return {code.number(0.5)} * {code.call('erfc')}({scaled});",
        "}",
    ])  # fmt: skip


def _logit_average(code: CCode, step: ProgramStep) -> Lines:
    cdf, exp, sqrt = _normal_cdf(code), code.call("exp"), code.call("sqrt")
    nodes, weights = hermite(LOGIT_NODES)
    half = nodes > 0  # the others are the same with the other sign
    ends, chances = logistic_nodes()
    step_size, count = float(ends[1] - ends[0]), len(ends) // 2
    total = float(np.max(chances))  # of the node 0, where the density is 1/4
    tables = [
        _definition(code.real, "normal_nodes", nodes[half], code.number),
        _definition(code.real, "normal_weights", weights[half], code.number),
    ]
    code.n_bytes += 2 * int(half.sum()) * (8 if code.real == "double" else 4)
    code.constants["normal_nodes"], code.constants["normal_weights"] = tables
    code.function("logit_average", [
        "/* The mean of 1 / (1 + exp(-f)) over f ~ N(mean, variance). */",
        "static REAL logit_average(REAL mean, REAL variance)",
        "{",
        f"    const REAL width = variance > 0 ? {sqrt}(variance) : 0;",
        "    REAL total = 0;",
        f"    if (width < {code.number(1.5)}) {{",
        f"        for (int i = 0; i < {int(half.sum())}; i++) {{",
        "            const REAL away = width * normal_nodes[i];",
        f"            total += normal_weights[i] * (1 / (1 + {exp}(-mean - away))",
        f"                + 1 / (1 + {exp}(-mean + away)));",
        "        }",
        "        return total;",
        "    }",
        f"    for (int i = -{count}; i <= {count}; i++) {{",
        f"        const REAL end = {code.number(step_size)} * (REAL)i;",
        f"        const REAL e = {exp}(i < 0 ? end : -end);",
        f"        total += e / ((1 + e) * (1 + e)) * {cdf}((mean - end) / width);",
        "    }",
        f"    return {code.number(4.0 * total)} * total;",
        "}",
    ])  # fmt: skip
    mean, variance = (code.ref(name) for name in step.of)
    call = f"logit_average({mean}, {variance})"
    return loop("i", step.size, [f"{code.ref(step.name)} = {call};"])


_SMOOTH = """\
static REAL bell(REAL z)
{
    return NORM * EXP(-HALF * z * z);
}

/* Means over d ~ N(m, v) of 1 / (1 + exp(-d)), of its integral and of its slope. */
static REAL smooth(REAL m, REAL v, REAL *rise, REAL *slope)
{
    static const REAL shares[3] = {SHARES}, scales[3] = {SCALES};
    const REAL e = EXP(m < 0 ? m : -m);
    REAL share = (m < 0 ? e : 1) / (1 + e);
    *rise = (m > 0 ? m : 0) + LOG1P(e);
    *slope = 0;
    for (int i = 0; i < 3; i++) {
        const REAL narrow = scales[i], wide = SQRT(narrow * narrow + v);
        const REAL above = normal_cdf(m / wide) - normal_cdf(m / narrow), d = bell(m / wide);
        share += shares[i] * above;
        *rise += shares[i] * (m * above + wide * d - narrow * bell(m / narrow));
        *slope += shares[i] * d / wide;
    }
    return share;
}

/* The mean of a softmax of COUNT values over a normal distribution of them. */
static void softmax_average(const REAL *mean, const REAL *covariance, REAL *p)
{
    static const REAL nodes[N_NODES] = {NODES}, weights[N_NODES] = {WEIGHTS};
    REAL apart[COUNT][COUNT], q[COUNT], away[COUNT], direction[COUNT];
    REAL widest = 0, top = mean[0], total = 0, middle = 0, best = 0, scale = 0;
    int one = 0;
    for (int i = 0; i < COUNT; i++) {
        top = mean[i] > top ? mean[i] : top;
        for (int j = 0; j < COUNT; j++) {
            const REAL d = covariance[i * COUNT + i] + covariance[j * COUNT + j]
                - covariance[i * COUNT + j] - covariance[j * COUNT + i];
            apart[i][j] = d > 0 ? d : 0;
            widest = apart[i][j] > widest ? apart[i][j] : widest;
        }
    }
    /* Along one direction there are nodes: one class less the mean of all. */
    for (int i = 0; i < COUNT; i++) {
        q[i] = EXP((mean[i] - top) / SQRT(1 + EIGHTH * widest));
        total += q[i];
    }
    for (int i = 0; i < COUNT; i++) {
        q[i] /= total;
        p[i] = 0;
    }
    for (int i = 0; i < COUNT; i++) {
        away[i] = 0;
        for (int j = 0; j < COUNT; j++)
            away[i] += apart[i][j] * q[j];
        middle += HALF * q[i] * away[i];
    }
    for (int i = 0; i < COUNT; i++)
        best = q[i] * (away[i] - middle) > best ? q[i] * (away[i] - middle) : best;
    for (int i = COUNT - 1; i >= 0; i--)
        one = q[i] * (away[i] - middle) >= TIE * best ? i : one;
    if (away[one] - middle > 0)
        scale = HALF * SQRT(SPREAD / (away[one] - middle));
    for (int i = 0; i < COUNT; i++)
        direction[i] = scale * (away[i] - apart[one][i]);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            const REAL d = direction[i] - direction[j];
            apart[i][j] = apart[i][j] > d * d ? apart[i][j] - d * d : 0;
        }
    for (int n = 0; n < N_NODES; n++) {
        REAL f[COUNT], chance[COUNT], rise, slope;
        total = 0;
        for (int i = 0; i < COUNT; i++)
            f[i] = mean[i] + nodes[n] * direction[i];
        for (int k = 0; k < COUNT; k++) {
            /* The log-sum-exp of the others, one by one, as a normal variable. */
            REAL others = f[(k + 1) % COUNT], spread[COUNT];
            for (int j = 0; j < COUNT; j++)
                spread[j] = apart[(k + 1) % COUNT][j];
            for (int i = 2; i < COUNT; i++) {
                const int next = (k + i) % COUNT;
                const REAL v = spread[next], share = smooth(f[next] - others, v, &rise, &slope);
                const REAL bend = HALF * v * slope * v * slope - share * (1 - share) * v;
                for (int j = 0; j < COUNT; j++) {
                    spread[j] += share * (apart[next][j] - spread[j]) + bend;
                    spread[j] = spread[j] > 0 ? spread[j] : 0;
                }
                others += rise;
            }
            chance[k] = smooth(f[k] - others, spread[k], &rise, &slope);
            total += chance[k];
        }
        for (int k = 0; k < COUNT; k++)
            p[k] += weights[n] * chance[k] / total;
    }
}"""


def _softmax_average(code: CCode, step: ProgramStep) -> Lines:
    _normal_cdf(code)
    nodes, weights = hermite(N_NODES)
    words = {
        "COUNT": str(step.size),
        "N_NODES": str(N_NODES),
        "NODES": ", ".join(map(code.number, nodes)),
        "WEIGHTS": ", ".join(map(code.number, weights)),
        "SHARES": ", ".join(map(code.number, SHARES)),
        "SCALES": ", ".join(map(code.number, SCALES)),
        "HALF": code.number(0.5),
        "NORM": code.number((2.0 * np.pi) ** -0.5),
        "EIGHTH": code.number(np.pi / 8.0),
        "TIE": code.number(1.0 - TIE),
        "SPREAD": code.number(1.0 - KEPT),
        **{word: code.call(word.lower()) for word in ("EXP", "SQRT", "LOG1P")},
    }
    text = re.sub(r"\b[A-Z][A-Z0-9_]+\b", lambda found: words.get(found[0], found[0]), _SMOOTH)
    code.n_bytes += 2 * (N_NODES + 3) * (8 if code.real == "double" else 4)
    code.function("softmax_average", text.split("\n"))
    mean, covariance = step.of
    return [f"softmax_average({mean}, {covariance}, {step.name});"]


def _softmax(code: CCode, step: ProgramStep) -> Lines:
    (source,), n = step.of, step.size
    if n == 1:
        return [f"{step.name} = 1;"]
    return block([
        f"{code.real} most = {source}[0], total = 0;",
        *loop("i", n, [f"most = {source}[i] > most ? {source}[i] : most;"]),
        *loop("i", n, [f"{step.name}[i] = {code.call('exp')}({source}[i] - most);",
                       f"total += {step.name}[i];"]),
        *loop("i", n, [f"{step.name}[i] /= total;"]),
    ])  # fmt: skip


def _normalise(code: CCode, step: ProgramStep) -> Lines:
    (source,), n = step.of, step.size
    equal = code.number(1.0 / n)
    return block([
        f"{code.real} total = 0;",
        *loop("i", n, [f"total += {code.ref(source)};"]),
        *loop("i", n, [
            f"{code.ref(step.name)} = total > 0 ? {code.ref(source)} / total : {equal};"
        ]),
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
    "log": _called("log"),
    "sqrt": _called("sqrt"),
    "clip": _map(_clip),
    "above": _map(_above),
    "sum": _reduction("0", "+= v"),
    "product": _reduction("1", "*= v"),
    "squares": _reduction("0", "+= v * v"),
    "products": _products,
    "half_solve": _half_solve,
    "normal": _map(_normal),
    "logit_average": _logit_average,
    "softmax_average": _softmax_average,
    "softmax": _softmax,
    "normalise": _normalise,
}
