"""The problem with labels: its modes, its moves and its products, against dense algebra."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.engine import Dense, Flat, Gamma, Latent, Lazy, Logit, Probit, Softmax, Trace
from sparsebayes.engine.solvers.candidates import add, score
from sparsebayes.engine.solvers.driver import start
from sparsebayes.engine.solvers.refine import prune
from tests.engine.likelihoods import IndependentLogits
from tests.engine.model.test_sites import expectation_propagation

KINDS = ["logit", "probit", "mean field", "tap", "softmax", "shared"]
ALONE = KINDS[:-1]  # each weight with its own precision
N, M, K = 30, 9, 3


def make_sites(kind, labels, weights=None):
    """Sites for labels 0 … K − 1; of two classes the first against the rest."""
    weights = np.ones(labels.size) if weights is None else weights
    if kind in ("softmax", "shared"):
        return Softmax(labels, weights, int(labels.max()) + 1)
    signs = np.where(labels == 0, 1.0, -1.0)
    if kind == "logit":
        return Logit(signs, weights)
    cavity = {"probit": "none", "mean field": "prior", "tap": "posterior"}[kind]
    return Probit(signs, weights, cavity)


def make_problem(kind, prior=None, *, weighted=True, n_samples=N, n_functions=M, seed=0):
    """Random functions; the first two of them decide the labels, with noise."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n_samples, n_functions))
    score = matrix[:, 0] - matrix[:, 1] + 0.5 * rng.standard_normal(n_samples)
    labels = np.digitize(score, [-0.6, 0.6])
    weights = rng.uniform(0.4, 2.0, n_samples) if weighted else None
    return latent(kind, matrix, labels, weights, prior)


def latent(kind, matrix, labels, weights=None, prior=None):
    sites = make_sites(kind, labels, weights)
    return Latent(Dense(matrix), prior or Flat(), sites, share=kind == "shared")


def weights_of(problem, index):
    """The weights of these functions: one each, or a group."""
    return (index[:, None] * problem.group + np.arange(problem.group)).ravel()


def some_state(problem, count=4, seed=3, spread=1.0):
    rng = np.random.default_rng(seed)
    active = rng.permutation(problem.n_functions)[:count]
    state = problem.evaluate(active, np.exp(spread * rng.standard_normal(count)), 1.0)
    assert state is not None
    return state


def dense_expansion(problem, state):
    """All weights' functions as columns over (K, N), B as a matrix over the same, and τ.

    Weights are numbered by output and then function; where they are grouped, by function first.
    """
    sites = problem.sites
    matrix = problem.design.columns(np.arange(problem.design.shape[1]))
    n_samples, outputs = len(matrix), sites.outputs
    full = np.kron(np.eye(outputs), matrix)
    if problem.group > 1:
        order = np.arange(full.shape[1]).reshape(outputs, -1).T.ravel()
        full = full[:, order]
    weights = weights_of(problem, state.active)
    f = (full[:, weights] @ state.mean).reshape(outputs, n_samples).T
    cavity = state.local.cavity

    def slope(f):
        return sites.expand(f, cavity).slope

    dense = np.zeros((outputs, n_samples, outputs, n_samples))
    for k in range(outputs):  # samples do not see each other: one difference for all
        unit = np.zeros(f.shape)
        unit[:, k] = 1e-4
        change = (slope(f - unit) - slope(f + unit)) / 2e-4
        for m in range(outputs):
            dense[m, np.arange(n_samples), k, np.arange(n_samples)] = change[:, m]
    return full, dense.reshape(outputs * n_samples, -1), slope(f).T.ravel()


