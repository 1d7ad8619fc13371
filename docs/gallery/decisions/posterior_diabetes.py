"""
What predicts the course of diabetes: a posterior over models
=============================================================

Ten measurements of 442 patients are to predict how far their diabetes has progressed a year later.
A selection of variables gives one list; another sample of patients would give another one. Six of
the measurements are blood values that go together, so that one can stand in for another.

``sample_posterior`` draws many models, as often as the data make them likely. The result is a
probability for each measurement, and a picture of those that can replace each other.
"""

# %%
# Drawing models
# --------------
# The model is linear. Inputs are standardised, so that a coefficient is the change of the target
# for one standard deviation.

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
samples = sample_posterior(RVR("linear", bias=False), X, y, 200, 4, random_state=0)
weights = samples.data.posterior.weights.values.reshape(-1, 10)
kept = np.isin(np.arange(10), samples.optimum.relevance_)
print(
    f"{len(weights)} models drawn, on average with {(weights != 0).sum(axis=1).mean():.1f} inputs"
)
print("kept by the single best fit:", ", ".join(np.array(labels)[kept]))
print("chains agree (R-hat below 1.05):", bool((samples.summary(X[:5]).r_hat < 1.05).all()))

# %%
# How likely is it that an input matters?
# ---------------------------------------
# On the left the share of models that use an input, with a ring around those that the single best
# fit keeps. On the right the coefficients over all models: the range of 90 % of them, and the mean.

place = np.arange(10)[::-1]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
left.hlines(place, 0, samples.inclusion, color="#0072B2", linewidth=2)
left.plot(samples.inclusion, place, "o", color="#0072B2", label="all models drawn")
style = {"facecolors": "none", "edgecolors": "#D55E00", "linewidths": 1.6, "zorder": 3}
left.scatter(samples.inclusion[kept], place[kept], s=110, label="kept by the best fit", **style)
left.set(xlabel="probability that it is in the model", xlim=(0, 1.04))
left.set_yticks(place, labels)
left.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, frameon=False, fontsize="small")
low, high = np.quantile(weights, [0.05, 0.95], axis=0)
right.axvline(0, color="black", linewidth=0.8)
right.hlines(place, low, high, color="#0072B2", linewidth=3, alpha=0.5, label="90 % of the models")
right.plot(weights.mean(axis=0), place, "o", color="#0072B2", label="mean")
best = np.zeros(10)
best[kept] = samples.optimum.coef_[kept]
right.plot(best, place, "x", color="#D55E00", label="best fit")
right.set(xlabel="change for one standard deviation")
right.legend(
    loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, frameon=False, fontsize="small"
)
plt.show()
for name, chance in zip(labels, samples.inclusion, strict=True):
    print(f"{name:16} {chance:.2f}")

# %%
# Which inputs replace each other?
# --------------------------------
# Every dot is a model. Total cholesterol is mostly LDL: a model may use one of the two, the other
# one, both with opposite signs, or neither. Dots on a line through zero are models that leave an
# input out. The sum of the two coefficients is known better than each of them. On the right a
# large coefficient of HDL mostly goes with a small one of the ratio, and the other way round.

chol, ldl, hdl, ratio = 4, 5, 6, 7
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (i, j, corner) in zip(
    axes, ((chol, ldl, "lower left"), (hdl, ratio, "upper left")), strict=True
):
    both = (weights[:, i] != 0) & (weights[:, j] != 0)
    for rows, color, marker, label in (
        (both, "#0072B2", "o", "both in the model"),
        (~both, "#D55E00", "s", "one or none"),
    ):
        share = rows.mean()
        ax.plot(
            weights[rows, i],
            weights[rows, j],
            marker,
            color=color,
            markersize=3,
            alpha=0.4,
            label=f"{label} ({share:.0%})",
        )
    ax.axhline(0, color="black", linewidth=0.6)
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set(xlabel=f"coefficient of {labels[i]}", ylabel=f"coefficient of {labels[j]}")
    ax.legend(loc=corner, frameon=False, fontsize="small", markerscale=2)
plt.show()
first, second = weights[:, chol].std(), weights[:, ldl].std()
together = (weights[:, chol] + weights[:, ldl]).std()
print(f"cholesterol ± {first:.1f}, LDL ± {second:.1f}, their sum ± {together:.1f}")
cholesterols = np.any(weights[:, [chol, ldl, hdl, ratio]] != 0, axis=1).mean()
print(f"at least one of the four cholesterol values is in the model: {cholesterols:.0%}")

# %%
# A single fit says yes or no to each input. The posterior says which of these answers the data
# support: four inputs are sure, the four cholesterol values matter together, and which of them does
# is open. See :doc:`/guide/sampling`.
