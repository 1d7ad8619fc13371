"""Sites with Gaussian noise: ``z_n ~ N(f_n, 1/b_n)`` with ``b_n = β w_n``.

There may be several targets, each with a function of its own. Their noise levels differ by factors
r_k whose product is one; targets are divided by them, and what is said of a function, of the noise
and of the evidence is then the same for all, or the mean over the targets. Both the levels and the
noise of single samples (`unequal_noise`) are found in turns with the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from sparsebayes.engine.model.design import Design, probe
from sparsebayes.engine.model.unequal_noise import UnequalNoise

Array = np.ndarray


@dataclass(frozen=True)
class Gaussian:
    """Targets z that count so often; a count of 2 is the same sample twice.

    There may be several targets, each with a function of its own. Their noise levels differ by
    factors whose product is one.

    Parameters
    ----------
    target : ndarray of shape (N,), or (N, T) for several targets
        In units of `levels`.
    counts : ndarray of shape (N,)
        How often each sample counts.
    noise_variance : float or None, default=None
        Fixed 1/β, or None where β is estimated.
    noise_shape, noise_rate : float, default=0.0
        The numbers c and d of a gamma prior on β, d in the user's units; each target has it.
    levels : ndarray of shape (T,), or None, default=None
        The units r of several targets.
    unequal : UnequalNoise or None, default=None
        How precise the samples are beside each other; None if they are equally so.

    See Also
    --------
    Exact : The problem with these sites.
    Logit : Sites of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Gaussian
    >>> sites = Gaussian(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    >>> sites.size, sites.energies
    (4.0, array([13.]))
    """

    target: Array
    counts: Array
    noise_variance: float | None = None
    noise_shape: float = 0.0
    noise_rate: float = 0.0
    levels: Array | None = None
    unequal: UnequalNoise | None = None

    @cached_property
    def weights(self) -> Array:
        """Weights w of the samples, (N,)."""
        return self.counts if self.unequal is None else self.counts * self.unequal.precisions

    @cached_property
    def size(self) -> float:
        """The number of samples, repeated ones counted as often as they occur."""
        return float(self.counts.sum())

    @property
    def n_targets(self) -> int:
        """The number of targets, T."""
        return 1 if self.target.ndim == 1 else self.target.shape[1]

    @cached_property
    def weighted_target(self) -> Array:
        """The products ``Wz``."""
        return (self.weights * self.target.T).T

    @cached_property
    def energies(self) -> Array:
        """The squared norms ``zᵀWz`` of each target, (T,)."""
        pairs = zip(_columns(self.target), _columns(self.weighted_target), strict=True)
        return np.array([float(z @ weighted) for z, weighted in pairs])

    @cached_property
    def unweighted(self) -> bool:
        """Whether all weights are one."""
        return bool(np.all(self.weights == 1.0))

    def products(self, design: Design) -> tuple[Array, Array]:
        """Multiply the functions with themselves and with the targets.

        Parameters
        ----------
        design : Design
            The functions.

        Returns
        -------
        norms : ndarray, (M,)
            ``φᵀWφ`` of each function.
        moments : ndarray, (M,) or (M, T)
            ``ΦᵀWz``.
        """
        projected, norms = design.products(self.weighted_target, self.weights)
        return norms, projected

    def fingerprints(self, design: Design) -> Array:
        """Give each function a number that hardly any other has.

        Parameters
        ----------
        design : Design
            The functions.

        Returns
        -------
        ndarray, (M,)
            The numbers.
        """
        return design.project(self.weights * probe(self.weights.size))

    def restrict(self, index: Array) -> Self:
        """Take what belongs to some of the functions.

        Parameters
        ----------
        index : ndarray of int
            Which ones.

        Returns
        -------
        Gaussian
            These sites, unless they hold sums over functions.
        """
        return self

    def log_normaliser(self, beta: float) -> float:
        """Compute the logarithm of the constant before the exponential of all sites.

        Parameters
        ----------
        beta : float
            The noise precision.

        Returns
        -------
        float
            For one target.
        """
        found = 0.5 * self.size * math.log(beta / (2.0 * math.pi))
        return found if self.unequal is None else found + self.unequal.constant / self.n_targets

    def log_noise_density(self, beta: float) -> float:
        """Compute the log density of log β, up to a constant.

        It is ``c log β − d β``.  # T01 (6), (36)

        Parameters
        ----------
        beta : float
            The noise precision.

        Returns
        -------
        float
            In nats.
        """
        return self.noise_shape * math.log(beta) - self.rate * beta

    @cached_property
    def rate(self) -> float:
        """The number d in units of the levels, the mean over the targets."""
        if self.levels is None:
            return self.noise_rate
        return self.noise_rate * float(np.mean(self.levels**-2.0))

    def rows(self, part: slice | Array) -> Gaussian:
        """Take some of the samples.

        Parameters
        ----------
        part : slice or ndarray
            Which ones.

        Returns
        -------
        Gaussian
            Sites of these.
        """
        unequal = None if self.unequal is None else self.unequal.rows(part)
        return replace(self, target=self.target[part], counts=self.counts[part], unequal=unequal)

    def relevelled(self, misfits: Array) -> Gaussian:
        """Find the most likely levels of several targets.

        The evidence of target k is that of ``N(0, r_k² C)``.

        Parameters
        ----------
        misfits : ndarray, (T,)
            ``zᵀC⁻¹z/β`` of each target.

        Returns
        -------
        Gaussian
            With these levels.
        """
        if self.levels is None or self.noise_variance is not None or self.n_targets == 1:
            return self
        squares = misfits + 2.0 * self.noise_rate / self.levels**2
        if not (squares > 0.0).all():  # lost in rounding
            return self
        factors = np.sqrt(squares)
        factors = factors / np.exp(np.mean(np.log(factors)))
        return replace(self, target=self.target / factors, levels=self.levels * factors)

    def reweighted(self, squares: Array) -> Gaussian:
        """Find the most likely noise of the samples.

        Parameters
        ----------
        squares : ndarray, (N,)
            ``β Σ_k E(z_nk − f_nk)²``.

        Returns
        -------
        Gaussian
            With this noise.
        """
        if self.unequal is None:
            return self
        return replace(self, unequal=self.unequal.revised(self.counts, squares, self.n_targets))

    @property
    def settled(self) -> bool:
        """Whether there is nothing to be found in turns."""
        fixed = self.levels is None or self.n_targets == 1 or self.noise_variance is not None
        return fixed and (self.unequal is None or self.unequal.settled)


def _columns(target: Array) -> Array:
    """A row for each target."""
    return target[None] if target.ndim == 1 else target.T
