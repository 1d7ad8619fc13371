"""What a solver climbs: design, prior and sites, seen through the few questions it may ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from sparsebayes.engine.model.design import Design
from sparsebayes.engine.model.gaussian import Gaussian
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.prior import Prior

Array = np.ndarray

_BLOCK = 1 << 22  # numbers of Φ_aᵀBΦ at a time: 32 MB


@dataclass(frozen=True, eq=False)
class CandidateProducts:
    """Products of all functions with the data and with the model, in the metric of a state's B.

    Attributes
    ----------
    scale, q : ndarray, (M,)
        ``φᵀBφ`` of each weight, and the derivative of the log likelihood with respect to it.
    rows : callable
        Some columns of ``Φ_aᵀBΦ``, (P, k), for a slice or an array of weights; a copy.
    """

    scale: Array
    q: Array
    rows: Callable[[slice | Array], Array]


class Reduced(Protocol):
    """All functions with what a model explains of them taken out: products with C⁻¹.

    Attributes
    ----------
    scale : ndarray, (M,)
        ``φᵀBφ`` of each weight.
    lost : float
        A function whose S_m is this small a part of φᵀBφ is refused: that is rounding.
    """

    @property
    def scale(self) -> Array: ...
    @property
    def lost(self) -> float: ...

    def reduce(self, part: slice | Array) -> tuple[Array, Array, Array]:
        """``L⁻¹Φ_aᵀBΦ``, S and Q of some weights."""
        ...

    def overlaps(self, index: Array) -> Callable[[int], Array]:
        """A function of i that gives ``φ_iᵀC⁻¹φ_j`` for all weights j of these functions.

        i counts in `index`; there is a row for each weight of i.
        """
        ...


class EstimatedNoise(Protocol):
    """What there is to ask where the noise precision β is estimated.

    A gamma prior on β is 2c further samples, which add 2d to the squared residuals.

    Attributes
    ----------
    count : float
        The number of samples, and 2c.
    max_beta : float
        The largest β: beyond it the residual is a difference of numbers equal in rounding.
    """

    @property
    def count(self) -> float: ...
    @property
    def max_beta(self) -> float: ...

    def scatter(self, state: State) -> float:
        """``(z − Φμ)ᵀ W (z − Φμ) + 2d``."""
        ...

    def hold(self, beta: float) -> Problem:
        """The same problem with the noise fixed."""
        ...


class Problem(ABC):
    """``log p(data | α, β) + log p(α)`` as a function of the active set, α and β.

    Attributes
    ----------
    prior : Prior
    n_functions, n_samples : int, float
        Repeated samples count as often as they occur.
    noise : EstimatedNoise or None
        None where β is given, or is only a power of the likelihood.
    beta : float
        Where β begins.
    norms, energy : ndarray (M,), float
        ``φᵀWφ`` and ``zᵀWz`` of the empty model, to begin with.
    capacity : int
        How many functions a restricted problem may have.
    group : int
        Weights of each function, which share its precision.
    """

    prior: Prior
    n_samples: float
    beta: float
    norms: Array
    energy: float
    capacity: int
    group: int = 1

    @property
    def n_functions(self) -> int:
        return self.norms.size

    @property
    def noise(self) -> EstimatedNoise | None:
        return None

    @property
    def crossed(self) -> bool:
        """Whether all products among the functions are formed, once for all states."""
        return False

    @property
    def crossable(self) -> int:
        """Of a restricted problem of at most so many functions they are."""
        return 0

    # States: each is None where rounding leaves none.

    @abstractmethod
    def evaluate(self, active: Array, alpha: Array, beta: float) -> State | None:
        """The state with these functions and precisions."""

    @abstractmethod
    def move(self, state: State, alpha: Array, beta: float) -> State | None:
        """The same functions with other precisions."""

    @abstractmethod
    def shrink(self, state: State, keep: Array) -> State | None:
        """The same state with the functions of a mask only."""

    @abstractmethod
    def grow(self, state: State, chosen: Array, alpha: Array) -> State | None:
        """The same state with further functions."""

    # Which functions should join.

    @abstractmethod
    def candidate_products(self, state: State) -> CandidateProducts:
        """Of all functions."""

    @abstractmethod
    def overlaps(self, state: State, index: Array) -> Callable[[int], Array]:
        """A function of i that gives ``φ_iᵀBφ_j`` for all weights j of `index`.

        i counts in `index`; there is a row for each weight of i.
        """

    def residuals(self, state: State) -> Reduced | None:
        """Of all functions, with more digits than differences of products have.

        None where there is no way to get them.
        """
        return None

    def rescaled_evidences(self, state: State, factors: Array, betas: Array) -> Array | None:
        """The evidence with all precisions multiplied by each factor, and with each β.

        Returns
        -------
        evidences : ndarray, (factors, betas), or None where they are to be had one by one only
        """
        return None

    @property
    def in_turns(self) -> bool:
        """Whether the sites have something to be found in turns with the model."""
        return False

    def revised(self, state: State) -> Self:
        """The same problem with what the sites find given a state.

        Its objective at the same functions and precisions is no lower.
        """
        return self

    @abstractmethod
    def distinct(self) -> Array:
        """All functions but those that repeat an earlier one, as far as three products tell."""

    @abstractmethod
    def uncharged(self) -> Self:
        """The same problem with a flat prior."""

    @abstractmethod
    def restrict(self, index: Array) -> Self:
        """The same problem with these functions only, numbered in this order."""


class AdaptableProblem(Problem):
    """A problem whose functions may change: what learning their length scales asks besides.

    Attributes
    ----------
    design : Design
    n_outputs : int
        Weights that a column of the design may have.
    """

    design: Design
    n_outputs: int = 1

    @property
    def gaussian(self) -> Gaussian | None:
        """The targets, where they are function values with Gaussian noise; None for labels."""
        return None

    @abstractmethod
    def rebase(self, design: Design) -> Self:
        """The same problem with other functions in the place of these."""

    def relevelled(self, misfits: Array) -> Self:
        """The same problem with the noise levels of several targets where these are so noisy.

        `misfits` are ``zᵀC⁻¹z`` of each target for some model of all, up to a factor.
        """
        return self

    @abstractmethod
    def used(self, index: Array) -> Array:
        """The columns of the design that `restrict` keeps for these functions, in order."""

    @abstractmethod
    def plain(self, design: Design, rows: slice) -> Self:
        """Other functions on some of the samples, with a flat prior and no grouping."""

    @abstractmethod
    def derivatives(self, state: State) -> tuple[Array, float, Array]:
        """Those of the objective: by log α, log β and the columns `used` by the state, (N, k).

        That by log β is of no use where the noise is not estimated.
        """


def blocks(n_functions: int, numbers: int) -> Iterator[slice]:
    """The functions in parts, such that so many numbers for each of a part take little memory."""
    width = max(1, _BLOCK // max(1, numbers))
    return (slice(start, start + width) for start in range(0, n_functions, width))


def first_of_equals(*products: Array) -> Array:
    """The numbers of the first functions with these products, in order."""
    _, first = np.unique(np.column_stack(products), axis=0, return_index=True)
    return np.sort(first)
