"""RVC against other packages: time, memory, error, quality of the probabilities, size."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator
from statistics import mean, median
from typing import Any

import numpy as np

from benchmarks import large
from benchmarks.peers.classifiers import (
    CLASSICAL,
    GPC_LARGEST,
    GRID_C,
    GRID_GAMMA,
    PLATT,
    Classifier,
    all_classifiers,
    our_models,
)
from benchmarks.tools import tables
from benchmarks.tools.measure import compare, one_thread, repeated
from benchmarks.tools.scores import calibration_error, log_loss
from benchmarks.tools.tasks import Labelled, banana, digits, first_digits, moons, ripley_draw

Record = dict[str, Any]
DataSets = list[dict[str, Record]]
Plan = list[tuple[Callable[[int], Labelled], int]]

SECTIONS = ("ripley", "banana", "moons", "digits", "classes")
SEEDS = {1000: 5, 2000: 5, 5000: 3}  # data sets of moons by their size
N_SPLITS = 3  # of the digits; fastrvm takes from 11 to 100 s for one
N_CLASSES = (2, 3, 5, 10)
CLASSES_SEEDS = 3
FACTORS = {  # the largest fit time of RVC, in fastrvm's
    "Ripley 250": 3.0,
    "moons 1000": 1.0,
    "moons 2000": 1 / 3,
    "moons 5000": 1 / 10,
    "digits 1200": 1 / 8,
}
CLASSICAL_FACTORS = {"Ripley 250": 2.0}  # where that of the classical machine is another
CALIBRATED = ("Ripley 250", "banana 400", "digits 1200")  # where ECE is compared
NO_WORSE = ("digits 1200",)  # where RVC's error may not be above fastrvm's
HEADER = (
    "model",
    "fit, s",
    "/ fastrvm",
    "predict 1000, ms",
    "peak memory, MB",
    "error, %",
    "log loss",
    "ECE",
    "vectors",
    "converged",
)


def describe(model: Classifier, fitted: Any, task: Labelled) -> Record:
    """What is read from a fitted model.

    Returns
    -------
    record : dict
        `predict` (seconds for 1000 points), `error`, `log_loss`, `ece`, and for RVC the same four
        under `plug_in`; `kept`, `weights` and `converged`.
    """
    method = fitted.predict_proba if model.probabilities else fitted.predict
    record = _scored(method, task) | {
        "kept": int(model.kept(fitted)),
        "weights": model.weights and model.weights(fitted),
        "converged": model.converged(fitted),
    }
    if model.plug_in:
        record["plug_in"] = _scored(lambda X: model.plug_in(fitted, X), task)
    return record


def _scored(method: Callable[[Any], Any], task: Labelled) -> Record:
    answer, seconds = repeated(method, task.X_test)
    labels = answer if answer.ndim == 1 else answer.argmax(axis=1)
    has = answer.ndim == 2
    return {
        "predict": seconds * 1000 / len(task.y_test),
        "error": float(np.mean(labels != task.y_test)),
        "log_loss": log_loss(answer, task.y_test) if has else None,
        "ece": calibration_error(answer, task.y_test) if has else None,
    }


def warm_up() -> None:
    """Load libraries and fill caches: small fits and predictions of each model."""
    with one_thread():
        for task in (moons(40), first_digits(3, per_class=10)):
            for model in all_classifiers(task):
                describe(model, model.fit(task), task)
    gc.collect()
    gc.freeze()  # what is loaded by now need not be searched before each measurement


def plan(which: str, quick: bool, only: int | None = None) -> Plan:
    """(task of a seed, number of seeds) for each task of a section."""
    if which == "ripley":
        return [(ripley_draw, 2 if quick else 10)]
    if which == "banana":
        return [(banana, 2 if quick else 10)]
    if which == "digits":
        size = 300 if quick else 1200
        return [(lambda seed: digits(size, seed), 1 if quick else N_SPLITS)]
    if which == "classes":
        return [
            (lambda seed, k=k: first_digits(k, seed), 1 if quick else CLASSES_SEEDS)
            for k in N_CLASSES
        ]
    sizes = [n for n in SEEDS if only in (None, n) and (n <= 1000 or not quick)]
    return [(lambda seed, n=n: moons(n, seed), 2 if quick else SEEDS[n]) for n in sizes]


def run(
    quick: bool, which: str, only: int | None = None, seed: int | None = None
) -> Iterator[tuple[str, dict[str, Record]]]:
    """Measure the tasks of a section; yields ("task/seed", records by model)."""
    warm_up()
    for make, seeds in plan(which, quick, only):
        for number in range(seeds) if seed is None else (seed,):
            try:
                task = make(number)
            except FileNotFoundError as error:
                print(f"left out: {which}. {error}", file=sys.stderr, flush=True)
                return
            few = our_models(task.n_classes)
            models = few if which == "classes" else all_classifiers(task, quick)
            yield f"{task.name}/{number}", compare(models, task, describe)


def by_task(records: dict[str, dict[str, Record]]) -> dict[str, DataSets]:
    """The data sets of each task, small tasks first."""
    out: dict[str, DataSets] = {}
    # By size and seed: parts may have been measured in any order.
    for key in sorted(records, key=lambda key: [int(part) for part in re.findall(r"\d+", key)]):
        out.setdefault(key.rpartition("/")[0], []).append(records[key])
    return out


def ratio(data_sets: DataSets, model: str, peer: str = "fastrvm") -> float | None:
    """Fit time over the peer's; the median over the data sets that have both."""
    both = [one for one in data_sets if model in one and peer in one]
    return median(one[model]["fit"] / one[peer]["fit"] for one in both) if both else None


