"""The sequential solver: Tipping and Faul's additions and deletions [1]_, in blocks.

All functions are scored at once and added in blocks, each with its optimal α given those
before it; the active set is then re-estimated jointly (`refine`). The solver ends where the one
by one algorithm ends: no single addition, deletion or re-estimation gains more than `tol`. Blocks,
joint Newton steps and the strategies against a stall (`strategies`) are our own. An end is compared
with what functions chosen blindly come to, and is left where it is far below.

An evidence maximum at which the noise has collapsed and the model has nearly as many effective
parameters as samples is not a better answer, whatever its evidence. A trial that ends there is
refused, and a fit that comes there goes back to simpler states that it had passed. Where every way
leads there the noise is held at what the model had before it began to follow the noise:
functions that gain less than a nat each had not been let in.

References
----------
.. [1] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian
   models", AISTATS 2003.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sparsebayes._support.guesses.answers import guided
from sparsebayes._support.validation import check_switches, whole_number
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers import trials
from sparsebayes.engine.solvers.candidates import Scores, score, spread
from sparsebayes.engine.solvers.driver import (
    Climb,
    Path,
    Solver,
    Step,
    Stop,
    collapsed,
    finish,
    start,
)
from sparsebayes.engine.solvers.growth import grow, settle
from sparsebayes.engine.solvers.policy import Effort, Policy
from sparsebayes.engine.solvers.refine import stationary
from sparsebayes.engine.solvers.replacements import best_replacements
from sparsebayes.engine.solvers.restricted import Searcher, within
from sparsebayes.engine.solvers.strategies import (
    BRIEF,
    ROUND,
    STALLED,
    STRATEGIES,
    blind_model,
    drawn_half,
    drawn_start,
    in_turn,
    second_look,
)
from sparsebayes.engine.solvers.trials import Search, better, explored, spread_over

Array = np.ndarray


@guided
@dataclass(frozen=True, repr=False)
class Sequential(Solver[Problem]):
    """Additions in blocks, joint re-estimation, and ways out where that stalls.

    It begins with no function and adds those that gain most [1]_. Where the search may have stalled
    it tries other starts; what is tried, and how long, says its policy.

    Parameters
    ----------
    policy : Policy, default=Policy()
        How far to search.
    n_restarts : int, default=0
        Further starts at random; the highest sane end is kept.
    brief : bool, default=False
        Whether to try the first strategies only.

    See Also
    --------
    EM : From all functions downward.
    Subspace : By functions drawn at random.
    sparsebayes.RVR : Takes a solver, or its name.

    References
    ----------
    .. [1] M. Tipping, A. Faul, "Fast marginal likelihood maximisation for sparse Bayesian models",
       AISTATS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsebayes import RVR, Sequential
    >>> X = np.linspace(-10, 10, 60)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> model = RVR(solver=Sequential(n_restarts=2), adapt=None, random_state=0).fit(X, y)
    >>> model.converged_, model.relevance_.size < 20
    (True, True)
    """

    policy: Policy = field(default_factory=Policy)
    n_restarts: int = 0
    brief: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy):
            raise TypeError(f"policy must be a Policy, such as Policy(), got {self.policy!r}.")
        whole_number("n_restarts of Sequential", self.n_restarts, 0)
        check_switches(brief=self.brief)

    def __repr__(self) -> str:
        told = [f"policy={self.policy!r}"] * (self.policy != Policy())
        told += [f"n_restarts={self.n_restarts}"] * (self.n_restarts > 0)
        told += ["brief=True"] * self.brief
        return f"Sequential({', '.join(told)})"

    def quick(self) -> Sequential:
        """Make the same solver with less effort, for fits that are repeated.

        Returns
        -------
        Sequential
            Brief, without restarts.
        """
        return replace(self, brief=True, n_restarts=0)

    def climb(self, problem: Problem, tol: float, rng: np.random.Generator) -> Climb:
        state = start(problem)
        yield Step(state)
        passed: list[State] = []
        state = yield from _noted(self._everywhere(problem, state, self._explore, tol), passed)
        state = yield from self._everywhere(problem, state, self._settle, tol)
        state = yield from self._escape(problem, state, passed, tol)
        state = yield from self._look_again(problem, state, tol)
        if collapsed(problem, state):
            state = yield from self._go_back(problem, state, passed, tol)
        noise = problem.noise
        if noise is None or not collapsed(problem, state):
            for number in range(self.n_restarts):
                state = yield from self._restart(problem, state, tol, rng, number)
            stop = finish(problem, state)
            if stop is Stop.FLOOR:
                yield Step(stationary(problem, state), back=True)
            return stop
        credible = yield from self._everywhere(problem, start(problem), self._grow_credibly, tol)
        yield Step(credible, back=True)
        yield from self._everywhere(noise.hold(credible.beta), credible, self._settle, tol)
        # Large gains all the way to a collapse: the targets have no noise to speak of.
        return Stop.FLOOR if collapsed(problem, credible) else Stop.HELD

    def resume(self, problem: Problem, state: State, tol: float) -> Path:
        """Go on from a state until no single step gains more than `tol`.

        Parameters
        ----------
        problem : Problem
            What is maximised.
        state : State
            Where to begin.
        tol : float
            The gain below which a step is not worth it.

        Returns
        -------
        State
            The last.

        Yields
        ------
        Step
            Each state that it reaches.
        """
        return (yield from self._everywhere(problem, state, self._settle, tol))

    def regrow(self, problem: Problem, state: State, tol: float) -> Path:
        """Go on from a state that lacks much: large gains first.

        Parameters
        ----------
        problem : Problem
            What is maximised.
        state : State
            Where to begin.
        tol : float
            The gain below which a step is not worth it.

        Returns
        -------
        State
            The last.

        Yields
        ------
        Step
            Each state that it reaches.
        """
        effort = self.policy.first_effort(problem.n_functions)
        state = yield from grow(problem, state, effort, self.policy)
        return (yield from self._settle(problem, state, tol))

    def _escape(self, problem: Problem, state: State, passed: list[State], tol: float) -> Path:
        """Go on from functions chosen blindly if growth from there ends far above."""
        few = state.active.size < problem.n_samples / self.policy.stall
        if (self.brief and not few) or collapsed(problem, state):
            return state
        blind = yield from blind_model(problem, state, self.policy, tol)
        if blind is state:
            return state
        grown = yield from explored(self._everywhere(problem, blind, self._regrow, tol))
        if grown.objective < state.objective + self.policy.far or collapsed(problem, grown):
            return state
        if grown.active.size > self.policy.crowded * problem.n_samples:
            return state
        yield Step(grown)
        state = yield from _noted(self._everywhere(problem, grown, self._go_on, tol), passed)
        return (yield from self._everywhere(problem, state, self._settle, tol))

    def _look_again(self, problem: Problem, state: State, tol: float) -> Path:
        """A second look where the fit is the last and all functions are searched at once."""
        if self.brief or self._divided(problem):
            return state
        end = yield from second_look(Search(problem, self.policy, tol), state)
        return state if end is state else (yield from self._settle(problem, end, tol))

    def _explore(self, problem: Problem, state: State, tol: float) -> Path:
        """Each strategy in turn."""
        strategies = BRIEF if self.brief else STRATEGIES
        return in_turn(strategies, Search(problem, self.policy, tol), state)

    def _go_on(self, problem: Problem, state: State, tol: float) -> Path:
        """The same where greedy growth has stalled, from another state."""
        strategies = BRIEF if self.brief else STALLED
        return in_turn(strategies, Search(problem, self.policy, tol, stalled=True), state)

    def _regrow(self, problem: Problem, state: State, tol: float) -> Path:
        return trials.grown(Search(problem, self.policy, tol), state)

    def _settle(self, problem: Problem, state: State, tol: float) -> Path:
        return settle(problem, state, tol, self.policy)

    def _grow_credibly(self, problem: Problem, state: State, tol: float) -> Path:
        """Growth by functions that gain a lot: its noise is credible where the end's is not."""
        return grow(problem, state, self.policy.credible, self.policy, accepted=False)

    def _go_back(self, problem: Problem, state: State, passed: list[State], tol: float) -> Path:
        """The highest of the states that were passed from which no collapse follows."""
        first, limit = state, state.n_determined
        for earlier in sorted(passed, key=lambda one: -one.objective):
            if earlier.n_determined > self.policy.simpler * limit:
                continue
            limit = earlier.n_determined
            path = self._everywhere(problem, earlier, self._settle, tol)
            end = yield from explored(path)
            if not collapsed(problem, end):
                yield Step(end, back=True)
                return end
        return first

    def _restart(
        self, problem: Problem, state: State, tol: float, rng: np.random.Generator, number: int
    ) -> Path:
        """Another start, and what is found from there; the better of both ends.

        In turn from functions drawn at random, and from the model with a random half left.
        """

        def search(inner: Problem, state: State, tol: float) -> Path:
            trial = drawn_start if number % 2 == 0 else drawn_half
            end = yield from explored(trial(Search(inner, self.policy, tol), state, rng))
            return (yield from explored(self._settle(inner, end, tol)))

        if self._divided(problem):
            index = chosen(state, score(problem, state), self._room(problem, state))
            end = yield from explored(within(problem, state, index, search, tol))
            end = yield from explored(self._everywhere(problem, end, self._settle, tol))
        else:
            end = yield from search(problem, state, tol)
        return (yield from better(problem, state, end))

    def _everywhere(self, problem: Problem, state: State, search: Searcher, tol: float) -> Path:
        """Search among as many functions as is worth while, and again while others gain."""
        if not self._divided(problem):
            return (yield from search(problem, state, tol))
        if search == self._explore and problem.crossable:
            return (yield from self._in_rounds(problem, state, tol))
        while True:
            scores = score(problem, state)
            if scores.largest <= tol:
                return state
            before = state.objective
            index = chosen(state, scores, self._room(problem, state))
            state = yield from within(problem, state, index, search, tol)
            if search != self._settle or state.objective <= before:
                return state

    def _divided(self, problem: Problem) -> bool:
        """Whether some functions are searched at a time: for lack of memory, or to save work."""
        pairs = float(problem.n_samples) * problem.n_functions
        large = problem.crossable and pairs > self.policy.pairs
        return problem.capacity < problem.n_functions or bool(large)

    def _room(self, problem: Problem, state: State, products: float | None = None) -> int:
        """How many functions to search among: by work, by memory, at least twice the model."""
        policy, active = self.policy, state.active.size
        room = problem.capacity
        if problem.crossable:
            products = products or policy.products
            room = min(room, active + int((products / problem.n_samples) ** 0.5))
        return max(room, 2 * active, active + policy.least_room)

    def _in_rounds(self, problem: Problem, state: State, tol: float) -> Path:
        """Explore among some functions, then among those that the model would want, in rounds.

        A model that keeps many of the functions it was offered lacks functions rather than search.
        """
        policy = self.policy
        index = chosen(state, score(problem, state), self._room(problem, state, policy.most))
        state = yield from within(problem, state, index, self._begin, tol)
        part = spread_over(problem, int(policy.level / problem.n_samples))
        if part.size < policy.level_share * problem.n_functions:
            part = np.concatenate([state.active, np.setdiff1d(part, state.active)])
            state = yield from within(problem, state, part, self._brief_dive, tol)
            state = yield from self._grown(problem, state, tol)
        else:
            state = yield from self._dive(problem, state, tol)
        limit = policy.deep_steps * policy.limit(state.active.size) ** 2
        for _ in range(0 if self.brief else policy.rounds):
            room = self._room(problem, state, policy.most)
            if limit * room > policy.dive_share * policy.most:
                break
            before = state.objective
            low = problem.move(state, state.alpha, lowest(problem, state.beta / policy.depth))
            index = chosen(state, score(problem, low or state), room)
            swaps = best_replacements(problem, state, state.active.size, -policy.near)
            others = np.setdiff1d(np.array([one.function for one in swaps], np.intp), index)
            state = yield from within(
                problem, state, np.concatenate([index, others]), self._improve, tol
            )
            if state.objective < before + policy.worth(tol):
                break
        return state

    def _begin(self, problem: Problem, state: State, tol: float) -> Path:
        """Greedy growth, and if it keeps few of the functions all else."""
        search = Search(problem, self.policy, tol)
        state = yield from in_turn(STRATEGIES[:1], search, state)
        if state.active.size > self.policy.short * problem.n_functions:
            return state
        return (yield from in_turn((BRIEF if self.brief else STRATEGIES[:-1])[1:], search, state))

    def _improve(self, problem: Problem, state: State, tol: float) -> Path:
        return in_turn(ROUND, Search(problem, self.policy, tol), state)

    def _brief_dive(self, problem: Problem, state: State, tol: float) -> Path:
        """One whose end is gone on from in any case."""
        return self._dive(problem, state, tol, self.policy.brief_rounds)

    def _dive(self, problem: Problem, state: State, tol: float, rounds: int | None = None) -> Path:
        """A low-noise restart whose candidates are those that the model of the moment wants."""
        policy = self.policy
        state = yield from self._grown(problem, state, tol, policy.rough, rounds=1)
        low = problem.move(state, state.alpha, lowest(problem, state.beta / policy.depth))
        if low is None:
            return state
        limit = policy.limit(state.active.size)
        path = self._grown(problem, low, tol, policy.rough, rounds=1, free=False, limit=limit)
        low = yield from explored(path)
        if problem.noise is None:
            low = problem.move(low, low.alpha, state.beta) or state
        end = yield from explored(self._grown(problem, low, tol, rounds=rounds))
        return (yield from better(problem, state, end))

    def _grown(
        self,
        problem: Problem,
        state: State,
        tol: float,
        effort: Effort | None = None,
        *,
        rounds: int | None = None,
        free: bool = True,
        limit: int = 1 << 62,
    ) -> Path:
        """Growth among the functions that gain most, and again among those that do then."""
        policy = self.policy
        effort = effort or policy.coarse_effort(tol)

        def search(inner: Problem, state: State, tol: float) -> Path:
            return grow(inner, state, effort, policy, free=free, limit=limit)

        for _ in range(policy.most_rounds if rounds is None else rounds):
            before, scores = state.objective, score(problem, state)
            if scores.largest <= effort.threshold:
                break
            index = chosen(state, scores, self._room(problem, state))
            state = yield from within(problem, state, index, search, tol)
            if state.objective < before + policy.worth(tol):
                break
        return state


def lowest(problem: Problem, beta: float) -> float:
    """A noise precision, within its bound where it is estimated."""
    return beta if problem.noise is None else min(beta, problem.noise.max_beta)


def _noted(path: Path, passed: list[State]) -> Path:
    """The same path, its accepted states and ends noted."""
    while True:
        try:
            step = next(path)
        except StopIteration as end:
            return end.value
        if step.accepted or step.end:
            passed.append(step.state)
        yield step


def chosen(state: State, scores: Scores, room: int) -> Array:
    """The active functions and others, `room` in all: the best, and some spread."""
    return np.concatenate([state.active, spread(scores.ranked(), room - state.active.size)])
