"""A signal as seen by a transform when it is moved a little this way and that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from sparsebayes.denoising.averaging.margins import extend
from sparsebayes.dictionaries import Dictionary, Transform

Array = np.ndarray

# The bases over which estimates are averaged: as many as there is time for, within these. From
# 16 on errors of signals hardly fall, from 4 on those of images.
_FEWEST, _MOST = 4, 16
_WORK = 1 << 20  # samples times bases


class Views:
    """Coefficients of a signal with margins, at several shifts.

    Parameters
    ----------
    dictionary : Dictionary
    shape : tuple of int
        Of a signal.
    n_shifts : int or None
        None takes as many as there is time for.
    padded : tuple of int or None
        The shape with margins; None takes what the dictionary asks for.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        shape: tuple[int, ...],
        n_shifts: int | None,
        padded: tuple[int, ...] | None = None,
    ) -> None:
        self._shape = shape
        self._padded = padded or dictionary.padded_shape(shape)
        self.transform: Transform = dictionary.bind(self._padded)
        if n_shifts is None:
            bases = min(max(_WORK // max(int(np.prod(shape)), 1), _FEWEST), _MOST)
            n_shifts = max(1, bases // max(self.transform.n_bases, 1))
        self.shifts = self.transform.shifts(n_shifts)

    @property
    def n_bases(self) -> int:
        """How many orthonormal bases the coefficients of all shifts are from."""
        return self.transform.n_bases * len(self.shifts)

    @property
    def padded_size(self) -> int:
        """Samples with margins."""
        return int(np.prod(self._padded))

    @cached_property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(len(self._shape)))

    def analyse(self, signal: Array) -> Iterator[Array]:
        """The coefficients at each shift."""
        padded = extend(signal, self._padded)
        for shift in self.shifts:
            yield self.transform.analyse(np.roll(padded, shift, self._axes))

    def back(self, padded: Array, shift: tuple[int, ...]) -> Array:
        """What belongs to the signal in an array for one shift."""
        moved = np.roll(padded, [-step for step in shift], self._axes)
        return moved[tuple(slice(0, n) for n in self._shape)]

    def signal(self, coefficients: Array, shift: tuple[int, ...]) -> Array:
        """The sum of the signals that coefficients at one shift make in each basis."""
        return self.back(self.transform.synthesise(coefficients), shift)

    def spread(self, variances: Array, shift: tuple[int, ...]) -> Array:
        """The sum, over the bases, of what errors of coefficients do to each sample."""
        return self.back(self.transform.spread(variances), shift)


def views_of(
    dictionaries: Sequence[Dictionary], shape: tuple[int, ...], n_shifts: int | None
) -> list[Views]:
    """Views by several dictionaries; the others have half as many bases as the first."""
    first = Views(dictionaries[0], shape, n_shifts)
    half = max(1, first.n_bases // 2)
    return [first, *(Views(other, shape, half) for other in dictionaries[1:])]
