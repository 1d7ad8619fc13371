"""Channels that are alike: mixed into one that has what they share, and differences.

The mixture is orthonormal in units of the noise, so that white noise stays white and as large. Of
three channels with the same noise it is (1, 1, 1)/√3, (1, 0, -1)/√2 and (1, -2, 1)/√6: brightness
and two colours. Where the noise differs, the first is the mean with the least noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.fft import dct

from sparsebayes.denoising.noise_level import white_noise

Array = np.ndarray

_NO_NOISE = 1e-12  # of the largest variance; a channel below it is left alone


class Mixture:
    """A matrix from channels to others that are denoised in their place, and back.

    Parameters
    ----------
    variances : ndarray of shape (n_channels,)
        The noise variances of the channels; those without noise are not mixed with others.
    axis : int
        The axis of the channels, not negative.
    """

    def __init__(self, variances: Array, axis: int) -> None:
        self._axis = axis
        largest = float(variances.max())
        noisy = np.flatnonzero(variances > _NO_NOISE * largest)
        scales = np.sqrt(variances / largest)[noisy] if largest > 0 else np.ones(0)
        n = variances.size
        self._forward, self._back = np.eye(n), np.eye(n)
        if noisy.size > 1:
            cosines = dct(np.eye(noisy.size), axis=0, norm="ortho")
            rows, triangle = np.linalg.qr((cosines / scales).T)
            rows = (rows * np.sign(np.diag(triangle))).T
            self._forward[np.ix_(noisy, noisy)] = rows / scales
            self._back[np.ix_(noisy, noisy)] = rows.T * scales[:, None]

    def mix(self, values: Array) -> Array:
        """Channels mixed; a sample that is missing in one of them is missing in all."""
        return self._along(self._forward, values, self._axis)

    def mix_variances(self, variances: Array) -> Array:
        """The variances of independent noise of the channels, mixed."""
        return self._forward**2 @ variances

    def unmix(self, values: Array, axis: int | None = None) -> Array:
        """The channels of a mixture, which are along `axis`, if not where they were."""
        return self._along(self._back, values, self._axis if axis is None else axis)

    def unmix_variances(self, variances: Array, axis: int | None = None) -> Array:
        """The variances of the channels, if those of the mixture are independent."""
        return self._along(self._back**2, variances, self._axis if axis is None else axis)

    @staticmethod
    def _along(matrix: Array, values: Array, axis: int) -> Array:
        moved = np.tensordot(matrix.astype(values.dtype), values, (1, axis))
        return np.moveaxis(moved, 0, axis)


def noise_of_channels(signals: Array) -> Array:
    """A noise variance for each channel: the median over several signals.

    Parameters
    ----------
    signals : ndarray of shape (n_channels, n_signals, *shape)
        May have NaN.
    """
    return np.array([np.median([_noise(signal) for signal in channel]) for channel in signals])


def _noise(signal: Array) -> float:
    missing = np.isnan(signal)
    if missing.all():
        return 0.0
    if missing.any():
        signal = np.where(missing, np.nanmedian(signal), signal)
    return white_noise(signal - signal.mean(dtype=np.float64).astype(signal.dtype))


def looks_like_colour(shape: Sequence[int]) -> bool:
    """Whether an array is more likely an image with channels than a volume."""
    return len(shape) == 3 and shape[2] in (3, 4) and min(shape[:2]) > 4
