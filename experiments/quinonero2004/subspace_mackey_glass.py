"""QC04 app. C, Fig. 3 left: SSEM relative to the batch method on the Mackey-Glass series.

Six steps ahead from 16 values spaced 6, Gaussian functions of variance ν² = 10 on the standardised
series, 5804 test examples, random partitions. "SSEM 1 / 1" is the algorithm of that paper (one
function, one cycle), "SSEM 59 / 10" that of QC04 2.4. The series has no noise.
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
from sparsebayes import EM, RVR, Sequential, Subspace
from sparsebayes.basis import RBF
from sparsebayes.datasets import lagged, make_mackey_glass

Array = np.ndarray

SIZES = (100, 200, 400, 800, 1600, 2400)
N_TEST = 5804
LENGTH_SCALE = np.sqrt(10.0)
SOLVERS = {
    "batch": EM(mackay=True),
    "SSEM 1 / 1": Subspace(n_add=1, n_cycles=1),
    "SSEM 59 / 10": Subspace(n_add=59, n_cycles=10),
    "our default": Sequential(),
}
MEASURES = ("test error", "relevance vectors", "processor time")
# What the text of app. C says of Fig. 3; its other values can only be read off the figure.
PAPER = {("SSEM 1 / 1", n, "processor time"): "< 1" for n in SIZES[1:-1]} | {
    ("SSEM 1 / 1", 100, "processor time"): "> 1",
    ("SSEM 1 / 1", 2400, "processor time"): "≈ 0.1",
}


def one(size: int, seed: int, repetition: int) -> Array:
    """Test error, relevance vectors and time of all solvers on one partition."""
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
        values.append((error, len(model.relevance_vectors_), seconds))
    return np.array(values)


def run(options: Options) -> Report:
    """Ratios to the batch method for growing training sets."""
    count = options.count(10, 2)
    sizes = [n for n in SIZES if n <= 800 or not options.quick]
    report = Report("QC04 app. C, Fig. 3 left: Mackey-Glass, relative to the batch method")
    ratios = {}
    for size in sizes:
        tasks = [(size, options.seed, i) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=f"N = {size}"))
        ratios[size] = values / values[:, :1]
        for j, label in enumerate(SOLVERS):
            if label == "batch":
                continue
            for k, measure in enumerate(MEASURES):
                paper = PAPER.get((label, size, measure))
                report.add(f"N = {size}, {label}: {measure}", paper, ratios[size][:, j, k])
        error, vectors, seconds = values[:, 0].mean(axis=0)
        report.note(
            f"N = {size}, batch: test MSE {error:.2e}, {vectors:.1f} relevance vectors, "
            f"{seconds:.2f} s."
        )
    report.note(
        "Paper: SSEM is an order of magnitude faster for a few thousand examples, and the batch "
        "method is faster only for 100; its other values are only in the figure."
    )
    report.draw(_figure(ratios))
    return report


def _figure(ratios: dict[int, Array]):
    figure = new_figure(11, 4)
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    sizes = list(ratios)
    for ax, (k, measure) in zip(figure.subplots(1, 3), enumerate(MEASURES), strict=True):
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
