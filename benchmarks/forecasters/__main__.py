"""``python -m benchmarks.forecasters``: forecasts of real series beside statsforecast's."""

from __future__ import annotations

import argparse
import os
import sys

# Read when the libraries are loaded, so that no pool starts more threads than are used.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

PARTS = ("scores", "named", "gaps", "panel", "speed", "peers")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forecasters",
        description="Compare Forecaster() with statsforecast's models on real series. Forecasts "
        "of the others are stored in results/forecasters and made once; ours are made each time.",
    )
    parser.add_argument(
        "--half",
        choices=("decide", "report", "all"),
        default="all",
        help="series in alphabetical order, in turns; default: %(default)s",
    )
    parser.add_argument("--series", help="these alone, with commas between them")
    parser.add_argument(
        "--only",
        choices=PARTS,
        help="one part; without it scores and named. peers: those alone, to store them",
    )
    parser.add_argument("--size", type=int, default=1000, help="series of the panel")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    options = parse(arguments)
    from benchmarks.forecasters import compare, gaps, named, speed
    from benchmarks.forecasters.series import SERIES, Missing, chosen
    from benchmarks.tools.listed import listed
    from benchmarks.tools.measure import machine, one_thread

    some = chosen(options.half, listed("--series", options.series, SERIES))
    print(f"{machine()}\n", flush=True)
    try:
        with one_thread():
            if options.only == "peers":
                dict(compare.run(some, own=False))
                if named.AIRLINE in [given.name for given in some]:
                    named.store_airline()
            elif options.only == "gaps":
                print(gaps.to_markdown(some))
            elif options.only == "panel":
                print(speed.panel(options.size))
            elif options.only == "speed":
                print(speed.speed())
            elif options.only == "named":
                print(named.to_markdown(some))
            else:
                results = dict(compare.run(some))
                if not results:
                    return 2
                print(compare.to_markdown(results))
                if options.only is None:
                    print(named.to_markdown(some, results))
    except Missing as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