def limits(tasks: dict[str, DataSets]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met) for the tasks that were measured."""
    for name, factor in FACTORS.items():
        for model in ("RVC", CLASSICAL):
            measured = ratio(tasks.get(name, []), model)
            if measured is not None:
                most = CLASSICAL_FACTORS.get(name, factor) if model == CLASSICAL else factor
                yield tables.at_most(f"{name}: fit time of {model} / fastrvm", measured, most)
    for name in NO_WORSE:
        both = [one for one in tasks.get(name, []) if {"RVC", "fastrvm"} <= set(one)]
        if both:
            worse = 100 * median(one["RVC"]["error"] - one["fastrvm"]["error"] for one in both)
            yield f"{name}: error − fastrvm's, %", "≤ 0", tables.signed(worse), worse <= 0


def calibration(tasks: dict[str, DataSets]) -> Iterator[tables.Limit]:
    """Limits of the mean expected calibration error: the plug-in's and that of Platt's SVM."""
    for name in CALIBRATED:
        needed = {"RVC", CLASSICAL, PLATT}
        data_sets = [one for one in tasks.get(name, []) if needed <= set(one)]
        if data_sets:
            ours = mean(one["RVC"]["ece"] for one in data_sets)
            plug_in = mean(one[CLASSICAL]["plug_in"]["ece"] for one in data_sets)
            platt = mean(one[PLATT]["ece"] for one in data_sets)
            limit = f"≤ {plug_in:.4f} (plug-in), {platt:.4f} (Platt)"
            yield f"{name}: mean ECE", limit, f"{ours:.4f}", ours <= min(plug_in, platt)


def _middle(records: list[Record], key: str, factor: float = 1.0) -> float | None:
    values = [record[key] for record in records]
    return None if None in values else factor * median(values)


def _probability_cells(records: list[Record]) -> tuple[str, ...]:
    return (
        tables.fixed(_middle(records, "error", 100), 2),
        tables.fixed(_middle(records, "log_loss"), 4),
        tables.fixed(_middle(records, "ece"), 4),
    )


def _rows(model: str, data_sets: DataSets) -> Iterator[tuple[str, ...]]:
    records = [one[model] for one in data_sets if model in one]
    verdicts = [record["converged"] for record in records]
    yield (
        model,
        tables.seconds(_middle(records, "fit")),
        tables.ratio(ratio(data_sets, model)),
        tables.number(_middle(records, "predict", 1e3), 3),
        tables.fixed(_middle(records, "memory"), 1),
        *_probability_cells(records),
        tables.fixed(_middle(records, "kept"), 0),
        tables.MISSING if None in verdicts else "yes" if all(verdicts) else "no",
    )
    if "plug_in" in records[0]:
        inner = [record["plug_in"] for record in records]
        predict = tables.number(_middle(inner, "predict", 1e3), 3)
        cells = (tables.MISSING, tables.MISSING, predict, tables.MISSING)
        scores = _probability_cells(inner)
        yield (f"{model}, plug-in", *cells, *scores, tables.MISSING, tables.MISSING)


def to_markdown(tasks: dict[str, DataSets]) -> str:
    """One table for each task."""
    parts = []
    for name, data_sets in tasks.items():
        models = dict.fromkeys(model for one in data_sets for model in one)
        rows = [row for model in models for row in _rows(model, data_sets)]
        counts = ", ".join(f"{model} {one['repeats']}" for model, one in data_sets[0].items())
        note = f"Data sets: {len(data_sets)}. Fits of the first: {counts}."
        parts.append(f"### {name}\n\n{tables.table(HEADER, rows)}\n\n{note}\n")
    return "\n".join(parts)


def classes_to_markdown(tasks: dict[str, DataSets]) -> str:
    """One row for each kind of RVC and number of classes."""
    header = ("model", "classes", "fit, s", "predict 1000, ms", "weights", "vectors", "error, %")
    rows = []
    for model in dict.fromkeys(model for sets in tasks.values() for model in sets[0]):
        for name, data_sets in tasks.items():
            records = [one[model] for one in data_sets if model in one]
            if records:
                rows.append(
                    (
                        model,
                        name.partition(" ")[0],
                        tables.seconds(_middle(records, "fit")),
                        tables.number(_middle(records, "predict", 1e3), 3),
                        tables.fixed(_middle(records, "weights"), 0),
                        tables.fixed(_middle(records, "kept"), 0),
                        *_probability_cells(records)[:2],
                    )
                )
    return tables.table((*header, "log loss"), rows) + "\n"


def section(results: dict[str, Any]) -> list[str]:
    """The parts of the page on classification, from all stored results."""
    parts = []
    names = ("ripley", "banana", "moons", "digits")
    tasks = {k: v for name in names for k, v in by_task(results.get(name, {})).items()}
    if tasks:
        parts += ["## Classification\n", NOTES]
        parts += [] if "ripley" in results else [NO_RIPLEY]
        parts += [to_markdown(tasks)]
    if "moons-large" in results:
        parts += ["### RVC alone on many samples, moons\n"]
        parts += [large.moons_to_markdown(results["moons-large"])]
    if "classes" in results:
        parts += ["### Cost in the number of classes\n", CLASSES]
        parts += [classes_to_markdown(by_task(results["classes"]))]
    found = [*limits(tasks), *calibration(tasks), *large.limits(results, "moons-large")]
    if found:
        parts += ["### Limits of classification\n", tables.limits(found) + "\n"]
    return parts


NOTES = f"""\
- The width of the kernel is the task's, γ = 4 for Ripley's data, 1 for the banana's and the
  moons (noise 0.3) and 0.001 for the digits (raw pixels, 0 to 16) in `exp(-γ‖x−z‖²)`; only SVC +
  grid and `GaussianProcessClassifier` (constant × RBF, no restarts) tune it.
