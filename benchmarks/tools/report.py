"""The page ``docs/evidence/benchmarks.md``, made from the stored results."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

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
from benchmarks.peers.regressors import BRIEF, PLAIN
from benchmarks.tools import tables

FACTORS = {  # the largest fit time of RVR, in fastrvm's
    "sinc 100": 4.0,
    "Friedman #1 240": 1.0,
    "Friedman #1 1000": 1 / 8,
    "Friedman #1 2000": 1 / 12,
    "Friedman #1 5000": 1 / 25,
}
PLAIN_FACTORS = {"sinc 100": 3.0}  # the same without calibration
EVIDENCE_SLACK = 1.0
GROWTH = 2.3
STALL_SIZE, STALL_GAMMA, STALL_RMSE = 240, 0.03, 1.7

MEASURED = """\
Every model is fitted in the same process to the same data, with all BLAS and OpenMP pools held at
one thread. Times are CPU seconds of the process, after a small warm-up fit of each model, as
medians of repeated fits made in turns; slow fits are repeated less, those above 10 s are made
once. Where a task has several data sets, cells are medians over them, and ratios are medians of
the ratios. Peak memory is the rise of the resident set during the first fit, from the kernel's own
counter, so memory taken by C and C++ code counts; at N = 20000 it is the peak of a whole process
of its own. RMSE is to the noise-free function at 1000 test points; classification has more below.
"""


def _speed_limits(tasks: dict[str, Any]) -> Iterator[tables.Limit]:
    for name, factor in FACTORS.items():
        if name not in tasks:
            continue
        data_sets = tasks[name]
        ratio = regression.ratio(data_sets, "RVR")
        yield tables.at_most(f"{name}: fit time / fastrvm", ratio, factor)
        for model in (PLAIN, BRIEF) if name in PLAIN_FACTORS else ():
            ratio = regression.ratio(data_sets, model)
            if ratio is not None:
                what = f"{name}: fit time of {model} / fastrvm"
                yield tables.at_most(what, ratio, PLAIN_FACTORS[name])
    for name, data_sets in tasks.items():
        worst = regression.worst_difference(data_sets)
        yield (
            f"{name}: log evidence − fastrvm",
            f"≥ −{EVIDENCE_SLACK:g}",
            tables.signed(worst),
            worst >= -EVIDENCE_SLACK,
        )
    for name, data_sets in tasks.items():
        ratio = regression.ratio(data_sets, "RVR", "SVR + grid")
        if ratio is not None:
            label = f"{name}: fit time / SVR + grid"
            yield label, "< 1", tables.number(ratio, 2), ratio < 1
    growth = regression.exponent(tasks)
    if growth is not None:
        label = "exponent of RVR's fit time, N = 1000 to 5000"
        yield label, f"< {GROWTH}", f"{growth:.2f}", growth < GROWTH


def limits(results: dict[str, Any]) -> list[tables.Limit]:
    """(what, limit, measured, met) for all limits whose measurements are there."""
    out = list(_speed_limits({**results.get("sinc", {}), **results.get("friedman", {})}))
    out += scales.limits(results.get("scales", {}))
    out += large.limits(results, "large")
    records = results.get("stall", {}).values()
    if records:
        worst = min(stall.margin(record) for record in records)
        what = "routes: log evidence − best of mackay, subspace and fastrvm, worst data set"
        out.append((what, "≥ −1", tables.signed(worst), worst >= -1.0))
    for record in results.get("draws", {}).values():
        what = f"routes, {record['problem']}, prior {record['prior']}: worst of {record['draws']}"
        worst = -record["worst"]
        out.append((f"{what} draws − best route", "≥ −1", tables.signed(worst), worst >= -1.0))
    errors = [
        record["fits"][stall.DEFAULT]["rmse"]
        for record in records
        if (record["size"], record["gamma"]) == (STALL_SIZE, STALL_GAMMA)
    ]
    if errors:
        middle = median(errors)
        what = (
            f"routes: RMSE at N = {STALL_SIZE}, γ = {STALL_GAMMA}, median of {len(errors)} data "
            f"sets ({min(errors):.2f} to {max(errors):.2f})"
        )
        out.append((what, f"< {STALL_RMSE}", f"{middle:.3f}", middle < STALL_RMSE))
    return out


def render(results: dict[str, Any]) -> str:
    """The whole page."""
    machines: dict[str, list[str]] = {}
    for section, text in results.get("machine", {}).items():
        machines.setdefault(text, []).append(section)
    lines = [
        f"- {text}" + (f" ({', '.join(sections)})" if len(machines) > 1 else "")
        for text, sections in machines.items()
    ]
    parts = [
        "# Benchmarks\n",
        "Made by `make bench` (`python -m benchmarks`).\n",
        "\n".join(lines) + "\n",
        MEASURED,
    ]
    found = limits(results)
    if found:
        parts += ["## Limits\n", tables.limits(found) + "\n"]
    tasks = {**results.get("sinc", {}), **results.get("friedman", {})}
    if tasks:
        parts += ["## Against other packages\n", regression.NOTES, regression.to_markdown(tasks)]
    if "scales" in results:
        parts += ["## Learning length scales\n", scales.to_markdown(results["scales"])]
    if "large" in results:
        parts += ["## RVR alone on many samples, Friedman #1\n"]
        parts += [large.to_markdown(results["large"])]
    if "stall" in results:
        parts += ["## The default solver against the other routes\n"]
        parts += [stall.to_markdown(results["stall"])]
    if "draws" in results:
        parts += ["### In many draws\n", stall.draws_to_markdown(results["draws"])]
    parts += classification.section(results)
    parts += classifiers.section(results)
    if "uncertainty" in results:
        parts += ["## Predictive distributions\n"]
        parts += [uncertainty.to_markdown(results["uncertainty"])]
    if "defaults" in results:
        parts += ["## Which defaults\n", defaults.to_markdown(results["defaults"])]
    parts += calibration.section(results)
    parts += noise_and_targets.section(results)
    parts += denoisers.section(results)
    parts += inputs.section(results)
    parts += sampling.section(results)
    return "\n".join(parts)
