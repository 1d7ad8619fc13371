"""Noise that is not white: a variance for each scale.

The median absolute deviation of a band tells its noise if most of its coefficients have nothing of
the signal [1]_. That holds for fine scales, hardly for coarse ones. So scales are gone through from
fine to coarse, and the logarithm of the variance may rise no faster than it did before: that of
white noise is constant, that of 1/f noise rises evenly, that of autoregressive noise ever less.
Where a band has more than that, it is taken for signal. Where noise is white at fine scales and
rises at coarse ones, what rises is taken for signal, too.

References
----------
.. [1] I. Johnstone, B. Silverman, "Wavelet threshold estimators for data with correlated noise",
   Journal of the Royal Statistical Society B 59, 1997.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.bands import FEWEST, size_of
from sparsebayes.denoising.noise_level import noise_of_details

Array = np.ndarray

# The standard error of the logarithm of a variance, from the median absolute deviation of one
# coefficient; that of n is √n times smaller. Rises between scales that are smaller, and falls that
# are less than twice it, are taken for chance.
_ERROR = 2.33
_LEAST = 1e-12  # variance, of the largest: numbers that are all the same have none


def noise_by_level(around: Neighbourhoods, views: Sequence[Array]) -> list[float]:
    """For each band the noise variance of its coefficients.

    Bands of fewer than 64 coefficients have that of the next finer scale.

    Parameters
    ----------
    around : Neighbourhoods
        Which knows the bands.
    views : sequence of ndarray
        The coefficients of the signal, shifted by this and that.
    """
    bands, n_parts = around.bands, 2 if around.parts else 1
    floor = _LEAST * max(float(np.square(view, dtype=np.float64).max()) for view in views)
    logs, rises = np.zeros(len(bands)), np.full(len(bands), np.inf)
    for number in reversed(range(len(bands))):
        band, finer = bands[number], around.finer(number)
        if finer is None and (same := _of_same_scale(around, number)):
            logs[number] = logs[same].mean()
            continue
        values = np.concatenate([np.ravel(view[band.index]) for view in views])
        found = float(np.log(max(noise_of_details(values), floor, np.finfo(float).tiny)))
        if finer is None:
            logs[number] = found
            continue
        size = size_of(band) / n_parts
        error = _ERROR / np.sqrt(size)
        rise = min(found - logs[finer], rises[finer] + error)
        clear = rise > error or rise < -2.0 * error
        rises[number] = rise if clear and size >= FEWEST else 0.0
        logs[number] = logs[finer] + rises[number]
    return np.exp(logs).tolist()


def _of_same_scale(around: Neighbourhoods, number: int) -> list[int]:
    """For the band that is left when all details are taken off: the coarsest details."""
    band = around.bands[number]
    if any(detail for _, detail in band.kinds):
        return []
    depths = [depth for depth, _ in band.kinds]
    finer = range(number + 1, len(around.bands))
    return [k for k in finer if depths and [one for one, _ in around.bands[k].kinds] == depths]
