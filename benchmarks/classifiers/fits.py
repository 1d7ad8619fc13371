"""What the parts share: which splits are measured, and fits with their scores."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.classifiers.models import Model
from benchmarks.tools.measure import timed
from benchmarks.tools.scores import calibration_error, log_loss
from benchmarks.tools.splits import Split

Record = dict[str, Any]
Array = np.ndarray

FLOOR = 1e-12  # of a probability in the log loss


def planned(
    seeds: Mapping[str, range],
    few: Sequence[str],
    options: Namespace,
    only: Sequence[str] = (),
    done: Sequence[str] = (),
) -> Iterator[tuple[str, str, int]]:
    """The (key, name, seed) asked for and not `done`.

    Parameters
    ----------
    seeds : dict of str to range
        The splits of each name.
    few : sequence of str
        The names of a quick run, which has the first split of each.
    options : Namespace
        Of the command line: `quick`; `splits`, so many instead; `seed`, the first one instead.
    only : sequence of str
        These names instead, unless it is empty.
    done : sequence of str
        Keys that are stored.
    """
    for name in only or (few if options.quick else seeds):
        first = seeds[name].start if options.seed is None else options.seed
        count = options.splits or (1 if options.quick else len(seeds[name]))
        for seed in range(first, first + count):
            if f"{name}/{seed}" not in done:
                yield f"{name}/{seed}", name, seed


def made(
    plan: Iterator[tuple[str, str, int]], make: Callable[[str, int], Split]
) -> Iterator[tuple[str, str, int, Split]]:
    """The splits of a plan; sets whose file is missing are left out, and it is said which."""
    missing = set()
    for key, name, seed in plan:
        if name in missing:
            continue
        try:
            split = make(name, seed)
        except FileNotFoundError as error:
            print(f"left out: {name}. {error}", file=sys.stderr, flush=True)
            missing.add(name)
            continue
        yield key, name, seed, split


def measured(model: Model, split: Split) -> Record:
    """Fit one model to one split; the scores of its probabilities for the test rows.

    The error is that of the most probable class.
    """
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted, seconds = timed(model.fit, split.X, split.y)
        probability = fitted.predict_proba(split.X_test)
    wrong = int(np.sum(probability.argmax(axis=1) != split.y_test))
    return {
        "wrong": wrong,
        "error": short(wrong / len(split.y_test)),
        "log_loss": short(log_loss(np.maximum(probability, FLOOR), split.y_test)),
        "ece": short(calibration_error(probability, split.y_test)),
        "vectors": model.vectors(fitted),
        "fit": short(seconds),
        "link": getattr(fitted, "link_", None),
        "warnings": [warning.category.__name__ for warning in caught],
    } | model.told(fitted)


def short(value: float) -> float:
    """Six significant digits."""
    return float(f"{value:.6g}")


def place(name: str, seed: int, split: Split) -> Record:
    """Of which split a record is."""
    n_rows, n_inputs = split.X.shape
    shape = [n_rows, n_inputs, int(split.y.max()) + 1]
    return {"name": name, "seed": seed, "shape": shape, "tests": len(split.y_test)}


def run(
    plan: Iterator[tuple[str, str, int]],
    make: Callable[[str, int], Split],
    models: Mapping[str, Model],
) -> Iterator[tuple[str, Record]]:
    """Fit all models to all splits of a plan; yields (key, record)."""
    warm_up(models)
    for key, name, seed, split in made(plan, make):
        fits = {model: measured(one, split) for model, one in models.items()}
        yield key, place(name, seed, split) | {"fits": fits}


def warm_up(models: Mapping[str, Model]) -> None:
    """Load libraries and fill caches: a small fit of each model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.arange(60) % 3
    X[:, 0] += y
    for model in models.values():
        measured(model, Split(X[:45], y[:45], X[45:], y[45:]))


def links(some: Sequence[Record], model: str) -> str:
    """The links that a model chose, and how often each where they differ; empty if none is told."""
    found = [one["fits"][model]["link"] for one in some]
    counts = {link: found.count(link) for link in found if link}
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{link} {count}" for link, count in counts.items())
