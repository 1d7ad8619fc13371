"""QC04 app. D 4.1.2: a pH process with known inputs, 10 steps ahead, propagated and naive.

The paper's data, a simulation with one input, are not to be had. These are measured at the same kind
of plant (DaISy's stirring tank with acid and base flow): 2001 samples, of which the first 1228
examples teach and the rest tests. In that rest the base flow changes quickly and the pH little, so
the errors are not comparable with the paper's, only the two ways with each other.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from threadpoolctl import threadpool_limits

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, progress
from sparsebayes import RVR, Forecaster, basis
from sparsebayes.datasets import load_benchmark
from sparsebayes.forecasting import Backtest

Array = np.ndarray

N_LAGS, HORIZON = 8, 10
METHODS = {"taylor": "Taylor", "exact": "exact", "naive": "naive"}
PAPER = {"taylor": (0.1716, 0.0574, 0.6208), "naive": (0.1716, 0.0574, 1980.2)}
# examples to learn from, those that tune the process, steps between starts of the process, of RVR
SIZES = {False: (1228, 300, 20, 4), True: (300, 80, 200, 50)}


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


def backtest(model: Any, y: Array, u: Array, n_known: int, step: int) -> Backtest:
    """Forecasts over the test part."""
    forecaster = Forecaster(
        model, lags=N_LAGS, difference=None, transform=None, exog_lags=N_LAGS
    ).fit(y[:n_known], u[:n_known])
    return forecaster.backtest(y, HORIZON, step, X=u, start=n_known, methods=list(METHODS))


def run(options: Options) -> Report:
    """The losses and the figure."""
    n_train, n_tune, far, near = SIZES[options.quick]
    n_known = n_train + N_LAGS
    y, u = series(n_known)
    report = Report("QC04 app. D 4.1.2: pH process, 10 steps ahead")
    results = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # lags without a say reach the bounds
        progress("Gaussian process: tuning")
        models = {
            "Gaussian process": (process(y[:n_known], u[:n_known], n_tune, options.seed), far),
            "RVR": (RVR(), near),
            "RVR, RBF + Linear": (RVR(basis.RBF() + basis.Linear()), near),
        }
        for name, (model, step) in models.items():
            progress(name)
            results[name] = backtest(model, y, u, n_known, step)
    for name, result in results.items():
        for method, label in METHODS.items():
            paper = PAPER.get(method) if name == "Gaussian process" else None
            scores = result[method]
            ours = scores.absolute_error, scores.squared_error, scores.nlpd
            for k, loss in enumerate(("absolute error", "squared error", "minus log density")):
                row = f"{name}, {label}: {loss}"
                report.add(row, paper[k] if paper else None, ours[k][-1], result.n_origins)
            report.add(
                f"{name}, {label}: 95 % band covers", None, scores.coverage[-1], result.n_origins
            )
    report.note(
        f"{n_train} examples to learn from; {n_tune} of them tune the length scales and the noise "
        "of the Gaussian process. Repetitions are the starts of the forecasts. The paper's "
        "propagation is Taylor's."
    )
    report.figures[""] = _figure(results)
    return report


def _figure(results: dict[str, Backtest]) -> Any:
    figure = new_figure(9, 3.2 * len(results))
    for (name, result), ax in zip(
        results.items(), figure.subplots(len(results), sharex=True), strict=True
    ):
        times = result.origins + HORIZON - 1
        ax.plot(times, result.truth[:, -1], ".-", color=GREY, linewidth=0.8, label="truth")
        for method, color in (("taylor", BLUE), ("naive", ORANGE)):
            scores = result[method]
            mean, half = scores.mean[:, -1], 1.96 * scores.std[:, -1]
            ax.fill_between(times, mean - half, mean + half, color=color, alpha=0.3, linewidth=0)
            ax.plot(times, mean, color=color, linewidth=1, label=METHODS[method])
        ax.set(title=name, ylabel="pH, standardised")
        ax.legend(frameon=False, ncols=3)
    ax.set_xlabel("time")
    return figure
