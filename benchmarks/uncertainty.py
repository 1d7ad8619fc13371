"""Predictive distributions: ours against Gaussian processes of other packages."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from statistics import mean, median
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.tools import tables
from benchmarks.tools.measure import repeated, timed
from benchmarks.tools.splits import FRIEDMAN, Source, Split, kin40k, stored
from sparsebayes.scores import crps, interval_coverage, negative_log_predictive_density

Record = dict[str, Any]
SOURCES = (
    FRIEDMAN,
    stored("boston"),
    stored("uci_yacht"),
    stored("uci_energy"),
    stored("uci_concrete"),
    kin40k(),
)
SPLITS, QUICK_SPLITS = 3, 1
PEER = "GaussianProcessRegressor"
HEADER = (
    "model",
    "fit, s",
    f"/ {PEER}",
    "predict 1000, ms",
    "vectors",
    "RMSE",
    "/ GP",
    "NLPD",
    "− GP",
    "CRPS",
    "coverage, %",
)


def standardised(split: Split) -> Split:
    """Inputs standardised by those to learn from."""
    scaler = StandardScaler().fit(split.X)
    return Split(scaler.transform(split.X), split.y, scaler.transform(split.X_test), split.y_test)


def describe(model: Any, fitted: Any, split: Split) -> Record:
    """What is measured of a fitted model; `predict` in seconds for 1000 points."""
    rows = np.resize(split.X_test, (1000, split.X_test.shape[1]))
    _, seconds = repeated(model.predict, fitted, rows)
    prediction = split.y_test, *model.predict(fitted, split.X_test)
    return {
        "predict": seconds,
        "kept": int(model.kept(fitted)),
        "rmse": float(np.sqrt(np.mean((prediction[1] - split.y_test) ** 2))),
        "nlpd": negative_log_predictive_density(*prediction),
        "crps": crps(*prediction),
        "coverage": interval_coverage(*prediction),
    }


def _compared(source: Source, count: int) -> Record:
    import torch

    from benchmarks.peers.probabilistic import all_probabilistic

    torch.set_num_threads(1)
    fits: dict[str, list[Record]] = {}
    for number in range(count):
        split = standardised(source.make(number))
        for model in all_probabilistic():
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fitted, seconds = timed(model.fit, split)
                record = {"fit": seconds, **describe(model, fitted, split)}
            fits.setdefault(model.name, []).append(record)
    return {"shape": list(split.X.shape), "splits": count, "fits": fits}


def run(
    quick: bool, splits: int | None = None, only: str | None = None
) -> Iterator[tuple[str, Record]]:
    """Fit all models to all splits; yields (name, record)."""
    count = splits or (QUICK_SPLITS if quick else SPLITS)
    for source in SOURCES[: 3 if quick else None]:
        if only in (None, source.name):
            yield source.name, _compared(source, count)


def _row(model: str, fits: dict[str, list[Record]]) -> tuple[str, ...]:
    records, peers = fits[model], fits[PEER]

    def middle(key: str) -> float:
        return mean(record[key] for record in records)

    def ratio(key: str) -> float:
        return median(a[key] / b[key] for a, b in zip(records, peers, strict=True))

    differences = [a["nlpd"] - b["nlpd"] for a, b in zip(records, peers, strict=True)]
    return (
        model,
        tables.seconds(middle("fit")),
        tables.ratio(ratio("fit")),
        tables.number(1e3 * middle("predict"), 3),
        tables.fixed(middle("kept"), 0),
        tables.number(middle("rmse"), 4),
        tables.ratio(ratio("rmse")),
        tables.fixed(middle("nlpd"), 3),
        tables.signed(median(differences)),
        tables.number(middle("crps"), 4),
        tables.fixed(100 * middle("coverage"), 1),
    )


def to_markdown(results: dict[str, Record]) -> str:
    """One table for each data set."""
    parts = [NOTES]
    for name, record in results.items():
        rows = [_row(model, record["fits"]) for model in record["fits"]]
        size = "N = {}, D = {}".format(*record["shape"])
        splits = f"{record['splits']} splits" if record["splits"] > 1 else "one split"
        parts.append(f"### {name}: {size}, {splits}\n\n{tables.table(HEADER, rows)}\n")
    return "\n".join(parts)


NOTES = """\
Inputs are standardised; every model learns one length scale for each input. RVR:
`RVR(adapt="ard")`, without and with `augment=True`, which needs all training rows to predict.
`GaussianProcessRegressor`: constant × RBF + white, standardised targets, no restarts. GPyTorch, in
double precision with standardised targets: the exact process (Cholesky at every size) and SGPR
with 200 inducing points from k-means, learned with the rest; 200 steps of Adam at the rate 0.1.
`ReducedRankGPR`: 200 support points. Cells are averages over the splits, ratios and differences to
`GaussianProcessRegressor` medians over them. Test targets have their noise; NLPD is the negative
log density of one, coverage that of the central 95 % interval. Vectors are the kept rows, support
or inducing points. Times are CPU seconds of one fit, on one thread; the UCI sets and Boston are the
first splits of the 20-split protocol, KIN40K's are disjoint parts of the set.
"""
