"""An overcomplete dictionary on many samples, in a process of its own, for its peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.denoisers.bands import scored, width
from benchmarks.peers.denoisers import OURS
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, process_peak, timed
from sparsebayes import denoise
from sparsebayes.datasets import make_signal

Array = np.ndarray
Record = dict[str, Any]

SIZE, QUICK_SIZE = 2**16, 2**12
SEEDS = DICTIONARIES = ("sym8", "dct", "sym8+dct")
SECONDS, MEMORY = 120.0, 2048.0  # MB
SNR = 5.0


def bumps_and_tones(size: int) -> tuple[Array, Array]:
    """Bumps and two tones off the grid of the cosine transform, with noise and without."""
    bumps = make_signal("bumps", size, snr=None)[2]
    t = (np.arange(size) + 0.5) / size
    tones = sum(np.cos(np.pi * (size // part + 0.37) * t) for part in (20, 7))
    truth = bumps + bumps.std() * tones  # each has half the variance of Bumps
    noise = np.random.default_rng(0).normal(size=size)
    return truth + truth.std() / SNR * noise, truth


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """A child process for each dictionary; yields ("size/dictionary", record)."""
    size = options.size or (QUICK_SIZE if options.quick else SIZE)
    for name in only or DICTIONARIES:
        if f"{size}/{name}" in done:
            continue
        ended = subprocess.run(
            [sys.executable, "-m", "benchmarks.denoisers.union", name, str(size)],
            cwd=Path(__file__).resolve().parents[2],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        yield f"{size}/{name}", json.loads(ended.stdout.splitlines()[-1])


def child(dictionary: str, size: int) -> Record:
    """Denoise in this process; the peaks are of the whole process, without and with the band."""
    y, truth = bumps_and_tones(size)
    with one_thread():
        found, seconds = timed(partial(denoise, method="sparse"), y, dictionary)
        peak = process_peak()
        std, more = timed(lambda: found.std)
    score = scored(truth, float(truth.var()) / SNR**2, {OURS: found.signal}, {OURS: std})
    return {
        "size": size,
        "dictionary": dictionary,
        "fit": seconds,
        "memory": peak,
        "band": more,
        "band_memory": process_peak(),
        "kept": int(found.n_active),
        "converged": bool(found.converged),
        **score,
    }


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    record = records.get(f"{SIZE}/sym8+dct")
    if record:
        seconds, memory = record["fit"], record["memory"]
        what = f"sym8 + dct, N = {SIZE}"
        yield f"{what}: time, s", f"< {SECONDS:g}", f"{seconds:.1f}", seconds < SECONDS
        yield f"{what}: peak memory, MB", f"< {MEMORY:g}", f"{memory:.0f}", memory < MEMORY


def to_markdown(records: Mapping[str, Record]) -> str:
    """One row for each dictionary."""
    rows = [
        (
            record["dictionary"],
            str(record["size"]),
            tables.seconds(record["fit"]),
            tables.seconds(record["band"]),
            tables.fixed(record["memory"], 0),
            tables.fixed(record["band_memory"], 0),
            str(record["kept"]),
            tables.number(100 * record["errors"][OURS], 3),
            tables.fixed(100 * record["coverage"][OURS], 1),
            tables.fixed(width(record), 2),
            "yes" if record["converged"] else "no",
        )
        for record in records.values()
    ]
    header = (
        "dictionary",
        "N",
        "denoise, s",
        "std, s",
        "peak of the process, MB",
        "with std",
        "kept",
        "squared error, % of σ²",
        "coverage, %",
        "std / RMSE",
        "converged",
    )
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
Bumps and two tones, each with half the variance of Bumps, SNR {SNR:g}: neither wavelets nor cosines
alone are sparse. `method="sparse"`.
"""


if __name__ == "__main__":
    print(json.dumps(child(sys.argv[1], int(sys.argv[2]))))
