"""The part of the page on denoising: signals, images, time and memory, unions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import images, signals, transforms, union
from benchmarks.peers.denoisers import OURS, shrinkers
from benchmarks.tools import tables

Record = dict[str, Any]

FACTOR, ARRAYS, LINEAR = 6.0, 6.0, 1.1
DOPPLER = 3e-4  # squared error at N = 1024, SNR 7
LEAST, MOST, WIDEST = 0.90, 0.98, 1.5
TRIAL = 4096  # samples at which errors and coverage are judged
SECONDS, MEMORY = 120.0, 2048.0


def run(
    section: str, quick: bool, size: int | None, seed: int | None
) -> Iterator[tuple[str, Record]]:
    """Yield (key, record) of one section."""
    if section == "signals":
        yield from signals.run(quick, size, seed)
    elif section == "images":
        yield from images.run(quick, seed)
    else:
        yield from (transforms if section == "transforms" else union).run(quick, size)


def _errors(records: dict[str, Record]) -> Iterator[tables.Limit]:
    doppler = records.get("1024/doppler/7")
    if doppler:
        error = doppler["errors"][OURS] * doppler["noise_variance"]
        what = f"Doppler, N = 1024, SNR 7, {doppler['draws']} draws: mean squared error"
        yield what, f"< {DOPPLER:g}", f"{error:.2e}", error < DOPPLER
    for name in signals.SIGNALS:
        record = records.get(f"{TRIAL}/{name}/5")
        if record:
            best, ratio = signals.best_other(record, names=tuple(shrinkers()))
            what = f"{name}, N = {TRIAL}, SNR 5, {record['draws']} draws: error / {best}"
            yield what, "< 1", tables.fixed(ratio, 3), ratio < 1


def _bands(records: dict[str, Record]) -> Iterator[tables.Limit]:
    trial = [record for record in records.values() if record["size"] == TRIAL]
    for some, what in ((trial, f"N = {TRIAL}"), (list(records.values()), "all N")):
        if not some:
            continue
        shares = sorted(record["coverage"][OURS] for record in some)
        met = shares[0] >= LEAST and shares[-1] <= MOST
        shown = f"{shares[0]:.4f} to {shares[-1]:.4f}"
        yield f"{what}: coverage, lowest and highest", f"{LEAST:.2f} to {MOST:.2f}", shown, met
        widest = max(signals.width(record) for record in some)
        what = f"{what}: mean std of the band / RMSE, largest"
        yield what, f"≤ {WIDEST:g}", f"{widest:.2f}", widest <= WIDEST


def _costs(records: dict[str, Record]) -> Iterator[tables.Limit]:
    for key in (str(2**20), "2048x2048"):
        record = records.get(key)
        if record:
            name = "2²⁰ samples" if len(record["shape"]) == 1 else "image of 2048²"
            ratio, arrays = record["ratios"][OURS], record["resident"][OURS]
            yield tables.at_most(f"{name}: time / wavedec + waverec", ratio, FACTOR)
            if arrays is not None:
                what = f"{name}: peak memory beyond the input, arrays"
                yield what, f"≤ {ARRAYS:g}", f"{arrays:.1f}", arrays <= ARRAYS
    if "growth" in records:
        exponent = records["growth"]["total"][0]
        what = "exponent of the time, 2²⁰ to 2²³ samples"
        yield what, f"≤ {LINEAR:g}", f"{exponent:.2f}", exponent <= LINEAR


def _union(records: dict[str, Record]) -> Iterator[tables.Limit]:
    record = records.get(f"{union.SIZE}/sym8+dct")
    if record:
        seconds, memory = record["fit"], record["memory"]
        what = f"sym8 + dct, N = {union.SIZE}"
        yield f"{what}: time, s", f"< {SECONDS:g}", f"{seconds:.1f}", seconds < SECONDS
        yield f"{what}: peak memory, MB", f"< {MEMORY:g}", f"{memory:.0f}", memory < MEMORY


def limits(results: dict[str, Any]) -> list[tables.Limit]:
    """(what, limit, measured, met) for all limits whose measurements are there."""
    of_signals = results.get("signals", {})
    return [
        *_errors(of_signals),
        *_bands(of_signals),
        *_costs(results.get("transforms", {})),
        *_union(results.get("union", {})),
    ]


def section(results: dict[str, Any]) -> list[str]:
    """The parts of the page, from all stored results."""
    parts = []
    found = limits(results)
    if found:
        parts += ["### Limits of denoising\n", tables.limits(found) + "\n"]
    if "signals" in results:
        parts += ["### Test signals\n", signals.to_markdown(results["signals"])]
    if "images" in results:
        parts += ["### Images\n", images.to_markdown(results["images"])]
    if "transforms" in results:
        parts += ["### Time and memory\n", transforms.to_markdown(results["transforms"])]
    if "union" in results:
        parts += ["### An overcomplete dictionary\n", union.to_markdown(results["union"])]
    return ["## Denoising\n", *parts] if parts else []
