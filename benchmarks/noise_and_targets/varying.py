"""Noise that varies with the input against noise that does not: densities and time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import KFold

from benchmarks.calibration.coverage import make_split
from benchmarks.noise_and_targets.draws import by_name, deepest, fitted, mean, never_falls, planned
from benchmarks.tools import tables
from benchmarks.tools.splits import Split
from sparsebayes import RVR
from sparsebayes.datasets import load_benchmark
from sparsebayes.scores import interval_coverage, negative_log_predictive_density

Record = dict[str, Any]
Array = np.ndarray

N_TEST, FOLDS = 1000, 10
GAIN, LOSS = 0.3, 0.02
MODELS = {"constant": "estimate", "varying": "varying"}  # name: RVR(noise=...)


def _simulated(
    size: int, noise: float, reach: tuple[float, float], n_inputs: int, f: Callable[[Array], Array]
) -> Callable[[int], Split]:
    def make(seed: int) -> Split:
        rng = np.random.default_rng(seed)
        X = rng.uniform(*reach, (size + N_TEST, n_inputs))
        y = f(X) + noise * rng.standard_normal(len(X))
        return Split(X[:size], y[:size], X[size:], y[size:])

    return make


def _friedman(size: int, noise: float, function: Callable[..., Any]) -> Callable[[int], Split]:
    def make(seed: int) -> Split:
        rng = np.random.default_rng(seed)
        X, f = function(size + N_TEST, noise=0.0, random_state=int(rng.integers(2**30)))
        y = f + noise * rng.standard_normal(len(f))
        return Split(X[:size], y[:size], X[size:], y[size:])

    return make


def fan(seed: int, size: int = 200) -> Split:
    """A wave whose noise grows from 0.05 to 0.55 over the range of the input."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (size + N_TEST, 1))
    std = 0.05 + 0.5 * X[:, 0]
    y = np.sin(2 * np.pi * X[:, 0]) + std * rng.standard_normal(len(X))
    return Split(X[:size], y[:size], X[size:], y[size:])


def motorcycle(shuffling: int) -> Iterator[Split]:
    """Ten folds of the accelerations in a crash."""
    data = load_benchmark("motorcycle")
    X, y = data["t"].astype(float)[:, None], data["accel"].astype(float)
    for train, test in KFold(FOLDS, shuffle=True, random_state=shuffling).split(X):
        yield Split(X[train], y[train], X[test], y[test])


def parkinsons(number: int) -> Split:
    """300 rows at random of the voice recordings, standardised."""
    return make_split("parkinsons", 300, number)


CONSTANT = {
    "sinc": _simulated(100, 0.1, (-10, 10), 1, lambda X: np.sinc(X[:, 0] / np.pi)),
    "noisy sinc": _simulated(200, 0.3, (-10, 10), 1, lambda X: np.sinc(X[:, 0] / np.pi)),
    "Friedman #1": _friedman(240, 1.0, make_friedman1),
    "Friedman #2": _friedman(200, 125.0, make_friedman2),
    "Friedman #3": _friedman(200, 0.1, make_friedman3),
    "wave and parabola": _simulated(
        80, 0.2, (-1, 1), 1, lambda X: np.sin(3 * X[:, 0]) + X[:, 0] ** 2
    ),
    "product of waves": _simulated(
        150, 0.1, (-1, 1), 2, lambda X: np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1])
    ),
    "linear": _simulated(100, 1.0, (-1, 1), 5, lambda X: X @ np.arange(1.0, 6.0)),
    "step": _simulated(120, 0.2, (-2, 2), 1, lambda X: np.tanh(3 * X[:, 0])),
    "chirp": _simulated(150, 0.15, (0, 1), 1, lambda X: np.sin(6 * np.pi * X[:, 0] ** 2)),
}
MAKERS: dict[str, Callable[[int], Iterator[Split]]] = {
    "motorcycle": motorcycle,
    "fan": lambda draw: iter([fan(draw)]),
    "parkinsons": lambda draw: iter([parkinsons(draw)]),
    **{name: lambda draw, make=make: iter([make(draw)]) for name, make in CONSTANT.items()},
}
COUNTS = {"motorcycle": 5, "fan": 10, "parkinsons": 3, **dict.fromkeys(CONSTANT, 5)}
QUICK = ("motorcycle", "fan", "sinc")


