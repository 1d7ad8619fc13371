"""What every call must do: give a finite answer, or refuse with an error that can be acted on.

No warning but our own, and within a time limit.
"""

from __future__ import annotations

import dis
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse

SECONDS = 20.0
"""The time limit of a call, where the case names no other."""

OUR_ERRORS = (ValueError, TypeError, ImportError, AttributeError, OSError)
"""Of which an error of ours is; `NotFittedError` is a ValueError."""

CHECKS = ("sklearn/utils/validation.py", "sklearn/utils/_param_validation.py")
"""Where scikit-learn checks arguments: its errors name them, and users know them."""


OUR_WARNINGS = ("sparsebayes", "sklearn.utils.validation", "sklearn.metrics")
"""Modules whose warnings are meant for users: of names of columns, and of scores of one sample."""


class Verdict(Enum):
    """How a call ended."""

    ANSWERED = "answered"
    REFUSED = "clear errors"
    VIOLATION = "violations"


@dataclass(frozen=True, eq=False)
class Case:
    """A call to try.

    Parameters
    ----------
    label : str
        Says which, so that it can be run again.
    run : callable
        The call; what it returns must be finite wherever it is a number.
    names : tuple of str, default=()
        An error must name one of these: the argument that is wrong.
    shown : tuple of str, default=()
        An error must show one of these: the value that is wrong, or its type.
    finite : bool, default=True
        Whether the answer must be finite.
    seconds : float, default=SECONDS
        The time limit.
    """

    label: str
    run: Callable[[], Any]
    names: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    finite: bool = True
    seconds: float = SECONDS


@dataclass(frozen=True)
class Outcome:
    """How a case ended, and what is wrong with it if something is."""

    label: str
    verdict: Verdict
    reason: str = ""


class OutOfTime(BaseException):
    """Raised in a call that takes too long; a BaseException, so that nothing swallows it."""


def judge(case: Case) -> Outcome:
    """Run a case and say whether the law holds."""

    def violation(reason: str) -> Outcome:
        return Outcome(case.label, Verdict.VIOLATION, reason)

    with _foreign_warnings() as foreign:
        try:
            with time_limit(case.seconds):
                answer = case.run()
        except OutOfTime:
            return violation(f"not ended after {case.seconds:g} s")
        except Exception as error:
            fault = fault_of(error, case.names, case.shown)
            if fault:
                return violation(fault)
            verdict = Verdict.REFUSED
        else:
            if case.finite and (where := not_finite(answer)) is not None:
                return violation(f"not finite: {where}")
            verdict = Verdict.ANSWERED
    if foreign:
        return violation(f"{len(foreign)} warnings that are not ours, the first: {foreign[0]}")
    return Outcome(case.label, verdict)


def fault_of(
    error: Exception, names: tuple[str, ...] = (), shown: tuple[str, ...] = ()
) -> str | None:
    """What is wrong with an error, or None if a user can act on it."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.filename is not None:
        return None  # the system's own words name the file
    if not isinstance(error, OUR_ERRORS) or not _raised_on_purpose(error):
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"not an error of ours: {text} ({last.filename}:{last.lineno})"
    message = str(error)
    if names and not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) for name in names):
        return f"does not name {' or '.join(names)}: {text}"
    if shown and not any(part in message for part in shown):
        return f"does not show {' or '.join(shown)}: {text}"
    return None


def not_finite(answer: Any, path: str = "answer") -> str | None:
    """Where a number in an answer is not finite, or None if all are."""
    if isinstance(answer, dict):
        parts = [(f"{path}[{key!r}]", value) for key, value in answer.items()]
    elif isinstance(answer, tuple | list):
        parts = [(f"{path}[{i}]", value) for i, value in enumerate(answer)]
    else:
        if scipy.sparse.issparse(answer):
            answer = answer.data
        array = np.asarray(answer)
        if array.dtype == object:
            array = np.array([value for value in array.ravel() if isinstance(value, float)])
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            return f"{path} = {np.array2string(array, threshold=6)}"
        return None
    return next((where for key, value in parts if (where := not_finite(value, key))), None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` after some seconds of the clock; works in the main thread."""

    def expire(*_: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _raised_on_purpose(error: Exception) -> bool:
    """Whether an error comes from a `raise` of ours, or from scikit-learn's checks of arguments."""
    trace: TracebackType | None = error.__traceback__
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    raised = code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]
    module = str(trace.tb_frame.f_globals.get("__name__", ""))
    path = code.co_filename.replace("\\", "/")
    return raised and (module.split(".")[0] == "sparsebayes" or path.endswith(CHECKS))


@contextmanager
def _foreign_warnings() -> Iterator[list[str]]:
    """The warnings inside that no `warnings.warn` of ours gave."""
    ours: set[str] = set()
    foreign: list[str] = []
    warn = warnings.warn

    def noted(message: Any, *args: Any, **kwargs: Any) -> None:
        if str(sys._getframe(1).f_globals.get("__name__", "")).startswith(OUR_WARNINGS):
            ours.add(str(message))
        warn(message, *args, **kwargs)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn = noted  # type: ignore[assignment]
        try:
            yield foreign
        finally:
            warnings.warn = warn  # type: ignore[assignment]
            foreign += [
                f"{type(w.message).__name__}: {w.message} ({w.filename}:{w.lineno})"
                for w in caught
                if str(w.message) not in ours
            ]
