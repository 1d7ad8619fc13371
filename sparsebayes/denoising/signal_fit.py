"""What the fit to one signal answers, whichever way it was made."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sparsebayes.dictionaries import Dictionary, Transform

Array = np.ndarray


class SignalFit(ABC):
    """The coefficients of one signal, without its mean, and what was learned about the noise.

    Attributes
    ----------
    transform : Transform
        The dictionary on the grid of the signal.
    n_seen : int
        The number of samples that are not missing.
    projections, coefficients : ndarray
        The coefficients before and after shrinkage, as `transform` has them.
    n_active : int
        The number of coefficients kept.
    noise_variance : float
    log_evidence : float
        NaN where the method has none.
    maxima : list of (float, float)
        Noise variance and objective of each local maximum over the noise, the best first.
    converged : bool
    stop_reason : str
    n_bases : int
        The number of bases averaged over.
    dictionaries : tuple of Dictionary
        Those averaged over; empty if there is but the one of `transform`.
    """

    transform: Transform
    n_seen: int
    projections: Array
    coefficients: Array
    n_active: int
    noise_variance: float
    log_evidence: float
    maxima: list[tuple[float, float]]
    converged: bool
    stop_reason: str
    n_bases: int = 1
    dictionaries: tuple[Dictionary, ...] = ()

    @property
    def alpha(self) -> Array:
        """Prior precisions of the coefficients, ∞ where one was dropped.

        Where they were not chosen, those with which posterior means would be these coefficients.
        """
        removed = np.abs(self.projections.astype(float) - self.coefficients)
        kept = np.abs(self.coefficients.astype(float)) * (self.noise_variance or 1.0)
        return np.divide(removed, kept, out=np.full(kept.shape, np.inf), where=kept > 0)

    @property
    def variance_of_mean(self) -> float:
        """The noise variance of the mean of the samples."""
        return self.noise_variance / max(self.n_seen, 1)

    def signal(self) -> Array:
        """The estimate on the grid."""
        return self.transform.synthesise(self.coefficients)

    @abstractmethod
    def variance(self) -> Array:
        """The expected squared errors of the estimate on the grid."""
