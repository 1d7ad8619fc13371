"""What S08 says of its smoothness prior (2.6, 2.8.1, A.3, A.4, A.6), checked by numbers.

The thesis has β for our g, and columns of unit norm.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.fft import idct
from scipy.optimize import brentq
from scipy.stats import ortho_group

from sparsebayes import RVR
from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness, likelihood_gain
from tests.sweeps import thinned

# Offsets in log α from the middle of what matters, and a step of 0.01.
GRID = np.arange(-25.0, 25.0, 0.01)[:, None]


def cases(n=1000, seed=0):
    """s, q², g and c over many orders of magnitude; the likelihood alone keeps some and not others.

    In a model s ≤ g; the theory does not need it.
    """
    rng = np.random.default_rng(seed)
    s = 10.0 ** rng.uniform(-6, 6, n)
    q2 = s * 10.0 ** rng.uniform(-1, 4, n)
    g = s * 10.0 ** rng.uniform(-1, 3, n)
    return s, q2, g, rng.choice([0.01, 0.1, 0.5, 1.0, 3.0, 7.0, 20.0, 100.0], n)


def each(method, c, *arguments):
    """A method of `Smoothness` with the c of each case; arguments are (n,) or (K, n)."""
    values = np.empty(arguments[0].shape)
    for ci in np.unique(c):
        these = [argument[..., c == ci] for argument in arguments]
        values[..., c == ci] = getattr(Smoothness(ci), method)(*these)
    return values


def cubic(s, q2, g, c):
    """Coefficients of P, the highest power first.  # S08 (A.11)-(A.14)"""
    return np.array(
        [
            s - q2 + 2 * c * g,
            2 * s * g + s**2 - 2 * g * q2 + 4 * s * g * c,
            s * g**2 + 2 * g * s**2 - g**2 * q2 + 2 * s**2 * c * g,
            s**2 * g**2,
        ]
    )


def terms(coefficients, alpha):
    return coefficients * alpha ** np.arange(3, -1, -1)[:, None]


@pytest.fixture(scope="module")
def landscape():
    """Cases, log α on a grid (K, n), ``ℓ + f`` there, and where it has inner maxima and minima."""
    s, q2, g, c = cases()
    log_alpha = 0.5 * np.log(s * g) + GRID
    alpha = np.exp(log_alpha)
    values = each("gain", c, alpha, s, q2, g)
    # A difference that rounding may have made is no rise and no fall.
    size = q2 / (alpha + s) + np.log1p(s / alpha) + c * g / (g + alpha)
    rise = np.diff(values, axis=0)
    trend = np.where(np.abs(rise) > 1e-14 * size[1:], np.sign(rise), 0)
    turns = [_turns(column) for column in trend.T]
    return s, q2, g, c, log_alpha, values, turns


def _turns(trend):
    """Places of the inner maxima and of the inner minima."""
    there = np.flatnonzero(trend)
    change = np.diff(trend[there])
    return there[1:][change < 0], there[1:][change > 0]


@pytest.mark.slow
def test_there_is_at_most_one_finite_maximum(landscape):
    *_, turns = landscape
    for maxima, minima in turns:
        assert len(maxima) <= 1
        assert len(minima) <= len(maxima)


def test_no_three_positive_roots():
    # A.4.2 concludes this from two functions that meet only once, but both rise. Descartes' rule
    # shows it: the signs of P would have to alternate, and they never do.
    coefficients = cubic(*cases(200_000, seed=1))
    alternate = np.all(np.sign(coefficients[1:]) == -np.sign(coefficients[:-1]), axis=0)
    assert np.any(coefficients[0] < 0) and not np.any(alternate)


def test_optimum_is_the_maximum_on_the_grid(landscape):
    s, q2, g, c, log_alpha, values, turns = landscape
    alpha = each("optimum", c, s, q2, g)
    gain = each("best_gain", c, s, q2, g)
    inside = 0
    for i, (maxima, _) in enumerate(turns):
        assert_allclose(gain[i], max(values[:, i].max(), 0.0), rtol=1e-3, atol=1e-12)
        if not len(maxima):
            assert np.isinf(alpha[i])
        elif gain[i] > 0:
            assert abs(np.log(alpha[i]) - log_alpha[maxima[0], i]) < 0.03
            inside += 1
    assert 300 < inside < 800


