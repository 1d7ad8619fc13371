"""``python -m experiments NAME [--quick] [--out results] [--jobs 1]``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import experiments
from experiments._report import Options


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Make a table or figure of the papers again."
    )
    parser.add_argument("name", nargs="?", help="an experiment, or all; without it: the list")
    parser.add_argument("--quick", action="store_true", help="few repetitions, small data")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the results")
    parser.add_argument("--jobs", type=_positive, default=1, help="processes for repetitions")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers")
    parser.add_argument("--repetitions", type=_positive, help="instead of the paper's number")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    if chosen.name is None:
        width = max(map(len, experiments.NAMES))
        for name in experiments.NAMES:
            print(f"{name:{width}}  {experiments.summary(name)}")
        return 0
    if chosen.name not in (*experiments.NAMES, "all"):
        known = ", ".join((*experiments.NAMES, "all"))
        print(f"error: no experiment {chosen.name!r}; there are: {known}.", file=sys.stderr)
        return 2
    options = Options(chosen.quick, chosen.jobs, chosen.seed, chosen.repetitions)
    failed = 0
    for name in experiments.NAMES if chosen.name == "all" else (chosen.name,):
        start = time.perf_counter()
        try:
            report = experiments.load(name).run(options)
        except (FileNotFoundError, ImportError) as error:  # data or matplotlib absent
            print(f"error: {name}: {error}", file=sys.stderr)
            failed = 2
            continue
        print(report.text())
        try:
            written = report.save(chosen.out, name)
        except OSError as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            return 2
        print(f"{time.perf_counter() - start:.0f} s; wrote {', '.join(map(str, written))}\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
