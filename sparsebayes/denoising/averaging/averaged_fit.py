"""Denoising by averages: over the precisions of coefficients, and over bases."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sparsebayes.denoising.averaging.averages import Average, Lesson
from sparsebayes.denoising.averaging.neighbourhoods import Neighbourhoods
from sparsebayes.denoising.averaging.noise_by_level import noise_by_level
from sparsebayes.denoising.averaging.shrinkage_rules import learn_rules
from sparsebayes.denoising.averaging.views import Views
from sparsebayes.denoising.bands import size_of
from sparsebayes.denoising.methods import METHODS
from sparsebayes.denoising.noise_level import white_noise
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import Transform

Array = np.ndarray


class AveragedFit(SignalFit):
    """The fit with one orthonormal basis or several, averaged over them.

    In each basis a coefficient is shrunk by a factor that is averaged over its precisions.

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
    by_level : bool
        Whether to estimate it for each scale.
    """

    def __init__(
        self,
        transform: Transform,
        target: Array,
        views: Sequence[Views],
        noise: float | None,
        by_level: bool = False,
    ) -> None:
        self.transform = transform
        self.n_seen = target.size
        self._target, self._views = target, views
        self.n_bases = sum(one.n_bases for one in views)
        self.dictionaries = tuple(one.dictionary for one in views)
        self.noise_variance = white_noise(target) if noise is None else noise
        self._by_level = by_level
        self._lessons: list[Lesson] = []
        self.maxima = []
        self.converged, self.stop_reason = True, METHODS["average"]
        if self.noise_variance > 0:
            self._average()
        else:  # nothing to remove
            self._estimate = target
            self.log_evidence, self.n_active = np.inf, int(np.count_nonzero(target))

    def _average(self) -> None:
        average, evidence = Average(self._target, band=False), []
        for views in self._views:
            around = Neighbourhoods(views.transform)
            coefficients = list(views.analyse(self._target))
            noises = [self.noise_variance] * len(around.bands)
            if self._by_level:
                noises = noise_by_level(around, coefficients)
            rules = learn_rules(around, coefficients, noises, views.n_bases)
            self._lessons.append(Lesson(views, around, rules))
            evidence.append(rules.log_evidence * self._target.size)
            average.add(self._lessons[-1], coefficients)
        self._estimate = average.signal.astype(self._target.dtype)
        self.log_evidence = float(np.mean(evidence))
        self.n_active = round(average.kept)
        if self._by_level:
            self.noise_variance = self._over_samples()

    def _over_samples(self) -> float:
        """The noise variance of a sample, by the first dictionary."""
        _, around, rules = self._lessons[0]
        sizes = [size_of(band) for band in around.bands]
        return float(np.average([rule.noise for rule in rules.of_bands], weights=sizes))

    @property
    def variance_of_mean(self) -> float:
        variance = super().variance_of_mean
        if self._by_level and self._lessons:  # what all samples share has the coarsest noise
            variance = self._lessons[0].rules.of_bands[0].noise / self.n_seen
        return variance

    def signal(self) -> Array:
        return self._estimate

    def variance(self) -> Array:
        if not self._lessons:
            return np.zeros(self._target.shape)
        average = Average(self._target, band=True)
        for lesson in self._lessons:
            average.add(lesson, lesson.views.analyse(self._target))
        return average.variance

    @cached_property
    def coefficients(self) -> Array:  # type: ignore[override]
        return self.transform.analyse(self._estimate) / self.transform.n_bases

    @cached_property
    def projections(self) -> Array:  # type: ignore[override]
        return self.transform.analyse(self._target) / self.transform.n_bases
