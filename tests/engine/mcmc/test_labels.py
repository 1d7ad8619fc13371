"""Sampling with labels, against posteriors that are integrated on a grid."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_expit, log_softmax, softmax
from scipy.stats import norm

from sparsebayes.engine.mcmc import labels as labels_module
from sparsebayes.engine.mcmc.gibbs import GibbsChain
from sparsebayes.engine.mcmc.hamiltonian import effective_sample_size
from sparsebayes.engine.mcmc.jumps import JumpChain
from sparsebayes.engine.mcmc.labels import Labels, LabelSampler
from sparsebayes.engine.mcmc.polya_gamma import polya_gamma_mean
from sparsebayes.engine.mcmc.posterior import SparsePosterior
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.mcmc.products import GramProducts, SiteProducts
from sparsebayes.engine.model.priors import Flat, Gamma

SLABS = {
    "flat": Slab(Flat(), 0.02, 2.0),
    "gamma": Slab(Gamma(1.0, 0.5), 0.02, 2.0),
    "point": Slab(Flat(), 0.1, 0.1),
}
CHAINS = {
    "gibbs": GibbsChain,
    "jumps": lambda posterior, rng: JumpChain(posterior, rng, walk=1.0, steps=4),
    "births": lambda posterior, rng: JumpChain(posterior, rng, steps=4),
}
RNG = np.random.default_rng(4)
INPUTS = np.linspace(-2.0, 2.0, 10)
NEW = np.array([-1.0, 0.3, 2.5])
WEIGHTS = {"ones": np.ones(10), "mixed": np.array([1.0, 2.0, 0.4, 1.0, 9.5, 1, 1, 3, 1, 1])}
CLASSES = {2: np.array([0, 0, 1, 0, 0, 1, 1, 0, 1, 1]), 3: np.array([0, 0, 1, 0, 2, 2, 2, 1, 2, 1])}


def functions(x, n_classes):
    """With three classes one function is as much as a grid of weights can hold."""
    both = np.column_stack([x, np.ones_like(x)])
    return both if n_classes == 2 else both[:, :1]


def problem(n_classes, slab, weights):
    """Posterior, scaled functions at the samples and elsewhere, and the labels."""
    weights = WEIGHTS[weights]
    curve = (n_classes - 1) / n_classes**2 * weights
    matrix = functions(INPUTS, n_classes)
    norms = curve @ matrix**2
    matrix, new = (values / np.sqrt(norms) for values in (matrix, functions(NEW, n_classes)))
    inside = CLASSES[n_classes][:, None] == np.arange(n_classes)
    labels = Labels(inside[:, 1:] if n_classes == 2 else inside, weights)
    posterior = SparsePosterior(
        SiteProducts(matrix, curve, np.zeros(10)),
        norms,
        float(weights.sum()),
        SLABS[slab],
        InclusionPrior(fixed=0.4),
        NoisePrior(fixed=1.0),
    )
    return posterior, matrix, new, labels


def summaries(f_new):
    """Class probabilities and how large f is at new inputs, f (..., n, K)."""
    probability = expit(f_new) if f_new.shape[-1] == 1 else softmax(f_new, axis=-1)
    both = np.concatenate([probability, np.tanh(0.3 * f_new) ** 2], axis=-1)
    return both.reshape(*f_new.shape[:-2], -1)


@cache
def exact(n_classes, slab, weights, n_nodes):
    """Inclusion of each weight and `summaries`, by sums over sets and grids of weights."""
    posterior, matrix, new, labels = problem(n_classes, slab, weights)
    count = labels.outputs * posterior.n_functions
    nodes, masses = np.polynomial.legendre.leggauss(n_nodes // 2)
    nodes, masses = 0.5 * (nodes + 1.0), 0.5 * masses
    weight, mass = 60.0 * nodes**2, 120.0 * nodes * masses  # dense about 0
    weight, mass = np.concatenate([-weight, weight]), np.concatenate([mass, mass])
    low, high = posterior.slab.ends
    places, steps = np.polynomial.legendre.leggauss(40)
    x = 0.5 * (low + high) + 0.5 * (high - low) * places
    steps = np.full(40, 1 / 40) if low == high else 0.5 * (high - low) * steps
    prior = []
    for g in posterior.norms:  # of a weight, with its x integrated out
        slab_density = np.exp(posterior.slab.log_density(x, g)) * steps
        prior.append(norm.pdf(weight[:, None], 0.0, np.exp(-0.5 * x)) @ slab_density * mass)
    total, moments = 0.0, 0.0
    for active in product([False, True], repeat=count):
        numbers = np.flatnonzero(active)
        share = 0.4**numbers.size * 0.6 ** (count - numbers.size)
        grid = np.meshgrid(*[weight] * numbers.size, indexing="ij")
        every = np.zeros((max(1, n_nodes**numbers.size), count))
        density = np.full(len(every), share)
        for axis, number in enumerate(numbers):
            every[:, number] = grid[axis].ravel()
            own = prior[number % posterior.n_functions]
            density *= np.meshgrid(*[own] * numbers.size, indexing="ij")[axis].ravel()
        shaped = every.reshape(len(every), labels.outputs, -1).transpose(0, 2, 1)
        density *= np.exp(labels.log_likelihood(matrix @ shaped).sum(axis=1))
        values = np.column_stack([np.tile(active, (len(every), 1)), summaries(new @ shaped)])
        total, moments = total + density.sum(), moments + density @ values
    return moments / total


def draws(chain, n_classes, slab, weights, length, seed=0, *, burn=30):
    posterior, matrix, new, labels = problem(n_classes, slab, weights)
    rng = np.random.default_rng(seed)
    chains = [CHAINS[chain](posterior, rng) for _ in range(labels.outputs)]
    sampler = LabelSampler(chains, matrix, labels)
    rows = []
    for number in range(burn + length):
        sampler.sweep()
        if number >= burn:
            drawn = sampler.draw()
            active, every = np.zeros((2, labels.outputs * posterior.n_functions))
            active[drawn.index] = 1.0
            norms = posterior.norms[drawn.index % posterior.n_functions]
            every[drawn.index] = drawn.weights * np.sqrt(norms)
            f = new @ every.reshape(labels.outputs, -1).T
            rows.append(np.concatenate([active, summaries(f)]))
    return np.array(rows)


def differences(n_classes, slab, weights, found):
    """From the exact moments, in standard errors."""
    expected = exact(n_classes, slab, weights, 80 if n_classes == 2 else 32)
    error = found.std(axis=0) / np.sqrt(effective_sample_size(found[None]))
    return (found.mean(axis=0) - expected) / error


QUICK = [
    ("gibbs", 2, "flat", "ones"),
    ("gibbs", 2, "gamma", "mixed"),
    ("jumps", 2, "flat", "mixed"),
    ("births", 2, "point", "ones"),
    ("gibbs", 3, "flat", "ones"),
    ("jumps", 3, "flat", "mixed"),
]
ALL = list(product(("gibbs", "jumps"), (2, 3), ("flat", "gamma"), WEIGHTS))


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "n_classes", "slab", "weights"), QUICK)
def test_moments_are_those_of_the_posterior(chain, n_classes, slab, weights):
    found = draws(chain, n_classes, slab, weights, 400 if n_classes == 2 else 300)
    assert np.abs(differences(n_classes, slab, weights, found)).max() < 4.0


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "n_classes", "slab", "weights"), ALL)
def test_moments_are_those_of_the_posterior_at_length(chain, n_classes, slab, weights):
    found = draws(chain, n_classes, slab, weights, 2000, seed=1)
    assert np.abs(differences(n_classes, slab, weights, found)).max() < 4.0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("slab", ["flat", "gamma"])
def test_the_grid_has_converged(n_classes, slab):
    coarse, fine = (32, 40) if n_classes == 3 else (60, 80)
    one, other = exact(n_classes, slab, "ones", coarse), exact(n_classes, slab, "ones", fine)
    assert_allclose(one, other, atol=1e-3)


@pytest.mark.slow
def test_variables_of_a_wrong_size_are_told(monkeypatch):
    right = labels_module.draw_polya_gamma
    monkeypatch.setattr(labels_module, "draw_polya_gamma", lambda *a: 1.5 * right(*a))
    found = draws("gibbs", 2, "flat", "ones", 600)
    assert np.abs(differences(2, "flat", "ones", found)).max() > 5.0


@pytest.mark.slow
def test_a_factor_that_goes_the_wrong_way_is_told(monkeypatch):
    right = Labels.log_odds_likelihood
    monkeypatch.setattr(
        Labels, "log_odds_likelihood", lambda self, k, margin: -right(self, k, margin)
    )
    found = draws("gibbs", 2, "flat", "ones", 600)
    assert np.abs(differences(2, "flat", "ones", found)).max() > 5.0


@pytest.mark.sampled
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_come_back_from_their_own_model(n_classes):
    """State and labels drawn from the prior stay a draw from it, however short a chain is."""
    rng = np.random.default_rng(0)
    posterior, matrix, _, labels = problem(n_classes, "flat", "ones")
    low, high = posterior.slab.ends
    sizes, squares, count = [], [], 120
    for _ in range(count):
        chains, f = [], np.zeros(labels.inside.shape)
        for k in range(labels.outputs):
            active = np.flatnonzero(rng.random(posterior.n_functions) < 0.4)
            x = rng.uniform(low, high, active.size)
            chain = GibbsChain(posterior, rng, tries=4)
            chain.start(active, x, 1.0)
            f[:, k] = matrix[:, active] @ (rng.standard_normal(active.size) * np.exp(-0.5 * x))
            chains.append(chain)
        if n_classes == 2:
            inside = rng.random((10, 1)) < expit(f)
        else:
            inside = rng.gumbel(size=f.shape) + f
            inside = inside == inside.max(axis=1, keepdims=True)
        sampler = LabelSampler(chains, matrix, Labels(inside, labels.weights))
        sampler.f[:] = f
        sampler.sweep()
        sampler.sweep()
        sizes.append([chain.active_set.size for chain in chains])
        squares.append([np.exp(-chain.active_set.x).sum() for chain in chains])
    share = np.array(sizes) / posterior.n_functions
    error = np.sqrt(0.24 / posterior.n_functions / count)
    assert np.all(abs(share.mean(axis=0) - 0.4) < 4.0 * error)
    mean = 0.4 * posterior.n_functions * (np.exp(-low) - np.exp(-high)) / (high - low)
    spread = np.std(squares, axis=0) / np.sqrt(count)
    assert np.all(abs(np.mean(squares, axis=0) - mean) < 4.0 * spread)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sites_have_the_mean_of_their_variables_and_the_slope_of_the_likelihood(n_classes):
    """E ω times the margin and the pull balance as the derivative of the log likelihood does."""
    _, _, _, labels = problem(n_classes, "flat", "mixed")
    f = np.random.default_rng(0).standard_normal(labels.inside.shape)
    for k in range(labels.outputs):
        margin = labels.margin(k, f)
        moved = np.array([f.copy(), f.copy()])
        moved[:, :, k] += np.array([[1e-5], [-1e-5]])
        up, down = labels.log_likelihood(moved)
        slope = labels.weights * (labels.inside[:, k] - 0.5) - margin * polya_gamma_mean(
            labels.weights, margin
        )
        assert_allclose((up - down) / 2e-5, slope, atol=1e-6)
        omega, pull = labels.draw_sites(k, f, np.random.default_rng(1))
        assert_allclose(
            pull - omega * f[:, k],
            slope + margin * (polya_gamma_mean(labels.weights, margin) - omega),
        )


def test_likelihoods():
    f = np.random.default_rng(0).standard_normal((5, 10, 3))
    *_, three = problem(3, "flat", "mixed")
    expected = log_softmax(f, axis=2)[:, np.arange(10), CLASSES[3]]
    assert_allclose(three.log_likelihood(f), WEIGHTS["mixed"] * expected)
    *_, two = problem(2, "flat", "mixed")
    expected = log_expit(np.where(CLASSES[2] == 1, f[:, :, 0], -f[:, :, 0]))
    assert_allclose(two.log_likelihood(f[:, :, :1]), WEIGHTS["mixed"] * expected)
    part = two.rows(slice(2, 5)).log_likelihood(f[:, 2:5, :1])
    assert_array_equal(part, two.log_likelihood(f[:, :, :1])[:, 2:5])


def test_products_are_those_of_the_whole_matrix():
    rng = np.random.default_rng(0)
    matrix, omega, pull = rng.standard_normal((9, 5)), rng.random(9), rng.standard_normal(9)
    some = SiteProducts(matrix, omega, pull)
    gram = matrix.T @ (omega[:, None] * matrix)
    whole = GramProducts(gram, matrix.T @ pull, float(pull @ (pull / omega)))
    for index in ([3], np.array([1, 3, 0]), np.empty(0, dtype=int), [3]):
        assert_allclose(some.columns(index), whole.columns(index))
        assert some.columns(index).shape == (5, len(index))
    assert_allclose(some.norms, whole.norms)
    assert_allclose(some.moments, whole.moments)
    assert some.energy == pytest.approx(whole.energy)


def test_density_of_a_draw():
    """The labels', the weights' and the prior's, with all constants."""
    posterior, matrix, _, labels = problem(3, "flat", "mixed")
    rng = np.random.default_rng(0)
    sampler = LabelSampler([GibbsChain(posterior, rng) for _ in range(3)], matrix, labels)
    low, high = posterior.slab.ends
    for _ in range(5):
        sampler.sweep()
        draw = sampler.draw()
        scaled = draw.weights * np.sqrt(posterior.norms[0])
        f = np.zeros((10, 3))
        f[:, draw.index] = matrix[:, :1] * scaled
        size = draw.index.size
        expected = labels.log_likelihood(f).sum() + size * np.log(0.4) + (3 - size) * np.log(0.6)
        expected += norm.logpdf(scaled, 0.0, np.exp(-0.5 * draw.x)).sum()
        expected -= size * np.log(high - low)
        assert draw.log_density == pytest.approx(expected)
        assert_allclose(sampler.f, f)


def test_same_seed_same_draws():
    one, again, other = (draws("gibbs", 3, "flat", "mixed", 20, seed) for seed in (5, 5, 6))
    assert_array_equal(one, again)
    assert not np.array_equal(one, other)
