"""Signals in one dimension: errors of ours and of others."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from statistics import geometric_mean
from textwrap import fill

import numpy as np

from benchmarks.denoisers import cases, models
from benchmarks.denoisers.models import ASH, OPTIONS, OURS, Record, Scores
from benchmarks.peers import denoisers
from benchmarks.tools import tables

SEEDS = dict.fromkeys(cases.SIGNALS, cases.seeds(5))
QUICK = ("sinc-512-3", "doppler-512-7", "blocks-512-3", "ECG-pywt-5")
RATIO, WORST = 0.82, 1.05  # of the error to that of ash: geometric mean, largest
# Entries of the five signals where another method may be better: what is smooth everywhere has few
# coefficients, and thresholds that keep those alone err less.
LISTED = ("sinc-512-3", "sinc-512-7", "sinc-4096-3", "sinc-4096-7", "heavisine-512-3")


def measured(
    plan: Iterator[tuple[str, str, int, cases.Noisy]], of: Mapping[str, cases.Series]
) -> Iterator[tuple[str, Record]]:
    """Squared errors over the noise variance, by model, and CPU seconds."""
    methods = models.for_signals()
    for key, name, seed, case in plan:
        scores = {}
        for model, estimate, told in models.estimated(case.y, methods):
            error = float(np.mean((estimate - case.truth) ** 2)) / case.deviation**2
            scores[model] = {"error": models.short(error), **told}
        one = of[name]
        place = {"name": name, "seed": seed, "signal": one.name, "snr": one.snr}
        yield key, place | {"size": case.y.size, "scores": scores}


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Denoise all signals by all."""
    plan = models.plan(cases.SIGNALS, SEEDS, QUICK, options, only, done)
    yield from measured(plan, cases.SIGNALS)


def scores(records: Mapping[str, Record]) -> Scores:
    """Medians over the draws."""
    return models.medians(records, lambda one: models.numbers(one["scores"]))


def ratios(found: Scores, model: str, other: str) -> dict[str, float]:
    """By case, the error of a model over that of another."""
    return {name: one[model]["error"] / one[other]["error"] for name, one in found.items()}


def best_other(one: Mapping[str, Mapping[str, float]]) -> str:
    """The method that is not ours with the least error."""
    return min((model for model in one if model not in OPTIONS), key=lambda m: one[m]["error"])


def behind(found: Scores) -> dict[str, tuple[str, float]]:
    """The cases where another method has less error than the default: which, and the ratio."""
    out = {}
    for name, one in found.items():
        best = best_other(one)
        ratio = one[OURS]["error"] / one[best]["error"]
        if ratio > 1:
            out[name] = best, ratio
    return out


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    found = scores(records)
    label = f"{len(found)} signals with noise: "
    every = ratios(found, OURS, ASH)
    middle = geometric_mean(every.values())
    what = f"{label}error / {ASH}, geometric mean"
    yield what, f"≤ {RATIO:g}", f"{middle:.3f}", middle <= RATIO
    worst = max(every, key=every.__getitem__)
    shown = f"{every[worst]:.3f} ({worst})"
    yield f"{label}error / {ASH}, largest", f"≤ {WORST:g}", shown, every[worst] <= WORST
    ours = {name: one for name, one in found.items() if name in cases.OF_DONOHO}
    if ours:
        lost = [name for name in behind(ours) if name not in LISTED]
        what = f"{len(ours)} entries of the five signals: another method is better"
        what += f", besides {len(LISTED)} that are listed" if LISTED else ""
        yield what, "0", str(len(lost)), not lost


def against(found: Scores) -> str:
    """One row for each model: its errors over those of ash, and in how many cases ours has less."""
    rows = []
    for model in next(iter(found.values())):
        every = ratios(found, model, ASH)
        worst = max(every, key=every.__getitem__)
        less = sum(one[OURS]["error"] < one[model]["error"] for one in found.values())
        seconds = float(np.median([one[model]["seconds"] for one in found.values()]))
        rows.append(
            (
                model,
                tables.fixed(geometric_mean(every.values()), 3),
                f"{every[worst]:.2f} ({worst})",
                tables.MISSING if model == OURS else f"{less} of {len(found)}",
                tables.number(1e3 * seconds, 2),
            )
        )
    header = (
        "model", f"error / {ASH}, geometric mean", "largest", "denoise has less", "time, ms",
    )  # fmt: skip
    return tables.table(header, rows) + "\n"


def each(records: Mapping[str, Record], found: Scores) -> str:
    """One row for each case."""
    first = {one["name"]: one for one in records.values()}
    names = list(next(iter(found.values())))
    rows = []
    for name, one in found.items():
        best = best_other(one)
        cells = [tables.number(100 * one[model]["error"], 3) for model in names]
        ratio = one[OURS]["error"] / one[best]["error"]
        snr = f"{first[name]['snr']:g}"
        rows.append((first[name]["signal"], snr, *cells, f"{ratio:.2f} ({best})"))
    header = ("signal", "SNR", *names, "denoise / best other")
    return tables.table(header, rows) + "\n"


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each model over all cases, where ours is behind, and a row for each case."""
    found = scores(records)
    parts = [NOTES, against(found)]
    lost = behind(found)
    said = f"Another method has less error than `denoise(y)` in {len(lost)} of {len(found)} cases"
    several = "; ".join(f"{name} ({best}, {ratio:.2f})" for name, (best, ratio) in lost.items())
    parts.append(fill(f"{said}: {several}." if lost else f"{said}.", 100) + "\n")
    return "\n".join([*parts, EACH, each(records, found)])


NOTES = f"""\
Mean squared errors over the noise variance σ², medians over the draws (from number {cases.FIRST}
on); the SNR is the ratio of standard deviations of signal and noise. The electrocardiogram of
MIT-BIH (record 108, {cases.HEART_SAMPLES} samples), that of PyWavelets and the electroencephalogram
count as true as they were recorded, with the noise they have.

- denoise: `denoise(y)`. ash: `denoise(y, "sym8", method="ash")`, one transform. sparse: the same
  with `method="sparse"`.
- Bayes, Visu: `skimage.restoration.denoise_wavelet` with BayesShrink and VisuShrink, sym8 or db1.
  hard, soft: PyWavelets' `wavedec` with sym8, the universal threshold. SURE: soft thresholds for
  each level by Stein's unbiased estimate of the risk, or the universal one where a level is sparse
  (SureShrink).
- spun: cycle spinning over {denoisers.SHIFTS} shifts. The best other is chosen by its error, which
  flatters it.
- Ebayes: EbayesThresh written anew: Laplace prior, weight and scale by the marginal likelihood of
  each level, posterior medians.
- savgol: `scipy.signal.savgol_filter` of order {denoisers.ORDER}, the window of least
  leave-one-out error.
"""

EACH = """\
Errors in per cent of σ²:
"""
