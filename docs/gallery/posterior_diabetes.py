"""
Which blood values predict diabetes: a posterior over models
============================================================

Ten measurements of 442 patients are to predict how far their diabetes has progressed a year later. A
selection of variables gives one list; another sample of patients would give another one. Six
of the measurements are blood values that go together, so that one can stand in for another.

``sample_posterior`` draws many models, as often as the data make them likely. The result is a
probability for each measurement, and for each pair whether they replace each other.
"""

# %%
# Drawing models
# --------------
# The model is linear. Inputs are standardised, so that a coefficient is the change of the target for
# one standard deviation.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from sparsebayes import RVR, sample_posterior

data = load_diabetes()
X, y = scale(data.data), data.target
labels = [
    "age", "sex", "body mass", "blood pressure", "cholesterol", "LDL", "HDL",
    "cholesterol/HDL", "triglycerides", "glucose",
]  # fmt: skip
samples = sample_posterior(RVR("linear", bias=False), X, y, 1000, 4, random_state=0)
weights = samples.data.posterior.weights.values.reshape(-1, 10)
kept = np.isin(np.arange(10), samples.optimum.relevance_)
print(f"{len(weights)} models drawn, on average with {(weights != 0).sum(axis=1).mean():.1f} inputs")
print("kept by the single best fit:", ", ".join(np.array(labels)[kept]))
print("R-hat below 1.05:", bool((samples.summary(X[:5]).r_hat < 1.05).all()))

# %%
# How likely is it that an input matters?
# ---------------------------------------
# On the left the share of models that use an input, with a ring around those that the single best fit
# keeps. On the right the coefficients over all models: the range of 90 % of them, and the mean.

place = np.arange(10)[::-1]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
left.hlines(place, 0, samples.inclusion, color="#0072B2", linewidth=2)
left.plot(samples.inclusion, place, "o", color="#0072B2", label="all models drawn")
style = {"facecolors": "none", "edgecolors": "#D55E00", "linewidths": 1.6, "zorder": 3}
left.scatter(samples.inclusion[kept], place[kept], s=110, label="kept by the best fit", **style)
left.set(xlabel="probability that it is in the model", xlim=(0, 1.04))
left.set_yticks(place, labels)
left.legend(loc="lower left", bbox_to_anchor=(-0.05, 1.0), ncols=2, frameon=False)
low, high = np.quantile(weights, [0.05, 0.95], axis=0)
right.axvline(0, color="black", linewidth=0.8)
right.hlines(place, low, high, color="#0072B2", linewidth=3, alpha=0.5, label="90 % of the models")
right.plot(weights.mean(axis=0), place, "o", color="#0072B2", label="mean")
best = np.zeros(10)
best[kept] = samples.optimum.coef_[kept]
right.plot(best, place, "x", color="#D55E00", label="best fit")
right.set(xlabel="change for one standard deviation")
right.legend(loc="lower left", bbox_to_anchor=(-0.05, 1.0), ncols=3, frameon=False)
plt.show()
for name, chance in zip(labels, samples.inclusion, strict=True):
    print(f"{name:16} {chance:.2f}")

# %%
# Which inputs replace each other?
# --------------------------------
# Correlations between "is in the model" of the blood values, over all models drawn. Below zero:
# where one is in, the other one is less needed.

blood = np.arange(4, 9)
active = (weights[:, blood] != 0).astype(float)
matrix = np.corrcoef(active.T)
np.fill_diagonal(matrix, np.nan)
fig, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
image = ax.imshow(matrix, cmap="PuOr", vmin=-0.6, vmax=0.6)
for i in range(5):
    for j in range(5):
        if i != j:
            ax.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center")
ax.set_xticks(range(5), np.array(labels)[blood], rotation=25, ha="right")
ax.set_yticks(range(5), np.array(labels)[blood])
fig.colorbar(image, ax=ax, label="correlation of being in the model")
plt.show()
any_of = np.any(active[:, :4] != 0, axis=1).mean()
print(f"at least one of the four cholesterol values is in the model: {any_of:.2f}")
