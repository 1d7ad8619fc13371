"""Compare the fits with what is stored: python -m tests.reference [--store] [NAME ...].

On another processor, or with other versions of NumPy and SciPy, the last bits differ, and with them
now and then the maximum in which a search ends; then only values are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

from tests.reference.fits import FITS, Array, run

STORE = Path(__file__).with_name("digests.json")


def surroundings() -> dict[str, str]:
    """On what the bits depend besides our code."""
    pools = {f"{pool['internal_api']} {pool.get('architecture')}" for pool in threadpool_info()}
    versions = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    return {"python": platform.python_version(), "blas": ", ".join(sorted(pools)), **versions}


def record(arrays: list[Array]) -> dict[str, Any]:
    """A digest of the bits, and the sum and norm of each array for other machines."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    finite = [array[np.isfinite(array)] for array in arrays]
    values = [float(size) for part in finite for size in (part.sum(), np.linalg.norm(part))]
    return {"digest": digest.hexdigest(), "values": values}


def compare(found: dict[str, Any], stored: dict[str, Any]) -> str:
    """The same bits, or the largest relative difference of the values."""
    if found["digest"] == stored["digest"]:
        return "same bits"
    ours, theirs = np.array(found["values"]), np.array(stored["values"])
    if ours.shape != theirs.shape:
        return "other shapes"
    worst = np.max(np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-12))
    return f"values differ by {worst:.1e}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__)
    parser.add_argument("names", nargs="*", help="fits to compare; all by default")
    parser.add_argument("--store", action="store_true", help="store what these fits give now")
    options = parser.parse_args(arguments)
    content = json.loads(STORE.read_text()) if STORE.exists() else {"fits": {}}
    if not options.store and content["surroundings"] != surroundings():
        print(f"stored on {content['surroundings']}, this is {surroundings()}")
    moved = 0
    for name in options.names or FITS:
        with threadpool_limits(1):
            found = record(run(name))
        answer = compare(found, content["fits"][name]) if name in content["fits"] else "new"
        moved += answer != "same bits"
        print(f"{name:28s} {answer}", flush=True)
        if options.store:
            content["fits"][name] = found
    if options.store:
        lines = [f"{json.dumps(name)}: {json.dumps(fit)}" for name, fit in content["fits"].items()]
        around = json.dumps(surroundings())
        STORE.write_text(f'{{"surroundings": {around}, "fits": {{\n' + ",\n".join(lines) + "\n}}\n")
        return 0
    print(f"{len(options.names or FITS) - moved} with the same bits, {moved} not")
    return int(moved > 0)


if __name__ == "__main__":
    sys.exit(main())
