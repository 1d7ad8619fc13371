"""
A melody in hiss
================

A recording on tape hisses: there is noise at all frequencies, also between and during the tones. An
equaliser would take the overtones away with the hiss. A tone is a narrow line in frequency that
lasts for a while, so cosines in frames (the MDCT, as in audio codecs) need few coefficients for it.
This example makes a short melody with overtones, adds hiss, and removes it by
:func:`~sparsebayes.denoising.denoise`.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import spectrogram

from sparsebayes import denoise

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#5A5A5A"

# %%
# Eight notes at 16 kHz, each with its overtones up to 3.6 kHz, the higher ones fading faster; they
# ring on into the next. The hiss is white noise, at a signal-to-noise ratio of 10 dB.

rate = 16_000  # samples in a second
notes = 440.0 * 2.0 ** (np.array([0, 4, 7, 12, 11, 7, 4, 0]) / 12.0)  # Hz
beat = 0.3  # seconds
time = np.arange(int(rate * (beat * len(notes) + 0.5))) / rate
melody = np.zeros(time.size)
for number, frequency in enumerate(notes):
    since = np.maximum(time - beat * number, 0.0)
    attack = np.minimum(since / 0.01, 1.0)
    for overtone in range(1, int(3600 / frequency) + 1):
        fade = attack * np.exp(-since * (3 + overtone)) / overtone
        melody += fade * np.sin(2 * np.pi * overtone * frequency * since)

rng = np.random.default_rng(0)
hiss = melody.std() / np.sqrt(10.0) * rng.standard_normal(time.size)
recording = melody + hiss

# %%
# Frames are chosen without being told: the dictionary is the one of several under which the
# recording is most likely. Wavelets, and cosines over the whole length, can be asked for by name.

found = denoise(recording)
print(found)


def decibels(estimate):
    return 10.0 * np.log10(np.mean(melody**2) / np.mean((estimate - melody) ** 2))


print(f"hiss: standard deviation {hiss.std():.3f}, estimated {found.noise_variance**0.5:.3f}")
print(f"signal-to-noise ratio {decibels(recording):.1f} dB before, ", end="")
print(f"{decibels(found.signal):.1f} dB after")
for name in ("sym8", "dct"):
    print(f"with {name}: {decibels(denoise(recording, name).signal):.1f} dB")

# %%
# The spectrograms show the notes as ladders of overtones. What stood out of the hiss is kept, and
# the hiss is gone, also in between. The ends of the overtones are lost: they lie below the hiss.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), sharex=True, sharey=True, layout="constrained")
for ax, title, sound in zip(
    axes,
    ("recording", "denoised", "melody as it was played"),
    (recording, found.signal, melody),
    strict=True,
):
    frequencies, times, power = spectrogram(sound, rate, nperseg=1024, noverlap=768)
    level = 10.0 * np.log10(np.maximum(power, 1e-12))
    shown = ax.pcolormesh(times, frequencies / 1000.0, level, vmin=-85, vmax=-35, cmap="magma")
    ax.set_title(title, fontsize="medium")
    ax.set(xlabel="time (s)", ylim=(0.0, 5.0))
axes[0].set_ylabel("frequency (kHz)")
figure.colorbar(shown, ax=axes, label="power (dB per Hz)", extend="both")
plt.show()

# %%
# A few milliseconds from the end of the melody, where the last note fades:

window = (time > 2.45) & (time < 2.475)
milliseconds = 1000.0 * time[window]
half = 1.96 * found.std[window]
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.plot(milliseconds, recording[window], ".", color=GREY, label="recording")
ax.fill_between(
    milliseconds,
    found.signal[window] - half,
    found.signal[window] + half,
    color=BLUE,
    alpha=0.3,
    linewidth=0,
    label="95 % band",
)
ax.plot(milliseconds, found.signal[window], color=BLUE, label="denoised")
ax.plot(milliseconds, melody[window], color=ORANGE, linestyle="--", label="melody")
ax.set(xlabel="time (ms)", ylabel="amplitude", ylim=(-0.75, 0.75))
ax.legend(fontsize="small", ncols=4, loc="upper center")
plt.show()

covered = np.mean(np.abs(found.signal - melody) < 1.96 * found.std)
print(f"{covered:.0%} of the melody in the 95 % band")

# %%
# To take home: ``denoise`` chooses cosines in frames for sound by itself; long recordings go
# through it piece by piece. See :doc:`/guide/denoising`.
