"""Ctrl-C at a line of one's choice."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


def interrupted_when(act: Callable[[], Any], moment: Callable[[FrameType], bool]) -> bool:
    """Raise KeyboardInterrupt at the first line where `moment(frame)` holds; whether there was one.

    It is asked of each line of every function that is called in Python.
    """

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and moment(frame):
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def at_every_line(act: Callable[[], Any], file: str) -> Iterator[int]:
    """Interrupt something at its first line in a file, at its second, and so on to the last.

    Lines with `with` are left out: they are passed again at the end of their block, where Python
    handles no signal.
    """
    count, last = 0, True
    while last:
        passed = 0

        def moment(frame: FrameType, count: int = count) -> bool:
            nonlocal passed
            if frame.f_code.co_filename != file or _with(file, frame.f_lineno):
                return False
            passed += 1
            return passed > count

        last = interrupted_when(act, moment)
        count += 1
        yield count


def _with(file: str, line: int) -> bool:
    return linecache.getline(file, line).lstrip().startswith("with ")
