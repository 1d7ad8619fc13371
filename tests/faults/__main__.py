"""`python -m tests.faults`: disturb writers, fits and commands, and count what was lost."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import islice

import numpy as np

from tests.faults.at_once import writers_at_once
from tests.faults.disk import disk_full, read_only_directories
from tests.faults.interrupts import interrupts
from tests.faults.kills import kills
from tests.faults.trial import Trials
from tests.faults.workers import workers

PARTS: dict[str, tuple[Callable[[np.random.Generator], Trials], int | None]] = {
    "kills": (kills, 200),
    "interrupts": (interrupts, 200),
    "disk-full": (disk_full, 50),
    "writers": (writers_at_once, 50),
    "read-only": (read_only_directories, None),
    "workers": (workers, None),
}
"""What makes the trials, and how many are run; None if all."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    for name, (_, count) in PARTS.items():
        if count is not None:
            parser.add_argument(f"--{name}", type=int, default=count, help="default: %(default)d")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)d")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.part or PARTS:
        wanted = getattr(arguments, name.replace("-", "_"), None)
        trials = PARTS[name][0](np.random.default_rng(arguments.seed))
        rows.append((name, *run(name, trials, wanted)))
    print(f"{'':>14}{'tried':>14}{'held':>14}{'violations':>14}")
    for name, tried, violations in rows:
        print(f"{name:>14}{tried:>14}{tried - violations:>14}{violations:>14}")
    return int(any(violations for *_, violations in rows))


def run(name: str, trials: Trials, wanted: int | None) -> tuple[int, int]:
    """Try as many faults as are wanted, not counting those that came too late."""
    tried = violations = 0
    for trial in islice(trials, None if wanted is None else 3 * wanted):
        if tried == wanted:
            break
        tried += trial.hit
        if trial.faults:
            violations += 1
            tried += not trial.hit
            print(f"{name}: {trial.label}: {'; '.join(trial.faults)}", flush=True)
    return tried, violations


if __name__ == "__main__":
    sys.exit(main())
