"""What a solver climbs: design, prior and sites, seen through the few questions it may ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from sparsebayes._support.equal_rows import distinct_rows
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
    """The objective ``log p(data | α, β) + log p(α)``, as a function of the active set, α and β.

    It is all that a solver sees: no solver knows which design, prior or sites it was given.

    Attributes
    ----------
    prior : Prior
        On the precisions.
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

    See Also
    --------
    Exact : With Gaussian noise.
    Latent : With labels.
    run : Runs a solver on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Problem
    >>> problem = Exact(Dense(np.eye(3)), Flat(), Gaussian(np.arange(3.0), np.ones(3)))
    >>> isinstance(problem, Problem), problem.n_functions
    (True, 3)
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
        """The number M of functions."""
        return self.norms.size

    @property
    def noise(self) -> EstimatedNoise | None:
        """What concerns β, None where it is not estimated."""
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
        """Build a state from nothing.

        Parameters
        ----------
        active : ndarray of int, (S,)
            Its functions.
        alpha : ndarray, (S,)
            Their precisions.
        beta : float
            The noise precision.

        Returns
        -------
        State or None
            None where rounding leaves no state.
        """

    @abstractmethod
    def move(self, state: State, alpha: Array, beta: float) -> State | None:
        """Give the functions of a state other precisions.

        Parameters
        ----------
        state : State
            Where to begin.
        alpha : ndarray, (S,)
            The new precisions.
        beta : float
            The noise precision.

        Returns
        -------
        State or None
            None where rounding leaves no state.
        """

    @abstractmethod
    def shrink(self, state: State, keep: Array) -> State | None:
        """Take functions out of a state.

        Parameters
        ----------
        state : State
            Where to begin.
        keep : ndarray of bool, (S,)
            Which functions stay.

        Returns
        -------
        State or None
            None where rounding leaves no state.
        """

    @abstractmethod
    def grow(self, state: State, chosen: Array, alpha: Array) -> State | None:
        """Add functions to a state.

        Parameters
        ----------
        state : State
            Where to begin.
        chosen : ndarray of int, (k,)
            Which functions come in.
        alpha : ndarray, (k,)
            Their precisions.

        Returns
        -------
        State or None
            None where rounding leaves no state.
        """

    # Which functions should join.

    @abstractmethod
    def candidate_products(self, state: State) -> CandidateProducts:
        """Multiply all functions with the data and with the model.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        CandidateProducts
            In the metric of the state's B.
        """

    @abstractmethod
    def overlaps(self, state: State, index: Array) -> Callable[[int], Array]:
        """Prepare the products of some functions with each other.

        Parameters
        ----------
        state : State
            The model, whose B is the metric.
        index : ndarray of int
            Which functions.

        Returns
        -------
        callable
            A function of i, which counts in `index`, that gives ``φ_iᵀBφ_j`` for all weights j of
            these functions; there is a row for each weight of i.
        """

    def residuals(self, state: State) -> Reduced | None:
        """Reduce all functions, with more digits than differences of products have.

        Parameters
        ----------
        state : State
            The model that is taken out of them.

        Returns
        -------
        Reduced or None
            None where there is no way to get them.
        """
        return None

    def rescaled_evidences(self, state: State, factors: Array, betas: Array) -> Array | None:
        """Compute the evidence with all precisions multiplied by each factor, and with each β.

        Parameters
        ----------
        state : State
            The model.
        factors : ndarray, (F,)
            Of the precisions.
        betas : ndarray, (B,)
            Noise precisions.

        Returns
        -------
        ndarray, (F, B), or None
            None where they are to be had one by one only.
        """
        return None

    @property
    def in_turns(self) -> bool:
        """Whether the sites have something to be found in turns with the model."""
        return False

    def revised(self, state: State) -> Self:
        """Find what the sites have to find, given a state.

        The objective at the same functions and precisions is no lower then.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        Problem
            The same with other sites.
        """
        return self

    @abstractmethod
    def distinct(self) -> Array:
        """List all functions but those that repeat an earlier one, as far as three products tell.

        Returns
        -------
        ndarray of int
            Ascending.
        """

    @abstractmethod
    def uncharged(self) -> Self:
        """Take a flat prior instead.

        Returns
        -------
        Problem
            Otherwise the same.
        """

    @abstractmethod
    def restrict(self, index: Array) -> Self:
        """Take some of the functions.

        Parameters
        ----------
        index : ndarray of int, (k,)
            Which ones.

        Returns
        -------
        Problem
            With these only, numbered in this order.
        """


class AdaptableProblem(Problem):
    """A problem whose functions may change: what learning their length scales asks besides.

    Both problems of the package are such.

    Attributes
    ----------
    design : Design
        The functions.
    n_outputs : int
        Weights that a column of the design may have.

    See Also
    --------
    Adaptive : The solver that asks this.
    Problem : What every solver asks.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes.engine import Dense, Exact, Flat, Gaussian
    >>> problem = Exact(Dense(np.eye(3)), Flat(), Gaussian(np.arange(3.0), np.ones(3)))
    >>> problem.rebase(Dense(np.ones((3, 1)))).n_functions
    1
    """

    design: Design
    n_outputs: int = 1

    @property
    def gaussian(self) -> Gaussian | None:
        """The targets, where they are function values with Gaussian noise; None for labels."""
        return None

    @abstractmethod
    def rebase(self, design: Design) -> Self:
        """Put other functions in the place of these.

        Parameters
        ----------
        design : Design
            The other functions.

        Returns
        -------
        AdaptableProblem
            Otherwise the same.
        """

    def relevelled(self, misfits: Array) -> Self:
        """Set the noise levels of several targets to what some model leaves of each.

        Parameters
        ----------
        misfits : ndarray, (T,)
            ``zᵀC⁻¹z`` of each target for some model of all, up to a factor.

        Returns
        -------
        AdaptableProblem
            With these levels.
        """
        return self

    @abstractmethod
    def used(self, index: Array) -> Array:
        """List the columns of the design that `restrict` keeps for some functions.

        Parameters
        ----------
        index : ndarray of int
            Which functions.

        Returns
        -------
        ndarray of int
            Columns, in order.
        """

    @abstractmethod
    def plain(self, design: Design, rows: slice) -> Self:
        """Take other functions on some of the samples, with a flat prior and no grouping.

        Parameters
        ----------
        design : Design
            The functions there.
        rows : slice
            Which samples.

        Returns
        -------
        AdaptableProblem
            A smaller problem.
        """

    @abstractmethod
    def derivatives(self, state: State) -> tuple[Array, float, Array]:
        """Differentiate the objective.

        Parameters
        ----------
        state : State
            The model.

        Returns
        -------
        by_alpha : ndarray, (S,)
            With respect to log α.
        by_beta : float
            With respect to log β; of no use where the noise is not estimated.
        by_columns : ndarray, (N, k)
            With respect to the columns `used` by the state.
        """


def blocks(n_functions: int, numbers: int) -> Iterator[slice]:
    """The functions in parts, such that so many numbers for each of a part take little memory."""
    width = max(1, _BLOCK // max(1, numbers))
    return (slice(start, start + width) for start in range(0, n_functions, width))


def first_of_equals(*products: Array) -> Array:
    """The numbers of the first functions with these products, in order."""
    return np.sort(distinct_rows(np.column_stack(products)).first)
