"""Bands of coefficients: which are taken together, and which are coarse or fine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes.dictionaries import Band, Transform

Array = np.ndarray

# Coefficients from which the distribution of a band is learned. From 16 to 256 the coverage
# changes by 1 to 3 % and is best here.
FEWEST = 64


def size_of(band: Band) -> int:
    """The number of its coefficients."""
    return int(np.prod([part.stop - part.start for part in band.index]))


def joined(bands: Sequence[Band], n_views: int = 1) -> list[list[Band]]:
    """Neighbouring bands together, so that none has too few coefficients in so many views."""
    groups: list[list[Band]] = []
    size = FEWEST
    for band in bands:
        if size >= FEWEST:
            groups.append([])
            size = 0
        groups[-1].append(band)
        size += n_views * size_of(band)
    if len(groups) > 1 and size < FEWEST:
        last = groups.pop()
        groups[-1] += last
    return groups


def finest(bands: Sequence[Band]) -> Band:
    """The finest band of those with details along most axes, which has the least of a signal."""
    details = [sum(detail for _, detail in band.kinds) for band in bands]
    return [band for band, count in zip(bands, details, strict=True) if count == max(details)][-1]


def coarse(transform: Transform, n_samples: float) -> Array:
    """A mask of the coarser bands, with hardly more coefficients than samples."""
    mask = np.zeros(transform.coefficient_shape, dtype=bool)
    for band in transform.bands():
        if np.count_nonzero(mask) >= n_samples:
            break
        mask[band.index] = True
    return mask
