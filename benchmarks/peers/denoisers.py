"""The ways to denoise that are compared with ours, each a function of the noisy array alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pywt
from scipy.signal import savgol_coeffs, savgol_filter

from benchmarks.peers.ebayes import WAVELET, ebayes

Array = np.ndarray
Method = Callable[[Array], Array]

OURS = "denoise"
ORDER = 3  # of the polynomials of Savitzky and Golay
PRODUCTS = 1 << 28  # samples times window: the longest that is tried
SHIFTS = 16  # of a signal in cycle spinning
SPUN = 3  # the largest shift of an image, along each axis
PATCH, DISTANCE, STRENGTH = 5, 6, 0.8  # non-local means: pixels, pixels, h in units of σ
TV_WEIGHT = 0.9  # total variation: the weight in units of σ; the best of 0.6 to 1 on five images


def thresholded(y: Array, mode: str) -> Array:
    """PyWavelets by hand: its default levels and ends, the universal threshold for all details."""
    coarse, *details = pywt.wavedec(y, WAVELET)
    deviation = np.median(np.abs(details[-1])) / 0.6745
    limit = deviation * np.sqrt(2.0 * np.log(y.size))
    kept = [pywt.threshold(band, limit, mode) for band in details]
    return pywt.waverec([coarse, *kept], WAVELET)[: y.size]


def windows(size: int) -> list[int]:
    """The windows tried on a signal: 5, 9, 17, 33 and so on, up to a quarter of it."""
    longest = min(size // 4, PRODUCTS // size)
    return [2**k + 1 for k in range(2, longest.bit_length()) if 2**k + 1 <= longest]


def left_out(y: Array, estimate: Array, window: int) -> float:
    """The mean squared error of samples estimated without themselves, away from the ends.

    The filter is linear: such an error is the residual over one minus the sample's own weight.
    """
    inner = slice(window // 2, y.size - window // 2)
    own = float(savgol_coeffs(window, ORDER)[window // 2])
    return float(np.mean((y - estimate)[inner] ** 2)) / (1.0 - own) ** 2


def smoothed(y: Array) -> Array:
    """Savitzky and Golay's filter with the window of least leave-one-out error.

    Longer windows are not tried once the error has grown twice in turn.
    """
    best, least, grown = y, np.inf, 0
    for window in windows(y.size):
        estimate = savgol_filter(y, window, ORDER)
        error = left_out(y, estimate, window)
        grown = 0 if error < least else grown + 1
        if error < least:
            best, least = estimate, error
        if grown == 2:
            break
    return best


def sure_threshold(x: Array) -> float:
    """DJ95's hybrid, for unit noise: the least of Stein's risk, or √(2 log n) if sparse."""
    universal = float(np.sqrt(2.0 * np.log(max(x.size, 2))))
    if np.mean(x**2 - 1.0) <= np.log2(x.size) ** 1.5 / np.sqrt(x.size):
        return universal
    squares = np.sort(x**2)
    left = np.arange(x.size - 1, -1, -1)  # how many are above
    risks = x.size - 2.0 * np.arange(1, x.size + 1) + np.cumsum(squares) + left * squares
    return min(float(np.sqrt(squares[np.argmin(risks)])), universal)


def sure_shrink(y: Array) -> Array:
    """Soft thresholds for each level, by Stein's unbiased estimate of the risk."""
    coarse, *details = pywt.wavedec(y, WAVELET)
    deviation = np.median(np.abs(details[-1])) / 0.6745
    if deviation == 0.0:
        return y.copy()
    kept = [
        pywt.threshold(band, deviation * sure_threshold(band / deviation), "soft")
        for band in details
    ]
    return pywt.waverec([coarse, *kept], WAVELET)[: y.size]


def spun(y: Array, method: Method) -> Array:
    """Cycle spinning (CD95) of a signal: the mean over the first shifts."""
    found = [np.roll(method(np.roll(y, k)), -k) for k in range(SHIFTS)]
    return np.mean(found, axis=0)


def _wavelet(y: Array, method: str, wavelet: str) -> Array:
    from skimage.restoration import denoise_wavelet

    return denoise_wavelet(y, method=method, wavelet=wavelet)


def bayes_shrink(y: Array) -> Array:
    """scikit-image's BayesShrink with our wavelet."""
    return _wavelet(y, "BayesShrink", WAVELET)


def shrinkers() -> dict[str, Method]:
    """scikit-image's two methods, with our wavelet and with its default, that of Haar."""
    return {
        f"{method}, {wavelet}": partial(_wavelet, method=f"{method}Shrink", wavelet=wavelet)
        for method in ("Bayes", "Visu")
        for wavelet in (WAVELET, "db1")
    }


def peers() -> dict[str, Method]:
    """All that signals are given to."""
    hard = partial(thresholded, mode="hard")
    return {
        **shrinkers(),
        "hard": hard,
        "soft": partial(thresholded, mode="soft"),
        "SURE": sure_shrink,
        "hard, spun": partial(spun, method=hard),
        "Bayes, spun": partial(spun, method=bayes_shrink),
        "SURE, spun": partial(spun, method=sure_shrink),
        "Ebayes": ebayes,
        "savgol": smoothed,
    }


def spun_image(y: Array, channel_axis: int | None = None) -> Array:
    """scikit-image's cycle spinning of its BayesShrink, with the wavelet of Haar."""
    from skimage.restoration import cycle_spin, denoise_wavelet

    options: dict[str, object] = {"wavelet": "db1", "method": "BayesShrink", "mode": "soft"}
    if channel_axis is not None:
        options["channel_axis"] = channel_axis
    return cycle_spin(
        y, denoise_wavelet, SPUN, workers=1, func_kw=options, channel_axis=channel_axis
    )


def deviation_of(y: Array, channel_axis: int | None = None) -> float:
    """scikit-image's estimate of the noise, for methods that do not estimate it themselves."""
    from skimage.restoration import estimate_sigma

    return float(estimate_sigma(y, average_sigmas=True, channel_axis=channel_axis))


def non_local_means(y: Array, channel_axis: int | None = None) -> Array:
    """scikit-image's, fast."""
    from skimage.restoration import denoise_nl_means

    sigma = deviation_of(y, channel_axis)
    return denoise_nl_means(
        y, PATCH, DISTANCE, STRENGTH * sigma, True, sigma, channel_axis=channel_axis
    )


def total_variation(y: Array) -> Array:
    """scikit-image's, by Chambolle's algorithm."""
    from skimage.restoration import denoise_tv_chambolle

    return denoise_tv_chambolle(y, TV_WEIGHT * deviation_of(y))


def block_matching(y: Array) -> Array:
    """BM3D of its authors, whose package is for non-commercial use only."""
    from bm3d import bm3d

    return np.asarray(bm3d(y, deviation_of(y)))


def of_images() -> dict[str, Method]:
    """Those that images are given to, but BM3D, which is slow."""
    return {
        "Bayes": partial(_wavelet, method="BayesShrink", wavelet="db1"),
        "Bayes, spun": spun_image,
        "nl-means": non_local_means,
        "TV": total_variation,
    }


def of_colours() -> dict[str, Method]:
    """Those that images with channels, the last axis, are given to."""
    return {
        "Bayes, spun": partial(spun_image, channel_axis=-1),
        "nl-means": partial(non_local_means, channel_axis=-1),
    }
