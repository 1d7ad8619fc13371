"""Posterior samples: what an effective draw costs, of both samplers; evaluations of a front."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, repeated, timed
from sparsebayes import RVC, RVR, ParetoClassifier, sample_posterior
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_gauss_snake, make_sinc
from sparsebayes.engine.mcmc.hamiltonian import effective_sample_size

Record = dict[str, Any]

SECTIONS = ("samplers", "fronts")
SIZES = (64, 128, 256, 512)
DRAWS, CHAINS, POINTS = 200, 2, 10
FRONT_SIZES, EVALUATIONS = (125, 250, 500, 1000), 20_000


def samplers(quick: bool) -> Iterator[tuple[str, Record]]:
    """Seconds of a fit and of both samplers, and the effective draws of the worst prediction."""
    for size in SIZES[:1] if quick else SIZES:
        X, y, _ = make_sinc(size, noise=0.1, random_state=0)
        model = RVR(RBF(2.0))
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, fit = repeated(model.fit, X, y)
            record: Record = {"fit": fit}
            for method in ("gibbs", "reversible_jump"):
                samples, seconds = timed(_sample, model, X, y, method, 40 if quick else DRAWS)
                rows = X[np.linspace(0, size - 1, POINTS).astype(int)]
                ess = effective_sample_size(samples.predictions(rows))
                record[method] = {"seconds": seconds, "ess": float(ess.min())}
                record["functions"] = float(samples.data.posterior["n_active"].mean())
        yield str(size), record


def _sample(model: RVR, X: np.ndarray, y: np.ndarray, method: str, draws: int) -> Any:
    return sample_posterior(
        model, X, y, draws, CHAINS, method=method, n_warmup=draws // 2, n_jobs=1, random_state=0
    )


def fronts(quick: bool) -> Iterator[tuple[str, Record]]:
    """Seconds of a front, and of the scores of as many classifiers by dense products alone."""
    count = 2000 if quick else EVALUATIONS
    for size in FRONT_SIZES[:1] if quick else FRONT_SIZES:
        X, y = make_gauss_snake(size, separation=1.5, random_state=0)
        model = ParetoClassifier(n_evaluations=count, validation_fraction=None, random_state=0)
        with one_thread():
            _, seed = timed(RVC(link="logit", calibrate=None).fit, X, y)
            front, seconds = timed(model.fit, X, y)
            columns = np.random.default_rng(0).standard_normal((size, size))
            weights = np.random.default_rng(1).standard_normal((model.population, size))
            _, product = repeated(lambda W, C: W @ C, weights, columns)
        yield (
            str(size),
            {
                "seconds": seconds,
                "seed": seed,
                "products": product * count / model.population,
                "points": len(front.front_),
                "count": count,
            },
        )


def run(section: str, quick: bool) -> Iterator[tuple[str, Record]]:
    """Yield (key, record) of one section."""
    yield from {"samplers": samplers, "fronts": fronts}[section](quick)


def section(results: dict[str, Any]) -> list[str]:
    """What the page says on samples and fronts."""
    parts = []
    for name, render in (("samplers", _samplers), ("fronts", _fronts)):
        if name in results:
            parts.append(render(results[name]))
    return ["## Posterior samples and fronts of classifiers\n", *parts] if parts else []


def _samplers(records: dict[str, Record]) -> str:
    header = (
        "samples", "functions in the model", "fit, ms", "default: ms per effective draw",
        "in fits", "reversible jumps: ms per effective draw", "jumps / default",
    )  # fmt: skip
    rows = []
    for size, one in records.items():
        cost = {
            name: one[name]["seconds"] / one[name]["ess"] for name in ("gibbs", "reversible_jump")
        }
        rows.append(
            (
                size,
                tables.fixed(one["functions"], 1),
                tables.number(1e3 * one["fit"], 3),
                tables.number(1e3 * cost["gibbs"], 3),
                tables.ratio(cost["gibbs"] / one["fit"]),
                tables.number(1e3 * cost["reversible_jump"], 3),
                tables.ratio(cost["reversible_jump"] / cost["gibbs"]),
            )
        )
    return f"### Samplers\n\n{SAMPLERS}\n{tables.table(header, rows)}\n"


def _fronts(records: dict[str, Record]) -> str:
    header = ("samples", "evaluations", "front, s", "of it RVC, s", "front / products", "points")
    rows = [
        (
            size,
            str(one["count"]),
            tables.seconds(one["seconds"]),
            tables.seconds(one["seed"]),
            tables.ratio(one["seconds"] / one["products"]),
            str(one["points"]),
        )
        for size, one in records.items()
    ]
    return f"### Fronts\n\n{FRONTS}\n{tables.table(header, rows)}\n"


SAMPLERS = f"""\
sin(x)/x with noise 0.1 and a Gaussian of width 2 on each sample, {CHAINS} chains of {DRAWS} draws,
one after another; a sweep of the reversible jumps has as many steps as there are functions.
Effective draws are those of the worst of {POINTS} predictions; warm-up, half as long again, and the
first fit are in the time.
"""
FRONTS = """\
Gauss snake, `ParetoClassifier` with all samples for training; products are those of as many dense
weight vectors with all basis functions, in batches of a population.
"""
