"""The part of the page on classifiers and many data sets."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from benchmarks.classifiers import crabs, handwritten, labels
from benchmarks.tools import tables
from benchmarks.tools.listed import listed

Record = dict[str, Any]

SECTIONS = ("labels", "handwritten", "crabs")
TITLES = ("Seven classifiers", "Images of digits", "Crabs: which maximum of the evidence")
PARTS = (labels, handwritten, crabs)


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
    part = PARTS[SECTIONS.index(section)]
    only = listed("--data", options.data, part.SEEDS)
    done = tuple(stored) if options.resume else ()
    yield from part.run(options, only, done)


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
    parts = ["## Classifiers on many data sets\n"]
    parts += ["### Limits of RVC()\n", tables.limits(found) + "\n"]
    for title, part, records in there:
        parts += [f"### {title}\n", part.to_markdown(records)]
    return parts
