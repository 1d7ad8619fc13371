"""Several targets with one precision for each function, against dense algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from sparsebayes._rvm.length_scales import ScaleFamily
from sparsebayes.basis import RBF
from sparsebayes.engine import Dense, Exact, Flat, Gamma, Gaussian, Sequential, run
from sparsebayes.engine.model.posterior import gradient, gradient_and_hessian
from sparsebayes.engine.solvers.candidates import add, score
from sparsebayes.engine.solvers.replacements import best_replacements
from sparsebayes.engine.solvers.scales.process import ProcessModel

N, M, T = 30, 12, 3
ACTIVE = np.array([0, 1, 2, 7, 9])
LEVELS = np.array([0.5, 1.0, 2.0])  # their product is one


def make_problem(prior=None, *, weights=None, noise=None, noise_prior=(0.0, 0.0), copies=False):
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((N, M))
    target = matrix[:, :3] @ rng.standard_normal((3, T)) + 0.3 * rng.standard_normal((N, T))
    if copies:
        target = np.repeat(target[:, :1], T, axis=1)
    weights = np.ones(N) if weights is None else weights
    levels = np.ones(T) if copies else LEVELS
    sites = Gaussian(target / levels, weights, noise, *noise_prior, levels)
    return Exact(Dense(matrix), prior or Flat(), sites)


def make_state(problem, beta=3.0):
    alpha = np.exp(np.random.default_rng(0).standard_normal(ACTIVE.size))
    state = problem.evaluate(ACTIVE, alpha, beta)
    assert state is not None
    return state


def dense_evidence(problem, active, alpha, beta):
    """The sum over the targets, in their own units."""
    sites, columns = problem.sites, problem.design.columns(active)
    cov = np.diag(1.0 / (beta * sites.weights)) + columns / alpha @ columns.T
    levels = np.ones(T) if sites.levels is None else sites.levels
    return sum(
        multivariate_normal(np.zeros(N), level**2 * cov).logpdf(level * target)
        for level, target in zip(levels, sites.target.T, strict=True)
    )


def at(problem, point):
    return problem.evaluate(ACTIVE, np.exp(point[:-1]), float(np.exp(point[-1])))


def differences(function, point, step=1e-5):
    units = step * np.eye(point.size)
    return np.array([(function(point + u) - function(point - u)) / (2 * step) for u in units])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_evidence_is_the_mean_over_the_targets(weighted):
    weights = np.random.default_rng(3).uniform(0.5, 2, N) if weighted else None
    problem = make_problem(weights=weights)
    state = make_state(problem)
    counts = problem.sites.counts
    dense = dense_evidence(problem, ACTIVE, state.alpha, 3.0)
    # A count is an exponent of the density, a precision is not.
    dense -= 0.5 * T * float(np.log(counts).sum() + np.sum(1.0 - counts) * np.log(3.0 / 2 / np.pi))
    assert_allclose(T * state.evidence, dense, rtol=1e-12)


def test_a_gamma_prior_counts_once_and_a_price_for_each_weight(prior):
    state = make_state(make_problem(prior))
    shared = T * (state.objective - state.evidence)
    single = prior.log_density(state)
    assert_allclose(shared, single if prior == Gamma(0.3, 0.5) else T * single, rtol=1e-12)


@pytest.mark.parametrize("noise_prior", [(0.0, 0.0), (4.0, 0.7)])
def test_gradient_and_hessian_match_finite_differences(prior, noise_prior):
    problem = make_problem(prior, noise_prior=noise_prior)
    state = make_state(problem)
    point = np.append(np.log(state.alpha), np.log(state.beta))
    slopes = differences(lambda p: at(problem, p).objective, point)
    bends = differences(lambda p: np.append(*gradient(at(problem, p), problem)), point)
    grad, hess = gradient_and_hessian(state, problem)
    assert_allclose(grad, slopes, atol=1e-6)
    assert_allclose(hess, bends, atol=1e-6)


def test_derivatives_by_the_functions(prior):
    problem = make_problem(prior)
    state = make_state(problem)
    slopes = problem.derivatives(state)[2]
    matrix, step = problem.design.matrix, 1e-5
    for row, place in ((0, 0), (4, 3)):
        moved = []
        for sign in (1, -1):
            other = matrix.copy()
            other[row, ACTIVE[place]] += sign * step
            new = problem.rebase(Dense(other)).evaluate(ACTIVE, state.alpha, state.beta)
            moved.append(new.objective)
        assert_allclose(slopes[row, place], (moved[0] - moved[1]) / (2 * step), atol=1e-6)


def test_a_rotation_says_the_same_as_products():
    problem = make_problem()
    state = make_state(problem)
    turned = problem._by_rotation(ACTIVE, state.alpha, 3.0, state.gram)
    assert_allclose(turned.objective, state.objective, rtol=1e-12)
    assert_allclose(turned.mean, state.mean, rtol=1e-9)
    assert_allclose(turned.residual, problem.residual_energy(state), rtol=1e-9)
    left = problem.sites.target - problem.design.columns(ACTIVE) @ state.mean
    assert_allclose(turned.residual, (left**2).sum() / T, rtol=1e-9)
    one, two = score(problem, state), score(problem, turned)
    assert_allclose(one.gain, two.gain, atol=1e-9)
    assert_allclose(one.q, two.q, rtol=1e-7, atol=1e-8)


def test_gains_are_those_of_the_dense_evidence():
    problem = make_problem()
    state = make_state(problem)
    scores = score(problem, state)
    best = int(np.argmax(scores.gain))
    grown = add(problem, state, scores, np.array([best]), 0.0)
    assert_allclose(grown.objective - state.objective, scores.gain[best], rtol=1e-9)
    before = dense_evidence(problem, ACTIVE, state.alpha, 3.0)
    after = dense_evidence(problem, grown.active, grown.alpha, 3.0)
    assert_allclose(after - before, T * scores.gain[best], rtol=1e-9)


def test_several_additions_in_turn():
    problem = make_problem()
    state = problem.evaluate(ACTIVE[3:], np.ones(2), 3.0)
    scores = score(problem, state)
    grown = add(problem, state, scores, scores.ranked(), 0.01)
    assert grown.active.size >= 5
    assert {0, 1, 2} <= set(grown.active.tolist())


def test_what_a_replacement_gains():
    problem = make_problem()
    state = make_state(problem)
    for one in best_replacements(problem, state, 5, -np.inf):
        new = one.apply(problem, state)
        assert_allclose(new.objective - state.objective, one.gain, atol=1e-8)


def test_copies_of_a_target_are_one(prior):
    problem = make_problem(prior, copies=True)
    sites = Gaussian(problem.sites.target[:, 0], problem.sites.counts)
    single = Exact(problem.design, prior.shared(T), sites)
    one, three = make_state(single), make_state(problem)
    assert_allclose(three.objective, one.objective, rtol=1e-12)
    assert_allclose(three.mean, np.repeat(one.mean[:, None], T, axis=1), rtol=1e-12)
    assert_allclose(score(problem, three).gain, score(single, one).gain, atol=1e-10)


def test_levels_are_where_the_evidence_is_highest():
    problem = make_problem(noise_prior=(2.0, 0.5))
    state = make_state(problem)
    found = problem.revised(state)
    levels = found.sites.levels
    assert_allclose(np.prod(levels), 1.0)
    assert not np.allclose(levels, LEVELS)
    assert_allclose(found.sites.target * levels, problem.sites.target * LEVELS)
    top = found.evaluate(ACTIVE, state.alpha, 3.0).objective
    assert top > state.objective
    for step in ([1.01, 1 / 1.01, 1.0], [1.0, 0.98, 1 / 0.98]):
        near = Gaussian(
            found.sites.target / step, found.sites.counts, None, 2.0, 0.5, levels * step
        )
        other = Exact(problem.design, Flat(), near).evaluate(ACTIVE, state.alpha, 3.0)
        assert other.objective < top


def test_given_levels_and_a_single_target_are_settled():
    assert make_problem().in_turns
    assert not make_problem(noise=0.1).in_turns
    one = Gaussian(np.ones((4, 1)), np.ones(4), None, 0.0, 0.0, np.ones(1))
    assert one.settled


def test_the_process_of_several_targets():
    rng = np.random.default_rng(0)
    X, counts = rng.standard_normal((25, 2)), rng.uniform(0.5, 2.0, 25)
    targets = rng.standard_normal((25, T)) + X[:, :1]
    family = ScaleFamily(RBF(1.3).fit(X, counts), X, counts, 1 << 28, ard=True)
    for noise in (None, 0.1):
        options = noise, 3.0 * (noise is None), 0.2
        sites = Gaussian(targets, counts, *options, np.ones(T))
        model = ProcessModel(sites, family, 25, 2.0)
        point = model.begin(model.family.start, 1e-2) + 0.1
        found = differences(lambda p, model=model: model(p)[0], point)
        assert_allclose(model(point)[1], found, rtol=1e-6, atol=1e-6)
        each = [ProcessModel(Gaussian(z, counts, *options), family, 25, 2.0) for z in targets.T]
        assert_allclose(model(point)[0], np.mean([one(point)[0] for one in each]), rtol=1e-9)
        assert each[0].misfits(point) is None
        assert model.misfits(point).shape == (T,)


@pytest.mark.parametrize("capacity", [6, M])
def test_a_search_among_some_functions_at_a_time(capacity):
    problem = make_problem()
    problem.capacity = capacity
    found = run(Sequential(), problem, max_iter=500, tol=0.01, rng=np.random.default_rng(0))
    assert found.stop.converged
    assert {0, 1, 2} <= set(found.state.active.tolist())
    assert found.state.mean.shape == (found.state.active.size, T)


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_evidences_with_precisions_multiplied_are_those_one_by_one(weighted, targets):
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.5, 2.0, 30) if weighted else np.ones(30)
    target = rng.standard_normal((30, targets)) if targets > 1 else rng.standard_normal(30)
    levels = np.ones(targets) if targets > 1 else None
    sites = Gaussian(target, weights, levels=levels)
    problem = Exact(Dense(rng.standard_normal((30, 12))), Flat(), sites)
    state = problem.evaluate(np.array([1, 4, 7]), np.array([0.5, 1.0, 2.0]), 3.0)
    factors, betas = np.array([1.0, 0.03, 1e-3, 50.0]), np.array([0.1, 1.0, 30.0])
    found = problem.rescaled_evidences(state, factors, betas)
    one_by_one = [
        [problem.move(state, factor * state.alpha, beta).evidence for beta in betas]
        for factor in factors
    ]
    assert_allclose(found, one_by_one, rtol=1e-12)
    empty = problem.evaluate(np.empty(0, dtype=int), np.empty(0), 3.0)
    assert problem.rescaled_evidences(empty, factors, betas) is None