def test_optimum_is_the_maximum_below_zero_too(landscape):
    s, q2, g, c, log_alpha, _, turns = landscape
    alpha, gain = each("optimum", c, s, q2, g), each("best_gain", c, s, q2, g)
    for i, (maxima, _) in enumerate(turns):
        if len(maxima) and gain[i] == 0:
            assert abs(np.log(alpha[i]) - log_alpha[maxima[0], i]) < 0.03


def test_the_optimum_is_never_less_sparse_than_the_flat_priors():
    s, q2, g, c = cases()
    flat = Flat().optimum(s, q2, g)
    alpha = each("optimum", c, s, q2, g)
    assert np.all(alpha[np.isfinite(flat)] > flat[np.isfinite(flat)])
    assert np.all(np.isinf(alpha[np.isinf(flat)]))
    assert np.isinf(flat).sum() > 100


def test_the_four_cases_of_figure_2_11_occur(landscape):
    s, q2, g, c, _, values, turns = landscape
    flat = Flat().optimum(s, q2, g)
    alpha, gain = each("optimum", c, s, q2, g), each("best_gain", c, s, q2, g)
    found = dict.fromkeys(["nulled", "single", "double above", "double below"], 0)
    for i in np.flatnonzero(np.isfinite(flat)):
        maxima, minima = turns[i]
        if not len(maxima):
            found["nulled"] += 1
            assert np.isinf(alpha[i]) and gain[i] == 0
        elif not len(minima):
            found["single"] += 1
            assert np.isfinite(alpha[i]) and gain[i] > 0
        elif values[maxima[0], i] > 0:
            found["double above"] += 1
            assert np.isfinite(alpha[i]) and gain[i] > 0
        else:
            found["double below"] += 1
            assert gain[i] == 0
    assert min(found.values()) >= 10, found


def test_the_sign_of_b3_tells_the_side_of_the_asymptote():
    s, q2, g, c = cases()
    far = 1e9 * np.maximum(np.maximum(s, g), q2)
    b3 = cubic(s, q2, g, c)[0]
    clear = np.abs(b3) > 1e-6 * (s + q2 + 2 * c * g)
    assert_array_equal(np.sign(each("gain", c, far, s, q2, g))[clear], -np.sign(b3)[clear])


def test_the_optimum_is_a_root_of_the_cubic():
    s, q2, g, c = cases()
    alpha = each("optimum", c, s, q2, g)
    some = np.isfinite(alpha)
    parts = terms(cubic(s, q2, g, c)[:, some], alpha[some])
    assert some.sum() > 300
    assert np.all(np.abs(parts.sum(axis=0)) < 1e-11 * np.abs(parts).sum(axis=0))
    # The smallest positive one: that is the maximum.
    for i in np.flatnonzero(some)[:200]:
        roots = np.roots(cubic(s[i] / g[i], q2[i] / g[i], 1.0, c[i]))
        positive = roots.real[(np.abs(roots.imag) < 1e-6 * np.abs(roots)) & (roots.real > 0)]
        assert_allclose(alpha[i] / g[i], positive.min(), rtol=1e-4)


def test_the_cubic_is_the_numerator_of_the_gradient():
    # S08 (2.81), (2.82), against central differences of the prior's own gain.
    s, q2, g, c = cases(300)
    alpha = s * 10.0 ** np.random.default_rng(2).uniform(-1.5, 1.5, 300)
    step = 1e-4 * alpha
    up, down = (each("gain", c, alpha + e, s, q2, g) for e in (step, -step))
    parts = terms(cubic(s, q2, g, c), alpha)
    below = 2 * alpha * (alpha + s) ** 2 * (alpha + g) ** 2
    error = np.abs((up - down) / (2 * step) - parts.sum(axis=0) / below)
    assert np.all(error < 1e-6 * np.abs(parts).sum(axis=0) / below)


