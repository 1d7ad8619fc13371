"""T01 4.4.2: eight classification benchmarks, Gaussian kernel, width by 5-fold cross-validation.

The protocol is that of T01 appendix E.2: Rätsch's sets with splits 1 to 10, Pima with Ripley's
split, USPS with ten machines, each of one class against the rest. Inputs are standardised on the
training part; pixels are left as they are. The width is that of least cross-validated error, on one
grid for all sets; as in Rätsch's protocol it is chosen on the training parts of splits 1 to 5, and
the median serves all splits. For USPS it is chosen on 2000 of the training images.
The SVM's C and width are chosen in the same way.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments._classification import (
    COSTS,
    INFERENCES,
    WIDTHS,
    Score,
    Split,
    column,
    fit_rvc,
    fit_svm,
    health,
    met,
    search_svm,
    search_width,
    unit,
)
from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, progress, repeat
from sparsebayes.datasets import load_benchmark

Array = np.ndarray


@dataclass(frozen=True)
class Task:
    """A data set and its row of T01: errors in per cent, and vectors.

    Attributes
    ----------
    name, file : str
    svm, rvm : tuple of float
        Error and vectors.
    splits : int
    compared : int
        The splits on which the ways to infer are compared; TAP is slow.
    pixels : bool
        Whether the inputs are pixels, all on one scale.
    searched : int
        The training examples at most on which widths are searched.
    """

    name: str
    file: str
    svm: tuple[float, float]
    rvm: tuple[float, float]
    splits: int = 10
    compared: int = 10
    pixels: bool = False
    searched: int = 2000


TASKS = (
    Task("Pima Diabetes", "pima_ripley", (20.1, 109), (19.6, 4), 1),
    Task("U.S.P.S.", "usps", (4.4, 2540), (5.1, 316), 1, compared=0, pixels=True),
    Task("Banana", "raetsch_banana", (10.9, 135.2), (10.8, 11.4)),
    Task("Breast Cancer", "raetsch_breast_cancer", (26.9, 116.7), (29.9, 6.3)),
    Task("Titanic", "raetsch_titanic", (22.1, 93.7), (23.0, 65.3)),
    Task("Waveform", "raetsch_waveform", (10.3, 146.4), (10.9, 14.6)),
    Task("German", "raetsch_german", (22.6, 411.2), (22.2, 12.5)),
    Task("Image", "raetsch_image", (3.0, 166.6), (3.9, 34.6)),
)
SLACK, TIMES = 1.5, 2.0  # percentage points of error, and times the vectors, that T01's row allows


@dataclass(frozen=True)
class Choice:
    """What cross-validation chose; widths in units of `unit`."""

    rvm_width: float
    svm_width: float
    svm_cost: float


@dataclass(frozen=True)
class Result:
    """What was measured on one split; `bic` and `inferences` where they were tried."""

    svm: Score
    rvm: Score
    bic: Score | None
    inferences: dict[str, Score]


def load(task: Task, split: int, quick: bool) -> Split:
    """The split's training and test parts; all but pixels standardised by the former."""
    data = load_benchmark(task.file)
    if "X" in data:
        rows = data["train_idx"][split], data["test_idx"][split]
        (X, y), (X_test, y_test) = ((data["X"][row].astype(float), data["y"][row]) for row in rows)
    else:
        (X, y), (X_test, y_test) = (
            (data[f"X_{part}"].astype(float), data[f"y_{part}"]) for part in ("train", "test")
        )
    if not task.pixels:
        scaler = StandardScaler().fit(X)
        return scaler.transform(X), y, scaler.transform(X_test), y_test
    order = np.random.default_rng(0).permutation(len(y))[: 1500 if quick else len(y)]
    return X[order], y[order], X_test, y_test


