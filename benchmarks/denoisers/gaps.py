"""Missing samples: how often the band inside a gap holds the truth."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.denoisers import cases, models
from benchmarks.denoisers.bands import BAND
from benchmarks.denoisers.models import Record
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, timed
from sparsebayes import denoise

Array = np.ndarray

LENGTHS, SIZES, SNR = (5, 10, 20, 40), (256, 1024), 7.0
DRAWS = 10
LEAST, MOST = 0.88, 0.99


@dataclass(frozen=True)
class Gap:
    """A signal of which a stretch is missing; the place is drawn with the noise."""

    signal: str
    size: int
    length: int

    def make(self, seed: int) -> tuple[cases.Noisy, Array]:
        """Draw `seed`, with NaN in the gap, and where it is."""
        truth = cases.donoho_signal(self.signal, self.size)
        case = cases.noisy(truth, float(truth.std()) / SNR, seed)
        # At least its own length away from both ends.
        start = np.random.default_rng([seed, self.length]).integers(
            self.length, self.size - 2 * self.length + 1
        )
        missing = np.zeros(self.size, dtype=bool)
        missing[start : start + self.length] = True
        return cases.Noisy(np.where(missing, np.nan, case.y), truth, case.deviation), missing


CASES = {
    f"{signal}-{size}-{length}": Gap(signal, size, length)
    for signal in cases.DONOHO
    for size in SIZES
    for length in LENGTHS
}
SEEDS = dict.fromkeys(CASES, cases.seeds(DRAWS))
QUICK = ("sinc-256-5", "blocks-256-10", "doppler-256-20")


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Denoise all signals with gaps by `denoise(y)`."""
    for key, name, seed in models.planned(SEEDS, QUICK, options, only, done):
        gap = CASES[name]
        case, missing = gap.make(seed)
        with one_thread():
            found, seconds = timed(denoise, case.y)
            off, std = found.signal - case.truth, found.std
        inside = np.abs(off) <= BAND * std
        yield (
            key,
            {
                "name": name,
                "seed": seed,
                "signal": gap.signal,
                "size": gap.size,
                "length": gap.length,
                "coverage": float(inside[missing].mean()),
                "elsewhere": float(inside[~missing].mean()),
                "error": models.short(float(np.mean(off[missing] ** 2)) / case.deviation**2),
                "std": models.short(float(std[missing].mean()) / case.deviation),
                "seconds": models.short(seconds),
            },
        )


def shares(records: Mapping[str, Record], key: str) -> dict[int, float]:
    """By length of the gap, the mean of a value over signals, sizes and draws."""
    found: dict[int, list[float]] = {}
    for one in records.values():
        found.setdefault(one["length"], []).append(one[key])
    return {length: float(np.mean(found[length])) for length in sorted(found)}


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    for length, share in shares(records, "coverage").items():
        bounds = f"{100 * LEAST:g} to {100 * MOST:g}"
        what = f"gaps of {length} samples: coverage of 95 % bands inside, %"
        yield what, bounds, f"{100 * share:.1f}", LEAST <= share <= MOST


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each signal and size, a column for each length of the gap."""
    lengths = list(shares(records, "coverage"))
    rows = []
    for signal in cases.DONOHO:
        for size in SIZES:
            some = {
                key: one
                for key, one in records.items()
                if (one["signal"], one["size"]) == (signal, size)
            }
            if some:
                rows.append((signal, str(size), *_cells(some, lengths)))
    rows.append(("all", "", *_cells(records, lengths)))
    header = ("signal", "N", *(f"{length}" for length in lengths), "elsewhere", "time, s")
    return f"{NOTES}\n{tables.table(header, rows)}\n"


def _cells(some: Mapping[str, Record], lengths: Sequence[int]) -> list[str]:
    coverage, std = shares(some, "coverage"), shares(some, "std")
    cells = [
        f"{100 * coverage[n]:.0f} · {std[n]:.2f}" if n in coverage else tables.MISSING
        for n in lengths
    ]
    elsewhere = float(np.mean([one["elsewhere"] for one in some.values()]))
    seconds = float(np.median([one["seconds"] for one in some.values()]))
    return [*cells, tables.fixed(100 * elsewhere, 1), tables.seconds(seconds)]


NOTES = f"""\
One gap in each draw, at a random place, SNR {SNR:g}, `denoise(y)` with NaN in the gap. Columns are
the lengths of the gap: the share of its samples at which the truth is within 1.96 `std` of the
estimate, in per cent, and the mean `std` there in units of the noise's. A full run has {DRAWS}
draws of each.
"""
