"""Draw the pictures of the README and the documentation: ``python docs/make_images.py``."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from sparsebayes import RVC, RVR, denoise
from sparsebayes.basis import RBF
from sparsebayes.datasets import load_gases, make_signal, make_sinc
from sparsebayes.plots import ClassificationDisplay, DenoiseDisplay, RegressionDisplay

IMAGES = Path(__file__).parent / "images"


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
    model = RVC(RBF(length_scale=0.5)).fit(X, y)
    ClassificationDisplay.from_estimator(model, X, y, ax=left)
    gases = load_gases()
    model = RVC(RBF(length_scale=12.0)).fit(gases.data, gases.target)
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
    for augment, color in ((True, "#0072B2"), (False, "#5A5A5A")):
        model = RVR(RBF(length_scale=1.6), bias=False, augment=augment).fit(X, y)
        mean, std = model.predict(grid, return_std=True)
        label = f"augment={augment}, ± 2 std"
        band = mean - 2 * std, mean + 2 * std
        left.fill_between(grid[:, 0], *band, color=color, alpha=0.35, linewidth=0, label=label)
        left.plot(grid, mean, color=color)
    left.plot(X, y, ".", color="black", markersize=4)
    left.set(xlabel="x", ylabel="y", xlim=(-16, 16), ylim=(-1.1, 1.7))
    left.legend(frameon=False, loc="upper left")
    X, y = make_moons(200, noise=0.25, random_state=0)
    line = np.column_stack([np.linspace(-4, 5, 301), np.full(301, 0.25)])
    for augment, color in ((True, "#0072B2"), (False, "#5A5A5A")):
        model = RVC(RBF(length_scale=0.7), augment=augment).fit(X, y)
        probability = model.predict_proba(line)[:, 1]
        right.plot(line[:, 0], probability, color=color, label=f"augment={augment}")
    near = np.abs(X[:, 1] - 0.25) < 0.25
    right.plot(X[near, 0], y[near], "|", color="black", label="labels nearby")
    right.set(xlabel="first input, the second is 0.25", ylabel="probability", xlim=(-4, 5))
    right.legend(frameon=False, loc="upper left")
    figure.savefig(IMAGES / "error_bars.png", dpi=120)


def denoising():
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.6, 1])
    t, y, f = make_signal("heavisine", 512, snr=5, random_state=1)
    y[200:230] = np.nan
    found = denoise(y)
    left.plot(t, f, color="black", linestyle="--", linewidth=1, label="HeaviSine", zorder=2.5)
    DenoiseDisplay.from_denoised(found, y, t=t, ax=left)
    t, y, f = make_signal("doppler", 2048, snr=5, random_state=0)
    DenoiseDisplay.from_denoised(denoise(y), y, kind="shrinkage", ax=right)
    right.set_title("Doppler, sym8 wavelets", fontsize="medium")
    figure.savefig(IMAGES / "denoising.png", dpi=120)


if __name__ == "__main__":
    sinc()
    classification()
    error_bars()
    denoising()
