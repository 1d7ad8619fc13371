"""QC04 2.3, Table 2.2 and Fig. 2.6: Mackey-Glass, six steps ahead, with learned length scales.

The series is standardised, as the paper's error of the linear model shows. It has no noise. The
paper learns from disjoint sets and does not say how they are drawn. Here they are pieces of one
long series, and the test set is a later piece. Draws at random, whose neighbours in time are in the
test set, are an easier task, shown as well.

The RVM is fitted in two ways: by `RVR`, which learns the scales first and then chooses functions,
and by the thesis' own schedule (`_schedule`), which does both in turns from all functions. The
thesis does not say when that is to stop. In the table functions leave it as printed, when their α
is very large, and it is compared, while RVR stands beside; its end is that of those tried with
which the isotropic RVM has about the thesis' number of vectors, which is therefore not compared. In
Fig. 2.6, where there are many fits, functions leave as soon as the evidence gains by it.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.neural_network import MLPRegressor
from threadpoolctl import threadpool_limits

from experiments._report import BLUE, GREEN, GREY, ORANGE, Options, Report, new_figure, repeat
from experiments.quinonero2004._schedule import GAIN, Schedule
from experiments.quinonero2004._ssem import LARGEST
from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import lagged, make_mackey_glass

Array = np.ndarray

N_TRAIN, N_TEST, N_SETS = 1000, 8500, 10
FIGURE_TRAIN, FIGURE_TEST = 500, 6000
STARTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


class LocalLinear:
    """A linear model of the five nearest neighbours, the flattest through them."""

    def fit(self, X: Array, y: Array) -> LocalLinear:
        """Keep the data."""
        self._X, self._y = X, y
        self._search = NearestNeighbors(n_neighbors=5).fit(X)
        return self

    def predict(self, X: Array) -> Array:
        """From the neighbours, a training point's own value among them."""
        near = self._search.kneighbors(X, return_distance=False)
        inputs, targets = self._X[near], self._y[near]  # (n, 5, D), (n, 5)
        middle = inputs.mean(axis=1, keepdims=True)
        mean = targets.mean(axis=1, keepdims=True)
        slopes = np.einsum("ndk,nk->nd", np.linalg.pinv(inputs - middle), targets - mean)
        return mean[:, 0] + np.einsum("nd,nd->n", slopes, X - middle[:, 0])


def _mlp(repetition: int) -> MLPRegressor:
    return MLPRegressor(
        hidden_layer_sizes=(20,),
        activation="tanh",
        solver="lbfgs",
        alpha=1e-6,
        tol=1e-9,
        max_iter=3000,
        max_fun=10**6,
        random_state=repetition,
    )


MODELS = {
    "linear": lambda _: LinearRegression(),
    "5 nearest neighbours, linear": lambda _: LocalLinear(),
    "MLP": _mlp,
    "RVM, isotropic": lambda _: RVR(RBF(), adapt="isotropic", calibrate=None),
    "RVM, ARD": lambda _: RVR(RBF(), adapt="ard", calibrate=None),
    "RVM, isotropic, thesis' schedule": lambda _: Schedule(ard=False, limit=LARGEST),
    "RVM, ARD, thesis' schedule": lambda _: Schedule(ard=True, limit=LARGEST),
}
STOPS = (1e-4, 1e-6)  # where else the schedule may end, and what that changes
KINDS = "RVM, isotropic", "RVM, ARD"
STOPPED = {
    f"{kind}, thesis' schedule, stop at {stop:g}": Schedule(
        ard=kind == KINDS[1], gain=stop, limit=LARGEST
    )
    for kind in KINDS
    for stop in STOPS
} | {
    f"{kind}, thesis' schedule, functions leave where the evidence gains": Schedule(
        ard=kind == KINDS[1]
    )
    for kind in KINDS
}
MODELS |= {name: lambda _, model=model: model for name, model in STOPPED.items()}
# train error, test error, relevance vectors
PAPER: dict[str, tuple[float | None, ...]] = {
    "linear": (9.7e-2, 9.6e-2, None),
    "5 nearest neighbours, linear": (4.8e-7, 8.4e-5, None),
    "MLP": (3.1e-5, 3.4e-5, None),
    "RVM, isotropic": (2.3e-6, 5.5e-6, 108),
    "RVM, ARD": (1.1e-6, 1.9e-6, 87),
}
END = 1e-6  # of `STOPS` and the schedule's own
ENDED = {kind: f"{kind}, thesis' schedule, stop at {END:g}" for kind in KINDS}
PAPER |= {ended: PAPER.pop(kind) for kind, ended in ENDED.items()}
WAYS = "fixed, RVR", "learned, RVR", "fixed, thesis' schedule", "learned, thesis' schedule"
DRAMATIC = 10.0  # ratio of the largest and the least mean error over fixed length scales
WIDE = 10.0  # the same over where learning begins: less than this is learned from everywhere


