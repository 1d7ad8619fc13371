"""How precise samples are beside each other, where that is not given but found.

The noise precision of sample n is ``β u_n``. u is found in turns with the model: given the model,
only the expected squared residuals ``e_n`` in units of β count. An `UnequalNoise` says what u is
then, and what the evidence has besides that of Gaussian sites with these precisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

Array = np.ndarray

_LEAST_NU, _MOST_NU = 3.0, 100.0  # where it is finite; see `Tails`


class UnequalNoise(ABC):
    """Relative noise precisions of the samples.

    Attributes
    ----------
    precisions : ndarray, (N,)
        u.
    constant : float
        What the evidence has besides, over all targets: the logarithms of u among it.
    settled : bool
        Whether `revised` leaves everything as it is.
    """

    settled: bool = False

    if TYPE_CHECKING:  # a field of one, computed by another

        @property
        def precisions(self) -> Array: ...

        @property
        def constant(self) -> float: ...

    @abstractmethod
    def revised(self, counts: Array, squares: Array, n_targets: int) -> UnequalNoise:
        """The most likely one for e, (N,), the sum over the targets."""

    @abstractmethod
    def rows(self, part: slice | Array) -> UnequalNoise:
        """That of some of the samples."""


@dataclass(frozen=True, eq=False)
class Tails(UnequalNoise):
    """Student's t: u has a gamma distribution of mean 1 with ν/2 degrees of freedom.

    Given the model, u_n has a gamma distribution again, of mean ``(ν + T)/(ν + e_n)``, so that far
    samples hardly count. The evidence is a lower bound, by variational Bayes [1]_: with the
    weights fixed it is, but for the expectation in e, that of Student's t itself, from
    which ν is chosen. It is infinite, the noise normal, unless a finite one gains more than its
    price by Schwarz's criterion; and it is 3 at least: where one sample in twenty is far off, a ν
    of 1.5 is likeliest, but ordinary samples then count very differently, and the function is found
    less well.

    Attributes
    ----------
    counts, squares : ndarray, (N,)
        How often samples count, and e that the precisions rest on.
    nu : float
    estimate : bool
        Whether ν is to be found.
    n_targets : int

    References
    ----------
    .. [1] M. Tipping, N. Lawrence, "Variational inference for Student-t models: Robust Bayesian
       interpolation and generalised component analysis", Neurocomputing 69, 2005.
    """

    counts: Array
    squares: Array
    nu: float
    estimate: bool
    n_targets: int = 1

    @cached_property
    def precisions(self) -> Array:
        if self.nu == np.inf:
            return np.ones(self.squares.size)
        return (self.nu + self.n_targets) / (self.nu + self.squares)

    @cached_property
    def constant(self) -> float:
        if self.nu == np.inf:
            return 0.0
        # The bound without −½ u e, which is in the evidence of the Gaussian sites.
        log_t = log_density(self.nu, self.squares, self.n_targets)
        bound = float(self.counts @ (log_t + 0.5 * self.precisions * self.squares))
        return bound - _price(self.counts) if self.estimate else bound

    def revised(self, counts: Array, squares: Array, n_targets: int) -> Tails:
        nu = self.nu
        if self.estimate:
            nu = likeliest_nu(counts, squares, n_targets, nu)
        return replace(self, counts=counts, squares=squares, nu=nu, n_targets=n_targets)

    def rows(self, part: slice | Array) -> Tails:
        return replace(self, counts=self.counts[part], squares=self.squares[part])


def log_density(nu: float, squares: Array, n_targets: int) -> Array:
    """Student's t without ``(β/2π)^{T/2}``: ``log ∫ u^{T/2} exp(−½ue) Gamma(u | ν/2, ν/2) du``."""
    whole = 0.5 * (nu + n_targets)
    start = gammaln(whole) - gammaln(0.5 * nu) + 0.5 * nu * np.log(0.5 * nu)
    return start - whole * np.log(0.5 * (nu + squares))


def likeliest_nu(counts: Array, squares: Array, n_targets: int, start: float) -> float:
    """The ν under which these e are most likely; `start` where no other is likelier."""

    def cost(log_nu: float) -> float:
        return -float(counts @ log_density(float(np.exp(log_nu)), squares, n_targets))

    bounds = float(np.log(_LEAST_NU)), float(np.log(_MOST_NU))
    found = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-4})
    tried = {float(np.exp(found.x)): float(found.fun)}
    for nu in (_LEAST_NU, start):
        if nu < np.inf:
            tried[nu] = cost(float(np.log(nu)))
    best = min(tried, key=lambda nu: tried[nu])
    normal = 0.5 * float(counts @ squares)
    return best if tried[best] + _price(counts) < normal else np.inf


def _price(counts: Array) -> float:
    """What a finite ν takes off the evidence, in nats."""
    return 0.5 * float(np.log(counts.sum()))


@dataclass(frozen=True, eq=False)
class Given(UnequalNoise):
    """Precisions that are known.

    Attributes
    ----------
    precisions : ndarray, (N,)
    counts : ndarray, (N,)
    n_targets : int
    """

    precisions: Array
    counts: Array
    n_targets: int = 1
    settled = True

    @cached_property
    def constant(self) -> float:
        return 0.5 * self.n_targets * float(self.counts @ np.log(self.precisions))

    def revised(self, counts: Array, squares: Array, n_targets: int) -> Given:
        return self

    def rows(self, part: slice | Array) -> Given:
        return replace(self, precisions=self.precisions[part], counts=self.counts[part])


class LogVariance(Protocol):
    """A model of the log noise variance, fitted to e.

    Attributes
    ----------
    log_variance : ndarray, (N,)
        g, at the samples.
    log_prior : float
        What its own evidence has besides the likelihood of g.
    """

    @property
    def log_variance(self) -> Array: ...
    @property
    def log_prior(self) -> float: ...

    def refitted(self, counts: Array, squares: Array, n_targets: int) -> LogVariance:
        """To other e, from where it is."""
        ...


def log_likelihood(log_variance: Array, counts: Array, squares: Array, n_targets: int) -> float:
    """``Σ_n −½ T g_n − ½ e_n exp(−g_n)``, that of log noise variances."""
    each = n_targets * log_variance + squares * np.exp(-log_variance)
    return -0.5 * float(counts @ each)


@dataclass(frozen=True, eq=False)
class Varying(UnequalNoise):
    """``u = exp(−g(x))``, with g a model of its own.

    Attributes
    ----------
    model : LogVariance
    counts : ndarray, (N,)
    n_targets : int
    """

    model: LogVariance
    counts: Array
    n_targets: int = 1

    @cached_property
    def precisions(self) -> Array:
        return np.exp(-self.model.log_variance)

    @cached_property
    def constant(self) -> float:
        logs = float(self.counts @ self.model.log_variance)
        return self.model.log_prior - 0.5 * self.n_targets * logs

    def revised(self, counts: Array, squares: Array, n_targets: int) -> Varying:
        models = (self.model, self.model.refitted(counts, squares, n_targets))
        best = max(
            models,
            key=lambda model: (
                log_likelihood(model.log_variance, counts, squares, n_targets) + model.log_prior
            ),
        )
        return replace(self, model=best, counts=counts, n_targets=n_targets)

    def rows(self, part: slice | Array) -> Given:
        return Given(self.precisions[part], self.counts[part], self.n_targets)
