"""QC04 2.3, Table 2.2 and Fig. 2.6: Mackey-Glass, six steps ahead, with learned length scales.

The series is standardised, as the paper's error of the linear model shows. It has no noise. The
paper learns from disjoint sets and does not say how they are drawn. Here they are pieces of one
long series, and the test set is a later piece. Draws at random, whose neighbours in time are in the
test set, are an easier task, shown as well.
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

from experiments._report import BLUE, ORANGE, Options, Report, new_figure, repeat
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
}
# train error, test error, relevance vectors
PAPER: dict[str, tuple[float | None, ...]] = {
    "linear": (9.7e-2, 9.6e-2, None),
    "5 nearest neighbours, linear": (4.8e-7, 8.4e-5, None),
    "MLP": (3.1e-5, 3.4e-5, None),
    "RVM, isotropic": (2.3e-6, 5.5e-6, 108),
    "RVM, ARD": (1.1e-6, 1.9e-6, 87),
}


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
        model.fit(X, y)
        return model, time.process_time() - start


def one(
    name: str, seed: int, repetition: int, size: int, scattered: bool = False
) -> tuple[float, ...]:
    """Train error, test error, relevance vectors and seconds of one model on one set."""
    X, y, X_test, y_test = examples(seed, repetition, size, N_TEST, scattered)
    model, seconds = _fitted(MODELS[name](repetition), X, y)
    errors = [np.mean((model.predict(a) - b) ** 2) for a, b in ((X, y), (X_test, y_test))]
    return *errors, len(getattr(model, "relevance_vectors_", ())), seconds


def widths(start: float, seed: int, repetition: int) -> tuple[float, float, float]:
    """Test errors with the width `start` and with one learned from there, and that width."""
    X, y, X_test, y_test = examples(seed, repetition, FIGURE_TRAIN, FIGURE_TEST)
    errors = []
    for adapt in (None, "isotropic"):
        model, _ = _fitted(RVR(RBF(start), adapt=adapt, calibrate=None), X, y)
        errors.append(float(np.mean((model.predict(X_test) - y_test) ** 2)))
    return *errors, float(np.exp(model.basis_.log_scales()[0]))


def run(options: Options) -> Report:
    """The table and the figure."""
    report = Report("QC04 Table 2.2: Mackey-Glass, six steps ahead, mean squared errors")
    count = options.count(N_SETS, 1)
    size = 400 if options.quick else N_TRAIN
    for name, paper in PAPER.items():
        tasks = [(name, options.seed, i, size) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=name))
        report.add(f"{name}: train error", paper[0], values[:, 0])
        report.add(f"{name}: test error", paper[1], values[:, 1])
        if paper[2] is not None:
            report.add(f"{name}: relevance vectors", paper[2], values[:, 2])
            report.add(f"{name}: seconds", None, values[:, 3])
            report.note(
                f"{name}: test error {np.median(values[:, 1]):.2e} at the median, "
                f"{values[:, 1].min():.2e} to {values[:, 1].max():.2e}."
            )
    for name in ("RVM, isotropic", "RVM, ARD"):
        tasks = [(name, options.seed, i, size, True) for i in range(count)]
        values = np.array(repeat(one, tasks, jobs=options.jobs, label=f"{name}, random draws"))
        report.add(f"{name}, random draws: test error", None, values[:, 1])
        report.add(f"{name}, random draws: relevance vectors", None, values[:, 2])
    report.note(
        f"{size} examples to learn from, {N_TEST} to test; errors are those of the standardised "
        "series. The paper's MLP was pruned; this is scikit-learn's with 20 hidden units. Five "
        "neighbours do not determine 16 slopes: ours are the smallest, the paper does not say."
    )
    figure_values = {}
    for start in STARTS[1::2] if options.quick else STARTS:
        tasks = [(start, options.seed, i) for i in range(count)]
        label = f"Fig. 2.6, ℓ = {start:g}"
        figure_values[start] = np.array(repeat(widths, tasks, jobs=options.jobs, label=label))
        fixed, learned, scale = figure_values[start].T
        report.add(f"{label} fixed: test error", None, fixed)
        report.add(f"{label} learned from there: test error", None, learned)
        report.note(f"{label}: learned {np.median(scale):.3g} at the median.")
    report.note(
        f"Fig. 2.6: {FIGURE_TRAIN} examples to learn from, {FIGURE_TEST} to test, as its caption "
        "says; the text says 700 and 8500."
    )
    report.draw(_figure(figure_values))
    return report


def _figure(values: dict[float, Array]):
    figure = new_figure(6, 4)
    ax = figure.subplots()
    for k, (label, marker, color) in enumerate(
        (("fixed", "o", ORANGE), ("learned", "^", BLUE)),
    ):
        for start, v in values.items():
            ax.plot(np.full(len(v), start), v[:, k], marker, color=color, alpha=0.3, markersize=4)
        means = [v[:, k].mean() for v in values.values()]
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
