"""Models as C99: constant arrays, no memory to allocate, no library but math.h."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from sparsebayes._support.validation import check_choice, check_switches
from sparsebayes.export.c.code import CCode, Lines
from sparsebayes.export.c.operations import write_step
from sparsebayes.export.formats import PRECISIONS, Precision
from sparsebayes.export.programs.differences import TOLERANCES, float_error, slack, unit_of
from sparsebayes.export.programs.models import program_of
from sparsebayes.export.programs.program import INPUT, KEYWORDS, Program

Array = np.ndarray

_SHOWN = 40  # names that a comment lists
_MARGIN = 0.3  # of the tolerance at which the warning comes: not all inputs are tried
_LONGEST = 200  # name of a file


def to_c(
    model: Any,
    *,
    name: str = "model",
    dtype: Precision = "double",
    std: bool = True,
    feature_names: Any = None,
    target_names: Any = None,
) -> dict[str, str]:
    """Write a fitted model as a C source file and its header.

    The code is C99 with constant arrays; it allocates nothing and needs no library but `math.h`.
    With x an array of D inputs, in the order of the training columns,

    - ``void NAME_predict(const T x[D], T *mean, T *std)`` predicts a new observation, noise
      included; with K targets `mean` and `std` are arrays of K;
    - ``void NAME_predict_proba(const T x[D], T p[K])`` gives the probabilities of K classes, whose
      order stands in the header.

    Compiled with ``-DNAME_SELF_TEST`` the source is a program that compares itself with what Python
    said, and exits with 0 if they agree.

    Parameters
    ----------
    model : RVR, RVC, ReducedRankGPR, Forecaster, Pipeline or ExportedModel
        As in :func:`to_json`. A Forecaster gives the value after the last ones, the latest first.
    name : str, default="model"
        Of the files; what is no letter or digit becomes ``_`` in the names of C.
    dtype : {"double", "float"}, default="double"
        T. With "float" a warning tells if it errs by more than a thousandth of a standard
        deviation.
    std : bool, default=True
        Whether a regression has standard deviations; without, the code is smaller.
    feature_names, target_names : sequence of str, default=None
        For the comment in the header; None takes those that the model knows, if any.

    Returns
    -------
    dict of str to str
        The texts of ``NAME.c`` and ``NAME.h``.

    See Also
    --------
    to_json : Steps and numbers, for any language.
    to_onnx : A graph for services.

    Examples
    --------
    >>> from sparsebayes import RVR
    >>> from sparsebayes.datasets import make_sinc
    >>> from sparsebayes.export import to_c
    >>> X, y, _ = make_sinc(100, noise=0.1, random_state=0)
    >>> files = to_c(RVR().fit(X, y), name="sinc", dtype="float")
    >>> sorted(files)
    ['sinc.c', 'sinc.h']
    >>> print([line for line in files["sinc.h"].splitlines() if line.startswith("void")][0])
    void sinc_predict(const float x[1], float *mean, float *std);
    """
    check_choice("dtype", dtype, PRECISIONS)
    check_switches(std=std, verbose=0)
    word = identifier(name)
    program = program_of(model, feature_names, target_names)
    kept = program if std else program.without_std()
    signature, body, code = _function(word, dtype, kept)
    if dtype == "float":
        _tell_of_rounding(program, kept)
    source = [
        f'#include "{name}.h"',
        "",
        "#include <math.h>",
        "",
        *_joined(code.constants),
        *_joined(code.functions),
        signature,
        "{",
        *(f"    {line}" for line in body),
        "}",
        "",
        *_self_test(word, dtype, program, kept),
    ]
    header = _header(name, word, signature, kept, code.n_bytes)
    return {f"{name}.c": _text(source), f"{name}.h": _text(header)}


def identifier(name: Any) -> str:
    """A name of C that is as near as possible to a name, or a clear error."""
    odd = not isinstance(name, str) or re.search(r'^\s*$|^[-.]|["\\/?*\x00-\x1f]', name)
    if odd or len(name) > _LONGEST:
        raise ValueError(
            f"name must be a text that can be the name of a file, as 'model', got {name!r:.100}."
        )
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not word[0].isalpha():
        word = f"m{word}" if word[0] == "_" else f"m_{word}"
    return f"{word}_" if word in KEYWORDS else word


def _tell_of_rounding(program: Program, kept: Program) -> None:
    error = float_error(program, kept)
    if error > _MARGIN * TOLERANCES["float"]:
        of = "" if kept.is_classifier else " of a standard deviation"
        told = f"errs by up to {error:.2g}{of}" if np.isfinite(error) else "gives no number"
        warnings.warn(
            f"dtype='float' {told} at inputs like those of the training, since large numbers "
            "cancel in this model or its inputs need more than seven digits; use dtype='double', "
            "inputs nearer to 0, or shorter length scales.",
            UserWarning,
            stacklevel=3,
        )


def _function(word: str, real: str, program: Program) -> tuple[str, Lines, CCode]:
    """The signature of the function, its statements, and what these need."""
    code = CCode(real, {INPUT: program.n_inputs})
    body: Lines = []
    if not any(INPUT in step.of for step in program.steps if step.operation != "constant"):
        body.append("(void)x;")
    for step in program.steps:
        code.sizes[step.name] = step.size
        axis = f"[{step.size}]" if step.size > 1 else ""
        lines = write_step(code, step)
        if lines[0].startswith(f"{step.name} = "):
            body += [f"{real} {lines[0]}", *lines[1:]]
        else:
            body += [f"{real} {step.name}{axis};", *lines]
    names = [step.name for step in program.steps]
    twice = set(names) & (code.constants.keys() | code.functions.keys())
    if twice:
        raise ValueError(f"the steps {sorted(twice)} have names that others need; rename them.")
    arguments = [f"const {real} x[{program.n_inputs}]"]
    for output, name in program.outputs.items():
        size = code.sizes[name]
        argument = "p" if output == "probabilities" else output
        several = size > 1 or output == "probabilities"
        arguments.append(f"{real} {argument}[{size}]" if several else f"{real} *{argument}")
        if size > 1:
            body += [f"for (int i = 0; i < {size}; i++)", f"    {argument}[i] = {name}[i];"]
        else:
            body.append(f"*{argument} = {name};")
    verb = "predict_proba" if program.is_classifier else "predict"
    return f"void {word}_{verb}({', '.join(arguments)})", body, code


def _header(name: str, word: str, signature: str, program: Program, n_bytes: int) -> Lines:
    capital = word.upper()
    size = program.size(next(iter(program.outputs)))
    if program.is_classifier:
        told = _listed("p", program.classes) or ["p are the probabilities of the classes."]
        count = f"#define {capital}_CLASSES {size}"
    else:
        told = _listed("mean", program.target_names)
        if "std" in program.outputs:
            told.append("std is that of a new observation, noise included.")
        count = f"#define {capital}_TARGETS {size}"
    lines = [
        f"{_comment(name)}: {_comment(program.kind)} exported by sparsebayes, {n_bytes} bytes of "
        "constants.",
        *_listed("x", program.feature_names),
        *told,
    ]
    return [
        "/*",
        *(f" * {line}" for line in lines),
        " */",
        f"#ifndef {capital}_H",
        f"#define {capital}_H",
        "",
        f"#define {capital}_INPUTS {program.n_inputs}",
        count,
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"{signature};",
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
    ]


def _listed(argument: str, names: list[Any]) -> Lines:
    """What the entries of an array are."""
    shown = [f"{argument}[{i}]: {_comment(one)}" for i, one in enumerate(names[:_SHOWN])]
    return [*shown, "..."] if len(names) > _SHOWN else shown


def _comment(text: Any) -> str:
    """A text that may stand in a comment: plain letters, and nothing that would end it."""
    return re.sub(r"[^ -~]|[*?\\]", "_", str(text))


def _self_test(word: str, real: str, program: Program, kept: Program) -> Lines:
    """A main function that compares the code with what Python said."""
    X = program.examples
    if not len(X):
        return []  # nothing to try
    X = X.astype(np.float32).astype(np.float64) if real == "float" else X
    right = program.run(X)
    code = CCode(real, {})
    tables: list[Lines] = []

    def table(name: str, values: Array) -> None:
        rows = ["    {" + ", ".join(code.number(v) for v in row) + "}," for row in values]
        tables.append([f"static const {real} test_{name}[{len(values)}][{values.shape[1]}] = {{",
                       *rows, "};"])  # fmt: skip

    table("x", X)
    for name, values in right.items():
        table("p" if name == "probabilities" else name, values)
    outputs = ["p" if name == "probabilities" else name for name in kept.outputs]
    unit = "1"
    if not kept.is_classifier:
        unit = "test_unit[i][j]" if "std" not in right else "test_std[i][j]"
    if "unit" in unit:
        table("unit", unit_of(right))
    size = next(iter(right.values())).shape[1]
    several = size > 1 or kept.is_classifier
    declared = ", ".join(f"{name}[{size}]" if several else name for name in outputs)
    passed = ", ".join(name if several else f"&{name}" for name in outputs)
    verb = "predict_proba" if kept.is_classifier else "predict"
    allowed = f"{code.number(TOLERANCES[real])} * {unit} + {code.number(slack(right, real))}"
    body: Lines = []
    for name in outputs:
        value = f"{name}[j]" if several else name
        body += [
            f"for (int j = 0; j < {size}; j++) {{",
            f"    const {real} t = {code.call('fabs')}({value} - test_{name}[i][j]);",
            f"    worst = t / {unit} > worst ? t / {unit} : worst;",
            f"    if (!(t <= {allowed}))",
            "        failed = 1;",
            "}",
        ]
    of = "" if kept.is_classifier else " of a standard deviation"
    of = " of the spread" if not kept.is_classifier and "std" not in right else of
    return [
        f"#if defined({word.upper()}_SELF_TEST) || defined({word}_SELF_TEST)",
        "#include <stdio.h>",
        "",
        *(line for lines in tables for line in lines),
        "",
        "/* 0 if the function says what the exported model said of the same inputs. */",
        "int main(void)",
        "{",
        f"    {real} worst = 0, {declared};",
        "    int failed = 0;",
        f"    for (int i = 0; i < {len(X)}; i++) {{",
        f"        {word}_{verb}(test_x[i], {passed});",
        *(f"        {line}" for line in body),
        "    }",
        f'    printf("{word}: %s, largest difference %g{of}\\n", failed ? "wrong" : "right",',
        "        (double)worst);",
        "    return failed;",
        "}",
        "#endif",
    ]


def _joined(definitions: dict[str, Lines]) -> Lines:
    return [line for lines in definitions.values() for line in [*lines, ""]]


def _text(lines: Lines) -> str:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return "\n".join(lines) + "\n"
