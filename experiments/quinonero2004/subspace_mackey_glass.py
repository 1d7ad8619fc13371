"""QC04 app. C, Figs. 2 and 3 left: SSEM and the batch method on the Mackey-Glass series.

Six steps ahead from 16 values spaced 6, Gaussian functions of variance ν² = 10 on the standardised
series, 5804 test examples, random partitions. Fig. 3 compares the two algorithms as they are
printed (`_ssem`). Beside it stand our own solvers, relative to our batch method with MacKay's
updates: "EM" is the batch method with exact M-steps, "SSEM 1 / 1" takes one function and one cycle
at a time, "SSEM 59 / 10" is that of QC04 2.4, "Subspace" what we have made of it: functions enter
at a lower noise, and updates are Newton's. The series has no noise. Fig. 2 follows EM and
SSEM 1 / 1, both with exact M-steps, on 400 examples.
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
    PINK,
    Options,
    Report,
    new_figure,
    repeat,
)
from experiments.quinonero2004 import _ssem
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
    "EM": EM(),
    "SSEM 1 / 1": Subspace(n_add=1, n_cycles=1, updates="mackay"),
    "SSEM 59 / 10": Subspace(updates="mackay"),
    "Subspace": Subspace(updates="newton"),
}
COLOURS = GREY, "black", ORANGE, GREEN, PINK  # of solvers
MEASURES = ("test error", "relevance vectors", "processor time", "log evidence")
BASE, OURS = "the batch method", "SSEM as printed"
# What the text of app. C says of Fig. 3; its other values can only be read off the figure.
PAPER = {(100, "processor time"): "> 1", (2400, "processor time"): "≈ 0.1"} | {
    (n, "processor time"): "< 1" for n in SIZES[1:-1]
}
LARGE, FEWER = 1600, 3  # examples from which on there are fewer repetitions
TENTH = 10**-0.5  # less than this is nearer to a tenth than to one
EQUAL = 1.1  # times that differ by a tenth agree, as elsewhere
CLOSE = 0.1  # part of the climb that may separate the two ends of Fig. 2
FOLLOWED = 400  # examples of Fig. 2
FOLLOWERS: dict[str, Solver] = {
    "EM": EM(),
    "SSEM 1 / 1": Subspace(n_add=1, n_cycles=1, updates="em"),
}


def one(label: str, size: int, seed: int, repetition: int) -> Array:
    """All measures of a solver on one partition."""
    series = make_mackey_glass(SIZES[-1] + N_TEST + 96)
    X, y = lagged((series - series.mean()) / series.std(), lags=16, step=6, horizon=6)
    order = np.random.default_rng([seed, repetition]).permutation(len(y))
    train, test = order[:size], order[-N_TEST:]
    solver = SOLVERS[label]
    model = RVR(RBF(LENGTH_SCALE), solver=solver, random_state=repetition, calibrate=None)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()  # other processes do not count
        model.fit(X[train], y[train])
        seconds = time.process_time() - start
    error = np.mean((model.predict(X[test]) - y[test]) ** 2)
    return np.array([error, len(model.relevance_vectors_), seconds, model.log_evidence_])


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


def printed(size: int, seed: int, repetition: int) -> Array:
    """All measures of the batch method and of SSEM as printed, on one partition, (2, 4)."""
    series = make_mackey_glass(SIZES[-1] + N_TEST + 96)
    X, y = lagged((series - series.mean()) / series.std(), lags=16, step=6, horizon=6)
    rng = np.random.default_rng([seed, repetition])
    order = rng.permutation(len(y))
    train, test = order[:size], order[-N_TEST:]
    values = []
    for algorithm in (_ssem.batch, lambda *sample: _ssem.ssem(*sample, rng)):
        with threadpool_limits(1):
            start = time.process_time()
            basis = RBF(LENGTH_SCALE).fit(X[train])
            state = algorithm(basis.columns(X[train]), y[train])
            seconds = time.process_time() - start
        found = basis.columns(X[test])[:, state.active] @ state.mean
        error = np.mean((found - y[test]) ** 2)
        values.append((error, state.active.size, seconds, state.evidence))
    return np.array(values)


def _ratios(report: Report, options: Options) -> None:
    sizes = [n for n in SIZES if n <= 400 or not options.quick]
    ratios, ours = {}, {}
    for size in sizes:
        count = options.count(FEWER if size >= LARGE else 10, 2)
        tasks = [(size, options.seed, i) for i in range(count)]
        report.row = "QC04 C Fig. 3 left"
        values = np.array(repeat(printed, tasks, jobs=options.jobs, label=f"printed, N = {size}"))
        ratios[size] = values[:, 1] / values[:, 0]
        for k, measure in enumerate(MEASURES):
            name = f"N = {size}: {measure} of SSEM over the batch method"
            report.add(name, PAPER.get((size, measure)), ratios[size][:, k])
        report.note(f"N = {size}, batch method as printed: {_told(values[:, 0])}")
        report.row = ""  # not in the paper
        each = [(label, *task) for task in tasks for label in SOLVERS]
        found = repeat(one, each, jobs=options.jobs, label=f"N = {size}")
        values = np.reshape(found, (count, len(SOLVERS), len(MEASURES)))
        ours[size] = values / values[:, :1]
        for j, label in enumerate(SOLVERS):
            for k, measure in enumerate(MEASURES if label != "batch" else ()):
                report.add(f"N = {size}, {label}: {measure}", None, ours[size][:, j, k])
        report.note(f"N = {size}, our batch method: {_told(values[:, 0])}")
    _claims(report, ratios, ours)
    report.row = "QC04 C Fig. 3 left"
    report.draw(_figure(ratios, ours), "fig3")


def _told(values: Array) -> str:
    error, vectors, seconds, evidence = np.median(values, axis=0)
    return (
        f"test MSE {error:.2e}, {vectors:.0f} relevance vectors, {seconds:.2f} s, "
        f"log evidence {evidence:.0f} (medians)."
    )


def _claims(report: Report, ratios: dict[int, Array], ours: dict[int, Array]) -> None:
    """What app. C says of the times, and what is asked of `Subspace`."""
    sizes = list(ratios)
    report.row = "QC04 C Fig. 3 left"
    times = [np.median(ratios[size][:, 2]) for size in sizes]
    report.claim("the relative time falls with the size", times[-1] < times[-2] < times[0])
    report.claim(
        f"SSEM is an order of magnitude faster at the largest (ratio below {TENTH:.2f})",
        times[-1] < TENTH,
    )
    report.claim(
        f"SSEM is faster from 200 examples on (ratio at most {EQUAL:g})",
        all(time <= EQUAL for time in times[1:]),
    )
    report.claim("the batch method is faster for 100 examples", times[0] > 1)
    told = ", ".join(f"{n}: {time:.2g}" for n, time in zip(sizes, times, strict=True))
    report.note(
        f"QC04 C Fig. 3 left: median time of SSEM over that of the batch method: {told}. Up to 200 "
        "examples most of a step's time are calls, and SSEM takes several times as many steps. At "
        "800 its noise falls so far, on this series without noise, that products have lost their "
        "digits and its steps go by reflections, which take several times as long; the batch "
        "method's do so only from 1600 on. The memory and the number of functions do not decide "
        "there."
    )
    report.row = ""  # not in the paper
    for label, name in (("EM", "EM"), ("batch", "the batch method with MacKay's updates")):
        _subspace(report, ours, label, name)
    report.note(
        "Our batch methods delete functions as soon as the evidence gains by it, which the batch "
        "method as printed does not: it keeps them until α reaches L."
    )


def _subspace(report: Report, ours: dict[int, Array], label: str, name: str) -> None:
    """Time and evidence of `Subspace` beside those of one of our batch methods."""
    at, base = list(SOLVERS).index("Subspace"), list(SOLVERS).index(label)
    ratios = {size: np.median(found[:, at] / found[:, base], 0) for size, found in ours.items()}
    large = [found for size, found in ratios.items() if size >= FOLLOWED]
    report.claim(
        f"Subspace: from {FOLLOWED} on, the log evidence is at most 1 % lower than that of {name}",
        all(found[3] >= 0.99 for found in large),
    )
    report.claim(
        f"Subspace: from {FOLLOWED} on faster than {name}", all(found[2] < 1 for found in large)
    )
    fast = large[-1][2] <= 0.2
    report.claim(f"Subspace: 5 times as fast as {name} at the largest", bool(fast))
    times = ", ".join(f"{size}: {found[2]:.2g}" for size, found in ratios.items())
    report.note(f"Median time of Subspace over that of {name}: {times}.")


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


def _figure(ratios: dict[int, Array], ours: dict[int, Array]):
    figure = new_figure(13, 4)
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    sizes = list(ratios)
    lines = {OURS: (BLUE, "-", ratios)}
    for j, (label, colour) in enumerate(zip(SOLVERS, COLOURS, strict=True)):
        if label != "batch":
            lines[f"{label}, over ours"] = (colour, ":", {n: ours[n][:, j] for n in sizes})
    for ax, (k, measure) in zip(figure.subplots(1, 4), enumerate(MEASURES), strict=True):
        ax.axhline(1, color=GREY, linestyle="--", label=BASE)
        for label, (colour, style, values) in lines.items():
            samples = [values[n][:, k] for n in sizes]
            middle = [s.mean() for s in samples]
            spread = [s.std(ddof=1) / np.sqrt(s.size) if s.size > 1 else 0.0 for s in samples]
            ax.errorbar(
                sizes, middle, spread, color=colour, linestyle=style, marker="o", markersize=4,
                label=label,
            )  # fmt: skip
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
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure
