"""Does the default solver end below what another route finds on the same data?

`run` shows some fits of all routes, and another package's; `run_draws` counts over many draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.peers.regressors import Model, fast_rvr, our_rvr
from benchmarks.regression import warm_up
from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, timed
from benchmarks.tools.tasks import Task, boston, friedman, sinc
from sparsebayes import Gamma

GAMMAS = (0.1, 0.03, 0.01)
SEEDS = {240: 5, 1000: 2}
QUICK_SEEDS = {240: 1}
DEFAULT = "default"
RIVALS = ("mackay", "subspace", "fastrvm")  # em, many times slower, is shown beside them

# For `run_draws`: the problems, by number of a draw; of the Boston housing data a random half.
DRAWS, QUICK_DRAWS = 100, 3
EVERY = 10  # draws after which a record is stored
BOSTON_WIDTHS = 1, 2  # times √(D/2), the length scale
PROBLEMS: dict[str, Callable[[int], Task]] = {
    "sinc 100": lambda draw: sinc(100, draw, gamma=0.5 / 2.1**2),
    **{
        f"Friedman #1 240, γ = {gamma}": lambda draw, gamma=gamma: friedman(240, gamma, draw)
        for gamma in GAMMAS
    },
    **{
        f"Boston 240, ℓ = {width} √(D/2)": lambda draw, width=width: boston(240, width, draw)
        for width in BOSTON_WIDTHS
    },
}
PRIORS = {"flat": "flat", "bic": "bic", "Gamma(1, 1)": Gamma(1.0, 1.0)}
ROUTES = ("em", "mackay", "subspace")
CREDIBLE = 0.75  # of the samples: with more effective parameters an end counts as collapsed


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


def run_draws(
    quick: bool,
    draws: int | None = None,
    only: str | None = None,
    stored: dict[str, dict[str, Any]] | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fit the default and the other routes to many draws; yields (key, record) as it goes on.

    A record has its draws one by one, in their order: what is `stored` is not measured again.
    """
    count = draws or (QUICK_DRAWS if quick else DRAWS)
    for name, draw_task in PROBLEMS.items():
        if only is not None and not name.lower().startswith(only.lower()):
            continue
        for label, prior in PRIORS.items():
            key = f"{name}/{label}"
            before = (stored or {}).get(key, {})
            shortfalls = list(before.get("shortfalls", ()))
            times = list(before.get("times", ()))
            for draw in range(len(shortfalls), count):
                shortfall, seconds = _shortfall(draw_task(draw), prior)
                shortfalls.append(shortfall)
                times.append(seconds)
                if len(shortfalls) % EVERY == 0 or draw == count - 1:
                    yield key, _summary(name, label, shortfalls, times)


def _summary(name: str, label: str, shortfalls: list[float], times: list[float]) -> dict[str, Any]:
    return {
        "problem": name,
        "prior": label,
        "draws": len(shortfalls),
        "below": int(sum(value > 1.0 for value in shortfalls)),
        "worst": max(shortfalls),
        "middle": median(shortfalls),
        "fit": median(times),
        "shortfalls": list(shortfalls),
        "times": list(times),
    }


def _shortfall(task: Task, prior: Any) -> tuple[float, float]:
    """The best sane end of the other routes minus the default's, and the default's time.

    Error bars are not calibrated: nothing here depends on them, and it takes most of the time.
    """
    ends = []
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        default, seconds = timed(our_rvr(DEFAULT, prior=prior, calibrate=None).fit, task)
        for route in ROUTES:
            model = our_rvr(route, solver=route, prior=prior, random_state=0, calibrate=None)
            fitted = model.fit(task)
            if fitted.determined_.sum() <= CREDIBLE * task.y.size:
                ends.append(float(fitted.evidence_path_[-1]))
    # Where all others collapse there is nothing to fall short of.
    own = float(default.evidence_path_[-1])
    return max(ends, default=own) - own, seconds


def draws_to_markdown(records: dict[str, dict[str, Any]]) -> str:
    """One row for each problem and prior."""
    rows = [
        (
            record["problem"],
            record["prior"],
            str(record["draws"]),
            str(record["below"]),
            f"{record['worst']:.2f}",
            f"{record['middle']:.2f}",
            tables.seconds(record["fit"]),
        )
        for record in records.values()
    ]
    header = ("problem", "prior", "draws", "> 1 nat below", "worst, nats", "median, nats", "fit, s")
    return (
        "`python -m benchmarks --only draws`. In each draw: the objective (evidence and prior) at\n"
        "the end of em, mackay or subspace, whichever is highest and has no more effective\n"
        "parameters than three quarters of the samples, minus that of the default. Negative: the\n"
        "default is higher. The time is the default's.\n\n" + tables.table(header, rows) + "\n"
    )
