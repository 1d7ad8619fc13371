"""RVR alone on many samples, in a process of its own, for its peak memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _tables

SIZE, QUICK_SIZE = 20_000, 5_000


def run(quick: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Start the child process and read its record; yields (size, record)."""
    size = str(QUICK_SIZE if quick else SIZE)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.large", size],
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    yield size, json.loads(done.stdout.splitlines()[-1])


def child(size: int) -> dict[str, Any]:
    """Fit in this process; the peak is of the whole process, interpreter and libraries too."""
    from benchmarks._measure import one_thread, timed
    from benchmarks._models import our_rvr
    from benchmarks._tasks import friedman

    task, model = friedman(size), our_rvr()
    with one_thread():
        fitted, seconds = timed(model.fit, task)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mean, predict = timed(model.predict, fitted, task)
    return {
        "size": size,
        "fit": seconds,
        "predict": predict,
        "memory": peak / (2**20 if sys.platform == "darwin" else 2**10),
        "rmse": float(np.sqrt(np.mean((mean - task.f_test) ** 2))),
        "kept": int(model.kept(fitted)),
        "evidence": model.evidence(fitted, task),
    }


def to_markdown(records: dict[str, dict[str, Any]]) -> str:
    """One row for each size."""
    header = ("N", "fit, s", "predict 1000, ms", "peak of the process, MB", "RMSE", "vectors")
    rows = [
        (
            str(record["size"]),
            _tables.seconds(record["fit"]),
            _tables.number(1e3 * record["predict"], 3),
            _tables.fixed(record["memory"], 0),
            _tables.number(record["rmse"], 3),
            str(record["kept"]),
            _tables.fixed(record["evidence"], 2),
        )
        for record in records.values()
    ]
    return _tables.table((*header, "log evidence"), rows) + "\n"


if __name__ == "__main__":
    print(json.dumps(child(int(sys.argv[1]))))