def search(task: Task, seed: int, split: int, quick: bool) -> tuple[int, int, int]:
    """The best of `WIDTHS` for the RVM, of `COSTS` and of `WIDTHS` for the SVM."""
    X, y, _, _ = load(task, split, quick)
    length_scales = [width * unit(X) for width in WIDTHS]
    X, y = X[: task.searched], y[: task.searched]
    width = search_width(X, y, length_scales, seed, multi_class="ovr")
    return width, *search_svm(X, y, length_scales, seed)


def one(task: Task, choice: Choice, split: int, quick: bool) -> Result:
    """Fit to the training part and test."""
    parts = load(task, split, quick)
    length_scale = choice.rvm_width * unit(parts[0])
    names = list(INFERENCES) if split < task.compared else ["logit"]
    scores = {
        name: fit_rvc(parts, length_scale, multi_class="ovr", **INFERENCES[name])[1]
        for name in names
    }
    return Result(
        svm=fit_svm(parts, choice.svm_width * unit(parts[0]), choice.svm_cost)[1],
        rvm=scores["logit"],
        bic=None if task.pixels else fit_rvc(parts, length_scale, prior="bic")[1],
        inferences=scores if len(scores) > 1 else {},
    )


def measure(task: Task, options: Options) -> tuple[Choice, list[Result]]:
    """All splits of a data set."""
    count = min(task.splits, options.count(task.splits, 2))
    if options.quick:
        task = replace(task, searched=300, compared=min(count, task.compared) // 2)
    searches = [(task, options.seed, i, options.quick) for i in range(min(count, 5))]
    found = repeat(search, searches, jobs=options.jobs, label=f"{task.name}, widths")
    rvm, cost, svm = (int(np.median(numbers)) for numbers in zip(*found, strict=True))
    choice = Choice(WIDTHS[rvm], WIDTHS[svm], COSTS[cost])
    runs = [(task, choice, i, options.quick) for i in range(count)]
    return choice, repeat(one, runs, jobs=options.jobs, label=task.name)


def run(options: Options, only: Collection[str] | None = None) -> Report:
    """Make the table, and a figure of all splits relative to the paper.

    Parameters
    ----------
    options : Options
    only : collection of str, optional
        The names of the data sets; all without it.
    """
    report = Report("T01 4.4.2: classification benchmarks, RVC with a Gaussian kernel")
    row = "T01 Table 4.4.2"
    results: dict[Task, list[Result]] = {}
    for task in TASKS:
        if only is not None and task.name not in only:
            continue
        try:
            load_benchmark(task.file)
        except FileNotFoundError as error:
            progress(f"{task.name}: left out. {error}")
            report.note(f"{task.name}: left out, the data are missing. {error}")
            continue
        choice, results[task] = measure(task, options)
        report.row = row
        _add(report, task, choice, results[task])
    if not results:
        raise FileNotFoundError("; ".join(report.notes))
    if len(results) > 1:
        report.row = row
        _add_means(report, results)
    if options.quick:
        report.note("--quick: few splits, 300 examples for the widths, 1500 images of U.S.P.S.")
    report.note("Widths are in units of sqrt(D var / 2), var being the variance of the inputs.")
    report.note("Vectors are kernel functions, equal ones counted once; the bias is not counted.")
    report.draw(_figure(results), "", row)
    return report


def _add(report: Report, task: Task, choice: Choice, results: list[Result]) -> None:
    """The rows of a data set, and whether they meet the criteria."""
    rvm, svm = [r.rvm for r in results], [r.svm for r in results]
    for name, paper, scores in (("RVM", task.rvm, rvm), ("SVM", task.svm, svm)):
        label = f"{task.name}, {name}"
        report.add(f"{label}: error (%)", paper[0], column(scores, "error"), best="low")
        report.add(f"{label}: vectors", paper[1], column(scores, "vectors"), best="low")
    report.row = ""  # what follows is not in T01
    error, vectors = column(rvm, "error").mean(), column(rvm, "vectors").mean()
    report.note(
        f"{task.name}: error {error - task.rvm[0]:+.1f} points from T01's "
        f"({met(error <= task.rvm[0] + SLACK)}), vectors {vectors / task.rvm[1]:.2f} × "
        f"({met(vectors <= TIMES * task.rvm[1])}); width {choice.rvm_width:g}, {health(rvm)}; "
        f"SVM: width {choice.svm_width:g}, C {choice.svm_cost:g}."
    )
    if task.pixels:
        report.note(
            f"T01 Table 4.4.2: {task.name}: distinct vectors are counted; the sums over the ten "
            f"machines are {rvm[0].total} (RVM) and {svm[0].total} (SVM)."
        )
    bic = [r.bic for r in results if r.bic]
    if bic:
        report.add(f"{task.name}, prior='bic': error (%)", None, column(bic, "error"))
        report.add(f"{task.name}, prior='bic': vectors", None, column(bic, "vectors"))
        fewer = column(bic, "vectors").mean() <= vectors
        report.note(
            f"{task.name}, prior='bic': no more vectors than 'flat' ({met(fewer)}); {health(bic)}."
        )
    compared = [r.inferences for r in results if r.inferences]
    if not compared:
        return
    losses = {name: column([c[name] for c in compared], "loss") for name in INFERENCES}
    for name, values in losses.items():
        report.add(f"{task.name}, {name}: negative log density", None, values)
    difference = losses["TAP"] - losses["probit"]
    seconds = {name: column([c[name] for c in compared], "seconds").mean() for name in INFERENCES}
    report.note(
        f"{task.name}, probit link: {'TAP' if difference.mean() < 0 else 'Laplace'} is better "
        f"(TAP less Laplace {difference.mean():+.4f}, {np.sum(difference < 0)} of "
        f"{len(difference)} splits in favour of TAP); seconds of a fit: Laplace "
        f"{seconds['probit']:.2f}, TAP {seconds['TAP']:.2f}."
    )


def _add_means(report: Report, results: dict[Task, list[Result]]) -> None:
    """T01's last row: the RVM relative to the SVM, the mean over the sets."""
    for name, at in (("error", 0), ("vectors", 1)):
        ratios = [
            column([r.rvm for r in some], name).mean() / column([r.svm for r in some], name).mean()
            for some in results.values()
        ]
        known = np.mean([task.rvm[at] / task.svm[at] for task in results])
        label = f"normalised mean of the {len(results)} sets, {name}: RVM / SVM"
        report.add(label, round(known, 2), float(np.mean(ratios)), len(results), best="low")


def _figure(results: dict[Task, list[Result]]):
    figure = new_figure(10, 4)
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    left, right = figure.subplots(1, 2, sharey=True)
    for position, (task, some) in enumerate(results.items()):
        rvm = [r.rvm for r in some]
        shown = (
            (left, column(rvm, "error") / task.rvm[0]),
            (right, column(rvm, "vectors") / task.rvm[1]),
        )
        for ax, values in shown:
            ax.plot(values, np.full(values.size, position), ".", color=GREY, markersize=5)
            ax.plot(values.mean(), position, "D", color=BLUE, markersize=6)
    for ax in (left, right):
        ax.axvline(1.0, color=ORANGE, label="T01")
        ax.axvline(1.1, color=ORANGE, linestyle=":", label="a tenth more")
        ax.plot([], [], ".", color=GREY, label="a split")
        ax.plot([], [], "D", color=BLUE, label="mean")
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)
    left.set_xlabel("test error of the RVM, relative to T01's")
    right.set_xlabel("vectors of the RVM, relative to T01's")
    right.set_xscale("log")
    right.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2])
    right.xaxis.set_major_formatter(ScalarFormatter())
    right.xaxis.set_minor_formatter(NullFormatter())
    left.set_yticks(range(len(results)), [task.name for task in results])
    left.invert_yaxis()
    return figure
