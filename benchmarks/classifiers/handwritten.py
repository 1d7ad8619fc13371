"""Images of digits: ten classes, many inputs, few rows."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.classifiers import data, fits
from benchmarks.classifiers.models import FOR_IMAGES, IMAGES_C, MACHINE, OURS
from benchmarks.noise_and_targets.draws import by_name
from benchmarks.tools import tables
from benchmarks.tools.splits import Split

Record = dict[str, Any]

FIRST = 10  # seed; the defaults were decided on 1 to 3


@dataclass(frozen=True)
class Images:
    """A data set: how a split is made, how many there are, and the limits of RVC()."""

    make: Callable[[int], Split]
    splits: int
    error: float
    log_loss: float


SETS = {
    "digits": Images(data.digits, 3, 0.017, 0.08),
    "USPS": Images(data.usps, 2, 0.05, 0.20),
    "MNIST": Images(data.mnist, 2, 0.095, 0.34),
}
SEEDS = {name: range(FIRST, FIRST + one.splits) for name, one in SETS.items()}
QUICK = ("digits",)
SECONDS, VECTORS = 2.5, 0.5


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Fit all models to all splits that are not `done`; yields (key, record)."""
    plan = fits.planned(SEEDS, QUICK, options, only, done)
    yield from fits.run(plan, lambda name, seed: SETS[name].make(seed), FOR_IMAGES)


def mean(some: list[Record], model: str, key: str) -> float:
    """Over the splits."""
    return float(np.mean([one["fits"][model][key] for one in some]))


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    for name, some in by_name(records).items():
        limit = SETS[name]
        off, loss = mean(some, OURS, "error"), mean(some, OURS, "log_loss")
        longest = max(one["fits"][OURS]["fit"] for one in some)
        share = mean(some, OURS, "vectors") / mean(some, MACHINE, "vectors")
        bound = f"≤ {100 * limit.error:.1f}"
        yield f"{name}: error, %", bound, f"{100 * off:.2f}", off <= limit.error
        yield f"{name}: log loss", f"≤ {limit.log_loss:.2f}", f"{loss:.3f}", loss <= limit.log_loss
        yield f"{name}: longest fit, s", f"≤ {SECONDS:g}", f"{longest:.2f}", longest <= SECONDS
        yield f"{name}: vectors / SVC", f"≤ {VECTORS:g}", f"{share:.2f}", share <= VECTORS


def to_markdown(records: Mapping[str, Record]) -> str:
    """One row for each data set and model."""
    rows = []
    for name, some in by_name(records).items():
        for model in FOR_IMAGES:
            rows.append(
                (
                    name,
                    "{} × {}".format(*some[0]["shape"]),
                    str(some[0]["tests"]),
                    str(len(some)),
                    model,
                    tables.fixed(100 * mean(some, model, "error"), 2),
                    tables.fixed(mean(some, model, "log_loss"), 3),
                    tables.fixed(mean(some, model, "ece"), 4),
                    tables.fixed(mean(some, model, "vectors"), 0),
                    tables.seconds(mean(some, model, "fit")),
                    fits.links(some, model) or tables.MISSING,
                )
            )
    header = (
        "data", "N × D", "tests", "splits", "model", "error, %", "log loss", "ECE", "vectors",
        "fit, s", "link",
    )  # fmt: skip
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
Ten digits, rows drawn at random, seeds from {FIRST} on (the defaults of `RVC` were decided on seeds
1 to 3). digits: scikit-learn's, 8 × 8 pixels; USPS: 16 × 16, all from its training file (its test
file, known to be harder, is not used: errors are not those of the literature); MNIST: 28 × 28, from
its training file to learn, from its test file to test. Pixels are divided by the largest value and
not standardised. {MACHINE}: `SVC(C={IMAGES_C:g}, gamma="scale")`, then
`CalibratedClassifierCV(…, method="sigmoid", ensemble=False)`. Means over the splits; times are CPU
seconds of a fit on one thread.
"""
