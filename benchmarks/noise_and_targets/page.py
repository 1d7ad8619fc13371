"""The part of the page on several targets, outliers and noise that varies."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from benchmarks.noise_and_targets import outliers, targets, varying
from benchmarks.tools import tables
from benchmarks.tools.listed import listed

Record = dict[str, Any]

SECTIONS = ("targets", "outliers", "varying")
TITLES = ("Several targets at once", "Outliers", "Noise that varies with the input")
PARTS = (targets, outliers, varying)
KNOWN = (targets.SETS, outliers.COUNTS, varying.COUNTS)  # names for --data


def run(
    section: str, options: Namespace, stored: dict[str, Record]
) -> Iterator[tuple[str, Record]]:
    """Yield (key, record) of one section.

    Parameters
    ----------
    section : str
        One of `SECTIONS`.
    options : Namespace
        Of the command line.
    stored : dict of str to dict
        What was measured before.
    """
    number = SECTIONS.index(section)
    only = listed("--data", options.data, KNOWN[number])
    done = tuple(stored) if options.resume else ()
    yield from PARTS[number].run(options.quick, options.splits, only, done)


def section(results: dict[str, Any]) -> list[str]:
    """The parts of the page, from all stored results."""
    there = [
        (title, part, results[name])
        for name, title, part in zip(SECTIONS, TITLES, PARTS, strict=True)
        if results.get(name)
    ]
    if not there:
        return []
    found = [limit for _, part, records in there for limit in part.limits(records)]
    parts = ["## Several targets, outliers and varying noise\n"]
    parts += ["### Their limits\n", tables.limits(found) + "\n"]
    for title, part, records in there:
        parts += [f"### {title}\n", part.to_markdown(records)]
    return parts
