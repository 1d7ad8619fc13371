"""kill -9 in the middle of writing: the old file or the new one, and never a part."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.faults.children import Child, in_child
from tests.faults.trial import Trial, Trials
from tests.faults.writers import STRAY, Writer, read, writers

DELAYS = (1e-5, 2e-2)
"""Seconds from the first file that is opened for writing to the end, drawn by their logarithm."""


def killed(writer: Writer, delay: float, folder: Path) -> Trial:
    """Kill a writer once it has begun, and look at what is there; then write again."""
    writer.put(folder, 0)

    def work(tell: Callable[[], None]) -> None:
        def heard(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "open" and STRAY.fullmatch(Path(str(arguments[0])).name):
                tell()

        sys.addaudithook(heard)
        writer.write(folder, 1)

    child = Child(work)
    child.await_moment()
    time.sleep(delay)
    child.kill(signal.SIGKILL)
    hit = child.end().signal == signal.SIGKILL
    strays = [name for name in read(folder) if STRAY.fullmatch(Path(name).name)]
    faults = [fault for fault in writer.faults(folder, (0, 1)) if fault.split()[0] not in strays]
    if len(strays) > len(writer.contents[0]):
        faults.append(f"{len(strays)} temporary files are left")
    again = in_child(lambda: writer.write(folder, 1))
    if again.answer is not None or again.hung:
        faults.append(f"the next run fails: {again}")
    after = [fault for fault in writer.faults(folder, (1,)) if fault.split()[0] not in strays]
    return Trial(f"{writer.name} after {delay:.6f} s", (*faults, *after), hit)


def kills(rng: np.random.Generator) -> Trials:
    """All writers in turn, without an end."""
    while True:
        for writer in writers().values():
            delay = float(np.exp(rng.uniform(*np.log(DELAYS))))
            with TemporaryDirectory() as folder:
                yield killed(writer, delay, Path(folder))
