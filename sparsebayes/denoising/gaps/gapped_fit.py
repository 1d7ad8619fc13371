"""The average over precisions and bases for a signal of which samples are missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsebayes.denoising.averaging.averaged_fit import AveragedFit
from sparsebayes.denoising.averaging.views import Views
from sparsebayes.denoising.gaps.begin import Begun
from sparsebayes.denoising.gaps.fill import fill
from sparsebayes.dictionaries import Transform

Array = np.ndarray


class GappedFit(AveragedFit):
    """Gaps are filled with what is likely there, plus noise, and the whole is averaged.

    In the gaps the result is the filling itself, and its errors are those of stretches that were
    hidden for trial.

    Parameters
    ----------
    transform : Transform
        The dictionary on the grid of the signal.
    begun : Begun
        The signal, without its mean, with a first guess in its gaps.
    rough : sequence of Views
        For a first estimate; few are enough.
    views : sequence of Views
        Those of each dictionary.
    """

    def __init__(
        self, transform: Transform, begun: Begun, rough: Sequence[Views], views: Sequence[Views]
    ) -> None:
        first = AveragedFit(transform, begun.values, rough, begun.noise)
        self._missing = ~begun.seen
        self._filled = fill(begun, first.signal(), first.variance())
        super().__init__(transform, begun.filled(self._filled.values), views, begun.noise)
        self.n_seen = int(np.count_nonzero(begun.seen))
        self._estimate = self._estimate.copy()
        self._estimate[self._missing] = self._filled.values

    def variance(self) -> Array:
        errors = super().variance()
        errors[self._missing] = self._filled.variance
        return errors
