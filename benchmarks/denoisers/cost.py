"""Time and memory of denoising, in those of one transform there and back and in arrays."""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import tracemalloc
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pywt

from benchmarks.denoisers import cases, models
from benchmarks.denoisers.models import ASH, MAPPED_OPTIONS, OPTIONS, OURS, SPARSE, Record
from benchmarks.peers.denoisers import WAVELET, bayes_shrink
from benchmarks.tools import tables
from benchmarks.tools.measure import anonymous_peak, one_thread, peak_memory, timed
from sparsebayes import denoise
from sparsebayes.datasets import make_signal

Array = np.ndarray

LENGTHS, SIDES = tuple(2**k for k in (16, 18, 20, 22)), (512, 2048)
SHAPES = {
    **{str(n): (n,) for n in LENGTHS},
    **{f"{n}x{n}": (n, n) for n in SIDES},
}
GROWN, MAPPED = "growth", "memory-map"
SEEDS = (*SHAPES, GROWN, MAPPED)
QUICK = ("65536",)
TURNS = ((2**18, 15), (2**20, 9), (2**23, 5))  # (samples up to, repetitions)
QUICK_TURNS = 3
GROWTH, GROWTH_TURNS = (20, 23), 7  # sizes, as powers of two
MAPPED_SIZE, CHUNK = 10**8, 10**6
MODE = "periodization"
BOTH, BAND, PEER = "transforms", "denoise and std", "BayesShrink"

FACTOR, SECONDS = 12.0, 1.5  # 2²⁰ samples in transforms of all shifts; an image of 512²
ARRAYS, LINEAR = 6.0, 1.1  # memory of sparse beyond the input; exponent of the time
CONSTANT = 1.5  # memory for ten times as many samples of a file


def noisy(shape: tuple[int, ...]) -> Array:
    """Bumps at SNR 5; or the camera's image, mirrored to the size, with noise 25."""
    if len(shape) == 1:
        return make_signal("bumps", shape[0], snr=5, random_state=0)[1]
    truth = pywt.data.camera().astype(float)
    pad = [(0, side - have) for side, have in zip(shape, truth.shape, strict=True)]
    return cases.noisy(np.pad(truth, pad, "symmetric"), 25.0, 0).y


def there_and_back(y: Array, wavelet: str = WAVELET) -> Array:
    """One transform forward and one inverse, by PyWavelets."""
    if y.ndim == 1:
        return pywt.waverec(pywt.wavedec(y, wavelet, MODE), wavelet, MODE)
    return pywt.waverec2(pywt.wavedec2(y, wavelet, MODE), wavelet, MODE)


def calls(wavelet: str = WAVELET) -> dict[str, Callable[[Array], Any]]:
    """What is timed: the transforms; ours, with its band too; scikit-image's."""
    return {
        BOTH: partial(there_and_back, wavelet=wavelet),
        OURS: lambda y: denoise(y),
        BAND: lambda y: denoise(y).std,
        ASH: lambda y: denoise(y, **OPTIONS[ASH]),
        SPARSE: lambda y: denoise(y, **OPTIONS[SPARSE]),
        PEER: bayes_shrink,
    }


