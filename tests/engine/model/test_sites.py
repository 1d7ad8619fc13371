"""Likelihoods of labels and residuals: derivatives, weights, extremes, and the evidence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.optimize import minimize, root
from scipy.special import erfcx, expit, log_ndtr, logsumexp
from scipy.stats import norm

from sparsebayes.engine import Dense, Flat, Latent, Logit, Probit, Softmax
from sparsebayes.engine.model.sites import SquaredResiduals
from tests.engine.likelihoods import IndependentLogits, TemperedSoftmax

N, K = 7, 3
KINDS = ["logit", "probit", "prior", "posterior", "softmax", "residuals"]
NEW = ["independent", "tempered"]  # likelihoods that the engine does not know


def make_sites(kind, n_samples=N, weights=None, seed=0):
    """Random labels."""
    rng = np.random.default_rng(seed)
    weights = np.ones(n_samples) if weights is None else weights
    if kind == "softmax":
        return Softmax(rng.permutation(np.arange(n_samples) % K), weights, K)
    if kind == "tempered":
        return TemperedSoftmax(rng.permutation(np.arange(n_samples) % K), weights, K)
    if kind == "independent":
        return IndependentLogits(np.where(rng.random((n_samples, K)) < 0.5, 1.0, -1.0), weights)
    if kind == "residuals":
        return SquaredResiduals(rng.chisquare(2, n_samples), weights, 2)
    signs = np.where(rng.permutation(n_samples) % 2, 1.0, -1.0)
    if kind == "logit":
        return Logit(signs, weights)
    return Probit(signs, weights, "none" if kind == "probit" else kind)


def make_cavity(kind, n_samples=N, seed=5):
    if kind not in ("prior", "posterior"):
        return None
    return np.random.default_rng(seed).permutation(
        np.resize([0.0, 1e-9, 0.1, 1.0, 3.0, 30.0, 1e3], n_samples)
    )


def make_f(sites, scale=1.5, seed=2):
    shape = (sites.weights.size, sites.outputs)
    return scale * np.random.default_rng(seed).standard_normal(shape)


def differences(function, point, step=1e-4):
    """Derivatives by the entries of `point`, in the last axes."""
    columns = []
    for index in np.ndindex(point.shape):
        unit = np.zeros(point.shape)
        unit[index] = step
        columns.append((function(point + unit) - function(point - unit)) / (2 * step))
    return np.stack(columns, axis=-1).reshape(*np.shape(columns[0]), *point.shape)


def blocks(expansion):
    """B of each sample, (N, K, K)."""
    outputs = range(expansion.slope.shape[1])
    return np.stack([expansion.curvature(k) for k in outputs], axis=1)


def dense_curvature(sites, expansion):
    """B as a matrix of (N, K) by (N, K), from products with unit functions."""
    n_samples, outputs = sites.weights.size, sites.outputs
    rows = np.tile(np.eye(n_samples), (outputs, 1))
    output = np.repeat(np.arange(outputs), n_samples)
    dense = np.empty((n_samples, outputs, n_samples, outputs))
    for k in range(outputs):
        weighed = expansion.weigh(rows, output, k)  # (function, sample)
        dense[:, k] = weighed.T.reshape(n_samples, outputs, n_samples).transpose(0, 2, 1)
    return dense


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [0.3, 1.5, 6.0])
@pytest.mark.parametrize("kind", [*KINDS, *NEW])
def test_derivatives_match_finite_differences(kind, scale, weighted):
    weights = np.random.default_rng(1).uniform(0.3, 3.0, N) if weighted else None
    sites, cavity = make_sites(kind, weights=weights), make_cavity(kind)
    f = make_f(sites, scale)
    expansion = sites.expand(f, cavity)
    slope = differences(lambda f: sites.expand(f, cavity).value, f)
    assert_allclose(expansion.slope, slope, rtol=1e-6, atol=1e-7)
    curvature = -differences(lambda f: sites.expand(f, cavity).slope, f)
    assert_allclose(dense_curvature(sites, expansion), curvature, rtol=1e-5, atol=1e-7)
    if cavity is None:
        spread = np.random.default_rng(3).standard_normal((N, sites.outputs, sites.outputs))
        spread = spread + spread.swapaxes(1, 2)
        tilt = differences(lambda f: np.vdot(spread, blocks(sites.expand(f, None))), f)
        assert_allclose(expansion.tilt(spread), tilt, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [*KINDS, *NEW])
def test_the_products_with_the_curvature_agree(kind):
    weights = np.random.default_rng(1).uniform(0.3, 3.0, N)
    sites, cavity = make_sites(kind, weights=weights), make_cavity(kind)
    expansion = sites.expand(make_f(sites), cavity)
    dense = dense_curvature(sites, expansion)
    rng = np.random.default_rng(3)
    rows, output = rng.standard_normal((8, N)), rng.integers(sites.outputs, size=8)
    functions = np.zeros((8, N, sites.outputs))
    functions[np.arange(8), :, output] = rows
    weighed = np.tensordot(functions, dense, 2)  # (function, N, K)
    for k in range(sites.outputs):
        assert_allclose(expansion.weigh(rows, output, k), weighed[:, :, k], rtol=1e-12, atol=1e-14)
    own = dense[np.arange(N), :, np.arange(N)]  # samples do not see each other
    assert_allclose(blocks(expansion), own, rtol=1e-12, atol=1e-15)
    gram = np.tensordot(weighed, functions, ((1, 2), (1, 2)))
    assert_allclose(expansion.gram(rows, output), gram, rtol=1e-11, atol=1e-13)
    matrix = dense.reshape(N * sites.outputs, -1)
    assert_allclose(matrix, matrix.T, atol=1e-14)
    assert np.linalg.eigvalsh(matrix).min() > -1e-12  # concave


def test_a_constant_in_all_outputs_leaves_the_softmax():
    sites = make_sites("softmax")
    expansion = sites.expand(make_f(sites), None)
    assert_allclose(expansion.slope.sum(axis=1), 0.0, atol=1e-14)
    dense = dense_curvature(sites, expansion)
    assert_allclose(dense.sum(axis=3), 0.0, atol=1e-14)


def test_a_softmax_of_two_is_the_logit_of_the_difference():
    rng = np.random.default_rng(0)
    f, labels, weights = rng.standard_normal((N, 2)), np.arange(N) % 2, rng.uniform(0.5, 2, N)
    two = Softmax(labels, weights, 2).expand(f, None)
    one = Logit(2.0 * labels - 1, weights).expand(f[:, 1:] - f[:, :1], None)
    assert_allclose(two.value, one.value)
    assert_allclose(two.slope[:, 1], one.slope[:, 0])
    assert_allclose(two.curvature(1)[:, 1], one.curvature(0)[:, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_two_is_the_sample_twice(kind):
    weights = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    weighted = make_sites(kind, weights=weights)
    rows = np.repeat(np.arange(N), weights.astype(int))
    if kind == "softmax":
        twice = Softmax(weighted.labels[rows], np.ones(rows.size), K)
    elif kind == "logit":
        twice = Logit(weighted.labels[rows], np.ones(rows.size))
    elif kind == "residuals":
        twice = SquaredResiduals(weighted.squares[rows], np.ones(rows.size), 2)
    else:
        twice = Probit(weighted.labels[rows], np.ones(rows.size), weighted.cavity)
    f, cavity = make_f(weighted), make_cavity(kind)
    one = weighted.expand(f, cavity)
    other = twice.expand(f[rows], None if cavity is None else cavity[rows])
    assert_allclose(one.value, other.value)
    assert_allclose(one.normaliser, other.normaliser)
    functions = np.random.default_rng(4).standard_normal((4, N))
    output = np.arange(4) % weighted.outputs
    assert_allclose(one.gram(functions, output), other.gram(functions[:, rows], output))
    assert_allclose(functions @ one.slope, functions[:, rows] @ other.slope, atol=1e-14)


EXTREMES = np.concatenate([s * np.array([0.0, 5.0, 29.9, 30.1, 38.0, 100.0, 1e3]) for s in (1, -1)])


@pytest.mark.parametrize(
    ("kind", "variance"),
    [
        ("logit", None),
        ("probit", None),
        *(("smoothed", variance) for variance in (0.0, 1e-12, 1.0, 100.0, 1e6)),
    ],
)
def test_extreme_margins(kind, variance):
    size = EXTREMES.size
    for label in (1.0, -1.0):
        labels, weights = np.full(size, label), np.ones(size)
        sites = Logit(labels, weights) if kind == "logit" else Probit(labels, weights, "prior")
        cavity = None if variance is None else np.full(size, variance)
        expansion = sites.expand(label * EXTREMES[:, None], cavity)
        tau, curve = label * expansion.slope[:, 0], expansion.curvature(0)[:, 0]
        assert np.isfinite([expansion.value, expansion.normaliser]).all()
        assert np.all(np.isfinite(tau)) and np.all(tau >= 0)
        assert np.all(curve >= 0) and np.all(curve <= 1 + 1e-9)
        order = np.argsort(EXTREMES)
        assert np.all(np.diff(tau[order]) <= 1e-12)
        right, wrong = EXTREMES >= 100, EXTREMES <= -100
        if variance is None or variance <= 100.0:
            assert np.all(tau[right] < 1e-20) and np.all(curve[right] < 1e-20)
        if kind == "logit":
            assert_allclose(tau[wrong], 1.0)
            assert np.all(curve[wrong] < 1e-40)
        else:  # far on the wrong side −f²/2, smoothed or not
            assert_allclose(tau[wrong], -EXTREMES[wrong], rtol=0.01)
            assert_allclose(curve[wrong], 1.0, rtol=0.01)


@pytest.mark.parametrize("f", [-1e3, 1e3])
def test_extreme_values_of_a_softmax(f):
    sites = Softmax(np.array([0, 1, 2]), np.ones(3), 3)
    expansion = sites.expand(np.tile([f, 0.0, 5.0], (3, 1)), None)
    top = max(f, 5.0)
    assert_allclose(expansion.value, sum(v - top for v in (f, 0.0, 5.0)), rtol=1e-4)
    assert np.isfinite(expansion.slope).all()
    gram = expansion.gram(np.ones((3, 3)), np.arange(3))
    assert np.isfinite(gram).all()
    assert np.linalg.eigvalsh(gram).min() > -1e-12
    # π(1 − π) keeps its digits where π is one in rounding
    near = sites.expand(np.tile([40.0, 0.0, 0.0], (3, 1)), None)
    assert_allclose(near.curvature(0)[:, 0], 2 * np.exp(-40.0), rtol=1e-10)


def test_extreme_values_against_asymptotic_series():
    a = -np.array([31.0, 50.0, 200.0, 1e3])
    sites = Probit(np.ones(4), np.ones(4))
    expansion = sites.expand(a[:, None], None)
    assert_allclose(expansion.value, log_ndtr(a).sum(), rtol=1e-12)
    rate = np.sqrt(2 / np.pi) / erfcx(-a / np.sqrt(2))
    assert_allclose(expansion.slope[:, 0], rate, rtol=1e-9)
    assert_allclose(expansion.curvature(0)[:, 0], rate * (a + rate), rtol=1e-8)


@pytest.mark.parametrize("variance", [0.0, 1.0, 1e3, 1e6])
def test_the_curvature_is_the_slope_s_derivative_everywhere(variance):
    f = np.linspace(-60.0, 60.0, 1201) + 1e-3
    sites, cavity = Probit(np.ones(f.size), np.ones(f.size), "prior"), np.full(f.size, variance)
    step = 1e-3
    up, down = (sites.expand((f + e)[:, None], cavity).slope[:, 0] for e in (step, -step))
    curve = sites.expand(f[:, None], cavity).curvature(0)[:, 0]
    assert_allclose(curve, (down - up) / (2 * step), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("variance", [1e-6, 0.5, 4.0, 50.0])
def test_the_smoothed_probit_is_that_of_its_definition(variance):
    """τ = d log Z/dy at ``y = f − Vτ``, and ψ = log Z(y) + Vτ²/2."""
    f = np.linspace(-6, 6, 13)
    sites = Probit(np.ones(13), np.ones(13), "posterior")
    cavity = np.full(13, variance)
    each = [Probit(np.ones(1), np.ones(1), "posterior").expand(np.array([[v]]), cavity[:1])
            for v in f]  # fmt: skip
    expansion = sites.expand(f[:, None], cavity)
    tau = expansion.slope[:, 0]
    y = f - variance * tau

    def log_z(y):
        return norm.logcdf(y / np.sqrt(1 + variance))

    assert_allclose(tau, (log_z(y + 1e-5) - log_z(y - 1e-5)) / 2e-5, rtol=1e-6, atol=1e-9)
    psi = log_z(y) + 0.5 * variance * tau**2
    assert_allclose([e.value for e in each], psi, rtol=1e-9, atol=1e-12)
    normaliser = 0.5 * np.log1p(variance * expansion.curvature(0)[:, 0])
    assert_allclose([e.normaliser for e in each], normaliser, rtol=1e-7, atol=1e-12)
    # The tilted distribution has mean f and variance V/(1 + VΩ).
    grid = np.linspace(-40, 40, 160_001)
    for i in (2, 6, 9):
        tilted = norm.pdf(grid, y[i], np.sqrt(variance)) * norm.cdf(grid)
        if variance > 0.1:
            mass = tilted.sum()
            mean = tilted @ grid / mass
            spread = tilted @ (grid - mean) ** 2 / mass
            assert_allclose(mean, f[i], atol=1e-6)
            omega = expansion.curvature(0)[:, 0][i]
            assert_allclose(spread, variance / (1 + variance * omega), rtol=1e-5)


def test_without_a_cavity_the_smoothed_probit_is_the_probit():
    plain, smooth = make_sites("probit"), make_sites("posterior")
    f = make_f(plain)
    one, other = plain.expand(f, None), smooth.expand(f, np.zeros(N))
    near = smooth.expand(f, np.full(N, 1e-10))
    assert_allclose(one.value, norm.logcdf(plain.labels * f[:, 0]).sum())
    for expansion, rtol in ((other, 1e-13), (near, 1e-8)):
        assert_allclose(expansion.value, one.value, rtol=rtol)
        assert_allclose(expansion.slope, one.slope, rtol=rtol)
        assert_allclose(expansion.curvature(0)[:, 0], one.curvature(0)[:, 0], rtol=rtol)
        assert_allclose(expansion.normaliser, 0.0, atol=1e-8)


# The evidence, against computations that share nothing with the package.


def make_case(kind, n_samples=25, n_functions=5, seed=0, weights=None):
    """A problem, its functions, signs or classes, and precisions."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n_samples, n_functions))
    sites = make_sites(kind, n_samples, weights)
    problem = Latent(Dense(matrix), Flat(), sites)
    alpha = np.exp(rng.standard_normal(n_functions * sites.outputs))
    return problem, matrix, sites, alpha


