"""What is denoised: images, test signals and recordings, and the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pywt

from sparsebayes.datasets import load_benchmark, make_signal

Array = np.ndarray

FIRST = 100  # number of the first draw; the defaults were decided on draws below it
DRAWS = 3
WHITE = 255.0

IMAGES = ("camera", "coins", "moon", "brick", "grass", "gravel", "page", "cell")
COLOURS = ("astronaut", "coffee", "chelsea")
DEVIATIONS = (10, 25, 50)
COLOUR_DEVIATION, SIDE = 25, 256

DONOHO = ("sinc", "heavisine", "doppler", "blocks", "bumps")
SIZES, RATIOS = (512, 4096), (3, 7)
HEART_SAMPLES = 4096


def seeds(count: int = DRAWS) -> range:
    """The numbers of the draws."""
    return range(FIRST, FIRST + count)


@dataclass(frozen=True)
class Noisy:
    """A noisy array, what is true, and the standard deviation of the noise."""

    y: Array
    truth: Array
    deviation: float


def noisy(truth: Array, deviation: float, seed: int) -> Noisy:
    """With white Gaussian noise; nothing is clipped."""
    noise = np.random.default_rng(seed).standard_normal(truth.shape)
    return Noisy(truth + deviation * noise, truth, float(deviation))


def image(name: str) -> Array:
    """One of those that come with scikit-image, from 0 to 255."""
    from skimage import data

    return getattr(data, name)().astype(float)


def middle(picture: Array, side: int = SIDE) -> Array:
    """Its middle, `side` × `side` pixels."""
    top, left = ((have - side) // 2 for have in picture.shape[:2])
    return picture[top : top + side, left : left + side]


@dataclass(frozen=True)
class Picture:
    """An image and the noise it gets."""

    name: str
    deviation: int
    part: bool = False

    def make(self, seed: int) -> Noisy:
        """Draw `seed`."""
        whole = image(self.name)
        return noisy(middle(whole) if self.part else whole, self.deviation, seed)


GREY = {f"{name}-{s}": Picture(name, s) for name in IMAGES for s in DEVIATIONS}
COLOUR = {f"{name}-{COLOUR_DEVIATION}": Picture(name, COLOUR_DEVIATION, True) for name in COLOURS}


@dataclass(frozen=True)
class Series:
    """A signal and the ratio of its standard deviation to that of the noise."""

    name: str
    load: Callable[[], Array]
    snr: float

    def make(self, seed: int) -> Noisy:
        """Draw `seed`."""
        truth = self.load()
        return noisy(truth, float(truth.std()) / self.snr, seed)


def donoho_signal(name: str, size: int) -> Array:
    """One of the five signals, without noise."""
    return make_signal(name, size, snr=None)[2]


def heart() -> Array:
    """The first lead of MIT-BIH record 108, its first samples."""
    return load_benchmark("ecg_mitbih108_60s")["x"][0, :HEART_SAMPLES].astype(float)


def small_heart() -> Array:
    """The electrocardiogram that comes with PyWavelets."""
    return pywt.data.ecg().astype(float)


def brain() -> Array:
    """15 s of sleep."""
    return load_benchmark("eeg_yasa_n2_15s")["x"].astype(float)


LOADERS = {"ECG-108": heart, "ECG-pywt": small_heart, "EEG": brain}


def _recorded(name: str, ratios: tuple[int, ...]) -> dict[str, Series]:
    return {f"{name}-{snr}": Series(name, LOADERS[name], snr) for snr in ratios}


OF_DONOHO = {
    f"{name}-{size}-{snr}": Series(f"{name}, N = {size}", partial(donoho_signal, name, size), snr)
    for name in DONOHO
    for size in SIZES
    for snr in RATIOS
}
SIGNALS = {
    **OF_DONOHO,
    **_recorded("ECG-108", (5, 10)),
    **_recorded("ECG-pywt", (5, 10)),
    **_recorded("EEG", (1, 3)),
}
RECORDINGS = {key: one for name in LOADERS for key, one in _recorded(name, (2, 5, 10)).items()}
