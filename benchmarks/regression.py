"""RVR against other packages: time, memory, error, size and evidence."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers.regressors import BRIEF, GRID, PLAIN, Model, all_models
from benchmarks.tools import tables
from benchmarks.tools.measure import compare, one_thread, repeated
from benchmarks.tools.tasks import Task, friedman, sinc

Record = dict[str, Any]
SIZES = (240, 1000, 2000, 5000)
SINC_SEEDS = 10
SMALL_SEEDS = 3  # data sets of the smallest Friedman task
HEADER = (
    "model",
    "fit, s",
    "/ fastrvm",
    "predict 1000, ms",
    "peak memory, MB",
    "RMSE",
    "vectors",
    "log evidence",
    "converged",
)


def describe(model: Model, fitted: Any, task: Task) -> Record:
    """`predict` (seconds), `rmse`, `kept`, `evidence` and `converged` of a fitted model."""
    mean, seconds = repeated(model.predict, fitted, task)
    return {
        "predict": seconds,
        "rmse": float(np.sqrt(np.mean((mean - task.f_test) ** 2))),
        "kept": int(model.kept(fitted)),
        "evidence": model.evidence(fitted, task),
        "converged": model.converged(fitted, task),
    }


def tried(task: Task) -> list[Model]:
    """The models that are tried on so many samples."""
    return [model for model in all_models() if len(task.y) <= model.largest]


def warm_up() -> None:
    """Load libraries and fill caches: one small fit and prediction of each model."""
    task = friedman(40)
    with one_thread():
        for model in all_models():
            model.predict(model.fit(task), task)
    gc.collect()
    gc.freeze()  # what is loaded by now need not be searched before each measurement


def run(
    quick: bool, which: str, only: int | None = None
) -> Iterator[tuple[str, list[dict[str, Record]]]]:
    """Measure the tasks of "sinc" or "friedman"; yields (name, one dict for each data set)."""
    warm_up()
    plan: list[tuple[Callable[[int], Task], int]] = []
    if which == "sinc":
        plan.append((lambda seed: sinc(100, seed), 3 if quick else SINC_SEEDS))
    else:
        for size in SIZES:
            if (quick and size > 1000) or only not in (None, size):
                continue
            seeds = SMALL_SEEDS if size == SIZES[0] and not quick else 1
            plan.append((lambda seed, size=size: friedman(size, seed=seed), seeds))
    for make, seeds in plan:
        tasks = [make(seed) for seed in range(seeds)]
        yield tasks[0].name, [compare(tried(task), task, describe) for task in tasks]


def ratio(data_sets: list[dict[str, Record]], model: str, peer: str = "fastrvm") -> float | None:
    """Fit time over the peer's; the median over the data sets."""
    if any(model not in one or peer not in one for one in data_sets):
        return None
    return median(one[model]["fit"] / one[peer]["fit"] for one in data_sets)


def worst_difference(data_sets: list[dict[str, Record]]) -> float:
    """The smallest log evidence of RVR minus fastrvm's over the data sets."""
    return min(one["RVR"]["evidence"] - one["fastrvm"]["evidence"] for one in data_sets)


def exponent(results: dict[str, list[dict[str, Record]]]) -> float | None:
    """p of ``time ~ N^p`` between 1000 and 5000, if both were measured."""
    try:
        first, last = (results[f"Friedman #1 {size}"][0]["RVR"]["fit"] for size in (1000, 5000))
    except KeyError:
        return None
    return math.log(last / first) / math.log(5.0)


def _row(model: str, data_sets: list[dict[str, Record]]) -> tuple[str, ...]:
    records = [one[model] for one in data_sets]

    def middle(key: str) -> float | None:
        values = [record[key] for record in records]
        return None if None in values else median(values)

    verdicts = [record["converged"] for record in records]
    return (
        model,
        tables.seconds(middle("fit")),
        tables.ratio(ratio(data_sets, model)),
        tables.number(1e3 * middle("predict"), 3),
        tables.fixed(middle("memory"), 1),
        tables.number(middle("rmse"), 3),
        tables.fixed(middle("kept"), 0),
        tables.fixed(middle("evidence"), 2),
        tables.MISSING if None in verdicts else "yes" if all(verdicts) else "no",
    )


def to_markdown(results: dict[str, list[dict[str, Record]]]) -> str:
    """One table for each task."""
    parts = []
    for name, data_sets in results.items():
        rows = [_row(model, data_sets) for model in data_sets[0]]
        counts = ", ".join(f"{model} {one['repeats']}" for model, one in data_sets[0].items())
        note = f"Data sets: {len(data_sets)}. Fits of the first: {counts}."
        parts.append(f"### {name}\n\n{tables.table(HEADER, rows)}\n\n{note}\n")
    growth = exponent(results)
    if growth is not None:
        parts.append(f"RVR's fit time grows from N = 1000 to 5000 as N^{growth:.2f}.\n")
    return "\n".join(parts)


NOTES = f"""\
- {PLAIN} is `RVR(RBF(width), adapt=None, calibrate=None)`, {BRIEF} the same with
  `solver=Sequential(brief=True)`, which ends after growth and one restart.
- The width of the kernel is the task's, γ = 1/9 for sinc and 0.1 for Friedman #1 in
  `exp(-γ‖x−z‖²)`; only `GaussianProcessRegressor` (constant × RBF + white, one length scale,
  no restarts) tunes it.
- fastrvm, `ARDRegression` and `GaussianProcessRegressor` are given centred targets. All log
  evidences are of the centred targets; those of RVR, fastrvm and `ARDRegression` are of the same
  kind of model (fastrvm's without a bias), recomputed from the published result where it is not
  an attribute. The Gaussian process is another model.
- SVR + grid: 5 folds, C in {GRID["C"]}, ε in {GRID["epsilon"]}, refitted on all. SVR: the
  defaults C = 1, ε = 0.1.
- `ARDRegression` is fitted to the columns of the kernel matrix and a constant one, up to N = 240:
  it took more than 300 s at 1000. `GaussianProcessRegressor` is tried up to N = 2000.
"""
