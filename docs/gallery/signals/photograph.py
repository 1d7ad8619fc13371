"""
A photograph with noise
=======================

Pictures taken in little light are grainy. A blur removes the grain together with the edges. This
example adds noise to a photograph that comes with scikit-learn, removes it again by
:func:`~sparsebayes.denoising.denoise`, with the three colours together, and shows the second
result: a picture of how uncertain each pixel is.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_sample_image

from sparsebayes import denoise

# %%
# A part of the photograph, 160 by 160 pixels, with values from 0 to 255, and noise of standard
# deviation 25 in each colour.

truth = load_sample_image("flower.jpg")[95:255, 245:405].astype(float)
rng = np.random.default_rng(0)
noisy = truth + 25.0 * rng.standard_normal(truth.shape)

# %%
# ``channel_axis=-1`` says that the last axis has the colours. The noise is estimated; complex
# wavelets are the default for images.

found = denoise(noisy, channel_axis=-1)
print("noise of red, green, blue:", np.sqrt(found.noise_variance).round(1), "(added: 25)")

# %%
# The competitor is a Gaussian blur, of the width that comes nearest to the truth. The peak
# signal-to-noise ratio says how near: 20 log₁₀(255 / error), in decibels.


def psnr(estimate):
    return 20.0 * np.log10(255.0 / np.sqrt(np.mean((estimate - truth) ** 2)))


blurs = [gaussian_filter(noisy, (width, width, 0)) for width in np.arange(0.6, 2.5, 0.1)]
blurred = max(blurs, key=psnr)
for name, image in (("noisy", noisy), ("best blur", blurred), ("denoise", found.signal)):
    print(f"{name:10} {psnr(image):.1f} dB")


def show(ax, image, title):
    ax.imshow(np.clip(image / 255.0, 0.0, 1.0))
    ax.set_title(title, fontsize="medium")
    ax.set(xticks=[], yticks=[])


figure, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained")
show(axes[0], noisy, f"noisy, {psnr(noisy):.1f} dB")
show(axes[1], blurred, f"best blur, {psnr(blurred):.1f} dB")
show(axes[2], found.signal, f"denoise, {psnr(found.signal):.1f} dB")
plt.show()

# %%
# The photograph as it was, the standard deviation (mean of the colours) and the errors that were
# really made: both are large along edges and in the fine texture, small where the picture is
# smooth.

std = found.std
miss = np.abs(found.signal - truth)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.0), layout="constrained")
show(axes[0], truth, "photograph")
for ax, values, title in (
    (axes[1], std, "standard deviation"),
    (axes[2], miss, "error, absolute"),
):
    shown = ax.imshow(values.mean(axis=-1), cmap="viridis", vmin=0, vmax=16)
    ax.set_title(title, fontsize="medium")
    ax.set(xticks=[], yticks=[])
figure.colorbar(shown, ax=axes, label="levels of 0 to 255", extend="max")
plt.show()

# %%
# Do the bands hold? All pixels, and those in four groups of equal size by their standard deviation:

print(f"{np.mean(miss < 1.96 * std):.0%} of all values inside their 95 % band")
limits = np.quantile(std, [0.0, 0.25, 0.5, 0.75, 1.0])
groups = np.clip(np.searchsorted(limits, std, side="right") - 1, 0, 3)
for group in range(4):
    mine = groups == group
    rms = np.sqrt(np.mean(miss[mine] ** 2))
    share = np.mean(miss[mine] < 1.96 * std[mine])
    print(f"standard deviation {std[mine].mean():4.1f}, error {rms:4.1f}, {share:.0%} inside")

# %%
# To take home: one call denoises a colour picture, and its ``std`` tells smooth areas, which are
# sure, from edges and texture, which are not. See :doc:`/guide/denoising`.
