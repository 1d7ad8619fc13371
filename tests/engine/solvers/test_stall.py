"""Ends that look final and are stalls: functions chosen blindly tell."""

import numpy as np
import pytest

from sparsebayes.engine import (
    EM,
    Dense,
    Exact,
    Flat,
    Gamma,
    Gaussian,
    Latent,
    Lazy,
    Policy,
    Sequential,
    Smoothness,
    Softmax,
    Stop,
    Trace,
    run,
)
from sparsebayes.engine.solvers import strategies, trials
from sparsebayes.engine.solvers.driver import start
from sparsebayes.engine.solvers.strategies import blind_model
from sparsebayes.engine.solvers.trials import Search
from tests.engine.solvers.test_strategies import easy, walk

TOL = 0.01
UNAWARE = Sequential(Policy(far=np.inf, second_rows=0))


def kernel(x, width):
    squared = ((x[:, None] - x) ** 2).sum(axis=-1)
    return np.column_stack([np.ones(len(x)), np.exp(-0.5 * squared / width**2)])


def sizes_and_shapes(prior=None):
    """Four classes whose shapes differ little while their sizes vary much: no function helps alone.

    The crabs of Campbell and Mahon are of this kind.
    """
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 4
    shape = np.column_stack([np.ones(4), [0.1, -0.1, 0.1, -0.1], [-0.1, -0.1, 0.1, 0.1]])
    x = rng.uniform(1, 3, 80)[:, None] * shape[labels]
    x = x @ np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    x += 0.15 * rng.standard_normal((80, 3))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return Latent(Dense(kernel(x, 1.5**0.5)), prior or Flat(), Softmax(labels, np.ones(80), 4))


def disc(prior, lazy=False):
    """Labels ±1 inside and outside of a circle, some of them wrong, and a kernel that is wide."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((120, 2))
    target = np.where((x**2).sum(axis=1) < 1.4, 1.0, -1.0)
    target *= np.where(rng.random(120) < 0.05, -1.0, 1.0)
    matrix = kernel(x, 8.0)
    design = Dense(matrix)
    if lazy:
        design = Lazy(lambda index: matrix[:, index], matrix.shape, 32 * 120 * 100)
    return Exact(design, prior, Gaussian(target - target.mean(), np.ones(120)))


def fit(solver, problem):
    return run(solver, problem, max_iter=5000, tol=TOL, rng=np.random.default_rng(0))


@pytest.mark.slow
def test_a_softmax_does_not_stall():
    problem = sizes_and_shapes()
    found, before = fit(Sequential(), problem), fit(UNAWARE, problem)
    assert found.stop is Stop.CONVERGED and np.all(np.diff(found.path) >= 0)
    assert found.state.objective > before.state.objective + 10.0
    assert found.state.objective > fit(EM(mackay=True), problem).state.objective - 2.0


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("brief", [False, True])
def test_an_end_without_functions_is_left_where_several_gain(brief, lazy):
    found = fit(Sequential(brief=brief), disc(Smoothness(1.0), lazy))
    before = fit(UNAWARE, disc(Smoothness(1.0), lazy))
    assert before.state.active.size == 0 < found.state.active.size
    assert found.stop is Stop.CONVERGED and np.all(np.diff(found.path) >= 0)
    assert found.state.objective > before.state.objective + 20.0


def test_an_end_without_functions_stays_where_there_is_nothing():
    problem = disc(Smoothness(1.0))
    target = np.random.default_rng(0).permutation(problem.sites.target)
    empty = Exact(problem.design, problem.prior, Gaussian(target, np.ones(120)))
    found = fit(Sequential(), empty)
    assert found.state.active.size == 0 and found.stop is Stop.CONVERGED


def test_functions_chosen_blindly_leave_no_trace_where_growth_has_not_stalled():
    problem = easy(noise=0.01)
    state = fit(UNAWARE, problem).state
    for several in (8, 96):  # too few, and all of them
        policy = Policy(several=several)
        end, steps = walk(lambda *_, p=policy: blind_model(problem, state, p, TOL), None, state)
        assert (end is state) == (several == 8) and steps
        assert not any(step.accepted for step in steps)
    found = fit(Sequential(), problem).state
    assert found.objective == state.objective and np.array_equal(found.active, state.active)


def test_updates_that_lead_nowhere_are_given_up():
    problem = sizes_and_shapes()
    first = strategies.best_shared_precision(problem, np.arange(96), Policy(), 1.0)
    count = {}
    for target in (-np.inf, 1e3):
        path = trials.hopeful(Search(problem, Policy(), TOL), first, target)
        count[target] = len(list(path))
    assert 0 < count[1e3] < count[-np.inf]


def test_a_small_model_of_labels_is_searched_further_only_after_a_stall():
    problem = sizes_and_shapes()
    state = fit(UNAWARE, problem).state
    assert state.active.size <= Policy().tiny
    for stalled in (False, True):
        search = Search(problem, Policy(), TOL, stalled=stalled)
        walk(strategies.shallow_restart, search, state)
        assert search.over != stalled
    end, _ = walk(strategies.other_routes, search, state)
    assert search.over and end.objective > state.objective + 10.0  # they are all there is


@pytest.mark.parametrize("prior", [Smoothness(2.0), Gamma(1.0, 1.0)], ids=repr)
def test_without_a_charge_the_objective_is_the_evidence(prior):
    problem = disc(prior)
    free = problem.uncharged()
    state = problem.evaluate(np.array([0, 5, 9]), np.full(3, 2.0), 1.0)
    other = free.evaluate(state.active, state.alpha, state.beta)
    assert other.objective == other.evidence == pytest.approx(state.evidence)
    assert state.objective != state.evidence and problem.prior is prior
    labels = sizes_and_shapes(Trace(2.0))
    state = labels.uncharged().evaluate(np.array([0, 5]), np.ones(2), 1.0)
    assert state.objective == state.evidence
    assert start(labels.uncharged()).objective == start(labels).objective
