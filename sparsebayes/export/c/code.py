"""C99 as it is written step by step: numbers, constants, loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsebayes.export.programs.program import INPUT, ProgramStep

Array = np.ndarray
Lines = list[str]


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
    _arrays: dict[tuple[tuple[int, ...], bytes], str] = field(default_factory=dict)

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
        known = values.shape, values.tobytes()
        if known not in self._arrays:  # the same numbers are kept once
            self._arrays[known] = name = f"{step.name}_{key}"
            self.n_bytes += values.size * (8 if self.real == "double" else 4)
            self.constants[name] = definition(self.real, name, values, self.number)
        return self._arrays[known]

    def whole(self, step: ProgramStep, key: str) -> str:
        """The same of whole numbers from 0 on."""
        values = step.constants[key].astype(int)
        name, most = f"{step.name}_{key}", int(values.max())
        kind, size = ("unsigned char", 1) if most < 256 else ("unsigned short", 2)
        if most >= 1 << 16:
            kind, size = "unsigned long", 8
        self.n_bytes += values.size * size
        self.constants[name] = definition(kind, name, values, str)
        return name

    def function(self, name: str, lines: Lines) -> str:
        """A function that several steps may call."""
        self.functions[name] = [line.replace("REAL", self.real) for line in lines]
        return name


def definition(kind: str, name: str, values: Array, write: Callable[[Any], str]) -> Lines:
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
