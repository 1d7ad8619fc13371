"""``python -m benchmarks``: measure, print and write the page."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Read when the libraries are loaded, so that no pool starts more threads than are used.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

GROUPS = {
    "regression": ("sinc", "friedman", "scales", "large", "stall", "draws"),
    "classification": ("ripley", "banana", "moons", "digits", "moons-large", "classes"),
    "classifiers": ("labels", "handwritten", "crabs"),
    "predictive": ("uncertainty", "defaults"),
    "calibration": ("coverage", "cost", "many-inputs", "known-noise"),
    "noise-and-targets": ("targets", "outliers", "varying"),
    "denoisers": (
        "images",
        "colour",
        "signals",
        "recordings",
        "noise",
        "bands",
        "gaps",
        "time",
        "union",
    ),
    "inputs": ("moments", "paths", "noisy"),
    "sampling": ("samplers", "fronts"),
}
NEEDED = {  # module: its package, and the parts that need it; () is all
    "fastrvm": ("fastrvm", ()),
    "arviz": ("arviz", GROUPS["sampling"]),
    "gpytorch": ("gpytorch", ("uncertainty",)),
    "pymoo": ("pymoo", GROUPS["sampling"]),
    "scoringrules": ("scoringrules", GROUPS["predictive"]),
    "skimage": ("scikit-image", GROUPS["denoisers"]),
}
SECTIONS = tuple(section for group in GROUPS.values() for section in group)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare the estimators with other packages. Results are stored beside "
        "the page, in a file of the same name ending in .json; a partial run replaces its own.",
    )
    parser.add_argument("--quick", action="store_true", help="small N only, fewer data sets")
    parser.add_argument("--only", choices=(*GROUPS, *SECTIONS), help="run one part")
    parser.add_argument(
        "--size",
        type=int,
        help="with --only friedman, scales, moons, noise, union, coverage or cost: this number of "
        "samples alone; with --only time --data memory-map: so many in the file",
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="with a part of classification: this data set alone; with coverage: this split alone; "
        "with a part of classifiers or denoisers: the number of the first split or draw",
    )
    parser.add_argument(
        "--splits",
        type=int,
        help="with a part of classifiers, predictive, calibration, noise-and-targets or denoisers: "
        "so many splits or draws; with draws: so many draws",
    )
    parser.add_argument(
        "--data",
        help="with a part of predictive: this data set alone; of classifiers, calibration, "
        "noise-and-targets or denoisers: these, with commas between them; with draws: problems "
        "whose name begins so",
    )
    parser.add_argument(
        "--models",
        help="with --only coverage: these models alone, with commas between them; what is stored "
        "of the others stays",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="with a part of classifiers, calibration, noise-and-targets or denoisers, or draws: "
        "measure only what is not stored yet",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("docs/evidence/benchmarks.md"), help="default: %(default)s"
    )
    return parser.parse_args(arguments)


def measure(
    section: str, options: argparse.Namespace, stored: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield (key, result) of one section, of which some may be stored."""
    from benchmarks import (
        classification,
        defaults,
        inputs,
        large,
        regression,
        sampling,
        scales,
        stall,
        uncertainty,
    )
    from benchmarks.calibration import page as calibration
    from benchmarks.classifiers import page as classifiers
    from benchmarks.denoisers import page as denoisers
    from benchmarks.noise_and_targets import page as noise_and_targets

    quick, size = options.quick, options.size
    if section in large.SECTIONS:
        yield from large.run(quick, section)
    elif section == "scales":
        yield from scales.run(quick, size)
    elif section == "stall":
        yield from stall.run(quick)
    elif section == "draws":
        kept = stored if options.resume else None
        yield from stall.run_draws(quick, options.splits, options.data, kept)
    elif section in classifiers.SECTIONS:
        yield from classifiers.run(section, options, stored)
    elif section in GROUPS["predictive"]:
        part = defaults if section == "defaults" else uncertainty
        yield from part.run(quick, options.splits, options.data)
    elif section in calibration.SECTIONS:
        yield from calibration.run(section, options, stored)
    elif section in noise_and_targets.SECTIONS:
        yield from noise_and_targets.run(section, options, stored)
    elif section in denoisers.SECTIONS:
        yield from denoisers.run(section, options, stored)
    elif section in inputs.SECTIONS:
        yield from inputs.run(section, quick)
    elif section in sampling.SECTIONS:
        yield from sampling.run(section, quick)
    elif section in classification.SECTIONS:
        yield from classification.run(quick, section, size, options.seed)
    else:
        yield from regression.run(quick, section, size)


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for and write the page after each."""
    options = parse(arguments)
    sections = GROUPS.get(options.only, [options.only] if options.only else SECTIONS)
    for module, (package, parts) in NEEDED.items():
        if (not parts or set(parts) & set(sections)) and find_spec(module) is None:
            print(f"{package} is missing: pip install -e '.[bench]'", file=sys.stderr)
            return 2
    from benchmarks.tools import report, tables
    from benchmarks.tools.measure import machine

    store = options.out.with_suffix(".json")
    partial = options.quick or options.only or options.resume
    results = json.loads(store.read_text()) if partial and store.exists() else {}
    results.setdefault("machine", {})
    some = options.size or options.data or options.models or options.resume
    for section in sections:
        if not options.quick and not some and options.seed is None:
            results.pop(section, None)
        results["machine"][section] = machine()
        for key, result in measure(section, options, results.get(section, {})):
            print(f"measured: {section}, {key}", file=sys.stderr, flush=True)
            results.setdefault(section, {})[key] = result
            tables.write(store, json.dumps(results, indent=1) + "\n")
            tables.write(options.out, report.render(results))
    print(report.render(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
