"""Denoising grey images: ours and scikit-image's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pywt

from benchmarks.peers.denoisers import OURS, shrinkers
from benchmarks.signals import (
    AVERAGE,
    BANDS,
    Options,
    averaged,
    band_cells,
    best_other,
    ours_and_others,
)
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread

Array = np.ndarray
Record = dict[str, Any]

IMAGES = ("camera", "ascent", "aero")
NOISE = (10, 25, 50)
DRAWS, QUICK_DRAWS = 3, 1
WHITE = 255.0


def image(name: str) -> Array:
    """One of PyWavelets' images, 512 × 512, from 0 to 255."""
    return getattr(pywt.data, name)().astype(float)


def _draw(truth: Array, deviation: float, seed: int) -> Record:
    y = truth + deviation * np.random.default_rng(seed).normal(size=truth.shape)
    variants: Options = {
        OURS: {},
        f"{OURS}, σ given": {"noise": deviation**2},
        AVERAGE: {"method": "ash"},
        f"{OURS}, bayes": {"method": "bayes"},
    }
    return ours_and_others(truth, y, deviation**2, variants, shrinkers())


def run(quick: bool, seed: int | None = None) -> Iterator[tuple[str, Record]]:
    """Denoise all images; yields ("image/noise", record)."""
    first = seed or 0
    for name in IMAGES:
        for deviation in NOISE:
            with one_thread():
                seeds = range(first, first + (QUICK_DRAWS if quick else DRAWS))
                draws = [_draw(image(name), deviation, number) for number in seeds]
            key = {"image": name, "noise": deviation, "seed": first}
            yield f"{name}/{deviation}", {**key, **averaged(draws)}


def psnr(error: float, deviation: float) -> float:
    """Decibels, from a squared error in units of the noise variance."""
    return 10.0 * float(np.log10(WHITE**2 / (error * deviation**2)))


def to_markdown(records: dict[str, Record]) -> str:
    """One row for each image and noise."""
    rows = []
    for record in records.values():
        deviation = record["noise"]
        rows.append(
            (
                record["image"],
                f"{deviation:g}",
                tables.fixed(psnr(1.0, deviation), 2),
                *(tables.fixed(psnr(one, deviation), 2) for one in record["errors"].values()),
                *(_lead(record, ours) for ours in (OURS, AVERAGE)),
                *band_cells(record),
            )
        )
    names = next(iter(records.values()))["errors"]
    header = ("image", "noise", "noisy", *names, "denoise − best other", "average − best other")
    counts = [
        sum(best_other(record, ours)[1] < 1 for record in records.values())
        for ours in (OURS, AVERAGE)
    ]
    said = (
        "The PSNR is higher than that of scikit-image's methods in {} of {total} entries by "
        "default, with averaging in {}."
    ).format(*counts, total=len(rows))
    return f"{NOTES}\n{said}\n\n{tables.table((*header, *BANDS), rows)}\n"


def _lead(record: Record, ours: str) -> str:
    best, ratio = best_other(record, ours)
    return f"{tables.signed(-10 * float(np.log10(ratio)))} ({best})"


NOTES = """\
Cells are PSNRs in dB (of the mean squared error over draws of the noise, against 255); the images
are PyWavelets', 512 × 512, the noise is Gaussian with the given standard deviation, of 255 grey
levels. Nothing is clipped. Methods and bands as above; besides the default there are
`denoise` with the true noise variance, with `method="ash"` and with `method="bayes"`, our
BayesShrink.
"""
