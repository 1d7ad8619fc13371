"""KTH19 Figs. 1-3 and the regression rows of its Tables 1-2: error, vectors, fit time.

KTH19 runs 5-fold cross-validation (scikit-learn's ``cross_validate``: folds in order) with one
kernel, "γ = 2", for all sets, on the inputs as they are. What γ is in the tables, `_tables` says;
in the figures it is that of ``exp(-2 d²)``. Its RVM is T01's algorithm (ours: solver="mackay"), its
RVMF the fast one (`_fast`); RVM* is its RVM with ``augment=True``. It does not state the range of
cos, nor the noise of the made-up sets in its tables: here cos is that of Fig. 1, uniform in
[-5, 5], and Friedman's functions are without noise, as scikit-learn makes them. The noise of sinc
was inferred: with the 0.2 of Fig. 2 the SVM has some 53 vectors, with the 0.1 of T01's benchmark
some 35, and KTH19 has 30; so it is 0.1.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from experiments._classification import column
from experiments._report import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Options,
    Report,
    new_figure,
    progress,
    repeat,
)
from experiments.kth2019._fast import OneClimb
from experiments.kth2019._tables import (
    SVM_LENGTH_SCALE,
    TABLES,
    TABLES_LENGTH_SCALE,
    add_times,
    claim_fastest,
    means,
)
from sparsebayes import RVC, RVR
from sparsebayes.basis import RBF, LinearSpline
from sparsebayes.datasets import load_benchmark, make_friedman2, make_friedman3, make_sinc

Array = np.ndarray

GAMMA = 2.0
NOISE = {"cos": 0.15, "sinc": 0.2}  # of Figs. 1 and 2
TABLE_NOISE = 0.1  # of sinc in the tables
MACHINES = ("RVM", "RVM*", "RVMF", "SVM")
TIMED = ("RVM", "RVMF", "SVM")
SVM_OF_SINC = 39  # KTH19's number for the SVM in Fig. 2, from the literature
SIMILAR = 0.1  # relative difference of errors that are called similar
NEAR = 2.0  # percentage points of error that are called highly similar
SPARSER = 0.5  # the part of the other machine's vectors that is called clearly sparser
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
    """

    name: str
    file: str | None
    size: int
    errors: tuple[float, float, float, float]
    vectors: tuple[float, float, float]
    seconds: tuple[float, float, float]
    copied: bool = False
    lost_digit: bool = False


_FRIEDMAN = (5.2e8, 1.8e10, 1.2e10, 1.6e5), (117.0, 41.6, 240.0)
TASKS = (
    Task("cos", None, 30, (1.41, 1.42, 1.42, 0.084), (4.4, 1.6, 13.0), (0.042, 0.027, 0.00036)),
    Task("sinc", None, 100, (0.33, 0.33, 0.33, 0.15), (12.4, 3.8, 30.0), (0.32, 0.29, 0.00068)),
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
    ),
)


@dataclass(frozen=True)
class Score:
    """A machine on one fold: mean squared error, vectors (the bias not counted), fit seconds."""

    error: float
    vectors: int
    seconds: float


def cosine(seed: int, size: int) -> tuple[Array, Array]:
    """Noisy values of cos at random inputs."""
    rng = np.random.default_rng([seed, size])
    X = rng.uniform(-5, 5, (size, 1))
    return X, np.cos(X[:, 0]) + NOISE["cos"] * rng.standard_normal(size)


def load(task: Task, seed: int) -> tuple[Array, Array]:
    """Inputs and targets."""
    if task.name == "cos":
        return cosine(seed, task.size)
    if task.name == "sinc":
        return make_sinc(task.size, noise=TABLE_NOISE, random_state=seed)[:2]
    if task.name in ("Friedman 2", "Friedman 3"):
        make = make_friedman2 if task.name == "Friedman 2" else make_friedman3
        return make(task.size, noise=0.0, random_state=seed)[:2]
    assert task.file is not None
    data = load_benchmark(task.file)
    return data["X"].astype(float), data["y"].astype(float)


def make(name: str, length_scale: float = TABLES_LENGTH_SCALE) -> RVR | SVR:
    """A machine of the tables; `length_scale` is that of the RVMs."""
    if name == "SVM":
        return SVR(gamma=GAMMA)
    solver = OneClimb() if name == "RVMF" else "mackay"
    return RVR(RBF(length_scale), solver=solver, augment=name == "RVM*", calibrate=None)


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


