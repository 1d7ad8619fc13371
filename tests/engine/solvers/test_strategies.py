"""The strategies of the sequential solver, one by one, and the policy that they follow."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from sparsebayes import RVR
from sparsebayes.engine import (
    EM,
    Dense,
    Exact,
    Flat,
    Gamma,
    Gaussian,
    Latent,
    Lazy,
    Logit,
    Policy,
    Sequential,
    Smoothness,
    Softmax,
    Subspace,
    run,
)
from sparsebayes.engine.solvers import strategies, trials
from sparsebayes.engine.solvers.candidates import score
from sparsebayes.engine.solvers.driver import collapsed, start
from sparsebayes.engine.solvers.em import spread_variance
from sparsebayes.engine.solvers.growth import settle
from sparsebayes.engine.solvers.refine import losses
from sparsebayes.engine.solvers.replacements import best_replacements
from sparsebayes.engine.solvers.strategies import STRATEGIES, shared_precision_model
from sparsebayes.engine.solvers.trials import Search

TOL = 0.01


def stalled(noise=None, n_samples=240, gamma=0.01, seed=0):
    """Friedman's first function with a wide kernel, on which greedy growth ends far too soon."""
    rng = np.random.default_rng(seed)
    x = rng.random((n_samples, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    y += 10 * x[:, 3] + 5 * x[:, 4] + rng.standard_normal(n_samples)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    kernel = np.exp(-gamma * ((x[:, None] - x) ** 2).sum(axis=-1))
    matrix = np.column_stack([np.ones(n_samples), kernel])
    return Exact(Dense(matrix), Flat(), Gaussian(y - y.mean(), np.ones(n_samples), noise))


def easy(noise=None, n_functions=40, n_samples=60, prior=None):
    """Two functions of those that overlap little: greedy growth finds them."""
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((n_samples, n_functions))
    target = matrix[:, :2] @ [2.0, -1.0] + 0.1 * rng.standard_normal(n_samples)
    return Exact(Dense(matrix), prior or Flat(), Gaussian(target, np.ones(n_samples), noise))


def walk(strategy, search, state):
    """The state that a strategy goes on from, and the steps on its way."""
    path, steps = strategy(search, state), []
    while True:
        try:
            steps.append(next(path))
        except StopIteration as end:
            return end.value, steps


@pytest.fixture(scope="module")
def grown():
    """A stalled search after its growth."""
    search = Search(stalled(), Policy(), TOL)
    state, _ = walk(strategies.greedy_growth, search, start(search.problem))
    return search, state


def test_a_low_noise_restart_cures_the_stall(grown):
    search, state = copy.copy(grown[0]), grown[1]
    assert state.active.size < 20
    better, steps = walk(strategies.low_noise_restart, search, state)
    assert better.objective > state.objective + 20.0
    assert better.active.size > state.active.size
    assert [step.accepted for step in steps] == [False] * (len(steps) - 1) + [True]
    assert max(step.state.beta for step in steps) > 5.0 * state.beta  # the noise was held low


@pytest.mark.sampled
@pytest.mark.parametrize("strategy", dict.fromkeys(STRATEGIES[2:]), ids=lambda s: s.__name__)
def test_no_strategy_gives_up_what_was_reached(strategy, grown):
    search, state = copy.copy(grown[0]), grown[1]
    end, steps = walk(strategy, search, state)
    assert end.objective >= state.objective
    assert not collapsed(search.problem, end)
    accepted = [step.state for step in steps if step.accepted]
    assert np.all(np.diff([state.objective, *(one.objective for one in accepted)]) > 0)
    assert (end is state) == (not accepted)
    assert end is state or end is accepted[-1]


def test_a_collapse_is_refused(grown, monkeypatch):
    search, state = copy.copy(grown[0]), grown[1]
    monkeypatch.setattr(trials, "collapsed", lambda problem, state: True)
    end, steps = walk(strategies.low_noise_restart, search, state)
    assert end is state and not any(step.accepted for step in steps)


def test_with_the_noise_given_a_shared_precision_tells_of_a_stall():
    search = Search(easy(noise=0.01), Policy(), TOL)
    state, _ = walk(strategies.greedy_growth, search, start(search.problem))
    assert shared_precision_model(search.problem, state, search.policy) is None
    assert walk(strategies.shared_precision_start, search, state) == (state, [])
    assert search.over
    # The empty model of a wide kernel lacks much, and all functions together show it.
    search = Search(stalled(noise=1.0), Policy(), TOL)
    state = start(search.problem)
    shared = shared_precision_model(search.problem, state, search.policy)
    assert shared.active.size == search.policy.sample
    assert np.ptp(shared.alpha / search.problem.norms[shared.active]) < 1e-12 * shared.alpha.max()
    end, _ = walk(strategies.shared_precision_start, search, state)
    assert not search.over and end.objective > state.objective + 100.0


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [2, 8, 12])
def test_a_shared_precision_is_not_given_up_where_the_evidence_falls_at_first(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((100, 10)), np.tile([-1.0, 1.0], 50)
    X[:, 0] += 1.5 * labels
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / (2 * 0.6**2))  # much too narrow
    matrix = np.column_stack([np.ones(100), kernel])
    problem = Latent(Dense(matrix), Flat(), Logit(labels, np.ones(100)))
    index = trials.spread_over(problem, Policy().sample)
    brief, best = (
        strategies.best_shared_precision(problem, index, Policy(), 1.0, brief=brief)
        for brief in (True, False)
    )
    assert best.evidence > brief.evidence + 1.0
    end = run(Sequential(), problem, max_iter=1000, tol=TOL, rng=rng).state
    assert end.evidence > start(problem).evidence + 30.0


def test_with_the_noise_estimated_there_is_no_shared_precision(grown):
    search, state = copy.copy(grown[0]), grown[1]
    assert walk(strategies.shared_precision_start, search, state) == (state, [])
    assert not search.over


def test_only_a_stall_is_escaped(grown):
    search, state = copy.copy(grown[0]), grown[1]
    no_stall = replace(search, policy=Policy(stall=240.0 / state.active.size))
    assert walk(strategies.escape_a_stall, no_stall, state) == (state, [])
    end, _ = walk(strategies.escape_a_stall, search, state)
    assert end.objective > state.objective + 20.0


def product(width):
    """A product of inputs, with next to no noise: no function gains anything alone."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (150, 3))
    target = X[:, 0] * X[:, 1] + 0.3 * np.sin(3 * X[:, 2]) * X[:, 0]
    target += 1e-3 * rng.standard_normal(150)
    matrix = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2) / width**2)
    return Exact(Dense(matrix), Flat(), Gaussian(target - target.mean(), np.ones(150)))


@pytest.mark.parametrize("width", [4.0, 16.0])
def test_a_stall_at_nothing_is_escaped_with_shared_precisions(width):
    search = Search(product(width), Policy(), TOL)
    state, _ = walk(strategies.greedy_growth, search, start(search.problem))
    assert state.active.size == 0
    end, _ = walk(strategies.escape_a_stall, search, state)
    assert end.objective > state.objective + 150.0
    shared = shared_precision_model(search.problem, state, search.policy)
    assert np.ptp(shared.alpha / search.problem.norms[shared.active]) < 1e-12 * shared.alpha.max()
    assert shared.beta > 5.0 * state.beta  # with another noise, too
    without = replace(search, policy=Policy(noise_levels=0))
    assert walk(strategies.escape_a_stall, without, state)[0].objective < state.objective + 1.0


@pytest.mark.slow
def test_with_next_to_no_noise_a_deep_restart_goes_on():
    search = Search(product(1.0), Policy(), TOL)
    state = start(search.problem)
    for strategy in (strategies.greedy_growth, strategies.low_noise_restart):
        state, _ = walk(strategy, search, state)
    end, _ = walk(strategies.deep_restart, search, state)
    assert end.objective > state.objective + 10.0 and end.beta > 4.0 * state.beta
    noisier = replace(search, policy=Policy(little=1e-9))
    assert walk(strategies.deep_restart, noisier, state) == (state, [])


@pytest.mark.parametrize(("many", "over"), [(240, True), (241, False)])
def test_with_too_many_functions_there_is_nothing_more(many, over, grown):
    search, state = replace(grown[0], policy=Policy(many=many)), grown[1]
    end, _ = walk(strategies.shallow_restart, search, state)
    assert search.over == over
    assert not over or end is state


def test_with_the_noise_given_a_small_model_is_not_searched_further():
    search = Search(stalled(noise=1.0), Policy(), TOL)
    state, _ = walk(strategies.greedy_growth, search, start(search.problem))
    size = state.active.size
    for tiny in (size, size - 1):
        tried = replace(search, policy=Policy(tiny=tiny))
        _, steps = walk(strategies.shallow_restart, tried, state)
        assert tried.over == (tiny == size) == (not steps)


@pytest.mark.sampled
@pytest.mark.parametrize("strategy", [strategies.loose_start, strategies.neighbourhood_search])
def test_the_search_ends_when_it_has_taken_enough_work(strategy, grown):
    search, state = copy.copy(grown[0]), grown[1]
    assert walk(strategy, replace(search, policy=Policy(work=1.0), work=2.0), state) == (state, [])
    all_of_it = replace(search, policy=Policy(work=1e12))
    steps = len(list(all_of_it.counted(strategy(all_of_it, state))))
    least = steps * search.policy.overhead
    assert steps > 0 and all_of_it.work > least
    half = replace(search, policy=Policy(work=0.5 * all_of_it.work))
    fewer = len(list(half.counted(strategy(half, state))))
    assert fewer < steps
    # Small models see all of it, large ones little: work is about S² M.
    large = replace(state, active=np.arange(240), mean=np.zeros(240))
    assert search.cost(large) > search.cost(state) + 200.0**2 * 240


@pytest.mark.slow
def test_where_no_small_change_led_on_none_is_tried_again(grown):
    search, state = replace(grown[0], policy=Policy(work=1e12)), grown[1]
    end, steps = walk(strategies.neighbourhood_search, search, state)
    assert steps and search.searched is end
    assert walk(strategies.neighbourhood_search, search, end) == (end, [])


# Trials


def settled(search, state):
    return walk(lambda *_: settle(search.problem, state, TOL, search.policy), search, state)[0]


def pair_problem():
    """A bump half-way between two functions that stand for it, and one at its place."""
    x = np.linspace(-1.0, 1.0, 80)
    matrix = np.exp(-0.5 * ((x[:, None] - np.array([-0.4, 0.0, 0.4, 0.9])) / 0.3) ** 2)
    target = 3.0 * matrix[:, 1] + 0.1 * np.random.default_rng(0).standard_normal(80)
    return Exact(Dense(matrix), Flat(), Gaussian(target, np.ones(80)))


@pytest.mark.parametrize("prior", [Flat(), Smoothness(2.0), Gamma(1.0, 1.0)], ids=repr)
def test_the_gain_of_a_replacement_is_what_it_gains(prior):
    base = stalled(n_samples=60, gamma=0.05)
    problem = Exact(base.design, prior, base.sites)
    active = np.array([3, 17, 40])
    state = problem.evaluate(active, np.array([0.1, 2.0, 0.5]), 0.2)
    found = best_replacements(problem, state, 10)
    assert 0 < len(found) <= 3
    assert [one.gain for one in found] == sorted((one.gain for one in found), reverse=True)
    for one in found:
        new = one.apply(problem, state)
        assert one.function not in active and new.active.size == 3
        assert new.objective - state.objective == pytest.approx(one.gain, rel=1e-6)
    # No other replacement of the same function gains more, with any precision.
    best = found[0]
    for function in range(0, 61, 5):
        if function not in active:
            for alpha in best.alpha * np.logspace(-3, 3, 7):
                other = replace(best, function=function, alpha=alpha).apply(problem, state)
                assert other.objective - state.objective <= best.gain + 1e-9


def test_no_function_is_replaced_by_one_of_the_model():
    problem = pair_problem()
    everything = problem.evaluate(np.arange(4), np.array([1.0, 0.1, 1.0, 1e-6]), 100.0)
    assert losses(problem, everything).min() < 0.0  # the model is better without one of them
    assert best_replacements(problem, everything, 10, -np.inf) == []


def test_replacements_of_labels_and_of_grouped_weights_are_tried():
    matrix = stalled(n_samples=60, gamma=0.05).design.matrix
    labels = np.where(np.random.default_rng(0).random(60) < 0.5, 1.0, -1.0)
    classes = np.random.default_rng(1).integers(0, 3, 60)
    for sites in (Logit(labels, np.ones(60)), Softmax(classes, np.ones(60), 3)):
        problem = Latent(Dense(matrix), Flat(), sites)
        state = problem.evaluate(np.array([3, 17]), np.array([0.1, 2.0]), problem.beta)
        search = Search(problem, Policy(), TOL)
        end, _ = walk(trials.replaced, search, state)
        assert end.objective > state.objective


def test_one_function_replaces_two():
    problem = pair_problem()
    search = Search(problem, Policy(), TOL)
    state = problem.evaluate(np.array([0, 2]), np.array([0.1, 0.1]), 50.0)
    end, steps = walk(trials.replaced, search, state)
    assert 1 in end.active and end.objective > state.objective + 10.0
    assert not any(step.accepted for step in steps)


def test_a_raised_noise_takes_functions_out_and_is_given_back(grown):
    search, state = copy.copy(grown[0]), grown[1]
    state = settled(search, state)
    end, steps = walk(lambda *s: trials.raised(*s, factor=3.0), search, state)
    assert steps[0].state.beta == pytest.approx(state.beta / 3.0)
    assert steps[0].state.active.size < state.active.size
    assert abs(np.log(end.beta / state.beta)) < np.log(2.0)
    # With the noise given it is the same before and after.
    given = Search(stalled(noise=1.0), Policy(), TOL)
    state, _ = walk(strategies.greedy_growth, given, start(given.problem))
    end, steps = walk(lambda *s: trials.raised(*s, factor=3.0), given, state)
    assert steps[0].state.beta == pytest.approx(1.0 / 3.0) and end.beta == 1.0


def test_every_second_and_third_function_in_the_order_of_what_they_gain(grown):
    search, state = grown
    order = np.argsort(-losses(search.problem, state))
    for step in (2, 3):
        masks = [trials.every(state, search.problem, step, first) for first in range(step)]
        assert np.array_equal(np.sum(masks, axis=0), np.ones(state.active.size))
        assert masks[0][order[0]] and masks[1][order[1]]
    keep = np.arange(state.active.size) != 2
    fall = state.objective - search.problem.shrink(state, keep).objective
    assert losses(search.problem, state)[2] == pytest.approx(fall, rel=1e-8)


@pytest.mark.sampled
@pytest.mark.parametrize("solver", [EM(mackay=True), EM(), Subspace()], ids=repr)
def test_small_problems_see_the_ends_of_the_other_routes(solver):
    problem = stalled(n_samples=100, gamma=0.03)
    search, empty = Search(problem, Policy(idle=(30, 1.0)), TOL), start(problem)
    rng = np.random.default_rng(search.policy.seed)
    route = run(solver, problem, max_iter=9000, tol=TOL, rng=rng).state
    end, steps = walk(lambda *s: trials.route(*s, solver), search, empty)
    assert end.objective == route.objective and np.array_equal(end.active, route.active)
    assert not any(step.accepted for step in steps) and steps[-1].end
    # All of them are tried where that takes little work, which is not that of the search.
    tried, _ = walk(strategies.other_routes, search, empty)
    assert tried.objective >= end.objective and search.work == 0.0
    few = replace(search, policy=Policy(route_work=1e6))
    assert walk(strategies.other_routes, few, empty) == (empty, [])


def test_a_route_that_hardly_takes_functions_out_is_given_up():
    problem = stalled(n_samples=100, gamma=0.03)
    empty = start(problem)
    for share, given_up in ((0.0, True), (1.0, False)):
        search = Search(problem, Policy(idle=(3, share)), TOL)
        end, steps = walk(lambda *s: trials.route(*s, EM()), search, empty)
        assert (end is empty) == given_up == (len(steps) == 4)


def test_the_route_that_draws_at_random_draws_as_with_random_state_zero():
    X = np.random.default_rng(0).normal(size=(60, 2))
    seen = []

    class Drawing(Subspace):
        def climb(self, problem, tol, rng):
            seen.append(rng.random())
            return super().climb(problem, tol, rng)

    RVR(solver=Drawing(), random_state=0, calibrate=None).fit(X, X[:, 0])
    assert seen == [np.random.default_rng(Policy().seed).random()]


# A collapse


def test_a_fit_that_collapses_goes_back_to_a_simpler_end():
    problem = stalled(n_samples=60)
    solver = Sequential()
    passed, state = [], start(problem)
    for step in solver._explore(problem, state, TOL):
        passed += [step.state] * step.accepted
    sane = settled(Search(problem, Policy(), TOL), passed[-1])
    assert not collapsed(problem, sane)
    crowded = spread_variance(problem, np.arange(60))
    crowded = problem.move(crowded, 1e-4 * crowded.alpha, 1e6 * crowded.beta)
    assert collapsed(problem, crowded)
    end, steps = walk(lambda *_: solver._go_back(problem, crowded, passed, TOL), None, None)
    assert not collapsed(problem, end)
    assert steps[-1].back and steps[-1].accepted and steps[-1].state is end
    assert not any(step.accepted for step in steps[:-1])
    # Nothing to go back to: the collapse stays, and the noise will be held.
    assert walk(lambda *_: solver._go_back(problem, crowded, [crowded], TOL), None, None) == (
        crowded,
        [],
    )


# Restarts


@pytest.mark.slow
def test_restarts_never_end_lower_and_follow_the_seed():
    problem = stalled(gamma=0.03)
    ends = [
        run(Sequential(n_restarts=n), problem, max_iter=9000, tol=TOL, rng=np.random.default_rng(s))
        for n, s in ((0, 0), (0, 1), (2, 0), (2, 0), (4, 0), (4, 1))
    ]
    objectives = [end.state.objective for end in ends]
    assert objectives[0] == objectives[1]  # no use of the seed without restarts
    assert objectives[2] == objectives[3] and ends[2].n_iter == ends[3].n_iter > ends[0].n_iter
    assert objectives[0] <= objectives[2] <= objectives[4]
    assert ends[4].n_iter != ends[5].n_iter
    assert max(objectives) > objectives[0] + 0.05
    for end in ends:
        assert np.all(np.diff(end.path) >= 0) and end.path[-1] == end.state.objective
        assert end.stop.converged and not collapsed(problem, end.state)


@pytest.mark.slow
def test_restarts_where_not_all_functions_can_be_held():
    dense = stalled(gamma=0.03)
    matrix = dense.design.matrix
    lazy = Lazy(lambda index: matrix[:, index], matrix.shape, 32 * 240 * 100)
    problem = Exact(lazy, Flat(), dense.sites)
    assert problem.capacity < problem.n_functions
    none, some = (
        run(Sequential(n_restarts=n), problem, max_iter=9000, tol=TOL, rng=np.random.default_rng(0))
        for n in (0, 2)
    )
    assert some.state.objective >= none.state.objective and some.n_iter > none.n_iter
    assert score(dense, some.state).largest <= TOL


@pytest.mark.parametrize("bad", [-1, 1.5])
def test_a_bad_number_of_restarts_is_named(bad):
    with pytest.raises(ValueError, match="n_restarts"):
        Sequential(n_restarts=bad)


def test_a_strategy_that_ends_the_search_is_the_last(monkeypatch):
    called = []

    def strategy(name, over=False):
        def note(search, state):
            called.append(name)
            search.over = over
            return state
            yield

        return note

    listed = (*(strategy(name) for name in "ab"), strategy("c", over=True), strategy("d"))
    monkeypatch.setattr("sparsebayes.engine.solvers.sequential.STRATEGIES", listed)
    run(Sequential(), easy(), max_iter=100, tol=TOL, rng=np.random.default_rng(0))
    assert called == ["a", "b", "c"]


def test_a_policy_limits_the_search():
    usual, short = (
        run(Sequential(p), stalled(), max_iter=5000, tol=TOL, rng=np.random.default_rng(0))
        for p in (Policy(), Policy(many=100, stall=1e9))
    )
    assert short.n_iter < usual.n_iter
    assert short.stop.converged


def test_labels_are_searched_by_the_same_strategies():
    matrix = stalled(n_samples=80).design.matrix
    labels = np.where(np.random.default_rng(0).random(80) < 0.5, 1.0, -1.0)
    search = Search(Latent(Dense(matrix), Flat(), Logit(labels, np.ones(80))), Policy(), TOL)
    state = start(search.problem)
    for strategy in STRATEGIES:
        before = state.objective
        state, _ = walk(strategy, search, state)
        assert state.objective >= before
