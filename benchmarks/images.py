"""Denoising grey images: ours and scikit-image's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pywt

from benchmarks import _tables
from benchmarks._denoisers import OURS, shrinkers
from benchmarks._measure import one_thread
from benchmarks.signals import averaged, best_other, scored, width
from sparsebayes import denoise

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
    ours = denoise(y)
    estimates = {
        OURS: ours.signal,
        f"{OURS}, σ given": denoise(y, noise=deviation**2).signal,
        f"{OURS}, bayes": denoise(y, method="bayes").signal,
    }
    estimates |= {other: method(y) for other, method in shrinkers().items()}
    return scored(truth, deviation**2, estimates, ours.std)


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
        best, ratio = best_other(record)
        rows.append(
            (
                record["image"],
                f"{deviation:g}",
                _tables.fixed(psnr(1.0, deviation), 2),
                *(_tables.fixed(psnr(one, deviation), 2) for one in record["errors"].values()),
                f"{_tables.signed(-10 * float(np.log10(ratio)))} ({best})",
                _tables.fixed(100 * record["coverage"], 1),
                _tables.fixed(width(record), 2),
            )
        )
    names = next(iter(records.values()))["errors"]
    last = ("denoise − best other", "coverage, %", "std / RMSE")
    ahead = sum(best_other(record)[1] < 1 for record in records.values())
    said = f"By default `denoise` has the highest PSNR in {ahead} of {len(rows)} entries."
    table = _tables.table(("image", "noise", "noisy", *names, *last), rows)
    return f"{NOTES}\n{said}\n\n{table}\n"


NOTES = """\
Cells are PSNRs in dB (of the mean squared error over draws of the noise, against 255); the images
are PyWavelets', 512 × 512, the noise is Gaussian with the given standard deviation, of 255 grey
levels. Nothing is clipped. Methods and the last two columns as above; besides the default there are
`denoise` with the true noise variance and with `method="bayes"`, our BayesShrink.
"""