def run(options: Options) -> Report:
    """The tables' six sets, then the figures."""
    report = Report("KTH19: Figs. 1-3, and regression with one kernel, 5 folds")
    _tables(report, options)
    report.row = "KTH19 Fig. 1"
    _figure_1(report, options.seed)
    report.row = "KTH19 Fig. 2"
    _figure_2(report, options)
    report.row = "KTH19 Fig. 3"
    try:
        _figure_3(report)
    except FileNotFoundError as error:
        progress(f"Fig. 3: left out. {error}")
        report.note(f"Fig. 3: left out, the data are missing. {error}")
    report.row = ""
    return report


def _tables(report: Report, options: Options) -> None:
    count = min(5, options.count(5, 2))
    results: dict[str, dict[str, list[Score]]] = {}
    for task in TASKS:
        try:
            load(task, options.seed)
        except FileNotFoundError as error:
            progress(f"{task.name}: left out. {error}")
            report.note(f"{task.name}: left out, the data are missing. {error}")
            continue
        results[task.name] = {}
        for name in MACHINES:
            tasks = [(task, name, options.seed, fold, options.quick) for fold in range(count)]
            label = f"{task.name}, {name}"
            results[task.name][name] = repeat(one, tasks, jobs=options.jobs, label=label)
        _add(report, task, results[task.name])
    _claims(report, results)
    _explain(report, results)


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
        report.add(f"{label}: vectors", paper, column(scores[name], "vectors"), best="low")
    add_times(report, task.name, TIMED, task.seconds, scores)


def _claims(report: Report, results: dict[str, dict[str, list[Score]]]) -> None:
    copied = {task.name for task in TASKS if task.copied}
    own = {name: scores for name, scores in results.items() if name not in copied}
    plain, starred, *_ = means(own, MACHINES, "error").T
    report.row = TABLES[0]
    report.claim(
        "regression: the RVM* performs similarly to the RVM: errors within a tenth on most sets",
        bool(np.mean(np.abs(starred - plain) <= SIMILAR * plain) > 0.5),
        len(own),
    )
    claim_fastest(report, "regression", results)


def _explain(report: Report, results: dict[str, dict[str, list[Score]]]) -> None:
    report.note(
        "KTH19 Table 1: the errors and vectors of Friedman 3 are those of Friedman 2 again, which "
        "is an oversight: they are not compared. KTH19's errors of the RVM on Friedman, Boston and "
        "Airfoil are many times the variance of the targets; it supposes that its stopping "
        "criteria were not right."
    )
    report.note(
        "KTH19 Table 1: with this kernel and inputs as they are, most rows of Friedman, Boston and "
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


def _figure_1(report: Report, seed: int) -> None:
    """cos: what becomes of the error bars far away."""
    X, y = cosine(seed, 40)
    models = {name: make(name, SVM_LENGTH_SCALE).fit(X, y) for name in ("RVM", "RVM*")}
    far = np.concatenate([np.linspace(-15, -8, 50), np.linspace(8, 15, 50)])[:, None]
    stds = {
        name: [model.predict(at, return_std=True)[1] for at in (X, far)]
        for name, model in models.items()
    }
    vectors = len(models["RVM"].relevance_vectors_)
    report.add("RVM: relevance vectors", "24, of its draw", vectors)
    for name, (near, away) in stds.items():
        report.add(f"{name}: mean std at the data", None, float(near.mean()))
        report.add(f"{name}: mean std far away", None, float(away.mean()))
    away = stds["RVM"][1]
    report.claim(
        "far from the data the RVM's variance is close to constant: std within 1 % for |x| from 8 "
        "to 15",
        bool(np.ptp(away) <= 0.01 * away.mean()),
    )
    near, away = stds["RVM*"]
    report.claim(
        "that of the RVM* expands: there its std is more than twice that at all data",
        bool(away.min() > 2 * near.max()),
    )
    figure = new_figure(10, 4)
    grid = np.linspace(-12, 12, 601)[:, None]
    for ax, (name, model) in zip(figure.subplots(1, 2, sharey=True), models.items(), strict=True):
        mean, std = model.predict(grid, return_std=True)
        ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.25)
        ax.plot(grid, mean, color=BLUE, label=f"{name}, ± 2 std")
        ax.plot(grid, np.cos(grid), color=GREY, linestyle="--", label="cos")
        _points(ax, X, y, model.relevance_vectors_)
        ax.set(xlabel="x", title=name)
        ax.legend(frameon=False, loc="upper right")
    report.draw(figure, "fig1")


def _points(ax, X: Array, y: Array, vectors: Array) -> None:
    targets = dict(zip(X[:, 0], y, strict=True))
    ax.plot(X, y, ".", color="black", markersize=4)
    ax.plot(
        vectors[:, 0],
        [targets[x] for x in vectors[:, 0]],
        "o",
        color=ORANGE,
        markersize=9,
        markerfacecolor="none",
        label=f"{len(vectors)} relevance vectors",
    )


