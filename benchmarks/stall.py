"""Does the default solver end below what another route finds on the same data?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.peers.regressors import Model, fast_rvr, our_rvr
from benchmarks.regression import warm_up
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, timed
from benchmarks.tools.tasks import friedman

GAMMAS = (0.1, 0.03, 0.01)
SEEDS = {240: 5, 1000: 2}
QUICK_SEEDS = {240: 1}
DEFAULT = "default"
RIVALS = ("mackay", "subspace", "fastrvm")  # em, many times slower, is shown beside them


def models(size: int) -> list[Model]:
    """The routes: the default first. EM is slow beyond a few hundred functions."""
    out = [
        our_rvr(DEFAULT),
        our_rvr("mackay", solver="mackay"),
        our_rvr("subspace", solver="subspace", random_state=0),
        our_rvr("em", solver="em"),
        fast_rvr(),
    ]
    return [model for model in out if model.name != "em" or size <= 240]


def run(quick: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fit all routes to all data sets; yields (key, record)."""
    warm_up()
    for size, seeds in (QUICK_SEEDS if quick else SEEDS).items():
        for gamma in GAMMAS:
            for seed in range(seeds):
                task = friedman(size, gamma, seed)
                fits = {}
                for model in models(size):
                    with one_thread():
                        fitted, seconds = timed(model.fit, task)
                    error = model.predict(fitted, task) - task.f_test
                    fits[model.name] = {
                        "fit": seconds,
                        "rmse": float(np.sqrt(np.mean(error**2))),
                        "kept": int(model.kept(fitted)),
                        "evidence": model.evidence(fitted, task),
                        "converged": model.converged(fitted, task),
                    }
                yield (
                    f"{size}/{gamma}/{seed}",
                    {"size": size, "gamma": gamma, "seed": seed, "fits": fits},
                )


def margin(record: dict[str, Any]) -> float:
    """Log evidence of the default solver minus the best of its rivals."""
    fits = record["fits"]
    return fits[DEFAULT]["evidence"] - max(fits[name]["evidence"] for name in RIVALS)


def to_markdown(records: dict[str, dict[str, Any]]) -> str:
    """One row for each data set, one column for each route."""
    names: dict[str, None] = {}
    for record in records.values():
        names |= dict.fromkeys(record["fits"])
    rows = []
    for record in records.values():
        cells = [_cell(record["fits"].get(name)) for name in names]
        head = (str(record["size"]), f"{record['gamma']:g}", str(record["seed"]))
        rows.append((*head, *cells, f"{margin(record):+.2f}"))
    header = ("N", "γ", "seed", *names, "default − best of mackay, subspace, fastrvm")
    return (
        "Cells: log evidence · RMSE · functions kept · fit time in seconds (one fit); * marks a\n"
        "fit that did not converge. The last column leaves em out.\n\n"
        + tables.table(header, rows)
        + "\n"
    )


def _cell(fit: dict[str, Any] | None) -> str:
    if fit is None:
        return "–"
    mark = "*" if fit["converged"] is False else ""
    time = tables.seconds(fit["fit"])
    return f"{fit['evidence']:.1f}{mark} · {fit['rmse']:.2f} · {fit['kept']} · {time}"
