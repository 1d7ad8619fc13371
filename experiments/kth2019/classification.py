"""KTH19 Tables 1-2: its seven classification sets, one kernel for all: error, vectors, fit time.

KTH19 runs 5-fold cross-validation (scikit-learn's ``cross_validate``: folds in order) on each set
with one kernel, "γ = 2", for all of them, on the inputs as they are. Its N show that the Rätsch
sets are the first training part of the 100. Its RVM is T01's algorithm (ours: solver="mackay"), its
RVMF the fast one (`_fast`). What γ is, `_tables` says. Ours with ``exp(-2 d²)``, the SVM's kernel,
and with standardised inputs and the default width are shown as well.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from experiments._classification import Score, Split, column, fit_rvc, fit_svm, unit
from experiments._report import BLUE, GREEN, GREY, Options, Report, new_figure, progress, repeat
from experiments.kth2019._fast import OneClimb
from experiments.kth2019._tables import (
    SVM_LENGTH_SCALE,
    TABLES,
    TABLES_LENGTH_SCALE,
    add_times,
    claim_fastest,
    means,
)
from sparsebayes.datasets import load_benchmark

Array = np.ndarray

TIMINGS = 10  # an SVM's fit is so short that the mean of several is taken
MACHINES = ("RVM", "RVMF", "SVM")


@dataclass(frozen=True)
class Task:
    """A data set and its rows of KTH19, for RVM, RVMF and SVM: errors, vectors, fit seconds."""

    name: str
    file: str | None
    errors: tuple[float, float, float]
    vectors: tuple[float, float, float]
    seconds: tuple[float, float, float]


TASKS = (
    Task("linear", None, (0.38, 0.26, 0.09), (80.0, 1.8, 71.0), (2.51, 1.73, 0.0013)),
    Task(
        "Thyroid",
        "raetsch_thyroid",
        (0.28, 0.16, 0.04),
        (112.0, 3.4, 63.4),
        (5.33, 6.43, 0.00082),
    ),
    Task(
        "Titanic",
        "raetsch_titanic",
        (0.29, 0.29, 0.25),
        (120.0, 2.6, 55.4),
        (5.59, 3.44, 0.00066),
    ),
    Task(
        "Banana",
        "raetsch_banana",
        (0.46, 0.43, 0.09),
        (318.6, 0.8, 117.4),
        (39.04, 7.057, 0.0019),
    ),
    Task(
        "Waveform",
        "raetsch_waveform",
        (0.08, 0.19, 0.33),
        (316.4, 4.4, 320.0),
        (300.40, 30.26, 0.0094),
    ),
    Task(
        "Breast Cancer",
        None,
        (0.37, 0.37, 0.37),
        (452.0, 11.4, 455.2),
        (80.54, 123.26, 0.010),
    ),
    Task(
        "German",
        "raetsch_german",
        (0.31, 0.3, 0.31),
        (553.6, 4.4, 560.0),
        (130.01, 47.55, 0.031),
    ),
)


def load(task: Task) -> tuple[Array, Array]:
    """Inputs and labels."""
    if task.name == "linear":
        X = np.random.default_rng(0).uniform(-1, 1, (100, 2))
        return X, (X.sum(axis=1) > 0).astype(int)
    if task.file is None:
        return load_breast_cancer(return_X_y=True)
    data = load_benchmark(task.file)
    rows = data["train_idx"][0]
    return data["X"][rows].astype(float), data["y"][rows]


def one(task: Task, fold: int) -> dict[str, Score]:
    """All machines on one fold."""
    X, y = load(task)
    train, test = list(StratifiedKFold(5).split(X, y))[fold]
    split: Split = X[train], y[train], X[test], y[test]
    scaler = StandardScaler().fit(X[train])
    scaled: Split = scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
    return {
        "RVM": fit_rvc(split, TABLES_LENGTH_SCALE, solver="mackay")[1],
        "RVMF": fit_rvc(split, TABLES_LENGTH_SCALE, solver=OneClimb())[1],
        "SVM": _timed_svm(split),
        "RVM, the SVM's kernel": fit_rvc(split, SVM_LENGTH_SCALE, solver="mackay")[1],
        "our default solver": fit_rvc(split, TABLES_LENGTH_SCALE)[1],
        "standardised, default width": fit_rvc(scaled, unit(scaled[0]))[1],
    }


def _timed_svm(split: Split) -> Score:
    model, score = fit_svm(split, SVM_LENGTH_SCALE, 1.0)
    begin = time.process_time()
    for _ in range(TIMINGS):
        model.fit(split[0], split[1])
    return replace(score, seconds=(time.process_time() - begin) / TIMINGS)


def run(options: Options) -> Report:
    """Five folds of each set."""
    report = Report("KTH19 Tables 1-2: classification with one kernel, 5 folds")
    count = min(5, options.count(5, 2))
    results: dict[str, dict[str, list[Score]]] = {}
    for task in TASKS:
        try:
            load(task)
        except FileNotFoundError as error:
            progress(f"{task.name}: left out. {error}")
            report.note(f"{task.name}: left out, the data are missing. {error}")
            continue
        tasks = [(task, fold) for fold in range(count)]
        found = repeat(one, tasks, jobs=options.jobs, label=task.name)
        scores = {name: [result[name] for result in found] for name in found[0]}
        results[task.name] = scores
        _add(report, task, scores)
    report.note(
        'linear: KTH19 says only that "data is separated by a hyperplane in R^2"; ours is '
        "uniform on a square, cut along its diagonal."
    )
    report.note("Breast Cancer: 569 × 30 is the diagnostic Wisconsin set, not Rätsch's.")
    _claims(report, results)
    report.note(
        "KTH19 Table 1: with the SVM's kernel the raw inputs of Breast Cancer, German and Waveform "
        "are nearly all unlike each other: it says little more than which class is the larger."
    )
    report.note(
        "KTH19 Table 1: KTH19 does not state the SVM's C; here it is scikit-learn's, 1."
        + _kernels(results)
    )
    report.note(
        "KTH19 Table 1: KTH19's fast RVM keeps few vectors, on Banana 0.8 in the mean, but its "
        "error there is 0.43, where its SVM has 0.09; its RVM prunes next to nothing. KTH19 puts "
        "this down to its thresholds for pruning and convergence."
    )
    report.note("Fit times: processor seconds.")
    report.note("Vectors are kernel functions, equal ones counted once; the bias is not counted.")
    report.draw(_figure(results), "", *TABLES)
    return report


def _add(report: Report, task: Task, scores: dict[str, list[Score]]) -> None:
    for at, name in enumerate(MACHINES):
        label = f"{task.name}, {name}"
        error, vectors = (column(scores[name], what) for what in ("error", "vectors"))
        report.row = TABLES[0]
        report.add(f"{label}: error", task.errors[at], error / 100, best="low")
        report.add(f"{label}: vectors", task.vectors[at], vectors, best="low")
    add_times(report, task.name, MACHINES, task.seconds, scores)
    report.row = ""
    for name in list(scores)[len(MACHINES) :]:
        label = f"{task.name}, {name}"
        report.add(f"{label}: error", None, column(scores[name], "error") / 100)
        report.add(f"{label}: vectors", None, column(scores[name], "vectors"))
    failed = [name for name in scores if not column(scores[name], "converged").all()]
    if failed:
        report.note(f"{task.name}: not all fits converged: {', '.join(failed)}.")


def _claims(report: Report, results: dict[str, dict[str, list[Score]]]) -> None:
    """What the text says of the tables."""
    report.row = TABLES[0]
    slow, fast = means(results, ("RVM", "RVMF"), "error").T
    report.claim(
        "classification: the fast RVM gives similar results to the RVM: errors within 5 points on "
        "most sets",
        bool(np.mean(np.abs(fast - slow) <= 5) > 0.5),
        len(results),
    )
    claim_fastest(report, "classification", results)
    slow, fast = means(results, ("RVM", "RVMF"), "seconds").T
    report.claim(
        "classification: the fast RVM is faster than the RVM on most sets",
        bool(np.mean(fast < slow) > 0.5),
        len(results),
    )
    report.row = ""


def _kernels(results: dict[str, dict[str, list[Score]]]) -> str:
    if "Waveform" not in results:
        return ""
    scores = results["Waveform"]
    ours, same = (
        column(scores[name], "error").mean() / 100 for name in ("RVM", "RVM, the SVM's kernel")
    )
    return (
        " Its RVM has an error of 0.08 on Waveform where its SVM has 0.33, so the two kernels "
        f"cannot have been the same: with exp(-2 d²) for both, ours has {same:.2f}, and with T01's "
        f"exp(-d²/2²) {ours:.3f}. The RVMs of both tables have the latter, in which the RVM's "
        "vectors on cos and Airfoil are KTH19's to a tenth."
    )


def _figure(results: dict[str, dict[str, list[Score]]]):
    figure = new_figure(10, 4)
    papers = {task.name: task for task in TASKS}
    styles = dict(zip(MACHINES, ((GREEN, "s"), (BLUE, "o"), (GREY, "^")), strict=True))
    left, right = figure.subplots(1, 2, sharey=True)
    for position, (name, scores) in enumerate(results.items()):
        for at, (machine, (color, sign)) in enumerate(styles.items()):
            error = column(scores[machine], "error").mean() / 100
            seconds = column(scores[machine], "seconds").mean()
            task = papers[name]
            for ax, paper, ours in (
                (left, task.errors[at], error),
                (right, task.seconds[at], seconds),
            ):
                ax.plot(paper, position - 0.17, sign, color=color, markerfacecolor="none")
                ax.plot(ours, position + 0.17, sign, color=color)
    for ax, title, hollow in ((left, "error", True), (right, "fit time (seconds)", False)):
        ax.set_xlabel(title)
        for machine, (color, sign) in styles.items():
            face = "none" if hollow else color
            label = f"{machine}, {'KTH19' if hollow else 'ours'}"
            ax.plot([], [], sign, color=color, markerfacecolor=face, label=label)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)
    right.set_xscale("log")
    left.set_yticks(range(len(results)), list(results))
    left.invert_yaxis()
    return figure