def examples(
    seed: int, number: int, n_train: int, n_test: int, scattered: bool = False
) -> tuple[Array, ...]:
    """Inputs and targets to learn from and to test on: pieces of the series, or draws from it."""
    series = make_mackey_glass(N_SETS * N_TRAIN + N_TEST + 2 * 96)
    X, y = lagged((series - series.mean()) / series.std(), lags=16, step=6, horizon=6)
    order = np.arange(len(y))
    if scattered:
        order = np.random.default_rng(seed).permutation(order)
    start = number % N_SETS * N_TRAIN
    train, test = order[start : start + n_train], order[-n_test:]
    return X[train], y[train], X[test], y[test]


def _fitted(model, X: Array, y: Array):
    """The model and the CPU seconds of its fit."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()
        model = model.fit(X, y)
        return model, time.process_time() - start


def one(
    name: str, seed: int, repetition: int, size: int, scattered: bool = False
) -> tuple[float, ...]:
    """Train error, test error, relevance vectors and seconds of one model on one set."""
    X, y, X_test, y_test = examples(seed, repetition, size, N_TEST, scattered)
    model, seconds = _fitted(MODELS[name](repetition), X, y)
    errors = [np.mean((model.predict(a) - b) ** 2) for a, b in ((X, y), (X_test, y_test))]
    return *errors, len(getattr(model, "relevance_vectors_", ())), seconds


def widths(start: float, seed: int, repetition: int) -> Array:
    """Test errors, length scales and vectors in the four `WAYS`, (4, 3)."""
    X, y, X_test, y_test = examples(seed, repetition, FIGURE_TRAIN, FIGURE_TEST)
    found = []
    for make in (
        RVR(RBF(start), adapt=None, calibrate=None),
        RVR(RBF(start), adapt="isotropic", calibrate=None),
        Schedule(ard=False, start=start, learned=False),
        Schedule(ard=False, start=start),
    ):
        model, _ = _fitted(make, X, y)
        error = np.mean((model.predict(X_test) - y_test) ** 2)
        basis = getattr(model, "basis_", None) or model.basis
        vectors = len(model.relevance_vectors_)
        found.append((error, np.exp(basis.log_scales()[0]), vectors))
    return np.array(found)


def run(options: Options) -> Report:
    """The table and the figure."""
    report = Report("QC04 Table 2.2: Mackey-Glass, six steps ahead, mean squared errors")
    count = options.count(N_SETS, 1)
    _table(report, options, count, 400 if options.quick else N_TRAIN)
    _widths(report, options, count)
    return report


def _table(report: Report, options: Options, count: int, size: int) -> None:
    report.row = "QC04 Table 2.2"
    means = {}
    for name in (*PAPER, *KINDS):
        paper = PAPER.get(name, (None, None, None))
        tasks = [(name, options.seed, i, size) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=name))
        means[name] = values.mean(axis=0)
        label = name.replace("RVM", "RVR") if name in KINDS else name
        report.add(f"{label}: train error", paper[0], values[:, 0], best="low")
        report.add(f"{label}: test error", paper[1], values[:, 1], best="low")
        if name.startswith("RVM"):
            vectors: float | str | None = paper[2]
            if name == ENDED[KINDS[0]]:
                vectors = f"{vectors:g} (fitted)"
            report.add(f"{label}: relevance vectors", vectors, values[:, 2], best="low")
            report.add(f"{label}: seconds", None, values[:, 3])
            report.note(
                f"{label}: test error {np.median(values[:, 1]):.2e} at the median, "
                f"{values[:, 1].min():.2e} to {values[:, 1].max():.2e}."
            )
    for way, names in (("RVR", KINDS), ("thesis' schedule", ENDED.values())):
        single, each = (means[name] for name in names)
        report.claim(f"{way}: ARD has smaller test errors than isotropic", each[1] < single[1])
        report.claim(f"{way}: ARD keeps fewer vectors than isotropic", each[2] < single[2])
        report.claim(f"{way}: isotropic errs less than the MLP", single[1] < means["MLP"][1])
    report.row = ""
    ends, draws = [], []
    for name in (*(f"{kind}, thesis' schedule" for kind in KINDS), *STOPPED):
        tasks = [(name, options.seed, i, size) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=name))
        report.add(f"{name}: test error", None, values[:, 1])
        report.add(f"{name}: relevance vectors", None, values[:, 2])
        ends.append(_told(name, values))
    for name in KINDS:
        tasks = [(name, options.seed, i, size, True) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=f"{name}, random draws"))
        report.add(f"{name}, random draws: test error", None, values[:, 1])
        report.add(f"{name}, random draws: relevance vectors", None, values[:, 2])
        draws.append(_told(name, values))
    many, few = means[KINDS[1]], means[ENDED[KINDS[1]]]
    report.note(
        f"QC04 Table 2.2: With ARD RVR keeps {many[2]:.0f} vectors at a test error of {many[1]:.1e}"
        f", and the thesis' schedule on the same data {few[2]:.0f} at {few[1]:.1e} (the thesis: 87 "
        "at 1.9e-06). So the number of vectors depends on the route by which the evidence is "
        "climbed: the series has no noise, and each further function can still lower the error."
    )
    report.note(
        f"QC04 Table 2.2: The schedule ends at a relative gain of {END:g}, chosen by the vectors "
        f"of the isotropic RVM, and functions leave it when their α reaches {LARGEST:g}. With an "
        f"end at {GAIN:g} or as named, and where functions leave as soon as the evidence gains by "
        f"it: {'; '.join(ends)}. By RVR on random draws of the series: "
        f"{'; '.join(draws)}. So it matters when functions leave, and the choice of examples does "
        "not; the thesis tells neither its start nor its limit of α."
    )
    report.note(
        "QC04 Table 2.2: The thesis' MLP was pruned; ours is scikit-learn's with 20 hidden units. "
        "Five neighbours do not determine 16 slopes: ours are the smallest, the thesis does not "
        "say."
    )
    report.note(
        f"{size} examples to learn from, {N_TEST} to test; errors are those of the standardised "
        "series."
    )


def _told(name: str, values: Array) -> str:
    """A model's mean error and number of vectors."""
    return f"{name}: {values[:, 2].mean():.0f} vectors at {values[:, 1].mean():.1e}"


