"""Draw the pictures of the README and the documentation: ``python docs/make_images.py``."""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from sparsebayes import RVC, RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import load_gases, make_sinc
from sparsebayes.plots import ClassificationDisplay, RegressionDisplay

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


if __name__ == "__main__":
    sinc()
    classification()
