"""Denoising by averages: over the precisions of coefficients, and over bases."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.shrinkage_rules import Rules, learn_rules
from sparsebayes.denoising.averaging.views import Views
from sparsebayes.denoising.methods import METHODS
from sparsebayes.denoising.noise_level import white_noise
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import Transform

Array = np.ndarray

_TAKEN_OFF = 0.5  # of the differences between bases
_LEFT = 0.1  # of the variance, at least


class Lesson(NamedTuple):
    """Views of a signal, and what was learned from them."""

    views: Views
    around: Neighbourhoods
    rules: Rules


class AveragedFit(SignalFit):
    """The fit with one orthonormal basis or several, averaged over them.

    In each basis a coefficient is shrunk by a factor that is averaged over its precisions. The
    mean of estimates errs less than they do on average: if the variances in all bases were right,
    the squares of their differences from the mean could be taken off, on average over the bases.
    Half of that is: those of images are somewhat small.

    `coefficients` and `projections` are those of the estimate and of the samples, without shifts
    and margins; of several bases those of least norm that make the signal.

    Parameters
    ----------
    transform : Transform
        The dictionary on the grid of the signal.
    target : ndarray
        A whole signal, without its mean.
    views : sequence of Views
        Those of each dictionary. All bases count alike.
    noise : float or None
        The noise variance; None estimates it.
    """

    def __init__(
        self, transform: Transform, target: Array, views: Sequence[Views], noise: float | None
    ) -> None:
        self.transform = transform
        self.n_seen = target.size
        self._target, self._views = target, views
        self.noise_variance = white_noise(target) if noise is None else noise
        self._lessons: list[Lesson] = []
        self.maxima = []
        self.converged, self.stop_reason = True, METHODS["average"]
        if self.noise_variance > 0:
            self._average()
        else:  # nothing to remove
            self._estimate = target
            self.log_evidence, self.n_active = np.inf, int(np.count_nonzero(target))

    def _average(self) -> None:
        total, kept, evidence = np.zeros(self._target.shape), 0.0, []
        for views in self._views:
            around = Neighbourhoods(views.transform)
            coefficients = list(views.analyse(self._target))
            noises = [self.noise_variance] * len(around.bands)
            rules = learn_rules(around, coefficients, noises, views.n_bases)
            self._lessons.append(Lesson(views, around, rules))
            evidence.append(rules.log_evidence * self._target.size)
            for some, shift in zip(coefficients, views.shifts, strict=True):
                means, _, count = rules.shrunk(around, some)
                total += views.signal(means, shift)
                kept += count * self._target.size / views.padded_size
        self._estimate = (total / self._n_bases).astype(self._target.dtype)
        self.log_evidence = float(np.mean(evidence))
        self.n_active = round(kept / self._n_bases)

    @property
    def _n_bases(self) -> int:
        return sum(views.n_bases for views in self._views)

    def signal(self) -> Array:
        return self._estimate

    def variance(self) -> Array:
        within, between = np.zeros(self._target.shape), np.zeros(self._target.shape)
        for views, around, rules in self._lessons:
            pairs = zip(views.analyse(self._target), views.shifts, strict=True)
            for coefficients, shift in pairs:
                means, errors, _ = rules.shrunk(around, coefficients)
                within += views.spread(errors, shift)
                n_bases = views.transform.n_bases
                estimate = views.signal(means, shift) / n_bases
                between += n_bases * np.square(estimate - self._estimate, dtype=np.float64)
        return np.maximum(within - _TAKEN_OFF * between, _LEFT * within) / self._n_bases

    @cached_property
    def coefficients(self) -> Array:  # type: ignore[override]
        return self.transform.analyse(self._estimate) / self.transform.n_bases

    @cached_property
    def projections(self) -> Array:  # type: ignore[override]
        return self.transform.analyse(self._target) / self.transform.n_bases

    @property
    def alpha(self) -> Array:
        """The precisions with which posterior means would be these coefficients."""
        removed = np.abs(self.projections.astype(float) - self.coefficients)
        kept = np.abs(self.coefficients.astype(float)) * (self.noise_variance or 1.0)
        return np.divide(removed, kept, out=np.full(kept.shape, np.inf), where=kept > 0)
