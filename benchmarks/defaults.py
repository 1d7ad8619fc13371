"""Which parameters serve best as defaults: `adapt` and `augment` on data of many kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, timed
from benchmarks.tools.splits import (
    CLASSIFICATIONS,
    RAW_CLASSIFICATIONS,
    RAW_REGRESSIONS,
    REGRESSIONS,
    Source,
    Split,
)
from sparsebayes import RVC, RVR
from sparsebayes.scores import crps, interval_coverage, negative_log_predictive_density

Record = dict[str, Any]
SPLITS, QUICK_SPLITS = 5, 1
REFERENCE = "none"
PLANS = (  # what is fitted, to which data, on which inputs
    ("regression", REGRESSIONS, "standardised"),
    ("regression", RAW_REGRESSIONS, "raw"),
    ("classification", CLASSIFICATIONS, "standardised"),
    ("classification", RAW_CLASSIFICATIONS, "raw"),
)
MEASURES = {
    "regression": ("rmse", "nlpd", "crps", "coverage", "kept", "fit"),
    "classification": ("error", "log_loss", "kept", "fit"),
}


def variants() -> dict[str, Record]:
    """Constructor arguments by name."""
    adapts = {REFERENCE: None, "isotropic": "isotropic", "ard": "ard"}
    return {
        name + (" + augment" if augment else ""): {"adapt": adapt, "augment": augment}
        for augment in (False, True)
        for name, adapt in adapts.items()
    }


def describe(model: Any, split: Split) -> Record:
    """What is measured of a fitted model."""
    record = {"kept": len(model[-1].relevance_vectors_)}
    if isinstance(model[-1], RVR):
        prediction = split.y_test, *model.predict(split.X_test, return_std=True)
        return record | {
            "rmse": float(np.sqrt(np.mean((prediction[1] - split.y_test) ** 2))),
            "nlpd": negative_log_predictive_density(*prediction),
            "crps": crps(*prediction),
            "coverage": interval_coverage(*prediction),
        }
    return record | {
        "error": float(np.mean(model.predict(split.X_test) != split.y_test)),
        "log_loss": float(log_loss(split.y_test, model.predict_proba(split.X_test))),
    }


def one(kind: str, inputs: str, parameters: Record, split: Split) -> Record:
    """Fit one variant to one split."""
    model = RVR(**parameters) if kind == "regression" else RVC(**parameters)
    pipeline = make_pipeline(*([StandardScaler()] if inputs == "standardised" else []), model)
    fitted, seconds = timed(pipeline.fit, split.X, split.y)
    return {"fit": seconds, **describe(fitted, split)}


def run(
    quick: bool, splits: int | None = None, only: str | None = None
) -> Iterator[tuple[str, Record]]:
    """Fit all variants to all data sets; yields (key, record)."""
    count = splits or (QUICK_SPLITS if quick else SPLITS)
    for kind, sources, inputs in PLANS:
        for source in sources[: 2 if quick else None]:
            if only in (None, source.name):
                yield f"{kind}, {inputs}: {source.name}", _measured(kind, source, inputs, count)


def _measured(kind: str, source: Source, inputs: str, count: int) -> Record:
    fits: dict[str, list[Record]] = {name: [] for name in variants()}
    for number in range(count):
        split = source.make(number)
        with one_thread():
            for name, parameters in variants().items():
                fits[name].append(one(kind, inputs, parameters, split))
    return {
        "kind": kind,
        "name": source.name,
        "inputs": inputs,
        "shape": list(split.X.shape),
        "splits": count,
        "fits": fits,
    }


def average(record: Record, variant: str, measure: str) -> float:
    """Over the splits."""
    return float(np.mean([fit[measure] for fit in record["fits"][variant]]))


def summary(records: list[Record], variant: str) -> tuple[str, ...]:
    """A variant against the reference: errors and times as geometric means of ratios."""
    kind = records[0]["kind"]
    error, loss = ("rmse", "nlpd") if kind == "regression" else ("error", "log_loss")

    def both(measure: str) -> np.ndarray:
        return np.array([[average(r, v, measure) for v in (variant, REFERENCE)] for r in records])

    errors, losses, times = both(error), both(loss), both("fit")
    cells = [
        variant,
        f"{_geometric(errors):.3f}",
        f"{(losses[:, 0] < losses[:, 1]).sum()} of {len(records)}",
        tables.signed(np.median(losses[:, 0] - losses[:, 1])),
        tables.number(_geometric(times), 3),
    ]
    if kind == "regression":
        cells.append(f"{100 * np.median(both('coverage')[:, 0]):.1f}")
    return tuple(cells)


def _geometric(pairs: np.ndarray) -> float:
    return float(
        np.exp(np.mean(np.log(np.maximum(pairs[:, 0], 1e-6) / np.maximum(pairs[:, 1], 1e-6))))
    )


def to_markdown(results: dict[str, Record]) -> str:
    """For each kind of task a summary and the table of all data sets."""
    parts = [NOTES]
    for kind, _, inputs in PLANS:
        records = [r for r in results.values() if (r["kind"], r["inputs"]) == (kind, inputs)]
        if not records:
            continue
        parts.append(f"### {kind.capitalize()}, {inputs} inputs\n")
        names = ("RMSE", "NLPD") if kind == "regression" else ("error", "log loss")
        header = [
            "adapt",
            f"{names[0]} / none",
            f"smaller {names[1]}",
            f"{names[1]} − none, median",
            "fit time / none",
        ]
        header += ["coverage, %, median"] if kind == "regression" else []
        rows = [summary(records, variant) for variant in records[0]["fits"]]
        parts.append(tables.table(header, rows) + "\n")
        parts.append(_all(records) + "\n")
    return "\n".join(parts)


def _all(records: list[Record]) -> str:
    """One row for each data set and variant."""
    measures = MEASURES[records[0]["kind"]]
    titles = {"rmse": "RMSE", "nlpd": "NLPD", "crps": "CRPS", "coverage": "coverage, %"}
    titles |= {"error": "error, %", "log_loss": "log loss", "kept": "vectors", "fit": "fit, s"}
    rows = []
    for record in records:
        size = "{} × {}".format(*record["shape"])
        for variant in record["fits"]:
            values = {measure: average(record, variant, measure) for measure in measures}
            for share in ("error", "coverage"):
                if share in values:
                    values[share] *= 100
            cells = [
                tables.fixed(value, 1)
                if measure in ("error", "coverage", "kept")
                else tables.fixed(value, 3)
                if measure in ("nlpd", "log_loss")
                else tables.number(value, 4 if measure in ("rmse", "crps") else 3)
                for measure, value in values.items()
            ]
            rows.append((record["name"], size, str(record["splits"]), variant, *cells))
    header = ("data", "N × D", "splits", "adapt", *(titles[measure] for measure in measures))
    return tables.table(header, rows)


NOTES = """\
`RVR()` and `RVC()` with nothing set but `adapt` and `augment`, the basis "rbf". Cells are averages
over the splits; NLPD is the negative log density of a test target, coverage that of the central
95 % interval, CRPS the continuous ranked probability score; times are CPU seconds of one fit. The
tables in front compare with `adapt=None, augment=False`: errors and times as geometric means of
ratios over the data sets, on how many data sets the loss is smaller, and by how much at the median.
"""
