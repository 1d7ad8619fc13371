"""Recordings with added noise: is the estimate nearer to them than the noisy one?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.denoisers import cases, models, signals
from benchmarks.denoisers.models import OURS, Record
from benchmarks.tools import tables

SEEDS = dict.fromkeys(cases.RECORDINGS, cases.seeds(5))
QUICK = ("ECG-pywt-2", "ECG-pywt-10")
MOST, WORST = 1.0, 1.05  # error over the noise variance, and over the best other's


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Denoise all recordings by all."""
    plan = models.plan(cases.RECORDINGS, SEEDS, QUICK, options, only, done)
    yield from signals.measured(plan, cases.RECORDINGS)


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met); the first is of every single draw."""
    errors = {key: one["scores"][OURS]["error"] for key, one in records.items()}
    worst = max(errors, key=errors.__getitem__)
    label = f"{len(records)} noisy recordings: error / noise variance, largest"
    shown = f"{errors[worst]:.3f} ({worst})"
    yield label, f"< {MOST:g}", shown, errors[worst] < MOST
    found = signals.scores(records)
    ratios = {
        name: one[OURS]["error"] / one[signals.best_other(one)]["error"]
        for name, one in found.items()
    }
    worst = max(ratios, key=ratios.__getitem__)
    label = f"{len(found)} recordings and ratios: error / best other, largest"
    shown = f"{ratios[worst]:.3f} ({worst})"
    yield label, f"≤ {WORST:g}", shown, ratios[worst] <= WORST


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each recording and ratio."""
    return "\n".join([NOTES, signals.each(records, signals.scores(records))])


NOTES = """\
The three recordings of the section above with other noise, and the same methods. Errors in per
cent of the noise variance, medians over the draws: above 100 the noisy recording was nearer.
"""
