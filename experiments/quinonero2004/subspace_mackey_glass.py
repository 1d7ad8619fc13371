"""QC04 app. C, Figs. 2 and 3 left: SSEM and the batch method on the Mackey-Glass series.

Six steps ahead from 16 values spaced 6, Gaussian functions of variance ν² = 10 on the standardised
series, 5804 test examples, random partitions. "SSEM 1 / 1" is the algorithm of that paper (one
function, one cycle), "SSEM 59 / 10" that of QC04 2.4, "Subspace" what we have made of it: functions
enter at a lower noise, and updates are Newton's. The batch method has MacKay's updates, which are
several times as fast as EM's. The series has no noise. Fig. 2 follows EM and SSEM 1 / 1, both with
exact M-steps, on 400 examples.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from experiments._report import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Options,
    Report,
    new_figure,
    repeat,
)
from sparsebayes import EM, RVR, Subspace
from sparsebayes.basis import RBF
from sparsebayes.datasets import lagged, make_mackey_glass
from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Solver
from sparsebayes.engine import run as climb

Array = np.ndarray

SIZES = (100, 200, 400, 800, 1600, 2400)
N_TEST = 5804
LENGTH_SCALE = np.sqrt(10.0)
SOLVERS = {
    "batch": EM(mackay=True),
    "SSEM 1 / 1": Subspace(n_add=1, n_cycles=1, updates="mackay"),
    "SSEM 59 / 10": Subspace(updates="mackay"),
    "Subspace": Subspace(updates="newton"),
}
MEASURES = ("test error", "relevance vectors", "processor time", "log evidence")
# What the text of app. C says of Fig. 3; its other values can only be read off the figure.
PAPER = {(100, "processor time"): "> 1", (2400, "processor time"): "≈ 0.1"} | {
    (n, "processor time"): "< 1" for n in SIZES[1:-1]
}
LARGE, FEWER = 1600, 3  # examples from which on there are fewer repetitions
TENTH = 10**-0.5  # less than this is nearer to a tenth than to one
CLOSE = 0.1  # part of the climb that may separate the two ends of Fig. 2
FOLLOWED = 400  # examples of Fig. 2
FOLLOWERS: dict[str, Solver] = {
    "EM": EM(),
    "SSEM 1 / 1": Subspace(n_add=1, n_cycles=1, updates="em"),
}


def one(size: int, seed: int, repetition: int) -> Array:
    """All measures of all solvers on one partition."""
    series = make_mackey_glass(SIZES[-1] + N_TEST + 96)
    X, y = lagged((series - series.mean()) / series.std(), lags=16, step=6, horizon=6)
    order = np.random.default_rng([seed, repetition]).permutation(len(y))
    train, test = order[:size], order[-N_TEST:]
    values = []
    for solver in SOLVERS.values():
        model = RVR(RBF(LENGTH_SCALE), solver=solver, random_state=repetition, calibrate=None)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            start = time.process_time()  # other processes do not count
            model.fit(X[train], y[train])
            seconds = time.process_time() - start
        error = np.mean((model.predict(X[test]) - y[test]) ** 2)
        values.append((error, len(model.relevance_vectors_), seconds, model.log_evidence_))
    return np.array(values)


def follow(label: str, size: int, seed: int) -> Array:
    """Processor seconds, log evidence and vectors along the steps of a solver, (steps, 3)."""
    series = make_mackey_glass(SIZES[-1] + N_TEST + 96)
    X, y = lagged((series - series.mean()) / series.std(), lags=16, step=6, horizon=6)
    train = np.random.default_rng(seed).permutation(len(y))[:size]
    points: list[tuple[float, float, int]] = []
    with threadpool_limits(1):
        start = time.process_time()
        columns = RBF(LENGTH_SCALE).fit(X[train]).columns(X[train])
        problem = Exact(Dense(columns), Flat(), Gaussian(y[train], np.ones(size)))

        def report(_: int, step) -> bool:
            state = step.state
            points.append((time.process_time() - start, state.evidence, state.active.size))
            return False

        climb(
            FOLLOWERS[label],
            problem,
            max_iter=20_000,
            tol=0.01,
            rng=np.random.default_rng(seed),
            report=report,
        )
    return np.array(points)


def run(options: Options) -> Report:
    """The paths of Fig. 2, and ratios to the batch method for growing training sets."""
    report = Report("QC04 app. C, Figs. 2 and 3 left: Mackey-Glass, SSEM and the batch method")
    _paths(report, options)
    _ratios(report, options)
    return report


def _paths(report: Report, options: Options) -> None:
    report.row = "QC04 C Fig. 2"
    size = 100 if options.quick else FOLLOWED
    tasks = [(label, size, options.seed) for label in FOLLOWERS]
    found = repeat(follow, tasks, jobs=options.jobs, label="Fig. 2")
    paths = dict(zip(FOLLOWERS, found, strict=True))
    for label, path in paths.items():
        seconds, evidence, vectors = path[-1]
        report.add(f"{label}: log evidence at the end", None, evidence)
        report.add(f"{label}: vectors at the end", None, vectors)
        report.add(f"{label}: processor seconds", None, seconds)
    batch, grown = paths.values()
    fall = float(np.max(-np.diff(grown[:, 1]), initial=0.0))
    report.claim("SSEM never lowers the evidence (by more than 1e-6)", fall <= 1e-6)
    report.claim("SSEM is faster than EM (read off the figure)", grown[-1, 0] < batch[-1, 0])
    climbed = batch[-1, 1] - batch[0, 1]
    report.claim(
        f"both end alike: their evidence differs by at most {CLOSE:g} of what EM climbed",
        abs(grown[-1, 1] - batch[-1, 1]) <= CLOSE * climbed,
    )
    report.claim(
        "SSEM has fewer vectors than EM at first: at most half at half of its time",
        _vectors_at(grown, grown[-1, 0] / 2) <= 0.5 * _vectors_at(batch, 0.0),
    )
    report.draw(_figure_paths(paths), "fig2")


def _vectors_at(path: Array, seconds: float) -> float:
    return float(path[np.argmax(path[:, 0] >= seconds), 2])


def _ratios(report: Report, options: Options) -> None:
    report.row = "QC04 C Fig. 3 left"
    sizes = [n for n in SIZES if n <= 400 or not options.quick]
    ratios = {}
    for size in sizes:
        count = options.count(FEWER if size >= LARGE else 10, 2)
        tasks = [(size, options.seed, i) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=f"N = {size}"))
        ratios[size] = values / values[:, :1]
        for j, label in enumerate(SOLVERS):
            if label == "batch":
                continue
            for k, measure in enumerate(MEASURES):
                paper = PAPER.get((size, measure)) if label == "Subspace" else None
                report.add(f"N = {size}, {label}: {measure}", paper, ratios[size][:, j, k])
        error, vectors, seconds, evidence = np.median(values[:, 0], axis=0)
        report.note(
            f"N = {size}, batch: test MSE {error:.2e}, {vectors:.0f} relevance vectors, "
            f"{seconds:.2f} s, log evidence {evidence:.0f} (medians)."
        )
    times, grown = (np.array([np.median(ratios[size][:, j, 2]) for size in sizes]) for j in (3, 1))
    lowest = min(np.median(ratios[size][:, 3, 3]) for size in sizes if size >= 400)
    report.claim(
        "Subspace: the relative time falls with the size", times[-1] < times[-2] < times[0]
    )
    report.claim(
        f"Subspace: an order of magnitude faster at the largest (ratio below {TENTH:.2f})",
        times[-1] < TENTH,
    )
    report.claim("Subspace: faster than the batch method from 200 examples on", all(times[1:] < 1))
    report.claim("Subspace: the batch method is faster for 100 examples", times[0] > 1)
    report.row = ""  # not in the paper
    report.claim("Subspace: from 400 on, the log evidence is at most 1 % lower", lowest >= 0.99)
    report.row = "QC04 C Fig. 3 left"
    told, classical = (
        ", ".join(f"{size}: {value:.2g}" for size, value in zip(sizes, ours, strict=True))
        for ours in (times, grown)
    )
    report.note(
        "QC04 C Fig. 3 left: median time over that of the batch method, of Subspace: "
        f"{told}; of SSEM 1 / 1, one function and one cycle at a time: {classical}. Statements are "
        "about Subspace. The batch method with MacKay's updates spends most of its time on the "
        "last of thousands of cycles, with few functions left, and so does SSEM 1 / 1 with the "
        "same updates; the paper does not say what updates it had, nor when it stopped."
    )
    report.draw(_figure(ratios), "fig3")


def _figure_paths(paths: dict[str, Array]):
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    for (label, path), color in zip(paths.items(), (GREY, ORANGE), strict=True):
        left.plot(path[:, 0], path[:, 1], color=color, label=label)
        right.plot(path[:, 0], path[:, 2], color=color, label=label)
    left.set(xlabel="processor seconds", ylabel="log evidence")
    right.set(xlabel="processor seconds", ylabel="relevance vectors")
    left.legend(frameon=False)
    return figure


def _figure(ratios: dict[int, Array]):
    figure = new_figure(13, 4)
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    sizes = list(ratios)
    for ax, (k, measure) in zip(figure.subplots(1, 4), enumerate(MEASURES), strict=True):
        for j, (label, colour) in enumerate(zip(SOLVERS, (GREY, ORANGE, GREEN, BLUE), strict=True)):
            if label == "batch":
                ax.axhline(1, color=GREY, linestyle="--", label=label)
                continue
            samples = [ratios[n][:, j, k] for n in sizes]
            middle = [s.mean() for s in samples]
            spread = [s.std(ddof=1) / np.sqrt(s.size) if s.size > 1 else 0.0 for s in samples]
            ax.errorbar(sizes, middle, spread, color=colour, marker="o", markersize=4, label=label)
        ax.set_xscale("log")
        ax.set_xticks(sizes, [str(n) for n in sizes])
        ax.minorticks_off()
        ax.set_xlabel("training examples")
        ax.set_title(f"{measure} / batch")
        if measure == "processor time":
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter(ScalarFormatter())
            ax.yaxis.set_minor_formatter(NullFormatter())
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure
