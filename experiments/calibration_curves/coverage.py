"""Do the intervals of inverse predictions cover the input? Several kinds of curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from experiments._report import Options, Report, repeat
from sparsebayes import RVR, ReducedRankGPR, StudentT
from sparsebayes.datasets import load_sensor

Array = np.ndarray

READINGS = 500
TWO = "two sensors at once"


def sensor(x: Array) -> Array:
    """The response of `make_sensor` without its noise."""
    f = 20 + 35 / (1 + np.exp(-(x - 330) / 45))
    for height, centre, cold, hot in ((24, 168, 24, 16), (38, 262, 34, 22), (20, 401, 30, 20)):
        f += height * np.exp(-0.5 * ((x - centre) / np.where(x < centre, cold, hot)) ** 2)
    return f


def normal(rng: np.random.Generator, x: Array, sd: float) -> Array:
    return sd * rng.standard_normal(x.shape)


def growing(rng: np.random.Generator, x: Array, sd: float) -> Array:
    """The standard deviation grows sixfold over the range from 0 to 10."""
    return sd * (1.0 + 0.5 * x) * rng.standard_normal(x.shape)


def outliers(rng: np.random.Generator, x: Array, sd: float) -> Array:
    return sd * rng.standard_t(3.0, x.shape)


class Case(NamedTuple):
    """A curve, its range, samples to fit, noise, options, replicates and class of the model."""

    function: Callable[[Array], Array]
    low: float
    high: float
    size: int
    sd: float
    noise: Callable[[np.random.Generator, Array, float], Array] = normal
    options: Mapping[str, Any] = MappingProxyType({})
    replicates: int = 1
    model: Any = RVR


def saturating(x: Array) -> Array:
    return 100.0 * x / (2.0 + x)


def sinc(x: Array) -> Array:
    return np.sinc(x / np.pi)


CASES = {
    "sensor, other seeds": Case(sensor, 100, 500, 150, 1.5),
    "sensor, 4 replicates": Case(sensor, 100, 500, 150, 1.5, replicates=4),
    "the same, noise known": Case(
        sensor, 100, 500, 150, 1.5, options={"noise": 2.25}, replicates=4
    ),
    "the same, ReducedRankGPR": Case(
        sensor, 100, 500, 150, 1.5, options={"random_state": 0}, replicates=4, model=ReducedRankGPR
    ),
    "saturating": Case(saturating, 0, 10, 60, 2.0),
    "saturating, 20 samples": Case(saturating, 0, 10, 20, 2.0),
    "straight line": Case(lambda x: 3.0 + 2.0 * x, 0, 10, 40, 0.5, options={"basis": "linear"}),
    "straight line, RBF": Case(lambda x: 3.0 + 2.0 * x, 0, 10, 40, 0.5),
    "sinc": Case(sinc, -10, 10, 100, 0.1),
    "noise known": Case(saturating, 0, 10, 60, 2.0, options={"noise": 4.0}),
    "noise that varies": Case(
        saturating, 0, 10, 200, 0.7, noise=growing, options={"noise": "varying"}
    ),
    "outliers": Case(saturating, 0, 10, 100, 1.5, noise=outliers, options={"noise": StudentT()}),
}


def share_inside(name: str, seed: int) -> float:
    """The part of new readings whose input is in the intervals of 95 %."""
    if name == TWO:
        return two_sensors(seed)
    rng = np.random.default_rng(seed)
    case = CASES.get(name, CASES["sensor, other seeds"])
    if name == "sensor, as bundled":
        data = load_sensor()
        X, y = data.data, data.target
    else:
        X = rng.uniform(case.low, case.high, (case.size, 1))
        y = case.function(X[:, 0]) + case.noise(rng, X[:, 0], case.sd)
    x = rng.uniform(X.min(), X.max(), READINGS)
    each = np.repeat(x[:, None], case.replicates, axis=1)
    readings = case.function(each) + case.noise(rng, each, case.sd)
    found = case.model(**case.options).fit(X, y).inverse_predict(readings)
    return 100.0 * float(found.contains(x).mean())


def two_sensors(seed: int) -> float:
    """The same of two curves that are read at once, of which one is not monotone."""
    rng = np.random.default_rng(seed)

    def read(x: Array) -> Array:
        curves = np.column_stack([saturating(x), 30.0 * np.sin(x)])
        return curves + 2.0 * rng.standard_normal(curves.shape)

    X = rng.uniform(0, 10, (80, 1))
    model = RVR().fit(X, read(X[:, 0]))
    x = rng.uniform(X.min(), X.max(), READINGS)
    return 100.0 * float(model.inverse_predict(read(x)).contains(x).mean())


def run(options: Options) -> Report:
    """Fit, read, go back; a row for each kind of curve."""
    report = Report(f"Inputs covered by intervals of 95 %, {READINGS} readings of each curve")
    count = options.count(20, 3)
    seeds = range(options.seed, options.seed + count)
    spans = []
    for name in ("sensor, as bundled", *CASES, TWO):
        tasks = [(name, seed) for seed in seeds]
        shares = repeat(share_inside, tasks, jobs=options.jobs, label=name)
        report.add(name, 95.0, shares)
        spans.append(f"{name} {min(shares):.1f} to {max(shares):.1f}")
    report.note("In place of a paper's number stands the coverage asked for.")
    report.note("Each repetition draws readings, and but for the first row samples to fit.")
    report.note(f"From the lowest to the highest repetition: {'; '.join(spans)}.")
    return report
