"""KTH19 Figs. 1-3 and the regression rows of its Tables 1-2: error, vectors, fit time.

KTH19 runs 5-fold cross-validation (scikit-learn's ``cross_validate``: folds in order) with one
kernel, "γ = 2", for all sets, on the inputs as they are. What γ is in the tables, `_tables` says.
Its RVM is T01's algorithm (ours: solver="mackay"), its RVMF the fast one (`_fast`); RVM* is its RVM
with ``augment=True``. The figures are in `_figures`. KTH19 does not state the range of cos, nor the
noise of the made-up sets in its tables: here cos is that of Fig. 1, but uniform in [-5, 5], and
Friedman's functions are without noise, as scikit-learn makes them. The noise of sinc was inferred:
with the 0.2 of Fig. 2 the SVM has some 53 vectors, with the 0.1 of T01's benchmark some 35, and
KTH19 has 30; so it is 0.1. Numbers by which such a choice was made are not compared.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from experiments._classification import column
from experiments._report import Options, Report, progress, repeat
from experiments.kth2019._fast import OneClimb
from experiments.kth2019._figures import GAMMA, NOISE, cosine, figure_1, figure_2, figure_3
from experiments.kth2019._tables import (
    OTHER_STOPS,
    STOP,
    TABLES,
    TABLES_LENGTH_SCALE,
    add_times,
    claim_fastest,
    claim_of_both,
    means,
    name_misses,
    nearest_stop,
    note_claims,
)
from experiments.kth2019._updates import STOPS, vectors_by_stop
from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import load_benchmark, make_friedman2, make_friedman3, make_sinc

Array = np.ndarray

TABLE_NOISE = 0.1  # of sinc in the tables
TABLE_REACH = 5.0  # of cos in the tables: inputs in [-5, 5]
MACHINES = ("RVM", "RVM*", "RVMF", "SVM")
TIMED = ("RVM", "RVMF", "SVM")
SIMILAR = 0.1  # relative difference of errors that are called similar
QUICK_ROWS = 200
TIMINGS = 10  # an SVM's fit is so short that the mean of several is taken


@dataclass(frozen=True)
class Task:
    """A data set and its rows of KTH19.

    Attributes
    ----------
    name : str
    file : str or None
    size : int
    errors : tuple of float
        Mean squared errors, of `MACHINES`.
    vectors, seconds : tuple of float
        Of `TIMED`.
    copied : bool
        Whether errors and vectors are those of another set: these are not compared.
    lost_digit : bool
        Whether the SVM's vectors are printed without their last digit: they are not compared.
    fitted : tuple of str
        The machines, besides RVMF, whose vectors a choice of ours was made by: these are not
        compared.
    """

    name: str
    file: str | None
    size: int
    errors: tuple[float, float, float, float]
    vectors: tuple[float, float, float]
    seconds: tuple[float, float, float]
    copied: bool = False
    lost_digit: bool = False
    fitted: tuple[str, ...] = ()


_FRIEDMAN = (5.2e8, 1.8e10, 1.2e10, 1.6e5), (117.0, 41.6, 240.0)
TASKS = (
    Task(
        "cos",
        None,
        30,
        (1.41, 1.42, 1.42, 0.084),
        (4.4, 1.6, 13.0),
        (0.042, 0.027, 0.00036),
        fitted=("RVM", "SVM"),
    ),
    Task(
        "sinc",
        None,
        100,
        (0.33, 0.33, 0.33, 0.15),
        (12.4, 3.8, 30.0),
        (0.32, 0.29, 0.00068),
        fitted=("SVM",),
    ),
    Task("Friedman 2", None, 300, *_FRIEDMAN, (2.51, 2.90, 0.0024)),
    Task("Friedman 3", None, 300, *_FRIEDMAN, (2.33, 2.41, 0.0019), copied=True),
    Task(
        "Boston",
        "boston",
        506,
        (548.10, 2267.51, 3089.71, 94.11),
        (205.8, 26.8, 400.2),
        (6.59, 6.93, 0.0067),
    ),
    Task(
        "Airfoil",
        "uci_airfoil",
        1503,
        (9347.51, 8534.35, 7437.61, 48.31),
        (253.2, 70.4, 119.2),
        (67.86, 64.20, 0.047),
        lost_digit=True,
        fitted=("RVM",),
    ),
)


@dataclass(frozen=True)
class Score:
    """A machine on one fold: mean squared error, vectors (the bias not counted), fit seconds."""

    error: float
    vectors: int
    seconds: float


def load(task: Task, seed: int) -> tuple[Array, Array]:
    """Inputs and targets."""
    if task.name == "cos":
        return cosine(seed, task.size, reach=TABLE_REACH)
    if task.name == "sinc":
        return make_sinc(task.size, noise=TABLE_NOISE, random_state=seed)[:2]
    if task.name in ("Friedman 2", "Friedman 3"):
        make = make_friedman2 if task.name == "Friedman 2" else make_friedman3
        return make(task.size, noise=0.0, random_state=seed)[:2]
    assert task.file is not None
    data = load_benchmark(task.file)
    return data["X"].astype(float), data["y"].astype(float)


def make(name: str) -> RVR | SVR:
    """A machine of the tables, or the fast one with another stop."""
    if name == "SVM":
        return SVR(gamma=GAMMA)
    basis = RBF(TABLES_LENGTH_SCALE)
    if name == "RVMF" or name in OTHER_STOPS:
        return RVR(basis, solver=OneClimb(), tol=OTHER_STOPS.get(name, STOP), calibrate=None)
    return RVR(basis, solver="mackay", augment=name == "RVM*", calibrate=None)


def one(task: Task, machine: str, seed: int, fold: int, quick: bool) -> Score:
    """One machine on one fold."""
    X, y = load(task, seed)
    if quick:
        X, y = X[:QUICK_ROWS], y[:QUICK_ROWS]
    train, test = list(KFold(5).split(X))[fold]
    model = make(machine)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begin = time.process_time()
        model.fit(X[train], y[train])
        seconds = time.process_time() - begin
        if machine == "SVM":
            begin = time.process_time()
            for _ in range(TIMINGS):
                model.fit(X[train], y[train])
            seconds = (time.process_time() - begin) / TIMINGS
    vectors = model.support_ if isinstance(model, SVR) else model.relevance_vectors_
    error = float(np.mean((model.predict(X[test]) - y[test]) ** 2))
    return Score(error, len(vectors), seconds)


def printed(task: Task, seed: int, fold: int, quick: bool) -> list[int]:
    """Vectors of KTH19's own updates on one fold, with each of the stops that were tried."""
    X, y = load(task, seed)
    if quick:
        X, y = X[:QUICK_ROWS], y[:QUICK_ROWS]
    train, _ = list(KFold(5).split(X))[fold]
    with threadpool_limits(1):
        return vectors_by_stop(RBF(TABLES_LENGTH_SCALE), X[train], y[train])


