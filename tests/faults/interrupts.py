"""Ctrl-C at random moments: in fits, in predictions, in commands, and while Python starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from tests.faults.children import SECONDS, Child, Ended
from tests.faults.estimators import CASES, Case
from tests.faults.trial import Trial, Trials
from tests.faults.writers import CommandError, Writer, writers

Array = np.ndarray
Answer = tuple[bool, list[str]]
INTERRUPTED = "sparsebayes: interrupted\n"


def same_bits(some: list[Array], others: list[Array]) -> bool:
    return len(some) == len(others) and all(map(np.array_equal, some, others))


@cache
def undisturbed(name: str) -> tuple[list[Array], float, float]:
    """What an estimator answers, and the seconds of its second fit and of an answer."""
    case = CASES[name]
    case.arrays(case.fit(case.make()))  # imports what it needs
    times = [time.monotonic()]
    model = case.fit(case.make())
    times.append(time.monotonic())
    arrays = case.arrays(model)
    times.append(time.monotonic())
    return arrays, *np.diff(times)


def faults_of_estimator(case: Case, model: Any, right: list[Array]) -> list[str]:
    """What is wrong with an estimator after Ctrl-C: it answers, or is not fitted; it fits again."""
    faults = []
    try:
        if not all(np.isfinite(part).all() for part in case.arrays(model)):
            faults.append("its answer is not finite")
    except NotFittedError:  # as it was before: one of the two ends that are right
        pass
    except Exception as error:
        faults.append(f"it neither answers nor is unfitted: {type(error).__name__}: {error}")
    if not same_bits(case.arrays(case.fit(model)), right):
        faults.append("its next fit differs from a first one")
    return faults


def interrupted(
    act: Callable[[], None], look: Callable[[BaseException | None], list[str]], delay: float
) -> Ended:
    """Send SIGINT after some seconds; the answer: whether it came in time, and the faults."""

    def work(tell: Callable[[], None]) -> Answer:
        caught: BaseException | None = None
        try:
            tell()
            act()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except (KeyboardInterrupt, CommandError) as error:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            caught = error
        return caught is not None, look(caught)

    child = Child(work)
    child.await_moment()
    time.sleep(delay)
    child.kill(signal.SIGINT)
    return child.end()


def _trial(label: str, ended: Ended) -> Trial:
    if not isinstance(ended.answer, tuple):
        return Trial(label, (f"no answer: {ended}",))
    hit, faults = ended.answer
    return Trial(label, tuple(faults), hit)


def in_estimator(name: str, part: str, share: float) -> Trial:
    """Disturb `fit` of a new or a fitted estimator ("refit"), or its answer."""
    case = CASES[name]
    right, *seconds = undisturbed(name)
    model = case.make()
    if part != "fit":
        case.fit(model)

    def act() -> None:
        if part == "answer":
            case.arrays(model)
        else:
            case.fit(model)

    delay = share * seconds[part == "answer"]
    ended = interrupted(act, lambda caught: faults_of_estimator(case, model, right), delay)
    return _trial(f"{name}, {part}, after {delay:.4f} s", ended)


def in_command(writer: Writer, share: float) -> Trial:
    """Disturb a command that replaces its files."""
    delay = share * writer.seconds
    with TemporaryDirectory() as name:
        folder = Path(name)
        writer.put(folder, 0)

        def look(caught: BaseException | None) -> list[str]:
            faults = writer.faults(folder, (0, 1) if caught else (1,))
            if isinstance(caught, CommandError) and (caught.code, caught.text) != (
                130,
                INTERRUPTED,
            ):
                faults.append(f"exit status {caught.code}: {caught.text}")
            return faults

        ended = interrupted(lambda: writer.write(folder, 1), look, delay)
    return _trial(f"{writer.name}, after {delay:.4f} s", ended)


PROGRAM = """
print("begun", flush=True)
import sys
from sparsebayes.cli import main
sys.exit(main(["fit", "--length-scale", "30", "--folds", "0", "-o", "model.skops"]))
"""


def in_process(delay: float) -> Trial:
    """Disturb a real process as it imports us, or later."""
    argv = [sys.executable, "-c", PROGRAM]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    label = f"process, after {delay:.3f} s"
    with TemporaryDirectory() as folder:
        process = subprocess.Popen(
            argv, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=SECONDS)[1].decode()
        left = os.listdir(folder)
    code = process.returncode
    if code == 0:
        return Trial(label, hit=False)
    faults = [f"{name} is left behind" for name in left]
    # Before `main` is there the interpreter ends by the signal, which shells call 130 too.
    if code not in (130, -signal.SIGINT) or (code == 130 and err != INTERRUPTED):
        faults.append(f"exit status {code}: {err}")
    return Trial(label, tuple(faults))


def interrupts(rng: np.random.Generator) -> Trials:
    """Estimators and commands in turn, and now and then a process; without an end."""
    parts = cycle(["fit", "refit", "answer"])
    while True:
        for name in CASES:
            yield in_estimator(name, next(parts), float(rng.uniform()))
        for writer in writers().values():
            if writer.name != "save":
                yield in_command(writer, float(rng.uniform()))
        yield in_process(float(rng.uniform(0.0, 2.0)))
