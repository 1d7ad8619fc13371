"""The sampler of noisy inputs, and the numbers it samples from."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.stats import chisquare, ks_2samp, kstest, multivariate_normal

from sparsebayes.engine.mcmc.hamiltonian import StepSize, effective_sample_size, move, start
from sparsebayes.engine.noisy_gp import (
    InputPosterior,
    Theta,
    invert,
    log_evidence,
    smoothed_kernel,
    smoothed_slopes,
)

THETA = Theta(1.5, np.array([0.8, 1.7]), 0.1)
RNG = np.random.default_rng(0)
SETS = RNG.standard_normal((3, 7, 2))
Y = RNG.standard_normal(7)


def difference(function, at, step=1e-6):
    """The gradient of a function with a float value by central differences."""
    out = np.empty(at.size)
    for i in range(at.size):
        shift = np.zeros(at.size)
        shift[i] = step
        shift = shift.reshape(at.shape)
        out[i] = (function(at + shift) - function(at - shift)) / (2 * step)
    return out.reshape(at.shape)


def covariance(X, theta=THETA):
    squares = ((X[:, None] - X[None]) ** 2 / theta.scales**2).sum(axis=2)
    return theta.amplitude * np.exp(-0.5 * squares) + theta.noise * np.eye(len(X))


def test_log_evidence_is_that_of_the_dense_normal():
    value, _ = log_evidence(SETS, Y, THETA)
    expected = [multivariate_normal(np.zeros(7), covariance(X)).logpdf(Y) for X in SETS]
    np.testing.assert_allclose(value, expected, rtol=1e-8)


def test_slopes_are_finite_differences():
    _, slopes = log_evidence(SETS, Y, THETA)

    def by_theta(logs):
        theta = Theta(np.exp(logs[0]), np.exp(logs[1:3]), np.exp(logs[3]))
        return log_evidence(SETS, Y, theta)[0][1]

    logs = np.log([THETA.amplitude, *THETA.scales, THETA.noise])
    found = [slopes.amplitude[1], *slopes.scales[1], slopes.noise[1]]
    np.testing.assert_allclose(found, difference(by_theta, logs), rtol=1e-6)
    expected = difference(lambda X: log_evidence(X[None], Y, THETA)[0][0], SETS[2])
    np.testing.assert_allclose(slopes.inputs[2], expected, rtol=1e-5, atol=1e-7)


def test_slope_of_the_input_posterior_is_the_finite_difference():
    spread = RNG.uniform(0.0, 1.0, (7, 2))
    posterior = InputPosterior(Y, SETS[0], spread, THETA)
    expected = difference(lambda xi: posterior(xi[None])[0][0], SETS[1])
    np.testing.assert_allclose(posterior(SETS[1:2])[1][0], expected, rtol=1e-5, atol=1e-7)


def test_singular_covariance_is_an_error():
    with pytest.raises(LinAlgError, match="raise the noise"):
        invert(-np.eye(3))


@pytest.mark.parametrize("shared", [True, False])
def test_smoothed_kernel_is_the_mean_of_the_kernel(shared):
    x, z = SETS[0], SETS[1]
    rng = np.random.default_rng(1)
    by_x, by_z = rng.uniform(0.1, 0.5, (2, 1 if shared else 7, 2))
    draws = rng.standard_normal((2, 40_000, 7, 2))
    moved = x + np.sqrt(by_x) * draws[0], z + np.sqrt(by_z) * draws[1]
    found = smoothed_kernel(x, by_x, z, by_z, THETA.amplitude, THETA.scales)
    squares = ((moved[0][:, 2] - moved[1][:, 4]) ** 2 / THETA.scales**2).sum(axis=1)
    values = THETA.amplitude * np.exp(-0.5 * squares)
    error = values.std() / np.sqrt(values.size)
    assert abs(found[2, 4] - values.mean()) < 4 * error < 0.02


def test_smoothed_slopes_are_finite_differences():
    rng = np.random.default_rng(2)
    weights, by_x = rng.standard_normal((7, 7)), rng.uniform(0.1, 0.5, (7, 2))
    x = SETS[0]

    def total(logs):
        widths = by_x * np.exp(logs[2])
        logk = np.log(smoothed_kernel(x, widths, x, widths, 1.0, np.exp(logs[:2])))
        return (weights * logk).sum()

    expected = difference(total, np.append(np.log(THETA.scales), 0.0))
    scales, width = smoothed_slopes(x, by_x, THETA.scales, weights)
    np.testing.assert_allclose([*scales, width], expected, rtol=1e-6)


def test_trajectories_sample_a_correlated_normal():
    cov = np.array([[1.0, 0.8], [0.8, 2.0]])
    precision = np.linalg.inv(cov)
    mean = np.array([1.0, -2.0])

    def density(x):
        away = (x - mean) @ precision
        return -0.5 * (away * (x - mean)).sum(axis=1), -away

    rng = np.random.default_rng(0)
    chains = start(density, np.tile(mean, (4000, 1)))
    rates = []
    for _ in range(12):
        chains, rate = move(density, chains, 0.5, int(rng.integers(2, 6)), rng)
        rates.append(rate.mean())
    value, slope = density(chains.position)
    np.testing.assert_allclose(chains.value, value)
    np.testing.assert_allclose(chains.slope, slope)
    assert 0.85 < np.mean(rates) < 1.0
    np.testing.assert_allclose(chains.position.mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(chains.position.T), cov, atol=0.15)
    white = (chains.position - mean) @ np.linalg.cholesky(precision)
    assert kstest(white[:, 0], "norm").pvalue > 1e-3
    assert kstest(white[:, 1], "norm").pvalue > 1e-3


def test_a_step_into_nowhere_is_refused():
    def density(x):
        inside = np.all(x > 0, axis=1)
        return np.where(inside, 0.0, np.nan), np.zeros_like(x)

    rng = np.random.default_rng(0)
    chains = start(density, np.full((200, 1), 0.1))
    moved, rate = move(density, chains, 1.0, 1, rng)
    assert np.all(moved.position > 0) and 0.3 < rate.mean() < 0.7
    assert np.isfinite(moved.value).all()


@pytest.mark.parametrize("first", [1e-3, 10.0])
def test_step_size_finds_the_acceptance_rate(first):
    def density(x):
        return -0.5 * (x**2).sum(axis=1), -x

    rng = np.random.default_rng(0)
    chains = start(density, rng.standard_normal((8, 30)))
    step = StepSize(first, target=0.7)
    for _ in range(150):
        chains, rate = move(density, chains, step.current, 5, rng)
        step.update(float(rate.mean()))
    rates = []
    for _ in range(50):
        chains, rate = move(density, chains, step.settled, 5, rng)
        rates.append(rate.mean())
    assert abs(np.mean(rates) - 0.7) < 0.1


def joint_draw(rng, centres, spread, theta):
    """Inputs in units of their noise from the prior, and targets given them."""
    xi = rng.standard_normal(centres.shape)
    y = rng.multivariate_normal(np.zeros(len(centres)), covariance(centres + spread * xi, theta))
    return xi, y


CENTRES = np.linspace(-1, 1, 4)[:, None]
SPREAD = np.array([[0.7], [0.0], [1.0], [0.4]])
RANKED = Theta(1.0, np.array([0.7]), 0.05)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["trajectory", "sweep"])
def test_moves_keep_the_joint_distribution(kind):
    """Inputs from the prior and data given them are still that after moves given the data."""
    rng = np.random.default_rng(5)
    before, after = [], []
    for _ in range(400):
        xi, y = joint_draw(rng, CENTRES, SPREAD, RANKED)
        posterior = InputPosterior(y, CENTRES, SPREAD, RANKED)
        before.append(posterior(xi[None])[0][0])
        xi, y = joint_draw(rng, CENTRES, SPREAD, RANKED)
        posterior, at = InputPosterior(y, CENTRES, SPREAD, RANKED), xi[None]
        for _ in range(2):
            if kind == "sweep":
                at = posterior.sweep(at, 3, rng)
            else:
                at = move(posterior, start(posterior, at), 0.5, 3, rng)[0].position
        after.append(posterior(at)[0][0])
    assert ks_2samp(before, after).pvalue > 1e-2


@pytest.mark.slow
def test_ranks_of_the_true_inputs_are_uniform():
    """Among draws given data that were made from them [Talts et al. 2018]."""
    rng = np.random.default_rng(6)
    ranks = []
    for _ in range(120):
        xi, y = joint_draw(rng, CENTRES, SPREAD, RANKED)
        posterior, at, draws = InputPosterior(y, CENTRES, SPREAD, RANKED), xi[None], []
        for turn in range(18):
            at = move(posterior, start(posterior, at), 0.3, 4, rng)[0].position
            at = posterior.sweep(at, 4, rng)
            if turn > 3 and turn % 2:
                draws.append(at[0])
        ranks.append((np.array(draws) < xi).sum(axis=0)[[0, 2, 3], 0])
    for column in np.array(ranks).T:
        assert chisquare(np.bincount(column // 2, minlength=4)).pvalue > 1e-3


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("known", "target", "noise", "lower"),
    [
        (np.linspace(-3, 3, 9), 0.2, 0.01, (0.3, 0.7)),  # seen at ± 1.37: two modes
        (np.array([-0.8, 1.0, 1.2]), 1.6, 0.2, (0.5, 0.9)),  # where little is known
    ],
)
def test_sweep_has_the_posterior_of_one_point(known, target, noise, lower):
    """One uncertain input among known ones: compare with a grid."""
    size = len(known) + 1
    centres = np.append(known, 0.1)[:, None]
    spread = np.zeros((size, 1))
    spread[-1] = 1.2
    y = np.append(np.cos(known), target)
    posterior = InputPosterior(y, centres, spread, Theta(1.0, np.array([1.2]), noise))
    rng = np.random.default_rng(0)
    xi = rng.standard_normal((5000, size, 1))
    for _ in range(10):
        xi = posterior.sweep(xi, 8, rng)
    grid = np.linspace(-4, 4, 2001)
    at = np.zeros((2001, size, 1))
    at[:, -1, 0] = grid
    value, _ = posterior(at)
    cdf = np.cumsum(np.exp(value - value.max()))
    assert lower[0] < np.interp(0.0, grid, cdf / cdf[-1]) < lower[1]
    assert kstest(xi[:, -1, 0], lambda t: np.interp(t, grid, cdf / cdf[-1])).pvalue > 1e-2


def test_prior_is_recovered_from_flat_data():
    rng = np.random.default_rng(0)
    centres, spread = np.linspace(-3, 3, 5)[:, None], np.full((5, 1), 0.7)
    posterior = InputPosterior(np.zeros(5), centres, spread, Theta(1e-6, np.ones(1), 1.0))
    xi = np.full((500, 5, 1), 3.0)
    for _ in range(6):
        xi = move(posterior, start(posterior, xi), 0.3, 5, rng)[0].position
        xi = posterior.sweep(xi, 4, rng)
    for n in range(5):
        assert kstest(xi[:, n, 0], "norm").pvalue > 1e-3
    moved = posterior.inputs(xi)
    np.testing.assert_allclose(moved.mean(axis=0), centres, atol=0.15)


def test_effective_sample_size_of_an_autoregression():
    rng = np.random.default_rng(0)
    draws = np.zeros((8, 2000, 2))
    for t in range(1, 2000):
        draws[:, t] = np.array([0.8, 0.0]) * draws[:, t - 1] + rng.standard_normal((8, 2))
    slow, free = effective_sample_size(draws)
    assert abs(slow - 16_000 / 9) < 300  # (1 + ρ)/(1 − ρ) = 9
    assert 14_000 < free < 18_000


def test_effective_sample_size_of_chains_that_disagree_or_stand_still():
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((4, 100)) + np.arange(4)[:, None] * 5.0
    assert effective_sample_size(draws) < 10
    assert effective_sample_size(np.ones((4, 100))) == 400
    assert effective_sample_size(np.ones((4, 2))) == 4


def test_effective_sample_size_agrees_with_arviz():
    arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(1)
    draws = np.zeros((4, 400))
    for t in range(1, 400):
        draws[:, t] = 0.6 * draws[:, t - 1] + rng.standard_normal(4)
    expected = float(arviz.ess(draws, method="mean"))
    assert abs(float(effective_sample_size(draws)) / expected - 1) < 0.15


def test_effective_sample_size_counts_no_pair_more_than_the_one_before():
    """A season lets correlations rise again while they are still positive."""
    rng = np.random.default_rng(0)
    draws = np.zeros(400)
    for t in range(1, 400):
        draws[t] = 0.95 * draws[t - 1] + rng.standard_normal()
    draws += 2.0 * np.cos(np.pi / 3 * np.arange(400))
    centred = draws - draws.mean()
    lags = np.correlate(centred, centred, "full")[399:] / (centred @ centred)
    lags[1:] -= 1 / 399  # the variance has n − 1 in the denominator
    pairs = lags[0::2] + lags[1::2]
    kept = pairs[: np.argmax(pairs <= 0)]
    assert np.diff(kept).max() > 0.1
    expected = 400 / (2.0 * np.minimum.accumulate(kept).sum() - 1.0)
    np.testing.assert_allclose(effective_sample_size(draws[None]), expected, rtol=1e-9)
    assert expected > 1.1 * 400 / (2.0 * kept.sum() - 1.0)
