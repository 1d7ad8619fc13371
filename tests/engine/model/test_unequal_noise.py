"""Samples that are not equally noisy: Student's t, and log variances that are modelled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import gamma, multivariate_normal, t

from sparsebayes.engine import Dense, Exact, Flat, Gaussian
from sparsebayes.engine.model.unequal_noise import (
    Given,
    Tails,
    Varying,
    likeliest_nu,
    log_density,
    log_likelihood,
)

RNG = np.random.default_rng(0)
COUNTS = np.array([1.0, 2.0, 1.0, 0.5])
SQUARES = np.array([0.1, 1.0, 30.0, 2.0])


def problem_with(unequal, n_targets=1):
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((40, 5))
    target = matrix[:, :2] @ rng.standard_normal((2, n_targets))
    target += 0.1 * rng.standard_normal(target.shape)
    target[::10] += 3.0
    levels = np.ones(n_targets) if n_targets > 1 else None
    target = target if n_targets > 1 else target[:, 0]
    sites = Gaussian(target, np.ones(40), None, 0.0, 0.0, levels, unequal)
    return Exact(Dense(matrix), Flat(), sites)


def tails(n_samples=40, nu=4.0, n_targets=1, *, estimate=False):
    return Tails(np.ones(n_samples), np.zeros(n_samples), nu, estimate, n_targets)


@pytest.mark.parametrize("nu", [1.0, 3.0, 50.0])
def test_the_density_is_student_s(nu):
    residual = np.linspace(-5, 5, 11)
    found = log_density(nu, residual**2, 1) - 0.5 * np.log(2 * np.pi)
    assert_allclose(found, t(nu).logpdf(residual), rtol=1e-10)


@pytest.mark.parametrize("n_targets", [1, 3])
def test_precisions_and_constant_are_those_of_the_variational_bound(n_targets):
    """``E log p(z|u) + E log p(u) − E log q(u)`` by quadrature, without what β brings."""
    nu = 3.0
    found = Tails(COUNTS, SQUARES, nu, False, n_targets)
    total = 0.0
    for count, square in zip(COUNTS, SQUARES, strict=True):
        q = gamma(0.5 * (nu + n_targets), scale=2.0 / (nu + square))
        prior = gamma(0.5 * nu, scale=2.0 / nu)

        def inside(u, q=q, prior=prior, square=square):
            data = 0.5 * n_targets * np.log(u) - 0.5 * u * square
            return q.pdf(u) * (data + prior.logpdf(u) - q.logpdf(u))

        ends = q.ppf([1e-12, 1 - 1e-12])
        total += count * quad(inside, *ends, limit=200)[0]
    gaussian = -0.5 * float(COUNTS @ (found.precisions * SQUARES))
    assert_allclose(found.constant + gaussian, total, rtol=1e-6)
    assert_allclose(found.precisions[0], (nu + n_targets) / (nu + 0.1))


def test_many_degrees_of_freedom_are_normal():
    normal = Tails(COUNTS, SQUARES, np.inf, False)
    assert_allclose(normal.precisions, 1.0)
    assert normal.constant == 0.0
    nearly = Tails(COUNTS, SQUARES, 1e7, False)
    assert_allclose(nearly.precisions, 1.0, atol=1e-5)
    assert_allclose(nearly.constant, 0.0, atol=1e-4)


@pytest.mark.parametrize("n_targets", [1, 3])
def test_a_revision_never_lowers_the_objective(n_targets):
    problem = problem_with(tails(n_targets=n_targets, estimate=True), n_targets)
    active, alpha, beta = np.arange(5), np.ones(5), 2.0
    values = []
    for _ in range(8):
        state = problem.evaluate(active, alpha, beta)
        values.append(state.objective)
        problem = problem.revised(state)
    assert np.all(np.diff(values) > -1e-10)
    assert values[-1] > values[0] + 1.0
    weights = problem.sites.weights
    assert weights[::10].max() < 0.5 * np.delete(weights, np.s_[::10]).min()


def test_the_bound_is_below_the_evidence():
    """That of one sample with one function, by quadrature over its weight."""
    sites = Gaussian(np.array([2.0]), np.ones(1), None, unequal=tails(1, 3.0))
    problem = Exact(Dense(np.ones((1, 1))), Flat(), sites)
    for _ in range(20):
        state = problem.evaluate(np.array([0]), np.ones(1), 4.0)
        problem = problem.revised(state)

    def inside(w):
        return t(3.0, loc=w, scale=0.5).pdf(2.0) * np.exp(-0.5 * w * w) / np.sqrt(2 * np.pi)

    exact = np.log(quad(inside, -8, 8)[0])
    assert exact - 0.5 < state.evidence < exact


def test_degrees_of_freedom_are_found():
    for nu in (3.0, 8.0):
        squares = t(nu).rvs(20_000, random_state=0) ** 2
        assert_allclose(likeliest_nu(np.ones(20_000), squares, 1, 4.0), nu, rtol=0.1)
    normal = RNG.standard_normal(2000) ** 2
    assert likeliest_nu(np.ones(2000), normal, 1, 4.0) == np.inf


def test_some_of_the_samples():
    part = Tails(COUNTS, SQUARES, 3.0, True).rows(np.array([2, 0]))
    assert_allclose(part.precisions, Tails(COUNTS, SQUARES, 3.0, True).precisions[[2, 0]])
    sites = problem_with(tails()).sites.rows(slice(None, None, 2))
    assert sites.target.shape == sites.weights.shape == (20,)


@pytest.mark.parametrize("n_targets", [1, 3])
def test_given_precisions_are_those_of_a_dense_covariance(n_targets):
    precisions = np.random.default_rng(5).uniform(0.2, 3.0, 40)
    given = Given(precisions, np.ones(40), n_targets)
    assert given.settled
    problem = problem_with(given, n_targets)
    alpha, beta = np.full(5, 0.7), 2.0
    state = problem.evaluate(np.arange(5), alpha, beta)
    columns = problem.design.matrix
    cov = np.diag(1.0 / (beta * precisions)) + columns / alpha @ columns.T
    targets = problem.sites.target.reshape(40, -1).T
    dense = [multivariate_normal(np.zeros(40), cov).logpdf(z) for z in targets]
    assert_allclose(state.evidence, np.mean(dense), rtol=1e-10)


class Levels:
    """The log variance of two halves of the samples."""

    def __init__(self, log_variance, log_prior=0.0, next_one=None):
        self.log_variance, self.log_prior, self.next_one = log_variance, log_prior, next_one

    def refitted(self, counts, squares, n_targets):
        return self.next_one


def test_log_variances_change_only_where_they_gain():
    counts, squares = np.ones(4), np.array([0.1, 0.1, 9.0, 9.0])
    good = Levels(np.log([0.1, 0.1, 9.0, 9.0]), -0.5)
    dear = Levels(np.log([0.1, 0.1, 9.0, 9.0]), -50.0)
    for other, taken in ((good, True), (dear, False)):
        first = Levels(np.zeros(4), next_one=other)
        found = Varying(first, counts).revised(counts, squares, 1)
        assert (found.model is other) == taken
    assert_allclose(Varying(good, counts).precisions, 1.0 / np.array([0.1, 0.1, 9.0, 9.0]))
    value = log_likelihood(good.log_variance, counts, squares, 1)
    density = sum(np.log(2 * np.pi) / 2 + multivariate_normal(0, v).logpdf(np.sqrt(v))
                  for v in squares)  # fmt: skip
    assert_allclose(value, density)
