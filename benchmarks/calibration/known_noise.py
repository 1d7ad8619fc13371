"""Samples of known noise: does the band of the function cover it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread
from sparsebayes import RVR

Record = dict[str, Any]
Array = np.ndarray

SETS, QUICK_SETS = 200, 5
SIZE, N_TEST = 80, 100
LEAST, MOST = 0.92, 0.98
DEVIATIONS = 0.03, 0.5  # of the noise, between which its logarithm is uniform
FUNCTIONS: dict[str, tuple[int, float, Callable[[Array], Array]]] = {  # inputs, range, f
    "sinc": (1, 10.0, lambda X: np.sinc(X[:, 0] / np.pi)),
    "wave and parabola": (1, 1.0, lambda X: np.sin(3.0 * X[:, 0]) + X[:, 0] ** 2),
    "product of waves": (2, 1.0, lambda X: np.sin(3.0 * X[:, 0]) * np.cos(2.0 * X[:, 1])),
}


def share_inside(kind: str, seed: int, calibrate: Any) -> float:
    """The part of new points whose function value is in the 95 % band of the function."""
    n_inputs, reach, function = FUNCTIONS[kind]
    rng = np.random.default_rng(seed)
    X = rng.uniform(-reach, reach, (SIZE + N_TEST, n_inputs))
    f, (X, new) = function(X), np.split(X, [SIZE])
    sd = np.exp(rng.uniform(*np.log(DEVIATIONS), SIZE))
    y = f[:SIZE] + sd * rng.standard_normal(SIZE)
    model = RVR(noise=1.0, calibrate=calibrate).fit(X, y, sample_weight=1.0 / sd**2)
    mean, std = model.predict(new, return_std=True, include_noise=False)
    return float(np.mean(np.abs(f[SIZE:] - mean) < 1.96 * std))


def run(quick: bool, splits: int | None) -> Iterator[tuple[str, Record]]:
    """Simulate and fit; yields (key, record)."""
    count = splits or (QUICK_SETS if quick else SETS)
    for kind in FUNCTIONS:
        shares: dict[str, list[float]] = {}
        with one_thread():
            for name, calibrate in (("auto", "auto"), ("None", None)):
                shares[name] = [share_inside(kind, seed, calibrate) for seed in range(count)]
        yield kind, {"sets": count, "shares": shares}


def limits(records: dict[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    if records:
        means = [float(np.mean(one["shares"]["auto"])) for one in records.values()]
        shown = f"{100 * min(means):.1f} to {100 * max(means):.1f}"
        met = min(means) >= LEAST and max(means) <= MOST
        bounds = f"{100 * LEAST:g} to {100 * MOST:g}"
        yield "known noise: the band of the function covers, %", bounds, shown, met


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each function."""
    rows = []
    for kind, one in records.items():
        shares = one["shares"]
        cells = [tables.fixed(100 * float(np.mean(shares[name])), 1) for name in ("auto", "None")]
        low = tables.fixed(100 * float(np.quantile(shares["auto"], 0.05)), 0)
        rows.append((kind, str(one["sets"]), cells[0], low, cells[1]))
    header = ("function", "sets", "covered, %", "a twentieth of the sets below", "calibrate=None")
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = f"""\
{SIZE} samples, each with a noise of its own between {DEVIATIONS[0]} and {DEVIATIONS[1]}, which is
known: `RVR(noise=1.0)` with `sample_weight=1/sd²`. Covered are values of the function without noise
at {N_TEST} new points by the 95 % band of the function (`include_noise=False`).
"""
