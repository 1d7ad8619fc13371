"""What a solver climbs: design, prior and sites, seen through the few questions it may ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sparsebayes.engine.model.design import Design
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.priors import Prior

Array = np.ndarray

_BLOCK = 1 << 22  # numbers of Φ_aᵀBΦ at a time: 32 MB


@dataclass(frozen=True, eq=False)
class Survey:
    """The weights of all functions as a state sees them, in the metric of its B.

    Attributes
    ----------
    scale, q : ndarray, (M,)
        ``φᵀBφ``, and the derivative of the log likelihood with respect to the weight.
    rows : callable
        Some columns of ``Φ_aᵀBΦ``, (P, k), for a slice or an array of weights; a copy.
    """

    scale: Array
    q: Array
    rows: Callable[[slice | Array], Array]


class Problem(ABC):
    """``log p(data | α, β) + log p(α)`` as a function of the active set, α and β.

    Attributes
    ----------
    prior : Prior
    n_functions, n_samples : int, float
        Repeated samples count as often as they occur.
    free : bool
        Whether β is estimated.
    beta : float
        Where β begins.
    max_beta : float
        The largest β: beyond it the residual is a difference of numbers equal in rounding.
    norms, energy : ndarray (M,), float
        ``φᵀWφ`` and ``zᵀWz`` of the empty model, to begin with.
    capacity : int
        How many functions a restricted problem may have.
    group : int
        Weights of each function, which share its precision.
    n_outputs : int
        Weights that a column of the design may have.
    """

    design: Design
    prior: Prior
    n_samples: float
    free: bool
    beta: float
    max_beta: float
    norms: Array
    energy: float
    capacity: int
    group: int = 1
    n_outputs: int = 1

    @property
    def n_functions(self) -> int:
        return self.norms.size

    @abstractmethod
    def evaluate(self, active: Array, alpha: Array, beta: float) -> State | None:
        """The state with these precisions; None where H is not positive definite in rounding."""

    @abstractmethod
    def move(self, state: State, alpha: Array, beta: float) -> State | None:
        """The same functions with other precisions."""

    @abstractmethod
    def shrink(self, state: State, keep: Array) -> State | None:
        """The same state with the functions of a mask only."""

    @abstractmethod
    def grow(self, state: State, chosen: Array, alpha: Array) -> State | None:
        """The same state with further functions."""

    @abstractmethod
    def survey(self, state: State) -> Survey:
        """What decides whether a function should join."""

    @abstractmethod
    def overlaps(self, state: State, index: Array) -> Callable[[int], Array]:
        """A function of i that gives ``φ_iᵀBφ_j`` for all weights j of `index`.

        i counts in `index`; there is a row for each weight of i.
        """

    @abstractmethod
    def restrict(self, index: Array) -> Problem:
        """The same problem with these functions only, numbered in this order."""

    @abstractmethod
    def rebase(self, design: Design) -> Problem:
        """The same problem with other functions in the place of these."""

    @abstractmethod
    def used(self, index: Array) -> Array:
        """The columns of the design that `restrict` keeps for these functions, in order."""

    @abstractmethod
    def plain(self, design: Design, rows: slice) -> Problem:
        """Other functions on some of the samples, with a flat prior and no grouping."""

    @abstractmethod
    def derivatives(self, state: State) -> tuple[Array, float, Array]:
        """Those of the objective: by log α, log β and the columns `used` by the state, (N, k)."""

    @abstractmethod
    def hold(self, beta: float) -> Problem:
        """The same problem with the noise fixed."""

    @abstractmethod
    def residual_energy(self, state: State) -> float:
        """``(z − Φμ)ᵀ W (z − Φμ)``, asked for where β is free."""

    @abstractmethod
    def distinct(self) -> Array:
        """All functions but those that repeat an earlier one, as far as three products tell."""


def blocks(n_functions: int, numbers: int) -> Iterator[slice]:
    """The functions in parts, such that so many numbers for each of a part take little memory."""
    width = max(1, _BLOCK // max(1, numbers))
    return (slice(start, start + width) for start in range(0, n_functions, width))


def first_of_equals(*products: Array) -> Array:
    """The numbers of the first functions with these products, in order."""
    _, first = np.unique(np.column_stack(products), axis=0, return_index=True)
    return np.sort(first)


def probe(n_samples: int) -> Array:
    """A fixed arbitrary vector: functions with equal products with it are equal."""
    return np.cos(np.arange(1.0, n_samples + 1.0) ** 2)
