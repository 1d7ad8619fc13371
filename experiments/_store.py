"""Units of work that are kept as they end, and what state of the code they belong to.

`repeat` of `_report` asks here before it computes. A run that was stopped goes on where it was. A
change of the package makes all units again, a change of an experiment those whose code it changes:
what is only said or drawn of them does not count.
"""

from __future__ import annotations

import os
import pickle
import platform
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments import _code

ROOT = _code.ROOT
PACKAGES = "numpy", "scipy", "scikit-learn", "PyWavelets"
# By a state of the package the one before it, which gives the same bits, as `python -m
# tests.reference` tells of both, and the experiments in which it does not. What differs in the
# first: Subspace by Newton's method drew 59 of more than 590 functions at a time.
ALIKE = {"0377c75c7a76": ("205e2c481fef", ("quinonero2004.subspace_mackey_glass",))}


def state_of(name: str) -> dict[str, str]:
    """What the results of an experiment depend on: the package, its module and its helpers."""
    return {"sparsebayes": _code.package(), "module": _code.experiment(name)}


def holds(state: dict[str, str], name: str) -> bool:
    """Whether what an experiment gave in this state is what it gives now."""
    now = state_of(name)
    before, but = ALIKE.get(now["sparsebayes"], ("", ()))
    return state == now or (state == now | {"sparsebayes": before} and name not in but)


def commit() -> str:
    """The commit of the tree, with a plus sign if the tree has changed since."""
    try:
        head = _git("rev-parse", "--short=7", "HEAD")
        changed = _git("status", "--porcelain", "--", "sparsebayes", "experiments/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + "+" * bool(changed)


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def versions() -> dict[str, str]:
    """Those of Python and of the packages that numbers depend on."""
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in PACKAGES
    }


class Units:
    """Results of single units of one experiment, in a folder of its own.

    Attributes
    ----------
    seconds : float
        That those took which were found here instead of being computed.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / name / _code.package()
        self.seconds = 0.0

    def path(self, function: Callable[..., Any], task: tuple[Any, ...]) -> Path:
        """The file of a unit, by what is called and with what."""
        import joblib

        name = f"{function.__module__}.{function.__qualname__}"
        return self.folder / f"{joblib.hash((name, _code.function(function), task))}.pickle"

    def load(self, path: Path) -> Any:
        """A stored result; `KeyError` if there is none."""
        try:
            result, seconds = pickle.loads(path.read_bytes())
        except FileNotFoundError:
            raise KeyError(path.name) from None
        self.seconds += seconds
        return result

    @staticmethod
    def save(path: Path, result: Any, seconds: float) -> None:
        """Store a result and how long it took, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(pickle.dumps((result, seconds)))
        part.replace(path)


_current: ContextVar[Units | None] = ContextVar("units", default=None)


@contextmanager
def kept(units: Units | None) -> Iterator[None]:
    """Keep the units of what is run inside."""
    token = _current.set(units)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Units | None:
    """Where units are kept, None if they are not."""
    return _current.get()
