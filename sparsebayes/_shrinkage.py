"""Denoising with an orthonormal dictionary: one transform, one rule for each coefficient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pywt

from sparsebayes._transforms import Transform
from sparsebayes._wavelets import Band
from sparsebayes.engine import inclusion, orthonormal

Array = np.ndarray

FEWEST = 64  # bands are joined until they have so many coefficients
_MAD = 0.6744897501960817  # the median of |x| for a standard normal x

CLASSICAL = ("hard", "soft", "bayes")
GIVEN = "closed form at the given noise"
BEST = "closed form; the noise is at the highest maximum of the evidence"
THRESHOLD = "threshold"
CONSTANT = "the signal is constant"
COLLAPSED = (
    "kept everything: with this prior the evidence rises as the noise falls to nothing; use "
    "prior='bic', or give the noise"
)


@dataclass(frozen=True)
class Group:
    """Coefficients that are treated alike.

    Attributes
    ----------
    bands : list of Band
    gain : callable
        From ``z = c²/σ²`` to the factor between a coefficient and its estimate.
    """

    bands: list[Band]
    gain: Callable[[Array], Array]


class Shrunk:
    """One signal's coefficients before and after, and what was learned on the way.

    Attributes
    ----------
    transform : Transform
    n_seen : int
        The number of samples.
    projections, coefficients : ndarray
    alpha : ndarray
        ∞ where a coefficient was dropped.
    noise_variance, log_evidence : float
    maxima : list of (float, float)
        Variance and objective of each local maximum.
    converged : bool
    stop_reason : str
    """

    def __init__(
        self, transform: Transform, target: Array, method: str, c: float, noise: float | None
    ) -> None:
        self.transform = transform
        self.n_seen = target.size
        self._c = c
        self._method = method
        self.maxima: list[tuple[float, float]] = []
        self.projections = transform.analyse(target)
        self.converged = True
        if not np.any(self.projections):
            self.noise_variance = noise or 0.0
            self.log_evidence = _null_evidence(self.projections.size, self.noise_variance)
            self.coefficients = np.zeros_like(self.projections)
            self.n_active, self.stop_reason = 0, CONSTANT
            self._thresholds = [0.0] * len(transform.bands())
        elif method == "evidence":
            self._fit(noise)
        else:
            self._threshold(noise)

    def _fit(self, noise: float | None) -> None:
        found = orthonormal.fit(self.projections, self._c, noise)
        point = found.chosen
        self.noise_variance = point.variance
        self.log_evidence = point.objective + self._c * point.n_determined
        self.maxima = [(maximum.variance, maximum.objective) for maximum in found.maxima]
        self.converged = not found.collapsed
        self.stop_reason = GIVEN if noise is not None else COLLAPSED if found.collapsed else BEST
        self.n_active = point.n_active
        self.coefficients = orthonormal.shrink(self.projections, self._c, point.variance)

    def _threshold(self, noise: float | None) -> None:
        finest = np.abs(self.projections[_finest(self.transform.bands()).index])
        variance = float(np.median(finest) / _MAD) ** 2 if noise is None else noise
        self.noise_variance = variance
        self.log_evidence = np.nan
        self.stop_reason = THRESHOLD
        self.coefficients = np.empty_like(self.projections)
        universal = np.sqrt(2.0 * variance * np.log(self.projections.size))
        self._thresholds = []
        for band in self.transform.bands():
            values = self.projections[band.index]
            limit = universal
            if self._method == "bayes":  # σ² over the standard deviation of the clean coefficients
                clean = np.sqrt(max(float(np.mean(values.astype(float) ** 2)) - variance, 0.0))
                limit = variance / clean if clean > 0 else float(np.abs(values).max(initial=0.0))
            mode = "hard" if self._method == "hard" else "soft"
            # PyWavelets divides zero by zero where nothing is taken off.
            shrunk = pywt.threshold(values, limit, mode) if limit > 0 else values
            self.coefficients[band.index] = shrunk
            self._thresholds.append(float(limit))
        self.n_active = int(np.count_nonzero(self.coefficients))

    @cached_property
    def alpha(self) -> Array:
        if self._method == "evidence" and self.noise_variance > 0:
            return orthonormal.precisions(self.projections, self._c, self.noise_variance)
        return np.where(self.coefficients != 0, 0.0, np.inf)

    def signal(self) -> Array:
        return self.transform.synthesise(self.coefficients)

    def variance(self) -> Array:
        """The expected squared errors of the samples."""
        errors = np.zeros(self.projections.shape)
        if self.noise_variance > 0:
            for group in self._groups():
                values = [np.ravel(self.projections[band.index]) for band in group.bands]
                z = np.square(np.concatenate(values), dtype=np.float64) / self.noise_variance
                found = inclusion.estimate(z).errors(z, group.gain) * self.noise_variance
                start = 0
                for band in group.bands:
                    part = errors[band.index]
                    part[...] = found[start : start + part.size].reshape(part.shape)
                    start += part.size
        return self.transform.spread(errors)

    def _groups(self) -> list[Group]:
        bands = self.transform.bands()
        if self._method == "bayes":
            pairs = zip(bands, self._thresholds, strict=True)
            return [Group([band], self._gain(limit)) for band, limit in pairs]
        gain = self._gain(self._thresholds[0] if self._method in CLASSICAL else 0.0)
        return [Group(some, gain) for some in joined(bands)]

    def _gain(self, limit: float) -> Callable[[Array], Array]:
        variance, c = self.noise_variance, self._c

        def evidence(z: Array) -> Array:
            return np.where(z > 1.0 + 2.0 * c, 1.0 - 1.0 / np.maximum(z - 2.0 * c, 1.0), 0.0)

        def hard(z: Array) -> Array:
            return (z * variance > limit**2).astype(float)

        def soft(z: Array) -> Array:
            return np.maximum(1.0 - limit / np.sqrt(np.maximum(z * variance, 1e-300)), 0.0)

        return {"evidence": evidence, "hard": hard}.get(self._method, soft)


def _finest(bands: list[Band]) -> Band:
    """The finest band of those with details along most axes, which has the least of a signal."""
    details = [sum(detail for _, detail in band.kinds) for band in bands]
    return [band for band, count in zip(bands, details, strict=True) if count == max(details)][-1]


def joined(bands: list[Band]) -> list[list[Band]]:
    """Neighbouring bands together, so that none has too few coefficients."""
    groups: list[list[Band]] = []
    size = FEWEST
    for band in bands:
        if size >= FEWEST:
            groups.append([])
            size = 0
        groups[-1].append(band)
        size += int(np.prod([part.stop - part.start for part in band.index]))
    if len(groups) > 1 and size < FEWEST:
        last = groups.pop()
        groups[-1] += last
    return groups


def _null_evidence(size: int, variance: float) -> float:
    return -0.5 * size * float(np.log(2.0 * np.pi * variance)) if variance > 0 else np.inf
