"""Every number that decides how far the sequential solver searches.

None of them is derived. They were set by trial, most of them on the data of `benchmarks/stall.py`
(Friedman's first function, 240 and 1000 samples, three widths of the kernel), such that the default
does not end below other routes and takes little time; that benchmark and the laws in `tests/laws`
watch over both. Gains are in nats.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import finite_number, positive_number, whole_number
from sparsebayes.engine.solvers.driver import Solver
from sparsebayes.engine.solvers.em import EM
from sparsebayes.engine.solvers.subspace import Subspace


@dataclass(frozen=True)
class Effort:
    """How carefully to grow.

    A search that is refined later may leave small gains to that, and is faster.

    Parameters
    ----------
    threshold : float
        The gain below which no function is added.
    share : float, default=0.03
        The part of a block's best gain below which the others wait for the next block, when
        the precisions are re-estimated and many of them gain nothing.
    steps : int, default=2
        Newton steps after a block.

    See Also
    --------
    Policy : Which efforts are made when.

    Examples
    --------
    >>> from sparsebayes.engine import Effort, Policy
    >>> Policy().first_effort(1000)
    Effort(threshold=0.5, share=0.01, steps=1)
    """

    threshold: float
    share: float = 0.03
    steps: int = 2

    def __post_init__(self) -> None:
        for name in ("threshold", "share"):
            positive_number(f"{name} of Effort", getattr(self, name))
        whole_number("steps of Effort", self.steps, 0)


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and value == np.inf


_LEAST = {"falling": 1.001} | dict.fromkeys(
    ("depth", "deep", "shallow", "stall", "loose", "raised", "shared_factor"), 1e-12
)
"""The least of numbers that are divided by, or that a search would not end without."""


@guided
@dataclass(frozen=True, repr=False)
class Policy:
    """How far `Sequential` searches.

    None of the numbers is derived; each has its reason here. Gains are in nats.

    Parameters
    ----------
    block : int
        Candidates looked at for one block of additions: products among them are a matrix of 1
        MB.
    rough : Effort
        Growth that is refined later leaves small gains to that.
    credible : Effort
        Growth whose noise can be believed: a function that gains a nat hardly follows the
        noise.
    plenty : int
        With at most so many functions to choose from, growth begins `credible`: less will do.
    patience, patient_gain : int and float
        A block that adds nothing is followed by so many Newton steps, which may make room for
        others, until one gains less than this part of the threshold.
    block_gain : float
        After a block, Newton steps end at this part of what the block gained.
    settled_gain, settled_steps : float and int
        In the end they go on to this part of `tol`, at most so many.
    no_gain : float
        A round that gains less than this part of `tol` has found no gain but rounding.
    depth, deep, shallow : float
        Restarts with the noise variance held low, at these parts of its estimate: one always, a
        deep one where growth has stalled, a shallow one for what the first has overshot. In
        the first trials 0.1 to 0.01 of the targets' variance cured stalls of 50 nats.
    little, deep_steps : float
        A deep one also where the noise is less than this part of the targets' mean square,
        unless so many steps with as many functions as it may come to take more than
        `route_work`.
    falling : float
        A restart that lowers the noise variance by such a factor is followed by another: with
        next to no noise one is not enough.
    room, room_share : int and float
        While the noise is held low a model may grow by so many functions and by this part of
        itself: with next to no noise growth would not end by itself.
    coarse, coarse_bounds : float and tuple[float, float]
        The ends of restarts are refined to this multiple of `tol`, within these bounds: which
        end is higher shows long before the last gains, and these take most of the time.
    stall : float
        Growth has stalled if it ends with more samples than these for each function.
    several : int
        A start from several functions at once has so many: with a very wide kernel none gains
        anything alone, and these are enough to span what all of them do.
    tiny : int
        With the noise given, a model of at most so many functions is not searched further.
    many : int
        With more functions to choose from than these, further restarts take too long.
    work, overhead : float
        What is tried after the first restarts ends when all has taken so much work, counted in
        multiplications: a core makes some 3·10⁹ in a second, and a step takes besides as long
        as `overhead` of them.
    routes, route_work : tuple[tuple[Solver, float], ...] and float
        Other solvers are run to their ends where that takes at most so much work: each about as
        much as so many steps with all functions, so EM up to 300 of them and the others up to
        480. One draws at random: as it does with `random_state=0`.
    route_share, search_share : float
        With far more samples than functions, the products among all functions take longest.
        These solvers, and starts from all functions, may then take this part of that work if it
        is more (fewer candidates else came out ahead of more), and what follows the first
        restarts that one.
    many_samples : float
        That work is counted for so many samples at most: with ten million rows the search took
        a third of the time of their products.
    start_share, seed : float and int
        Searches among the halves of the functions, each gone on with among all, begin where
        this part of that work is more than `work`, the second if the first has not taken it;
        they are drawn with this seed.
    idle : tuple[int, float]
        One that after so many steps still has more than this part of all functions is given up:
        EM then takes as long as all else together. In 260 draws of the two narrowest kernels of
        `benchmarks/stall.py` it alone never ended a nat above what was found without it.
    loose, loose_steps : float
        Another start from all functions has precisions this much smaller, and the noise found
        so far. It takes about as much as so many steps with all of them.
    worthwhile : float
        Small changes of the model are tried in turn until none of a whole round gains so much.
    replacements, replacement_steps, replacement_gain : int, int and float
        Of the replacements of one function that gain at once so many, with so many Newton steps
        after each, if that comes to more than this.
    near : float
        The end of another change is worth replacements if it is no further below the model.
    raised : float
        The noise is raised by this factor, which takes out what hardly gains, and freed again;
        it is lowered as in the last of the first restarts.
    thinned : tuple[int, ...]
        Every second function is taken out, every third, from each place to begin, and the noise
        is lowered besides: on the Boston data that led a nat higher than with the noise as it
        was.
    sample, shared_precisions, shared_factor, shared_gain : int, int, float and float
        Whether growth with a given noise has stalled is told by a model of so many functions,
        spread over all, that share one precision: the best of several, each this part of the
        one before (where the kernel is wide, weights are large and cancel, so twelve decades).
        It has if that model has so much more evidence.
    noise_levels : int
        Where the noise is estimated, with so many values of it besides, each `depth` of the one
        before: six decades.
    second_rows, second_gain, second_price, certain : int, float, float and float
        With labels of at most so many rows there is a second look at the end of a search. It has
        to gain so much, and so much for each effective parameter more: on real sets at widths drawn
        at random, more functions for less came with worse predictions. An f further from 0 than
        `certain`, and than before, is refused: a logit of 20 is certain of a label to nine digits,
        there is nothing left of the likelihood's curvature, and the evidence says little.
    far : float
        The search has stalled if growth from functions that were chosen blindly, `several` of
        them, ends so many nats higher. Gains of a few nats are left alone: the evidence of
        labels is approximate, and on the heart, German credit and splice data they came with no
        better predictions. Those of ten and more, on the crabs and the image data, did.
    crowded : float
        Nor is it a cure if more functions stay than this part of the samples: where a kernel is
        far too narrow, the evidence of labels is highest for a model that knows them by heart.
    hopeless : float
        Updates of these functions are given up when one gains less than this part of what is
        missing.
    stalled_work : float
        After a stall the other solvers may take so many times more work.
    simpler : float
        A fit that collapses goes back to an end that it had passed: the highest that had at
        most this part of the effective parameters, and so on.
    least_room : int
        Where not all functions can be held at a time, at least so many join those in the model.
    pairs : float
        With more pairs of a sample and a function than these (6300 samples with a function
        each) the search goes on among some functions at a time even if all could be held: to
        score all of them at every step takes most of the time.
    products : float
        So many join the model that their products with each other take this work. It is about
        that of computing all functions once, which each choice of others takes where they
        cannot be held.
    most : float
        At first and in the last rounds, where they are searched at length, so much.
    short : float
        A model that keeps more than this part of the functions it was offered lacks functions
        rather than search: on Friedman's first function it kept a sixth, on four others less
        than a tenth.
    level, level_share : float
        The first dive is among functions spread over all, as many as make so many pairs with
        the samples, if these are less than this part of all.
    brief_rounds : int
        Growth after it has so many rounds: among all functions it goes on.
    worth_a_round, most_rounds, rounds, dive_share : float, int, int and float
        Growth is given other functions, and the end rounds of search, for as long as one gains
        `tol` so many times, or a nat; at most so many. The search only where a dive takes at
        most this part of the work `most`.

    See Also
    --------
    Sequential : The solver that follows it.
    Effort : How carefully a model grows.

    Examples
    --------
    >>> from sparsebayes.engine import Policy, Sequential
    >>> Sequential(Policy(work=1e9, thinned=()))
    Sequential(policy=Policy(work=1000000000.0, thinned=()))
    """

    block: int = 384
    rough: Effort = Effort(threshold=0.5, share=0.01, steps=1)
    credible: Effort = Effort(threshold=1.0, share=0.01, steps=1)
    plenty: int = 128
    patience: int = 3
    patient_gain: float = 0.3
    block_gain: float = 0.1
    settled_gain: float = 1e-4
    settled_steps: int = 50
    no_gain: float = 0.1

    depth: float = 0.1
    deep: float = 0.01
    shallow: float = 0.3
    little: float = 1e-3
    deep_steps: float = 30.0
    falling: float = 4.0
    room: int = 64
    room_share: float = 0.5
    coarse: float = 2.5
    coarse_bounds: tuple[float, float] = (0.03, 0.05)
    stall: float = 20.0
    several: int = 96
    tiny: int = 24
    many: int = 4096
    work: float = 3.5e8
    overhead: float = 2e6

    routes: tuple[tuple[Solver, float], ...] = (
        (EM(mackay=True), 15.0),
        (Subspace(), 15.0),
        (EM(), 60.0),
    )
    route_work: float = 1.65e9
    route_share: float = 1.0
    search_share: float = 0.1
    many_samples: float = 2e5
    start_share: float = 0.1
    seed: int = 209652396
    idle: tuple[int, float] = (30, 0.87)
    loose: float = 0.1
    loose_steps: float = 5.0

    worthwhile: float = 1.0
    replacements: int = 5
    replacement_steps: int = 4
    replacement_gain: float = 0.1
    near: float = 3.0
    raised: float = 3.0
    thinned: tuple[int, ...] = (2, 3)

    sample: int = 32
    shared_precisions: int = 9
    shared_factor: float = 0.03
    shared_gain: float = 1.0
    noise_levels: int = 7

    second_rows: int = 600
    second_gain: float = 0.5
    second_price: float = 0.2
    certain: float = 20.0
    far: float = 5.0
    crowded: float = 0.5
    hopeless: float = 0.03
    stalled_work: float = 8.0

    simpler: float = 0.9

    least_room: int = 64
    pairs: float = 4e7
    products: float = 2e10
    most: float = 3e10
    short: float = 0.1
    level: float = 1e8
    level_share: float = 0.75
    brief_rounds: int = 2
    worth_a_round: float = 60.0
    most_rounds: int = 20
    rounds: int = 8
    dive_share: float = 0.2

    def __post_init__(self) -> None:
        for one in fields(self):
            value, called = getattr(self, one.name), f"{one.name} of Policy"
            default: Any = one.default
            if one.type == "int":
                whole_number(called, value, 0)
            elif one.type == "float" and not (one.name == "far" and _is_infinite(value)):
                finite_number(called, value, _LEAST.get(one.name, 0.0), 1e15)
            elif one.type == "Effort" and not isinstance(value, Effort):
                raise TypeError(f"{called} must be an Effort, got {value!r}.")
            elif one.type.startswith("tuple"):
                free = one.type.endswith("...]")
                if not isinstance(value, tuple) or not (free or len(value) == len(default)):
                    raise TypeError(f"{called} must be a tuple like {default!r}, got {value!r}.")

    def worth(self, tol: float) -> float:
        """Tell what a round of growth or search has to gain to be followed by another.

        Parameters
        ----------
        tol : float
            Of the solver.

        Returns
        -------
        float
            In nats.
        """
        return max(self.worthwhile, self.worth_a_round * tol)

    def limit(self, size: int) -> int:
        """Tell how far a model may grow while the noise is held low.

        Parameters
        ----------
        size : int
            The number of its functions.

        Returns
        -------
        int
            The largest number.
        """
        return self.room + size + int(self.room_share * size)

    def first_effort(self, n_functions: int) -> Effort:
        """Choose the effort of growth that is refined later.

        Parameters
        ----------
        n_functions : int
            How many functions there are to choose from.

        Returns
        -------
        Effort
            Rough if they are many.
        """
        return self.rough if n_functions > self.plenty else self.credible

    def coarse_effort(self, tol: float) -> Effort:
        """Choose the effort at the ends of restarts.

        Parameters
        ----------
        tol : float
            Of the solver.

        Returns
        -------
        Effort
            With a threshold near `tol`.
        """
        low, high = self.coarse_bounds
        return Effort(min(max(self.coarse * tol, low), max(high, tol)))

    def __repr__(self) -> str:
        """What differs from the default."""
        pairs = ((field, getattr(self, field.name)) for field in fields(self))
        told = [f"{field.name}={value!r}" for field, value in pairs if value != field.default]
        return f"Policy({', '.join(told)})"
