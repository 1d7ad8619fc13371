"""Denoising test signals: errors of ours and of others, and how often our band is right."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import geometric_mean, mean, stdev
from typing import Any

import numpy as np

from benchmarks.peers.denoisers import ORDER, OURS, Method, peers
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread
from sparsebayes import denoise
from sparsebayes.datasets import make_signal

Array = np.ndarray
Record = dict[str, Any]
Options = dict[str, dict[str, Any]]

SIGNALS = ("sinc", "heavisine", "doppler", "blocks", "bumps")
RATIOS = (2, 5, 7)
DRAWS = {2**10: 20, 2**12: 20, 2**14: 10, 2**16: 5, 2**18: 3, 2**20: 2, 2**22: 1}
QUICK_DRAWS = {2**10: 2, 2**12: 2}
AVERAGE = f"{OURS}, average"
VARIANTS: Options = {OURS: {}, f"{OURS}, ric": {"prior": "ric"}, AVERAGE: {"method": "ash"}}
BANDS = ("denoise: coverage, %", "std / RMSE", "average: coverage, %", "std / RMSE")
BAND = 1.959963984540054  # standard deviations of the central 95 %


def scored(
    truth: Array, noise_variance: float, estimates: dict[str, Array], stds: dict[str, Array]
) -> Record:
    """Squared errors over the noise variance; what the bands of ours cover, and their widths.

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


def ours_and_others(
    truth: Array, y: Array, noise_variance: float, variants: Options, others: dict[str, Method]
) -> Record:
    """Denoise by all; bands of the default and of averaging."""
    found = {name: denoise(y, **options) for name, options in variants.items()}
    stds = {name: found[name].std for name in (OURS, AVERAGE)}
    estimates = {name: one.signal for name, one in found.items()}
    estimates |= {name: method(y) for name, method in others.items()}
    return scored(truth, noise_variance, estimates, stds)


def _draw(name: str, size: int, ratio: float, seed: int) -> Record:
    _, y, truth = make_signal(name, size, snr=ratio, random_state=seed)
    return ours_and_others(truth, y, float(truth.var()) / ratio**2, VARIANTS, peers())


def averaged(draws: list[Record]) -> Record:
    """Means over draws; `gaps` are standard errors of the errors minus those of ours."""

    def means(key: str) -> dict[str, float]:
        return {name: mean(draw[key][name] for draw in draws) for name in draws[0][key]}

    return {
        "draws": len(draws),
        "noise_variance": draws[0]["noise_variance"],
        "errors": means("errors"),
        "gaps": {ours: _gaps(draws, ours) for ours in draws[0]["std"]} if len(draws) > 1 else None,
        "coverage": means("coverage"),
        "std": means("std"),
    }


def _gaps(draws: list[Record], ours: str) -> dict[str, float]:
    out = {}
    for name in draws[0]["errors"]:
        if not name.startswith(OURS):
            gaps = [draw["errors"][name] - draw["errors"][ours] for draw in draws]
            out[name] = stdev(gaps) / len(gaps) ** 0.5
    return out


def run(
    quick: bool, only: int | None = None, seed: int | None = None
) -> Iterator[tuple[str, Record]]:
    """Denoise all signals; yields ("size/signal/ratio", record)."""
    plan = QUICK_DRAWS if quick else DRAWS
    for size in plan if only is None else (only,):
        count = plan.get(size, 1)
        first = seed or 0
        for name in SIGNALS:
            for ratio in RATIOS:
                with one_thread():
                    draws = [_draw(name, size, ratio, first + k) for k in range(count)]
                key = {"size": size, "signal": name, "snr": ratio, "seed": first}
                yield f"{size}/{name}/{ratio}", {**key, **averaged(draws)}


def best_other(
    record: Record, ours: str = OURS, names: tuple[str, ...] | None = None
) -> tuple[str, float]:
    """The method that is not ours with the least error, and the error of ours over it."""
    errors = record["errors"]
    others = [one for one in names or errors if not one.startswith(OURS)]
    best = min(others, key=errors.__getitem__)
    return best, errors[ours] / errors[best]


def width(record: Record, ours: str = OURS) -> float:
    """The mean standard deviation of the band over the root mean squared error."""
    return record["std"][ours] / record["errors"][ours] ** 0.5


def band_cells(record: Record) -> list[str]:
    """Coverage and width of the two bands."""
    cells = []
    for name in (OURS, AVERAGE):
        cells += [tables.fixed(100 * record["coverage"][name], 1)]
        cells += [tables.fixed(width(record, name), 2)]
    return cells