def log_likelihood(kind, sites, f):
    if kind == "softmax":
        own = f[np.arange(len(f)), sites.labels]
        return sites.weights @ (own - logsumexp(f, axis=1))
    margin = sites.labels * f[:, 0]
    each = -np.log1p(np.exp(-margin)) if kind == "logit" else norm.logcdf(margin)
    return sites.weights @ each


def block_curvature(kind, sites, f):
    """−∇∇ log p as an (NK, NK) matrix, K slowest."""
    w = sites.weights
    if kind == "softmax":
        p = np.exp(f - logsumexp(f, axis=1, keepdims=True))
        blocks = [
            [np.diag(w * ((k == m) * p[:, k] - p[:, k] * p[:, m])) for m in range(K)]
            for k in range(K)
        ]
        return np.block(blocks)
    margin = sites.labels * f[:, 0]
    if kind == "logit":
        return np.diag(w * expit(margin) * expit(-margin))
    ratio = norm.pdf(margin) / norm.cdf(margin)
    return np.diag(w * ratio * (ratio + margin))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["logit", "probit", "softmax"])
def test_the_evidence_is_laplace_s(kind, weighted):
    weights = np.random.default_rng(7).uniform(0.3, 2.5, 25) if weighted else None
    problem, matrix, sites, alpha = make_case(kind, weights=weights)
    outputs = sites.outputs
    state = problem.evaluate(np.arange(alpha.size), alpha, 1.0)

    def f_of(w):
        return matrix @ w.reshape(outputs, -1).T

    def loss(w):
        return 0.5 * alpha @ w**2 - log_likelihood(kind, sites, f_of(w))

    found = minimize(loss, np.zeros(alpha.size), method="BFGS", options={"gtol": 1e-9})
    mode = found.x
    assert_allclose(state.mean, mode, atol=1e-5)
    full = block_diag(*[matrix] * outputs)
    hessian = full.T @ block_curvature(kind, sites, f_of(mode)) @ full + np.diag(alpha)
    expected = -loss(mode) + 0.5 * np.log(alpha).sum() - 0.5 * np.linalg.slogdet(hessian)[1]
    assert_allclose(state.evidence, expected, atol=1e-5)
    assert_allclose(state.cov, np.linalg.inv(hessian), rtol=1e-3, atol=1e-5)


