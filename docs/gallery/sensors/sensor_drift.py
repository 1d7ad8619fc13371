"""
A sensor that ages: growing noise and outliers
==============================================

The zero of an electrochemical sensor drifts over the months, its noise grows as the electrolyte
dries out, and now and then a reading is plainly wrong. A regression with one noise for all readings
has error bars that are too wide for the young sensor and too narrow for the old one, and follows
the outliers. This example compares the default of :class:`~sparsebayes.regression.RVR` with
``noise="varying"`` and ``noise=StudentT()``.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RVR, StudentT

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#5A5A5A"

# %%
# The readings of zero gas over 300 days, in parts per million. The standard deviation of the noise
# grows from 0.1 to 1.3 ppm.


def drift(day):
    return 4.0 * (1.0 - np.exp(-day / 60.0)) + np.sin(2.0 * np.pi * day / 300.0)


def spread(day):
    return 0.1 + 0.004 * day


rng = np.random.default_rng(0)
days = np.sort(rng.uniform(0.0, 300.0, 130))
readings = drift(days) + spread(days) * rng.standard_normal(days.size)
X = days[:, None]

# %%
# Both models, and how often their 95 % intervals hold 2000 new readings of the young and the old
# sensor. The drift is found about as well by both; what differs is the band.

same = RVR().fit(X, readings)
varying = RVR(noise="varying").fit(X, readings)
new = rng.uniform(0.0, 300.0, 2000)
fresh = drift(new) + spread(new) * rng.standard_normal(new.size)
for name, model in (("one noise", same), ("varying", varying)):
    mean, std = model.predict(new[:, None], return_std=True)
    inside = np.abs(fresh - mean) < 1.96 * std
    first, last = inside[new < 50].mean(), inside[new > 250].mean()
    error = np.sqrt(np.mean((mean - drift(new)) ** 2))
    print(f"{name:10} inside: first 50 days {first:.0%}, last 50 days {last:.0%}; ", end="")
    print(f"error of the drift {error:.2f} ppm")

grid = np.linspace(0.0, 300.0, 400)


def draw(ax, model, title):
    lower, upper = model.predict_interval(grid[:, None])
    ax.fill_between(grid, lower, upper, color=BLUE, alpha=0.25, lw=0, label="95 % of readings")
    ax.plot(grid, model.predict(grid[:, None]), color=BLUE, label="fitted drift")
    ax.plot(grid, drift(grid), color=ORANGE, linestyle="--", label="true drift")
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel="age (days)", xlim=(0, 300))


figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for ax, model, title in zip(
    axes, (same, varying), ("default: one noise", 'noise="varying"'), strict=True
):
    ax.plot(days, readings, ".", color=GREY, markersize=4, label="readings")
    draw(ax, model, title)
axes[0].set_ylabel("reading of zero gas (ppm)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# Now a sensor whose noise stays the same, but which has a bad contact: one reading in sixteen is
# several ppm too high.

good = drift(days) + 0.4 * rng.standard_normal(days.size)
bad = rng.random(days.size) < 1 / 16
readings = np.where(bad, good + rng.uniform(3.0, 9.0, days.size), good)
plain = RVR().fit(X, readings)
robust = RVR(noise=StudentT()).fit(X, readings)
print(f"{bad.sum()} outliers; degrees of freedom found: {robust.nu_:.1f}")
for name, model in (("normal", plain), ("Student's t", robust)):
    mean, std = model.predict(grid[:, None], return_std=True)
    error = np.sqrt(np.mean((mean - drift(grid)) ** 2))
    print(f"{name:12} error of the drift {error:.2f} ppm, standard deviation {std.mean():.2f} ppm")

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for ax, model, title in zip(
    axes, (plain, robust), ("default: normal noise", "noise=StudentT()"), strict=True
):
    ax.plot(days[~bad], readings[~bad], ".", color=GREY, markersize=4, label="readings")
    ax.plot(days[bad], readings[bad], "x", color="black", markersize=5, label="outliers")
    draw(ax, model, title)
axes[0].set_ylabel("reading of zero gas (ppm)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
plt.show()

# %%
# To take home: if noise depends on the inputs say ``noise="varying"``, if some readings are plainly
# wrong ``noise=StudentT()``; both fall back to the default where the data do not call for them. See
# :doc:`/guide/noise`.