def assert_same(state, fresh, rtol=1e-5):
    """Equal as far as Newton's method goes: log|H| sees an error of the mode to first order."""
    assert_array_equal(state.active, fresh.active)
    assert_array_equal(state.alpha, fresh.alpha)
    assert_allclose(state.objective, fresh.objective, rtol=0, atol=1e-5)
    scale = np.abs(fresh.mean).max(initial=0.0) + np.sqrt(fresh.cov.diagonal().max(initial=0.0))
    assert_allclose(state.mean, fresh.mean, rtol=0, atol=rtol * scale)
    assert_allclose(state.cov, fresh.cov, rtol=0, atol=rtol * np.abs(fresh.cov).max(initial=0.0))
    assert_allclose(state.gram, fresh.gram, rtol=0, atol=rtol * np.abs(fresh.gram).max(initial=0.0))


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


# The mode


def residual(problem, state):
    """The gradient of the log posterior by the active weights, relative to its terms."""
    full, _, slope = dense_expansion(problem, state)
    columns = full[:, weights_of(problem, state.active)]
    push, pull = columns.T @ slope, state.precisions * state.mean
    size = np.abs(columns).T @ np.abs(slope) + np.abs(pull)
    return np.abs(push - pull) / size


def test_the_mode_is_stationary(kind):
    problem = make_problem(kind)
    for count in (1, 3, M):
        state = some_state(problem, count)
        assert residual(problem, state).max() < 1e-6


def test_the_covariance_is_the_inverse_hessian(kind):
    problem = make_problem(kind)
    state = some_state(problem)
    full, dense, _ = dense_expansion(problem, state)
    columns = full[:, weights_of(problem, state.active)]
    gram = columns.T @ dense @ columns
    assert_allclose(state.gram, gram, rtol=1e-5, atol=1e-6)
    hessian = gram + np.diag(state.precisions)
    assert_allclose(state.cov @ hessian, np.eye(len(gram)), atol=1e-5)
    determined = 1 - state.precisions * np.linalg.inv(hessian).diagonal()
    assert_allclose(state.determined, determined.reshape(-1, problem.group).mean(1), rtol=1e-4)
    assert_allclose(state.n_determined, determined.sum(), rtol=1e-4)


@pytest.mark.parametrize("alpha", [1e-8, 1e-3, 1.0, 1e3, 1e8])
def test_separable_classes_have_a_mode(kind, alpha):
    rng = np.random.default_rng(0)
    matrix = np.column_stack([np.ones(N), rng.standard_normal((N, 2))])
    several = kind in ("softmax", "shared")
    labels = np.digitize(matrix[:, 1], [-0.5, 0.5] if several else [0.0])
    problem = latent(kind, matrix, labels)
    active = np.arange(problem.n_functions)
    state = problem.evaluate(active, np.full(active.size, alpha), 1.0)
    assert state is not None
    assert np.isfinite(state.mean).all() and np.isfinite(state.evidence)
    assert residual(problem, state).max() < 1e-4
    assert np.all(state.cov.diagonal() > 0)


@pytest.mark.parametrize("alpha", [1e-6, 1.0])
def test_one_of_a_thousand_has_a_mode(kind, alpha):
    rng = np.random.default_rng(0)
    matrix = np.column_stack([np.ones(1000), rng.standard_normal((1000, 2))])
    labels = np.zeros(1000, dtype=int)
    labels[0] = 1
    problem = latent(kind, matrix, labels)
    active = np.arange(problem.n_functions)
    state = problem.evaluate(active, np.full(active.size, alpha), 1.0)
    assert state is not None
    assert residual(problem, state).max() < 1e-4


@pytest.mark.parametrize("distance", [1.0, 30.0, 1e3])
def test_newton_comes_back_from_far_away(kind, distance):
    problem = make_problem(kind)
    state = some_state(problem)
    rng = np.random.default_rng(1)
    far = replace(state, mean=state.mean + distance * rng.standard_normal(state.mean.size))
    back = problem.move(far, state.alpha, 1.0)
    assert back is not None
    assert_same(back, state)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tap"])