def expectation_propagation(covariance, signs, sweeps=500, tol=1e-12):
    """Rasmussen and Williams (2006), algorithm 3.5; log Z by (3.65), dense."""
    size = signs.size
    nu, tau = np.zeros(size), np.zeros(size)
    sigma, mu = covariance.copy(), np.zeros(size)
    before = np.inf
    for _ in range(sweeps):
        for i in range(size):
            tau_minus = 1 / sigma[i, i] - tau[i]
            nu_minus = mu[i] / sigma[i, i] - nu[i]
            variance, mean = 1 / tau_minus, nu_minus / tau_minus
            z = signs[i] * mean / np.sqrt(1 + variance)
            ratio = np.exp(-0.5 * (z**2 + np.log(2 * np.pi)) - log_ndtr(z))
            new_mean = mean + signs[i] * variance * ratio / np.sqrt(1 + variance)
            new_variance = variance - variance**2 * ratio / (1 + variance) * (z + ratio)
            change = 1 / new_variance - tau_minus - tau[i]
            tau[i] += change
            nu[i] = new_mean / new_variance - nu_minus
            column = sigma[:, i].copy()
            sigma -= change / (1 + change * column[i]) * np.outer(column, column)
            mu = sigma @ nu
        root_tau = np.sqrt(tau)
        inner = np.eye(size) + root_tau[:, None] * covariance * root_tau
        half = np.linalg.solve(np.linalg.cholesky(inner), root_tau[:, None] * covariance)
        sigma = covariance - half.T @ half
        mu = sigma @ nu
        if np.abs(mu - before).max() < tol * (1 + np.abs(mu).max()):
            break
        before = mu
    variances = 1 / (1 / sigma.diagonal() - tau)
    means = variances * (mu / sigma.diagonal() - nu)
    target, noise = nu / tau, 1 / tau
    log_z = norm.logcdf(signs * means / np.sqrt(1 + variances)).sum()
    total = covariance + np.diag(noise)
    log_z += -0.5 * (np.linalg.slogdet(total)[1] + target @ np.linalg.solve(total, target))
    log_z += 0.5 * (np.log(variances + noise) + (means - target) ** 2 / (variances + noise)).sum()
    return log_z, mu, sigma, variances


