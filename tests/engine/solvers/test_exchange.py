"""Exchanges: the objective never falls, and where functions of two kinds compete it rises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.datasets import make_signal
from sparsebayes.dictionaries import as_dictionary
from sparsebayes.engine import (
    Dense,
    Exact,
    Exchanging,
    Flat,
    Gaussian,
    Policy,
    Sequential,
    Smoothness,
    Stop,
    Swap,
    run,
)
from sparsebayes.engine.solvers import exchange
from sparsebayes.engine.solvers.candidates import score
from sparsebayes.engine.solvers.driver import collapsed

N = 128
TRANSFORM = as_dictionary("haar + thin_plate").bind((N,))
MATRIX = np.stack([TRANSFORM.synthesise(unit) for unit in np.eye(2 * N)], axis=1)
PLACES = np.concatenate([member.places() for member in TRANSFORM.members])

# Without the small changes, which find some of what exchanges find.
PLAIN = Sequential(Policy(work=0.0, routes=()))


def swaps():
    """In the whole signal, its halves and quarters: one kind instead of both."""
    proposals = []
    for pieces in (1, 2, 4):
        for k in range(pieces):
            drop = np.flatnonzero((k <= pieces * PLACES) & (pieces * PLACES < k + 1))
            proposals += [Swap(drop, drop[drop < N]), Swap(drop, drop[drop >= N])]
    return proposals


def problem(seed, *, noise=None, prior=None):
    _, y, _ = make_signal("blocks_sinc", N, snr=7, random_state=seed)
    sites = Gaussian(y - y.mean(), np.ones(N), noise)
    return Exact(Dense(MATRIX), prior or Smoothness(np.log(N)), sites)


def solve(solver, given, max_iter=10_000):
    """The solution, and all steps."""
    steps = []
    solution = run(
        solver,
        given,
        max_iter=max_iter,
        tol=0.01,
        rng=np.random.default_rng(0),
        report=lambda _, step: bool(steps.append(step)),
    )
    return solution, steps


@pytest.fixture(scope="module", params=[(3, None), (3, 0.05)], ids=str)
def pair(request):
    """The sequential solver's end, and that of exchanges."""
    seed, noise = request.param
    given = problem(seed, noise=noise)
    return given, solve(PLAIN, given)[0], *solve(Exchanging(swaps(), PLAIN), given)


@pytest.mark.sampled
def test_a_better_optimum(pair):
    _, before, after, _ = pair
    assert before.stop is after.stop is Stop.CONVERGED
    assert after.state.objective > before.state.objective + 5.0


def test_the_objective_never_falls(pair):
    _, before, after, steps = pair
    assert np.diff(after.path).min() > -1e-9
    assert_allclose(after.path[-1], after.state.objective)
    accepted = [step.state.objective for step in steps if step.accepted]
    assert np.diff(accepted).min() > -1e-9
    assert before.state.objective in after.path  # they begin where the sequential solver ended
    # What an exchange tries on the way leaves no trace: the state is the one before it.
    tried = [step.state.objective for step in steps[before.n_iter :] if not step.accepted]
    assert len(tried) > 10 and set(tried) <= set(after.path)


def test_no_single_step_gains_at_the_end(pair):
    given, _, after, _ = pair
    assert score(given, after.state).largest <= 0.01
    again = given.evaluate(after.state.active, after.state.alpha, after.state.beta)
    assert_allclose(again.objective, after.state.objective)
    assert len(set(after.state.active.tolist())) == after.state.active.size


def test_the_end_is_no_collapse(pair):
    given, _, after, _ = pair
    assert not collapsed(given, after.state)
    assert after.state.active.size < N / 3


@pytest.mark.slow
def test_exchanges_that_collapse_are_refused(monkeypatch):
    # Whatever the evidence is: here every exchange is called a collapse.
    given = problem(3)
    monkeypatch.setattr(exchange, "collapsed", lambda *_: True)
    before = solve(Sequential(), given)[0]
    after = solve(Exchanging(swaps()), given)[0]
    assert_allclose(after.state.objective, before.state.objective, atol=0.01)


@pytest.mark.slow
def test_a_solver_that_did_not_converge_is_left_alone():
    # With the flat prior the noise collapses and is held; exchanges would lose that.
    given = problem(3, prior=Flat())
    before, after = (solve(s, given)[0] for s in (Sequential(), Exchanging(swaps())))
    assert not before.stop.converged and after.stop is before.stop
    assert after.state.objective == before.state.objective
    few = solve(Exchanging(swaps()), problem(3), max_iter=5)[0]
    assert few.stop is Stop.MAX_ITER


@pytest.mark.slow
def test_without_proposals_nothing_changes():
    given = problem(6)
    before, after = (solve(s, given)[0] for s in (Sequential(), Exchanging([])))
    assert_allclose(after.state.objective, before.state.objective, atol=0.01)


@pytest.mark.slow
def test_nothing_of_another_kind_is_nothing_to_do():
    given = problem(6)
    everything = np.arange(2 * N)
    before, after = (
        solve(s, given)[0] for s in (Sequential(), Exchanging([Swap(everything, everything)]))
    )
    assert_allclose(after.state.objective, before.state.objective, atol=0.01)
    assert after.n_iter <= before.n_iter + 2


def test_more_than_can_be_held_is_not_tried():
    given = problem(3)
    state = solve(Sequential(), given)[0].state
    given.capacity = 4
    path = Exchanging(swaps())._exchange(given, state, swaps()[1], 0.3)
    with pytest.raises(StopIteration) as end:
        next(path)
    assert end.value.value is state
