"""Time, memory and the machine."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

# (first measured time in seconds, number of fits): slow fits are repeated less.
REPEATS = ((0.02, 15), (0.2, 7), (2.0, 5), (10.0, 3))
LOOK = 0.005  # seconds between two looks at the memory
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "PyWavelets",
    "scikit-image",
    "bm3d",
    "fastrvm",
    "gpytorch",
    "torch",
    "statsforecast",
    "sparsebayes",
)


def repeats(seconds: float) -> int:
    """How often a fit that took `seconds` is made in all."""
    return next((count for limit, count in REPEATS if seconds < limit), 1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold every BLAS and OpenMP pool loaded so far at one thread, and silence convergence."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """The result and the CPU seconds of the process.

    On one thread this is the wall time of an idle machine; other processes do not count.
    """
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        result = function(*arguments)
        return result, time.process_time() - start
    finally:
        gc.enable()


def _status(key: str) -> float:
    """A size in `/proc/self/status`, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) / 1024.0
    raise KeyError(key)


def peak_memory(function: Callable[[], Any]) -> tuple[Any, float | None]:
    """The result, and by how many MB the resident memory rose at its peak.

    The kernel's own counter is reset before, so allocations in C++ count as well. Only Linux has
    it; elsewhere the peak is None.
    """
    try:
        gc.collect()
        # Freed pages go back to the system, or the next model would take them unseen.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
    except (OSError, AttributeError, KeyError):
        return function(), None
    result = function()
    return result, max(0.0, _status("VmHWM") - before)


def anonymous_peak(function: Callable[[], Any]) -> tuple[Any, float | None]:
    """The result, and by how many MB memory that belongs to no file rose at its peak.

    Pages of mapped files, which the system may drop, do not count. The kernel keeps no peak of
    the others: a thread looks every few milliseconds. Where it cannot the peak is None.
    """
    try:
        gc.collect()
        before = _status("RssAnon")
    except (OSError, KeyError):
        return function(), None
    seen, stop = [before], threading.Event()

    def look() -> None:
        while not stop.wait(LOOK):
            seen.append(_status("RssAnon"))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        result = function()
    finally:
        seen.append(_status("RssAnon"))
        stop.set()
        thread.join()
    return result, max(seen) - before


def process_peak() -> float:
    """The largest resident memory of this process so far, in MB.

    `ru_maxrss` would count the parent's memory as well: it outlives `exec`.
    """
    try:
        return _status("VmHWM")
    except (OSError, KeyError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 2**10)


class Fittable(Protocol):
    """What is compared."""

    @property
    def name(self) -> str:
        """Its name in the tables."""

    @property
    def fit(self) -> Callable[[Any], Any]:
        """Fit to a task; returns what was fitted."""


def repeated(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """The result of the first call, and the median time of several."""
    result, first = timed(function, *arguments)
    others = [timed(function, *arguments)[1] for _ in range(repeats(first) - 1)]
    return result, median([first, *others])


def compare(
    models: Sequence[Fittable], task: Any, describe: Callable[[Any, Any, Any], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Fit each model to the task, in turns, so that a slow moment hits all alike.

    Parameters
    ----------
    models : sequence
        What is fitted.
    task : Task or Labelled
        To what.
    describe : callable
        The record of ``describe(model, fitted, task)``.

    Returns
    -------
    records : dict of str to dict
        By model, the record and `fit` (seconds, the median), `memory` (MB) and `repeats`.
    """
    times: dict[str, list[float]] = {}
    records: dict[str, dict[str, Any]] = {}
    with one_thread():
        for model in models:
            (fitted, seconds), memory = peak_memory(lambda model=model: timed(model.fit, task))
            times[model.name] = [seconds]
            records[model.name] = {**describe(model, fitted, task), "memory": memory}
            del fitted
        total = {model.name: repeats(times[model.name][0]) for model in models}
        for turn in range(1, max(total.values())):
            for model in models:
                if turn < total[model.name]:
                    times[model.name].append(timed(model.fit, task)[1])
    for name, record in records.items():
        record |= {"fit": median(times[name]), "repeats": len(times[name])}
    return records


def cpu_model() -> str:
    """The name of the processor, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine() -> str:
    """One line: processor, cores, system, Python and package versions."""
    versions = ((name, _version(name)) for name in PACKAGES)
    packages = ", ".join(f"{name} {found}" for name, found in versions if found)
    return (
        f"{cpu_model()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {packages}"
    )


def _version(name: str) -> str:
    """Empty if the package is not installed."""
    try:
        return version(name)
    except ModuleNotFoundError:
        if name != "sparsebayes":
            return ""
        import sparsebayes  # run from a checkout

        return getattr(sparsebayes, "__version__", "")
