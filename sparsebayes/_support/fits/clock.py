"""A limit on the time of a fit.

`fit` of an estimator sets it, and every search asks `time_is_up` between its steps: then it ends
with the best that it has found. What has found nothing by then raises `OutOfTime`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from sparsebayes._support.validation import as_number

STOPPED = (
    "stopped at max_time; the model is the best found until then, raise max_time for a better one"
)


class OutOfTime(Exception):
    """The time of a fit is up where there is nothing yet that could be kept."""


@dataclass(eq=False)
class Limit:
    """Until when a search may go on, and whether one was cut short.

    Attributes
    ----------
    end : float
        By `time.monotonic`.
    outer : Limit or None
        The limit inside which it was set.
    share : bool
        Whether it is a part of the outer one.
    reached : bool
        Whether a search was told that its time is up.
    """

    end: float
    outer: Limit | None = None
    share: bool = False
    reached: bool = False

    def reach(self, now: float) -> None:
        """Note that a search was cut short, by this limit or by those around it."""
        self.reached = True
        if self.outer is not None and (self.share or self.outer.end <= now):
            self.outer.reach(now)


_current: ContextVar[Limit | None] = ContextVar("limit", default=None)


def check_max_time(max_time: Any) -> float:
    """The seconds that a fit may take, infinity for None; or a clear error."""
    if max_time is None:
        return math.inf
    seconds = as_number(max_time)
    if seconds is None or seconds <= 0:
        raise ValueError(
            "max_time must be a positive number of seconds, or None for no limit, "
            f"got {max_time!r}."
        )
    return seconds


def time_is_up() -> bool:
    """Whether a search has to end."""
    limit = _current.get()
    if limit is None or limit.end == math.inf:
        return False
    now = time.monotonic()
    if now < limit.end:
        return False
    limit.reach(now)
    return True


def end_in_time(intermediate_result: Any) -> None:
    """A callback of `scipy.optimize.minimize`: it ends with the best point when the time is up."""
    if time_is_up():
        raise StopIteration


def current_limit() -> Limit | None:
    """The limit that holds, for threads: they do not know of it by themselves."""
    return _current.get()


@contextmanager
def under(limit: Limit | None) -> Iterator[None]:
    """Let a limit hold for what is inside."""
    token = _current.set(limit)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def time_limit(max_time: Any) -> Iterator[Limit]:
    """Limit what is inside to so many seconds, None for no limit; an earlier end still holds."""
    seconds, outer = check_max_time(max_time), _current.get()
    end = min(time.monotonic() + seconds, math.inf if outer is None else outer.end)
    limit = Limit(end, outer)
    with under(limit):
        yield limit


@contextmanager
def share_of_time(share: float) -> Iterator[None]:
    """Limit what is inside to a share of the time that is left."""
    outer, now = _current.get(), time.monotonic()
    left = math.inf if outer is None else outer.end - now
    with under(Limit(now + share * left, outer, share=True)):
        yield
