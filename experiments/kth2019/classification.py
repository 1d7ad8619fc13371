"""KTH19 Tables 1-2: its seven classification sets, one kernel for all: error, vectors, fit time.

KTH19 runs 5-fold cross-validation (scikit-learn's ``cross_validate``: folds in order) on each set
with one kernel, "γ = 2", for all of them, on the inputs as they are. Its N show that the Rätsch
sets are the first training part of the 100. Its RVM is T01's algorithm (ours: solver="mackay"), its
RVMF the fast one (`_fast`). What γ is, `_tables` says. Ours with ``exp(-2 d²)``, the SVM's kernel,
and with standardised inputs and the default width are shown as well. KTH19 does not describe its
set "linear"; ours is another one, so its numbers are not compared.
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
    OTHER_STOPS,
    STOP,
    SVM_LENGTH_SCALE,
    TABLES,
    TABLES_LENGTH_SCALE,
    add_times,
    claim_fastest,
    claim_of_both,
    means,
    name_misses,
    note_claims,
)
from sparsebayes.datasets import load_benchmark

Array = np.ndarray

TIMINGS = 10  # an SVM's fit is so short that the mean of several is taken
MACHINES = ("RVM", "RVMF", "SVM")
INVENTED = "linear"
FITTED = "Waveform, RVM: error"  # the RVMs' kernel was chosen by it
OF_T01 = ("Titanic", "Banana", "Breast Cancer", "German")
ROUNDED = 0.0051  # by which a number of two digits may differ
HUNDREDTH = 0.01  # of the SVM's vectors: orders of magnitude fewer
NEAR = 2.0  # percentage points of error that are called highly similar


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
        "RVMF": fit_rvc(split, TABLES_LENGTH_SCALE, solver=OneClimb(), tol=STOP)[1],
        "SVM": _timed_svm(split),
        **{
            name: fit_rvc(split, TABLES_LENGTH_SCALE, solver=OneClimb(), tol=gain)[1]
            for name, gain in OTHER_STOPS.items()
        },
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
    _claims(report, results)
    _explain(report, results)
    report.draw(_figure(results), "", *TABLES)
    return report


def _explain(report: Report, results: dict[str, dict[str, list[Score]]]) -> None:
    name_misses(report, "classification")
    papers = {task.name: (task.errors[1], task.vectors[1]) for task in TASKS}
    note_claims(report, "classification", results, papers, unit=0.01)
    report.note(
        "KTH19 Table 1: classification: In KTH19's own table the RVM is the better one on Waveform "
        '(0.08, SVM 0.33), so that "in all categories" is not true of its own numbers.'
    )
    report.note(
        'KTH19 Table 1: linear: KTH19 says only that "data is separated by a hyperplane in R^2"; '
        "ours is uniform on a square, cut along its diagonal. It is another set, so its numbers "
        "are not compared. Breast Cancer: 569 × 30 is the diagnostic Wisconsin set, not Rätsch's."
    )
    report.note(
        "KTH19 Table 1: With the SVM's kernel the raw inputs of Breast Cancer, German and Waveform "
        "are nearly all unlike each other: it says little more than which class is the larger."
    )
    report.note(
        "KTH19 Table 1: KTH19 does not state the SVM's C; here it is scikit-learn's, 1."
        + _kernels(results)
    )
    _larger_class(report, results)
    report.note("Fit times: processor seconds.")
    report.note("Vectors are kernel functions, equal ones counted once; the bias is not counted.")


def _larger_class(report: Report, results: dict[str, dict[str, list[Score]]]) -> None:
    """What errs who says the larger class everywhere."""
    told, same = [], 0
    for task in TASKS:
        if task.name in results and task.name != INVENTED:
            _, y = load(task)
            share = float(min(np.mean(y == label) for label in np.unique(y)))
            same += abs(share - task.errors[0]) < ROUNDED
            told.append(f"{share:.2f} on {task.name} ({task.errors[0]:g})")
    report.note(
        "KTH19 Table 1: KTH19's RVM prunes next to nothing, and seems to have learned next to "
        f"nothing: on {same} of {len(told)} sets it errs as who says the larger class everywhere. "
        f"That errs by {', '.join(told)}; KTH19's RVM in brackets. Of the linear set KTH19 does "
        "not tell the classes' sizes. KTH19 puts its results down to its thresholds for pruning "
        "and convergence."
    )


def _add(report: Report, task: Task, scores: dict[str, list[Score]]) -> None:
    for at, name in enumerate(MACHINES):
        label = f"{task.name}, {name}"
        error, vectors = (column(scores[name], what) for what in ("error", "vectors"))
        report.row = TABLES[0]
        for what, paper, ours in (
            ("error", task.errors[at], error / 100),
            ("vectors", task.vectors[at], vectors),
        ):
            told: float | str = paper
            if task.name == INVENTED:
                told = f"{paper:g} (of other data)"
            elif f"{label}: {what}" == FITTED:
                told = f"{paper:g} (fitted)"
            report.add(f"{label}: {what}", told, ours, best="low")
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
    own = {name: scores for name, scores in results.items() if name in OF_T01}
    if own:
        slow, svm = means(own, ("RVM", "SVM"), "error").T
        report.claim(
            "classification: RVM and SVM are highly similar on the sets that T01 has too: errors "
            f"within {NEAR:g} points on most",
            bool(np.mean(np.abs(slow - svm) <= NEAR) > 0.5),
            len(own),
        )
    claim_of_both(report, "classification", results)
    vectors = means(results, MACHINES, "vectors")
    share = vectors[:, :2].min(axis=1) / vectors[:, 2]
    report.claim(
        "classification: RVM or RVMF is in some cases orders of magnitude more sparse than the "
        "SVM: a hundredth of its vectors on some set",
        bool(share.min() <= HUNDREDTH),
        len(results),
    )
    empty = [name for name, found in zip(results, vectors, strict=True) if found[1] == 0]
    some = share[share > 0]
    report.note(
        "KTH19 Table 1: classification: Ours are sparser than the SVM by one order of magnitude on "
        f"{int(np.sum(share <= 0.1))} of {len(share)} sets, and by {1 / some.min():.0f} times at "
        "most where they keep any vector. None at all keeps our RVMF, which then says the larger "
        f"class everywhere, on {', '.join(empty) or 'no set'}. KTH19 has two orders only of its "
        "RVMF, with 0.8 vectors on Banana and 4.4 on German, where it errs by 0.43 and 0.3."
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
        "vectors on cos and Airfoil are also about KTH19's."
    )


def _figure(results: dict[str, dict[str, list[Score]]]):
    figure = new_figure(12, 4.4)
    papers = {task.name: task for task in TASKS}
    styles = dict(zip(MACHINES, ((GREEN, "s"), (BLUE, "o"), (GREY, "^")), strict=True))
    axes = figure.subplots(1, 3, sharey=True)
    for position, (name, scores) in enumerate(results.items()):
        task = papers[name]
        for at, (machine, (color, sign)) in enumerate(styles.items()):
            error, vectors, seconds = (
                column(scores[machine], what).mean() for what in ("error", "vectors", "seconds")
            )
            for ax, paper, ours in zip(
                axes,
                (task.errors[at], task.vectors[at], task.seconds[at]),
                (error / 100, vectors, seconds),
                strict=True,
            ):
                ax.plot(paper, position - 0.17, sign, color=color, markerfacecolor="none")
                ax.plot(ours, position + 0.17, sign, color=color)
    titles = ("Table 1: error", "Table 1: vectors", "Table 2: fit time")
    for ax, title, label in zip(axes, titles, ("error", "vectors", "seconds"), strict=True):
        ax.set(title=f"KTH19 {title}", xlabel=label)
    axes[1].set_xscale("symlog", linthresh=1)
    axes[2].set_xscale("log")
    axes[0].set_yticks(range(len(results)), list(results))
    axes[0].set_ylabel("classification sets")
    axes[0].invert_yaxis()
    for machine, (color, sign) in styles.items():
        for label, face in (("KTH19", "none"), ("ours", color)):
            axes[0].plot(
                [], [], sign, color=color, markerfacecolor=face, label=f"{machine}, {label}"
            )
    figure.legend(loc="outside lower center", ncols=6, frameon=False)
    return figure
