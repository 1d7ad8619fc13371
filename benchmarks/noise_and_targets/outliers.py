"""Some targets far off: Student's t noise against Gaussian noise and a support vector machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from benchmarks.calibration.many_inputs import friedman
from benchmarks.noise_and_targets.draws import by_name, deepest, fitted, mean, never_falls, planned
from benchmarks.tools import tables
from benchmarks.tools.measure import timed
from sparsebayes import RVR, StudentT

Record = dict[str, Any]
Array = np.ndarray

SHARE, N_TEST = 0.05, 500
T_NOISE, NU, T_SIZE = "t noise", 3.0, 500
COUNTS = {"sinc": 20, "friedman": 20, T_NOISE: 10}
QUICK = ("sinc", T_NOISE)
CLEAN, PLAIN, ROBUST, ROBUST_CLEAN, PEER = (
    "RVR(), no outliers",
    "RVR()",
    "RVR(noise=StudentT())",
    "RVR(noise=StudentT()), no outliers",
    "SVR + grid",
)
GRID = {
    "svr__C": (0.1, 1.0, 10.0, 100.0, 1000.0),
    "svr__gamma": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    "svr__epsilon": (0.01, 0.05, 0.1, 0.3, 1.0),
}
HARMED, UNHARMED, LEAST, MOST = 1.15, 1.05, 0.90, 0.98
NU_RANGE = 1.5, 6.0


@dataclass(frozen=True)
class Draw:
    """Training targets with and without outliers, and the function at the test points."""

    X: Array
    clean: Array
    y: Array
    X_test: Array
    f_test: Array
    y_test: Array


def make(kind: str, seed: int) -> Draw:
    """`SHARE` of the targets are moved by 5 to 15 deviations of the noise, twice that in sinc."""
    rng = np.random.default_rng(seed)
    if kind == "sinc":
        size, noise, reach = 100, 0.1, (10.0, 30.0)
        X = rng.uniform(-10, 10, (size + N_TEST, 1))
        f = np.sinc(X[:, 0] / np.pi)
    else:
        size, noise, reach = 240, 1.0, (5.0, 15.0)
        X = rng.uniform(0, 1, (size + N_TEST, 10))
        f = friedman(X)
    clean = f + noise * rng.standard_normal(len(f))
    moved = rng.choice(size, round(SHARE * size), replace=False)
    y = clean[:size].copy()
    y[moved] += rng.choice((-1, 1), moved.size) * noise * rng.uniform(*reach, moved.size)
    return Draw(X[:size], clean[:size], y, X[size:], f[size:], clean[size:])


def one(draw: Draw) -> Record:
    """Errors to the function, coverage, ν, time, and the deepest step of the objective."""
    record: Record = {
        "errors": {},
        "coverage": {},
        "fit": {},
        "nu": {},
        "falls": [],
        "warnings": [],
    }
    for name, noise, y in (
        (CLEAN, "estimate", draw.clean),
        (PLAIN, "estimate", draw.y),
        (ROBUST, StudentT(), draw.y),
        (ROBUST_CLEAN, StudentT(), draw.clean),
    ):
        model, record["fit"][name], caught = fitted(RVR(noise=noise), draw.X, y)
        found, std = model.predict(draw.X_test, return_std=True)
        record["errors"][name] = _error(found, draw.f_test)
        record["coverage"][name] = float(np.mean(np.abs(draw.y_test - found) < 1.96 * std))
        record["warnings"] += caught
        if name in (ROBUST, ROBUST_CLEAN):
            record["nu"][name] = found_nu(model)
            record["falls"].append(deepest(model))
    machine = make_pipeline(StandardScaler(), SVR())
    search = GridSearchCV(machine, GRID, cv=5, scoring="neg_mean_absolute_error")
    with threadpool_limits(1):
        search, record["fit"][PEER] = timed(search.fit, draw.X, draw.y)
    record["errors"][PEER] = _error(search.predict(draw.X_test), draw.f_test)
    return record


def _error(found: Array, truth: Array) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def found_nu(model: Any) -> float | None:
    """Degrees of freedom; None, which JSON has, if they are infinite and the noise is normal."""
    return float(model.nu_) if np.isfinite(model.nu_) else None


def nus(some: list[Record], model: str) -> list[float]:
    """Those of all draws in which the model has some, in order."""
    found = [one["nu"][model] for one in some if model in one["nu"]]
    return sorted(np.inf if nu is None else nu for nu in found)


def shown(nu: float) -> str:
    """ν as text."""
    return tables.number(nu, 3) if np.isfinite(nu) else "∞"


def t_noise(seed: int) -> Record:
    """sinc with noise of `NU` degrees of freedom: how many are found?"""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (T_SIZE, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.standard_t(NU, T_SIZE)
    model, seconds, caught = fitted(RVR(noise=StudentT()), X, y)
    return {
        "nu": {ROBUST: found_nu(model)},
        "fit": {ROBUST: seconds},
        "falls": [deepest(model)],
        "warnings": caught,
    }


def run(
    quick: bool, splits: int | None, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Fit to all draws that are not `done`; yields (key, record)."""
    for key, name, seed in planned(COUNTS, QUICK, quick, splits, only, done):
        record = t_noise(seed) if name == T_NOISE else one(make(name, seed))
        yield key, {"name": name, "draw": seed} | record


