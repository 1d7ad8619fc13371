"""``python -m benchmarks.export_device``: models as C, on this machine and on a microcontroller.

For each model: bytes of the object file for a Cortex-M0 (``-Os``), instructions of one prediction
there, counted by an emulator (arm-none-eabi-gcc and qemu-system-arm), and the time of one
prediction on this machine (``cc -O2``) beside that of Python's ``predict(X, return_std=True)`` or
``predict_proba`` of one row. The difference is the largest from Python at 1000 inputs, in
standard deviations of the prediction, of probabilities as they are.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sparsebayes import RVC, RVR, ReducedRankGPR
from sparsebayes.datasets import load_gases, load_sensor, make_friedman1, make_sensor
from sparsebayes.export import to_c
from sparsebayes.export.c.compiled import FLAGS, find_compiler, function_call, run_c
from sparsebayes.export.programs.differences import largest_difference
from sparsebayes.export.programs.models import program_of

Array = np.ndarray
ARM = ["arm-none-eabi-gcc", "-Os", "-std=c99", "-mcpu=cortex-m0", "-mthumb"]
BOARD = ["qemu-system-arm", "-M", "mps2-an385", "-nographic", "-semihosting", "-icount", "shift=0"]
TICK = 40  # instructions of the emulator in one tick of the board's timer, of 25 MHz
CALLS = 20
# The same prediction many times, between two readings of the timer of the core.
COUNTER = """\
#include <stdio.h>
#include "model.h"
#define CONTROL (*(volatile unsigned *)0xE000E010)
#define RELOAD (*(volatile unsigned *)0xE000E014)
#define NOW (*(volatile unsigned *)0xE000E018)
extern void _start(void);
__attribute__((section(".vectors"), used)) static const struct {{
    unsigned long stack;
    void (*reset)(void);
}} vectors = {{0x20400000UL, _start}};
int main(void)
{{
    static const {real} x[{inputs}] = {{{values}}};
    {real} out[{outputs}];
    unsigned begin;
    RELOAD = 0xFFFFFF;
    NOW = 0;
    CONTROL = 5;
    begin = NOW;
    for (int i = 0; i < {calls}; i++)
        {call};
    printf("%u\\n", (begin - NOW) & 0xFFFFFF);
    return 0;
}}
"""
TIMER = """\
#include <stdio.h>
#include <time.h>
#include "model.h"
int main(void)
{{
    double x[{inputs}] = {{{values}}}, out[{outputs}], sum = 0;
    const clock_t begin = clock();
    int n = 0;
    while (clock() - begin < CLOCKS_PER_SEC / 5)
        for (int i = 0; i < 1000; i++, n++) {{
            {call};
            sum += out[0];
            x[0] += 1e-9;
        }}
    printf("%.17g %g\\n", (double)(clock() - begin) / CLOCKS_PER_SEC / n, sum);
    return 0;
}}
"""


def models() -> Iterator[tuple[str, Any]]:
    """Names and fitted models."""
    sensor, gases = load_sensor(), load_gases()
    yield "RVR(), sensor", RVR().fit(sensor.data, sensor.target)
    X, y, _ = make_friedman1(240, random_state=0)
    yield "RVR(), Friedman #1", make_pipeline(StandardScaler(), RVR()).fit(X, y)
    small = ReducedRankGPR(n_support=10, augment=False, random_state=0)
    yield (
        "ReducedRankGPR(n_support=10, augment=False), sensor",
        small.fit(sensor.data, sensor.target),
    )
    yield "RVC(), gases", make_pipeline(StandardScaler(), RVC()).fit(gases.data, gases.target)
    squares = make_pipeline(StandardScaler(), RVC(link="least_squares"))
    yield 'RVC(link="least_squares"), gases', squares.fit(gases.data, gases.target)


def driver(text: str, model: Any, x: Array, real: str) -> str:
    """A program around the exported function."""
    program = program_of(model)
    n_outputs = sum(program.size(name) for name in program.outputs)
    call = function_call(program, list(program.outputs))
    return text.format(
        real=real, inputs=x.size, outputs=n_outputs, calls=CALLS,
        values=", ".join(map(repr, x.tolist())), call=call,
    )  # fmt: skip


def output(model: Any, dtype: str, main: str, build: list[str], run: list[str]) -> tuple[str, Path]:
    """What a program around the exported function prints; the folder has the object file."""
    place = Path(tempfile.mkdtemp())
    for name, text in {**to_c(model, dtype=dtype), "main.c": main}.items():
        (place / name).write_text(text)
    subprocess.run([*build, "-c", "model.c"], cwd=place, check=True)
    subprocess.run([*build, "main.c", "model.o", "-lm", "-o", "main"], cwd=place, check=True)
    done = subprocess.run(
        [*run, "./main"], cwd=place, check=True, capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout, place


def on_a_device(model: Any, dtype: str, x: Array) -> tuple[str, str]:
    """Bytes of the object file for a Cortex-M0, and instructions of a prediction."""
    if not all(map(shutil.which, (ARM[0], BOARD[0]))):
        return "-", "-"
    build = [*ARM, "--specs=rdimon.specs", "-Wl,--section-start=.vectors=0"]
    main = driver(COUNTER, model, x, dtype)
    ticks, place = output(model, dtype, main, build, [*BOARD, "-kernel"])
    sizes = subprocess.run(
        ["arm-none-eabi-size", "model.o"], cwd=place, check=True, capture_output=True, text=True
    ).stdout.split()
    shutil.rmtree(place)
    n_bytes = int(sizes[6]) + int(sizes[7])
    return f"{n_bytes:,}", f"{round(int(ticks) * TICK / CALLS, -2):,.0f}"


def on_this_machine(model: Any, x: Array, compiler: list[str]) -> str:
    """The time of a prediction in C, and as a part of that in Python."""
    main = driver(TIMER, model, x, "double")
    told, place = output(model, "double", main, [*compiler, *FLAGS], [])
    shutil.rmtree(place)
    seconds, times = float(told.split()[0]), []
    predict = getattr(model, "predict_proba", None) or (lambda X: model.predict(X, return_std=True))
    for _ in range(200):
        begin = time.perf_counter()
        predict(x[None])
        times.append(time.perf_counter() - begin)
    return f"{1e6 * seconds:.2f} µs, 1/{np.median(times) / seconds:.0f}"


def python(model: Any, X: Array) -> dict[str, Array]:
    if hasattr(model, "predict_proba"):
        return {"probabilities": model.predict_proba(X)}
    mean, std = model.predict(X, return_std=True)
    return {"mean": mean[:, None], "std": std[:, None]}


def main() -> None:
    compiler = find_compiler()
    if compiler is None:
        raise SystemExit("A C compiler is needed: cc, gcc or clang, or the one that CC names.")
    print("| model | functions | numbers | Cortex-M0 | instructions | here | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, model in models():
        program = program_of(model)
        low, high = program.examples.min(axis=0), program.examples.max(axis=0)
        X = np.random.default_rng(0).uniform(low, high, (1000, low.size)).astype(np.float32)
        final = model[-1] if hasattr(model, "steps") else model
        count = len(final.relevance_ if hasattr(final, "relevance_") else final.support_)
        for dtype in ("float", "double"):
            rows = X.astype(np.float64)
            found, _ = run_c(model, rows, dtype=dtype, compiler=compiler)
            error = largest_difference(found, python(model, rows))
            there = " | ".join(on_a_device(model, dtype, rows[0]))
            here = on_this_machine(model, rows[0], compiler) if dtype == "double" else "-"
            print(f"| {name} | {count} | {dtype} | {there} | {here} | {error:.0e} |", flush=True)
    share = covered(compiler)
    print(f"\n{share:.1%} of 1000 new readings of the sensor within mean ± 1.96 std, in float")


def covered(compiler: list[str]) -> float:
    """How many new readings the bands of the compiled code cover."""
    sensor = load_sensor()
    X, y, _ = make_sensor(1000, random_state=1)
    found, _ = run_c(RVR().fit(sensor.data, sensor.target), X, dtype="float", compiler=compiler)
    inside = np.abs(y - found["mean"][:, 0]) < 1.96 * found["std"][:, 0]
    return float(inside.mean())


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
