"""Ways on from where greedy growth ends, tried in turn.

With the noise estimated the greedy route stalls: with few functions in, the noise is too high, so
nothing more is worth adding. A *low-noise restart* holds the noise below its estimate, lets the
model grow, frees the noise again, and keeps the better end. With the noise given, growth stalls
only where no function gains anything alone; a model of functions that share one precision tells.

An end that looks final may still be a stall: no single function gains, and others together would.
Functions *chosen blindly*, spread over all, tell: where these, and growth from them, come out far
above the end, the search goes on from there, at first with the other solvers.

What is left is a matter of search: the ends of the other solvers, small changes of the model, each
followed by growth to its own end, for as long as one gains (a *neighbourhood search*), and a start
from all functions; for labels of few rows, a *second look* when all is done. All are bounded by the
work that they take, so that small problems see all of it and large ones little.

Each strategy takes a `Search` and a state, yields the steps that it tries, and returns the state
to go on from: its own end if that is higher and sane, else the state that it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.problem import Problem
from sparsebayes.engine.solvers import trials
from sparsebayes.engine.solvers.driver import Path, Step, collapsed, start
from sparsebayes.engine.solvers.em import spread_variance
from sparsebayes.engine.solvers.growth import grow, settle
from sparsebayes.engine.solvers.policy import Policy
from sparsebayes.engine.solvers.refine import Refiner
from sparsebayes.engine.solvers.restricted import renumbered
from sparsebayes.engine.solvers.trials import (
    Search,
    better,
    explored,
    polished,
    spread_over,
)

Array = np.ndarray
Strategy = Callable[[Search, State], Path]


def greedy_growth(search: Search, state: State) -> Path:
    """Add what gains most, with the noise free."""
    return grow(search.problem, state, search.rough, search.policy)


def shared_precision_start(search: Search, state: State) -> Path:
    """With the noise given: go on from functions that share one precision, if they do better."""
    if search.problem.noise is not None:
        return state
    shared = shared_precision_model(search.problem, state, search.policy)
    if shared is None:  # growth has not stalled
        search.over = True
        return state
    end = yield from trials.settled_by_updates(search, shared)
    end = yield from trials.grown(search, end)
    found = yield from better(search.problem, state, end)
    if found is not state:
        greedy = yield from explored(settle(search.problem, state, search.tol, search.policy))
        search.stalled = found.objective > greedy.objective + search.policy.far
    return found


def low_noise_restart(search: Search, state: State) -> Path:
    """Grow with the noise at a tenth, and again for as long as it then falls by much."""
    policy = search.policy
    while True:
        before = state.beta
        end = yield from trials.lowered(search, state, policy.depth)
        state = yield from better(search.problem, state, end)
        if state.beta < policy.falling * before:
            return state


def escape_a_stall(search: Search, state: State) -> Path:
    """Where few functions were found: a deeper restart, and starts from several at once."""
    policy, problem = search.policy, search.problem
    few = problem.n_samples / policy.stall
    if state.active.size >= few:
        return state
    before = state.beta
    end = yield from trials.lowered(search, state, policy.deep)
    state = yield from better(problem, state, end)
    several = blindly(problem, state, policy.several)
    end = yield from trials.from_functions(search, state, several)
    state = yield from better(problem, state, end)
    shared = None
    if problem.noise is not None and state.active.size < few:
        shared = shared_precision_model(problem, state, policy, several)
    if shared is not None:
        end = yield from trials.settled_by_updates(search, shared)
        end = yield from trials.grown(search, end)
        state = yield from better(problem, state, end)
    if state.beta < policy.falling * before:
        return state
    return (yield from low_noise_restart(search, state))


def shallow_restart(search: Search, state: State) -> Path:
    """A restart with the noise lowered less; with too many functions, nothing more.

    Nor with the noise given and a small model: the evidence of labels is approximate, and other
    ends gain hundredths of a nat by more functions.
    """
    problem, policy = search.problem, search.policy
    small = _small(search, state) and not search.stalled
    search.over = small or problem.n_functions > policy.many
    if search.over:
        return state
    end = yield from trials.lowered(search, state, search.policy.shallow)
    return (yield from better(search.problem, state, end))


def _small(search: Search, state: State) -> bool:
    return search.problem.noise is None and state.active.size <= search.policy.tiny


def deep_restart(search: Search, state: State) -> Path:
    """With next to no noise: growth with the noise at a hundredth, for as long as that gains.

    Then many functions gain a little each, and hundreds of nats together.
    """
    problem, policy = search.problem, search.policy
    size = float(problem.n_functions) * problem.group**2
    if problem.noise is None or state.beta * problem.energy * policy.little < problem.n_samples:
        return state
    if policy.deep_steps * policy.limit(state.active.size) ** 2 * size > policy.route_work:
        return state
    while True:
        before = state.objective
        end = yield from trials.lowered(search, state, policy.deep)
        state = yield from better(problem, state, end)
        if state.objective <= before + policy.worthwhile or search.tired:
            return state


def other_routes(search: Search, state: State) -> Path:
    """Where the other solvers end, each on its own way, if they take little work.

    They are run as they are, so that a fit of a small problem does not end below theirs. With
    the noise given and a small model that is all there is to look for after a stall.
    """
    policy, problem = search.policy, search.problem
    size, before = float(problem.n_functions) * problem.group, search.work
    work = policy.route_work * (policy.stalled_work if search.stalled else 1.0)
    work = max(work, policy.route_share * search.products)
    for solver, steps in policy.routes:
        if steps * size**3 <= work:
            end = yield from trials.route(search, state, solver)
            search.work = before  # it has a bound of its own
            state = yield from better(problem, state, end)
            search.over = search.stalled and _small(search, state)
    return state


def second_look(search: Search, state: State) -> Path:
    """With labels: small changes, one of each kind, and the shortest route.

    The evidence of labels is approximate, and more functions for hundredths of a nat predict worse:
    what is found has to gain something in all, and for each effective parameter more. Nor is it an
    answer if it is certain of labels as the state is not.
    """
    problem, policy = search.problem, search.policy
    if state.local is None or problem.n_samples > policy.second_rows:
        return state
    changes: list[Strategy] = [
        partial(trials.lowered, depth=policy.shallow),
        partial(trials.lowered, depth=policy.depth),
        partial(trials.raised, factor=policy.raised),
    ]
    work = policy.route_work / (float(problem.n_functions) * problem.group) ** 3
    changes += [
        partial(trials.route, solver=solver) for solver, steps in policy.routes[:1] if steps <= work
    ]
    best, limit = state, max(policy.certain, _largest_f(state))
    for change in changes:
        end = yield from search.counted(change(search, best))
        end = yield from explored(polished(search, best, end))
        best = end if _largest_f(end) <= limit else best
    more = best.n_determined - state.n_determined
    if best.objective < state.objective + max(policy.second_gain, policy.second_price * more):
        return state
    return (yield from better(problem, state, best))


def _largest_f(state: State) -> float:
    assert state.local is not None
    return float(np.abs(state.local.point.f).max(initial=0.0))


def loose_start(search: Search, state: State) -> Path:
    """MacKay's updates from all functions, with smaller precisions and the noise found so far."""
    policy, problem = search.policy, search.problem
    size = float(problem.n_functions)
    work = max(policy.work, policy.route_share * search.products)
    if search.work + policy.loose_steps * size**3 > work:
        return state
    index = np.arange(problem.n_functions)
    end = yield from trials.from_functions(search, state, index, loose=policy.loose)
    return (yield from polished(search, state, end))