def one(splits: Iterator[Split]) -> Record:
    """Mean NLPD of all test rows of the splits, their coverage, and the time of all fits."""
    record: Record = {"nlpd": {}, "coverage": {}, "fit": dict.fromkeys(MODELS, 0.0)}
    record |= {"falls": [], "warnings": []}
    rows: dict[str, list[tuple[Array, Array, Array]]] = {name: [] for name in MODELS}
    for split in splits:
        record["shape"] = list(split.X.shape)
        for name, noise in MODELS.items():
            model, seconds, caught = fitted(RVR(noise=noise), split.X, split.y)
            found = model.predict(split.X_test, return_std=True)
            rows[name].append((split.y_test, *found))
            record["fit"][name] += seconds
            record["warnings"] += caught
            if name == "varying":
                record["falls"].append(deepest(model))
    for name, parts in rows.items():
        y, found, std = (np.concatenate(part) for part in zip(*parts, strict=True))
        record["nlpd"][name] = float(negative_log_predictive_density(y, found, std))
        record["coverage"][name] = float(interval_coverage(y, found, std))
    return record


def run(
    quick: bool, splits: int | None, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Fit to all draws that are not `done`; yields (key, record)."""
    for key, name, draw in planned(COUNTS, QUICK, quick, splits, only, done):
        yield key, {"name": name, "draw": draw} | one(MAKERS[name](draw))


def gain(some: list[Record]) -> float:
    """By how much NLPD is smaller where the noise may vary, as mean over the draws."""
    return mean(some, lambda one: one["nlpd"]["constant"] - one["nlpd"]["varying"])


def limits(records: dict[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    found = {name: gain(some) for name, some in by_name(records).items()}
    if "motorcycle" in found:
        gained = found["motorcycle"]
        label = "motorcycle: NLPD, constant − varying"
        yield label, f"≥ {GAIN:g}", tables.signed(gained), gained >= GAIN
    losses = {name: 0.0 - gained for name, gained in found.items() if name in CONSTANT}
    if losses:
        worst = max(losses, key=losses.__getitem__)
        label = f"{len(losses)} sets of constant noise: NLPD, varying − constant, largest"
        shown = f"{losses[worst]:+.3f} ({worst})".replace("-", "−")
        yield label, f"≤ {LOSS:g}", shown, losses[worst] <= LOSS
    yield from never_falls(records, 'noise="varying"')


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each data set."""
    header = (
        "data", "N × D", "draws", "NLPD, constant", "varying", "difference", "worst draw",
        "coverage, %, constant", "varying", "fit, s, constant", "varying", "ratio",
    )  # fmt: skip
    rows = []
    for name, some in by_name(records).items():
        gained = [one["nlpd"]["constant"] - one["nlpd"]["varying"] for one in some]
        cells = {
            key: [mean(some, lambda one, key=key, m=model: one[key][m]) for model in MODELS]
            for key in ("nlpd", "coverage", "fit")
        }
        rows.append(
            (
                name,
                "{} × {}".format(*some[0]["shape"]),
                str(len(some)),
                *(tables.fixed(value, 3).replace("-", "−") for value in cells["nlpd"]),
                *(f"{value:+.3f}".replace("-", "−") for value in (gain(some), min(gained))),
                *(tables.fixed(100 * value, 1) for value in cells["coverage"]),
                *(tables.seconds(value) for value in cells["fit"]),
                tables.ratio(cells["fit"][1] / cells["fit"][0]),
            )
        )
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
`RVR()` and `RVR(noise="varying")`, by the negative log predictive density of test targets; the
difference is what varying noise gains. motorcycle: the mean over {FOLDS} folds, for several
shufflings, time is that of all folds; fan: a wave, noise that grows linearly from 0.05 to 0.55;
parkinsons: 300 rows drawn at random, 1500 others to test. In the {len(CONSTANT)} sets below the
noise is constant: nothing is to be gained. Simulated sets have {N_TEST} test points; times are CPU
seconds.
"""
