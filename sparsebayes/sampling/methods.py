"""How chains move: the choices for `method` of `sample_posterior`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sparsebayes._support.guesses.values import hint
from sparsebayes._support.validation import (
    as_number,
    check_choice,
    check_switches,
    positive_number,
)
from sparsebayes.engine.mcmc.chain import Chain
from sparsebayes.engine.mcmc.gibbs import GibbsChain
from sparsebayes.engine.mcmc.jumps import Births, JumpChain, LogNormalBirths
from sparsebayes.engine.mcmc.posterior import SparsePosterior

Array = np.ndarray
Start = tuple[Array, Array, float]  # active functions, their log(α/g), β
Bounds = tuple[float, float] | None
MethodName = Literal["gibbs", "reversible_jump"]
BirthName = Literal["prior", "fixed", "lognormal"]

_FIXED = 1e-5  # S08's value of all precisions, there of α itself
_WALK = 1.0  # a factor of e up or down


class SamplingMethod(ABC):
    """What `sample_posterior` asks of a method."""

    def bounds(self, given: Bounds) -> Bounds:
        """Settle the bounds of precisions to sample within.

        Parameters
        ----------
        given : tuple of float, or None
            What the user asked for.

        Returns
        -------
        tuple of float, or None
            The bounds; None for the usual ones.
        """
        return given

    @abstractmethod
    def chain(self, posterior: SparsePosterior, rng: np.random.Generator, start: Start) -> Chain:
        """Make a chain of the engine.

        Parameters
        ----------
        posterior : SparsePosterior
            What is sampled.
        rng : Generator
            Draws all that is random.
        start : tuple
            Active functions, their log(α/g), and β.

        Returns
        -------
        Chain
            At its start.
        """


@dataclass(frozen=True)
class Gibbs(SamplingMethod):
    """Draw from exact conditionals: a function that comes in is chosen by what it adds.

    It is what `sample_posterior` does if nothing else is said.

    Nothing is to be tuned.

    See Also
    --------
    ReversibleJump : Blind proposals, with options.
    sample_posterior : Takes either as `method`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, sample_posterior
    >>> from sparsebayes.sampling import Gibbs
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> y = X[:, 1] + 0.1 * np.random.default_rng(1).standard_normal(40)
    >>> model = RVR("linear", bias=False)
    >>> samples = sample_posterior(model, X, y, 200, 2, method=Gibbs(), random_state=0)
    >>> int(samples.inclusion.argmax())
    1
    """

    def chain(self, posterior: SparsePosterior, rng: np.random.Generator, start: Start) -> Chain:
        chain = GibbsChain(posterior, rng)
        chain.start(*start)
        return chain


@dataclass(frozen=True)
class ReversibleJump(SamplingMethod):
    """Propose births, deaths and moves of functions blindly, and accept or reject them [1]_.

    A sweep has as many proposals as there are functions.

    Parameters
    ----------
    birth : {"prior", "fixed", "lognormal"}, default="prior"
        Where the precision α of a new function comes from: its prior; one value for all (``α
        σ²/φᵀφ`` = 1e-5, or what `bounds` gives twice), so that the posterior is the one with
        precisions held there; or a log-normal about ``α σ²/φᵀφ`` = 1.
    birth_spread : float, default=5.0
        Standard deviation of the log-normal, in natural logarithms.
    walk : float, default=None
        Standard deviation of a random step in the log α of one function after each jump; None is 1,
        or 0 where all precisions have one value. With 0 a precision changes only when
        its function leaves; one that the data insist on never does.
    jump : bool, default=True
        If False, all functions stay in the model and only the walk moves.

    See Also
    --------
    Gibbs : Exact conditionals; nothing is to be tuned.
    sample_posterior : Takes either as `method`.

    References
    ----------
    .. [1] A. Schmolck, "Smooth Relevance Vector Machines", 2008, section 2.7.

    Examples
    --------
    >>> from sparsebayes.sampling import ReversibleJump
    >>> ReversibleJump(birth="lognormal", birth_spread=3.0)
    ReversibleJump(birth='lognormal', birth_spread=3.0, walk=None, jump=True)
    """

    birth: BirthName = "prior"
    birth_spread: float = 5.0
    walk: float | None = None
    jump: bool = True

    def __post_init__(self) -> None:
        check_choice("birth", self.birth, get_args(BirthName))
        positive_number("birth_spread", self.birth_spread)
        check_switches(jump=self.jump)
        walk = 0.0 if self.walk is None else as_number(self.walk)
        if walk is None or walk < 0:
            raise ValueError(f"walk must be None or a standard deviation >= 0, got {self.walk!r}.")
        if not self.jump and self.walk == 0:
            raise ValueError("jump=False leaves only the walk, and walk=0 is none; set walk=1.0.")
        if self.birth == "fixed":
            self._refuse_movement("birth='fixed'")

    def bounds(self, given: Bounds) -> Bounds:
        if self.birth == "fixed":
            if given is None:
                return _FIXED, _FIXED
            if given[0] != given[1]:
                raise ValueError(
                    f"birth='fixed' gives every function the same precision, and bounds={given!r} "
                    f"are two; give the same number twice, or None for {_FIXED:g}."
                )
        if given is not None and given[0] == given[1]:
            self._refuse_movement(f"bounds={given!r}")
        return given

    def _refuse_movement(self, reason: str) -> None:
        """Raise if precisions are to move although all have one value."""
        moving = {
            "walk": bool(self.walk),
            "birth": self.birth == "lognormal",
            "jump": not self.jump,
        }
        for name, moves in moving.items():
            if moves:
                raise ValueError(
                    f"With {reason} there is one precision only, so nothing can walk or be drawn; "
                    f"leave out {name}={getattr(self, name)!r}, or let precisions differ by "
                    "birth='prior' and wider bounds."
                )

    def chain(self, posterior: SparsePosterior, rng: np.random.Generator, start: Start) -> Chain:
        births: Births | LogNormalBirths = Births(posterior)
        if self.birth == "lognormal":
            births = LogNormalBirths(posterior, self.birth_spread)
        walk = self.walk
        if walk is None:
            walk = 0.0 if posterior.slab.point else _WALK
        chain = JumpChain(posterior, rng, births, walk=float(walk), jump=bool(self.jump))
        chain.start(*(start if self.jump else _with_all(posterior, *start)))
        return chain


def _with_all(posterior: SparsePosterior, active: Array, x: Array, beta: float) -> Start:
    """A start with all functions; those that were out have the largest precision."""
    every = np.full(posterior.n_functions, posterior.slab.ends[1])
    every[active] = x
    return np.arange(posterior.n_functions), every, beta


METHODS: dict[str, SamplingMethod] = {"gibbs": Gibbs(), "reversible_jump": ReversibleJump()}


def as_method(method: Any) -> SamplingMethod:
    """A method from its name or an object."""
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    if isinstance(method, SamplingMethod):
        return method
    raise ValueError(
        f"method must be one of {list(METHODS)}, or an object such as ReversibleJump(walk=2.0), "
        f"got {method!r}{hint('method', method, METHODS)}."
    )
