"""Many inputs of which five matter: a smooth function of them, and a linear one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from benchmarks.calibration.coverage import measured
from benchmarks.peers.error_bars import bayesian_ridge, our_regressions
from benchmarks.tools import tables
from benchmarks.tools.splits import Split

Record = dict[str, Any]
Array = np.ndarray

TASKS = (("Friedman #1", 500, 200), ("Friedman #1", 200, 50), ("linear", 80, 300))
QUICK = TASKS[1:2]
SEEDS, QUICK_SEEDS = 5, 1
N_TEST, NOISE = 2000, 0.3
SLOPES = np.array([1.0, -1.0, 0.8, -0.8, 0.6])


def friedman(U: Array) -> Array:
    """Friedman #1 of the first five columns, in the unit cube."""
    f = 10 * np.sin(np.pi * U[:, 0] * U[:, 1])
    return f + 20 * (U[:, 2] - 0.5) ** 2 + 10 * U[:, 3] + 5 * U[:, 4]


def friedman_std(n_nodes: int = 32) -> float:
    """Its standard deviation over the cube: only the first term needs quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    u, w = 0.5 * (nodes + 1), 0.5 * weights
    sine = 10 * np.sin(np.pi * np.outer(u, u))
    first = w @ sine**2 @ w - (w @ sine @ w) ** 2
    return float(np.sqrt(first + 400 * (1 / 80 - 1 / 144) + 100 / 12 + 25 / 12))


def make(kind: str, size: int, n_inputs: int, seed: int) -> tuple[Split, Array]:
    """Standard normal inputs, noisy targets, and the function of unit variance at the tests."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((size + N_TEST, n_inputs))
    if kind == "linear":
        f = X[:, : SLOPES.size] @ SLOPES
    else:
        f = friedman(norm.cdf(X[:, :5])) / friedman_std()
    y = f + NOISE * rng.standard_normal(len(f))
    return Split(X[:size], y[:size], X[size:], y[size:]), f[size:]


def run(quick: bool, splits: int | None, done: Sequence[str] = ()) -> Iterator[tuple[str, Record]]:
    """Fit the models to all seeds of what is not `done`; yields (key, record)."""
    models = [*our_regressions(), bayesian_ridge()]
    for kind, size, n_inputs in QUICK if quick else TASKS:
        key = f"{kind}/{size}/{n_inputs}"
        if key in done:
            continue
        fits: dict[str, list[Record]] = {model.name: [] for model in models}
        for seed in range(splits or (QUICK_SEEDS if quick else SEEDS)):
            split, truth = make(kind, size, n_inputs, seed)
            for model in models:
                fits[model.name].append(measured(model, split, truth))
        yield key, {"kind": kind, "shape": [size, n_inputs], "fits": fits}


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each task and model."""
    header = (
        "task", "N × D", "seeds", "model", "error / std of f", "worst", "coverage, %", "lowest",
        "functions", "fit, s", "warnings",
    )  # fmt: skip
    rows = []
    for record in records.values():
        for model, fits in record["fits"].items():
            errors, shares = ([fit[key] for fit in fits] for key in ("error", "coverage"))
            rows.append(
                (
                    record["kind"],
                    "{} × {}".format(*record["shape"]),
                    str(len(fits)),
                    model,
                    tables.fixed(float(np.mean(errors)), 3),
                    tables.fixed(max(errors), 3),
                    tables.fixed(100 * float(np.mean(shares)), 1),
                    tables.fixed(100 * min(shares), 1),
                    tables.fixed(float(np.mean([fit["kept"] for fit in fits])), 0),
                    tables.seconds(float(np.mean([fit["fit"] for fit in fits]))),
                    str(sum(len(fit["warnings"]) for fit in fits)),
                )
            )
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
Standard normal inputs, of which five matter: through Friedman #1 of their distribution functions,
scaled to unit variance, or linearly with slopes between 0.6 and 1 in size; noise {NOISE}. The
error is to the function without noise at {N_TEST} new rows, over its standard deviation there: 1 is
what the mean of the targets would have. Coverage is that of 95 % intervals for new noisy targets;
warnings are those of all fits together.
"""
