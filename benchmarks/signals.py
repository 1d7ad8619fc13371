"""Denoising test signals: errors of ours and of others, and how often our band is right."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import geometric_mean, mean
from typing import Any

import numpy as np

from benchmarks import _tables
from benchmarks._denoisers import ORDER, OURS, peers
from benchmarks._measure import one_thread
from sparsebayes import denoise
from sparsebayes.datasets import make_signal

Array = np.ndarray
Record = dict[str, Any]

SIGNALS = ("sinc", "heavisine", "doppler", "blocks", "bumps")
RATIOS = (2, 5, 7)
DRAWS = {2**10: 20, 2**12: 20, 2**14: 10, 2**16: 5, 2**18: 3, 2**20: 2, 2**22: 1}
QUICK_DRAWS = {2**10: 2, 2**12: 2}
RIC = f"{OURS}, ric"
BAND = 1.959963984540054  # standard deviations of the central 95 %


def scored(truth: Array, noise_variance: float, estimates: dict[str, Array], std: Array) -> Record:
    """Squared errors over the noise variance by method; what our band covers, and its half width.

    Returns
    -------
    record : dict
        `noise_variance`; `errors` by method; `coverage`, a share; `std`, the mean, in units of
        the noise's.
    """
    errors = {name: float(np.mean((one - truth) ** 2)) for name, one in estimates.items()}
    off = np.abs(estimates[OURS] - truth)
    return {
        "noise_variance": noise_variance,
        "errors": {name: error / noise_variance for name, error in errors.items()},
        "coverage": float(np.mean(off <= BAND * std)),
        "std": float(np.mean(std)) / noise_variance**0.5,
    }


def _draw(name: str, size: int, ratio: float, seed: int) -> Record:
    _, y, truth = make_signal(name, size, snr=ratio, random_state=seed)
    ours = denoise(y)
    estimates = {OURS: ours.signal, RIC: denoise(y, prior="ric").signal}
    estimates |= {other: method(y) for other, method in peers().items()}
    return scored(truth, float(truth.var()) / ratio**2, estimates, ours.std)


def averaged(draws: list[Record]) -> Record:
    """Means over draws, and the standard error of each method's error minus ours."""
    errors = {name: [draw["errors"][name] for draw in draws] for name in draws[0]["errors"]}
    gaps = {name: np.subtract(values, errors[OURS]) for name, values in errors.items()}
    return {
        "draws": len(draws),
        "noise_variance": draws[0]["noise_variance"],
        "errors": {name: mean(values) for name, values in errors.items()},
        "uncertainty": {
            name: float(np.std(gap, ddof=1) / len(draws) ** 0.5) if len(draws) > 1 else None
            for name, gap in gaps.items()
            if name != OURS
        },
        "coverage": mean(draw["coverage"] for draw in draws),
        "std": mean(draw["std"] for draw in draws),
    }


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


def best_other(record: Record, names: tuple[str, ...] | None = None) -> tuple[str, float]:
    """The method that is not ours with the least error, and the error of our default over it."""
    errors = record["errors"]
    others = [one for one in names or errors if not one.startswith(OURS)]
    best = min(others, key=errors.__getitem__)
    return best, errors[OURS] / errors[best]


def width(record: Record) -> float:
    """The mean standard deviation of the band over the root mean squared error."""
    return record["std"] / record["errors"][OURS] ** 0.5


def ordered(records: dict[str, Record]) -> list[Record]:
    """By size, signal and ratio: parts may have been measured in any order."""
    return sorted(
        records.values(), key=lambda one: (one["size"], SIGNALS.index(one["signal"]), one["snr"])
    )


def _row(record: Record, names: list[str]) -> tuple[str, ...]:
    return (
        record["signal"],
        f"{record['snr']:g}",
        *(_tables.number(100 * record["errors"][name], 3) for name in names),
        _tables.ratio(best_other(record)[1]),
        _tables.fixed(100 * record["coverage"], 1),
        _tables.fixed(width(record), 2),
    )


