"""One machine alone on many samples, in a process of its own, for its peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tools import tables

SECTIONS = ("large", "moons-large")  # RVR on Friedman #1, RVC on moons
SIZE, QUICK_SIZE = 20_000, 5_000
MEMORY = 4096.0  # MB
Records = dict[str, dict[str, Any]]


def run(quick: bool, section: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Start the child process and read its record; yields (size, record)."""
    size = str(QUICK_SIZE if quick else SIZE)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.large", section, size],
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    yield size, json.loads(done.stdout.splitlines()[-1])


def child(section: str, size: int) -> dict[str, Any]:
    """Fit in this process; the peak is of the whole process, interpreter and libraries too."""
    from benchmarks import classification, regression
    from benchmarks.peers.classifiers import our_rvc
    from benchmarks.peers.regressors import our_rvr
    from benchmarks.tools.measure import one_thread, process_peak, timed
    from benchmarks.tools.tasks import friedman, moons

    if section == "large":
        task, model, describe = friedman(size), our_rvr(), regression.describe
    else:
        task, model, describe = moons(size), our_rvc(), classification.describe
    with one_thread():
        fitted, seconds = timed(model.fit, task)
        peak = process_peak()
        return {"size": size, "fit": seconds, "memory": peak, **describe(model, fitted, task)}


def limits(results: dict[str, Records], section: str) -> Iterator[tables.Limit]:
    """The limit on the memory, if it was measured."""
    record = results.get(section, {}).get(str(SIZE))
    if record:
        memory = record["memory"]
        name = "N" if section == "large" else "moons, N"
        what = f"{name} = {SIZE}: peak memory, MB"
        yield what, f"< {MEMORY:g}", f"{memory:.0f}", memory < MEMORY


def _cells(record: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(record["size"]),
        tables.seconds(record["fit"]),
        tables.number(1e3 * record["predict"], 3),
        tables.fixed(record["memory"], 0),
    )


HEADER = ("N", "fit, s", "predict 1000, ms", "peak of the process, MB")


def to_markdown(records: Records) -> str:
    """One row for each size of Friedman #1."""
    rows = [
        (
            *_cells(record),
            tables.number(record["rmse"], 3),
            str(record["kept"]),
            tables.fixed(record["evidence"], 2),
        )
        for record in records.values()
    ]
    return tables.table((*HEADER, "RMSE", "vectors", "log evidence"), rows) + "\n"


def moons_to_markdown(records: Records) -> str:
    """One row for each size of the moons."""
    rows = [
        (
            *_cells(record),
            tables.fixed(100 * record["error"], 2),
            tables.fixed(record["log_loss"], 4),
            tables.fixed(record["ece"], 4),
            str(record["kept"]),
        )
        for record in records.values()
    ]
    return tables.table((*HEADER, "error, %", "log loss", "ECE", "vectors"), rows) + "\n"


if __name__ == "__main__":
    print(json.dumps(child(sys.argv[1], int(sys.argv[2]))))
