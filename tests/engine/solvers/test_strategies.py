"""The strategies of the sequential solver, one by one, and the policy that they follow."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from sparsebayes.engine import (
    Dense,
    Exact,
    Flat,
    Gaussian,
    Latent,
    Logit,
    Policy,
    Sequential,
    Smoothness,
    run,
)
from sparsebayes.engine.solvers import strategies
from sparsebayes.engine.solvers.driver import collapsed, start
from sparsebayes.engine.solvers.policy import Effort
from sparsebayes.engine.solvers.strategies import STRATEGIES, Search, shared_precision_model

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
    assert search.reach > better.active.size / 2
    assert [step.accepted for step in steps] == [False] * (len(steps) - 1) + [True]
    assert max(step.state.beta for step in steps) > 5.0 * state.beta  # the noise was held low


@pytest.mark.parametrize("strategy", STRATEGIES[2:], ids=lambda s: s.__name__)
def test_no_strategy_gives_up_what_was_reached(strategy, grown):
    search, state = replace(grown[0], reach=100), grown[1]
    end, steps = walk(strategy, search, state)
    assert end.objective >= state.objective
    assert not collapsed(search.problem, end)
    accepted = [step.state for step in steps if step.accepted]
    assert (end is state) == (not accepted)
    assert end is state or end is accepted[-1]


def test_a_collapse_is_refused(grown, monkeypatch):
    search, state = copy.copy(grown[0]), grown[1]
    monkeypatch.setattr(strategies, "collapsed", lambda problem, state: True)
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


def test_with_the_noise_estimated_there_is_no_shared_precision(grown):
    search, state = copy.copy(grown[0]), grown[1]
    assert walk(strategies.shared_precision_start, search, state) == (state, [])
    assert not search.over


def test_only_a_stall_is_escaped(grown):
    search, state = copy.copy(grown[0]), grown[1]
    no_stall = replace(search, policy=Policy(stall=240.0 / state.active.size))
    assert walk(strategies.escape_a_stall, no_stall, state) == (state, [])
    end, _ = walk(strategies.escape_a_stall, search, state)
    assert end.objective > state.objective + 20.0 and search.reach > 0


@pytest.mark.parametrize(
    ("reach", "policy", "over"),
    [
        (24, Policy(), True),
        (25, Policy(), False),
        (100, Policy(many=240), True),
        (100, Policy(many=241), False),
    ],
)
def test_when_there_is_nothing_more_to_look_for(reach, policy, over, grown):
    search, state = replace(grown[0], reach=reach, policy=policy), grown[1]
    end, _ = walk(strategies.shallow_restart, search, state)
    assert search.over == over
    assert not over or end is state


def test_starts_from_all_and_repeated_restarts_are_for_small_models(grown):
    search, state = grown
    size = state.active.size
    for strategy, policy in (
        (strategies.all_functions_at_once, Policy(few=240)),
        (strategies.all_functions_at_once, Policy(small=size - 1)),
        (strategies.repeated_restarts, Policy(small=size - 1)),
    ):
        assert walk(strategy, replace(search, policy=policy), state) == (state, [])
    assert walk(strategies.all_functions_at_once, search, state)[1]


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


# The policy


def test_every_number_of_the_policy_is_used():
    names = {field.name for field in fields(Policy)}
    read = set()

    class Recorded(Policy):
        def __getattribute__(self, name):
            if name in names:
                read.add(name)
            return super().__getattribute__(name)

    class Tight(Exact):
        def _set_design(self, design):
            super()._set_design(design)
            self.capacity = 100

    solver = Sequential(Recorded())
    base = stalled(n_samples=120)
    read.clear()
    problems = [
        base,
        stalled(noise=1.0, n_samples=120),
        easy(n_functions=150, n_samples=200, prior=Smoothness(3.0)),
        Tight(base.design, base.prior, base.sites),
        Exact(Dense(np.exp(-30.0 * np.subtract.outer(np.arange(90.0), np.arange(90.0)) ** 2 / 90)),
              Flat(), Gaussian(np.random.default_rng(0).standard_normal(90), np.ones(90))),
    ]  # fmt: skip
    for problem in problems:
        run(solver, problem, max_iter=5000, tol=TOL, rng=np.random.default_rng(0))
    assert read == names


def test_a_policy_tells_what_differs():
    assert repr(Policy()) == "Policy()" and repr(Sequential()) == "Sequential()"
    assert repr(Sequential(Policy(many=9, depths=(0.5,)))) == (
        "Sequential(policy=Policy(depths=(0.5,), many=9))"
    )
    again = eval(repr(Sequential(Policy(rough=Effort(2.0)))), {**globals(), "Effort": Effort})
    assert again == Sequential(Policy(rough=Effort(2.0))) != Sequential()
    for solver in (Sequential(), Sequential(Policy(many=9))):
        assert pickle.loads(pickle.dumps(solver)) == solver == copy.deepcopy(solver)
        assert hash(solver) == hash(copy.deepcopy(solver))


@pytest.mark.parametrize(("tol", "threshold"), [(1e-4, 0.03), (0.01, 0.03), (0.016, 0.04),
                                                (0.03, 0.05), (0.2, 0.2)])  # fmt: skip
def test_ends_of_restarts_are_refined_within_bounds(tol, threshold):
    assert Policy().coarse_effort(tol).threshold == pytest.approx(threshold)


def test_growth_begins_rough_with_plenty_to_choose_from():
    policy = Policy()
    assert policy.first_effort(129) is policy.rough
    assert policy.first_effort(128) is policy.credible


def test_restarts_go_on_while_the_noise_falls():
    """With next to no noise and wide functions, one restart does not find it all."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (150, 2))
    target = np.sin(3.0 * X[:, 0]) * np.cos(2.0 * X[:, 1]) + X[:, 1]
    target += 1e-3 * rng.standard_normal(150)
    matrix = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    problem = Exact(Dense(matrix), Flat(), Gaussian(target, np.ones(150)))
    found = []
    for policy in (Policy(falling=np.inf), Policy()):
        rng = np.random.default_rng(0)
        found.append(run(Sequential(policy), problem, max_iter=1000, tol=TOL, rng=rng).state)
    once, again = (state.beta**-0.5 for state in found)
    assert once > 0.01 and again < 1.5e-3
    assert found[1].objective > found[0].objective + 100.0