def against(records: dict[str, Record]) -> str:
    """One row for each other method: how often ours has less error, and errors over its."""
    rows = []
    for other in dict.fromkeys(name for one in records.values() for name in one["errors"]):
        cells = []
        for ours in (OURS, RIC):
            both = [
                one["errors"] for one in records.values() if {ours, other} <= set(one["errors"])
            ]
            ratios = [errors[ours] / errors[other] for errors in both]
            cells += [f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"]
            cells += [_tables.ratio(geometric_mean(ratios) if ratios else None)]
        if not other.startswith(OURS):
            rows.append((other, *cells))
    header = ("", "denoise has less error", "ratio of errors", "with ric less", "ratio")
    return f"{_tables.table(header, rows)}\n\nRatios are geometric means over the entries.\n"


def behind(records: dict[str, Record]) -> str:
    """Where another method has the least error, and by how much; worst first."""
    all_of_them = [(record, *best_other(record)) for record in ordered(records)]
    lost = sorted((one for one in all_of_them if one[2] > 1), key=lambda one: -one[2])
    said = (
        f"By default `denoise` has the least error in {len(all_of_them) - len(lost)} of "
        f"{len(all_of_them)} entries."
    )
    if not lost:
        return said + "\n"
    rows = []
    for record, best, ratio in lost:
        gap, error = record["errors"][OURS] - record["errors"][best], record["uncertainty"][best]
        rows.append(
            (
                f"N = {record['size']}, {record['signal']}, SNR {record['snr']:g}",
                best,
                _tables.ratio(ratio),
                _tables.number(100 * gap, 2),
                _tables.MISSING if error is None else _tables.number(100 * error, 2),
                str(record["draws"]),
            )
        )
    header = (
        "entry",
        "least error",
        "denoise's over it",
        "difference, % of σ²",
        "± standard error",
        "draws",
    )
    return f"{said} In the others:\n\n{_tables.table(header, rows)}\n"


def to_markdown(records: dict[str, Record]) -> str:
    """A summary, where ours is not the best, and one table for each size."""
    parts = [NOTES, against(records), behind(records)]
    for size in dict.fromkeys(record["size"] for record in ordered(records)):
        some = [record for record in ordered(records) if record["size"] == size]
        names = list(some[0]["errors"])
        header = ("signal", "SNR", *names, "denoise / best other", "coverage, %", "std / RMSE")
        counts = sorted({record["draws"] for record in some})
        draws = "one draw" if counts == [1] else f"{'/'.join(map(str, counts))} draws"
        rows = [_row(record, names) for record in some]
        parts.append(f"#### N = {size}, {draws}\n\n{_tables.table(header, rows)}\n")
    return "\n".join(parts)


NOTES = f"""\
Cells are mean squared errors in per cent of the noise variance σ², means over the draws; the SNR is
the ratio of standard deviations of signal and noise. `denoise`: `sparsebayes.denoise(y)`, all
defaults, and with `prior="ric"`. Bayes, Visu: `skimage.restoration.denoise_wavelet` with
BayesShrink and VisuShrink, sym8 or its default db1, all else its defaults (soft, estimated noise).
Hard, soft: PyWavelets' `wavedec` with sym8 (its defaults: all levels, symmetric ends), the
universal threshold at the median absolute deviation of the finest details. Savgol:
`scipy.signal.savgol_filter` of order {ORDER}, the window of least leave-one-out error among 5, 9,
17, 33, …, up to a quarter of the signal; the filter costs samples times window, which was held
below 2²⁸ (a window of 33 at N = 2²²). Coverage is the share of samples at which the true signal is
within 1.96 `std` of the estimate, std / RMSE the mean `std` over the root mean squared error: asked
are 90 to 98 % and at most 1.5.
"""