def sinc_vectors(noise: float, seed: int) -> float:
    """The SVM's vectors on sinc, the mean over the folds."""
    X, y, _ = make_sinc(100, noise=noise, random_state=seed)
    return float(np.mean([make("SVM").fit(X[i], y[i]).support_.size for i, _ in KFold(5).split(X)]))


def run(options: Options) -> Report:
    """The tables' six sets, then the figures."""
    report = Report("KTH19: Figs. 1-3, and regression with one kernel, 5 folds")
    _tables(report, options)
    figure_1(report, options)
    figure_2(report, options)
    try:
        figure_3(report)
    except FileNotFoundError as error:
        progress(f"Fig. 3: left out. {error}")
        report.note(f"Fig. 3: left out, the data are missing. {error}")
    report.row = ""
    return report


def _tables(report: Report, options: Options) -> None:
    count = min(5, options.count(5, 2))
    results: dict[str, dict[str, list[Score]]] = {}
    stopped: dict[str, Array] = {}
    for task in TASKS:
        try:
            load(task, options.seed)
        except FileNotFoundError as error:
            progress(f"{task.name}: left out. {error}")
            report.note(f"{task.name}: left out, the data are missing. {error}")
            continue
        results[task.name] = {}
        for name in (*MACHINES, *OTHER_STOPS):
            tasks = [(task, name, options.seed, fold, options.quick) for fold in range(count)]
            label = f"{task.name}, {name}"
            results[task.name][name] = repeat(one, tasks, jobs=options.jobs, label=label)
        _add(report, task, results[task.name])
        if not task.copied:
            tasks = [(task, options.seed, fold, options.quick) for fold in range(count)]
            found = repeat(printed, tasks, jobs=options.jobs, label=f"{task.name}, as printed")
            stopped[task.name] = np.mean(found, axis=0)
    _stops(report, stopped)
    _claims(report, results)
    _explain(report, results, options.seed)


def _stops(report: Report, stopped: dict[str, Array]) -> None:
    """How near KTH19's updates come to its vectors, by where they stop."""
    paper = {task.name: task.vectors[0] for task in TASKS}
    logs = [np.abs(np.log((found + 0.5) / (paper[name] + 0.5))) for name, found in stopped.items()]
    off = ", ".join(
        f"{stop:g}: {by:.2f}" for stop, by in zip(STOPS, np.mean(logs, axis=0), strict=True)
    )
    each = "; ".join(
        f"{name} {', '.join(f'{value:.1f}' for value in found)} ({paper[name]:g})"
        for name, found in stopped.items()
    )
    report.note(
        "KTH19 Fig. 2: Vectors of KTH19's updates on the regression sets of Table 1 where no log α "
        f"moves by {', '.join(f'{stop:g}' for stop in STOPS)}, and KTH19's: {each}. In logarithms "
        f"and on average they differ from KTH19's by ({off})."
    )


