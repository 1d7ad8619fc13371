"""A line on a terminal that says what is going on, and for how long."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from types import TracebackType
from typing import TextIO


class ProgressLine:
    """Shows a text and the seconds gone while the block runs, then wipes the line.

    Nothing is shown if the stream is no terminal, or of a block that takes less than `delay`.

    Parameters
    ----------
    stream : file, default=None
        Where to; None is stderr.
    quiet : bool, default=False
        Show nothing at all.
    delay, period : float, default=1.0 and 0.5
        Seconds before the first line, and between two.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        delay: float = 1.0,
        period: float = 0.5,
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.quiet = quiet
        self.delay = delay
        self.period = period
        self.text = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    @property
    def shown(self) -> bool:
        """Whether there is somebody to see it."""
        return self.stream.isatty() and not self.quiet

    @contextmanager
    def following(self) -> Iterator[None]:
        """While the block runs, the last line that it prints is added to the text."""
        if not self.shown:
            yield
            return
        with redirect_stdout(_LastLine(self)):
            yield

    def __enter__(self) -> ProgressLine:
        if self.shown:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _tick(self) -> None:
        start = time.monotonic()
        wait = self.delay
        while not self._over.wait(wait):
            self._show(f"{self.text} ({time.monotonic() - start:.0f} s)")
            wait = self.period
        if wait == self.period:
            self._show("")

    def _show(self, text: str) -> None:
        self.stream.write(f"\r{text}\x1b[K")  # the rest of the line is wiped
        self.stream.flush()


def bar(share: float, width: int = 20) -> str:
    """A share as a bar, and in percent."""
    full = round(width * share)
    return f"[{'#' * full}{'.' * (width - full)}] {100 * share:.0f} %"


class _LastLine(io.TextIOBase):
    """A file of which the last line is shown after the text of a progress line."""

    def __init__(self, line: ProgressLine) -> None:
        self._line, self._text = line, line.text

    def write(self, text: str) -> int:
        if text.strip():
            self._line.text = f"{self._text}: {text.strip().rpartition('] ')[2]}"
        return len(text)
