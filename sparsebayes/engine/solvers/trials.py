"""Trials: other ends, from a model that was changed or from other starts.

Each takes a `Search` and a state, yields the steps that it tries, and returns its end, which may
be lower than the state; `better` and `polished` choose between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers.driver import Path, Solver, Step, collapsed
from sparsebayes.engine.solvers.em import close, converge, spread_variance
from sparsebayes.engine.solvers.growth import grow
from sparsebayes.engine.solvers.policy import Effort, Policy
from sparsebayes.engine.solvers.refine import Refiner, losses
from sparsebayes.engine.solvers.replacements import best_replacements

Array = np.ndarray


@dataclass
class Search:
    """What is searched, how, and what has been seen.

    Attributes
    ----------
    problem : Problem
    policy : Policy
    tol : float
    over : bool
        Whether there is nothing more to look for.
    work : float
        What the steps have taken, in multiplications.
    searched : State or None
        The state from which no small change has led on.
    stalled : bool
        Whether greedy growth has ended far below another end.
    """

    problem: Problem
    policy: Policy
    tol: float
    over: bool = False
    work: float = 0.0
    searched: State | None = None
    stalled: bool = False

    @property
    def coarse(self) -> Effort:
        return self.policy.coarse_effort(self.tol)

    @property
    def rough(self) -> Effort:
        return self.policy.first_effort(self.problem.n_functions)

    @property
    def tired(self) -> bool:
        """Whether what follows the first restarts has taken enough work."""
        products = self.policy.search_share * self.products
        return self.work > max(self.policy.work, products)

    @property
    def products(self) -> float:
        """The work that all products among the functions took; 0 where they are not formed.

        Samples beyond `policy.many_samples` do not count: a search does not gain by them.
        """
        if not self.problem.crossed:
            return 0.0
        size = float(self.problem.n_functions) * self.problem.group
        return min(self.problem.n_samples, self.policy.many_samples) * size**2

    def cost(self, state: State) -> float:
        """About the work of a step at a state."""
        products = float(len(state.mean)) ** 2 * self.problem.group * self.problem.n_functions
        return products + self.policy.overhead

    def counted(self, path: Path) -> Path:
        """The same path, its work noted."""
        while True:
            try:
                step = next(path)
            except StopIteration as end:
                return end.value
            self.work += self.cost(step.state)
            yield step


def better(problem: Problem, state: State, end: State) -> Path:
    """The end of a trial if it is higher and sane, else the state before it."""
    if end.objective <= state.objective or collapsed(problem, end):
        return state
    yield Step(end)
    return end


def explored(path: Path) -> Path:
    """The same path, none of it accepted."""
    while True:
        try:
            step = next(path)
        except StopIteration as end:
            return end.value
        yield replace(step, accepted=False)


def polished(search: Search, state: State, end: State) -> Path:
    """The same, with replacements where the end is not far below the state."""
    near = state.objective - search.policy.near
    if end is not state and end.objective > near and not collapsed(search.problem, end):
        end = yield from replaced(search, end)
    return (yield from better(search.problem, state, end))


def grown(search: Search, state: State) -> Path:
    """Where growth with the noise free leads."""
    return grow(search.problem, state, search.coarse, search.policy, accepted=False)


def replaced(search: Search, state: State, *, boldly: bool = False) -> Path:
    """Functions replaced one at a time for as long as that gains, then growth.

    `boldly`, each function in turn, though it loses at first.
    """
    problem, policy = search.problem, search.policy
    first, refiner = state, Refiner(problem)
    size, loss = policy.replacements, 0.0
    if boldly:
        size, loss = state.active.size, policy.near
    while size and not search.tired:
        least = state.objective + policy.replacement_gain
        for one in best_replacements(problem, state, size, -loss):
            new = one.apply(problem, state)
            if new is None:
                continue
            new = refiner.climb(
                new, free=True, steps=policy.replacement_steps, tol=policy.replacement_gain / 10
            )
            yield Step(new, accepted=False)
            if new.objective > least and not collapsed(problem, new):
                state = new
                break
        else:
            break
    if state is first:
        return state
    return (yield from grown(search, state))


def lowered(search: Search, state: State, depth: float) -> Path:
    """Lower the noise variance by `depth`, grow, and give it back."""
    problem, policy = search.problem, search.policy
    noise, size = problem.noise, state.active.size
    beta = state.beta / depth
    if noise is not None:
        beta = min(beta, noise.max_beta)
    low = problem.move(state, state.alpha, beta)
    if low is None or beta <= state.beta:
        return state
    low = yield from grow(
        problem, low, search.rough, policy, free=False, limit=policy.limit(size), accepted=False
    )
    if noise is None:
        low = problem.move(low, low.alpha, state.beta) or state
    return (yield from grown(search, low))


def raised(search: Search, state: State, factor: float) -> Path:
    """Raise the noise variance, so that functions leave, and give it back."""
    problem, policy = search.problem, search.policy
    high = problem.move(state, state.alpha, state.beta / factor)
    if high is None:
        return state
    high = Refiner(problem).climb(
        high, free=False, steps=policy.settled_steps, tol=search.coarse.threshold
    )
    yield Step(high, accepted=False)
    if problem.noise is None:
        high = problem.move(high, high.alpha, state.beta) or state
    return (yield from grown(search, high))


def thinned(search: Search, state: State, gone: Array) -> Path:
    """Take out the functions of a mask and grow again, at first with the noise lowered."""
    smaller = search.problem.shrink(state, ~gone)
    if smaller is None:
        return state
    return (yield from lowered(search, smaller, search.policy.shallow))


def every(state: State, problem: Problem, step: int, first: int) -> Array:
    """A mask of every so many functions, in the order of what they gain."""
    gone = np.zeros(state.active.size, dtype=bool)
    gone[np.argsort(-losses(problem, state), kind="stable")[first::step]] = True
    return gone


def from_functions(
    search: Search, state: State, index: Array, *, loose: float | None = None
) -> Path:
    """Where MacKay's updates from these functions at once end, and growth from there.

    They begin with precisions that give them the targets' variance together; with `loose`, with
    this part of them and the noise of the state.
    """
    problem = search.problem
    start = spread_variance(problem, index)
    if start is not None and loose is not None:
        start = problem.move(start, loose * start.alpha, state.beta)
    if start is None:
        return state
    for step in close(problem, start, search.tol, mackay=True):
        start = step.state
        yield Step(start, accepted=False)
    return (yield from grown(search, start))


def route(search: Search, state: State, solver: Solver) -> Path:
    """Where another solver ends; the state itself where it is given up."""
    problem, policy = search.problem, search.policy
    steps, share = policy.idle
    end = state
    rng = np.random.default_rng(policy.seed)
    for number, step in enumerate(solver.climb(problem, search.tol, rng)):
        end = step.state
        yield Step(end, accepted=False)
        if number == steps and end.active.size > share * problem.n_functions:
            return state
    yield Step(end, accepted=False, end=True)
    return end


def settled_by_updates(search: Search, start: State) -> Path:
    """Where MacKay's updates of the functions of a state lead; none comes back."""
    for step in converge(search.problem, start, search.coarse.threshold, mackay=True):
        start = step.state
        yield Step(start, accepted=False)
    return start


def hopeful(search: Search, start: State, target: float) -> Path:
    """The same, but given up where they are not about to reach an objective."""
    before = -np.inf
    for step in settled_by_updates(search, start):
        start = step.state
        yield step
        if start.objective - before < search.policy.hopeless * (target - start.objective):
            break
        before = start.objective
    return start


def spread_over(problem: Problem, size: int) -> Array:
    """So many functions, evenly spread over all."""
    return np.unique(np.linspace(0, problem.n_functions - 1, size).astype(np.intp))