def times(y: Array, turns: int) -> Record:
    """Median seconds, and medians of the ratios to the transforms of the same turn."""
    with one_thread():
        found = denoise(y)
        timed_calls = calls(models.wavelet(found))
        seconds: dict[str, list[float]] = {name: [] for name in timed_calls}
        for call in timed_calls.values():
            call(y)
        for _ in range(turns):
            for name, call in timed_calls.items():
                seconds[name].append(timed(call, y)[1])
    ratios = {
        name: median(a / b for a, b in zip(some, seconds[BOTH], strict=True))
        for name, some in seconds.items()
    }
    return {
        "shifts": models.n_shifts(found),
        "wavelet": models.wavelet(found),
        "seconds": {name: median(some) for name, some in seconds.items()},
        "ratios": ratios,
    }


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


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Time all sizes here; memory is measured by processes of their own. Files only if asked."""
    usual = QUICK if options.quick else (*SHAPES, GROWN)
    for name in only or usual:
        if name in done:
            continue
        if name == GROWN:
            yield name, growth(GROWTH_TURNS)
        elif name == MAPPED:
            size = options.size or MAPPED_SIZE
            yield name, {"peaks": [_child(MAPPED, n) for n in (size // 10, size)]}
        else:
            shape = SHAPES[name]
            size = math.prod(shape)
            most = next((count for limit, count in TURNS if size <= limit), TURNS[-1][1])
            found = times(noisy(shape), QUICK_TURNS if options.quick else most)
            yield name, {"shape": list(shape), **found, **_child(*shape)}


def _child(*arguments: object) -> Record:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.denoisers.cost", *map(str, arguments)],
        cwd=Path(__file__).resolve().parents[2],
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


def write_signal(path: Path, size: int) -> None:
    """A wave with steps and noise, written piece by piece."""
    stored = np.lib.format.open_memmap(path, "w+", np.float32, (size,))
    rng = np.random.default_rng(0)
    for start in range(0, size, CHUNK):
        t = np.arange(start, min(start + CHUNK, size))
        clean = np.sin(t / 500.0) + (t // 10_000) % 3
        stored[start : start + t.size] = clean + 0.3 * rng.standard_normal(t.size)
    stored.flush()


def mapped(size: int) -> Record:
    """Denoise a memory-mapped file: seconds, and the peak of memory that is not the file's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "signal.npy"
        write_signal(path, size)
        y = np.load(path, mmap_mode="r")
        with one_thread():
            denoise(np.array(y[:4096]))
            call = partial(denoise, y, **MAPPED_OPTIONS)
            (found, seconds), peak = anonymous_peak(partial(timed, call))
        shape = list(found.signal.shape)
        del call, found, y  # before the file goes
    return {"size": size, "shape": shape, "seconds": seconds, "memory": peak}


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    long, picture = records.get(str(2**20)), records.get("512x512")
    if long:
        ratio = long["ratios"][BAND] / long["shifts"]
        what = f"2²⁰ samples, with band: time / transforms of its {long['shifts']} shifts"
        yield tables.at_most(what, ratio, FACTOR)
        arrays = long["resident"][SPARSE]
        if arrays is not None:
            what = "2²⁰ samples, sparse: peak memory beyond the input, arrays"
            yield what, f"≤ {ARRAYS:g}", f"{arrays:.1f}", arrays <= ARRAYS
    if picture:
        seconds = picture["seconds"][BAND]
        what = "image of 512², with band: time, s"
        yield what, f"< {SECONDS:g}", f"{seconds:.2f}", seconds < SECONDS
    if GROWN in records:
        exponent = records[GROWN]["total"][0]
        what = "exponent of the time, 2²⁰ to 2²³ samples"
        yield what, f"≤ {LINEAR:g}", f"{exponent:.2f}", exponent <= LINEAR
    if MAPPED in records:
        less, more = records[MAPPED]["peaks"]
        if more["memory"] is not None:
            ratio = more["memory"] / less["memory"]
            what = f"file of {more['size']} samples: peak memory / that of {less['size']}"
            yield tables.at_most(what, ratio, CONSTANT)


def to_markdown(records: Mapping[str, Record]) -> str:
    """One row for each size."""
    rows = []
    sizes = [record for record in records.values() if "ratios" in record]
    for record in sorted(sizes, key=lambda one: (len(one["shape"]), one["shape"])):
        ratios, resident = record["ratios"], record["resident"]
        rows.append(
            (
                " × ".join(map(str, record["shape"])),
                f"{record['shifts']}, {record['wavelet']}",
                *(tables.number(1e3 * record["seconds"][name], 3) for name in (BOTH, OURS, BAND)),
                tables.fixed(ratios[BAND] / record["shifts"], 2),
                *(tables.fixed(ratios[name], 2) for name in (OURS, BAND, ASH, SPARSE, PEER)),
                *(tables.fixed(resident[name], 1) for name in (BOTH, OURS, BAND, ASH, SPARSE)),
            )
        )
    header = (
        "samples", "shifts", "transforms, ms", "denoise, ms", "with std, ms",
        "with std / transforms of all shifts", "denoise / transforms", "with std", ASH, SPARSE,
        PEER, "arrays: transforms", "denoise", "with std", ASH, SPARSE,
    )  # fmt: skip
    said = [NOTES]
    if rows:
        said += [tables.table(header, rows) + "\n"]
    if GROWN in records:
        total, user = (
            "N^{:.2f} ({:.2f} to {:.2f})".format(*records[GROWN][key]) for key in ("total", "user")
        )
        said.append(
            f"The time of `denoise` grows from 2²⁰ to 2²³ samples as {total}, median and range "
            f"of {GROWTH_TURNS} turns; without the kernel's, most for fresh pages, as {user}.\n"
        )
    for one in records.get(MAPPED, {}).get("peaks", ()):
        said.append(
            f"A memory-mapped file of {one['size']} samples: {one['seconds']:.1f} s, peak memory "
            f"{tables.fixed(one['memory'], 0)} MB, without the pages of the file.\n"
        )
    return "\n".join(said)


NOTES = """\
Transforms: `pywt.wavedec` and `waverec` (`wavedec2`, `waverec2`), the wavelet of the default if it
has one, else sym8, periodised, all levels: one shift. Ratios are to them, medians over turns (15 up
to 2¹⁸ samples, 9 up to 2²⁰, then 5) in each of which every call is made once. Signals are Bumps at
SNR 5, images the camera's, mirrored to the size, with noise 25. BayesShrink is scikit-image's with
sym8. Arrays: by how much the resident memory of a process of its own rose at the peak of the call,
in the size of the input, which does not count. Files (`--only time --data memory-map`) are
single precision.
"""


if __name__ == "__main__":
    if sys.argv[1] == MAPPED:
        print(json.dumps(mapped(int(sys.argv[2]))))
    else:
        print(json.dumps(memory(noisy(tuple(map(int, sys.argv[1:]))))))
