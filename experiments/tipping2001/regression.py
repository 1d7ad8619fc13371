"""T01 4.4.1: six regression benchmarks, Gaussian kernel, width by 5-fold cross-validation.

The protocol is that of T01 appendix E: 100 draws of each data set. Inputs are standardised, and the
width is searched on one grid for all sets, in units of ``sqrt(D / 2)``, the "scale" of `RBF` for
standardised inputs. Nothing is chosen by the test set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments._report import (
    BLUE,
    GREY,
    ORANGE,
    Options,
    Report,
    new_figure,
    progress,
    repeat,
    standard_error,
)
from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import (
    load_benchmark,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_sinc,
)

Array = np.ndarray
Split = tuple[Array, Array, Array, Array]  # X, y, X_test, y_test

WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0)


def _sinc(kind: str) -> Callable[[np.random.Generator], Split]:
    def draw(rng: np.random.Generator) -> Split:
        X, y, _ = make_sinc(100, noise=0.1, noise_kind=kind, random_state=rng)
        X_test, _, f_test = make_sinc(1000, noise=0.0)
        return X, y, X_test, f_test

    return draw


def _friedman(make: Callable) -> Callable[[np.random.Generator], Split]:
    def draw(rng: np.random.Generator) -> Split:
        X, y, _ = make(240, random_state=rng)
        X_test, _, f_test = make(1000, noise=0.0, random_state=rng)
        return X, y, X_test, f_test

    return draw


def _boston(rng: np.random.Generator) -> Split:
    data = load_benchmark("boston")
    order = rng.permutation(len(data["y"]))
    train, test = order[:481], order[481:]
    return data["X"][train], data["y"][train], data["X"][test], data["y"][test]


@dataclass(frozen=True)
class Task:
    """A data set, its measure of error, and T01's RVM column."""

    name: str
    measure: str
    error: float
    vectors: float
    draw: Callable[[np.random.Generator], Split]


# T01 prints the errors of sinc times ten; they are RMS, the others mean squares.
TASKS = (
    Task("sinc, Gaussian noise", "RMS", 0.0326, 6.7, _sinc("gaussian")),
    Task("sinc, uniform noise", "RMS", 0.0187, 7.0, _sinc("uniform")),
    Task("Friedman #1", "MSE", 2.80, 59.4, _friedman(make_friedman1)),
    Task("Friedman #2", "MSE", 3505.0, 6.9, _friedman(make_friedman2)),
    Task("Friedman #3", "MSE", 0.0164, 11.5, _friedman(make_friedman3)),
    Task("Boston housing", "MSE", 7.46, 39.0, _boston),
)


def one(number: int, seed: int, repetition: int) -> tuple[float, float, float]:
    """Error, relevance vectors (the bias not counted) and chosen width of one repetition."""
    task = TASKS[number]
    rng = np.random.default_rng([seed, number, repetition])
    X, y, X_test, y_test = task.draw(rng)
    scales = np.array(WIDTHS) * np.sqrt(X.shape[1] / 2)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RVR(RBF(), calibrate=None)),
        {"rvr__basis__length_scale": scales},
        scoring="neg_mean_squared_error",
        cv=KFold(5, shuffle=True, random_state=int(rng.integers(2**31))),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(X, y)
    error = float(np.mean((search.predict(X_test) - y_test) ** 2))
    model = search.best_estimator_[-1]
    width = WIDTHS[search.best_index_]
    return np.sqrt(error) if task.measure == "RMS" else error, len(model.relevance_vectors_), width


def run(options: Options) -> Report:
    """Make the table and a figure of all repetitions relative to the paper."""
    count = options.count(100, 5)
    report = Report("T01 4.4.1: regression benchmarks, RVR with a Gaussian kernel")
    results: dict[str, Array] = {}
    for number, task in enumerate(TASKS):
        try:
            if task.draw is _boston:
                load_benchmark("boston")
        except FileNotFoundError as error:
            progress(f"{task.name}: left out. {error}")
            report.note(f"{task.name}: left out, the data are missing. {error}")
            continue
        tasks = [(number, options.seed, i) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=task.name))
        results[task.name] = values
        report.add(f"{task.name}: {task.measure}", task.error, values[:, 0])
        report.add(f"{task.name}: relevance vectors", task.vectors, values[:, 1])
        report.note(_verdict(task, values))
    report.note("Relevance vectors are kernel functions; the bias is not counted.")
    report.draw(_figure(results))
    return report


def _verdict(task: Task, values: Array) -> str:
    """Whether the row meets the criterion, and the widths that cross-validation chose."""
    error, vectors = values[:, 0].mean(), values[:, 1].mean()
    slack = 0.1 * task.error
    if len(values) > 1:
        slack = max(slack, 2 * standard_error(values[:, 0]))
    good = error <= task.error + slack
    sparse = vectors <= 1.5 * task.vectors
    low, middle, high = np.quantile(values[:, 2], [0.1, 0.5, 0.9])
    return (
        f"{task.name}: error {error / task.error:.2f} × paper ({'met' if good else 'NOT met'}), "
        f"vectors {vectors / task.vectors:.2f} × paper ({'met' if sparse else 'NOT met'}); "
        f"width {middle:.2g} [{low:.2g}, {high:.2g}] × sqrt(D/2)"
    )


def _figure(results: dict[str, Array]):
    figure = new_figure(10, 4)
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    names = list(results)
    tasks = {task.name: task for task in TASKS}
    for ax, column, title in zip(
        figure.subplots(1, 2, sharey=True), (0, 1), ("error", "relevance vectors"), strict=True
    ):
        paper = [tasks[n].error if column == 0 else tasks[n].vectors for n in names]
        ratios = [results[n][:, column] / p for n, p in zip(names, paper, strict=True)]
        positions = np.arange(len(names))
        ax.boxplot(
            ratios,
            positions=positions,
            orientation="horizontal",
            widths=0.6,
            medianprops={"color": BLUE},
            flierprops={"marker": ".", "markersize": 4, "markeredgecolor": GREY},
        )
        means = [r.mean() for r in ratios]
        ax.plot(means, positions, "D", color=BLUE, markersize=5, label="mean")
        limit = 1.1 if column == 0 else 1.5
        ax.axvline(1, color=ORANGE, label="T01")
        ax.axvline(limit, color=ORANGE, linestyle=":", label=f"{limit:g} × T01")
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(f"{title}, relative to T01")
        ax.set_yticks(positions, names)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    ax.invert_yaxis()
    return figure
