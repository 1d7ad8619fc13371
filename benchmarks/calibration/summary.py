"""What the fits to the data sets say: tables and limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.calibration.coverage import PLANS
from benchmarks.peers.error_bars import OURS, PEER
from benchmarks.tools import tables

Record = dict[str, Any]
Fits = dict[str, list[Record]]  # by data set, one for each split

LEAST, MOST = 0.90, 0.98  # mean coverage of a data set
LOW, FEW = 0.85, 2  # coverage of a single fit, and how many may be below
HARD, HARD_LEAST, HARD_SIZE = ("kin8nm", "airfoil", "sml"), 0.88, 300
NLPD, RMSE, RMSE_SET, SHARE = 0.05, 1.10, 1.5, 1 / 3
APART = "naval"  # nearly free of noise: the process is far ahead of all others


def of_size(records: dict[str, Record], size: int) -> dict[str, list[Record]]:
    """By data set, the records of its splits."""
    found: dict[str, list[Record]] = {}
    for record in records.values():
        if record["size"] == size:
            found.setdefault(record["name"], []).append(record)
    return found


def fits_of(sets: dict[str, list[Record]], model: str) -> Fits:
    """By data set, the model's fits and beside each, as `peer`, that of the process.

    Splits that the model or the process was not fitted to are left out.
    """
    found = {
        name: [
            one["fits"][model] | {"peer": one["fits"][PEER], "rows": one["shape"][0]}
            for one in splits
            if model in one["fits"] and PEER in one["fits"]
        ]
        for name, splits in sets.items()
    }
    return {name: fits for name, fits in found.items() if fits}


def average(fits: list[Record], key: str) -> float:
    """Over the splits."""
    return float(np.mean([fit[key] for fit in fits]))


def error_ratio(fits: list[Record]) -> float:
    """RMSE over that of the process, as geometric mean over the splits."""
    return float(np.exp(np.mean([np.log(fit["rmse"] / fit["peer"]["rmse"]) for fit in fits])))


def density_gap(fits: list[Record]) -> float:
    """NLPD less that of the process, as mean over the splits."""
    return float(np.mean([fit["nlpd"] - fit["peer"]["nlpd"] for fit in fits]))


def share_kept(fits: list[Record]) -> float | None:
    """Functions over training rows, as mean over the splits; None where there are no functions."""
    if any(fit["kept"] is None for fit in fits):
        return None
    return float(np.mean([fit["kept"] / fit["rows"] for fit in fits]))


def _geometric(values: list[float]) -> float | None:
    return float(np.exp(np.mean(np.log(values)))) if values else None


def _median(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def ranks(sets: dict[str, list[Record]]) -> dict[str, float]:
    """Mean rank by RMSE over the data sets, of the models that were fitted to all splits."""
    every = [record["fits"] for splits in sets.values() for record in splits]
    models = [model for model in every[0] if all(model in fits for fits in every)]
    table = [
        rankdata([np.mean([one["fits"][model]["rmse"] for one in splits]) for model in models])
        for splits in sets.values()
    ]
    return dict(zip(models, np.mean(table, axis=0).tolist(), strict=True))


def limits(records: dict[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met) of the default."""
    for size in PLANS:
        fits = fits_of(of_size(records, size), OURS)
        if fits:
            yield from _limits(fits, size)


def _limits(fits: Fits, size: int) -> Iterator[tables.Limit]:
    what = f"N = {size}, {len(fits)} sets"
    means = {name: average(some, "coverage") for name, some in fits.items()}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    shown = f"{100 * means[low]:.1f} ({low}) to {100 * means[high]:.1f} ({high})"
    met = means[low] >= LEAST and means[high] <= MOST
    bounds = f"{100 * LEAST:g} to {100 * MOST:g}"
    yield f"{what}: coverage of a set, lowest and highest, %", bounds, shown, met
    single = [fit["coverage"] for some in fits.values() for fit in some]
    count = sum(share < LOW for share in single)
    label = f"{what}: fits that cover less than {100 * LOW:g} %, of {len(single)}"
    yield label, f"≤ {FEW}", str(count), count <= FEW
    gap = float(np.median([density_gap(some) for some in fits.values()]))
    yield f"{what}: NLPD − GP, median", f"≤ {NLPD:g}", f"{gap:+.3f}".replace("-", "−"), gap <= NLPD
    ratios = {name: error_ratio(some) for name, some in fits.items()}
    middle = float(np.exp(np.mean(np.log(list(ratios.values())))))
    label = f"{what}: RMSE / GP, geometric mean"
    yield label, f"≤ {RMSE:.2f}", f"{middle:.3f}", middle <= RMSE
    worst = max(ratios, key=ratios.__getitem__)
    shown = f"{ratios[worst]:.2f} ({worst})"
    yield f"{what}: RMSE / GP, largest", f"≤ {RMSE_SET:g}", shown, ratios[worst] <= RMSE_SET
    share = _median([share_kept(some) for some in fits.values()])
    assert share is not None
    yield f"{what}: functions / N, median", "≤ 1/3", f"{share:.3f}", share <= SHARE
    if size == HARD_SIZE:
        for name in (name for name in HARD if name in fits):
            least = min(fit["coverage"] for fit in fits[name])
            label = f"N = {size}, {name}: coverage of a fit, lowest, %"
            yield label, f"≥ {100 * HARD_LEAST:g}", f"{100 * least:.1f}", least >= HARD_LEAST


