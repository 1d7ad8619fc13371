"""QC04 app. D 4.1.2: a pH process with known inputs, 10 steps ahead, propagated and naive.

The paper's data, with one input, are not to be had. These are of the same kind of plant (DaISy's
stirring tank with acid and base flow): 2001 samples, of which the first 1228 examples teach and the
rest tests. In that rest the base flow changes quickly and the pH little, so the errors are not
comparable with the paper's, only the ways to forecast with each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, repeat
from sparsebayes import RVR, Forecaster, basis
from sparsebayes.datasets import load_benchmark
from sparsebayes.forecasting import Backtest

Array = np.ndarray

N_LAGS, HORIZON = 8, 10
METHODS = {"taylor": "Taylor", "exact": "exact", "naive": "naive"}
PAPER = {"taylor": (0.1716, 0.0574, 0.6208), "naive": (0.1716, 0.0574, 1980.2)}
PROCESS = "Gaussian process"
NAMES = (PROCESS, "Forecaster's default", "RVR", "RVR, RBF + Linear")
LOSSES = {
    "absolute_error": "absolute error",
    "squared_error": "squared error",
    "nlpd": "minus log density",
    "coverage": "95 % band covers",
}
# examples to learn from, those that tune the process, steps between starts of the process, of RVR
SIZES = {False: (1228, 300, 37, 1), True: (600, 100, 199, 97)}
N_DRAWS = 3  # of the examples that tune


def series(n_known: int) -> tuple[Array, Array]:
    """pH and inputs, standardised by what is known."""
    data = load_benchmark("daisy_ph")
    y, u = data["y"], data["u"]
    y = (y - y[:n_known].mean()) / y[:n_known].std()
    return y, (u - u[:n_known].mean(axis=0)) / u[:n_known].std(axis=0)


def rows(y: Array, u: Array) -> tuple[Array, Array]:
    """Lagged values of pH and inputs, and the pH that follows."""
    back = np.arange(1, N_LAGS + 1)
    times = np.arange(N_LAGS, len(y))[:, None]
    return np.hstack([y[times - back], u[times - back].reshape(len(times), -1)]), y[N_LAGS:]


def process(y: Array, u: Array, n_tune: int, seed: int) -> GaussianProcessRegressor:
    """The paper's Gaussian process; a part of the examples tunes its length scales and noise."""
    X, target = rows(y, u)
    part = np.random.default_rng(seed).choice(len(X), n_tune, replace=False)
    kernel = ConstantKernel(1.0, "fixed") * RBF(np.full(X.shape[1], 5.0), (0.1, 1e4))
    tuned = GaussianProcessRegressor(kernel + WhiteKernel(0.01, (1e-8, 1.0)))
    return GaussianProcessRegressor(tuned.fit(X[part], target[part]).kernel_, optimizer=None)


def models(seed: int, y: Array, u: Array, n_tune: int) -> dict[str, Callable[[], Any]]:
    """What makes each model."""
    return {
        PROCESS: lambda: process(y, u, n_tune, seed),
        "Forecaster's default": lambda: None,
        "RVR": RVR,
        "RVR, RBF + Linear": lambda: RVR(basis.RBF() + basis.Linear()),
    }


def one(name: str, seed: int, quick: bool) -> Backtest:
    """Forecasts of one model over the test part."""
    n_train, n_tune, far, near = SIZES[quick]
    n_known = n_train + N_LAGS
    y, u = series(n_known)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # lags without a say reach the bounds
        model = models(seed, y[:n_known], u[:n_known], n_tune)[name]()
        forecaster = Forecaster(
            model, lags=N_LAGS, difference=None, transform=None, exog_lags=N_LAGS, random_state=0
        ).fit(y[:n_known], u[:n_known])
        step = far if name == PROCESS else near
        return forecaster.backtest(y, HORIZON, step, X=u, start=n_known, methods=list(METHODS))


def run(options: Options) -> Report:
    """The losses and the figure."""
    n_train, n_tune, _, _ = SIZES[options.quick]
    report = Report("QC04 app. D 4.1.2: pH process, 10 steps ahead")
    drawn = [(PROCESS, options.seed + i, options.quick) for i in range(options.count(N_DRAWS, 1))]
    others = [(name, options.seed, options.quick) for name in NAMES if name != PROCESS]
    results: dict[str, list[Backtest]] = {name: [] for name in NAMES}
    for (name, *_), result in zip(
        drawn + others,
        repeat(one, drawn + others, jobs=options.jobs, label="models"),
        strict=True,
    ):
        results[name].append(result)
    for name, found in results.items():
        for method, label in METHODS.items():
            paper = PAPER.get(method, ()) if name == PROCESS else ()
            for k, (attribute, loss) in enumerate(LOSSES.items()):
                ours = [getattr(result[method], attribute)[-1] for result in found]
                printed = paper[k] if k < len(paper) else None
                report.add(f"{name}, {label}: {loss}", printed, ours)
        report.note(f"{name}: {found[0].n_origins} starts of forecasts.")
    report.note(
        f"{n_train} examples to learn from. {n_tune} of them, drawn at random, tune the length "
        "scales and the noise of the Gaussian process; its repetitions are these draws. The "
        "paper's propagation is Taylor's."
    )
    report.figures[""] = _figure({name: found[0] for name, found in results.items()})
    return report


def _figure(results: dict[str, Backtest]) -> Any:
    figure = new_figure(9, 3.2 * len(results))
    for (name, result), ax in zip(
        results.items(), figure.subplots(len(results), sharex=True), strict=True
    ):
        times = result.origins + HORIZON - 1
        ax.plot(times, result.truth[:, -1], ".-", color=GREY, linewidth=0.8, label="truth")
        for method, color in (("exact", BLUE), ("naive", ORANGE)):
            scores = result[method]
            mean, half = scores.mean[:, -1], 1.96 * scores.std[:, -1]
            ax.fill_between(times, mean - half, mean + half, color=color, alpha=0.3, linewidth=0)
            ax.plot(times, mean, color=color, linewidth=1, label=METHODS[method])
        came = result.truth[:, -1]
        limits = came.min() - 2.5, came.max() + 2.5  # some bands are much wider
        ax.set(title=name, ylabel="pH, standardised", ylim=limits)
        ax.legend(frameon=False, ncols=3)
    ax.set_xlabel("time")
    return figure
