"""
Which inputs matter: a chemical process
=======================================

A plant records ten settings of every batch and the yield that came out. Which of the settings have
an effect at all, and what does it look like? A screening study asks this before anything is tuned.

The yields follow a well-known test function (Friedman 1), in which five of ten inputs matter: two
by a product, one by a square, two by straight lines. ``RVR()`` learns a length scale for each
input; that of an input without effect grows until it no longer matters.
"""

# %%
# The fit
# -------
# 240 batches, noise of 1 in a yield whose standard deviation is about 5. The settings are scaled
# from 0 to 1, and their names are made up; the model gets a table and keeps its column names.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from sparsebayes import RVR
from sparsebayes.datasets import make_friedman1
from sparsebayes.plots import EffectsDisplay

names = [
    "temperature", "pressure", "acidity", "catalyst", "feed rate",
    "humidity", "stirring", "draught", "hour", "storage",
]  # fmt: skip
values, y, _ = make_friedman1(240, noise=1.0, random_state=3)
X = pd.DataFrame(values, columns=names)
model = RVR().fit(X, y)
new, truth, _ = make_friedman1(1000, noise=1.0, random_state=4)
new = pd.DataFrame(new, columns=names)
print(f"{len(model.relevance_)} of {len(X)} functions kept, R² {model.score(new, truth):.2f}")
print(f"linear regression: R² {LinearRegression().fit(X, y).score(new, truth):.2f}")

# %%
# What the effects look like
# --------------------------
# The model along each setting, with the others at their medians. Bands hold 95 % of new batches;
# the dashed lines are the true function.


def true_yield(x):
    product, square = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]), 20 * (x[:, 2] - 0.5) ** 2
    return product + square + 10 * x[:, 3] + 5 * x[:, 4]


fig, axes = plt.subplots(2, 5, figsize=(10, 4.6), layout="constrained", sharey=True)
display = EffectsDisplay.from_estimator(model, X, axes=axes.ravel())
for j, ax in enumerate(axes.ravel()):
    rows = np.tile(display.at, (len(display.places[j]), 1))
    rows[:, j] = display.places[j]
    ax.plot(display.places[j], true_yield(rows), "--", color="black", linewidth=1)
for ax in axes[:, 0]:
    ax.set_ylabel("yield")
plt.show()

# %%
# Length scales and importances
# -----------------------------
# An inverse length scale says how fast the function can change along an input. It is no measure of
# how much it does: ``feature_importances_`` is, the share of each input in the changes of the
# prediction over the training rows.

place = np.arange(10)[::-1]
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
left.barh(place, 1 / model.length_scale_, color="#0072B2")
left.set_yticks(place, names)
left.set(xlabel="inverse length scale", title="how fast the yield can change")
right.barh(place, model.feature_importances_, color="#0072B2")
right.set(xlabel="importance", title="how much the prediction depends on it")
plt.show()
for name, scale, importance in zip(
    names, model.length_scale_, model.feature_importances_, strict=True
):
    told = f"{scale:.2f}" if scale < 50 else "above 50"
    print(f"{name:12} length scale {told:>8}, importance {importance:.2f}")


matter = [
    name for name, share in zip(names, model.feature_importances_, strict=True) if share > 0.01
]
print("settings that matter:", ", ".join(matter))

# %%
# One fit of the defaults sorts the settings: the five with an effect have their shapes, and the
# five without are flat to the eye and to the model. See :doc:`/guide/length_scales` and
# :doc:`/howto/feature_importances`.
