"""
ECG: noise and a gap
====================

An electrocardiogram picks up the noise of muscles and electrodes, and a loose contact loses
samples. Doctors look at sharp R waves and at small, slow P and T waves: a moving average that
removes the noise also flattens the R waves. This example adds noise to a recorded ECG (the one that
comes with PyWavelets), takes out a stretch, and restores it by
:func:`~sparsebayes.denoising.denoise`, which estimates the noise, chooses the wavelets, fills the
gap and gives a 95 % band for every sample.
"""

import matplotlib.pyplot as plt
import numpy as np
import pywt
from scipy.ndimage import uniform_filter1d
from scipy.signal import find_peaks

from sparsebayes import denoise
from sparsebayes.plots import DenoiseDisplay

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#5A5A5A"

# %%
# A recording of 1024 samples, in units of its converter. It has little noise, so that it can serve
# as the truth. Noise with a standard deviation of 15 units is added, and 40 samples are lost.

truth = pywt.data.ecg().astype(float)
rng = np.random.default_rng(0)
noisy = truth + 15.0 * rng.standard_normal(truth.size)
lost = slice(545, 585)
noisy[lost] = np.nan

# %%
# No option is needed. Missing samples are marked by NaN.

found = denoise(noisy)
print(found)
print(f"noise {found.noise_variance**0.5:.1f} units (added: 15)")

# %%
# The band is that of the signal itself, without noise. How wide it has to be in the gap is learned
# by hiding stretches of the same length elsewhere. In some of them lies an R wave, so it could lie
# in the gap as well, and the band allows for it.

figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
DenoiseDisplay.from_denoised(found, noisy, ax=ax)
ax.plot(truth, color=ORANGE, linewidth=1.0, linestyle="--", label="recording without noise")
ax.set(xlabel="sample", ylabel="ECG (units of the converter)", xlim=(130, 900))
ax.legend(loc="upper left", bbox_to_anchor=(0.12, 1.0), fontsize="small")
plt.show()

# %%
# How good is it? A moving average is the simplest competitor. It gets the width with which it comes
# nearest to the truth, which nobody would know in practice, and only samples that were seen count.

seen = ~np.isnan(noisy)
filled = np.where(seen, noisy, np.interp(np.arange(noisy.size), np.flatnonzero(seen), noisy[seen]))


def error(estimate, where=seen):
    return np.sqrt(np.mean((estimate - truth)[where] ** 2))


averages = {width: uniform_filter1d(filled, width) for width in range(1, 16, 2)}
width = min(averages, key=lambda w: error(averages[w]))
inside = np.abs(found.signal - truth) < 1.96 * found.std
print(f"error of the samples        {error(noisy):5.1f}")
print(f"best moving average ({width:2d})    {error(averages[width]):5.1f}")
print(f"denoise                     {error(found.signal):5.1f}")
print(f"in the gap                  {error(found.signal, ~seen):5.1f}")
print(f"inside the 95 % band: {inside[seen].mean():.0%} of what was seen, ", end="")
print(f"{inside[~seen].mean():.0%} of the gap")

# %%
# The average has to choose between noise and R waves: at this width it still lets much noise
# through, and the waves are already lower. The denoised ones are nearer to the true height.

peaks = find_peaks(truth, height=100, distance=50)[0]
for name, values in (
    ("true", truth),
    (f"moving average of {width}", averages[width]),
    ("denoise", found.signal),
):
    print(f"mean height of {len(peaks)} R waves, {name}: {values[peaks].mean():.0f}")

peak = peaks[1]
window = np.arange(peak - 50, peak + 25)
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(window, noisy[window], ".", color=GREY, label="noisy samples")
ax.plot(window, truth[window], color=ORANGE, linestyle="--", label="recording without noise")
ax.plot(window, averages[width][window], color=GREEN, label=f"moving average of {width}")
ax.plot(window, found.signal[window], color=BLUE, label="denoise")
ax.set(xlabel="sample", ylabel="ECG (units of the converter)", title="The second R wave")
ax.legend(fontsize="small")
plt.show()

# %%
# To take home: ``denoise(y)`` keeps sharp waves and smooth stretches at once, and its band says
# where to trust them. See :doc:`/guide/denoising`.
