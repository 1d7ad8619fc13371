"""The part of the page on the default regression."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from benchmarks.calibration import cost, coverage, known_noise, many_inputs, summary
from benchmarks.peers.error_bars import all_regressions
from benchmarks.tools import tables
from benchmarks.tools.listed import listed

Record = dict[str, Any]

SECTIONS = ("coverage", "cost", "many-inputs", "known-noise")


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
    only = listed("--data", options.data, coverage.SETS)
    done = tuple(stored) if options.resume else ()
    if section == "coverage":
        every = {model.name: model for model in all_regressions()}
        models = [every[name] for name in listed("--models", options.models, every) or every]
        plan = coverage.plan(options.quick, options.splits, options.size, options.seed, only)
        yield from coverage.run(plan, models, stored, options.resume)
    elif section == "cost":
        plans = cost.entries(options.quick, options.size, only)
        yield from cost.run([one for one in plans if "{}/{}".format(*one) not in done])
    elif section == "many-inputs":
        yield from many_inputs.run(options.quick, options.splits, done)
    else:
        yield from known_noise.run(options.quick, options.splits)


def section(results: dict[str, Any]) -> list[str]:
    """The parts of the page, from all stored results."""
    parts = []
    records = results.get("coverage", {})
    found = [
        *summary.limits(records),
        *cost.limits(results.get("cost", {})),
        *known_noise.limits(results.get("known-noise", {})),
    ]
    if found:
        parts += ["### Limits of the default\n", tables.limits(found) + "\n"]
    if records:
        parts += [summary.to_markdown(records)]
    if "cost" in results:
        parts += ["### What calibration costs\n", cost.to_markdown(results["cost"])]
    if "many-inputs" in results:
        parts += ["### Many inputs\n", many_inputs.to_markdown(results["many-inputs"])]
    if "known-noise" in results:
        parts += ["### Known noise\n", known_noise.to_markdown(results["known-noise"])]
    return ["## Can the default be believed?\n", *parts] if parts else []