def noisy_sinc(seed: int, repetition: int) -> tuple[Array, Array]:
    """100 values with Gaussian noise."""
    rng = np.random.default_rng([seed, repetition])
    return make_sinc(100, noise=NOISE["sinc"], random_state=rng)[:2]


def fit_spline(X: Array, y: Array, noise: float | str) -> RVR:
    """The linear spline kernel of T01."""
    return RVR(LinearSpline(), solver="mackay", noise=noise, calibrate=None).fit(X, y)


def estimate(seed: int, repetition: int) -> tuple[float, float]:
    """Relevance vectors and estimated noise of one draw."""
    model = fit_spline(*noisy_sinc(seed, repetition), "estimate")
    return len(model.relevance_vectors_), float(np.sqrt(model.noise_variance_))


def _figure_2(report: Report, options: Options) -> None:
    """sinc with the linear spline."""
    X, y, _ = make_sinc(100, noise=0.0)
    exact = fit_spline(X, y, 0.01**2)
    count = options.count(20, 3)
    tasks = [(options.seed, i) for i in range(count)]
    found = np.array(repeat(estimate, tasks, jobs=options.jobs, label="noisy sinc"))
    vectors = len(exact.relevance_vectors_)
    report.add("σ = 0.01 fixed: relevance vectors", 10, vectors, best="low")
    report.claim(
        f"clearly sparser than the SVM: less than half its {SVM_OF_SINC} vectors",
        vectors < SPARSER * SVM_OF_SINC,
    )
    report.add("σ = 0.2: relevance vectors", "11, of its draw", found[:, 0])
    report.add("σ = 0.2: estimated σ", "0.205, of its draw", found[:, 1])
    report.claim(
        "σ is estimated automatically: within a tenth of 0.2 in the mean over the draws",
        bool(abs(found[:, 1].mean() - NOISE["sinc"]) <= 0.1 * NOISE["sinc"]),
        count,
    )
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    grid, _, truth = make_sinc(501, noise=0.0)
    drawn = noisy_sinc(options.seed, 0)
    for ax, data, model, title in (
        (left, (X, y), exact, "σ = 0.01 fixed"),
        (right, drawn, fit_spline(*drawn, "estimate"), "σ = 0.2, estimated"),
    ):
        ax.plot(grid, truth, color=GREY, linewidth=3, alpha=0.5, label="sinc")
        ax.plot(grid, model.predict(grid), color=BLUE, label="RVM")
        _points(ax, *data, model.relevance_vectors_)
        ax.set(xlabel="x", title=title)
        ax.legend(frameon=False)
    report.draw(figure, "fig2")


def _figure_3(report: Report) -> None:
    """Banana: boundary, relevance vectors and probability."""
    data = load_benchmark("raetsch_banana")
    (X, y), (X_test, y_test) = (
        (data["X"][rows].astype(float), data["y"][rows])
        for rows in (data["train_idx"][0], data["test_idx"][0])
    )
    classical = {"link": "logit", "adapt": None, "calibrate": None}
    model = RVC(RBF(SVM_LENGTH_SCALE), solver="mackay", **classical).fit(X, y)
    svm = SVC(gamma=GAMMA).fit(X, y)
    errors = [100 * float(np.mean(m.predict(X_test) != y_test)) for m in (model, svm)]
    vectors = len(model.relevance_vectors_), len(svm.support_)
    for k, name in enumerate(("RVM", "SVM")):
        report.add(f"{name}: test error (%)", None, errors[k])
        report.add(f"{name}: vectors", None, vectors[k])
    report.claim(
        f"RVM and SVM are highly similar: test errors within {NEAR:g} points",
        abs(errors[0] - errors[1]) <= NEAR,
    )
    report.claim(
        "the RVM is far sparser: less than half the SVM's vectors",
        vectors[0] < SPARSER * vectors[1],
    )
    figure = new_figure(10, 4.4)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.meshgrid(*(np.linspace(a, b, 150) for a, b in zip(low, high, strict=True)))
    probability = model.predict_proba(np.stack([g.ravel() for g in grid], axis=1))[:, 1]
    probability = probability.reshape(grid[0].shape)
    shown = right.contourf(*grid, probability, np.linspace(0, 1, 11), cmap="cividis")
    figure.colorbar(shown, ax=right, label="probability of class +1")
    left.plot(*X[y < 0].T, "x", color=BLUE, markersize=4, label="class -1")
    left.plot(*X[y > 0].T, ".", color=GREEN, markersize=5, label="class +1")
    left.contour(*grid, probability, [0.5], colors="black")
    left.plot(
        *model.relevance_vectors_.T,
        "o",
        color=ORANGE,
        markersize=9,
        markerfacecolor="none",
        label=f"{vectors[0]} relevance vectors",
    )
    left.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)
    report.draw(figure, "fig3")