- The error is that of the most probable class. ECE is the expected calibration error: the mean
  distance between the probability of the most probable class and the share of right answers, in
  15 bins of equal width. The time of a prediction is that of `predict_proba`, for SVC of `predict`.
- RVC: the default call with the task's width, which chooses between the logit and least squares and
  calibrates the probabilities, by folds; from six classes on it is least squares. RVC, classical:
  `link="logit", calibrate=None`, one fit; the difference in time is what the choice costs.
- Plug-in rows: the sigmoid or softmax of the mean of RVC's latent function, without the average
  over the weight posterior; the fit is the same.
- fastrvm has no bias by default, and several classes go one against the rest.
- SVC: the default C = 1, no probabilities. SVC + grid + Platt: C in {list(GRID_C)} and γ in
  {list(GRID_GAMMA)} times the task's by 5 folds, then
  `CalibratedClassifierCV(SVC(…), method="sigmoid", ensemble=False)`, which scikit-learn recommends
  in place of its deprecated `SVC(probability=True)`.
- `GaussianProcessClassifier` is tried up to N = {GPC_LARGEST}, and on the digits' first split.
- Of Ripley's data the first set is as they are stored, the others are 250 of all 1250 samples.
- Test points: 1000 of Ripley's, 4900 of the banana's, 5000 of the moons, the remaining digits.
"""

NO_RIPLEY = """\
Ripley's data were not measured: they need the file `ripley_synth.npz` (the banana's
`raetsch_banana.npz`) in the directory named by the environment variable `SPARSEBAYES_DATA`.
"""

CLASSES = """\
The first digits of scikit-learn's set, 60 samples of each to learn from, the others to test. Two
classes are one latent function, whatever the kind.
"""
