"""``python -m benchmarks.beyond_memory``: fits to files that are read in chunks.

Friedman's first function with noise of variance 1, ten inputs and 500 centres, length scales given.
Each part prints the seconds of the fit, CPU seconds of one thread, the largest memory of the
process, and the CPU time relative to that of the kernel and its products alone, for the same rows.
The files are made in a temporary directory, a few rows at a time, and removed.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from sparsebayes import RVR
from sparsebayes.basis import RBF, Bias
from sparsebayes.datasets import make_friedman1
from sparsebayes.rows import CSV, Parquet

Array = np.ndarray
SCALES = np.array([0.8, 0.8, 0.9, 3.0, 4.0, *[30.0] * 5])  # about those learned
NAMES = [f"x{j}" for j in range(10)]
STEP = 100_000  # rows that are made at a time
ROWS = {"csv": 2_000_000, "parquet": 2_000_000, "memmap": 10_000_000}
BATCH = 8192  # rows of the kernel at a time


def parts(n_rows: int) -> Iterator[tuple[Array, Array]]:
    for seed, first in enumerate(range(0, n_rows, STEP)):
        X, y, _ = make_friedman1(min(STEP, n_rows - first), random_state=seed)
        yield X, y


def make_csv(folder: Path, n_rows: int) -> Callable[[], tuple[Any, ...]]:
    path = folder / "big.csv"
    with path.open("w") as stream:
        stream.write(",".join([*NAMES, "y"]) + "\n")
        for X, y in parts(n_rows):
            rows = np.column_stack([X, y]).tolist()
            stream.writelines(",".join(map(repr, row)) + "\n" for row in rows)
    return lambda: (CSV(path, target="y"),)


def make_parquet(folder: Path, n_rows: int) -> Callable[[], tuple[Any, ...]]:
    import pyarrow
    import pyarrow.parquet

    path = folder / "big.parquet"
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in [*NAMES, "y"]])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for X, y in parts(n_rows):
            writer.write_table(pyarrow.table([*X.T, y], schema=schema))
    return lambda: (Parquet(path, target="y"),)


def make_memmap(folder: Path, n_rows: int) -> Callable[[], tuple[Any, ...]]:
    paths, shapes = (folder / "X.npy", folder / "y.npy"), ((n_rows, 10), (n_rows,))
    files = [
        np.lib.format.open_memmap(path, "w+", np.float32, shape)
        for path, shape in zip(paths, shapes, strict=True)
    ]
    for k, (X, y) in enumerate(parts(n_rows)):
        files[0][k * STEP : k * STEP + len(X)] = X
        files[1][k * STEP : k * STEP + len(X)] = y
    del files
    return lambda: tuple(np.load(path, mmap_mode="r") for path in paths)


MAKE = {"csv": make_csv, "parquet": make_parquet, "memmap": make_memmap}


def alone(basis: Any, n_rows: int) -> float:
    """CPU seconds of the kernel and its products, for rows that are held."""
    X, y, _ = make_friedman1(min(STEP, n_rows), random_state=0)
    basis = basis.fit(X)
    gram, moments = np.zeros((basis.n_functions_,) * 2), np.zeros(basis.n_functions_)
    before = time.process_time()
    for first in range(0, len(X), BATCH):
        columns = basis.columns(X[first : first + BATCH])
        gram += columns.T @ columns
        moments += columns.T @ y[first : first + BATCH]
    return (time.process_time() - before) * n_rows / len(X)


def benchmark(kind: str, n_rows: int) -> None:
    """A fit to a file of one kind."""
    centres = make_friedman1(500, random_state=12345)[0]
    kernel = RBF(SCALES, centres=centres)
    with tempfile.TemporaryDirectory() as folder:
        opened = MAKE[kind](Path(folder), n_rows)
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**30
        wall, before = time.perf_counter(), time.process_time()
        model = RVR(kernel, adapt=None, calibrate=None).fit(*opened())
        wall, seconds = time.perf_counter() - wall, time.process_time() - before
        reading = 0.0
        if kind != "memmap":
            start = time.perf_counter()
            for _ in opened()[0]:
                pass
            reading = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    products = alone(Bias() + kernel, n_rows)
    X, y, f = make_friedman1(10_000, random_state=54321)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the columns have no names here
        mean, std = model.predict(X, return_std=True)
    print(
        f"{kind}, {n_rows} x 10, {size:.2f} GB: {wall:.1f} s, {seconds:.1f} CPU s, {memory:.2f} GB"
    )
    print(f"  times the kernel and its products alone ({products:.1f} CPU s): "
          f"{seconds / products:.2f}")  # fmt: skip
    if reading:
        print(f"  reading alone: {n_rows / reading:.0f} rows/s a pass")
    print(
        f"  {len(model.relevance_)} functions, error {np.sqrt(np.mean((mean - f) ** 2)):.4f}, "
        f"95 % intervals cover {100 * np.mean(np.abs(y - mean) < 1.96 * std):.1f} %",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beyond_memory", description=__doc__)
    parser.add_argument("--only", choices=tuple(MAKE))
    parser.add_argument("--rows", type=int, help="rows of the file")
    arguments = parser.parse_args()
    if arguments.only is None:  # each by itself: a process has one largest memory
        for name in MAKE:
            rows = [] if arguments.rows is None else ["--rows", str(arguments.rows)]
            command = [sys.executable, "-m", "benchmarks.beyond_memory", "--only", name, *rows]
            subprocess.run(command, check=True)
    else:
        with threadpool_limits(1):
            benchmark(arguments.only, arguments.rows or ROWS[arguments.only])