def neighbourhood_search(search: Search, state: State) -> Path:
    """Small changes of the model in turn, for as long as one gains."""
    changes = list(_changes(search.policy))
    number = since = 0
    if state is search.searched:
        return state
    while since < len(changes) and not search.tired:
        before = state.objective
        end = yield from changes[number](search, state)
        state = yield from polished(search, state, end)
        number = (number + 1) % len(changes)
        since = 0 if state.objective > before + search.policy.worthwhile else since + 1
    search.searched = state
    return state


def _changes(policy: Policy) -> Iterator[Strategy]:
    """What is changed: one function, the noise, every second function and so on."""
    if policy.replacements:
        yield trials.replaced
    yield partial(trials.raised, factor=policy.raised)
    for step in policy.thinned:
        for number in range(step):
            yield partial(_thinned, step=step, first=number)
    yield partial(trials.lowered, depth=policy.shallow)
    if policy.replacements:
        yield partial(trials.replaced, boldly=True)


def _thinned(search: Search, state: State, step: int, first: int) -> Path:
    return trials.thinned(search, state, trials.every(state, search.problem, step, first))


def drawn_start(search: Search, state: State, rng: np.random.Generator) -> Path:
    """The end that is found from functions drawn at random; it may be lower."""
    count = search.problem.n_functions
    index = np.sort(rng.choice(count, min(count, search.policy.several), replace=False))
    end = yield from search.counted(trials.from_functions(search, state, index))
    return (yield from search.counted(neighbourhood_search(search, end)))


def drawn_half(search: Search, state: State, rng: np.random.Generator) -> Path:
    """The end that is found from half of the functions, drawn at random; it may be lower."""
    gone = rng.random(state.active.size) < 0.5
    end = yield from search.counted(trials.thinned(search, state, gone))
    return (yield from search.counted(neighbourhood_search(search, end)))


def coarse_starts(search: Search, state: State) -> Path:
    """Where products are known: the ends of searches among each half of the functions.

    Among fewer functions a search gets further; among all it goes on from there. The first half is
    searched in the same way, by halves, so that candidates that begin with others do not end lower.
    """
    problem, policy = search.problem, search.policy
    work, most = 0.0, policy.start_share * search.products
    if most <= policy.work:
        return state
    first, second = np.array_split(np.arange(problem.n_functions), 2)
    for index, strategies in ((first, STRATEGIES), (second, STRATEGIES[:-1])):
        if work > most:
            break
        inner = Search(problem.restrict(index), policy, search.tol)
        path = in_turn(strategies, inner, start(inner.problem))
        end = yield from explored(renumbered(path, index))
        again = Search(problem, policy, search.tol)
        end = yield from explored(in_turn((greedy_growth, neighbourhood_search), again, end))
        work += inner.work + again.work
        state = yield from better(problem, state, end)
    return state


