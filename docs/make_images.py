"""Draw the pictures of the README and the documentation: ``python docs/make_images.py``."""

import re
from contextlib import chdir
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import numpy as np
import pandas
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from sparsebayes import (
    RVC,
    RVR,
    Forecaster,
    NoisyInputGPR,
    ParetoClassifier,
    denoise,
    sample_posterior,
)
from sparsebayes.basis import RBF
from sparsebayes.datasets import (
    load_gases,
    load_sensor,
    make_gauss_snake,
    make_mackey_glass,
    make_signal,
    make_sinc,
)
from sparsebayes.plots import (
    ClassificationDisplay,
    DenoiseDisplay,
    ForecastDisplay,
    ParetoDisplay,
    RegressionDisplay,
)

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE = "#0072B2", "#D55E00"


def sinc():
    X, y, f = make_sinc(100, noise=0.1, random_state=0)
    model = RVR(RBF(length_scale=2.1)).fit(X, y)
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    ax = figure.subplots()
    ax.plot(X, f, color="black", linestyle="--", linewidth=1, label="sin(x)/x", zorder=2.5)
    RegressionDisplay.from_estimator(model, X, y, ax=ax)
    figure.savefig(IMAGES / "sinc.png", dpi=120)


def classification():
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    X, y = make_moons(200, noise=0.25, random_state=0)
    model = RVC(RBF(length_scale=0.5), link="logit", calibrate=None).fit(X, y)
    ClassificationDisplay.from_estimator(model, X, y, ax=left)
    gases = load_gases()
    model = RVC(RBF(length_scale=12.0), link="logit", calibrate=None).fit(gases.data, gases.target)
    ClassificationDisplay.from_estimator(
        model,
        gases.data,
        gases.target,
        ax=right,
        feature_names=("film a (mV)", "film b (mV)"),
    )
    figure.savefig(IMAGES / "classification.png", dpi=120)


def error_bars():
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    X, y, _ = make_sinc(60, noise=0.1, random_state=0)
    seen = np.abs(X[:, 0] - 3.5) > 2.2
    X, y = X[seen], y[seen]
    grid = np.linspace(-16, 16, 401)[:, None]
    for name, value, color in (
        ("augment", True, BLUE), ("calibrate", "auto", ORANGE), ("calibrate", None, "#5A5A5A")
    ):  # fmt: skip
        model = RVR(RBF(length_scale=1.6), bias=False, **{name: value}).fit(X, y)
        mean, std = model.predict(grid, return_std=True)
        label = f"{name}={value!r}, ± 2 std"
        band = mean - 2 * std, mean + 2 * std
        left.fill_between(grid[:, 0], *band, color=color, alpha=0.35, linewidth=0, label=label)
        left.plot(grid, mean, color=color)
    left.plot(X, y, ".", color="black", markersize=4)
    left.set(xlabel="x", ylabel="y", xlim=(-16, 16), ylim=(-1.1, 1.7))
    left.legend(frameon=False, loc="upper left")
    X, y = make_moons(200, noise=0.25, random_state=0)
    line = np.column_stack([np.linspace(-4, 5, 301), np.full(301, 0.25)])
    for augment, color in ((True, "#0072B2"), (False, "#5A5A5A")):
        model = RVC(RBF(length_scale=0.7), link="logit", calibrate=None, augment=augment).fit(X, y)
        probability = model.predict_proba(line)[:, 1]
        right.plot(line[:, 0], probability, color=color, label=f"augment={augment}")
    near = np.abs(X[:, 1] - 0.25) < 0.25
    right.plot(X[near, 0], y[near], "|", color="black", label="labels nearby")
    right.set(xlabel="first input, the second is 0.25", ylabel="probability", xlim=(-4, 5))
    right.legend(frameon=False, loc="upper left")
    figure.savefig(IMAGES / "error_bars.png", dpi=120)


def calibration_curve():
    data = load_sensor()
    X, y = data.data, data.target
    model = RVR().fit(X, y)
    reading = 40.0
    found = model.inverse_predict([reading])
    figure = Figure(figsize=(8, 5.2), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    grid = np.linspace(*found.bounds, 801)
    mean, std = model.predict(grid[:, None], return_std=True)
    band = mean - 1.96 * std, mean + 1.96 * std
    top.fill_between(grid, *band, color=BLUE, alpha=0.25, linewidth=0, label="95 % of readings")
    top.plot(grid, mean, color=BLUE)
    top.plot(X, y, ".", color="black", markersize=4)
    top.axhline(reading, color=ORANGE, linestyle="--", label=f"a reading of {reading:g} mV")
    top.set(ylabel="response (mV)", xlim=found.bounds)
    top.legend(frameon=False, loc="upper left")
    bottom.plot(*found.grids[0], color=ORANGE)
    for branch in found.branches[0]:
        inside = (found.grids[0][0] >= branch.lower) & (found.grids[0][0] <= branch.upper)
        points, density = (values[inside] for values in found.grids[0])
        bottom.fill_between(points, density, color=ORANGE, alpha=0.35, linewidth=0)
        bottom.annotate(
            f"{branch.probability:.0%}", (branch.mode, density.max()), (0, 4),
            textcoords="offset points", ha="center",
        )  # fmt: skip
        for ax in (top, bottom):
            ax.axvspan(branch.lower, branch.upper, color=ORANGE, alpha=0.08, linewidth=0)
    bottom.set(xlabel="temperature (°C)", ylabel="density")
    bottom.set_ylim(0, 1.25 * found.grids[0][1].max())
    figure.savefig(IMAGES / "calibration_curve.png", dpi=120)


def denoising():
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.6, 1])
    t, y, f = make_signal("heavisine", 512, snr=5, random_state=1)
    y[200:230] = np.nan
    found = denoise(y)
    left.plot(t, f, color="black", linestyle="--", linewidth=1, label="HeaviSine", zorder=2.5)
    DenoiseDisplay.from_denoised(found, y, t=t, ax=left)
    t, y, f = make_signal("doppler", 2048, snr=5, random_state=0)
    DenoiseDisplay.from_denoised(denoise(y, "sym8"), y, kind="shrinkage", ax=right)
    right.set_title("Doppler, sym8 wavelets", fontsize="medium")
    figure.savefig(IMAGES / "denoising.png", dpi=120)


