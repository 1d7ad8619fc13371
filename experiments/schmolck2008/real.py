"""Real ECGs and images, denoised as a user would: not in S08.

Shown are a minute of MIT-BIH record 108 (two leads, 360 Hz) as it is, where the truth is not known;
and that record's first lead, the 1024 samples of ECG and three images of PyWavelets with Gaussian
noise of known size added: to the ECGs at 10 dB, to the images (grey values 0 to 255) with standard
deviation 20. The error is against the data before noise was added, which have some noise of their
own. "Within 2 std" is the share of samples inside the band of two standard deviations; 95 % would
be right.

All estimate the noise. "average" is the default, which also chooses the dictionary; the others use
"sym8". "sparse" has the BIC prior; soft thresholding at the universal threshold and BayesShrink are
what the usual wavelet packages have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pywt

from experiments._report import BLUE, GREY, ORANGE, Options, Report, new_figure, number, repeat
from sparsebayes import Denoised, denoise
from sparsebayes.datasets import load_benchmark

Array = np.ndarray

METHODS = ("average", "sparse", "soft", "bayes")
WITH_STD = METHODS[:2]
DECIBELS, GREY_NOISE = 10.0, 20.0
SHOWN = 1400  # samples of the record in the figure


@dataclass(frozen=True, eq=False)
class Case:
    """Data and how much noise is added to them."""

    name: str
    clean: Array
    sigma: float

    @property
    def score(self) -> str:
        return "PSNR" if self.clean.ndim == 2 else "SNR"

    def decibels(self, estimate: Array) -> float:
        """PSNR for a peak of 255, or SNR with the variance about the mean as the signal's."""
        power = 255.0**2 if self.clean.ndim == 2 else self.clean.var()
        return float(10 * np.log10(power / np.mean((estimate - self.clean) ** 2)))


def load() -> tuple[Array, float, list[Case]]:
    """The record, its sampling rate, and what noise is added to."""
    record = load_benchmark("ecg_mitbih108_60s")
    leads = record["x"]
    ecgs = {"ECG, MIT-BIH 108": leads[0], "ECG, PyWavelets": pywt.data.ecg()}
    cases = [
        Case(name, x.astype(float), x.std() * 10 ** (-DECIBELS / 20)) for name, x in ecgs.items()
    ]
    for name in ("camera", "ascent", "aero"):
        image = getattr(pywt.data, name)().astype(float)
        cases.append(Case(f"image {name}", image, GREY_NOISE))
    return leads, float(record["fs"]), cases


def noisy(case: Case, seed: int, repetition: int) -> Array:
    """The data with noise added."""
    rng = np.random.default_rng([seed, repetition])
    return case.clean + case.sigma * rng.standard_normal(case.clean.shape)


def one(case: Case, seed: int, repetition: int) -> tuple[float, Array, Array]:
    """Decibels before; decibels and noise of each method; covered share of `WITH_STD` (%)."""
    y = noisy(case, seed, repetition)
    found = {method: denoise(y, method=method) for method in METHODS}
    errors = [(case.decibels(f.signal), np.sqrt(f.noise_variance)) for f in found.values()]
    covered = [
        100 * np.mean(np.abs(f.signal - case.clean) < 2 * f.std)
        for f in (found[method] for method in WITH_STD)
    ]
    return case.decibels(y), np.array(errors), np.array(covered)