def _add(report: Report, task: Task, scores: dict[str, list[Score]]) -> None:
    report.row = TABLES[0]
    for name, error in zip(MACHINES, task.errors, strict=True):
        paper = f"{error:g} (Friedman 2's)" if task.copied else error
        report.add(f"{task.name}, {name}: MSE", paper, column(scores[name], "error"), best="low")
    for name, vectors in zip(TIMED, task.vectors, strict=True):
        label = f"{task.name}, {name}"
        paper: float | str = f"{vectors:g} (Friedman 2's)" if task.copied else vectors
        if task.lost_digit and name == "SVM":
            paper = f"{vectors:g} (a digit lacks)"
        elif name in ("RVMF", *task.fitted) and not task.copied:
            paper = f"{vectors:g} (fitted)"
        report.add(f"{label}: vectors", paper, column(scores[name], "vectors"), best="low")
    add_times(report, task.name, TIMED, task.seconds, scores)
    report.row = ""
    for name in OTHER_STOPS:
        report.add(f"{task.name}, {name}: MSE", None, column(scores[name], "error"))
        report.add(f"{task.name}, {name}: vectors", None, column(scores[name], "vectors"))


def _claims(report: Report, results: dict[str, dict[str, list[Score]]]) -> None:
    copied = {task.name for task in TASKS if task.copied}
    own = {name: scores for name, scores in results.items() if name not in copied}
    plain, starred, fast, _ = means(own, MACHINES, "error").T
    report.row = TABLES[0]
    for name, errors in (("RVM", plain), ("fast RVM", fast)):
        report.claim(
            f"regression: the RVM* performs similarly to the {name}: errors within a tenth on most "
            "sets",
            bool(np.mean(np.abs(starred - errors) <= SIMILAR * errors) > 0.5),
            len(own),
        )
    claim_of_both(report, "regression", own)
    claim_fastest(report, "regression", results)


def _explain(report: Report, results: dict[str, dict[str, list[Score]]], seed: int) -> None:
    name_misses(report, "regression")
    papers = {task.name: (task.errors[2], task.vectors[1]) for task in TASKS if not task.copied}
    own = {name: scores for name, scores in results.items() if name in papers}
    note_claims(report, "regression", own, papers)
    vectors = {task.name: task.vectors[1] for task in TASKS}
    off = ", ".join(f"{gain:g}: {by:.2f}" for gain, by in nearest_stop(own, vectors).items())
    report.note(
        "KTH19 Table 1: The stop of the fast RVM was chosen among decades by its vectors here, "
        f"which differ from KTH19's, in logarithms and on average, by ({off})."
    )
    told = ", ".join(
        f"{sinc_vectors(noise, seed):.1f} with {noise:g}" for noise in (NOISE["sinc"], TABLE_NOISE)
    )
    report.note(
        "KTH19 Table 1: cos and sinc: KTH19 states neither the range of cos nor the noise of sinc "
        f"in its tables. cos is uniform in [-{TABLE_REACH:g}, {TABLE_REACH:g}] here. The noise of "
        f"sinc was chosen by the SVM's vectors, 30 in KTH19: here {told}, the noise of Fig. 2 and "
        "of T01's benchmark. Numbers of vectors by which a choice was made are marked as fitted."
    )
    report.note(
        "KTH19 Table 1: The errors and vectors of Friedman 3 are those of Friedman 2 again, which "
        "is an oversight: they are not compared. KTH19's errors of the RVM on Friedman, Boston and "
        "Airfoil are many times the variance of the targets; it supposes that its stopping "
        "criteria were not right."
    )
    report.note(
        "KTH19 Table 1: With this kernel and inputs as they are, most rows of Friedman, Boston and "
        "Airfoil are unlike all others. A function then fits its own row, and how many are kept "
        "follows the thresholds, which KTH19 does not state."
    )
    if "Airfoil" in results:
        ours = column(results["Airfoil"]["SVM"], "vectors").mean()
        report.note(
            f"KTH19 Table 1: Airfoil: scikit-learn's SVM has {ours:.1f} vectors here; KTH19's "
            "119.2 lacks a digit, and is not compared."
        )
    papers = {task.name: np.array(task.seconds) for task in TASKS}
    ratios = np.median(
        [
            [column(scores[name], "seconds").mean() for name in TIMED] / papers[key]
            for key, scores in results.items()
        ],
        axis=0,
    )
    told = ", ".join(f"{ratio:.2g} ({name})" for name, ratio in zip(TIMED, ratios, strict=True))
    report.note(
        f"KTH19 Table 2: regression: our times over KTH19's, at the median of the sets: {told}. "
        "The SVM is scikit-learn's in both, so its ratio is that of computers and versions."
    )
    report.note("Vectors are kernel functions; the bias is not counted. Times: processor seconds.")
