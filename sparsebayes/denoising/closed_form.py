"""Denoising with an orthonormal dictionary: one transform, one rule for each coefficient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsebayes.denoising.bands import finest, joined
from sparsebayes.denoising.methods import METHODS
from sparsebayes.denoising.noise_level import believable, white_noise
from sparsebayes.denoising.signal_fit import SignalFit
from sparsebayes.dictionaries import Band, Transform
from sparsebayes.engine.orthonormal import closed_form, shrinkage_prior

Array = np.ndarray

_MAD = 0.6744897501960817  # the median of |x| for a standard normal x
_KEPT = 0.5  # probability of not being zero from which an averaged coefficient counts as kept

GIVEN = "closed form at the given noise"
BEST = "closed form; the noise is at the highest maximum of the evidence"
LIMITED = (
    "closed form; the noise is that of the finest details, far below all maxima of the evidence"
)
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
    prior : ShrinkagePrior
    gain : callable
        From ``z = c²/σ²`` to the factor between a coefficient and its estimate.
    """

    bands: list[Band]
    prior: shrinkage_prior.ShrinkagePrior
    gain: shrinkage_prior.Gain


class ClosedFormFit(SignalFit):
    """The fit with an orthonormal dictionary, where no coefficient depends on another.

    Parameters
    ----------
    transform : Transform
        Orthonormal.
    target : ndarray
        A whole signal, without its mean.
    method : str
        One of `METHODS`.
    c : float
        The price of a coefficient in nats, for "sparse".
    noise : float or None
        The noise variance; None estimates it.
    """

    def __init__(
        self, transform: Transform, target: Array, method: str, c: float, noise: float | None
    ) -> None:
        self.transform = transform
        self.n_seen = target.size
        self._c = c
        self._method = method
        self.maxima = []
        self.projections = transform.analyse(target)
        self.converged = True
        if not np.any(self.projections):
            self.noise_variance = noise or 0.0
            self.log_evidence = _null_evidence(self.projections.size, self.noise_variance)
            self.coefficients = np.zeros_like(self.projections)
            self.n_active, self.stop_reason = 0, CONSTANT
        elif method == "sparse":
            self._fit(target, noise)
        else:
            self._shrink(noise)

    def _fit(self, target: Array, noise: float | None) -> None:
        details = white_noise(target) if noise is None else 0.0
        most = believable(details, target.shape) if details > 0 else np.inf
        found = closed_form.fit(self.projections, self._c, noise, most, details)
        point = found.chosen
        self.noise_variance = point.variance
        self.log_evidence = point.objective + self._c * point.n_determined
        self.maxima = [(maximum.variance, maximum.objective) for maximum in found.maxima]
        self.converged = not found.collapsed
        reason = COLLAPSED if found.collapsed else LIMITED if found.limited else BEST
        self.stop_reason = reason if noise is None else GIVEN
        self.n_active = point.n_active
        self.coefficients = closed_form.shrink(self.projections, self._c, point.variance)

    def _shrink(self, noise: float | None) -> None:
        """By a rule for each band, with the noise from the finest details (DJ94)."""
        details = np.abs(self.projections[finest(self.transform.bands()).index])
        self.noise_variance = float(np.median(details) / _MAD) ** 2 if noise is None else noise
        self.log_evidence = np.nan
        self.stop_reason = METHODS[self._method]
        self.coefficients = self.projections.copy()
        self.n_active = 0 if self.noise_variance > 0 else int(np.count_nonzero(self.projections))
        for group in self._groups() if self.noise_variance > 0 else ():
            for band in group.bands:
                z = self._z([band])
                values = self.coefficients[band.index]
                values *= group.gain(z).reshape(values.shape)
                kept = group.prior.included(z) > _KEPT if self._method == "ash" else values
                self.n_active += int(np.count_nonzero(kept))

    @cached_property
    def alpha(self) -> Array:
        if self._method == "sparse" and self.noise_variance > 0:
            return closed_form.precisions(self.projections, self._c, self.noise_variance)
        return super().alpha

    def variance(self) -> Array:
        errors = np.zeros(self.projections.shape)
        if self.noise_variance > 0:
            for group in self._groups():
                for band in group.bands:
                    part = errors[band.index]
                    found = group.prior.errors(self._z([band]), group.gain)
                    part[...] = self.noise_variance * found.reshape(part.shape)
        return self.transform.spread(errors)

    def _z(self, bands: list[Band]) -> Array:
        values = np.concatenate([np.ravel(self.projections[band.index]) for band in bands])
        return np.square(values, dtype=np.float64) / self.noise_variance

    def _groups(self) -> Iterator[Group]:
        bands = self.transform.bands()
        for some in [[band] for band in bands] if self._method == "bayes" else joined(bands):
            z = self._z(some)
            prior = shrinkage_prior.estimate(z)
            yield Group(some, prior, self._rule(z, prior))

    def _rule(self, z: Array, prior: shrinkage_prior.ShrinkagePrior) -> shrinkage_prior.Gain:
        """From z to the factor between a coefficient and its estimate."""
        c, limit = self._c, 2.0 * np.log(self.projections.size)  # DJ94; a threshold for z

        def evidence(z: Array) -> Array:
            return np.where(z > 1.0 + 2.0 * c, 1.0 - 1.0 / np.maximum(z - 2.0 * c, 1.0), 0.0)

        def hard(z: Array) -> Array:
            return (z > limit).astype(float)

        def soft(z: Array) -> Array:
            return np.maximum(1.0 - np.sqrt(limit / np.maximum(z, 1e-300)), 0.0)

        if self._method == "bayes":  # CY00: σ² over the variance of the clean coefficients
            clean = float(z.mean()) - 1.0
            limit = 1.0 / clean if clean > 0 else np.inf
        rules = {"sparse": evidence, "ash": prior.gain, "hard": hard}
        return rules.get(self._method, soft)


def _null_evidence(size: int, variance: float) -> float:
    return -0.5 * size * float(np.log(2.0 * np.pi * variance)) if variance > 0 else np.inf
