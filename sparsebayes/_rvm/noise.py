"""Noise that is not normal, or not the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._support.validation import as_number
from sparsebayes.basis import Basis

Array = np.ndarray

_STEEPEST = 8.0  # of a log noise variance, away from its mean: a factor of 3000


@dataclass(frozen=True)
class StudentT:
    """Noise with outliers: Student's t distribution, for ``RVR(noise=...)``.

    Parameters
    ----------
    nu : "estimate" or float, default="estimate"
        Degrees of freedom: few for many outliers, and with many the noise is normal. They are
        found by the evidence, or given.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, StudentT
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.05 * np.random.default_rng(0).standard_normal(100)
    >>> y[::20] += 3.0
    >>> model = RVR(noise=StudentT()).fit(X, y)
    >>> bool(np.abs(model.predict(X) - np.sinc(X[:, 0] / np.pi)).max() < 0.1)
    True
    """

    nu: float | str = "estimate"

    def __post_init__(self) -> None:
        if isinstance(self.nu, str) and self.nu == "estimate":
            return
        number = as_number(self.nu)
        if number is None or number <= 0:
            raise ValueError(f"StudentT needs nu='estimate' or a number > 0, got {self.nu!r}.")


@dataclass(frozen=True, eq=False)
class NoiseVariance:
    """A noise variance that depends on the input: ``exp(level + Σ_m v_m φ_m(x))``.

    Attributes
    ----------
    basis : Basis
    weights : ndarray, (S,)
    level : float
    """

    basis: Basis
    weights: Array
    level: float

    def __call__(self, X: Array) -> Array:
        """At the rows of X, (n,)."""
        bent = self.basis.columns(X) @ self.weights if self.weights.size else np.zeros(len(X))
        return np.exp(self.level + np.clip(bent, -_STEEPEST, _STEEPEST))
