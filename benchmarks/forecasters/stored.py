"""Forecasts of the other packages, computed once and kept in files that git ignores."""

from __future__ import annotations

import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.forecasters import protocol
from benchmarks.forecasters.series import Given, need
from benchmarks.peers import forecasters as peers

Array = np.ndarray

PLACE = Path("results/forecasters")
DIGITS = 6  # of the stored numbers


@dataclass(frozen=True)
class Outcome:
    """One forecast: mean (steps,), quantiles (levels, steps) at `protocol.LEVELS`, seconds."""

    mean: Array
    quantiles: Array
    seconds: float


def rounded(values: Array) -> Array:
    """To `DIGITS` significant digits of the largest in each row."""
    size = np.abs(values).max(axis=-1, keepdims=True)
    unit = 10.0 ** (np.floor(np.log10(np.where(size > 0, size, 1.0))) + 1 - DIGITS)
    return np.round(values / unit) * unit


class Store:
    """Outcomes of other packages for one series, a file that grows.

    Parameters
    ----------
    given : Given
    place : Path
        The directory of the files.
    """

    def __init__(self, given: Given, place: Path = PLACE) -> None:
        self.given = given
        self.path = place / f"{given.name}.npz"
        self._kept: dict[str, Array] = {}
        if self.path.exists():
            with np.load(self.path, allow_pickle=False) as archive:
                self._kept = dict(archive)

    def outcome(self, name: str, y: Array, steps: int) -> Outcome | None:
        """The forecast after `y`, stored or computed now; None where the package fails."""
        key = f"{name}-{len(y)}-{steps}-{zlib.crc32(np.ascontiguousarray(y).tobytes()):08x}"
        if key not in self._kept:
            self._kept[key] = self._computed(name, y, steps)
            self._write()
        rows = self._kept[key]
        if not np.isfinite(rows).all():
            return None
        return Outcome(rows[0], rows[1:-1], float(rows[-1, 0]))

    def _computed(self, name: str, y: Array, steps: int) -> Array:
        """Mean, quantiles and seconds as rows; NaN where the package fails."""
        need("statsforecast")
        coverages = (*protocol.COVERAGES, protocol.MIDDLE)
        try:
            peers.warm(name, self.given.season)
            found = peers.forecast(name, self.given.season, y, steps, coverages)
        except Exception as error:
            print(f"{self.given.name}, {name}, {len(y)} values: {error!r}", file=sys.stderr)
            return np.full((len(protocol.LEVELS) + 2, steps), np.nan)
        rows = rounded(np.vstack([found.mean, protocol.quantiles(found.limits)]))
        told = f"computed: {self.given.name}, {name}, {len(y)} values, {found.seconds:.2f} s"
        print(told, file=sys.stderr, flush=True)
        return np.vstack([rows, np.full(steps, found.seconds)])

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(f".{self.path.stem}.{os.getpid()}.npz")
        np.savez_compressed(beside, **self._kept)
        os.replace(beside, self.path)
