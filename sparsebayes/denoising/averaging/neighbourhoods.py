"""Coefficients that are large together: neighbours in a band, the next coarser one, both parts."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from scipy.ndimage import correlate1d

from sparsebayes.dictionaries import Band, Transform

Array = np.ndarray


class Neighbourhoods:
    """Sums over the coefficients around each one.

    Around it are those beside it in its band (up to one step along each axis), the coefficient of
    the next coarser scale at the same place, its parent, and if coefficients are complex the other
    part of each.

    Parameters
    ----------
    transform : Transform

    Attributes
    ----------
    bands : list of Band
    parts : tuple of int
        The axis of the two parts of complex coefficients, if they are.
    """

    def __init__(self, transform: Transform) -> None:
        self.bands = transform.bands()
        self._axis = transform.complex_axis
        self.parts = () if self._axis is None else (self._axis,)
        n_axes = len(transform.coefficient_shape)
        first = 0 if self._axis is None else self._axis + 1
        self._places = range(first, n_axes)  # axes along which coefficients have neighbours
        by_kind = {self._kind(band, 0): band for band in self.bands}
        self._parents = [
            by_kind.get(self._kind(band, 1)) if any(detail for _, detail in band.kinds) else None
            for band in self.bands
        ]

    def _kind(self, band: Band, coarser: int) -> Hashable:
        """What tells a band from others, or from others so many scales coarser."""
        direction = tuple(
            (part.start, part.stop) for part in band.index[: len(band.index) - len(self._places)]
        )
        return direction, tuple((depth + coarser, detail) for depth, detail in band.kinds)

    def finer(self, number: int) -> int | None:
        """The number of the band whose parent a band is; of bands without parents, the next."""
        for child, parent in enumerate(self._parents):
            if parent is not None and parent is self.bands[number]:
                return child
        alone = not self.bands[number].kinds and number + 1 < len(self.bands)
        return number + 1 if alone else None

    def sums(self, z: Array, number: int, beside: float, above: float) -> tuple[Array, float]:
        """Sums of z around the coefficients of a band, with z itself, and the sum of weights.

        Parameters
        ----------
        z : ndarray
            Of all coefficients.
        number : int
            Of the band.
        beside, above : float
            Weights of those beside a coefficient, and of its parent.
        """
        total, each = self._both_parts(z[self.bands[number].index])
        sums, count = total, float(each)
        if beside > 0:
            box = total
            for axis in self._places:
                box = correlate1d(box, np.ones(3), axis=axis, mode="wrap")
            sums = (1.0 - beside) * total + beside * box
            count += beside * each * (3 ** len(self._places) - 1)
        parent = self._parents[number]
        if above > 0 and parent is not None:
            coarse = self._both_parts(z[parent.index])[0]
            for axis in self._places:
                place = np.minimum(np.arange(total.shape[axis]) // 2, coarse.shape[axis] - 1)
                coarse = np.take(coarse, place, axis)
            sums, count = sums + above * coarse, count + above * each
        return sums, count

    def _both_parts(self, z: Array) -> tuple[Array, int]:
        """z, or of complex coefficients the sum over their parts; and how many these are."""
        if self._axis is None:
            return z, 1
        return z.sum(axis=self._axis, keepdims=True), z.shape[self._axis]
