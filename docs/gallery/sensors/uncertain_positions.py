"""
Positions measured with error
=============================

A magnetometer is towed across a buried pipe and some scrap, and its position is only known to a
metre or two. A regression that takes the recorded positions for the true ones flattens the peaks of
the field and blames the readings for the error of the positions. This example fits
:class:`~sparsebayes.uncertain.NoisyInputGPR`, which knows how far positions may be off, and then
predicts the next readings at positions that are uncertain themselves by
:func:`~sparsebayes.uncertain.predict_uncertain`.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import NoisyInputGPR, predict_uncertain

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#5A5A5A"

# %%
# The anomaly of the field along the track, in nanotesla. 40 readings, each with an error of 1 nT,
# at positions that are recorded with an error of 1.5 m.


def anomaly(x):
    first = 40.0 * np.exp(-0.5 * ((x - 12.0) / 3.5) ** 2)
    second = -25.0 * np.exp(-0.5 * ((x - 24.0) / 3.0) ** 2)
    return first + second + 30.0 * np.exp(-0.5 * ((x - 37.0) / 4.5) ** 2)


rng = np.random.default_rng(0)
true_position = np.sort(rng.uniform(0.0, 50.0, 40))  # m, which nobody knows
readings = anomaly(true_position) + 1.0 * rng.standard_normal(40)  # nT
recorded = (true_position + 1.5 * rng.standard_normal(40))[:, None]

# %%
# ``input_noise`` is the variance of the positions; 0 is an ordinary Gaussian process.

plain = NoisyInputGPR(input_noise=0.0, random_state=0).fit(recorded, readings)
aware = NoisyInputGPR(input_noise=1.5**2, random_state=0).fit(recorded, readings)

grid = np.linspace(1.0, 49.0, 160)
truth = anomaly(grid)
predictions = {}
for name, model in (("positions taken as exact", plain), ("error of positions known", aware)):
    mean, std = predictions[name] = model.predict(grid[:, None], return_std=True)
    error = np.sqrt(np.mean((mean - truth) ** 2))
    inside = np.mean(np.abs(truth - mean) < 1.96 * std)
    print(f"{name}:")
    print(f"  error {error:.1f} nT, noise {model.noise_variance_**0.5:.1f} nT (true: 1.0)")
    print(f"  band ± {1.96 * std.mean():.1f} nT, with {inside:.0%} of the field inside")

# %%
# Both bands hold the truth, but that of the ordinary process is twice as wide: to it, the scatter
# is noise of the readings, the same everywhere. It also flattens the peaks.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
for ax, (name, (mean, std)) in zip(axes, predictions.items(), strict=True):
    half = 1.96 * std
    ax.fill_between(grid, mean - half, mean + half, color=BLUE, alpha=0.25, linewidth=0)
    ax.plot(grid, mean, color=BLUE, label="prediction with 95 % band")
    ax.plot(grid, truth, color="black", linestyle="--", linewidth=1, label="true field")
    ax.errorbar(
        recorded[:, 0], readings, xerr=1.5, fmt=".", color=GREY, elinewidth=0.7, label="recorded"
    )
    ax.set_title(name, fontsize="medium")
    ax.set_xlabel("position along the track (m)")
axes[0].set_ylabel("magnetic anomaly (nT)")
handles, labels = axes[1].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=3)
plt.show()

# %%
# The next readings come with uncertain positions, too. What will the magnetometer say where the
# position is *recorded* as x? That is a prediction at an input with a distribution.

mean, variance = predict_uncertain(aware, grid[:, None], 1.5**2)
std = np.sqrt(variance)

new = rng.uniform(2.0, 48.0, 1000)
said = anomaly(new + 1.5 * rng.standard_normal(1000)) + 1.0 * rng.standard_normal(1000)


def covered(mean, std):
    near = np.interp(new, grid, mean)
    return np.mean(np.abs(said - near) < 1.96 * np.interp(new, grid, std))


print("inside the 95 % interval, of 1000 readings at recorded positions:")
print(f"predict            {covered(*predictions['error of positions known']):.0%}")
print(f"predict_uncertain  {covered(mean, std):.0%}")

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(
    new, said, ".", color=GREY, markersize=2.5, alpha=0.6, label="readings at recorded positions"
)
half = 1.96 * std
ax.fill_between(
    grid, mean - half, mean + half, color=BLUE, alpha=0.3, lw=0, label="predict_uncertain, 95 %"
)
middle, width = predictions["error of positions known"]
for sign, label in ((-1.96, "predict, 95 %"), (1.96, None)):
    ax.plot(grid, middle + sign * width, color=ORANGE, linestyle="--", label=label)
ax.plot(grid, mean, color=BLUE)
ax.set(xlabel="recorded position (m)", ylabel="magnetic anomaly (nT)")
ax.legend(fontsize="small", loc="lower right")
plt.show()

# %%
# To take home: if inputs are measured with error, say how large it is, when fitting and when
# predicting. See :doc:`/guide/uncertain_inputs`.
