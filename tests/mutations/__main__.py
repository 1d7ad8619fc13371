"""`python -m tests.mutations`: put faults into a copy of the tree, and see which tests find them.

The test that found a fault before comes first, then those of the file, of its folders, and all
quick ones. What a test finds counts only if the same test passes without the fault.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.mutations.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "results", "demo", "build", "dist")
_ENDLESS = "does not end"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--match", default="", help="only faults whose name or file has this text")
    parser.add_argument("--least", type=int, help="faults to be found; default: 9 in 10")
    parser.add_argument(
        "--near", action="store_true", help="only the tests of the file and of its folders"
    )
    parser.add_argument("--minutes", type=float, default=20.0, help="for each run of tests")
    arguments = parser.parse_args()
    chosen = [fault for fault in FAULTS if arguments.match in f"{fault.name} {fault.file}"]
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=_LEFT_OUT)
        for fault in chosen:
            begin = time.monotonic()
            finder = find(tree, fault, arguments.near, 60.0 * arguments.minutes)
            found += finder is not None
            seconds = time.monotonic() - begin
            where = f"{fault.name} ({fault.file})"
            print(f"{where:<90} {finder or 'NOT FOUND'}  {seconds:.0f} s", flush=True)
    print(f"found: {found} of {len(chosen)}")
    least = 0.9 * len(chosen) if arguments.least is None else arguments.least
    return int(found < least)


def find(tree: Path, fault: Fault, near: bool, seconds: float) -> str | None:
    """The first test that fails with the fault and not without it; None if there is none."""
    for tests in stages(tree, fault, near):
        with put(tree / "sparsebayes" / fault.file, fault):
            failed = failing(tree, tests, seconds)
        if failed is None:
            return _ENDLESS
        if failed:
            if failing(tree, failed[:1], seconds) != []:
                raise RuntimeError(f"{failed[0]} fails without any fault; mend it first.")
            return failed[0]
    return None


def stages(tree: Path, fault: Fault, near: bool) -> list[list[str]]:
    """Where to look: the first test, those of the file, of its folder, of its package, all."""
    tests, file = Path("tests"), Path(fault.file)
    places = [
        [tests / file.parent / f"test_{file.name}"],
        [tests / file.parent],
        [tests / file.parts[0], tests / "laws"],
        [tests],
    ]
    there = [
        [str(place) for place in some if (tree / place).exists()]
        for some in (places[:-1] if near else places)
    ]
    wider = [some for k, some in enumerate(there) if some and some not in there[:k]]
    return [[f"tests/{fault.first}"], *wider]


@contextmanager
def put(path: Path, fault: Fault) -> Iterator[None]:
    """The fault in a file, for the length of a ``with`` block."""
    text = path.read_text(encoding="utf-8")
    write(path, faulty(text, fault))
    try:
        yield
    finally:
        write(path, text)


def faulty(text: str, fault: Fault) -> str:
    """The text of a file with the fault in it."""
    if text.count(fault.old) != 1:
        raise ValueError(
            f"{fault.file} has {fault.old!r} {text.count(fault.old)} times; "
            f"give the fault {fault.name!r} a text that stands there once."
        )
    return text.replace(fault.old, fault.new)


def write(path: Path, text: str) -> None:
    """A module without what was compiled of another in the same second."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def failing(tree: Path, tests: list[str], seconds: float) -> list[str] | None:
    """The first tests that fail; None if they do not end."""
    failures = tree / ".pytest_cache/v/cache/lastfailed"
    failures.unlink(missing_ok=True)
    workers = [] if all("test_" in test for test in tests) else ["-n", "2"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", *workers, *tests]
    process = subprocess.Popen(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode in (0, 5):  # all passed, or none was quick
        return []
    if not failures.exists():
        raise RuntimeError(f"pytest ended with {process.returncode}:\n{printed}")
    return list(json.loads(failures.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
