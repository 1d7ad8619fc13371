"""The policy of the sequential solver: every number is used, told and compared."""

import copy
import pickle
from dataclasses import fields

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
from sparsebayes.engine.solvers.policy import Effort
from tests.engine.solvers.test_strategies import TOL, easy, stalled


@pytest.mark.slow
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

    solver = Sequential(Recorded(pairs=1e5, level=2e5, most=1e6, products=1e6, dive_share=1e4))
    base = stalled(n_samples=120)
    read.clear()
    problems = [
        base,
        stalled(noise=1.0, n_samples=120),
        stalled(noise=30.0, n_samples=120),
        easy(n_functions=150, n_samples=200, prior=Smoothness(3.0)),
        Tight(base.design, base.prior, base.sites),
        easy(n_functions=120, n_samples=50),
        many_rows(),
        labelled(),
        Exact(Dense(np.exp(-30.0 * np.subtract.outer(np.arange(90.0), np.arange(90.0)) ** 2 / 90)),
              Flat(), Gaussian(np.random.default_rng(0).standard_normal(90), np.ones(90))),
    ]  # fmt: skip
    for problem in problems:
        run(solver, problem, max_iter=5000, tol=TOL, rng=np.random.default_rng(0))
    assert read == names


def labelled():
    """Labels, all of whose functions are searched at once."""
    base = stalled(n_samples=60)
    labels = np.where(np.random.default_rng(0).random(60) < 0.5, 1.0, -1.0)
    return Latent(base.design, Flat(), Logit(labels, np.ones(60)))


def many_rows(n_samples=2000, n_functions=300):
    """Products are formed of some functions at a time."""
    rng = np.random.default_rng(0)
    x, centres = np.sort(rng.uniform(-5, 5, n_samples)), np.linspace(-5, 5, n_functions)
    columns = np.exp(-(np.subtract.outer(x, centres) ** 2))
    target = np.sin(3 * x) + 0.1 * rng.standard_normal(n_samples)
    problem = Exact(Dense(columns), Flat(), Gaussian(target, np.ones(n_samples)))
    problem.design = Dense(columns)
    return problem


def test_at_least_twice_the_model_is_searched():
    problem, solver = many_rows(), Sequential(Policy(products=1.0, pairs=1.0))
    problem.capacity = 100
    active = np.arange(90)
    state = problem.evaluate(active, np.ones(90), 1.0)
    assert solver._room(problem, state) >= 180
    found = run(solver, many_rows(), max_iter=5000, tol=TOL, rng=np.random.default_rng(0))
    whole = run(Sequential(), many_rows(), max_iter=5000, tol=TOL, rng=np.random.default_rng(0))
    assert found.stop.converged
    assert found.state.evidence > whole.state.evidence - 5.0


def test_a_policy_tells_what_differs():
    assert repr(Policy()) == "Policy()" and repr(Sequential()) == "Sequential()"
    assert repr(Sequential(Policy(many=9, thinned=(4,)), 2)) == (
        "Sequential(policy=Policy(many=9, thinned=(4,)), n_restarts=2)"
    )
    again = eval(repr(Sequential(Policy(rough=Effort(2.0)))), {**globals(), "Effort": Effort})
    assert again == Sequential(Policy(rough=Effort(2.0))) != Sequential()
    for solver in (Sequential(), Sequential(Policy(many=9)), Sequential(n_restarts=3)):
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
    for falling in (1e15, Policy().falling):
        policy = Policy(falling=falling, work=0.0, routes=(), far=np.inf)
        rng = np.random.default_rng(0)
        found.append(run(Sequential(policy), problem, max_iter=1000, tol=TOL, rng=rng).state)
    once, again = (state.beta**-0.5 for state in found)
    assert once > 0.01 and again < 1.5e-3
    assert found[1].objective > found[0].objective + 100.0
