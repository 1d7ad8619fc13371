"""Time and memory of denoising, in those of one transform there and back and in arrays."""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pywt

from benchmarks.images import image
from benchmarks.peers.denoisers import OURS, WAVELET, bayes_shrink
from benchmarks.signals import AVERAGE
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, peak_memory, timed
from sparsebayes import denoise
from sparsebayes.datasets import make_signal

Array = np.ndarray
Record = dict[str, Any]

LENGTHS = tuple(2**k for k in range(16, 24))
SIDES = (512, 1024, 2048)
QUICK_LENGTHS, QUICK_SIDES = (2**16, 2**18), (512,)
TURNS = ((2**18, 15), (2**20, 9), (2**23, 5))  # (samples up to, repetitions)
QUICK_TURNS = 3
GROWTH, GROWTH_TURNS = (20, 23), 7  # sizes, as powers of two
MODE = "periodization"
BOTH = "transforms"
BAND = "denoise and std"
PEER = "BayesShrink"


def noisy(shape: tuple[int, ...]) -> Array:
    """Bumps at SNR 5; or the camera's image, mirrored to the size, with noise 25."""
    if len(shape) == 1:
        return make_signal("bumps", shape[0], snr=5, random_state=0)[1]
    truth = image("camera")
    pad = [(0, side - have) for side, have in zip(shape, truth.shape, strict=True)]
    return np.pad(truth, pad, "symmetric") + 25.0 * np.random.default_rng(0).normal(size=shape)


def there_and_back(y: Array) -> Array:
    """One transform forward and one inverse, by PyWavelets."""
    if y.ndim == 1:
        return pywt.waverec(pywt.wavedec(y, WAVELET, MODE), WAVELET, MODE)
    return pywt.waverec2(pywt.wavedec2(y, WAVELET, MODE), WAVELET, MODE)


def calls() -> dict[str, Callable[[Array], Any]]:
    """What is timed: the transforms; ours, with its band, and by averaging; scikit-image's."""
    return {
        BOTH: there_and_back,
        OURS: denoise,
        BAND: lambda y: denoise(y).std,
        AVERAGE: lambda y: denoise(y, method="ash"),
        PEER: bayes_shrink,
    }


def times(y: Array, turns: int) -> Record:
    """Median seconds, and medians of the ratios to the transforms of the same turn."""
    seconds: dict[str, list[float]] = {name: [] for name in calls()}
    with one_thread():
        for call in calls().values():
            call(y)
        for _ in range(turns):
            for name, call in calls().items():
                seconds[name].append(timed(call, y)[1])
    ratios = {
        name: median(a / b for a, b in zip(some, seconds[BOTH], strict=True))
        for name, some in seconds.items()
    }
    return {"seconds": {name: median(some) for name, some in seconds.items()}, "ratios": ratios}


def memory(y: Array) -> Record:
    """Peaks of each call beyond the input, in its size: resident memory, and Python's account."""
    resident, traced = {}, {}
    with one_thread():
        for call in calls().values():
            call(y[tuple(slice(0, 64) for _ in y.shape)])
        for name, call in calls().items():
            rise = peak_memory(partial(call, y))[1]
            resident[name] = None if rise is None else rise * 2**20 / y.nbytes
            tracemalloc.start()
            call(y)
            traced[name] = tracemalloc.get_traced_memory()[1] / y.nbytes
            tracemalloc.stop()
    return {"resident": resident, "traced": traced}


def run(quick: bool, only: int | None = None) -> Iterator[tuple[str, Record]]:
    """Time all sizes here, and have memory measured by a process of its own; yields (shape, …)."""
    lengths, sides = (QUICK_LENGTHS, QUICK_SIDES) if quick else (LENGTHS, SIDES)
    shapes = [*((n,) for n in lengths), *((n, n) for n in sides)]
    for shape in shapes if only is None else [(only,)]:
        size = math.prod(shape)
        most = next((count for limit, count in TURNS if size <= limit), TURNS[-1][1])
        found = times(noisy(shape), QUICK_TURNS if quick else most)
        yield "x".join(map(str, shape)), {"shape": list(shape), **found, **_child(shape)}
    if only is None and not quick:
        yield "growth", growth(GROWTH_TURNS)