def test_a_power_of_the_likelihood_is_a_weight(kind):
    # Not with a cavity: a power of the likelihood leaves another one than repeated samples.
    problem = make_problem(kind, weighted=False)
    state = some_state(problem)
    warm = problem.move(state, state.alpha, 10.0)
    sites = replace(problem.sites, weights=np.full(N, 10.0))
    share = problem.group > 1
    weighted = Latent(problem.design, Flat(), sites, share=share)
    weighted = weighted.evaluate(state.active, state.alpha, 1.0)
    assert_allclose(warm.mean, weighted.mean, rtol=1e-6, atol=1e-8)
    assert_allclose(warm.cov, weighted.cov, rtol=1e-6, atol=1e-8)


# Moves


def test_moves_equal_a_fresh_evaluation(kind):
    problem = make_problem(kind)
    state = some_state(problem)
    rng = np.random.default_rng(4)
    for factor in (1e-4, 0.3, 3.0, 1e4):
        alpha = factor * state.alpha * np.exp(rng.standard_normal(state.alpha.size))
        moved = problem.move(state, alpha, 1.0)
        assert_same(moved, problem.evaluate(state.active, alpha, 1.0))


def test_growing_equals_a_fresh_evaluation(kind):
    problem = make_problem(kind)
    state = some_state(problem)
    others = np.setdiff1d(np.arange(problem.n_functions), state.active)
    for chosen in (others[:1], others[-1:], others[[3, 0, 2]]):
        alpha = np.linspace(0.5, 2.0, chosen.size)
        grown = problem.grow(state, chosen, alpha)
        fresh = problem.evaluate(
            np.append(state.active, chosen), np.append(state.alpha, alpha), 1.0
        )
        assert_same(grown, fresh)
    from_nothing = problem.grow(start(problem), others[:2], np.ones(2))
    assert_same(from_nothing, problem.evaluate(others[:2], np.ones(2), 1.0))


def test_shrinking_equals_a_fresh_evaluation(kind):
    problem = make_problem(kind)
    state = some_state(problem, 5)
    for keep in ([0, 1, 1, 1, 1], [1, 0, 1, 0, 1], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1], [0] * 5):
        mask = np.array(keep, dtype=bool)
        smaller = problem.shrink(state, mask)
        assert_same(smaller, problem.evaluate(state.active[mask], state.alpha[mask], 1.0))


def test_moves_leave_the_state_as_it_was(kind):
    problem = make_problem(kind)
    state = some_state(problem)
    before = [a.copy() for a in (state.mean, state.alpha, state.gram, state.cov)]
    problem.move(state, 2 * state.alpha, 1.0)
    others = np.setdiff1d(np.arange(problem.n_functions), state.active)
    problem.grow(state, others[:2], np.ones(2))
    problem.shrink(state, np.arange(state.active.size) > 0)
    score(problem, state)
    after = (state.mean, state.alpha, state.gram, state.cov)
    for one, other in zip(before, after, strict=True):
        assert_array_equal(one, other)


