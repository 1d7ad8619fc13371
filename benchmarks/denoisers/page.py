"""The part of the page on denoising."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from benchmarks.denoisers import (
    bands,
    colour,
    cost,
    gaps,
    images,
    noise,
    recordings,
    signals,
    union,
)
from benchmarks.tools import tables
from benchmarks.tools.listed import listed

Record = dict[str, Any]

PARTS: dict[str, tuple[str, Any]] = {  # by section, its title and module
    "images": ("Images", images),
    "colour": ("Colour", colour),
    "signals": ("Signals", signals),
    "recordings": ("Recordings", recordings),
    "noise": ("Noise alone", noise),
    "bands": ("Bands", bands),
    "gaps": ("Gaps", gaps),
    "time": ("Time and memory", cost),
    "union": ("An overcomplete dictionary", union),
}
SECTIONS = tuple(PARTS)


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
    part = PARTS[section][1]
    only = listed("--data", options.data, part.SEEDS)
    done = tuple(stored) if options.resume else ()
    yield from part.run(options, only, done)


def section(results: dict[str, Any]) -> list[str]:
    """The parts of the page, from all stored results."""
    there = [(*PARTS[name], results[name]) for name in SECTIONS if results.get(name)]
    if not there:
        return []
    found = [limit for _, part, records in there for limit in part.limits(records)]
    parts = ["## Denoising\n"]
    if found:
        parts += ["### Limits of denoising\n", tables.limits(found) + "\n"]
    for title, part, records in there:
        parts += [f"### {title}\n", part.to_markdown(records)]
    return parts