def forecasting():
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    t = np.arange(144)
    noise = 0.03 * np.random.default_rng(0).standard_normal(144)
    sales = np.exp(5 + 0.01 * t + 0.15 * np.sin(np.pi * t / 6) + noise)
    y = pandas.Series(sales, pandas.date_range("2014-01", periods=144, freq="MS"), name="sales")
    model = Forecaster().fit(y[:120])
    ForecastDisplay.from_forecaster(model, 24, truth=y[120:], history=72, ax=left)

    series = make_mackey_glass(1000, random_state=0)
    series = (series - series.mean()) / series.std()
    series += 0.03 * np.random.default_rng(0).standard_normal(1000)
    model = Forecaster(RVR(), lags=8, step=2, difference=None, transform=None).fit(series[:300])
    steps = np.arange(1, 101)
    for method, color in (("exact", "#0072B2"), ("naive", "#D55E00")):
        mean, std = model.predict(100, return_std=True, method=method)
        label = f"{method}, 95 %"
        band = mean - 1.96 * std, mean + 1.96 * std
        right.fill_between(steps, *band, color=color, alpha=0.3, linewidth=0, label=label)
        right.plot(steps, mean, color=color, linewidth=1)
    right.plot(steps, series[300:400], color="black", linewidth=1, label="what came")
    right.set(xlabel="steps ahead", ylabel="Mackey and Glass", xlim=(0, 100))
    right.legend(frameon=False, loc="upper left")
    figure.savefig(IMAGES / "forecasting.png", dpi=120)


def noisy_inputs():
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    rng = np.random.default_rng(0)
    x, grid = np.linspace(-10, 10, 50), np.linspace(-11, 11, 400)[:, None]
    y = np.sinc(x / np.pi) + 0.05 * rng.standard_normal(50)
    observed = (x + rng.standard_normal(50))[:, None]
    models = {
        "inputs taken as they are": NoisyInputGPR(input_noise=0.0, method="slope", random_state=0),
        "input noise known": NoisyInputGPR(input_noise=1.0, random_state=0),
    }
    for ax, (name, model) in zip(figure.subplots(1, 2, sharey=True), models.items(), strict=True):
        mean, std = model.fit(observed, y).predict(grid, return_std=True)
        band = mean - 1.96 * std, mean + 1.96 * std
        ax.fill_between(grid[:, 0], *band, color="#0072B2", alpha=0.3, linewidth=0, label="95 %")
        ax.plot(grid, mean, color="#0072B2", label="mean")
        ax.plot(grid, np.sinc(grid / np.pi), "--", color="black", linewidth=1, label="sin(x)/x")
        ax.plot(observed, y, "x", color="#5A5A5A", markersize=5, label="data")
        noise = model.noise_variance_**0.5
        ax.set_title(f"{name}: output noise {noise:.3f}", fontsize="medium")
        ax.set(xlabel="x", xlim=(-11, 11))
    ax.legend(frameon=False, loc="upper right")
    figure.savefig(IMAGES / "noisy_inputs.png", dpi=120)


def pareto():
    X, y = make_gauss_snake(400, separation=1.5, random_state=0)
    X_test, y_test = make_gauss_snake(4000, separation=1.5, random_state=1)
    model = ParetoClassifier(n_evaluations=10_000, random_state=0).fit(X, y)
    figure = Figure(figsize=(7, 6), layout="constrained")
    ParetoDisplay.from_estimator(
        model, X_test, y_test, ax=figure.subplots(), chosen={"max_kernels": 6}, name="test"
    )
    figure.savefig(IMAGES / "pareto.png", dpi=120)


def sampling():
    X, y, _ = make_sinc(50, noise=0.1, random_state=4)
    samples = sample_posterior(RVR(RBF(2.0)), X, y, 500, 4, random_state=0)
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    grid = np.linspace(-10, 10, 400)[:, None]
    for model, color, name in ((samples.optimum, ORANGE, "optimum"), (samples, BLUE, "average")):
        mean, std = model.predict(grid, return_std=True)
        left.plot(grid[:, 0], mean, color=color, label=name)
        for sign in (-2, 2):
            left.plot(grid[:, 0], mean + sign * std, color=color, linewidth=0.8, linestyle=":")
    left.plot(grid[:, 0], np.sinc(grid[:, 0] / np.pi), color="black", linewidth=1, label="truth")
    left.scatter(X[:, 0], y, s=14, color="grey", zorder=3)
    left.set(xlabel="x", title="mean ± 2 standard deviations")
    left.legend(frameon=False)
    samples.plot(ax=right)
    figure.savefig(IMAGES / "sampling.png", dpi=120)


def tutorial():
    """Those of the tutorial are drawn by its own code."""
    page = (IMAGES.parent / "start" / "tutorial.md").read_text("utf-8")
    names = {"__name__": "__main__"}
    with TemporaryDirectory() as folder, chdir(folder):
        for code in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
            exec(code, names)
        for name in ("effects", "calibration"):
            copyfile(f"{name}.png", IMAGES / f"tutorial_{name}.png")


if __name__ == "__main__":
    sinc()
    classification()
    error_bars()
    calibration_curve()
    denoising()
    forecasting()
    noisy_inputs()
    pareto()
    sampling()
    tutorial()
