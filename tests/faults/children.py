"""Children of this process: forked, so that they have imported everything, and watched."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SECONDS = 120.0
"""After which a child is taken to hang."""


@dataclass(frozen=True)
class Ended:
    """How a child ended: its answer, or the signal that ended it, or that it hung."""

    answer: Any = None
    signal: int = 0
    hung: bool = False


class Child:
    """A process that runs `work(tell)`, and gives what it returns; `tell()` reports a moment."""

    def __init__(self, work: Callable[[Callable[[], None]], Any]) -> None:
        self._moments, tells = os.pipe()
        self._answers, answers = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads; forks are the point
            self.pid = os.fork()
        if self.pid == 0:
            _live(work, tells, answers)
        os.close(tells)
        os.close(answers)

    def await_moment(self, seconds: float = SECONDS) -> None:
        """Wait until it tells, or has ended."""
        select.select([self._moments], [], [], seconds)

    def kill(self, sign: int) -> None:
        os.kill(self.pid, sign)

    def end(self, seconds: float = SECONDS) -> Ended:
        """Wait for its answer."""
        parts, until, hung = [], time.monotonic() + seconds, False
        while True:
            ready, _, _ = select.select([self._answers], [], [], max(until - time.monotonic(), 0.0))
            if not ready:
                hung = True
                self.kill(signal.SIGKILL)
                break
            part = os.read(self._answers, 1 << 16)
            if not part:
                break
            parts.append(part)
        status = os.waitpid(self.pid, 0)[1]
        os.close(self._answers)
        os.close(self._moments)
        sign = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        found = b"".join(parts)
        return Ended(pickle.loads(found) if found and not sign else None, sign, hung)


def _live(work: Callable[[Callable[[], None]], Any], tells: int, answers: int) -> None:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        answer = work(lambda: (os.write(tells, b"."), None)[1])
    except BaseException:
        answer = traceback.format_exc()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with os.fdopen(answers, "wb") as stream:
            pickle.dump(answer, stream)
    finally:
        os._exit(0)


def in_child(work: Callable[[], Any], seconds: float = SECONDS) -> Ended:
    """Run something in a child."""
    return Child(lambda tell: work()).end(seconds)
