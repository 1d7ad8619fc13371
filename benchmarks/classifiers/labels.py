"""Seven classifiers on 22 data sets: errors, probabilities, vectors and time."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.classifiers import data, fits
from benchmarks.classifiers.models import (
    AUGMENTED,
    FOLDS,
    FOR_LABELS,
    GRID,
    GRID_C,
    GRID_GAMMA,
    OURS,
    TREES,
)
from benchmarks.noise_and_targets.draws import by_name
from benchmarks.tools import tables

Record = dict[str, Any]
Scores = dict[str, dict[str, dict[str, float]]]  # by set, model and measure

SPLITS, DECIDED, DECIDED_ROWS = 5, (101, 103), 400
SEEDS = dict.fromkeys(data.SETS, range(SPLITS))
QUICK = ("heart", "Ripley", "iris")
ERROR, LOG_LOSS, ECE = 1.05, 0.97, 0.042
FAR, POINTS = 1.5, 0.02  # an error above this factor and this much more is far from the SVC's


def run(
    options: Namespace, only: Sequence[str] = (), done: Sequence[str] = ()
) -> Iterator[tuple[str, Record]]:
    """Fit all models to all splits that are not `done`; yields (key, record)."""
    plan = fits.planned(SEEDS, QUICK, options, only, done)
    yield from fits.run(plan, data.make_split, FOR_LABELS)


def scores(records: Mapping[str, Record]) -> Scores:
    """Means over the splits of each set; `counted` is an error that is never zero."""
    return {
        name: {
            model: {
                "error": _mean(some, model, "error"),
                "counted": _mean(some, model, "wrong", 0.5) / (some[0]["tests"] + 1),
                "log_loss": max(_mean(some, model, "log_loss"), fits.FLOOR),
                "ece": _mean(some, model, "ece"),
                "fit": _mean(some, model, "fit"),
            }
            for model in FOR_LABELS
        }
        for name, some in by_name(records).items()
    }


def _mean(some: list[Record], model: str, key: str, more: float = 0.0) -> float:
    return float(np.mean([one["fits"][model][key] for one in some])) + more


def ranks(found: Scores, key: str) -> dict[str, float]:
    """The mean rank of each model over the sets; equal ones share their ranks."""
    every = [rankdata([one[model][key] for model in FOR_LABELS]) for one in found.values()]
    return dict(zip(FOR_LABELS, np.mean(every, axis=0).tolist(), strict=True))


def ratio(found: Scores, model: str, key: str) -> float:
    """The geometric mean over the sets of a value over that of the tuned SVC."""
    logs = [np.log(one[model][key] / one[GRID][key]) for one in found.values()]
    return float(np.exp(np.mean(logs)))


def average(found: Scores, model: str, key: str) -> float:
    """The mean over the sets."""
    return float(np.mean([one[model][key] for one in found.values()]))


def far_off(found: Scores) -> list[str]:
    """The sets where RVC() errs far more than the tuned SVC."""
    pairs = {name: (one[OURS]["error"], one[GRID]["error"]) for name, one in found.items()}
    return [
        name for name, (ours, peer) in pairs.items() if ours > FAR * peer and ours > peer + POINTS
    ]


def limits(records: Mapping[str, Record]) -> Iterator[tables.Limit]:
    """(what, limit, measured, met)."""
    found = scores(records)
    label = f"{len(found)} sets: "
    for key, what, limit in (("counted", "error", ERROR), ("log_loss", "log loss", LOG_LOSS)):
        value = ratio(found, OURS, key)
        yield f"{label}{what} / {GRID}", f"≤ {limit:g}", f"{value:.3f}", value <= limit
    every = ranks(found, "log_loss")
    own = every.pop(OURS)
    best = min(every, key=every.__getitem__)
    limit = f"≤ {every[best]:.2f} ({best})"
    yield label + "mean rank of the log loss", limit, f"{own:.2f}", own <= every[best]
    value = average(found, OURS, "ece")
    yield label + "mean ECE", f"≤ {ECE:g}", f"{value:.4f}", value <= ECE
    far = far_off(found)
    label += f"those with an error above {FAR:g} × SVC's and {100 * POINTS:g} points more"
    yield label, "0", f"{len(far)}" + (f" ({', '.join(far)})" if far else ""), not far


def _summary(records: Mapping[str, Record], found: Scores) -> str:
    error, loss = ranks(found, "error"), ranks(found, "log_loss")
    rows = []
    sets = by_name(records).values()
    for model in FOR_LABELS:
        some = next(iter(sets))[0]["fits"][model]["vectors"] is not None
        sizes = [_mean(splits, model, "vectors") for splits in sets] if some else []
        rows.append(
            (
                model,
                f"{error[model]:.2f}",
                f"{loss[model]:.2f}",
                tables.fixed(ratio(found, model, "counted"), 3),
                tables.fixed(ratio(found, model, "log_loss"), 3),
                tables.fixed(average(found, model, "ece"), 4),
                tables.fixed(float(np.mean(sizes)) if sizes else None, 1),
                tables.ratio(ratio(found, model, "fit")),
                str(sum(bool(one["fits"][model]["warnings"]) for one in records.values())),
            )
        )
    header = (
        "model", "rank of error", "rank of log loss", "error / SVC", "log loss / SVC", "ECE",
        "vectors", "fit time / SVC", "fits with warnings",
    )  # fmt: skip
    return tables.table(header, rows) + "\n"


def _each(records: Mapping[str, Record], found: Scores) -> str:
    others = [model for model in FOR_LABELS if model not in (OURS, GRID)]
    rows = []
    for name, some in by_name(records).items():
        cells = []
        for key, factor, decimals in (("error", 100, 1), ("log_loss", 1, 3)):
            values = {model: factor * one[key] for model, one in found[name].items()}
            best = min(others, key=values.__getitem__)
            cells += [tables.fixed(values[model], decimals) for model in (OURS, GRID)]
            cells.append(f"{tables.fixed(values[best], decimals)} ({best})")
        sizes = (tables.fixed(_mean(some, model, "vectors"), 1) for model in (OURS, GRID))
        shape = "{} × {}, {}".format(*some[0]["shape"])
        count = str(some[0]["tests"])
        link = fits.links(some, OURS) or tables.MISSING
        rows.append((name, shape, count, str(len(some)), *cells, *sizes, link))
    header = (
        "data", "N × D, K", "tests", "splits", "error, %, RVC()", "SVC", "best other",
        "log loss, RVC()", "SVC", "best other", "vectors, RVC()", "SVC", "link",
    )  # fmt: skip
    return tables.table(header, rows) + "\n"


def to_markdown(records: Mapping[str, Record]) -> str:
    """A row for each model over all sets, then a row for each set."""
    found = scores(records)
    parts = [NOTES]
    absent = [name for name in SEEDS if name not in found]
    if absent:
        text = (
            f"Not measured: {', '.join(absent)}. Where a file is missing, it is looked for in the "
            "directory named by the environment variable `SPARSEBAYES_DATA`."
        )
        parts.append(fill(text, 100) + "\n")
    seeds = {one["seed"] for one in records.values()}
    if any(DECIDED[0] <= seed <= DECIDED[1] for seed in seeds):
        parts.append("Seeds by which the defaults were decided are among those measured.\n")
    parts += [_summary(records, found), EACH, _each(records, found)]
    return "\n".join(parts)


def _several(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


NOTES = f"""\
{len(data.SETS)} sets: {len(data.RAETSCH)} of Rätsch's, Pima, Ripley's synthetic, ionosphere, sonar,
Wisconsin's breast cancer (the original, WBC, and scikit-learn's), iris, wine, and crabs (species ×
sex). {data.SIZE} rows to learn from, or {100 * data.SHARE:g} % of a smaller set; of the others at
most {data.N_TEST} to test. The splits are random and stratified, seeds 0 to {SPLITS - 1} in a full
run; inputs are standardised by the rows to learn from. The defaults of `RVC` were decided on the
same sets, with the seeds {DECIDED[0]} to {DECIDED[1]} and at most {DECIDED_ROWS} rows to learn
from: the splits here are other ones, of the same rows.

- {GRID}: C in {_several(GRID_C)} and γ in {_several(GRID_GAMMA)} times 1/D, which
  is `gamma="scale"`, by {FOLDS} folds; then
  `CalibratedClassifierCV(SVC(…), method="sigmoid", ensemble=False)`.
- Random forest: {TREES} trees. Gradient boosting: `HistGradientBoostingClassifier()`. Gaussian
  process: `GaussianProcessClassifier`, constant × RBF with one length scale; several classes go one
  against the rest.
- All scores are means over the splits first. Ranks are means over the sets, ratios geometric means
  over the sets, ECE (15 bins) and vectors means over the sets. With few test rows ECE is above 0
  even where the probabilities are true.
- Errors in ratios are counted as (wrong + ½)/(tests + 1), so that none is zero. Probabilities below
  {fits.FLOOR:g} count as this in the log loss: a forest may give a class none at all.
- Times are CPU seconds of one fit on one thread; those of the SVC are of the whole search.
"""

EACH = f"""\
Each set, means over the splits. The best other is the best of the five models that are not `RVC()`
or the SVC, `{AUGMENTED}` among them; it is chosen by the test rows, which flatters it. The
link is the one that `RVC()` chose, where it tells.
"""
