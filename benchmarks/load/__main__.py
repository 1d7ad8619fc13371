"""``python -m benchmarks.load``: do memory and time stay flat, and how much data fit in 4 GB.

`--only many` makes 10,000 small fits, 500 forecasts and 100,000 predictions of one row, all in one
process, and prints memory and CPU time of each tenth. `--only rows` fits each estimator to ever
more rows of four inputs, each time in a process of its own, until it needs more than 4 GB
(`--megabytes`), and prints the largest that needed less. A fit may take 20 seconds (`max_time`):
what a search needs beside its data hardly grows with its steps.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

Array = np.ndarray
_PARTS = 10
_SECONDS = 20.0  # of a fit
_FEWEST, _MOST, _FACTOR = 4000, 1_024_000, 4
_REFINED = 2  # steps between the largest that fits and the smallest that does not


def sample(size: int, seed: int = 0) -> tuple[Array, Array]:
    """Rows with four inputs, and noisy targets."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (size, 4))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(size)


def _small_fits() -> Callable[[int], None]:
    from sparsebayes import RVC, RVR

    def work(number: int) -> None:
        X, y = sample(20, number)
        if number % 10:
            RVR(adapt=None, calibrate=None).fit(X, y).predict(X, return_std=True)
        else:
            RVC(link="logit", adapt=None, calibrate=None).fit(X, y > 0).predict_proba(X)

    return work


def _forecasts() -> Callable[[int], None]:
    from sparsebayes import Forecaster

    def work(number: int) -> None:
        noise = 0.1 * np.random.default_rng(number).standard_normal(100)
        Forecaster().fit(np.sin(0.4 * np.arange(100)) + noise).predict(10, return_std=True)

    return work


def _predictions() -> Callable[[int], None]:
    from sparsebayes import RVR

    X, y = sample(100)
    model = RVR(calibrate=None).fit(X, y)

    def work(number: int) -> None:
        model.predict(X[number % 100 : number % 100 + 1], return_std=True)

    return work


KINDS: dict[str, tuple[int, Callable[[], Callable[[int], None]]]] = {
    "fits": (10_000, _small_fits),
    "forecasts": (500, _forecasts),
    "predictions": (100_000, _predictions),
}


def megabytes_now() -> float:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def many(scale: float) -> None:
    """Memory and CPU milliseconds of each tenth of much work; `scale` times as much as usual."""
    for name, (count, prepare) in KINDS.items():
        work, size = prepare(), max(int(scale * count) // _PARTS, 1)
        memory, times = [], []
        for part in range(_PARTS):
            begin = time.process_time()
            for number in range(part * size, (part + 1) * size):
                work(number)
            times.append(1e3 * (time.process_time() - begin) / size)
            memory.append(megabytes_now())
        print(f"{_PARTS * size} {name}")
        print("  MB after each tenth:", " ".join(f"{one:.1f}" for one in memory))
        print("  CPU ms for one:     ", " ".join(f"{one:.2f}" for one in times), flush=True)


def _estimators() -> dict[str, Callable[[Array, Array], Any]]:
    from sparsebayes import (
        RVC,
        RVR,
        Forecaster,
        LeaveOneOutGPR,
        NoisyInputGPR,
        ParetoClassifier,
        ReducedRankGPR,
        denoise,
        sample_posterior,
    )

    limit = {"max_time": _SECONDS}
    return {
        "RVR()": lambda X, y: RVR(**limit).fit(X, y),
        'RVR(solver="em")': lambda X, y: RVR(solver="em", **limit).fit(X, y),
        'RVR(noise="student")': lambda X, y: RVR(noise="student", **limit).fit(X, y),
        "RVR(augment=True)": lambda X, y: RVR(augment=True, **limit).fit(X, y),
        "RVC(), two classes": lambda X, y: RVC(**limit).fit(X, y > 0),
        "RVC(), five classes": lambda X, y: RVC(**limit).fit(X, np.digitize(y, [-1, 0, 1, 2])),
        "ReducedRankGPR()": lambda X, y: ReducedRankGPR(**limit).fit(X, y),
        "LeaveOneOutGPR()": lambda X, y: LeaveOneOutGPR(optimizer=None).fit(X, y),
        "NoisyInputGPR()": lambda X, y: NoisyInputGPR(input_noise=0.01, **limit).fit(X, y),
        "ParetoClassifier()": lambda X, y: ParetoClassifier(**limit, random_state=0).fit(X, y > 0),
        "Forecaster()": lambda X, y: Forecaster(**limit).fit(y),
        "denoise()": lambda X, y: denoise(y),
        "sample_posterior(RVR())": lambda X, y: sample_posterior(
            RVR(calibrate=None, **limit).fit(X, y), X, y, n_samples=4, n_chains=1, random_state=0
        ),
    }


def one(name: str, size: int) -> None:
    """Print the largest memory of a fit, and its seconds."""
    fit, (X, y) = _estimators()[name], sample(size)
    begin = time.perf_counter()
    warnings.simplefilter("ignore")
    refusal = ""
    try:
        fit(X, y)
    except (ValueError, MemoryError) as error:
        refusal = f"{type(error).__name__}: {error}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"MB": peak, "s": time.perf_counter() - begin, "refusal": refusal}))


def rows(megabytes: float, seconds: float, most: int, names: list[str]) -> None:
    """The largest number of rows of each estimator that needs no more memory."""
    print(f"{'estimator':<26}{'rows':>9}{'MB':>8}{'s':>8}  with more rows")
    for name in names:
        best: tuple[int, dict[str, Any]] | None = None
        size, above, why = _FEWEST, 0, f"not tried ({most} is the most)"
        refined = 0
        while size <= most:
            found = _measured(name, size, seconds)
            if "refusal" in found and not found["refusal"] and found["MB"] <= megabytes:
                best = size, found
                if not above:
                    size *= _FACTOR
                    continue
            else:
                above = size
                why = found.get("refusal") or f"{size} rows: {found['MB']:.0f} MB"
            refined += 1
            if best is None or refined > _REFINED:
                break
            size = int((best[0] * above) ** 0.5)
        told = f"{best[0]:>9}{best[1]['MB']:>8.0f}{best[1]['s']:>8.0f}" if best else f"{'-':>25}"
        print(f"{name:<26}{told}  {why}", flush=True)


def _measured(name: str, size: int, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.load", "--one", name, str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"MB": np.nan, "refusal": f"{size} rows: not done after {seconds:.0f} s"}
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        return {"MB": np.nan, "refusal": f"{size} rows: {last[0]}"}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--only", choices=("many", "rows"), help="default: both")
    parser.add_argument("--scale", type=float, default=1.0, help="of the work of `many` (1)")
    parser.add_argument("--megabytes", type=float, default=4096.0, help="of `rows` (4096)")
    parser.add_argument("--seconds", type=float, default=300.0, help="of one fit at most (300)")
    parser.add_argument("--most", type=int, default=_MOST, help=f"rows at most ({_MOST})")
    parser.add_argument("--estimator", action="append", help="of `rows` (default: all)")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "ROWS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one[0], int(arguments.one[1]))
        return
    if arguments.only != "rows":
        many(arguments.scale)
    if arguments.only != "many":
        names = arguments.estimator or list(_estimators())
        rows(arguments.megabytes, arguments.seconds, arguments.most, names)


if __name__ == "__main__":
    main()