def _child(shape: tuple[int, ...]) -> Record:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.transforms", *map(str, shape)],
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def growth(turns: int) -> Record:
    """Exponents of the time of `denoise` between two sizes, made in turns over as many samples.

    `total` counts the kernel's time too, most of it for fresh pages; `user` does not.
    """
    inputs = [(noisy((2**k,)), 2 ** (GROWTH[1] - k)) for k in GROWTH]
    found: dict[str, list[float]] = {"total": [], "user": []}
    with one_thread():
        for y, _ in inputs:
            denoise(y)
        for _ in range(turns):
            costs = [cpu(denoise, y, count) for y, count in inputs]
            for key, values in found.items():
                first, last = (cost[key] for cost in costs)
                values.append(1.0 + math.log2(last / first) / (GROWTH[1] - GROWTH[0]))
    return {key: [median(values), min(values), max(values)] for key, values in found.items()}


def cpu(function: Callable[[Array], Any], y: Array, count: int) -> dict[str, float]:
    """CPU seconds of so many calls, all and without the kernel's."""
    gc.collect()
    before = os.times()
    for _ in range(count):
        function(y)
    after = os.times()
    user = after.user - before.user
    return {"total": user + after.system - before.system, "user": user}


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each size."""
    rows = []
    sizes = [record for record in records.values() if "shape" in record]
    for record in sorted(sizes, key=lambda one: (len(one["shape"]), one["shape"])):
        ratios, resident, traced = record["ratios"], record["resident"], record["traced"]
        rows.append(
            (
                " × ".join(map(str, record["shape"])),
                tables.number(1e3 * record["seconds"][BOTH], 3),
                tables.number(1e3 * record["seconds"][OURS], 3),
                *(tables.fixed(ratios[name], 2) for name in (OURS, BAND, AVERAGE, PEER)),
                *(tables.fixed(resident[name], 1) for name in calls()),
                *(tables.fixed(traced[name], 1) for name in (OURS, BAND)),
            )
        )
    header = (
        "samples",
        "transforms, ms",
        "denoise, ms",
        "denoise / transforms",
        "with std",
        "ash",
        "BayesShrink",
        "arrays: transforms",
        "denoise",
        "with std",
        "ash",
        "BayesShrink",
        "traced: denoise",
        "with std",
    )
    said = ""
    if "growth" in records:
        total, user = (
            "N^{:.2f} ({:.2f} to {:.2f})".format(*records["growth"][key])
            for key in ("total", "user")
        )
        said = (
            f"\nThe time of `denoise` grows from 2²⁰ to 2²³ samples as {total}, median and range "
            f"of {GROWTH_TURNS} turns; without the kernel's, most for fresh pages, as {user}.\n"
        )
    return f"{NOTES}\n{tables.table(header, rows)}\n{said}"


NOTES = """\
Transforms: `pywt.wavedec` and `waverec` (`wavedec2`, `waverec2`), sym8, periodised, all levels.
Ratios are to them, medians over turns (15 up to 2¹⁸ samples, 9 up to 2²⁰, then 5) in each of which
every call is made once. Signals are Bumps at SNR 5, images the camera's, mirrored to the size, with
noise 25. BayesShrink is scikit-image's with sym8. Arrays: by how much the resident memory of a
process of its own rose at the peak of the call, in the size of the input, which does not count.
Traced: the same by `tracemalloc`, which sees NumPy's arrays. Asked are at most 6 for the time and 6
for the memory of `denoise`.
"""


if __name__ == "__main__":
    print(json.dumps(memory(noisy(tuple(map(int, sys.argv[1:]))))))
