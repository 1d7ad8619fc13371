"""
Ocean temperatures: 50,000 readings in one pass
===============================================

Ships report the temperature of the sea wherever they sail: many readings, each of them poor, and
most of them along a few routes. A map needs all of them, and a kernel machine with a function for
each reading could not hold its 50,000 × 50,000 matrix.

Beyond 10,000 rows ``RVR()`` learns the length scales from some of the rows, takes 1000 rows as
centres, and then fits sums that are formed in one pass over all rows. The readings are simulated,
so that the true map is known.
"""

# %%
# The readings
# ------------
# A sea of 1000 by 600 km: warmer in the south, with a warm and a cold eddy and a meandering front.
# Six in ten readings are from three routes. The error of a reading is 1 °C.

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RVR
from sparsebayes.basis import RBF

rng = np.random.default_rng(0)
SIZE = np.array([1000.0, 600.0])  # km


def temperature(X):
    """The true map, in °C."""
    east, north = X.T / 100
    warm = 2.0 * np.exp(-((east - 3) ** 2) / 1.5 - (north - 2) ** 2 / 0.8)
    cold = -3.0 * np.exp(-((east - 7) ** 2) / 0.6 - (north - 4) ** 2 / 1.2)
    return 14 - 1.1 * north + warm + cold + 0.8 * np.sin(2.2 * east) * np.cos(1.6 * north)


ports = np.array([[[0, 50], [1000, 550]], [[0, 500], [1000, 100]], [[150, 0], [600, 600]]])
route, along = rng.integers(3, size=30_000), rng.random((30_000, 1))
sailed = ports[route, 0] + along * (ports[route, 1] - ports[route, 0])
sailed = np.clip(sailed + 20.0 * rng.standard_normal(sailed.shape), 0.0, SIZE)
X = rng.permutation(np.vstack([sailed, SIZE * rng.random((20_000, 2))]))
y = temperature(X) + 1.0 * rng.standard_normal(len(X))

# %%
# Two fits
# --------
# The default has 1000 centres; 300 are enough for eddies of this size and take less time.
# ``approximation_`` says what was done.

few = RVR().fit(X[:500], y[:500])
many = RVR(RBF(centres=300)).fit(X, y)
print(many.approximation_)

new = SIZE * rng.random((2000, 2))
readings = temperature(new) + 1.0 * rng.standard_normal(len(new))
for name, model in (("500 readings", few), ("50,000 readings", many)):
    error = np.sqrt(np.mean((model.predict(new) - temperature(new)) ** 2))
    lower, upper = model.predict_interval(new)
    inside = np.mean((readings > lower) & (readings < upper))
    print(
        f"{name}: {len(model.relevance_)} functions, error of the map {error:.2f} °C, "
        f"noise {model.noise_variance_**0.5:.2f} °C, {inside:.0%} of new readings in 95 % intervals"
    )

# %%
# The maps
# --------

east, north = np.meshgrid(np.linspace(0, 1000, 101), np.linspace(0, 600, 61))
grid = np.column_stack([east.ravel(), north.ravel()])
fig, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
scale = {"cmap": "cividis", "vmin": 5, "vmax": 16}
axes[0, 0].scatter(*X[:2000].T, c=y[:2000], s=7, **scale)
axes[0, 0].set_title("2000 of the readings")
for ax, values, title in (
    (axes[0, 1], temperature(grid), "the truth"),
    (axes[1, 0], few.predict(grid), "map from 500 readings"),
    (axes[1, 1], many.predict(grid), "map from 50,000 readings"),
):
    image = ax.contourf(
        east, north, values.reshape(east.shape), np.arange(5, 17), extend="both", **scale
    )
    ax.contour(
        east, north, values.reshape(east.shape), np.arange(5, 17), colors="white", linewidths=0.4
    )
    ax.set_title(title)
for model, ax in ((few, axes[1, 0]), (many, axes[1, 1])):
    ax.plot(
        *model.relevance_vectors_.T,
        "o",
        color="white",
        markeredgecolor="black",
        markersize=5,
        label=f"{len(model.relevance_vectors_)} centres kept",
    )
    ax.legend(loc="upper left", fontsize="small")
for ax in axes.ravel():
    ax.set(xlim=(0, 1000), ylim=(0, 600))
for ax in axes[1]:
    ax.set_xlabel("east (km)")
for ax in axes[:, 0]:
    ax.set_ylabel("north (km)")
fig.colorbar(image, ax=axes, label="temperature (°C)")
plt.show()

# %%
# A hundred times the readings make the map nearly ten times better, and the model of it is a sum of
# a few dozen functions. See :doc:`/guide/many_rows`, and :doc:`/guide/beyond_memory` for rows that
# do not fit into memory.
