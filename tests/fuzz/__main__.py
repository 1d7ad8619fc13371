"""`python -m tests.fuzz`: try cases for some minutes, and print how many the law held for."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import numpy as np

from tests.fuzz.law import Outcome, Verdict, judge
from tests.fuzz.parts import PARTS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="default: %(default)g")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)d")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--match", default="", help="only cases whose label contains this text")
    arguments = parser.parse_args()
    names = arguments.part or list(PARTS)
    outcomes: dict[str, list[Outcome]] = {}
    ends = time.monotonic() + 60.0 * arguments.minutes
    for left, name in zip(range(len(names), 0, -1), names, strict=True):
        end = time.monotonic() + (ends - time.monotonic()) / left
        outcomes[name] = []
        for case in PARTS[name](np.random.default_rng(arguments.seed)):
            if time.monotonic() > end:
                break
            if arguments.match not in case.label:
                continue
            outcome = judge(case)
            outcomes[name].append(outcome)
            if outcome.verdict is Verdict.VIOLATION:
                print(f"{name}: {outcome.label}: {outcome.reason}", flush=True)
    columns = ["tried", *(verdict.value for verdict in Verdict)]
    print("".join(f"{cell:>14}" for cell in ["", *columns]))
    total = Counter[str]()
    for name, ended in outcomes.items():
        count = Counter({"tried": len(ended)}) + Counter(o.verdict.value for o in ended)
        total += count
        print(f"{name:>14}" + "".join(f"{count[column]:>14}" for column in columns))
    print(f"{'total':>14}" + "".join(f"{total[column]:>14}" for column in columns))
    return min(total[Verdict.VIOLATION.value], 1)


if __name__ == "__main__":
    sys.exit(main())