def _regression(seed=0):
    """Bumps of different widths, some of which make the targets."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-10, 10, 60)
    distance = np.abs(x[:, None] - x)
    columns = np.column_stack([np.exp(-((distance / width) ** 2)) for width in (0.8, 3.0)])
    y = columns[:, [10, 35, 70, 100]] @ [1.0, -1.5, 2.0, 1.0]
    return columns, y + 0.3 * rng.standard_normal(60)


@pytest.mark.sampled
@pytest.mark.parametrize("k", thinned([1e-5, 0.3, 20.0, 1e6]))
@pytest.mark.parametrize("noise", [0.09, "estimate"])
def test_scale_invariance(k, noise):
    # S08 A.3. Its (A.9) adds 2M log k; log|C| gives −N log k.
    columns, y = _regression()
    scaled_noise = noise if noise == "estimate" else k**2 * noise
    parts = {"basis": "precomputed", "prior": "bic", "adapt": None, "bias": False}
    one = RVR(noise=noise, **parts).fit(columns, y)
    other = RVR(noise=scaled_noise, **parts).fit(columns, k * y)
    assert 3 <= one.relevance_.size <= 20
    assert_array_equal(other.relevance_, one.relevance_)
    assert_allclose(other.alpha_ * k**2, one.alpha_, rtol=1e-6)
    assert_allclose(other.weights_ / k, one.weights_, rtol=1e-6)
    assert_allclose(other.noise_variance_ / k**2, one.noise_variance_, rtol=1e-6)
    assert_allclose(other.log_evidence_ + len(y) * np.log(k), one.log_evidence_, rtol=1e-9)


def test_the_gamma_prior_is_not_scale_invariant():
    columns, y = _regression()
    parts = {"basis": "precomputed", "prior": Gamma(0.5, 0.5), "adapt": None, "bias": False}
    one, other = (RVR(noise=0.09 * k**2, **parts).fit(columns, k * y) for k in (1.0, 20.0))
    assert one.relevance_.size != other.relevance_.size


def slope(alpha, s, q2):
    """The derivative of ℓ with respect to α itself.  # S08 (2.81)"""
    return 0.5 * (1 / alpha - 1 / (alpha + s) - q2 / (alpha + s) ** 2)


def test_the_gamma_prior_can_keep_what_the_likelihood_removes():
    # S08 Fig. 2.28: q = 1, s = 2, a = 1, b = 2. Its density is one of α, α^(a−1) exp(−b α), so
    # that a = 1 adds −2α, which is our Gamma(0, 2): a limit, since ours wants a > 0. As a density
    # of log α the same prior adds log α − 2α, our Gamma(1, 2).
    s, q2, g = np.array([2.0]), np.array([1.0]), np.array([2.0])
    assert np.isinf(Flat().optimum(s, q2, g))
    for exponent, prior in ((0.0, Gamma(1e-10, 2.0)), (1.0, Gamma(1.0, 2.0))):
        root = brentq(lambda x, k=exponent: slope(x, 2.0, 1.0) + k / x - 2.0, 1e-6, 1e6)
        assert_allclose(prior.optimum(s, q2, g), root, rtol=1e-8)
    for c in 10.0 ** np.arange(-6, 4):
        assert np.isinf(Smoothness(c).optimum(s, q2, g))


@pytest.mark.parametrize("zeta", [-0.51, -0.75, -1.0, -2.0])
def test_a_prior_that_is_flat_in_log_alpha_keeps_everything(zeta):
    # S08 A.6: with p(α) ∝ α^ζ and ζ < −½ there is no turning point, and the least α is best.
    s, q2, _, _ = cases(300)
    log_alpha = np.log(s) + GRID
    values = likelihood_gain(np.exp(log_alpha), s, q2) + zeta * log_alpha
    assert np.all(np.diff(values, axis=0) < 0)
    assert np.all(np.isinf(Flat().optimum(s, q2, s))[q2 < s]) and np.any(q2 < s)
    # (A.22), for ζ = −1: "in most cases" negative is always, both roots of 2α² + (3s + q²)α + s².
    assert np.all(np.sqrt(s**2 + 6 * q2 * s + q2**2) < 3 * s + q2)


def test_above_a_half_it_does_not():
    s, q2, _, _ = cases(300)
    log_alpha = np.log(s) + GRID
    values = likelihood_gain(np.exp(log_alpha), s, q2) - 0.49 * log_alpha
    assert np.all(values[0] < values.max(axis=0))