def by_set(sets: dict[str, list[Record]]) -> str:
    """The table of the default, one row for each data set."""
    header = (
        "data", "N × D", "splits", "coverage, %", "lowest", "short bars", "middle", "long bars",
        "RMSE / GP", "NLPD − GP", "functions / N", "c", "warnings",
    )  # fmt: skip
    rows = []
    for name, fits in fits_of(sets, OURS).items():
        factor = _median([fit["calibration"] for fit in fits])
        parts = [fit["thirds"] for fit in fits if fit["thirds"] is not None]
        rows.append(
            (
                name,
                "{} × {}".format(*sets[name][0]["shape"]),
                str(len(fits)),
                tables.fixed(100 * average(fits, "coverage"), 1),
                tables.fixed(100 * min(fit["coverage"] for fit in fits), 1),
                *(
                    tables.fixed(100 * float(np.mean([part[i] for part in parts])), 0)
                    if parts
                    else tables.MISSING
                    for i in range(3)
                ),
                tables.fixed(error_ratio(fits), 3),
                tables.signed(density_gap(fits)),
                tables.fixed(share_kept(fits), 3),
                tables.fixed(factor, 2),
                str(sum(len(fit["warnings"]) for fit in fits)),
            )
        )
    return tables.table(header, rows)


def by_model(sets: dict[str, list[Record]]) -> str:
    """The summary, one row for each model."""
    header = (
        "model", "RMSE, mean rank", "RMSE / GP", f"without {APART}", f"sets above {RMSE_SET:g}",
        "NLPD − GP, median", "coverage, %", "lowest set", f"fits below {100 * LOW:g} %",
        "functions / N, median", "fit, s", "predict 1000, ms", "file, kB",
    )  # fmt: skip
    order = ranks(sets)
    models = list(dict.fromkeys(m for some in sets.values() for one in some for m in one["fits"]))
    rows = []
    for model in models:
        fits = fits_of(sets, model)
        if not fits:
            continue
        every = [fit for some in fits.values() for fit in some]
        ratios = {name: error_ratio(some) for name, some in fits.items()}
        means = [average(some, "coverage") for some in fits.values()]
        size = _median([fit["file"] for fit in every])
        rows.append(
            (
                model,
                tables.fixed(order.get(model), 2),
                tables.fixed(_geometric(list(ratios.values())), 3),
                tables.fixed(_geometric([v for k, v in ratios.items() if k != APART]), 3),
                str(sum(ratio > RMSE_SET for ratio in ratios.values())),
                tables.signed(float(np.median([density_gap(some) for some in fits.values()]))),
                tables.fixed(100 * float(np.mean(means)), 1),
                tables.fixed(100 * min(means), 1),
                f"{sum(fit['coverage'] < LOW for fit in every)} of {len(every)}",
                tables.fixed(_median([share_kept(some) for some in fits.values()]), 3),
                tables.seconds(_median([fit["fit"] for fit in every])),
                tables.number(1e3 * (_median([fit["predict"] for fit in every]) or 0.0), 3),
                tables.number(None if size is None else size / 1000, 3),
            )
        )
    return tables.table(header, rows)


def to_markdown(records: dict[str, Record]) -> str:
    """For each number of training rows the table of the default and that of all models."""
    parts = [NOTES]
    for size in PLANS:
        sets = of_size(records, size)
        if sets:
            parts.append(f"### {OURS} on each data set, N = {size}\n\n{by_set(sets)}\n")
            parts.append(f"### All models, N = {size}\n\n{by_model(sets)}\n")
    return "\n".join(parts)


NOTES = f"""\
Each set is permuted by `default_rng(split)`: the first {" or ".join(map(str, PLANS))} rows, at most
four fifths of the set, are learned from and the next 1500 tested; inputs and targets are
standardised by the training rows. GP is scikit-learn's `GaussianProcessRegressor`: constant × RBF
with a scale for each input + white. fastrvm has its defaults. SVR, `KernelRidge` (both by a grid,
5 folds) and `HistGradientBoostingRegressor` have one error bar, the standard deviation of the
errors in cross-validation. Coverage is that of central 95 % intervals of noisy test targets; short,
middle and long bars are the thirds of the test rows by predicted standard deviation. c is
`calibration_`, the median over the splits. RMSE / GP are geometric means, NLPD − GP means over the
splits; times (CPU seconds, one thread) and the size of a model file are medians over all fits.
"""
