"""Draw the picture of the README: ``python docs/make_images.py``."""

from pathlib import Path

from matplotlib.figure import Figure

from sparsebayes import RVR
from sparsebayes.basis import RBF
from sparsebayes.datasets import make_sinc
from sparsebayes.plots import RegressionDisplay

X, y, f = make_sinc(100, noise=0.1, random_state=0)
model = RVR(RBF(length_scale=2.1)).fit(X, y)
figure = Figure(figsize=(8, 4.2), layout="constrained")
ax = figure.subplots()
ax.plot(X, f, color="black", linestyle="--", linewidth=1, label="sin(x)/x", zorder=2.5)
RegressionDisplay.from_estimator(model, X, y, ax=ax)
figure.savefig(Path(__file__).parent / "images" / "sinc.png", dpi=120)
