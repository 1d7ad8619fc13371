"""
Chaos: forecasts that know when to stop
=======================================

The Mackey-Glass equation was made as a model of how the number of blood cells is regulated. With a
long delay it is chaotic: small errors grow, and no forecast is good for long. A good forecast says
so.

A model of one step ahead is applied again and again, to its own output. Taking each output as if it
were certain ("naive") keeps the band as narrow as that of one step. ``Forecaster`` carries the
uncertainty along: the input of each step is a Gaussian distribution, and for an RVR with Gaussian
basis functions the moments of the next step have a closed form.
"""

# %%
# The series
# ----------
# One value per unit of time, with measurement noise of 3 % of the standard deviation. The first 400
# values are for the fit, and a value is predicted from those 6, 12, … and 36 steps before it.

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RVR, Forecaster
from sparsebayes.datasets import make_mackey_glass

clean = make_mackey_glass(1500)
series = clean + 0.03 * clean.std() * np.random.default_rng(0).standard_normal(len(clean))
model = Forecaster(RVR(), lags=6, step=6, difference=None, transform=None).fit(series[:400])

# %%
# One hundred steps
# -----------------
# Both forecasts use the same fitted function. They differ in what they feed back.

steps = np.arange(1, 101)
BLUE, ORANGE = "#0072B2", "#D55E00"
names = {"exact": "uncertainty propagated", "naive": "means fed back as if certain"}
fig, axes = plt.subplots(2, 1, figsize=(8, 5.6), sharex=True, sharey=True, layout="constrained")
for ax, (method, name), color in zip(axes, names.items(), (BLUE, ORANGE), strict=True):
    mean, std = model.predict(100, return_std=True, method=method)
    lower, upper = mean - 1.96 * std, mean + 1.96 * std
    ax.fill_between(steps, lower, upper, color=color, alpha=0.3, linewidth=0, label="95 % band")
    ax.plot(steps, mean, color=color, label="forecast")
    ax.plot(steps, series[400:500], ".", color="black", markersize=4, label="what came")
    inside = np.mean((series[400:500] > lower) & (series[400:500] < upper))
    print(f"{name}: {inside:.0%} of the next 100 values in the 95 % band")
    ax.set(title=name, ylabel="Mackey-Glass series", xlim=(0, 101))
axes[0].legend(frameon=False, ncols=3, loc="upper left")
axes[1].set_xlabel("steps ahead")
plt.show()

# %%
# From many origins
# -----------------
# One path proves little. ``backtest`` forecasts from every twentieth value of what follows.

found = model.backtest(series, 100, step=20, methods=("exact", "naive"))
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for method, color in zip(names, (BLUE, ORANGE), strict=True):
    scores = found[method]
    left.plot(steps, np.sqrt(scores.squared_error), color=color, label=f"error, {method}")
    left.plot(steps, scores.std.mean(axis=0), "--", color=color, label=f"predicted std, {method}")
    right.plot(steps, 100 * scores.coverage, color=color, label=method)
    late = scores.coverage[80:].mean()
    print(f"{method}: {late:.0%} inside the 95 % band after 81 to 100 steps")
right.axhline(95, color="black", linestyle="--", linewidth=1)
left.set(xlabel="steps ahead", ylabel="root mean squared error, std", ylim=(0, None))
right.set(xlabel="steps ahead", ylabel="inside the 95 % band (%)", ylim=(0, 103))
left.legend(frameon=False, fontsize="small")
right.legend(frameon=False)
plt.show()

# %%
# The means of both are equally good. The propagated band grows as the errors do and is a little
# cautious; the naive one stays as it is and misses four in ten values towards the end. See
# :doc:`/guide/forecasting`, and :doc:`/guide/uncertain_inputs` for the closed form.
