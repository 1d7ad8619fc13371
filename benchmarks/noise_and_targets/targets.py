"""Several targets at once against a fit for each of them: error, functions, time, coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_linnerud

from benchmarks.noise_and_targets.draws import by_name, fitted, mean, planned
from benchmarks.tools import tables
from benchmarks.tools.splits import Split
from sparsebayes import RVR
from sparsebayes.datasets import load_benchmark

Record = dict[str, Any]
Array = np.ndarray

SIZE, N_TEST, N_TEST_USPS, ROWS_LINNERUD = 300, 2000, 1000, 16
LAGS = range(1, 20, 3)
ERROR = 1.05
TOGETHER, APART = "together", "apart"


@dataclass(frozen=True)
class Targets:
    """A data set: how split 0, 1, … is made, how many there are, and one fit for how many."""

    make: Callable[[int], Split]
    splits: int
    every: int = 1


def _drawn(X: Array, Y: Array, size: int, n_test: int, split: int) -> Split:
    order = np.random.default_rng(split).permutation(len(X))
    train, test = order[:size], order[size : size + n_test]
    return Split(X[train], Y[train], X[test], Y[test])


def cstr(split: int) -> Split:
    """Concentration and temperature in a stirred tank from the flow of the coolant before."""
    data = load_benchmark("daisy_misc")
    u, Y = data["cstr_u"].astype(float).ravel(), data["cstr_y"].astype(float)
    times = np.arange(max(LAGS) + 1, len(u))
    X = np.column_stack([u[times - lag] for lag in LAGS])
    return _drawn(X, Y[times], SIZE, N_TEST, split)


def usps(split: int) -> Split:
    """The lower half of a digit from the upper one."""
    digits = load_benchmark("usps")["X_train"].astype(float)
    return _drawn(digits[:, :128], digits[:, 128:], SIZE, N_TEST_USPS, split)


def linnerud(split: int) -> Split:
    """Weight, waist and pulse from three exercises."""
    X, Y = load_linnerud(return_X_y=True)
    return _drawn(X, Y, ROWS_LINNERUD, len(X) - ROWS_LINNERUD, split)


SETS = {
    "cstr": Targets(cstr, 5),
    "usps": Targets(usps, 2, every=8),
    "linnerud": Targets(linnerud, 20),
}
QUICK = ("cstr", "linnerud")


def scored(split: Split, chosen: Array, found: Array, std: Array) -> Record:
    """Mean square and coverage of the targets `chosen`, (n, C).

    Targets that do not vary among the training rows have no unit, and so no score.
    """
    unit = split.y[:, chosen].std(axis=0)
    varies = unit > 0
    errors = (found - split.y_test[:, chosen])[:, varies]
    return {
        "square": float(np.mean((errors / unit[varies]) ** 2)),
        "coverage": float(np.mean(np.abs(errors) < 1.96 * std[:, varies])),
    }


def of_the_mean(split: Split, chosen: Array) -> Record:
    """What the mean of the training targets would score."""
    y = split.y[:, chosen]
    shape = len(split.X_test), 1
    return scored(split, chosen, np.tile(y.mean(axis=0), shape), np.tile(y.std(axis=0), shape))


def together(split: Split, chosen: Array) -> Record:
    """One fit to all targets, scored by some."""
    model, seconds, caught = fitted(RVR(), split.X, split.y)
    found, std = model.predict(split.X_test, return_std=True)
    record = scored(split, chosen, found[:, chosen], std[:, chosen])
    return record | {"kept": model.relevance_.size, "fit": seconds, "warnings": caught}


def apart(split: Split, chosen: Array) -> Record:
    """A fit to each target chosen; functions and time are those of all by the rule of three."""
    fits = [fitted(RVR(), split.X, split.y[:, k]) for k in chosen]
    both = [model.predict(split.X_test, return_std=True) for model, _, _ in fits]
    found, std = (np.column_stack(columns) for columns in zip(*both, strict=True))
    factor = split.y.shape[1] / len(chosen)
    return scored(split, chosen, found, std) | {
        "kept": factor * sum(model.relevance_.size for model, _, _ in fits),
        "fit": factor * sum(seconds for _, seconds, _ in fits),
        "warnings": [name for _, _, caught in fits for name in caught],
    }


def run(
    quick: bool, splits: int | None, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Fit to all splits that are not `done`; yields (key, record)."""
    counts = {name: one.splits for name, one in SETS.items()}
    fitted(RVR(), *_wave())  # to warm up
    for key, name, number in planned(counts, QUICK, quick, splits, only, done):
        split = SETS[name].make(number)
        (n_rows, n_inputs), n_targets = split.X.shape, split.y.shape[1]
        order = np.random.default_rng(number).permutation(n_targets)
        chosen = np.sort(order[: n_targets // SETS[name].every])
        place = {"name": name, "split": number, "shape": [n_rows, n_inputs, n_targets]}
        place["mean"] = of_the_mean(split, chosen)
        yield key, place | {TOGETHER: together(split, chosen), APART: apart(split, chosen)}


def _wave(n_samples: int = 50) -> tuple[Array, Array]:
    X = np.linspace(-1, 1, n_samples)[:, None]
    return X, np.sin(3 * X)


def error(some: list[Record], kind: str) -> float:
    """Root of the mean square over all splits, in units of the targets' standard deviations."""
    return float(np.sqrt(mean(some, lambda one: one[kind]["square"])))


def ratio(some: list[Record], key: str) -> float:
    """Of the sums over the splits, together over apart."""
    total = {kind: sum(one[kind][key] for one in some) for kind in (TOGETHER, APART)}
    return total[TOGETHER] / total[APART]


def limits(records: dict[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    for name, some in by_name(records).items():
        K = some[0]["shape"][2]
        label = f"{name}, {K} targets together / apart: "
        off = error(some, TOGETHER) / error(some, APART)
        yield label + "error", f"≤ {ERROR:.2f}", f"{off:.3f}", off <= ERROR
        for key, what in (("kept", "functions"), ("fit", "time")):
            share = ratio(some, key)
            yield label + what, "< 1", tables.ratio(share), share < 1


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each data set and way."""
    header = (
        "data", "N × D → K", "splits", "fits", "error", "ratio", "of the mean", "functions",
        "fit, s", "ratio", "coverage, %", "warnings",
    )  # fmt: skip
    rows = []
    for name, some in by_name(records).items():
        for kind in (TOGETHER, APART):
            rows.append(
                (
                    name,
                    "{} × {} → {}".format(*some[0]["shape"]),
                    str(len(some)),
                    kind,
                    tables.fixed(error(some, kind), 3),
                    tables.fixed(error(some, kind) / error(some, APART), 3),
                    tables.fixed(error(some, "mean"), 3),
                    tables.fixed(mean(some, lambda one, kind=kind: one[kind]["kept"]), 1),
                    tables.seconds(mean(some, lambda one, kind=kind: one[kind]["fit"])),
                    tables.ratio(ratio(some, "fit") if kind == TOGETHER else 1.0),
                    tables.fixed(100 * mean(some, lambda one, kind=kind: one[kind]["coverage"]), 1),
                    str(sum(len(one[kind]["warnings"]) for one in some)),
                )
            )
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
`RVR()` fitted to all targets together, which share their functions, and to each of them apart,
where functions and CPU seconds are those of all K fits. cstr: DaISy's stirred tank, both outputs
from {len(LAGS)} inputs of the past, {SIZE} training rows drawn at random and {N_TEST} others to
test; usps: the lower half of a digit (128 pixels) from the upper half, {SIZE} and {N_TEST_USPS}
rows; linnerud: scikit-learn's, {ROWS_LINNERUD} of 20 rows to learn from. Of usps, an eighth of the
pixels, drawn at random, is fitted apart: functions and time are multiplied by 8, and errors and
coverage of both are those of these pixels, without those that are the same in all training rows.
The error is in units of each target's standard deviation in the training rows, the root of the mean
square over all splits, and beside it that of the training mean; functions and time are means over
the splits. Coverage is that of 95 % intervals.
"""
