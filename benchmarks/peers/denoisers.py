"""The ways to denoise that are compared with ours, each a function of the noisy array alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pywt
from scipy.signal import savgol_coeffs, savgol_filter

Array = np.ndarray
Method = Callable[[Array], Array]

OURS = "denoise"
WAVELET = "sym8"
ORDER = 3  # of the polynomials of Savitzky and Golay
PRODUCTS = 1 << 28  # samples times window: the longest that is tried


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
    return {
        **shrinkers(),
        "hard": partial(thresholded, mode="hard"),
        "soft": partial(thresholded, mode="soft"),
        "savgol": smoothed,
    }
