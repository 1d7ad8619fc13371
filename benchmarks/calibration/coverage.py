"""Errors and error bars on fifteen data sets, of the default and of what else one might take."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.tools.measure import repeated, timed
from benchmarks.tools.splits import Split
from sparsebayes.datasets import load_benchmark
from sparsebayes.persistence import save
from sparsebayes.scores import interval_coverage, negative_log_predictive_density

Record = dict[str, Any]
Array = np.ndarray

SETS = (
    "boston",
    "concrete",
    "energy",
    "yacht",
    "wine_red",
    "power",
    "kin8nm",
    "airfoil",
    "naval",
    "skillcraft",
    "sml",
    "protein",
    "elevators",
    "parkinsons",
    "abalone",
)
LARGER = ("kin8nm", "airfoil", "concrete", "power", "sml", "abalone")
PLANS = {300: (SETS, 5), 1000: (LARGER, 3)}  # training rows: sets, splits
QUICK = ("yacht", "kin8nm")
N_TEST, SHARE = 1500, 0.8
ROWS = 1000  # whose prediction is timed


def make_split(name: str, size: int, number: int) -> Split:
    """Rows drawn at random, at most four fifths of the set to learn from; all standardised."""
    data = load_benchmark(name if name == "boston" else f"uci_{name}")
    X, y = data["X"].astype(float), data["y"].astype(float).ravel()
    order = np.random.default_rng(number).permutation(len(y))
    count = min(size, int(SHARE * len(y)))
    train, test = order[:count], order[count : count + N_TEST]
    scaler = StandardScaler().fit(X[train])
    mean, std = y[train].mean(), y[train].std()
    return Split(
        scaler.transform(X[train]),
        (y[train] - mean) / std,
        scaler.transform(X[test]),
        (y[test] - mean) / std,
    )


def thirds(y: Array, mean: Array, std: Array) -> list[float] | None:
    """Coverage where the error bar is short, middling and long; None if all are alike."""
    if np.ptp(std) == 0:
        return None
    parts = np.array_split(np.argsort(std, kind="stable"), 3)
    return [_short(interval_coverage(y[rows], mean[rows], std[rows])) for rows in parts]


def file_size(fitted: Any) -> int | None:
    """Bytes of the model file, of our models."""
    if not type(fitted).__module__.startswith("sparsebayes"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save(fitted, path)
        return path.stat().st_size


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def measured(model: Any, split: Split, truth: Array | None = None) -> Record:
    """Fit one model to one split; `predict` in seconds for 1000 rows, `file` in bytes.

    With `truth`, the function without noise at the test rows, `error` is that to it, over its std.
    """
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted, seconds = timed(model.fit, split)
    with threadpool_limits(1):
        rows = np.resize(split.X_test, (ROWS, split.X_test.shape[1]))
        _, predict = repeated(model.predict, fitted, rows)
        mean, std = model.predict(fitted, split.X_test)
    factor = getattr(fitted, "calibration_", None)
    record: Record = {}
    if truth is not None:
        record["error"] = _short(np.sqrt(np.mean((mean - truth) ** 2)) / np.std(truth))
    return record | {
        "rmse": _short(np.sqrt(np.mean((mean - split.y_test) ** 2))),
        "nlpd": _short(negative_log_predictive_density(split.y_test, mean, std)),
        "coverage": _short(interval_coverage(split.y_test, mean, std)),
        "thirds": thirds(split.y_test, mean, std),
        "kept": model.kept(fitted),
        "fit": _short(seconds),
        "predict": _short(predict),
        "file": file_size(fitted),
        "calibration": None if factor is None else _short(factor),
        "warnings": [warning.category.__name__ for warning in caught],
    }


def plan(
    quick: bool,
    splits: int | None = None,
    size: int | None = None,
    number: int | None = None,
    only: Sequence[str] = (),
) -> Iterator[tuple[str, int, int]]:
    """The (set, training rows, split) asked for."""
    for rows, (names, count) in PLANS.items():
        if size not in (None, rows) or (quick and rows > min(PLANS)):
            continue
        for name in [one for one in names if one in (only or (QUICK if quick else names))]:
            numbers = range(splits or (1 if quick else count)) if number is None else [number]
            yield from ((name, rows, one) for one in numbers)


def run(
    entries: Iterator[tuple[str, int, int]],
    models: Sequence[Any],
    stored: dict[str, Record],
    resume: bool,
) -> Iterator[tuple[str, Record]]:
    """Fit all models to all splits; yields (key, record).

    Parameters
    ----------
    entries : iterable of tuple
        Set, training rows, split.
    models : list of Probabilistic
        What is fitted; what others have stored stays.
    stored : dict of str to dict
        What was measured before.
    resume : bool
        Whether models whose fits are stored are not fitted again.
    """
    for name, size, number in entries:
        key = f"{name}/{size}/{number}"
        fits = dict(stored[key]["fits"]) if key in stored else {}
        wanted = [model for model in models if not (resume and model.name in fits)]
        if not wanted:
            continue
        split = make_split(name, size, number)
        fits |= {model.name: measured(model, split) for model in wanted}
        place = {"name": name, "size": size, "split": number, "shape": list(split.X.shape)}
        yield key, place | {"fits": fits}
