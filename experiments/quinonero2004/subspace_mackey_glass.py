"""QC04 app. C, Figs. 2 and 3 left: SSEM and the batch method on the Mackey-Glass series.

Six steps ahead from 16 values spaced 6, Gaussian functions of variance ν² = 10 on the standardised
series, 5804 test examples, random partitions. Fig. 3 compares the two algorithms as they are
printed (`_ssem`). Beside it stand our own solvers, relative to our batch method with MacKay's
updates: "EM" is the batch method with exact M-steps, "SSEM 1 / 1" takes one function and one cycle
at a time, "SSEM 59 / 10" is that of QC04 2.4, "Subspace" what we have made of it: functions enter
at a lower noise, and updates are Newton's. The series has no noise. Fig. 2 follows the two printed
algorithms on 400 examples.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Iterator

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
from sparsebayes.engine import Dense, Exact, Flat, Gaussian, State
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
LARGE, FEWER = 1600, 5  # examples from which on there are fewer repetitions
TENTH = 10**-0.5  # less than this is nearer to a tenth than to one
EQUAL = 1.1  # times that differ by a tenth agree, as elsewhere
CLOSE = 0.1  # part of the climb that may separate the two ends of Fig. 2
FOLLOWED = 400  # examples of Fig. 2
EXACT = Subspace(n_add=1, n_cycles=1, updates="em")  # SSEM with exact M-steps


def examples() -> tuple[Array, Array]:
    """The standardised series: the last values, and the one six steps later."""
    series = make_mackey_glass(SIZES[-1] + N_TEST + 96)
    return lagged((series - series.mean()) / series.std(), lags=16, step=6, horizon=6)


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


def follow(size: int, seed: int, repetition: int) -> tuple[Array, Array]:
    """Processor seconds, log evidence and vectors along the steps of both printed algorithms."""
    X, y = examples()
    rng = np.random.default_rng([seed, repetition])
    train = rng.permutation(len(y))[:size]
    columns = RBF(LENGTH_SCALE).fit(X[train]).columns(X[train])
    batch, grown = (
        [(spent, state.evidence, state.active.size) for spent, state in timed(states)]
        for states in (_ssem.batch(columns, y[train]), _ssem.ssem(columns, y[train], rng))
    )
    return np.array(batch), np.array(grown)


def timed(states: Iterator[State]) -> Iterator[tuple[float, State]]:
    """Each state with the processor seconds up to it, on one thread."""
    with threadpool_limits(1):
        start = time.process_time()
        for state in states:
            yield time.process_time() - start, state


def fall(size: int, seed: int) -> float:
    """By how much SSEM with exact M-steps lowers the log evidence at most."""
    X, y = examples()
    rng = np.random.default_rng(seed)
    train = rng.permutation(len(y))[:size]
    columns = RBF(LENGTH_SCALE).fit(X[train]).columns(X[train])
    problem = Exact(Dense(columns), Flat(), Gaussian(y[train], np.ones(size)))
    path: list[float] = []

    def report(_: int, step) -> bool:
        path.append(step.state.evidence)
        return False

    with threadpool_limits(1):
        climb(EXACT, problem, max_iter=20_000, tol=0.01, rng=rng, report=report)
    return float(np.max(-np.diff(path), initial=0.0))


def run(options: Options) -> Report:
    """The paths of Fig. 2, and ratios to the batch method for growing training sets."""
    report = Report("QC04 app. C, Figs. 2 and 3 left: Mackey-Glass, SSEM and the batch method")
    _paths(report, options)
    _ratios(report, options)
    return report


def _paths(report: Report, options: Options) -> None:
    report.row = "QC04 C Fig. 2"
    size = 100 if options.quick else FOLLOWED
    count = options.count(10, 2)
    tasks = [(size, options.seed, i) for i in range(count)]
    paths = repeat(follow, tasks, jobs=options.jobs, label="Fig. 2")
    for k, label in enumerate((BASE, OURS)):
        for j, measure in enumerate(("processor seconds", "log evidence", "vectors")):
            ends = [path[k][-1, j] for path in paths]
            report.add(f"{label}, at its end: {measure}", None, ends)
    report.shown("SSEM ends first", [b[-1, 0] < a[-1, 0] for a, b in paths])
    report.shown(
        f"both end alike: their log evidence differs by at most {CLOSE:g} of what the batch method "
        "climbed",
        [abs(b[-1, 1] - a[-1, 1]) <= CLOSE * (a[-1, 1] - a[0, 1]) for a, b in paths],
    )
    report.shown(
        "at no time before its end SSEM has more functions than the batch method",
        [all(m <= _functions_at(a, spent) for spent, _, m in b) for a, b in paths],
    )
    lost = repeat(fall, [(size, options.seed)], jobs=options.jobs, label="exact M-steps")[0]
    report.claim("SSEM with exact M-steps never lowers the log evidence (by 1e-6)", lost <= 1e-6)
    lowered = [float(np.max(-np.diff(b[:, 1]), initial=0.0)) for _, b in paths]
    report.note(
        "QC04 C Fig. 2: Both algorithms move by (12), and functions enter with a finite α, which "
        f"is not told. The log evidence can then fall, here by up to {max(lowered):.1f} in a step. "
        "That it never falls is asked of exact M-steps, where a function enters only if it gains: "
        "app. C argues with functions that enter at α = ∞."
    )
    report.draw(_figure_paths(paths[0]), "fig2")


def _functions_at(path: Array, seconds: float) -> float:
    """The number of functions at a time, the last where the path has ended."""
    return float(path[min(np.searchsorted(path[:, 0], seconds), len(path) - 1), 2])


def printed(size: int, seed: int, repetition: int) -> Array:
    """All measures of the batch method and of SSEM as printed, on one partition, (2, 4)."""
    X, y = examples()
    rng = np.random.default_rng([seed, repetition])
    order = rng.permutation(len(y))
    train, test = order[:size], order[-N_TEST:]
    basis, values = RBF(LENGTH_SCALE).fit(X[train]), []
    columns = basis.columns(X[train])
    for states in (_ssem.batch(columns, y[train]), _ssem.ssem(columns, y[train], rng)):
        seconds, state = deque(timed(states), maxlen=1).pop()
        found = basis.columns(X[test])[:, state.active] @ state.mean
        error = np.mean((found - y[test]) ** 2)
        values.append((error, state.active.size, seconds, state.evidence))
    return np.array(values)


def _ratios(report: Report, options: Options) -> None:
    sizes = [n for n in SIZES if n <= 400 or not options.quick]
    theirs: dict[int, Array] = {}  # both algorithms as printed
    ours: dict[int, Array] = {}  # our solvers
    for size in sizes:
        count = options.count(FEWER if size >= LARGE else 10, 2)
        tasks = [(size, options.seed, i) for i in range(count)]
        report.row = "QC04 C Fig. 3 left"
        found = repeat(printed, tasks, jobs=options.jobs, label=f"printed, N = {size}")
        theirs[size] = np.array(found)
        for k, measure in enumerate(MEASURES):
            name = f"N = {size}: {measure} of SSEM over the batch method"
            values = theirs[size][:, 1, k] / theirs[size][:, 0, k]
            report.add(name, PAPER.get((size, measure)), values)
        report.note(f"N = {size}, batch method as printed: {_told(theirs[size][:, 0])}")
        report.row = ""  # not in the paper
        each = [(label, *task) for task in tasks for label in SOLVERS]
        found = repeat(one, each, jobs=options.jobs, label=f"N = {size}")
        ours[size] = np.reshape(found, (count, len(SOLVERS), len(MEASURES)))
        for j, label in enumerate(SOLVERS):
            for k, measure in enumerate(MEASURES if label != "batch" else ()):
                values = ours[size][:, j, k] / ours[size][:, 0, k]
                report.add(f"N = {size}, {label}: {measure}", None, values)
        report.note(f"N = {size}, our batch method: {_told(ours[size][:, 0])}")
    _claims(report, theirs, ours)
    report.row = "QC04 C Fig. 3 left"
    report.draw(_figure(theirs, ours), "fig3")


def _told(values: Array) -> str:
    error, vectors, seconds, evidence = np.median(values, axis=0)
    return (
        f"test MSE {error:.2e}, {vectors:.0f} relevance vectors, {seconds:.2f} s, "
        f"log evidence {evidence:.0f} (medians)."
    )


def _claims(report: Report, theirs: dict[int, Array], ours: dict[int, Array]) -> None:
    """What app. C says of the times, and how `Subspace` does beside batch methods."""
    report.row = "QC04 C Fig. 3 left"
    times = [np.median(found[:, 1, 2] / found[:, 0, 2]) for found in theirs.values()]
    report.claim("the relative time falls with the size", times[-1] < times[-2] < times[0])
    report.claim(
        f"SSEM is an order of magnitude faster at the largest (ratio below {TENTH:.2f})",
        times[-1] < TENTH,
    )
    report.claim(
        f"from 200 examples on the batch method is not faster (by more than a factor of {EQUAL:g})",
        all(time <= EQUAL for time in times[1:]),
    )
    report.claim("the batch method is faster for 100 examples", times[0] > 1)
    told = ", ".join(f"{n}: {time:.2g}" for n, time in zip(theirs, times, strict=True))
    report.note(
        f"QC04 C Fig. 3 left: Median time of SSEM over that of the batch method: {told}. The "
        "paper does not tell its first α and σ² nor where its cycles end; ours are in "
        "`quinonero2004._ssem`. The dotted lines of the picture are solvers of ours relative to "
        "our own batch method, with MacKay's updates: EM, SSEM with one function and one cycle "
        "at a time, with 59 functions and ten cycles, and `Subspace`."
    )
    report.row = ""  # not in the paper
    labels = list(SOLVERS)
    own = {size: found[:, labels.index("Subspace")] for size, found in ours.items()}
    for name, others in (
        ("EM", {size: found[:, labels.index("EM")] for size, found in ours.items()}),
        ("the batch method as printed", {size: found[:, 0] for size, found in theirs.items()}),
        ("our batch method with MacKay's updates", {n: found[:, 0] for n, found in ours.items()}),
    ):
        _subspace(report, own, others, name)
    report.note(
        "Our batch methods delete functions as soon as the evidence gains by it, which the batch "
        "method as printed does not: it keeps them until α reaches L."
    )


def _subspace(report: Report, own: dict[int, Array], others: dict[int, Array], name: str) -> None:
    """Time and evidence of `Subspace` beside those of a batch method on the same partitions."""
    ratios = {size: np.median(own[size] / others[size], 0) for size in own}
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
    for k, measure in ((2, "time"), (3, "log evidence")):
        told = ", ".join(f"{size}: {found[k]:.3g}" for size, found in ratios.items())
        report.note(f"Median {measure} of Subspace over that of {name}: {told}.")


def _figure_paths(paths: tuple[Array, Array]):
    figure = new_figure(10, 4)
    left, right = figure.subplots(1, 2)
    for label, path, color in zip((BASE, OURS), paths, (GREY, BLUE), strict=True):
        left.plot(path[:, 0], path[:, 1], color=color, label=label)
        right.plot(path[:, 0], path[:, 2], color=color, label=label)
    left.set(xlabel="processor seconds", ylabel="log evidence")
    right.set(xlabel="processor seconds", ylabel="relevance vectors")
    left.legend(frameon=False)
    return figure


def _figure(theirs: dict[int, Array], ours: dict[int, Array]):
    figure = new_figure(13, 4)
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    sizes = list(theirs)
    lines = {OURS: (BLUE, "-", {n: found[:, 1] / found[:, 0] for n, found in theirs.items()})}
    for j, (label, colour) in enumerate(zip(SOLVERS, COLOURS, strict=True)):
        if label != "batch":
            ratios = {n: found[:, j] / found[:, 0] for n, found in ours.items()}
            lines[f"{label}, over ours"] = (colour, ":", ratios)
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
        ax.set_xticks(sizes, [str(n) for n in sizes], rotation=45)
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