@pytest.mark.parametrize("a", [0.01, 0.3, 0.49])
@pytest.mark.parametrize("b", [1e-4, 1.0])
def test_a_gamma_prior_of_alpha_with_little_shape_keeps_everything(a, b):
    s, q2, g, _ = cases(300)
    log_alpha = np.log(s) + GRID
    alpha = np.exp(log_alpha)
    values = likelihood_gain(alpha, s, q2) + (a - 1) * log_alpha - b * alpha
    assert np.all(np.diff(values, axis=0) < 0)
    # The same shape as a density of log α, which is what `Gamma` is, has an inner maximum.
    inner = Gamma(a, b).optimum(s, q2, g)
    assert np.all(inner > 0) and np.all(np.isfinite(inner))


def _orthonormal(kind, n=64):
    """An orthonormal matrix with a constant first column."""
    matrix = idct(np.eye(n), axis=0, norm="ortho")
    if kind == "rotated":
        matrix[:, 1:] = matrix[:, 1:] @ ortho_group.rvs(n - 1, random_state=0)
    assert_allclose(matrix.T @ matrix, np.eye(n), atol=1e-12)
    return matrix


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["dct", "rotated"])
@pytest.mark.parametrize(
    "prior, c",
    [
        ("flat", 0.0),
        ("aic", 1.0),
        ("bic", 0.5 * np.log(64)),
        ("ric", np.log(64)),
        (0.3, 0.3),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_solver_finds_the_closed_form_of_an_orthonormal_matrix(kind, prior, c, seed):
    matrix, v = _orthonormal(kind), 0.5
    rng = np.random.default_rng(seed)
    weights = 0.7 * rng.standard_normal(64) + 5.0 * rng.standard_normal(64) * (rng.random(64) < 0.3)
    weights[0] = 0.0  # targets are centred
    z = weights**2 / v
    keep = np.flatnonzero(z > 1 + 2 * c)
    w, z = weights[keep], z[keep]
    model = RVR("precomputed", prior=prior, noise=v, bias=False, adapt=None, tol=1e-9)
    model.fit(matrix, matrix @ weights)
    assert 5 < keep.size < 60
    assert_array_equal(model.relevance_, keep)
    assert_allclose(1 / model.alpha_, w**2 - v * (1 + 2 * c), atol=1e-6)
    assert_allclose(model.weights_, w * (1 - 1 / (z - 2 * c)), atol=1e-6)
    assert_allclose(model.sigma_, np.diag(v * (1 - 1 / (z - 2 * c))), atol=1e-6)


def _orthonormal_objective(v, weights, c):
    """Log evidence and log prior at the best precisions, given the noise variance."""
    z = weights**2 / v
    shift = np.maximum(z - 2 * c, 1.0)  # (1/α + v) / v
    return np.sum(-0.5 * (np.log(2 * np.pi * v * shift) + z / shift) - c * (1 - 1 / shift))


@pytest.mark.sampled
@pytest.mark.parametrize("prior, c", [("aic", 1.0), ("bic", 0.5 * np.log(64)), (4.0, 4.0)])
@pytest.mark.parametrize("seed", thinned(range(2)))
def test_the_estimated_noise_is_a_maximum_of_the_closed_form(prior, c, seed):
    matrix = _orthonormal("rotated")
    rng = np.random.default_rng(seed)
    weights = 0.7 * rng.standard_normal(64)
    weights[1:9] += 8.0 * rng.choice([-1.0, 1.0], 8)
    weights[0] = 0.0
    model = RVR("precomputed", prior=prior, bias=False, adapt=None, tol=1e-9)
    model.fit(matrix, matrix @ weights)
    v = model.noise_variance_
    assert_array_equal(model.relevance_, np.flatnonzero(weights**2 > v * (1 + 2 * c)))
    here, above, below = (
        _orthonormal_objective(k * v, weights, c) for k in (1.0, np.exp(1e-3), np.exp(-1e-3))
    )
    assert_allclose(model.evidence_path_[-1], here, rtol=1e-9)
    assert here > max(above, below)
    assert abs(above - below) / 2e-3 < 1e-3  # the slope in log v, of the order of N if not zero
