"""Five sets: test errors of choices from a front by three kinds of rates, and fronts without seeds.

A quarter of the training samples is held out of the evolution. The classifier of least error is
chosen by the rates on that quarter, by those on all training samples together, or by those on the
samples of the evolution, always from the same front. Ripley's 1250 points are split at random into
250 and 1000; the other sets have Rätsch's splits. Inputs are as they are.
"""

from __future__ import annotations

import numpy as np

from experiments._classification import Split, wrong
from experiments._report import Options, Report, repeat
from sparsebayes import ParetoClassifier
from sparsebayes.datasets import load_benchmark
from sparsebayes.pareto import hull_area

Array = np.ndarray

SETS = {
    "Ripley": "ripley_synth",
    "Banana": "raetsch_banana",
    "Diabetes": "raetsch_diabetes",
    "Waveform": "raetsch_waveform",
    "Heart": "raetsch_heart",
}
RATES = ("held_out", "pooled", "train")
N_EVALUATIONS, N_QUICK = 10_000, 2_000


def split(name: str, draw: int) -> Split:
    """The training and the test part of one draw."""
    data = load_benchmark(SETS[name])
    if name == "Ripley":
        X, y = (np.concatenate([data[f"{k}_train"], data[f"{k}_test"]]) for k in "Xy")
        order = np.random.default_rng(draw).permutation(len(y))
        size = len(data["y_train"])
        train, test = order[:size], order[size:]
    else:
        X, y = data["X"].astype(float), data["y"]
        row = draw % len(data["train_idx"])
        train, test = data["train_idx"][row], data["test_idx"][row]
    return X[train], y[train], X[test], y[test]


def one(name: str, draw: int, n_evaluations: int) -> dict[str, float]:
    """Errors in per cent by each kind of rates, areas under the test hull, both without seeds."""
    X, y, X_test, y_test = split(name, draw)
    model = ParetoClassifier(n_evaluations=n_evaluations, random_state=draw).fit(X, y)
    result = {by: wrong(model.predict(X_test, by=by), y_test) for by in RATES}
    result["area"] = _area(model, X_test, y_test)
    model.set_params(seeds=None).fit(X, y)
    result["seedless"] = wrong(model.predict(X_test, by="pooled"), y_test)
    result["seedless_area"] = _area(model, X_test, y_test)
    return result


def _area(model: ParetoClassifier, X: Array, y: Array) -> float:
    front = model.evaluate(X, y)
    return hull_area(front.fpr, front.tpr)


def run(options: Options) -> Report:
    """Means over draws, and over their differences."""
    for name in SETS:
        split(name, 0)  # missing data are told before anything else
    n_evaluations = N_QUICK if options.quick else N_EVALUATIONS
    count = options.count(20, 2)
    report = Report(f"Choices from fronts of classifiers, {n_evaluations} evaluations")
    for name in SETS:
        tasks = [(name, options.seed + i, n_evaluations) for i in range(count)]
        results = repeat(one, tasks, jobs=options.jobs, label=name)
        _add_choices(report, name, results)
        _add_seeds(report, name, results)
    report.note(
        "A difference and its standard error are over the same draws. The area is that of the best "
        "classifiers on the test samples among all of a front, and so a little too large."
    )
    return report


def _add_choices(report: Report, name: str, results: list[dict[str, float]]) -> None:
    errors = {by: np.array([result[by] for result in results]) for by in RATES}
    for by in RATES:
        report.add(f"{name}, chosen by {by}: test error (%)", None, errors[by])
    for by in ("held_out", "train"):
        difference = errors[by] - errors["pooled"]
        report.add(f"{name}, chosen by {by} less by pooled: test error (%)", None, difference)


def _add_seeds(report: Report, name: str, results: list[dict[str, float]]) -> None:
    for text, key, without in (
        ("area under the test hull", "area", "seedless_area"),
        ("test error (%)", "pooled", "seedless"),
    ):
        seeded, seedless = (np.array([r[k] for r in results]) for k in (key, without))
        report.add(f"{name}, seeds='rvc': {text}", None, seeded)
        report.add(f"{name}, seeds=None: {text}", None, seedless)
        report.add(f"{name}, seeds=None less 'rvc': {text}", None, seedless - seeded)
