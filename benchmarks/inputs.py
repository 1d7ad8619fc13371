"""Uncertain inputs: moments against Monte Carlo, forecasts per second, noisy training inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchmarks.tools import tables
from benchmarks.tools.measure import one_thread, repeated, timed
from sparsebayes import RVR, Forecaster, NoisyInputGPR, ReducedRankGPR, predict_uncertain
from sparsebayes.datasets import make_mackey_glass

Array = np.ndarray
Record = dict[str, Any]

SECTIONS = ("moments", "paths", "noisy")
SIZES, FEATURES = (100, 300, 1000), (2, 8, 16)
N_INPUTS = 20
MEAN_ERROR, VARIANCE_ERROR = 0.01, 0.03  # two standard errors, in units of std and variance
SERIES, LAGS, HORIZON, STARTS = (200, 500, 1000), (4, 16), 100, 20
NOISY_SIZES, MANY = {"slope": (50, 500, 2000), "imputation": (50,), "stochastic_em": (50,)}, 5
STANDARD = "standard GP"


def process() -> GaussianProcessRegressor:
    """A Gaussian process of scikit-learn with hyperparameters as they are."""
    kernel = ConstantKernel(1.0) * RBF(2.0) + WhiteKernel(0.01)
    return GaussianProcessRegressor(kernel, optimizer=None)


MODELS: dict[str, Callable[[], Any]] = {
    "RVR": lambda: RVR(adapt=None),
    "GaussianProcessRegressor": process,
    "RVR(augment=True)": lambda: RVR(adapt=None, augment=True),
    "ReducedRankGPR": lambda: ReducedRankGPR(n_support=64, optimize=False, random_state=0),
}


def waves(n_samples: int, n_features: int) -> tuple[Array, Array]:
    """Waves in all directions with noise 0.1."""
    rng = np.random.default_rng([n_samples, n_features])
    X = rng.standard_normal((n_samples, n_features))
    return X, np.sin(X[:, 0] + X[:, 1]) + 0.3 * X[:, 0] + 0.1 * rng.standard_normal(n_samples)


def moments(quick: bool) -> Iterator[tuple[str, Record]]:
    """Seconds for each input: ours, and of as many draws as its accuracy or the limits ask."""
    rng = np.random.default_rng(0)
    for size in SIZES[:1] if quick else SIZES:
        for n_features in FEATURES[:1] if quick else FEATURES:
            mean = rng.standard_normal((N_INPUTS, n_features))
            root = rng.standard_normal((N_INPUTS, n_features, n_features)) * 0.3
            cov = root @ root.swapaxes(1, 2) / n_features
            for name, make in MODELS.items():
                with one_thread():
                    model = make().fit(*waves(size, n_features))
                    yield f"{name}/{size}/{n_features}", _against_draws(model, mean, cov)


def _against_draws(model: Any, mean: Array, cov: Array) -> Record:
    ours, seconds = repeated(predict_uncertain, model, mean, cov)

    def draw() -> tuple[Array, ...]:
        return predict_uncertain(
            model, mean, cov, method="monte_carlo", n_samples=2000, return_error=True
        )

    (first, second, errors), pilot = repeated(draw)
    unit = np.stack([MEAN_ERROR * np.sqrt(second), VARIANCE_ERROR * second], axis=1)
    needed = 2000.0 * np.max((2.0 * errors / unit) ** 2, axis=1)
    apart = np.abs(np.stack([ours[0] - first, ours[1] - second], axis=1)) / errors
    return {
        "seconds": seconds / len(mean),
        "draws": float(median(needed)),
        "draws_seconds": float(pilot / len(mean) * median(needed) / 2000.0),
        "apart": float(apart.max()),
    }


def paths(quick: bool) -> Iterator[tuple[str, Record]]:
    """Forecasts of 100 steps from several starts at once, in seconds for each."""
    for size in SERIES[:1] if quick else SERIES:
        for lags in LAGS[:1] if quick else LAGS:
            series = make_mackey_glass(size + HORIZON + STARTS, random_state=0)
            rng = np.random.default_rng(0)
            series = series + 0.03 * series.std() * rng.standard_normal(len(series))
            estimators: dict[str, tuple[Any, str]] = {
                "RVR": (RVR(), "exact"),
                "RVR(augment=True)": (RVR(augment=True), "quadrature"),
                "GaussianProcessRegressor": (process(), "exact"),
            }
            for name, (estimator, method) in estimators.items():
                with one_thread():
                    model = Forecaster(estimator, lags=lags, difference=0, transform=None)
                    _, fit = timed(model.fit, series[:size])
                    record = {"fit": fit}
                    for way in (method, "taylor", "naive"):
                        test = partial(model.backtest, start=size, methods=(way,))
                        record[way] = timed(test, series, HORIZON)[1] / (STARTS + 1)
                yield f"{name}/{size}/{lags}", record


def noisy_sinc(n_samples: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """``sin(x)/x`` with noise 0.05, and noise 1 on the training inputs."""
    rng = np.random.default_rng(seed)
    clean, test = np.linspace(-10, 10, n_samples), rng.uniform(-10, 10, 1000)
    y, y_test = (np.sinc(x / np.pi) + 0.05 * rng.standard_normal(len(x)) for x in (clean, test))
    return (clean + rng.standard_normal(n_samples))[:, None], y, test[:, None], y_test


def noisy(quick: bool) -> Iterator[tuple[str, Record]]:
    """Time, estimated noise and density of new observations at clean inputs."""
    models = {
        method: lambda method=method: NoisyInputGPR(input_noise=1.0, method=method, random_state=0)
        for method in NOISY_SIZES
    }
    kernel = ConstantKernel(0.1) * RBF(2.0) + WhiteKernel(0.01)
    models[STANDARD] = lambda: GaussianProcessRegressor(kernel)
    sizes = {**NOISY_SIZES, STANDARD: NOISY_SIZES["slope"]}
    for name, make in models.items():
        for size in sizes[name][:1] if quick else sizes[name]:
            records = []
            for seed in range(1 if quick or size > 500 else MANY):
                X, y, X_test, y_test = noisy_sinc(size, seed)
                with one_thread():
                    model, seconds = timed(make().fit, X, y)
                    mean, std = model.predict(X_test, return_std=True)
                density = float(norm.logpdf(y_test, mean, std).mean())
                noise = getattr(model, "noise_variance_", None)
                noise = model.kernel_.k2.noise_level if noise is None else noise
                records.append((seconds, density, float(np.sqrt(noise))))
            middle = [float(median(column)) for column in zip(*records, strict=True)]
            keys = ("seconds", "density", "noise")
            yield f"{name}/{size}", {**dict(zip(keys, middle, strict=True)), "draws": len(records)}


def run(section: str, quick: bool) -> Iterator[tuple[str, Record]]:
    """Yield (key, record) of one section."""
    yield from {"moments": moments, "paths": paths, "noisy": noisy}[section](quick)


def section(results: dict[str, Any]) -> list[str]:
    """What the page says on uncertain inputs."""
    parts = []
    for name, render in (("moments", _moments), ("paths", _paths), ("noisy", _noisy)):
        if name in results:
            parts.append(render(results[name]))
    return ["## Uncertain inputs\n", *parts] if parts else []


def _moments(records: dict[str, Record]) -> str:
    header = (
        "model", "samples", "features", "ours, ms", "draws needed", "draws, ms",
        "draws / ours", "difference, standard errors",
    )  # fmt: skip
    rows = [
        (
            *key.split("/"),
            tables.number(1e3 * one["seconds"], 3),
            tables.number(one["draws"], 2),
            tables.number(1e3 * one["draws_seconds"], 3),
            tables.ratio(one["draws_seconds"] / one["seconds"]),
            tables.fixed(one["apart"], 1),
        )
        for key, one in records.items()
    ]
    return f"### Prediction at Gaussian inputs\n\n{MOMENTS}\n{tables.table(header, rows)}\n"


def _paths(records: dict[str, Record]) -> str:
    header = (
        "model", "samples", "lags", "fit, s", "propagated, per second", "Taylor, per second",
        "naive, per second",
    )  # fmt: skip
    rows = []
    for key, one in records.items():
        way = next(name for name in ("exact", "quadrature") if name in one)
        speeds = (tables.number(1.0 / one[each], 3) for each in (way, "taylor", "naive"))
        rows.append((*key.split("/"), tables.seconds(one["fit"]), *speeds))
    return f"### Forecasts of {HORIZON} steps\n\n{PATHS}\n{tables.table(header, rows)}\n"


def _noisy(records: dict[str, Record]) -> str:
    header = ("method", "samples", "fit, s", "log density", "output noise", "draws")
    rows = [
        (
            *key.split("/"),
            tables.seconds(one["seconds"]),
            tables.signed(one["density"]),
            tables.fixed(one["noise"], 3),
            str(one["draws"]),
        )
        for key, one in records.items()
    ]
    return f"### Noisy training inputs\n\n{NOISY}\n{tables.table(header, rows)}\n"


MOMENTS = f"""\
`predict_uncertain` at {N_INPUTS} Gaussian inputs with full covariances, in milliseconds for each:
closed forms for `RVR` and `GaussianProcessRegressor`, quadrature for the augmented models. Draws
needed: as many as Monte Carlo takes until two standard errors are 1 % of the standard deviation for
the mean and 3 % of the variance for the variance, median over the inputs. The last column is how
far the two are apart, at the worst input, in standard errors of 2000 draws.
"""
PATHS = f"""\
Mackey and Glass with a little noise, {STARTS + 1} starts in one batch, each with the covariance of
its whole path: the closed form, or quadrature for the augmented machine; by Taylor's expansion; and
with the means alone.
"""
NOISY = """\
sin(x)/x on [−10, 10] with output noise 0.05 and noise 1 on the training inputs; log density of 1000
new observations at clean inputs, the mean over them; medians over draws. The standard Gaussian
process takes the inputs as they are.
"""