@pytest.mark.parametrize("seed", range(4))
def test_adaptive_tap_is_expectation_propagation(seed):
    problem, matrix, sites, alpha = make_case("posterior", seed=seed)
    alpha = np.exp(1.5 * np.log(alpha))
    state = problem.evaluate(np.arange(alpha.size), alpha, 1.0)
    log_z, mean, cov, variances = expectation_propagation(matrix / alpha @ matrix.T, sites.labels)
    assert_allclose(state.evidence, log_z, atol=1e-6)
    assert_allclose(matrix @ state.mean, mean, atol=1e-4)  # of V's tolerance the evidence
    assert_allclose(matrix @ state.cov @ matrix.T, cov, rtol=1e-3, atol=1e-4)  # sees the square
    assert_allclose(state.local.cavity, variances, rtol=1e-4)


def test_adaptive_tap_counts_a_weight_of_two_as_the_sample_twice():
    weights = np.where(np.arange(25) % 4 == 0, 2.0, 1.0)
    problem, matrix, sites, alpha = make_case("posterior", weights=weights)
    rows = np.repeat(np.arange(25), weights.astype(int))
    state = problem.evaluate(np.arange(alpha.size), alpha, 1.0)
    covariance = matrix[rows] / alpha @ matrix[rows].T
    log_z, mean, *_ = expectation_propagation(covariance, sites.labels[rows])
    assert_allclose(state.evidence, log_z, atol=1e-6)
    assert_allclose((matrix @ state.mean)[rows], mean, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_naive_mean_field_has_the_same_form_with_the_prior_variance(seed):
    problem, matrix, sites, alpha = make_case("prior", seed=seed)
    state = problem.evaluate(np.arange(alpha.size), alpha, 1.0)
    covariance, signs = matrix / alpha @ matrix.T, sites.labels
    variance = covariance.diagonal()
    width = np.sqrt(1 + variance)

    def residual(tau):  # f = Kτ, y = f − Vτ, τ = t N(z)/(√(1 + V) Φ(tz)), z = y/√(1 + V)
        z = signs * (covariance @ tau - variance * tau) / width
        return tau - signs * np.exp(norm.logpdf(z) - norm.logcdf(z)) / width

    tau = root(residual, np.zeros(25), method="hybr", tol=1e-13).x
    f = covariance @ tau
    assert_allclose(matrix @ state.mean, f, atol=1e-6)
    mean = f - variance * tau
    z = signs * mean / width
    ratio = np.exp(norm.logpdf(z) - norm.logcdf(z))
    precision = 1 / (width**2 / (ratio * (z + ratio)) - variance)
    noise, target = 1 / precision, f + tau / precision
    total = covariance + np.diag(noise)
    log_z = norm.logcdf(z).sum()
    log_z += -0.5 * (np.linalg.slogdet(total)[1] + target @ np.linalg.solve(total, target))
    log_z += 0.5 * (np.log(variance + noise) + (mean - target) ** 2 / (variance + noise)).sum()
    assert_allclose(state.evidence, log_z, atol=1e-6)


@pytest.mark.parametrize("n_functions", [1, 2])
@pytest.mark.parametrize(
    ("kind", "bound"), [("logit", 0.15), ("probit", 0.15), ("posterior", 0.02), ("prior", 1.0)]
)
def test_the_evidence_is_near_the_integral(kind, bound, n_functions):
    problem, matrix, sites, alpha = make_case(kind, n_functions=n_functions, n_samples=12)
    state = problem.evaluate(np.arange(n_functions), alpha, 1.0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    points = np.stack(np.meshgrid(*[nodes] * n_functions), axis=-1).reshape(-1, n_functions)
    mass = np.stack(np.meshgrid(*[weights] * n_functions), axis=-1).reshape(-1, n_functions)
    f = points / np.sqrt(alpha) @ matrix.T
    likelihood = norm.logcdf if kind != "logit" else lambda m: -np.log1p(np.exp(-m))
    logs = likelihood(sites.labels * f).sum(axis=1) + np.log(mass).sum(axis=1)
    exact = logsumexp(logs) - n_functions * 0.5 * np.log(2 * np.pi)
    assert abs(state.evidence - exact) < bound


def test_the_evidence_of_a_softmax_is_near_the_integral():
    problem, matrix, sites, alpha = make_case("softmax", n_functions=1, n_samples=12)
    state = problem.evaluate(np.arange(K), alpha, 1.0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    points = np.stack(np.meshgrid(*[nodes] * K), axis=-1).reshape(-1, K)
    mass = np.stack(np.meshgrid(*[weights] * K), axis=-1).reshape(-1, K)
    f = (points / np.sqrt(alpha))[:, None, :] * matrix
    own = f[:, np.arange(12), sites.labels] - logsumexp(f, axis=2)
    exact = logsumexp(own.sum(axis=1) + np.log(mass).sum(axis=1)) - 1.5 * np.log(2 * np.pi)
    assert abs(state.evidence - exact) < 0.3


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "residuals"])
def test_the_empty_model_guesses(kind):
    problem, _, _sites, _ = make_case(kind)
    state = problem.evaluate(np.empty(0, dtype=int), np.empty(0), 1.0)
    assert_allclose(state.evidence, -25 * np.log(K if kind == "softmax" else 2))