def limits(records: dict[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    for name, some in by_name(records).items():
        label = f"{name}, {len(some)} draws: "
        if name == T_NOISE:
            found = nus(some, ROBUST)
            label += f"ν where it is {NU:g}, lowest and highest"
            met = found[0] >= NU_RANGE[0] and found[-1] <= NU_RANGE[1]
            ends = f"{shown(found[0])} to {shown(found[-1])}"
            yield label, "{:g} to {:g}".format(*NU_RANGE), ends, met
            continue
        for what, above, below, limit in (
            ("error with outliers / RVR() without", ROBUST, CLEAN, HARMED),
            ("error with outliers / SVR + grid", ROBUST, PEER, 1.0),
            ("error without outliers / RVR()", ROBUST_CLEAN, CLEAN, UNHARMED),
        ):
            ratio = error(some, above) / error(some, below)
            yield label + what, f"≤ {limit:g}", f"{ratio:.3f}", ratio <= limit
        share = mean(some, lambda one: one["coverage"][ROBUST])
        bounds = f"{100 * LEAST:g} to {100 * MOST:g}"
        label += "coverage with outliers, %"
        yield label, bounds, f"{100 * share:.1f}", LEAST <= share <= MOST
    yield from never_falls(records, "StudentT()")


def error(some: list[Record], model: str) -> float:
    """Mean over the draws."""
    return mean(some, lambda one: one["errors"][model])


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each problem and model; ν in t noise in a table of its own."""
    header = (
        "data", "draws", "model", "error", "ratio", "worst draw", "coverage, %", "lowest",
        "ν, median", "fit, s",
    )  # fmt: skip
    rows, problems = [], by_name(records)
    tails = problems.pop(T_NOISE, [])
    for name, some in problems.items():
        for model in (CLEAN, PLAIN, ROBUST, ROBUST_CLEAN, PEER):
            shares = [one["coverage"][model] for one in some if model in one["coverage"]]
            found = nus(some, model)
            rows.append(
                (
                    name,
                    str(len(some)),
                    model,
                    tables.number(error(some, model), 3),
                    tables.fixed(error(some, model) / error(some, CLEAN), 3),
                    tables.number(max(one["errors"][model] for one in some), 3),
                    tables.fixed(100 * float(np.mean(shares)) if shares else None, 1),
                    tables.fixed(100 * min(shares) if shares else None, 1),
                    shown(float(np.median(found))) if found else tables.MISSING,
                    tables.seconds(mean(some, lambda one, model=model: one["fit"][model])),
                )
            )
    parts = [NOTES]
    if rows:
        parts.append(tables.table(header, rows) + "\n")
    if tails:
        text = ", ".join(map(shown, nus(tails, ROBUST)))
        parts.append(
            f"Noise with {NU:g} degrees of freedom, sinc, N = {T_SIZE}, {len(tails)} draws: the ν "
            f"found are {text}.\n"
        )
    return "\n".join(parts)


NOTES = f"""\
sinc (N = 100, inputs uniform between −10 and 10, noise 0.1) and Friedman #1 (N = 240, 10 inputs,
noise 1). {100 * SHARE:g} % of the training targets are moved, either way, by 5 to 15 standard
deviations of the noise, in sinc by 10 to 30. The error is to the function without noise at {N_TEST}
new points, as mean over the draws; the ratio is to `RVR()` without outliers. Coverage is that of
mean ± 1.96 std for new targets, which have no outliers. `RVR` looks for ν between 3 and 100 or
takes normal noise, ν = ∞: 3.00 is the end of the range. The support vector machine has
standardised inputs and the best C, γ and ε of {prod(map(len, GRID.values()))}, by the mean absolute
error in 5 folds, which hold outliers too.
"""
