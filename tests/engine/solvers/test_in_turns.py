"""Searches in turns with what the sites estimate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes.engine import (
    EM,
    Dense,
    Exact,
    Flat,
    Gaussian,
    InTurns,
    Sequential,
    Stop,
    Subspace,
    run,
)
from sparsebayes.engine.model.unequal_noise import Tails
from sparsebayes.engine.solvers import in_turns

SOLVERS = {
    "sequential": Sequential(),
    "em": EM(),
    "mackay": EM(mackay=True),
    "subspace": Subspace(n_add=10),
}


def kernel(n_samples, width=2.0):
    x = np.linspace(-10, 10, n_samples)
    return x, np.exp(-0.5 * (x[:, None] - x) ** 2 / width**2)


def two_targets():
    """One with little noise, one with much."""
    rng = np.random.default_rng(0)
    x, matrix = kernel(60)
    target = np.column_stack([np.sinc(x / np.pi), 5.0 * np.cos(x / 3)])
    target += [0.02, 1.0] * rng.standard_normal((60, 2))
    target -= target.mean(axis=0)
    levels = np.sqrt(np.mean(target**2, axis=0))
    levels /= np.sqrt(levels.prod())
    return Exact(Dense(matrix), Flat(), Gaussian(target / levels, np.ones(60), levels=levels))


def with_outliers():
    rng = np.random.default_rng(0)
    x, matrix = kernel(80)
    target = np.sinc(x / np.pi) + 0.05 * rng.standard_normal(80)
    target[::16] += 2.0
    tails = Tails(np.ones(80), np.where(np.arange(80) % 16 == 0, 1000.0, 1.0), 4.0, True)
    return Exact(Dense(matrix), Flat(), Gaussian(target, np.ones(80), unequal=tails))


def fit(problem, solver, **options):
    rng = np.random.default_rng(0)
    return run(InTurns(solver, **options), problem, max_iter=3000, tol=0.01, rng=rng)


@pytest.mark.sampled
@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("make", [two_targets, with_outliers])
def test_the_path_never_falls_and_ends_where_no_turn_gains(make, solver):
    found = fit(make(), solver)
    assert found.stop.converged
    assert np.diff(found.path).min() >= 0.0
    assert found.problem is not make()
    state = found.state
    again = found.problem.revised(state).evaluate(state.active, state.alpha, state.beta)
    assert -1e-9 <= again.objective - state.objective < 0.011
    held = found.problem.evaluate(state.active, state.alpha, state.beta)
    assert_allclose(held.objective, state.objective)


def test_levels_come_to_the_noise_of_each_target():
    found = fit(two_targets(), Sequential())
    noise = found.problem.sites.levels / np.sqrt(found.state.beta)
    assert_allclose(noise, [0.02, 1.0], rtol=0.25)


def test_outliers_hardly_count():
    found = fit(with_outliers(), Sequential())
    weights = found.problem.sites.weights
    assert weights[::16].max() < 0.05
    assert np.delete(weights, np.s_[::16]).mean() > 0.8


def test_turns_that_do_not_end_are_no_convergence(monkeypatch):
    monkeypatch.setattr(in_turns, "_TURNS", 1)
    found = fit(with_outliers(), Sequential())
    assert found.stop is Stop.MAX_ITER
    assert np.diff(found.path).min() >= 0.0


def test_one_search_or_several():
    once, thrice = (fit(with_outliers(), Sequential(), searches=n) for n in (1, 3))
    assert thrice.state.objective >= once.state.objective - 0.01
    assert thrice.n_iter >= once.n_iter


def test_what_the_solver_needs_is_needed():
    class Wants:
        needs = type("Other", (), {"__abstractmethods__": frozenset({"other_thing"})})

        def climb(self, problem, tol, rng):
            raise AssertionError

    with pytest.raises(TypeError, match="other_thing"):
        fit(two_targets(), Wants())


def test_a_search_that_did_not_converge_is_left_as_it_is():
    problem = two_targets()
    found = run(InTurns(Sequential()), problem, max_iter=1, tol=0.01,
                rng=np.random.default_rng(0))  # fmt: skip
    assert not found.stop.converged
    assert found.problem is problem
