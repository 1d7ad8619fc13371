"""
Steps, tones and spikes told apart
==================================

The reading of an instrument often has several sources in one channel: a level that switches, a
vibration, and short disturbances. Their frequencies overlap, so filters cannot tell them apart;
their shapes differ, and that is enough. This example joins dictionaries, one for each shape.
:func:`~sparsebayes.denoising.denoise` finds the few functions of all of them that describe the
reading, and ``parts`` has what each dictionary contributes.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import denoise
from sparsebayes.dictionaries import Dictionary, Transform

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#5A5A5A"

# %%
# A level with three steps, two tones and noise; 512 samples in a second.

n = 512
t = np.arange(n) / n
rng = np.random.default_rng(0)
steps = 2.0 * (t > 0.2) - 3.0 * (t > 0.43) + 1.5 * (t > 0.77)
tones = np.cos(2 * np.pi * 20 * t) + 0.6 * np.cos(2 * np.pi * 47.5 * t)
noise = 0.2 * rng.standard_normal(n)

# %%
# Names joined by ``+`` are dictionaries together: Haar wavelets, which are steps themselves, and
# cosines. The correlation of each part with its source says how well they were separated.


def correlations(parts, *sources):
    pairs = zip(parts, sources, strict=True)
    return ", ".join(f"{np.corrcoef(*pair)[0, 1]:.3f}" for pair in pairs)


found = denoise(steps + tones + noise, "haar + dct")
print("steps, tones:", correlations(found.parts, steps, tones))

# %%
# Now ten spikes come in addition. They have no dictionary of their own, so they end up as sums of
# Haar wavelets among the steps, and both parts suffer.

spikes = np.zeros(n)
spikes[rng.choice(n, 10, replace=False)] = rng.choice([-1, 1], 10) * rng.uniform(2.0, 4.0, 10)
reading = steps + tones + spikes + noise
found = denoise(reading, "haar + dct")
print("steps, tones:", correlations(found.parts, steps, tones))

# %%
# A dictionary of your own is short. It has to define products with its functions and with their
# squares. Steps at every sample, not only where Haar has them: a sum from the left, and from the
# right. Single samples for the spikes: the identity.


class StepTransform(Transform):
    orthonormal = False

    def __init__(self, shape):
        self.shape = self.coefficient_shape = shape

    def synthesise(self, coefficients):
        return np.cumsum(coefficients, axis=-1)

    def analyse(self, signal):
        return np.cumsum(signal[..., ::-1], axis=-1)[..., ::-1]

    spread, gather = synthesise, analyse  # the squares of 0 and 1 are the same


class SampleTransform(Transform):
    orthonormal = True

    def __init__(self, shape):
        self.shape = self.coefficient_shape = shape

    def analyse(self, signal):
        return np.array(signal)

    synthesise = spread = gather = analyse


class Steps(Dictionary):
    orthonormal = False

    def bind(self, shape, points=None):
        return StepTransform(shape)


class Samples(Dictionary):
    orthonormal = True

    def bind(self, shape, points=None):
        return SampleTransform(shape)


found = denoise(reading, Steps() + "dct" + Samples())
step_part, tone_part, spike_part = found.parts
print("steps, tones, spikes:", correlations(found.parts, steps, tones, spikes))
print(f"{found.n_active} of {found.coefficients.size} functions, ", end="")
print(f"noise {found.noise_variance**0.5:.2f} (added: 0.20)")

# %%
# A constant belongs to no part, so all are drawn about their medians.

figure, axes = plt.subplots(4, 1, figsize=(9, 7), sharex=True, layout="constrained")
axes[0].plot(t, reading, ".-", color=GREY, linewidth=0.7, markersize=2)
axes[0].set_title("reading", fontsize="medium", loc="left")
for ax, name, part, source in zip(
    axes[1:],
    ("steps", "tones (cosines)", "spikes (single samples)"),
    (step_part, tone_part, spike_part),
    (steps, tones, spikes),
    strict=True,
):
    ax.plot(t, source - np.median(source), color=ORANGE, linewidth=3, alpha=0.5, label="source")
    ax.plot(t, part - np.median(part), color=BLUE, linewidth=1, label="part found")
    ax.set_title(name, fontsize="medium", loc="left")
axes[1].legend(loc="upper right", fontsize="small", ncols=2)
axes[3].set(xlabel="time (s)", xlim=(0, 1))
figure.supylabel("reading (V)")
plt.show()

# %%
# To take home: say what your sources look like, one dictionary for each, and ``parts`` separates
# them. See :doc:`/guide/denoising`.
