"""The posterior by orthogonal factors: as by products where these have digits, and where not."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsebayes.engine import Dense, Exact, Flat, Gaussian, Sequential, linalg, run
from sparsebayes.engine.model import exact
from sparsebayes.engine.model.posterior import gradient, gradient_and_hessian
from sparsebayes.engine.model.rotation import LOST, Rotation
from sparsebayes.engine.solvers.candidates import ByDifferences, add, score
from tests.engine.conftest import make_problem
from tests.engine.digits import Digits

ACTIVE = np.array([0, 1, 2, 7, 9])
ALPHA = np.array([0.5, 2.0, 1.0, 3.0, 0.7])
WIDTH, NOISE = 2.0, 1e-6


@pytest.fixture
def always(monkeypatch):
    """Let every state come from a rotation."""
    monkeypatch.setattr(exact, "_UNCERTAIN", -1.0)


def wide_problem(n_samples=24, noise=NOISE, **options):
    """Functions so wide that weights of ten thousands cancel, and next to no noise."""
    x = np.linspace(-2, 2, n_samples)
    matrix = np.exp(-0.5 * (x[:, None] - x) ** 2 / WIDTH**2)
    target = np.sin(2.0 * x) + 1e-3 * np.random.default_rng(0).standard_normal(n_samples)
    weights = np.where(np.arange(n_samples) % 3 == 0, 2.0, 1.0)
    return Exact(Dense(matrix), Flat(), Gaussian(target, weights, noise), **options)


def wide_state(problem, size=10):
    active = np.linspace(0, problem.n_functions - 1, size).astype(int)
    state = problem.evaluate(active, np.full(size, 1e-8), 1.0 / NOISE)
    assert state is not None
    return state


@pytest.fixture(scope="module")
def wide():
    """A problem, a state of it, and the same with many digits."""
    problem = wide_problem()
    state = wide_state(problem)
    return problem, state, Digits(problem, state)


@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_agree_where_there_are_digits(prior, weighted, monkeypatch):
    weights = np.random.default_rng(3).uniform(0.5, 2, 30) if weighted else None
    problem = make_problem(prior, weights=weights)
    usual = problem.evaluate(ACTIVE, ALPHA, 3.0)
    monkeypatch.setattr(exact, "_UNCERTAIN", -1.0)
    other = problem.evaluate(ACTIVE, ALPHA, 3.0)
    assert usual.residual is None and other.residual is not None
    assert_allclose(other.objective, usual.objective, rtol=1e-12)
    assert_allclose(other.mean, usual.mean, rtol=1e-11)
    assert_allclose(other.factor, usual.factor, rtol=1e-11, atol=1e-13)
    assert_allclose(other.root @ other.root.T, usual.cov, rtol=1e-11, atol=1e-15)
    assert_allclose(problem.residual_energy(other), problem.residual_energy(usual), rtol=1e-11)
    for ours, theirs in zip(
        gradient_and_hessian(other, problem), gradient_and_hessian(usual, problem), strict=True
    ):
        assert_allclose(ours, theirs, rtol=1e-8, atol=1e-11)
    assert_allclose(
        problem.derivatives(other)[2], problem.derivatives(usual)[2], rtol=1e-8, atol=1e-12
    )


def test_both_score_alike_and_add_the_same(prior, monkeypatch):
    problem = make_problem(prior)
    usual = problem.evaluate(ACTIVE[:2], ALPHA[:2], 3.0)
    expected = score(problem, usual)
    end = add(problem, usual, expected, expected.ranked()[1:], 0.01)
    assert isinstance(expected.reduced, ByDifferences) and end.active.size > 3
    monkeypatch.setattr(exact, "_UNCERTAIN", -1.0)
    problem.evaluate(ACTIVE[::-1], ALPHA, 3.0)  # so that the coordinates are in another order
    state = problem.evaluate(ACTIVE[:2], ALPHA[:2], 3.0)
    scores = score(problem, state)
    assert not isinstance(scores.reduced, ByDifferences)
    outside = np.setdiff1d(np.arange(problem.n_functions), state.active)
    for name in ("gain", "s", "q", "weight", "scale"):
        ours, theirs = getattr(scores, name), getattr(expected, name)
        assert_allclose(ours[outside], theirs[outside], rtol=1e-9, atol=1e-11, err_msg=name)
    half, expected_half = (some.reduced.reduce(outside)[0] for some in (scores, expected))
    assert_allclose(half, expected_half, rtol=1e-9, atol=1e-11)
    other = add(problem, state, scores, scores.ranked()[1:], 0.01)
    assert_array_equal(other.active, end.active)
    assert_allclose(other.alpha, end.alpha, rtol=1e-9)
    assert_allclose(other.objective, end.objective, rtol=1e-11)


def test_states_stay_precise_when_they_move_grow_and_shrink(always):
    problem = make_problem()
    state = problem.evaluate(ACTIVE, ALPHA, 3.0)
    moved = problem.move(state, 2 * state.alpha, 4.0)
    grown = problem.grow(moved, np.array([4]), np.array([1.5]))
    smaller = problem.shrink(grown, grown.active != 7)
    same = make_problem().evaluate(smaller.active, smaller.alpha, 4.0)
    for found in (moved, grown, smaller):
        assert found.residual is not None
    s, q2 = grown.s_and_q2()
    better = problem.shrink(grown, q2 > s)
    assert 0 < better.active.size < grown.active.size and better.objective > grown.objective
    assert_array_equal(better.cov, linalg.inverse(better.factor))  # not from the larger one
    none = problem.shrink(grown, np.zeros(grown.active.size, dtype=bool))
    expected = problem.evaluate(none.active, none.alpha, 4.0)
    assert none.active.size == 0 and none.objective == expected.objective
    assert_allclose(smaller.objective, same.objective, rtol=1e-12)
    assert_allclose(smaller.cov, same.cov, rtol=1e-10)


def test_evidence_and_posterior_are_right_where_products_have_no_digits(wide, monkeypatch):
    problem, state, digits = wide
    assert state.residual is not None and np.abs(state.mean).max() > 1e4
    constant = problem.sites.log_normaliser(state.beta)
    assert_allclose(state.evidence - constant, digits.evidence(), atol=1e-6)
    assert_allclose(state.mean, digits.mean(), rtol=1e-7)
    monkeypatch.setattr(exact, "_UNCERTAIN", np.inf)
    by_products = problem.evaluate(state.active, state.alpha, state.beta)
    assert by_products.residual is None and abs(by_products.evidence - state.evidence) > 1.0
    residual = problem.sites.target - problem.design.columns(state.active) @ state.mean
    energy = residual @ (problem.sites.weights * residual)
    assert_allclose(problem.residual_energy(state), energy, rtol=1e-9)


def test_functions_that_were_lost_are_scored_right(wide):
    problem, state, digits = wide
    outside = np.setdiff1d(np.arange(problem.n_functions), state.active)[::3]
    exact_s, exact_q = np.transpose([digits.s_and_q(m) for m in outside])
    assert np.all(exact_s < 1e-10 * (problem.norms[outside] * state.beta))
    scores = score(problem, state)
    assert np.any(exact_s > LOST * scores.scale[outside])
    assert_allclose(scores.s[outside], exact_s, rtol=1e-7)
    assert_allclose(scores.q[outside], exact_q, rtol=1e-6)
    one = outside[:1]
    overlaps = scores.reduced.overlaps(outside)
    assert_allclose(overlaps(0)[0, 0], scores.s[one[0]], rtol=1e-9)


def test_variances_of_predictions_are_right_by_the_root(wide):
    problem, state, digits = wide
    x = np.linspace(-2, 2, problem.n_functions)
    rows = np.exp(-0.5 * (np.array([-1.9, 0.13, 1.0])[:, None] - x[state.active]) ** 2 / WIDTH**2)
    expected = [digits.variance(row) for row in rows]
    assert_allclose(((rows @ state.root) ** 2).sum(axis=1), expected, rtol=1e-6)


def test_the_gain_of_an_addition_is_what_the_evidence_gains():
    problem = wide_problem(noise=1e-8)
    state = problem.evaluate(np.array([0, 12, 23]), np.full(3, 1e-5), 1e8)
    for _ in range(3):
        scores = score(problem, state)
        best = scores.ranked()[:1]
        new = add(problem, state, scores, best, 0.01)
        assert_array_equal(new.active[-1:], best)
        assert_allclose(new.objective - state.objective, scores.largest, rtol=1e-6)
        state = new
    assert state.residual is not None
    grad = gradient(state, problem)[0]
    assert_allclose(grad[-1], 0.0, atol=1e-4)  # it came with its optimal α


def test_a_function_refused_for_lack_of_digits_is_looked_at_again():
    problem = wide_problem()
    target = np.random.default_rng(1).standard_normal(24)  # such as leaves the weights small
    problem = Exact(problem.design, Flat(), replace(problem.sites, target=1e-3 * target))
    state = problem.evaluate(np.array([0, 5, 9, 14, 18, 23]), np.full(6, 1e-5), 1e6)
    assert state.residual is None  # it has its digits, but there are no more
    differences = ByDifferences(problem, state)
    refused = differences.reduce(slice(None))[1] <= differences.lost * differences.scale
    refused[state.active] = False
    scores = score(problem, state)
    assert refused.any() and not isinstance(scores.reduced, ByDifferences)
    assert np.all(scores.s[refused] > scores.reduced.lost * scores.scale[refused])


def test_without_memory_for_a_rotation_nothing_changes():
    problem = wide_problem(memory_budget=0)
    active = np.linspace(0, 23, 10).astype(int)
    assert problem.evaluate(active, np.full(active.size, 1e-8), 1e8) is None
    state = problem.evaluate(active[:6], np.full(6, 1e-5), 1e6)
    assert state.residual is None and problem.residuals(state) is None
    scores = score(problem, state)
    assert scores.refused and isinstance(scores.reduced, ByDifferences)
    assert np.all(scores.gain[scores.s <= scores.reduced.lost * scores.scale] == 0)


@pytest.mark.parametrize("at_once", [False, True])
def test_a_rotation_keeps_lengths_and_angles(at_once):
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((20, 9)) * 10.0 ** np.arange(9)
    columns[:, 4] = columns[:, 0] + 1e-9 * columns[:, 1]  # in the span of others
    columns[:, 6] = 0.0
    target = rng.standard_normal(20)
    given, every, before = columns.copy(), np.arange(9), []
    rotation = Rotation(given, target)
    for index in ([0, 1], [6], [4, 2], [0, 8, 5]):
        rotation.include(np.array(index))
        if at_once:  # else all functions follow in the end
            before.append((rotation.size, rotation.rest(every, rotation.size)))
    assert rotation.size == 5  # 4 adds nothing, nor does 6
    rest = rotation.rest(every, rotation.size)
    whole = np.vstack([rotation.coordinates, rest])
    lengths = np.sqrt((columns**2).sum(axis=0))
    allowed = 1e-14 * np.outer(lengths, lengths)
    assert np.all(np.abs(whole.T @ whole - columns.T @ columns) <= allowed)
    assert_allclose(
        rotation.target @ rotation.target + (rotation.target_rest**2).sum(), target @ target
    )
    kept = rest[:, [0, 1, 4, 6, 2, 8, 5]] / np.maximum(lengths[[0, 1, 4, 6, 2, 8, 5]], 1.0)
    assert np.abs(kept).max() < 1e-14
    norms, moments = rotation.rest_products
    assert_allclose(norms, (rest**2).sum(axis=0), rtol=1e-12, atol=1e-12)
    assert_allclose(moments, rotation.target_rest @ rest, rtol=1e-9, atol=1e-6)
    assert_array_equal(given, columns)
    for size, earlier in before:  # still to be had
        assert np.all(np.abs(rotation.rest(every, size) - earlier) <= 1e-14 * lengths)


def test_a_basis_goes_on_orthonormal_with_what_is_nearly_in_its_span():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((20, 4)))[0]
    columns = basis @ rng.standard_normal((4, 3)) + 1e-9 * rng.standard_normal((20, 3))
    columns[:, 2] = columns[:, 0] - columns[:, 1]
    found = linalg.orthonormal(columns, basis)
    whole = np.hstack([basis, found])
    assert found.shape == (20, 2)
    assert_allclose(whole.T @ whole, np.eye(6), atol=1e-14)
    left = columns - whole @ (whole.T @ columns)
    assert_allclose(left, 0.0, atol=1e-14)
    assert linalg.orthonormal(basis[:, :2], basis).shape == (20, 0)


def test_scores_do_not_depend_on_what_the_rotation_has_seen(always, monkeypatch):
    begun = []
    monkeypatch.setattr(exact, "Rotation", lambda *data: begun.append(Rotation(*data)) or begun[-1])
    problem = make_problem(n_samples=300, n_functions=280)
    state = problem.evaluate(ACTIVE, ALPHA, 3.0)
    first = score(problem, state)
    every = np.arange(problem.n_functions)
    assert problem.evaluate(every, np.ones(every.size), 3.0) is not None
    again = score(problem, state)  # in a new rotation, the old one being too large
    assert [rotation.size for rotation in begun] == [280, ACTIVE.size]
    assert_allclose(again.gain, first.gain, rtol=1e-10, atol=1e-12)
    # What was seen before stays as it was.
    index = first.ranked()[:5]
    assert_allclose(first.reduced.overlaps(index)(0), again.reduced.overlaps(index)(0), rtol=1e-10)


def test_a_search_among_wide_functions_finds_what_there_is():
    """Two inputs, next to no noise: products stop at an error ten times as large."""
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, (150, 2)), rng.uniform(-1, 1, (200, 2))

    def truth(X):
        return np.sin(3.0 * X[:, 0]) * np.cos(2.0 * X[:, 1]) + X[:, 0]

    def functions(Z):
        return np.exp(-0.5 * ((Z[:, None] - X) ** 2).sum(axis=2) / 1.5**2)

    target = truth(X) + 1e-3 * rng.standard_normal(150)
    problem = Exact(Dense(functions(X)), Flat(), Gaussian(target, np.ones(150), 1e-6))
    rng = np.random.default_rng(0)
    solution = run(Sequential(), problem, max_iter=1000, tol=0.01, rng=rng)
    assert solution.stop.converged and np.all(np.diff(solution.path) >= 0)
    state = solution.state
    error = functions(new)[:, state.active] @ state.mean - truth(new)
    assert np.sqrt(np.mean(error**2)) < 1e-3


def test_units_of_functions_do_not_change_what_is_rounding():
    x = np.linspace(-2, 2, 24)
    matrix = np.exp(-0.5 * (x[:, None] - x) ** 2 / 4.0**2)
    sizes = []
    for unit in (1.0, 1e-6, 1e6):
        rotation = Rotation(unit * matrix, np.sin(x))
        rotation.include(np.arange(0, 24, 3))
        rotation.include(np.arange(24))
        sizes.append(rotation.size)
    assert sizes == [sizes[0]] * 3 and sizes[0] < 12


def test_what_is_asked_twice_is_found_once_and_never_for_another_state(wide):
    problem, state, _ = wide
    rotation = Rotation(problem.design.matrix, problem.sites.target)
    asked = state.active, state.alpha, state.beta
    first = rotation.factorise(*asked)
    assert rotation.factorise(*asked) is first
    for other in (
        (state.active, 2.0 * state.alpha, state.beta),
        (state.active, state.alpha, 2.0 * state.beta),
        (state.active[::-1].copy(), state.alpha, state.beta),
    ):
        found = rotation.factorise(*other)
        fresh = Rotation(problem.design.matrix, problem.sites.target)
        fresh.include(state.active)
        assert found is not first
        assert_array_equal(found.factor, fresh.factorise(*other).factor)
    again = rotation.factorise(*asked)
    assert again is not first
    assert_array_equal(again.factor, first.factor)
    rotation.include(np.setdiff1d(np.arange(problem.n_functions), state.active)[:2])
    assert rotation.factorise(*asked) is not again
