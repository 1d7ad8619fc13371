"""
Surrogate of a simulation: where to run it next
===============================================

A simulation that takes hours cannot be run a million times. A surrogate is fitted to a few runs and
answers in its place. Its standard deviation says where it knows least, and that is where the next
run tells most: active learning.

The simulation here is the flight of a ball with drag, cheap enough to know the truth everywhere.
Its range depends on the speed and the angle of the throw. Runs that are chosen one by one are
compared with as many at random.
"""

# %%
# The simulation
# --------------
# Many flights at once, by the Runge-Kutta method; inputs are scaled to the unit square.

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import ReducedRankGPR

SPEED, ANGLE = (10.0, 60.0), (10.0, 85.0)  # m/s and degrees, the ends of the unit square


def slope(state):
    """Velocities and accelerations, with a drag of 0.01/m times the squared speed."""
    velocity = state[2:]
    drag = -0.01 * np.hypot(*velocity) * velocity
    return np.concatenate([velocity, drag + np.array([[0.0], [-9.81]])])


def throw(inputs, step=0.02):
    """Range of each throw, in metres."""
    speed = SPEED[0] + (SPEED[1] - SPEED[0]) * inputs[:, 0]
    angle = np.radians(ANGLE[0] + (ANGLE[1] - ANGLE[0]) * inputs[:, 1])
    zero = np.zeros(len(inputs))
    state = np.stack([zero, zero, speed * np.cos(angle), speed * np.sin(angle)])
    landed = np.full(len(inputs), np.nan)
    while np.isnan(landed).any():
        a = slope(state)
        b = slope(state + step / 2 * a)
        c = slope(state + step / 2 * b)
        d = slope(state + step * c)
        new = state + step / 6 * (a + 2 * b + 2 * c + d)
        down = (new[1] < 0) & np.isnan(landed)
        share = state[1, down] / (state[1, down] - new[1, down])
        landed[down] = state[0, down] + share * (new[0, down] - state[0, down])
        state = new
    return landed


axis = np.linspace(0, 1, 33)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
truth = throw(grid)
print(f"ranges from {truth.min():.0f} to {truth.max():.0f} m")

# %%
# Active learning
# ---------------
# Ten runs to begin with, drawn at random; then twelve more, each where the standard deviation is
# largest. ``ReducedRankGPR`` is a Gaussian process whose kernel is tuned at each fit. The
# simulation gives the same answer each time, so the noise is not estimated but set to 1 cm. All is
# done three times, from other first runs.


def errors(X):
    """Root mean squared and largest error on the grid, and the fitted surrogate."""
    model = ReducedRankGPR(noise=0.01**2).fit(X, throw(X))
    off = np.abs(model.predict(grid) - truth)
    return np.sqrt(np.mean(off**2)), off.max(), model


counts = np.array([10, 14, 18, 22])
chosen, drawn, found = [], [], np.empty((2, 3, 4, 2))
for repeat in range(3):
    drawn.append(np.random.default_rng(repeat).random((22, 2)))
    found[1, repeat] = [errors(drawn[-1][:count])[:2] for count in counts]
    points, path = drawn[-1][:10], []
    while len(points) < 22:
        rms, worst, model = errors(points)
        path.append((rms, worst))
        std = model.predict(grid, return_std=True)[1]
        points = np.vstack([points, grid[np.argmax(std)]])
    path.append(errors(points)[:2])
    found[0, repeat] = np.array(path)[counts - 10]
    chosen.append(points)

# %%
# What the two know
# -----------------
# The map is the error of the surrogates with 18 runs, of the first repetition. Chosen runs spread
# out and cover the borders, beyond which nothing helps; random ones leave holes.

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True, layout="constrained")
scale = {"cmap": "cividis", "shading": "gouraud", "vmin": 0, "vmax": 3}
speeds, angles = (low + (high - low) * axis for low, high in (SPEED, ANGLE))
for ax, runs, title in (
    (axes[0], chosen[0][:18], "runs chosen by the standard deviation"),
    (axes[1], drawn[0][:18], "runs at random"),
):
    off = np.abs(errors(runs)[2].predict(grid) - truth).reshape(33, 33)
    image = ax.pcolormesh(speeds, angles, off, **scale)
    for rows, style, label in (
        (runs[:10], {"marker": "s", "color": "#56B4E9"}, "first ten runs"),
        (runs[10:], {"marker": "o", "color": "white"}, "eight added"),
    ):
        x = SPEED[0] + (SPEED[1] - SPEED[0]) * rows[:, 0]
        y = ANGLE[0] + (ANGLE[1] - ANGLE[0]) * rows[:, 1]
        ax.scatter(x, y, s=36, edgecolors="black", label=label, clip_on=False, zorder=3, **style)
    ax.set_title(title, fontsize="medium", pad=10)
    ax.set_xlabel("speed (m/s)")
axes[0].set_ylabel("angle (degrees)")
axes[1].legend(loc="upper center", bbox_to_anchor=(-0.02, -0.14), ncols=2, frameon=False)
fig.colorbar(image, ax=axes, label="error of the surrogate (m)", extend="max")
plt.show()

# %%
# By the number of runs
# ---------------------
# Thin lines are the three repetitions, thick ones their means.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
for k, (ax, name) in enumerate(
    zip(axes, ("root mean squared error", "largest error"), strict=True)
):
    for own, label, color in zip(found, ("chosen", "random"), ("#0072B2", "#D55E00"), strict=True):
        ax.semilogy(counts, own[..., k].T, color=color, linewidth=0.7, alpha=0.6)
        style = {"marker": "o" if label == "chosen" else "s", "markersize": 5, "linewidth": 2.5}
        ax.semilogy(counts, own[..., k].mean(axis=0), color=color, label=label, **style)
        ends = [f"{own[:, number, k].mean():.2f}" for number in range(4)]
        print(f"{name}, {label}: {', '.join(ends)} m with 10, 14, 18, 22 runs")
    ax.set(xlabel="runs of the simulation", title=name, xticks=counts)
axes[0].set_ylabel("error of the range (m)")
axes[1].legend(frameon=False)
plt.show()

# %%
# With a few runs to spend, put them where the standard deviation of the surrogate is largest: here
# that nearly halves the mean error of random runs, and the largest error falls by more. How much is
# gained depends on the simulation, and it shrinks as runs become many: random ones then leave few
# holes. See :doc:`/guide/gaussian_processes`, and :doc:`/guide/error_bars` for error bars.
