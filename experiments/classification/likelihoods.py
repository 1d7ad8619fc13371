"""Links and inferences, and ways to have more than two classes, with the classical machine.

Links and inferences are compared on two moons (200 rows, 5000 new ones), the ways to have three
classes on simulated gases (240 rows, 4000 new ones), each at one width. A loss is the mean negative
log probability of a new label.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_moons

from experiments._classification import Score, Split, column, fit_rvc
from experiments._report import Options, Report, repeat
from sparsebayes.datasets import make_gases

LINKS = {
    "logit, laplace": {},
    "probit, laplace": {"link": "probit"},
    "probit, mean_field": {"link": "probit", "inference": "mean_field"},
    "probit, tap": {"link": "probit", "inference": "tap"},
}
CLASSES = {
    "multinomial": {},
    "multinomial, shared": {"share_alpha": True},
    "ovr": {"multi_class": "ovr"},
}
_NEW = 100_000  # seeds of new rows begin here


def moons(seed: int) -> Split:
    """Two classes."""
    X, y = make_moons(200, noise=0.3, random_state=seed)
    return X, y, *make_moons(5000, noise=0.3, random_state=_NEW + seed)


def gases(seed: int) -> Split:
    """Three classes."""
    X, y = make_gases(240, random_state=seed)
    return X, y, *make_gases(4000, random_state=_NEW + seed)


# Rows, the width of the kernel and the machines of each task.
TASKS = {"two moons": (moons, 0.5, LINKS), "gases": (gases, 12.0, CLASSES)}


def one(task: str, seed: int) -> dict[str, tuple[Score, float, float]]:
    """Scores, functions (the bias counted) and weights of all machines on one data set."""
    make, width, machines = TASKS[task]
    found = {}
    for name, parameters in machines.items():
        model, score = fit_rvc(make(seed), width, **parameters)
        weights = np.isfinite(model.alpha_).sum()
        found[name] = score, len(model.relevance_), weights
    return found


def run(options: Options) -> Report:
    """Sizes, errors and losses."""
    report = Report("Likelihoods of labels and ways to have three classes")
    for task, (_, _, machines) in TASKS.items():
        seeds = [(task, 1000 * options.seed + k) for k in range(options.count(10, 2))]
        results = repeat(one, seeds, jobs=options.jobs, label=task)
        for name in machines:
            scores, functions, weights = zip(*(result[name] for result in results), strict=True)
            report.add(f"{task}, {name}: functions", None, functions)
            report.add(f"{task}, {name}: weights", None, weights)
            report.add(f"{task}, {name}: error (%)", None, column(scores, "error"))
            report.add(f"{task}, {name}: loss", None, column(scores, "loss"))
            report.add(f"{task}, {name}: fit (s)", None, column(scores, "seconds"))
    report.note("Functions and weights include the bias. Fit times: processor seconds.")
    return report