def _widths(report: Report, options: Options, count: int) -> None:
    report.row = "QC04 Fig. 2.6"
    found = {}
    for start in STARTS[1::2] if options.quick else STARTS:
        tasks = [(start, options.seed, i) for i in range(count)]
        label = f"start ℓ = {start:g}"
        found[start] = np.array(repeat(widths, tasks, jobs=options.jobs, label=label))
        for k, way in enumerate(WAYS):
            report.add(f"{label}, {way}: test error", None, found[start][:, k, 0])
        told = ", ".join(f"{np.median(found[start][:, k, 1]):.3g}" for k in (1, 3))
        report.note(f"QC04 Fig. 2.6: {label}: RVR and the schedule end at {told} (medians).")
    errors = np.array([values[:, :, 0].mean(axis=0) for values in found.values()])  # start, way
    ratio = errors.max(axis=0) / errors.min(axis=0)
    for k, way in ((1, "RVR"), (3, "thesis' schedule")):
        report.claim(
            f"{way}: the error depends dramatically on a fixed length scale: ratio over "
            f"{DRAMATIC:g}", ratio[k - 1] > DRAMATIC, count,
        )  # fmt: skip
        report.claim(
            f"{way}: learned from all starts: the ratio of errors is below {WIDE:g}",
            ratio[k] < WIDE, count,
        )  # fmt: skip
        better = errors[:, k] < errors[:, k - 1]
        report.claim(
            f"{way}: better than the fixed start, from more than half of the starts",
            better.mean() > 0.5, count,
        )  # fmt: skip
        report.note(
            f"QC04 Fig. 2.6: {way}: {ratio[k]:.3g} is the ratio of the largest and the least mean "
            f"error over the starts (fixed: {ratio[k - 1]:.3g}); better than the fixed start from "
            f"{int(better.sum())} of {better.size}."
        )
    report.note(
        f"QC04 Fig. 2.6: {FIGURE_TRAIN} examples to learn from, {FIGURE_TEST} to test, as its "
        "caption says; the text says 700 and 8500."
    )
    report.draw(_figure(found))


def _figure(values: dict[float, Array]):
    figure = new_figure(6, 4)
    ax = figure.subplots()
    for k, (label, marker, color) in enumerate(
        zip(WAYS, "o^vs", (ORANGE, BLUE, GREY, GREEN), strict=True)
    ):
        for start, v in values.items():
            points = v[:, k, 0]
            ax.plot(np.full(len(v), start), points, marker, color=color, alpha=0.3, markersize=4)
        means = [v[:, k, 0].mean() for v in values.values()]
        ax.plot(list(values), means, marker=marker, color=color, label=f"{label}, mean")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="length scale at the start",
        ylabel="test mean squared error",
    )
    ax.set_xticks(list(values), [f"{start:g}" for start in values])
    ax.minorticks_off()
    ax.legend(frameon=False)
    return figure
