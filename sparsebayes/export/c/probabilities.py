"""The normal distribution function, and averages of a logistic function and of a softmax over
Gaussians, in C99."""

from __future__ import annotations

import re

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
from sparsebayes.export.c.code import CCode, Lines, block, definition, loop
from sparsebayes.export.programs.program import ProgramStep

_SQRT_HALF = 0.5**0.5


def normal(code: CCode, step: ProgramStep, value: str) -> str:
    return f"{_normal_cdf(code)}({value})"


def _normal_cdf(code: CCode) -> str:
    scaled = f"{code.number(-_SQRT_HALF)} * z"
    return code.function("normal_cdf", [
        "static REAL normal_cdf(REAL z)",
        "{",
        f"    return {code.number(0.5)} * {code.call('erfc')}({scaled});",
        "}",
    ])  # fmt: skip


def logit_average(code: CCode, step: ProgramStep) -> Lines:
    cdf, exp, sqrt = _normal_cdf(code), code.call("exp"), code.call("sqrt")
    nodes, weights = hermite(LOGIT_NODES)
    half = nodes > 0  # the others are the same with the other sign
    ends, chances = logistic_nodes()
    step_size, count = float(ends[1] - ends[0]), len(ends) // 2
    total = float(np.max(chances))  # of the node 0, where the density is 1/4
    tables = [
        definition(code.real, "normal_nodes", nodes[half], code.number),
        definition(code.real, "normal_weights", weights[half], code.number),
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
static void softmax_average_COUNT(const REAL *mean, const REAL *covariance, REAL *p)
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


def softmax_average(code: CCode, step: ProgramStep) -> Lines:
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
    text = _SMOOTH.replace("_COUNT", f"_{step.size}")
    text = re.sub(r"\b[A-Z][A-Z0-9_]+\b", lambda found: words.get(found[0], found[0]), text)
    code.n_bytes += 2 * (N_NODES + 3) * (8 if code.real == "double" else 4)
    smooth, average = text.split("\n\n/* The mean of a softmax", 1)
    code.function("smooth", smooth.split("\n"))
    name = f"softmax_average_{step.size}"
    code.function(name, f"/* The mean of a softmax{average}".split("\n"))
    mean, covariance = step.of
    return [f"{name}({mean}, {covariance}, {step.name});"]


def softmax(code: CCode, step: ProgramStep) -> Lines:
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


def normalise(code: CCode, step: ProgramStep) -> Lines:
    (source,), n = step.of, step.size
    equal = code.number(1.0 / n)
    return block([
        f"{code.real} total = 0;",
        *loop("i", n, [f"total += {code.ref(source)};"]),
        *loop("i", n, [
            f"{code.ref(step.name)} = total > 0 ? {code.ref(source)} / total : {equal};"
        ]),
    ])  # fmt: skip