def ordered(records: dict[str, Record]) -> list[Record]:
    """By size, signal and ratio: parts may have been measured in any order."""
    return sorted(
        records.values(), key=lambda one: (one["size"], SIGNALS.index(one["signal"]), one["snr"])
    )


def _row(record: Record, names: list[str]) -> tuple[str, ...]:
    return (
        record["signal"],
        f"{record['snr']:g}",
        *(tables.number(100 * record["errors"][name], 3) for name in names),
        *(tables.ratio(best_other(record, ours)[1]) for ours in (OURS, AVERAGE)),
        *band_cells(record),
    )


def against(records: dict[str, Record]) -> str:
    """One row for each other method: how often ours has less error, and errors over its."""
    every = [record["errors"] for record in records.values()]
    names = dict.fromkeys(name for errors in every for name in errors)
    ours = [name for name in names if name.startswith(OURS)]
    rows = []
    for other in names:
        if other in ours:
            continue
        cells = []
        for name in ours:  # a partial run may have brought in another method
            both = [errors for errors in every if name in errors and other in errors]
            ratios = [errors[name] / errors[other] for errors in both]
            better = sum(ratio < 1 for ratio in ratios)
            mean_ratio = f", {geometric_mean(ratios):.2f}" if ratios else ""
            cells.append(f"{better} of {len(ratios)}{mean_ratio}")
        rows.append((other, *cells))
    said = (
        "In how many entries ours has less error than the others, and the geometric mean of ratios:"
    )
    return f"{said}\n\n{tables.table(('', *ours), rows)}\n"


def behind(records: dict[str, Record], ours: str) -> str:
    """Where a method that is not ours has the least error, and by how much; worst first."""
    all_of_them = [(record, *best_other(record, ours)) for record in ordered(records)]
    lost = sorted((one for one in all_of_them if one[2] > 1), key=lambda one: -one[2])
    said = f"No other method has less error than {ours} in {len(all_of_them) - len(lost)} of "
    said += f"{len(all_of_them)} entries."
    if not lost:
        return said + "\n"
    rows = []
    for record, best, ratio in lost:
        gap = record["errors"][ours] - record["errors"][best]
        error = record["gaps"] and record["gaps"][ours][best]
        rows.append(
            (
                f"N = {record['size']}, {record['signal']}, SNR {record['snr']:g}",
                best,
                tables.ratio(ratio),
                tables.number(100 * gap, 2),
                tables.MISSING if error is None else tables.number(100 * error, 2),
                str(record["draws"]),
            )
        )
    header = (
        "entry",
        "least error",
        "ours over it",
        "difference, % of σ²",
        "± standard error",
        "draws",
    )
    return f"{said} The others:\n\n{tables.table(header, rows)}\n"


def to_markdown(records: dict[str, Record]) -> str:
    """A summary, where ours is not the best, and one table for each size."""
    parts = [NOTES, against(records), behind(records, OURS), behind(records, AVERAGE)]
    for size in dict.fromkeys(record["size"] for record in ordered(records)):
        some = [record for record in ordered(records) if record["size"] == size]
        names = list(some[0]["errors"])
        header = ("signal", "SNR", *names, "denoise / best other", "average / best other", *BANDS)
        counts = sorted({record["draws"] for record in some})
        draws = "one draw" if counts == [1] else f"{'/'.join(map(str, counts))} draws"
        rows = [_row(record, names) for record in some]
        parts.append(f"#### N = {size}, {draws}\n\n{tables.table(header, rows)}\n")
    return "\n".join(parts)


NOTES = f"""\
Cells are mean squared errors in per cent of the noise variance σ², means over the draws; the SNR is
the ratio of standard deviations of signal and noise. `denoise`: `sparsebayes.denoise(y)`, all
defaults, with `prior="ric"` and with `method="ash"`. Bayes, Visu:
`skimage.restoration.denoise_wavelet` with BayesShrink and VisuShrink, sym8 or its default db1, all
else its defaults (soft, estimated noise). Hard, soft: PyWavelets' `wavedec` with sym8 (its
defaults: all levels, symmetric ends), the universal threshold at the median absolute deviation of
the finest details. Savgol: `scipy.signal.savgol_filter` of order {ORDER}, the window of least
leave-one-out error among 5, 9, 17, 33, …, up to a quarter of the signal; the filter costs samples
times window, which was held below 2²⁸ (a window of 33 at N = 2²²). Coverage is the share of samples
at which the true signal is within 1.96 `std` of the estimate, std / RMSE the mean `std` over the
root mean squared error: asked are 90 to 98 % and at most 1.5.
"""
