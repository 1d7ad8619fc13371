"""What learning a length scale for each input takes: beside a fit at given ones, and a process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as RBFKernel
from sklearn.gaussian_process.kernels import WhiteKernel

from benchmarks.tools import tables
from benchmarks.tools.measure import compare, one_thread
from benchmarks.tools.tasks import Task, friedman
from sparsebayes import RVR

Record = dict[str, Any]
LIMITS = {240: 8.0, 1000: 4.5, 5000: 2.0}  # of the time with learned scales, in that without
SIZES = (240, 300, 1000, 2000, 5000)
LARGEST_PROCESS = 2000
LEARNED, GIVEN = "RVR, scales learned", "RVR, scales given"
PROCESS = "GaussianProcessRegressor, ARD"


@dataclass(frozen=True)
class Model:
    """What is fitted, by name."""

    name: str

    def fit(self, task: Task) -> Any:
        """All begin with the same length scale for all inputs, √(D/2) of their spread."""
        if self.name == PROCESS:
            n_inputs = task.X.shape[1]
            kernel = RBFKernel(np.full(n_inputs, np.sqrt(0.5 * n_inputs))) + WhiteKernel()
            return GaussianProcessRegressor(kernel, normalize_y=True).fit(task.X, task.y)
        adapt = "auto" if self.name == LEARNED else None
        return RVR(adapt=adapt, calibrate=None).fit(task.X, task.y)


def describe(model: Model, fitted: Any, task: Task) -> Record:
    """`rmse`, `kept` and `evidence`."""
    error = fitted.predict(task.X_test) - task.f_test
    ours = isinstance(fitted, RVR)
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "kept": len(fitted.relevance_) if ours else len(fitted.X_train_),
        "evidence": float(fitted.log_evidence_) if ours else None,
    }


def run(quick: bool, only: int | None = None) -> Iterator[tuple[str, dict[str, Record]]]:
    """Fit to Friedman #1 of each size; yields (size, records by model)."""
    with one_thread():  # libraries are loaded, caches filled
        for name in (LEARNED, GIVEN, PROCESS):
            Model(name).fit(friedman(60))
    for size in SIZES:
        if (quick and size > 300) or only not in (None, size):
            continue
        names = (LEARNED, GIVEN, PROCESS)[: 3 if size <= LARGEST_PROCESS else 2]
        yield str(size), compare([Model(name) for name in names], friedman(size), describe)


def _by_size(results: dict[str, dict[str, Record]]) -> list[tuple[str, dict[str, Record]]]:
    return sorted(results.items(), key=lambda pair: int(pair[0]))


def limits(results: dict[str, dict[str, Record]]) -> Iterator[tables.Limit]:
    """How long learning may take."""
    for size, records in _by_size(results):
        learned = records[LEARNED]["fit"]
        if int(size) in LIMITS:
            ratio = learned / records[GIVEN]["fit"]
            what = f"Friedman #1 {size}: fit time with scales learned / given"
            yield tables.at_most(what, ratio, LIMITS[int(size)])
        if int(size) >= 300 and PROCESS in records:
            ratio = learned / records[PROCESS]["fit"]
            what = f"Friedman #1 {size}: fit time with scales learned / {PROCESS}"
            yield what, "< 1", tables.number(ratio, 2), ratio < 1


HEADER = ("N", "model", "fit, s", "/ scales given", "RMSE", "vectors", "log evidence")


def to_markdown(results: dict[str, dict[str, Record]]) -> str:
    """One table, by size and model."""
    rows = [
        (
            size,
            name,
            tables.seconds(record["fit"]),
            tables.ratio(record["fit"] / records[GIVEN]["fit"]),
            tables.number(record["rmse"], 3),
            str(record["kept"]),
            tables.fixed(record["evidence"], 2),
        )
        for size, records in _by_size(results)
        for name, record in records.items()
    ]
    return f"{NOTES}\n{tables.table(HEADER, rows)}\n"


NOTES = """\
`RVR(calibrate=None)` and `RVR(adapt=None, calibrate=None)` on Friedman #1, ten inputs, five of them
without effect; the Gaussian process (RBF with a length scale for each input, white noise, targets
normalised) has its default optimiser and no restarts, up to N = 2000.
"""
