"""Forks, threads and worker processes around our estimators: the same bits, and no hang."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_limits

from sparsebayes import RVR, Forecaster
from sparsebayes.basis import RBF
from tests.faults.children import in_child
from tests.faults.estimators import CASES, PANEL, X, Y
from tests.faults.interrupts import same_bits, undisturbed
from tests.faults.trial import Trial, Trials
from tests.fuzz.law import OutOfTime, time_limit
from tests.laws.test_threads import sizes

SECONDS = 60.0


def in_fork(name: str) -> list[str]:
    """An estimator after a fork gives the bits that it gave before."""
    right, case = undisturbed(name)[0], CASES[name]
    ended = in_child(lambda: case.arrays(case.fit(case.make())), SECONDS)
    if ended.hung or not isinstance(ended.answer, list):
        return [f"no answer: {ended}"]
    return [] if same_bits(ended.answer, right) else ["other bits"]


def fork_beside_fits() -> list[str]:
    """A fork while another thread is in the middle of a fit."""
    name = "RVR by EM, starred"
    right, case = undisturbed(name)[0], CASES[name]
    inside, ended = threading.Event(), threading.Event()

    def kernel(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
        inside.set()
        ended.wait(SECONDS)
        return RBF(1.0).fit(centres).columns(rows)

    def fit() -> tuple[list[int], list[np.ndarray]]:
        return sizes(), case.arrays(case.fit(case.make()))

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        before = sizes()
        other = pool.submit(RVR(kernel, calibrate=None).fit, X, Y)
        inside.wait(SECONDS)
        found = in_child(fit, SECONDS)
        ended.set()
        other.result(SECONDS)
    if not isinstance(found.answer, tuple):
        return [f"no answer: {found}"]
    faults = [] if found.answer[0] == before else [f"threads of BLAS: {found.answer[0]}"]
    return faults + ([] if same_bits(found.answer[1], right) else ["other bits"])


def in_threads(name: str) -> list[str]:
    """Two fits at the same time."""
    right, case = undisturbed(name)[0], CASES[name]
    with threadpool_limits(2, user_api="blas"):
        before = sizes()
        with ThreadPoolExecutor(2) as pool:
            fits = [pool.submit(lambda: case.arrays(case.fit(case.make()))) for _ in range(2)]
            found = [fit.result(SECONDS) for fit in fits]
        faults = [] if sizes() == before else [f"threads of BLAS: {sizes()}, were {before}"]
    return faults + ["other bits" for one in found if not same_bits(one, right)]


def by_joblib(backend: str) -> list[str]:
    """Cross-validation in two workers."""
    model = RVR(RBF(2.0))
    alone = cross_val_score(model, X, Y, cv=4)
    with parallel_config(backend=backend):
        found = cross_val_score(model, X, Y, cv=4, n_jobs=2)
    return [] if np.array_equal(alone, found) else [f"{found} instead of {alone}"]


class Deadly:
    """A kernel that ends the process it is in, unless that is the one that made it."""

    def __init__(self) -> None:
        self.home = os.getpid()

    def __call__(self, rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
        if os.getpid() != self.home:
            os._exit(3)
        return RBF(1.0).fit(centres).columns(rows)


def dying(work: Callable[[], Any], again: Callable[[], Any]) -> list[str]:
    """A worker that dies gives an error that says so, and the next work is done."""
    faults = []
    try:
        with time_limit(2.0 * SECONDS):
            try:
                work()
                faults.append("no error")
            except Exception as error:
                if "terminated" not in str(error):
                    faults.append(f"does not tell: {error!r}")
            again()
    except OutOfTime:
        faults.append("it hangs")
    return faults


def _panel(basis: Any) -> Forecaster:
    model = RVR(basis, calibrate=None)
    forecaster = Forecaster(model, lags=3, transform=None, difference=None, n_jobs=2)
    return forecaster.fit(PANEL)


def workers(rng: np.random.Generator) -> Trials:
    """All of it, once."""
    for name in CASES:
        yield Trial(f"fork, {name}", tuple(in_fork(name)))
        yield Trial(f"threads, {name}", tuple(in_threads(name)))
    yield Trial("fork beside a fit", tuple(fork_beside_fits()))
    for backend in ("threading", "loky"):
        yield Trial(f"joblib, {backend}", tuple(by_joblib(backend)))
    faults = dying(lambda: _panel(Deadly()), lambda: _panel(RBF(1.0)))
    yield Trial("a worker that dies", tuple(faults))
