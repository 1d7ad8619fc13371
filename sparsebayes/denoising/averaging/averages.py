"""What was learned is applied: the mean over bases, and its error band."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.shrinkage_rules import Rules
from sparsebayes.denoising.averaging.views import Views

Array = np.ndarray

_TAKEN_OFF = 0.5  # of the differences between bases
_LEFT = 0.5  # of the variance, at least


class Lesson(NamedTuple):
    """Views of a signal, and what was learned from them or from a longer signal."""

    views: Views
    around: Neighbourhoods
    rules: Rules


class Average:
    """The mean of estimates over the bases of one lesson or several.

    The mean errs less than its members do on average: if the variances in all bases were right,
    the squares of their differences from the mean could be taken off, on average over the bases.
    Half of that is: those of images are somewhat small.

    Parameters
    ----------
    target : ndarray
        A whole signal, or a piece of one.
    band : bool
        Whether the variance is wanted.
    """

    def __init__(self, target: Array, *, band: bool) -> None:
        self._target, self._band = target, band
        self._n_bases, self._kept = 0, 0.0
        self._sum = np.zeros(target.shape)
        self._within = np.zeros(target.shape if band else 0)
        self._squares = np.zeros(target.shape if band else 0)  # of what bases remove

    def add(self, lesson: Lesson, coefficients: Iterable[Array]) -> None:
        """Count in the bases of a lesson, with the coefficients at each of its shifts."""
        views, n_bases = lesson.views, lesson.views.transform.n_bases
        for some, shift in zip(coefficients, views.shifts, strict=True):
            means, errors, count = lesson.rules.shrunk(lesson.around, some)
            estimates = views.signal(means, shift)
            self._sum += estimates
            if self._band:
                self._within += views.spread(errors, shift)
                removed = self._target - estimates.astype(np.float64) / n_bases
                self._squares += n_bases * removed**2
            self._kept += count * self._target.size / views.padded_size
            self._n_bases += n_bases

    @property
    def signal(self) -> Array:
        """The mean of the estimates."""
        return self._sum / self._n_bases

    @property
    def variance(self) -> Array:
        """The expected squared error of the mean."""
        removed = self._target - self.signal
        between = self._squares - self._n_bases * removed**2
        within = self._within
        return np.maximum(within - _TAKEN_OFF * between, _LEFT * within) / self._n_bases

    @property
    def kept(self) -> float:
        """Of how many coefficients of a basis most is left."""
        return self._kept / self._n_bases
