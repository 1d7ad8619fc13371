"""``python -m benchmarks.reading``: tables of text read whole, against pandas.

Each file is read by a process of its own. It prints wall and CPU seconds of the reading, the
largest memory of the process with and without it, and the CPU time relative to that of
`pandas.read_csv`, which is told how the file is written, while it is found here. The files are made
in a temporary directory, and removed. A last check compares every number with what was written.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

NAMES = ("a", "b", "c", "d", "y")
Line = Callable[[str], str]
COMMAS = str.maketrans({",": ";", ".": ","})


def _with_gaps(line: str) -> str:
    return f",NA,{line.split(',', 2)[2]}" if line.startswith("0.00") else line


# Name: how a line is written, and what pandas has to be told.
FILES: dict[str, tuple[Line, str]] = {
    "commas": (lambda line: line, "{}"),
    "semicolons, decimal comma": (
        lambda line: line.translate(COMMAS),
        "{'sep': ';', 'decimal': ','}",
    ),
    "tabs": (lambda line: line.replace(",", "\t"), "{'sep': '\\t'}"),
    "blanks": (lambda line: line.replace(",", "   "), "{'sep': ' +'}"),
    "missing cells": (_with_gaps, "{}"),
    "dates": (lambda line: f"{line},2024-05-01 12:00", "{}"),
}
OURS = """
from sparsebayes.rows.files import open_file
def read(path):
    (table,) = open_file(path).tables([], None)
    return table.values(NAMES)
"""
PANDAS = """
import pandas
def read(path):
    return pandas.read_csv(path, **OPTIONS)[NAMES].to_numpy()
"""


def make(path: Path, values: np.ndarray, line: Line, header: str) -> None:
    """Write the file, a few rows at a time."""
    with path.open("w") as stream:
        stream.write(header + "\n")
        for start in range(0, len(values), 100_000):
            for row in values[start : start + 100_000].tolist():
                stream.write(line(",".join(map(repr, row))) + "\n")


def measure(code: str, path: Path, options: str, expected: Path) -> tuple[float, ...]:
    """Wall and CPU seconds, megabytes in all and before, and the numbers that differ."""
    program = f"NAMES, OPTIONS = {list(NAMES)}, {options}\n{code}\n"
    program += f"from benchmarks.reading.__main__ import timed; timed(read, {str(path)!r}, "
    program += f"{str(expected)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return tuple(map(float, done.stdout.split()))


def timed(read: Callable[[str], np.ndarray], path: str, expected: str) -> None:
    """Print what one reading takes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall, cpu = time.perf_counter(), time.process_time()
    found = read(path)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    right = np.load(expected)
    right = np.where(np.isnan(found), np.nan, right)
    differ = np.count_nonzero((found != right) & ~np.isnan(found))
    print(wall, cpu, peak, before, differ)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of each file (1,000,000)")
    parser.add_argument("--only", choices=tuple(FILES), help="this file alone")
    args = parser.parse_args()
    values = np.random.default_rng(0).standard_normal((args.rows, len(NAMES)))
    head = ["file", "MB", "seconds", "CPU s", "peak MB", "before MB", "pandas CPU s", "ratio"]
    print(f"{args.rows} rows, {len(NAMES)} columns of numbers")
    print(("{:<26}" + "{:>13}" * (len(head) - 1)).format(*head))
    with tempfile.TemporaryDirectory() as folder:
        expected = Path(folder) / "expected.npy"
        np.save(expected, values)
        for name in [args.only] if args.only else FILES:
            line, options = FILES[name]
            path = Path(folder) / "d.csv"
            header = line(",".join(NAMES)).replace("2024-05-01 12:00", "when")
            make(path, values, line, header)
            wall, cpu, peak, before, differ = measure(OURS, path, options, expected)
            other = measure(PANDAS, path, options, expected)
            size = path.stat().st_size / 2**20
            told = (size, wall, cpu, peak, before, other[1], cpu / other[1])
            print(f"{name:<26}" + "".join(f"{value:>13.2f}" for value in told), flush=True)
            if differ:
                raise SystemExit(f"{name}: {differ:.0f} numbers are not what was written")


if __name__ == "__main__":
    main()
