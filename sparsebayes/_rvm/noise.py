"""Noise that is not normal, or not the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import as_number
from sparsebayes.basis import Basis

Array = np.ndarray


@guided
@dataclass(frozen=True)
class StudentT:
    """Noise with outliers: Student's t distribution, for ``RVR(noise=...)``.

    Samples far from the others hardly count: the fit finds a weight for each. Choose it where a few
    readings are plainly wrong and nobody says which.

    Parameters
    ----------
    nu : "estimate" or float, default="estimate"
        Degrees of freedom: few for many outliers, and with many the noise is normal. They are
        found by the evidence, between 3 and 100 or infinite where no outliers show; or given.

    See Also
    --------
    RVR : Relevance vector regression, whose `noise` this may be.
    sparsebayes.Gamma : As `noise`, a prior of the precision of normal noise.

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

    nu: float | Literal["estimate"] = "estimate"

    def __post_init__(self) -> None:
        if isinstance(self.nu, str) and self.nu == "estimate":
            return
        number = as_number(self.nu)
        if number is None or number <= 0:
            raise ValueError(f"StudentT needs nu='estimate' or a number > 0, got {self.nu!r}.")


@dataclass(frozen=True, eq=False)
class NoiseVariance:
    """A noise variance that depends on the input, ``exp g(x)`` with ``g = level + Σ_m v_m φ_m``.

    v is normal, and the variance the mean over it: where little is known of g, it is larger.

    Attributes
    ----------
    basis : Basis
    weights, sigma : ndarray, (S,) and (S, S)
        Mean and covariance of v.
    level : float
    steepest : float
        g goes so far from its level at most: a factor of 3000.
    """

    basis: Basis
    weights: Array
    sigma: Array
    level: float
    steepest: ClassVar[float] = 8.0

    def __call__(self, X: Array) -> Array:
        """At the rows of X, (n,)."""
        if not self.weights.size:
            return np.full(len(X), np.exp(self.level))
        columns = self.basis.columns(X)
        spread = np.maximum(np.einsum("ns,ns->n", columns @ self.sigma, columns), 0.0)
        bent = columns @ self.weights + 0.5 * spread
        return np.exp(self.level + np.clip(bent, -self.steepest, self.steepest))