STRATEGIES: tuple[Strategy, ...] = (
    greedy_growth,
    shared_precision_start,
    low_noise_restart,
    escape_a_stall,
    shallow_restart,
    other_routes,
    deep_restart,
    neighbourhood_search,
    loose_start,
    neighbourhood_search,
    coarse_starts,
)
# For fits that are repeated: what these find is close to the end of all.
BRIEF = STRATEGIES[:3]
# Among other functions than before, from an end that had all this.
ROUND = (greedy_growth, low_noise_restart, shallow_restart, deep_restart, neighbourhood_search)
# Where greedy growth has stalled the other solvers tell more than a restart does.
STALLED = (greedy_growth, other_routes, *STRATEGIES[2:5], *STRATEGIES[6:-1])


def shared_precision_model(
    problem: Problem, state: State, policy: Policy, index: Array | None = None
) -> State | None:
    """Some functions with one precision for all, if they have more evidence than the model."""
    if index is None:
        index = blindly(problem, state, policy.sample)
    best = best_shared_precision(problem, index, policy, problem.beta)
    if best is None or best.evidence <= state.evidence + policy.shared_gain:
        return None
    return best


def in_turn(strategies: tuple[Strategy, ...], search: Search, state: State) -> Path:
    """Each of them, until one says that there is nothing more to look for."""
    for strategy in strategies:
        state = yield from search.counted(strategy(search, state))
        if search.over:
            break
    return state


def best_shared_precision(
    problem: Problem, index: Array, policy: Policy, beta: float, *, brief: bool = False
) -> State | None:
    """Some functions with the best of several precisions, the same for all of them.

    Where the noise is estimated, with the best of several values of it, from 1/`beta` down. The
    evidence may fall at first and then rise above where it began: with a narrow kernel, once the
    weights are so large that what little the functions overlap counts. A `brief` search does not
    go on where it falls.
    """
    first = spread_variance(problem, index)
    if first is None:
        return None
    best = first
    levels = 1 if problem.noise is None else policy.noise_levels
    if problem.noise is not None:
        highest = _highest(problem, first, policy, beta)
        if highest is not None:
            return max(first, highest, key=lambda state: state.evidence)
    last = first
    for number in range(policy.shared_precisions):
        before = best
        for level in range(levels):
            alpha = policy.shared_factor**number * first.alpha
            shared = problem.move(last, alpha, beta / policy.depth**level)
            if shared is not None and shared.evidence > best.evidence:
                best = shared
            if shared is not None and shared.local is not None:
                last = shared  # with labels: its weights are nearer than the first
        if brief and number and best is before and problem.noise is None:
            break
    return best


def _highest(problem: Problem, first: State, policy: Policy, beta: float) -> State | None:
    """That of the states below which has most evidence, if all can be had at once."""
    factors = policy.shared_factor ** np.arange(policy.shared_precisions)
    betas = beta / policy.depth ** np.arange(policy.noise_levels)
    found = problem.rescaled_evidences(first, factors, betas)
    if found is None or not found.size:
        return None
    number, level = np.unravel_index(np.argmax(found), found.shape)
    alpha = policy.shared_factor ** int(number) * first.alpha
    return problem.move(first, alpha, beta / policy.depth ** int(level))


def blindly(problem: Problem, state: State, size: int) -> Array:
    """So many functions, spread over all; with labels in the order of their norms.

    In the order of their number the rows' order would decide which, and where a search of labels
    ends: in one of 50 random problems nats apart.
    """
    chosen = spread_over(problem, min(size, problem.n_functions))
    if state.local is None:
        return chosen
    return np.sort(np.argsort(problem.norms, kind="stable")[chosen])


def blind_model(problem: Problem, state: State, policy: Policy, tol: float) -> Path:
    """Functions spread over all, with their own precisions, if they are not far below the model.

    They were chosen without a look at the data. Where they do as well as those that greedy growth
    has chosen, that may have stalled. They are free of charge at first: under a prior that charges
    for each, those that are too many would not leave, or all of them would.
    """
    index = blindly(problem, state, policy.several)
    charged = problem.restrict(index)
    free = charged.uncharged()
    end = best_shared_precision(free, np.arange(index.size), policy, state.beta, brief=True)
    if end is None:
        return state
    for step in trials.hopeful(Search(free, policy, tol), end, state.objective):
        end = step.state
        yield Step(state, accepted=False)
    end = charged.evaluate(end.active, end.alpha, end.beta)
    if end is None:
        return state
    end = Refiner(charged).climb(
        end, free=True, steps=policy.settled_steps, tol=policy.coarse_effort(tol).threshold
    )
    if end.objective < state.objective - policy.far or collapsed(charged, end):
        return state
    return problem.evaluate(index[end.active], end.alpha, end.beta) or state