def test_the_cavity_leaves_the_sample_out():
    problem = make_problem("tap", weighted=False)
    state = some_state(problem)
    columns = problem.design.matrix[:, state.active]
    curve = state.local.expansion.curvature(0)[:, 0]
    for n in (0, 7, 20):
        rest = np.delete(np.arange(N), n)
        hessian = columns[rest].T @ (curve[rest, None] * columns[rest]) + np.diag(state.alpha)
        without = columns[n] @ np.linalg.solve(hessian, columns[n])
        assert_allclose(state.local.cavity[n], without, rtol=1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize("alpha", [1.0, 0.1, 0.01, 1e-4])
def test_adaptive_tap_converges_on_separable_classes(alpha):
    x = np.random.default_rng(0).uniform(-3, 3, size=(60, 1))
    problem = latent("tap", x, np.where(x[:, 0] > 0, 0, 1))
    state = problem.evaluate(np.array([0]), np.array([alpha]), 1.0)
    assert state is not None
    log_z, mean, *_ = expectation_propagation(x / alpha @ x.T, problem.sites.labels)
    assert_allclose(state.evidence, log_z, atol=1e-5)
    assert_allclose(x @ state.mean, mean, rtol=1e-4)


def test_the_naive_cavity_is_the_prior_s():
    problem = make_problem("mean field")
    state = some_state(problem)
    columns = problem.design.matrix[:, state.active]
    assert_allclose(state.local.cavity, (columns**2 / state.alpha).sum(axis=1))
    moved = problem.move(state, 3 * state.alpha, 1.0)
    assert_allclose(moved.local.cavity, state.local.cavity / 3)


# What solvers ask


def test_products_of_candidates_are_those_of_dense_matrices(kind):
    problem = make_problem(kind)
    for count in (0, 4):
        state = some_state(problem, count)
        seen = problem.candidate_products(state)
        full, dense, slope = dense_expansion(problem, state)
        assert_allclose(seen.scale, np.einsum("nm,nm->m", full, dense @ full), rtol=1e-5)
        assert_allclose(seen.q, full.T @ slope, rtol=1e-7, atol=1e-8)
        own = weights_of(problem, state.active)
        rows = full[:, own].T @ dense @ full
        assert seen.rows(slice(None)).shape == (own.size, full.shape[1])
        assert_allclose(seen.rows(slice(None)), rows, rtol=1e-5, atol=1e-6)
        assert_allclose(seen.rows(own), state.gram, rtol=1e-9, atol=1e-11)


def test_a_restricted_problem_sees_the_same(kind):
    problem = make_problem(kind)
    rng = np.random.default_rng(8)
    index = rng.permutation(problem.n_functions)[: problem.n_functions // 2 + 2]
    part = problem.restrict(index)
    assert part.n_functions == part.capacity == index.size
    assert_allclose(part.norms, problem.norms[index])
    inner = some_state(part)
    outer = problem.evaluate(index[inner.active], inner.alpha, 1.0)
    assert_allclose(inner.objective, outer.objective, atol=1e-5)
    assert_allclose(inner.mean, outer.mean, rtol=1e-5, atol=1e-6)
    ours, theirs = part.candidate_products(inner), problem.candidate_products(outer)
    weights = weights_of(problem, index)
    assert_allclose(ours.scale, theirs.scale[weights], rtol=1e-5)
    assert_allclose(ours.q, theirs.q[weights], rtol=1e-5, atol=1e-6)
    assert_allclose(ours.rows(slice(None)), theirs.rows(weights), rtol=1e-5, atol=1e-6)
    ours, theirs = score(part, inner), score(problem, outer)
    assert_allclose(ours.gain, theirs.gain[index], rtol=1e-4, atol=1e-5)
    # Moves of the restricted problem, and a restriction of the restriction.
    others = np.setdiff1d(np.arange(index.size), inner.active)[:2]
    grown = part.grow(inner, others, np.ones(2))
    assert_same(grown, part.evaluate(grown.active, grown.alpha, 1.0))
    twice = part.restrict(inner.active[::-1].copy())
    again = twice.evaluate(np.arange(inner.active.size), inner.alpha[::-1].copy(), 1.0)
    assert_allclose(again.objective, inner.objective, atol=1e-5)


def test_overlaps_are_products_in_the_metric_of_the_state(kind):
    problem = make_problem(kind)
    state = some_state(problem)
    full, dense, _ = dense_expansion(problem, state)
    expected = full.T @ dense @ full
    index = np.random.default_rng(1).permutation(problem.n_functions)[:7]
    overlap = problem.overlaps(state, index)
    for i in range(index.size):
        block = np.ix_(weights_of(problem, index[i : i + 1]), weights_of(problem, index))
        assert_allclose(overlap(i), expected[block], rtol=1e-5, atol=1e-6)
    part = problem.restrict(np.sort(index))
    inner = part.evaluate(np.arange(3), np.ones(3), 1.0)
    outer = problem.evaluate(np.sort(index)[:3], np.ones(3), 1.0)
    ours = part.overlaps(inner, np.array([5, 2, 4]))
    theirs = problem.overlaps(outer, np.sort(index)[[5, 2, 4]])
    for i in range(3):
        assert_allclose(ours(i), theirs(i), rtol=1e-5, atol=1e-6)


def test_a_lazy_design_gives_the_same(kind):
    problem = make_problem(kind)
    matrix = problem.design.matrix
    lazy = Latent(
        Lazy(lambda index: matrix[:, index], matrix.shape, 16 * 8 * N * 2),
        Flat(),
        problem.sites,
        share=problem.group > 1,
    )
    state = some_state(problem)
    assert_same(lazy.evaluate(state.active, state.alpha, 1.0), state)
    one, other = problem.candidate_products(state), lazy.candidate_products(state)
    assert_allclose(one.rows(slice(None)), other.rows(slice(None)), rtol=1e-10, atol=1e-12)
    assert_allclose(one.scale, other.scale, rtol=1e-12)
    assert_allclose(lazy.norms, problem.norms, rtol=1e-12)


def test_repeated_functions_are_found(kind):
    problem = make_problem(kind)
    assert_array_equal(problem.distinct(), np.arange(problem.n_functions))
    matrix = problem.design.matrix.copy()
    matrix[:, 5] = matrix[:, 2]
    matrix[:, 7] = matrix[:, 0]
    twice = Latent(Dense(matrix), Flat(), problem.sites, share=problem.group > 1)
    design = np.setdiff1d(np.arange(M), [5, 7])
    expected = np.concatenate([k * M + design for k in range(problem.n_functions // M)])
    assert_array_equal(twice.distinct(), expected)  # in every output, and not across outputs
    some = np.array([2, 5, 1, 7])
    assert_array_equal(twice.restrict(some).distinct(), [0, 2, 3])


def test_two_equal_functions_with_tiny_precisions_are_no_state_or_a_finite_one(kind):
    problem = make_problem(kind)
    state = problem.evaluate(np.array([0, 0]), np.full(2, 1e-30), 1e20)
    assert state is None or np.isfinite(state.objective)


# Priors and gains


def dense_trace(problem, state):
    full, dense, _ = dense_expansion(problem, state)
    columns = full[:, weights_of(problem, state.active)]
    hessian = columns.T @ dense @ columns + np.diag(state.precisions)
    return np.trace(columns @ np.linalg.inv(hessian) @ columns.T @ dense)


def test_the_trace_prior_counts_effective_parameters(kind):
    problem = make_problem(kind, Trace(1.7))
    state = some_state(problem)
    expected = -1.7 * dense_trace(problem, state)
    assert_allclose(problem.group * problem.prior.log_density(state), expected, rtol=1e-5)
    assert_allclose(state.objective, state.evidence + expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ALONE)
def test_the_trace_prior_s_weight_leaves_the_function_out(kind):
    """u = ‖B^-½ C⁻¹ φ‖² with C that of the other functions: ``φᵀC⁻¹B⁻¹C⁻¹φ``."""
    problem = make_problem(kind, Trace(1.7))
    state = some_state(problem)
    full, dense, _ = dense_expansion(problem, state)
    weight = problem.prior.weight(state)
    for i in range(state.active.size):
        rest = np.delete(np.arange(state.active.size), i)
        columns, own = full[:, state.active[rest]], full[:, state.active[i]]
        hessian = columns.T @ dense @ columns + np.diag(state.alpha[rest])
        # C⁻¹φ = Bφ − BΦΣΦᵀBφ = B(φ − ΦΣΦᵀBφ)
        left = own - columns @ np.linalg.solve(hessian, columns.T @ dense @ own)
        assert_allclose(weight[i], left @ dense @ left, rtol=1e-4)


def frozen(state, problem, active, alpha):
    """log evidence and trace with B held where `state` has it: a Gaussian model of z = f + B⁻τ."""
    full, dense, slope = dense_expansion(problem, state)
    columns = full[:, active]
    f = full[:, state.active] @ state.mean
    hessian = columns.T @ dense @ columns + np.diag(alpha)
    moment = columns.T @ (dense @ f + slope)
    value = 0.5 * (
        np.log(alpha).sum()
        - np.linalg.slogdet(hessian)[1]
        + moment @ np.linalg.solve(hessian, moment)
    )
    trace = np.trace(np.linalg.solve(hessian, columns.T @ dense @ columns))
    return value, trace


@pytest.mark.parametrize("prior", [Flat(), Trace(0.4), Gamma(0.3, 0.5)], ids=str)
@pytest.mark.parametrize("kind", ALONE)
def test_a_gain_is_what_the_objective_rises_with_the_curvature_held(kind, prior):
    problem = make_problem(kind, prior)
    state = some_state(problem, 3)
    scores = score(problem, state)
    assert np.all(scores.gain[state.active] == 0)
    able = np.flatnonzero(scores.gain > 0)
    assert able.size >= 1
    before, trace_before = frozen(state, problem, state.active, state.alpha)
    for m in able:
        one = slice(m, m + 1)
        alpha = prior.optimum(scores.s[one], scores.q[one] ** 2, scores.weight[one])
        after, trace = frozen(
            state, problem, np.append(state.active, m), np.append(state.alpha, alpha)
        )
        rise = after - before - (prior.price or 0.0) * (trace - trace_before)
        if isinstance(prior, Gamma):
            rise += prior.derivatives(alpha, np.ones(1))[0][0]
        assert_allclose(scores.gain[m], rise, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("prior", [Flat(), Trace(1.0), Gamma(0.3, 0.5)], ids=str)
def test_additions_and_deletions_never_lower_the_objective(kind, prior):
    problem = make_problem(kind, prior)
    state = start(problem)
    for _ in range(3):
        scores = score(problem, state)
        new = add(problem, state, scores, scores.ranked(), 1e-3)
        assert new.objective >= state.objective
        if new is not state:
            assert_same(new, problem.evaluate(new.active, new.alpha, new.beta))
        state = prune(problem, new)
        assert state.objective >= new.objective
    assert state.active.size >= 1
    every = problem.evaluate(np.arange(problem.n_functions), np.ones(problem.n_functions), 1.0)
    pruned = prune(problem, every)
    assert pruned.objective >= every.objective
    assert_same(pruned, problem.evaluate(pruned.active, pruned.alpha, 1.0))


def test_the_empty_model_has_no_covariance(kind):
    problem = make_problem(kind)
    state = start(problem)
    assert state.cov.shape == (0, 0) and state.active.size == 0
    assert np.isfinite(state.objective)
    assert_allclose(problem.n_samples, problem.sites.weights.sum())


@pytest.mark.parametrize("prior", [Flat(), Trace(1.0), Gamma(0.3, 0.5)], ids=str)
def test_independent_outputs_are_models_of_their_own(prior):
    rng = np.random.default_rng(2)
    matrix, weights = rng.standard_normal((N, M)), rng.uniform(0.4, 2.0, N)
    labels = np.where(rng.random((N, 2)) < 0.5, 1.0, -1.0)
    both = Latent(Dense(matrix), prior, IndependentLogits(labels, weights))
    each = [Latent(Dense(matrix), prior, Logit(labels[:, k], weights)) for k in range(2)]
    active, alpha = np.array([1, 4, 7]), np.array([0.5, 1.0, 2.0])
    state = both.evaluate(np.append(active, M + active), np.append(alpha, 3 * alpha), 1.0)
    parts = [p.evaluate(active, a, 1.0) for p, a in zip(each, (alpha, 3 * alpha), strict=True)]
    assert_allclose(state.objective, sum(part.objective for part in parts), rtol=1e-9)
    gains = [score(p, part).gain for p, part in zip(each, parts, strict=True)]
    assert_allclose(score(both, state).gain, np.concatenate(gains), rtol=1e-6, atol=1e-9)
