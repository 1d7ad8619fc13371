"""`python -m tests.fuzz`: try cases for some minutes, and print how many the law held for."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from joblib import Parallel, delayed

from tests.fuzz.law import Verdict
from tests.fuzz.parts import PARTS
from tests.fuzz.run import Counts, Share, try_cases

COLUMNS = ["tried", *(verdict.value for verdict in Verdict)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="default: %(default)g")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)d")
    parser.add_argument("--jobs", type=int, default=1, help="processes; default: %(default)d")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--match", default="", help="only cases whose label contains this text")
    arguments = parser.parse_args()
    names = tuple(arguments.part or PARTS)
    counts: Counts = {name: Counter() for name in names}
    for found in Parallel(arguments.jobs)(
        delayed(try_cases)(
            names, Share(number, arguments.jobs), arguments.seed, arguments.minutes, arguments.match
        )
        for number in range(arguments.jobs)
    ):
        for name, count in found.items():
            counts[name] += count
    print("".join(f"{cell:>14}" for cell in ["", *COLUMNS]))
    for name, count in [*counts.items(), ("total", sum(counts.values(), Counter()))]:
        print(f"{name:>14}" + "".join(f"{count[column]:>14}" for column in COLUMNS))
    return int(any(count[Verdict.VIOLATION.value] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