def run(options: Options) -> Report:
    """Make the table and the figures."""
    draws = options.count(5, 1)
    report = Report("Real ECGs and images (not in S08)")
    leads, fs, cases = load()
    found = denoise(leads, axes=1)
    for i, lead in enumerate(leads):
        kept = f"{found.n_active[i]} of {lead.size} kept"
        label = f"MIT-BIH 108 as it is, lead {i + 1}"
        report.add(f"{label}: coefficients", None, kept)
        report.add(f"{label}: noise (ADC units)", None, np.sqrt(found.noise_variance[i]))
        left = lead - found.signal[i]
        if np.ptp(left) > 0:
            correlation = np.corrcoef(left[1:], left[:-1])[0, 1]
            report.add(f"{label}: lag-1 correlation of what is removed", None, correlation)
    means: dict[str, dict[str, float]] = {}
    for case in cases[:3] if options.quick else cases:
        tasks = [(case, options.seed, i) for i in range(draws)]
        before, errors, covered = zip(
            *repeat(one, tasks, jobs=options.jobs, label=case.name), strict=True
        )
        report.add(f"{case.name}: {case.score} (dB), noisy", None, before)
        for i, method in enumerate(METHODS):
            report.add(f"{case.name}: {case.score} (dB), {method}", None, np.array(errors)[:, i, 0])
        for i, method in enumerate(WITH_STD):
            report.add(f"{case.name}: within 2 std (%), {method}", None, np.array(covered)[:, i])
            ratio = np.array(errors)[:, i, 1] / case.sigma
            report.add(f"{case.name}: noise found / added, {method}", None, ratio)
        means[case.name] = dict(zip(METHODS, np.mean(errors, axis=0)[:, 0], strict=True))
    for method in WITH_STD:
        gains = [values[method] - values["bayes"] for values in means.values()]
        report.note(
            f"{method} against BayesShrink: from {min(gains):+.2f} to {max(gains):+.2f} dB, better "
            f"for {sum(gain > 0 for gain in gains)} of {len(gains)}."
        )
    report.note(
        "White noise would leave no correlation in what is removed; where there is some, the "
        "noise is coloured or a part of the signal is removed too."
    )
    report.draw(_figure_record(leads, fs, found), "record")
    report.draw(_figure_ecg(cases[1], options.seed), "ecg")
    report.draw(_figure_image(cases[2], options.seed), "image")
    return report


def _band(ax, t: Array, signal: Array, std: Array) -> None:
    ax.fill_between(t, signal - 2 * std, signal + 2 * std, color=BLUE, alpha=0.3, linewidth=0)
    ax.plot(t, signal, color=BLUE, linewidth=1, label="denoised ± 2 std")


def _figure_record(leads: Array, fs: float, found: Denoised):
    figure = new_figure(10, 6)
    part = slice(0, SHOWN)
    axes = figure.subplots(len(leads), 1, sharex=True)
    for i, (ax, lead) in enumerate(zip(axes, leads, strict=True)):
        t = np.arange(lead.size)[part] / fs
        ax.plot(t, lead[part], color=GREY, linewidth=0.7, label="as recorded")
        _band(ax, t, found.signal[i, part], found.std[i, part])
        ax.set_title(f"MIT-BIH 108, lead {i + 1}", loc="left", fontsize=10)
        ax.set_ylabel("ADC units")
        ax.margins(x=0)
    axes[1].legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    ax.set_xlabel("seconds")
    return figure


def _figure_ecg(case: Case, seed: int):
    figure = new_figure(10, 7)
    y = noisy(case, seed, 0)
    t = np.arange(y.size)
    axes = figure.subplots(3, 1, sharex=True, sharey=True)
    axes[0].set_xlim(0, y.size)
    axes[0].plot(t, y, color=GREY, linewidth=0.7)
    axes[0].set_title(
        f"{case.name}, with noise: {number(case.decibels(y))} dB", loc="left", fontsize=10
    )
    for ax, method in zip(axes[1:], WITH_STD, strict=True):
        found = denoise(y, method=method)
        ax.plot(t, case.clean, color=ORANGE, linewidth=1, label="before noise was added")
        _band(ax, t, found.signal, found.std)
        score = number(case.decibels(found.signal))
        ax.set_title(f"{method}: {score} dB", loc="left", fontsize=10)
    axes[1].legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    ax.set_xlabel("sample")
    return figure


def _figure_image(case: Case, seed: int):
    y = noisy(case, seed, 0)
    found = {method: denoise(y, method=method) for method in WITH_STD}
    shown = [(f"{case.name}, with noise", y)]
    shown += [(method, f.signal) for method, f in found.items()]
    figure = new_figure(11, 8)
    axes = figure.subplots(2, 3)
    for ax, (title, image) in zip(axes[0], shown, strict=True):
        ax.imshow(image, cmap="gray", vmin=0, vmax=255)
        ax.set_title(f"{title}: {number(case.decibels(image))} dB", fontsize=10)
    axes[1, 0].imshow(case.clean, cmap="gray", vmin=0, vmax=255)
    axes[1, 0].set_title("before noise was added", fontsize=10)
    top = max(np.quantile(f.std, 0.99) for f in found.values())
    for ax, (method, f) in zip(axes[1, 1:], found.items(), strict=True):
        drawn = ax.imshow(f.std, cmap="viridis", vmin=0, vmax=top)
        ax.set_title(f"{method}: standard deviation", fontsize=10)
    figure.colorbar(drawn, ax=axes[1, 1:], shrink=0.8)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
    return figure
