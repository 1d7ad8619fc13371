"""How often the band of an estimate holds the truth, and how wide it is."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.denoisers import cases, models
from benchmarks.denoisers.models import OPTIONS, OURS, Record
from benchmarks.noise_and_targets.draws import by_name
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread
from sparsebayes import denoise

Array = np.ndarray

KINDS: dict[str, Mapping[str, Any]] = {
    "signals": cases.OF_DONOHO,
    "images": cases.GREY,
    "recordings": cases.RECORDINGS,
}
CASES = {name: one for kind in KINDS.values() for name, one in kind.items()}
SEEDS = dict.fromkeys(CASES, cases.seeds())
QUICK = ("blocks-512-3", "doppler-512-7", "ECG-pywt-5")
BAND = 1.959963984540054  # standard deviations of the central 95 %
LEAST, MOST = 0.92, 0.98


def scored(
    truth: Array, noise_variance: float, estimates: dict[str, Array], stds: dict[str, Array]
) -> Record:
    """Squared errors over the noise variance; what the bands cover, and their widths.

    Returns
    -------
    record : dict
        `noise_variance`; by method `errors`, `coverage`, a share, and `std`, the mean, in units
        of the noise's.
    """
    errors = {name: float(np.mean((one - truth) ** 2)) for name, one in estimates.items()}
    inside = {name: np.abs(estimates[name] - truth) <= BAND * std for name, std in stds.items()}
    return {
        "noise_variance": noise_variance,
        "errors": {name: error / noise_variance for name, error in errors.items()},
        "coverage": {name: float(np.mean(some)) for name, some in inside.items()},
        "std": {name: float(np.mean(std)) / noise_variance**0.5 for name, std in stds.items()},
    }


def width(record: Record, model: str = OURS) -> float:
    """The mean standard deviation of the band over the root mean squared error."""
    return record["std"][model] / record["errors"][model] ** 0.5


def kind_of(name: str) -> str:
    """Signals, images or recordings."""
    return next(kind for kind, members in KINDS.items() if name in members)


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Denoise all, by ours."""
    for key, name, seed, case in models.plan(CASES, SEEDS, QUICK, options, only, done):
        with one_thread():
            found = {model: denoise(case.y, **call) for model, call in OPTIONS.items()}
            stds = {model: one.std for model, one in found.items()}
        estimates = {model: one.signal for model, one in found.items()}
        scores = scored(case.truth, case.deviation**2, estimates, stds)
        yield key, {"name": name, "seed": seed, "kind": kind_of(name)} | scores


def means(records: Mapping[str, Record], model: str) -> dict[str, dict[str, float]]:
    """By kind and case, the mean coverage over the draws."""
    found: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    for name, some in by_name(records).items():
        share = float(np.mean([one["coverage"][model] for one in some]))
        found[some[0]["kind"]][name] = share
    return {kind: shares for kind, shares in found.items() if shares}


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    for kind, shares in means(records, OURS).items():
        share = float(np.mean(list(shares.values())))
        what = f"{len(shares)} {kind} with noise: coverage of 95 % bands, mean, %"
        bounds = f"{100 * LEAST:g} to {100 * MOST:g}"
        yield what, bounds, f"{100 * share:.1f}", LEAST <= share <= MOST


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each kind and model."""
    rows = []
    for model in OPTIONS:
        for kind, shares in means(records, model).items():
            low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
            some = [one for one in records.values() if one["kind"] == kind]
            rows.append(
                (
                    kind,
                    model,
                    str(len(shares)),
                    tables.fixed(100 * float(np.mean(list(shares.values()))), 1),
                    f"{100 * shares[low]:.1f} ({low})",
                    f"{100 * shares[high]:.1f} ({high})",
                    tables.fixed(float(np.mean([width(one, model) for one in some])), 2),
                )
            )
    rows.sort(key=lambda row: list(KINDS).index(row[0]))
    header = ("", "model", "cases", "coverage, %", "lowest", "highest", "std / RMSE")
    return f"{NOTES}\n{tables.table(header, rows)}\n"


NOTES = """\
The share of samples at which the truth is within 1.96 `std` of the estimate, mean over draws and
then over cases; std / RMSE is the mean `std` over the root mean squared error. The signals, images
and recordings are those of the sections above. A recording has noise of its own, which counts as
true.
"""
