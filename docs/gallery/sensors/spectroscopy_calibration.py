"""
Spectroscopy: from absorbance to concentration
==============================================

A photometer measures how much light a solution absorbs. At low concentrations the absorbance is
proportional to the concentration (Beer's law); at high ones stray light bends the curve, so that a
straight line is wrong. A laboratory measures standards of known concentration, and then asks the
other way round: which concentration gave this absorbance, how sure is that, and from where on can
the substance be told from a blank at all? Here :class:`~sparsebayes.regression.RVR` learns the
curve of simulated spectra, ``inverse_predict`` and ``detection_limit`` answer.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import RVR

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#5A5A5A"

# %%
# Spectra of a dye with two bands. One per cent of the light is stray light, and each spectrum has
# noise and a small error of the cuvette's position. The absorbance is read at the maximum, 525 nm.

wavelength = np.arange(400.0, 651.0, 2.5)  # nm
bands = np.exp(-(((wavelength - 525) / 28) ** 2)) + 0.35 * np.exp(-(((wavelength - 455) / 24) ** 2))


def measure(concentration, rng):
    """Spectra of solutions with these concentrations, in mg/L."""
    through = 10.0 ** (-0.16 * np.outer(concentration, bands))
    spectra = -np.log10((through + 0.01) / 1.01)
    spectra += 0.006 * rng.standard_normal((len(concentration), 1))
    return spectra + 0.006 * rng.standard_normal(spectra.shape)


rng = np.random.default_rng(1)
standards = np.repeat(np.linspace(0.0, 15.0, 11), 4)  # mg/L
spectra = measure(standards, rng)
top = int(np.argmax(bands))
absorbance = spectra[:, top]

# %%
# The curve, and with it the noise and its own uncertainty:

model = RVR().fit(standards[:, None], absorbance)
line = np.polyfit(standards, absorbance, 1)
print(f"{len(model.relevance_)} functions, noise {model.noise_variance_**0.5:.4f} absorbance units")
print(f"residual of a straight line: {np.std(absorbance - np.polyval(line, standards)):.4f}")

# %%
# Three unknown samples, each measured once.

unknown = np.array([1.2, 6.5, 13.5])  # mg/L, which the laboratory does not know
readings = measure(unknown, rng)[:, top]
found = model.inverse_predict(readings)
for i, reading in enumerate(readings):
    (branch,) = found.branches[i]
    print(
        f"absorbance {reading:.3f}: {found.mean[i]:5.2f} mg/L, "
        f"95 % from {branch.lower:.2f} to {branch.upper:.2f} (true {unknown[i]:.2f})"
    )

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
scale = plt.cm.ScalarMappable(plt.Normalize(0, standards.max()), "viridis_r")
colours = scale.to_rgba(standards)
for spectrum, colour in zip(spectra[::4], colours[::4], strict=True):
    left.plot(wavelength, spectrum, color=colour, linewidth=1)
left.axvline(wavelength[top], color=GREY, linestyle=":", linewidth=1)
figure.colorbar(scale, ax=left, label="concentration (mg/L)", ticks=np.arange(0, 16, 3))
left.set(xlabel="wavelength (nm)", ylabel="absorbance", title="one spectrum of each standard")

grid = np.linspace(0.0, 15.0, 300)
mean, std = model.predict(grid[:, None], return_std=True)
half = 1.96 * std
right.fill_between(grid, mean - half, mean + half, color=BLUE, alpha=0.3, linewidth=0)
right.plot(grid, mean, color=BLUE, label="calibration curve")
right.plot(grid, np.polyval(line, grid), color=GREY, linestyle="--", label="straight line")
right.plot(standards, absorbance, ".", color="black", markersize=4, label="standards")
for i, reading in enumerate(readings):
    low, high = found.lower[i], found.upper[i]
    label = "unknown samples, 95 %" if i == 0 else None
    right.hlines(reading, 0.0, found.mean[i], color=ORANGE, linestyle=":", linewidth=1.2)
    right.fill_between([low, high], -0.1, reading, color=ORANGE, alpha=0.4, lw=0, label=label)
right.set(xlabel="concentration (mg/L)", ylabel="absorbance at 525 nm")
right.set(xlim=(0, 15), ylim=(-0.1, 2.7))
right.set_title("calibration curve and three unknowns")
right.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# Where the curve is flat, the same noise of a reading leaves the concentration more uncertain. Do
# the intervals hold? 500 new samples of this calibration, and the line for comparison:

truth = rng.uniform(0.3, 14.7, 500)
many = measure(truth, rng)[:, top]
inverse = model.inverse_predict(many)
print(f"{np.mean(inverse.contains(truth)):.0%} of 500 concentrations in their 95 % interval")
print(f"error of the curve {np.sqrt(np.mean((inverse.mean - truth) ** 2)):.2f} mg/L, ", end="")
by_line = (many - line[1]) / line[0]
print(f"of the straight line {np.sqrt(np.mean((by_line - truth) ** 2)):.2f} mg/L")

# %%
# Limits of the method, after Currie and ISO 11843: a reading above the critical value is not taken
# for a blank; the detection limit is the concentration that passes it with a probability of 95 %;
# from the quantification limit on, a concentration is known to 10 %. In the picture, 5 % of the
# readings lie above the band and 5 % below: the critical value is its upper end at zero, and the
# detection limit where its lower end has risen to that.

limits = model.detection_limit(blank=0.0)
print(f"critical value {limits.critical_value:.4f} absorbance units")
print(f"detection limit {limits.detection_limit:.2f} mg/L, ", end="")
print(f"quantification limit {limits.quantification_limit:.2f} mg/L")

near = np.linspace(0.0, 0.8, 100)
mean, std = model.predict(near[:, None], return_std=True)
half = 1.645 * std
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.fill_between(
    near, mean - half, mean + half, color=BLUE, alpha=0.3, lw=0, label="5 to 95 % of readings"
)
ax.plot(near, mean, color=BLUE, label="calibration curve")
blank = standards == 0.0
ax.plot(standards[blank], absorbance[blank], "o", color="black", markersize=4, label="blanks")
ax.axhline(limits.critical_value, color=GREY, linestyle="--", label="critical value")
ax.axvline(limits.detection_limit, color=ORANGE, label="detection limit")
ax.axvline(limits.quantification_limit, color=GREEN, linestyle="-.", label="quantification limit")
ax.set(xlabel="concentration (mg/L)", ylabel="absorbance at 525 nm", xlim=(-0.02, 0.8))
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# To take home: a calibration curve need not be a straight line to be inverted with honest
# intervals. See :doc:`/guide/calibration_curves`.
