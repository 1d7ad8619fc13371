"""``python -m benchmarks.cluster``: fits to Dask arrays on worker processes of this machine.

Rows with ten inputs are made by the workers. `passes` is the time of the sums alone, without the
search; `workers` compares one worker with two. Seconds of the clock: leave the machine alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from sparsebayes import RVC, RVR
from sparsebayes.basis import RBF
from sparsebayes.rows.dask_rows import DaskRows

Array = np.ndarray
SCALES = np.array([0.8, 0.8, 0.9, 3.0, 4.0, *[30.0] * 5])  # about those learned
SIZES = (100_000, 300_000, 1_000_000)
CHUNK = 20_000
CENTRES = {"regression": 1000, "classes": 500}


def block(block_info: Any = None) -> Array:
    """Friedman's first function with noise of variance 1, in the last column."""
    first, last = block_info[None]["array-location"][0]
    rng = np.random.default_rng(block_info[None]["chunk-location"][0])
    X = rng.uniform(size=(last - first, 11))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    X[:, 10] = y + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(len(X))
    return X


def rows(n_rows: int) -> Any:
    sizes = (CHUNK,) * (n_rows // CHUNK)
    return da.map_blocks(block, chunks=(sizes, (11,)), dtype=float, meta=np.empty((0, 0)))


@contextmanager
def cluster(n_workers: int) -> Iterator[None]:
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit="1GiB", dashboard_address=None
        ) as started,
        Client(started) as client,
    ):
        client.run(np.zeros, 1)  # workers have their libraries
        dask.compute(*(dask.delayed(_warm)(k) for k in range(2 * n_workers)))
        yield


def _warm(number: int) -> float:
    import sparsebayes.rows.dask_rows  # noqa: F401

    return float(number)


class Timed:
    """The time of all passes while it is in use, and how many there were."""

    def __enter__(self) -> Timed:
        self.seconds, self.count, self._total = 0.0, 0, DaskRows.total

        def total(rows: DaskRows, work: Any) -> Any:
            before = time.perf_counter()
            found = self._total(rows, work)
            self.seconds += time.perf_counter() - before
            self.count += 1
            return found

        DaskRows.total = total  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        DaskRows.total = self._total  # type: ignore[method-assign]


def fit(task: str, n_rows: int) -> tuple[float, Timed, Any]:
    table, centres = rows(n_rows), CENTRES[task]
    X, y = table[:, :10], table[:, 10]
    points = np.random.default_rng(7).uniform(size=(centres, 10))
    basis = RBF(SCALES, centres=points)
    model: Any = RVR(basis, adapt=None, calibrate=None)
    if task == "classes":
        model, y = RVC(basis, link="logit"), (y > 14.5).astype(int)
    before = time.perf_counter()
    with Timed() as passes:
        model.fit(X, y)
    return time.perf_counter() - before, passes, model


def growth(task: str, sizes: tuple[int, ...]) -> None:
    """Time by the number of rows, on two workers."""
    seconds = []
    with cluster(2):
        for n_rows in sizes:
            whole, passes, model = fit(task, n_rows)
            seconds.append(passes.seconds)
            print(
                f"{task}, {n_rows} rows, {CENTRES[task]} centres: {whole:.1f} s, of which "
                f"{passes.seconds:.1f} s are {passes.count} passes; {len(model.relevance_)} "
                f"functions, evidence {model.log_evidence_:.1f}",
                flush=True,
            )
    if len(sizes) > 1 and task == "regression":
        slope = np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0])
        print(f"passes grow with the rows to the power {slope:.2f} (limit 1.1)")


def workers(n_rows: int) -> None:
    """The same passes by one worker and by two."""
    seconds = []
    for count in (1, 2):
        with cluster(count):
            seconds.append(fit("regression", n_rows)[1].seconds)
    print(
        f"{n_rows} rows: passes take {seconds[0]:.1f} s with one worker, {seconds[1]:.1f} s with "
        f"two, ratio {seconds[1] / seconds[0]:.2f} (limit 0.65)"
    )


PARTS = ("regression", "classes", "workers")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--rows", type=int, help="the largest number of rows")
    arguments = parser.parse_args()
    largest = arguments.rows or SIZES[-1]
    chosen = (*(size for size in SIZES if size < largest), largest)
    if arguments.only in (None, "regression"):
        growth("regression", chosen)
    if arguments.only in (None, "classes"):
        growth("classes", chosen[-1:])
    if arguments.only in (None, "workers"):
        workers(min(largest, 300_000))
