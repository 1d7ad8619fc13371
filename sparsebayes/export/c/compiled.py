"""Exported C, compiled here and asked what it predicts."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparsebayes.export.c.source import identifier, to_c
from sparsebayes.export.formats import Precision
from sparsebayes.export.programs.models import program_of
from sparsebayes.export.programs.program import Program

Array = np.ndarray

FLAGS = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2")
_COMPILERS = ("cc", "gcc", "clang")
_SECONDS = 120  # for a compiler or the compiled program
_DRIVER = """\
#include <stdio.h>

#include "{name}.h"

int main(void)
{{
    {real} x[{inputs}], out[{outputs}];
    FILE *in = fopen("inputs.bin", "rb"), *to = fopen("outputs.bin", "wb");
    if (in == NULL || to == NULL)
        return 2;
    while (fread(x, sizeof x, 1, in) == 1) {{
        {call};
        if (fwrite(out, sizeof out, 1, to) != 1)
            return 3;
    }}
    fclose(in);
    return fclose(to);
}}
"""


class CompilerError(RuntimeError):
    """The compiler, or the program that it made, failed."""


def find_compiler() -> list[str] | None:
    """The C compiler of this machine: ``CC`` if it is set, or one on the path; None without one."""
    chosen = shlex.split(os.environ.get("CC", ""))
    for command in [chosen] if chosen else [[name] for name in _COMPILERS]:
        if shutil.which(command[0]):
            return command
    return None


def run_c(
    model: Any,
    X: Array,
    *,
    dtype: Precision = "double",
    std: bool = True,
    name: str = "model",
    compiler: Sequence[str] = ("cc",),
    flags: Sequence[str] = FLAGS,
    link: Sequence[str] = (),
    runner: Sequence[str] = (),
) -> tuple[dict[str, Array], int]:
    """What the exported C says at the rows of X, and how many bytes its object file takes.

    Parameters
    ----------
    model : as in :func:`to_c`
    X : ndarray, (n, D)
    dtype, std, name
        As in :func:`to_c`.
    compiler, flags, link : sequence of str
        `link` is for the program alone, as a start-up file.
    runner : sequence of str
        What runs a program for another machine, as an emulator.

    Raises
    ------
    CompilerError

    Returns
    -------
    outputs : dict of str to ndarray
        As of `Program.run`.
    n_bytes : int
        Code and constants of the object file; 0 if there is no `size`.
    """
    program = program_of(model)
    wanted = list(program.outputs) if std else [key for key in program.outputs if key != "std"]
    sizes = [program.size(key) for key in wanted]
    real = np.dtype(np.float32 if dtype == "float" else np.float64)
    driver = _DRIVER.format(
        name=name,
        real=dtype,
        inputs=program.n_inputs,
        outputs=sum(sizes),
        call=function_call(program, wanted, name),
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file, text in {
            **to_c(model, name=name, dtype=dtype, std=std),
            "driver.c": driver,
        }.items():
            (place / file).write_text(text, encoding="utf-8")
        (place / "inputs.bin").write_bytes(np.ascontiguousarray(X, dtype=real).tobytes())
        _call([*compiler, *flags, "-c", f"{name}.c", "-o", "model.o"], place)
        _call([*compiler, *flags, "driver.c", "model.o", *link, "-lm", "-o", "driver"], place)
        _call([*runner, str(place / "driver")], place)
        found = np.frombuffer((place / "outputs.bin").read_bytes(), dtype=real)
        n_bytes = _object_size(compiler[0], place)
    rows = np.split(found.reshape(len(X), -1), np.cumsum(sizes)[:-1], axis=1)
    return dict(zip(wanted, rows, strict=True)), n_bytes


def function_call(program: Program, outputs: Sequence[str], name: str = "model") -> str:
    """The call of the exported function that puts its outputs after each other into ``out``."""
    sizes = [program.size(output) for output in outputs]
    places = [f"out + {start}" for start in np.cumsum([0, *sizes[:-1]])]
    verb = "predict_proba" if program.is_classifier else "predict"
    return f"{identifier(name)}_{verb}(x, {', '.join(places)})"


def _call(command: Sequence[str], place: Path) -> str:
    try:
        done = subprocess.run(
            command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerError(f"{shlex.join(command)} failed: {error}") from error
    if done.returncode:
        told = " ".join((done.stderr or done.stdout).split())[:500]
        raise CompilerError(f"{shlex.join(command)} failed with status {done.returncode}: {told}")
    return done.stdout


def _object_size(compiler: str, place: Path) -> int:
    """Code and data of model.o, by the `size` that goes with the compiler."""
    tool = shutil.which(compiler.replace("gcc", "size")) if "gcc" in compiler else None
    tool = tool or shutil.which("size")
    if tool is None:
        return 0
    numbers = _call([tool, "model.o"], place).splitlines()[1].split()
    return int(numbers[0]) + int(numbers[1])
