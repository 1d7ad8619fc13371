"""Both samplers against posteriors that are summed over all sets of functions."""

from math import comb

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid
from scipy.stats import chisquare, invgamma, kstest

from sparsebayes.engine.mcmc import jumps as jumps_module
from sparsebayes.engine.mcmc.chain import Cells, pick
from sparsebayes.engine.mcmc.gibbs import GibbsChain
from sparsebayes.engine.mcmc.jumps import JumpChain, LogNormalBirths
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness
from tests.engine.mcmc.enumeration import (
    INCLUSIONS,
    SLABS,
    Names,
    draw_moments,
    exact_moments,
    functions,
    make_posterior,
    no_data,
    scores,
    small_moments,
    small_posterior,
)

CHAINS = {
    "gibbs": GibbsChain,
    "births": JumpChain,
    "lognormal": lambda posterior, rng: JumpChain(posterior, rng, LogNormalBirths(posterior, 2.0)),
    "walk": lambda posterior, rng: JumpChain(posterior, rng, walk=1.0, steps=4),
}
QUICK = [
    ("gibbs", "flat", "fixed", "free"),
    ("gibbs", "smooth", "beta", "given"),
    ("gibbs", "gamma", "beta", "proper"),
    ("walk", "flat", "fixed", "free"),
    ("births", "smooth", "beta", "given"),
    ("births", "point", "fixed", "free"),
    ("lognormal", "gamma", "beta", "proper"),
]
ALL = [
    (chain, slab, inclusion, noise)
    for slab in SLABS
    for inclusion in INCLUSIONS
    for noise in ("free", "given")
    for chain in CHAINS
    if slab != "point" or chain in ("gibbs", "births")
]


def differences(chain, slab, inclusion, noise, *, length, seed=0):
    """In standard errors, by names."""
    sampler = CHAINS[chain](small_posterior(slab, inclusion, noise), np.random.default_rng(seed))
    return scores(draw_moments(sampler, length), small_moments(slab, inclusion, noise))


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "slab", "inclusion", "noise"), QUICK, ids=map("-".join, QUICK))
def test_moments_are_those_of_the_posterior(chain, slab, inclusion, noise):
    found = differences(chain, slab, inclusion, noise, length=350)
    assert found.size >= 15
    assert np.abs(found).max() < 4.0


@pytest.mark.slow
@pytest.mark.parametrize(("chain", "slab", "inclusion", "noise"), ALL, ids=map("-".join, ALL))
def test_moments_are_those_of_the_posterior_at_length(chain, slab, inclusion, noise):
    assert np.abs(differences(chain, slab, inclusion, noise, length=1000, seed=1)).max() < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("slab", SLABS)
def test_enumeration_has_converged(slab):
    """More nodes move nothing by more than a fifth of the error of a chain."""
    coarse, fine = (
        exact_moments(small_posterior(slab), order, count) for order, count in ((3, 40), (4, 60))
    )
    np.testing.assert_allclose(coarse, fine, atol=3e-3)


def test_enumeration_of_a_single_function_is_bayes_rule():
    """One function that can be in or out, with the noise given: in closed form."""
    posterior = small_posterior("point", "fixed", "given")
    moments = exact_moments(posterior)
    sizes = moments[Names.sizes]
    assert sizes.sum() == pytest.approx(1.0)
    assert moments[Names.included].sum() == pytest.approx(sizes @ np.arange(9))
    assert moments[Names.variance] == pytest.approx(0.1)
    products = posterior.products
    gains = posterior.gain(10.0)(np.log(0.1), np.ones(8), products.moments**2, products.energy)
    odds = sizes[1] / sizes[0]
    assert odds == pytest.approx(np.exp(gains).sum() * 0.3 / 0.7)


def test_a_ratio_without_the_choices_is_told(monkeypatch):
    """As S08 prints it, where each function has its own chance to be in."""
    monkeypatch.setattr(jumps_module, "log_choices", lambda size, total: 0.0)
    found = differences("births", "point", "fixed", "free", length=500)
    assert np.abs(found).max() > 8.0


def test_printed_ratio_is_right_where_all_numbers_are_equally_likely(monkeypatch):
    """There the choices and the prior odds of sets cancel, so nothing changes without both."""
    posterior = small_posterior("smooth", "beta", "free")
    chains = []
    for _ in range(2):
        chain = JumpChain(posterior, np.random.default_rng(0))
        chains.append(draw_moments(chain, 100))
        monkeypatch.setattr(jumps_module, "log_choices", lambda size, total: 0.0)
        monkeypatch.setattr(InclusionPrior, "log_odds", lambda self, size, total: 0.0)
    np.testing.assert_allclose(chains[1], chains[0], rtol=1e-8)


@pytest.mark.slow
def test_an_arrival_that_does_not_count_departures_is_told(monkeypatch):
    right = GibbsChain._log_arrival
    monkeypatch.setattr(
        GibbsChain,
        "_log_arrival",
        lambda self, size, total: right(self, size, total) + np.log(size + 1),
    )
    found = differences("gibbs", "flat", "fixed", "free", length=350)
    assert np.abs(found).max() > 8.0


def wide_cells():
    """Moments by a chain whose draws of x follow a single step over the whole slab."""
    chain = GibbsChain(small_posterior("per_alpha", "fixed", "given"), np.random.default_rng(0))
    chain._cells = Cells(*chain.posterior.slab.ends, width=10.0)
    chain._prepare()
    assert chain._cells.count == 1
    return scores(draw_moments(chain, 350), small_moments("per_alpha", "fixed", "given"))


@pytest.mark.slow
def test_wide_cells_cost_nothing_but_rejections(monkeypatch):
    assert np.abs(wide_cells()).max() < 4.0
    monkeypatch.setattr(GibbsChain, "_excess", lambda self, steps, functions, x: np.zeros(len(x)))
    assert np.abs(wide_cells()).max() > 8.0


PROPER = NoisePrior(4.0, 3.0)
WIDE = {
    "flat": Slab(Flat(), 1e-3, 1e2),
    "smooth": Slab(Smoothness(3.0), 1e-3, 1e2),
    "gamma": Slab(Gamma(1.0, 0.5), 1e-3, 1e2),
    "per_alpha": Slab(Smoothness(3.0), 1e-3, 1e2, per_alpha=True),
}
BOTH = {
    "gibbs": lambda posterior, rng: GibbsChain(posterior, rng, tries=12),
    "jumps": lambda posterior, rng: JumpChain(posterior, rng, walk=2.0, steps=12),
}


def quantile(slab, x, g):
    """Share of the slab below x, by the trapezoidal rule."""
    grid = np.linspace(*slab.ends, 501)
    below = cumulative_trapezoid(np.exp(slab.log_density(grid, g)), grid, initial=0.0)
    return np.interp(x, grid, below)


def size_chances(inclusion, total):
    counts = np.array([comb(total, size) for size in range(total + 1)])
    return counts * np.exp([inclusion.log_prior(size, total) for size in range(total + 1)])


def p_values(chain, n_draws, thin):
    """That the draws of a chain are draws from the prior: numbers of functions, x and σ²."""
    posterior = chain.posterior
    sizes, places, variances = np.zeros(posterior.n_functions + 1), [], []
    for _ in range(n_draws):
        for _ in range(thin):
            chain.sweep()
        sizes[chain.active_set.size] += 1
        variances.append(1.0 / chain.beta)
        for function, x in zip(chain.active_set.active, chain.active_set.x, strict=True):
            places.append(quantile(posterior.slab, x, chain.beta * posterior.norms[function]))
    expected = n_draws * size_chances(posterior.inclusion, posterior.n_functions)
    return {
        "sizes": chisquare(sizes, expected).pvalue,
        "x": kstest(places, "uniform").pvalue,
        "variance": kstest(variances, invgamma(PROPER.shape, scale=PROPER.scale).cdf).pvalue,
    }


@pytest.mark.sampled
@pytest.mark.parametrize("slab", ["smooth", pytest.param("gamma", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", BOTH)
def test_without_data_the_prior_comes_back(name, slab):
    posterior = no_data(6, WIDE[slab], InclusionPrior(2.0, 2.0), PROPER)
    found = p_values(BOTH[name](posterior, np.random.default_rng(0)), 60, 4)
    assert min(found.values()) > 1e-3, found


@pytest.mark.slow
@pytest.mark.parametrize(
    "inclusion", [InclusionPrior(), InclusionPrior(fixed=0.3)], ids=["beta", "fixed"]
)
@pytest.mark.parametrize("slab", WIDE)
@pytest.mark.parametrize("name", BOTH)
def test_without_data_the_prior_comes_back_at_length(name, slab, inclusion):
    posterior = no_data(6, WIDE[slab], inclusion, PROPER)
    found = p_values(BOTH[name](posterior, np.random.default_rng(1)), 300, 4)
    assert min(found.values()) > 1e-3, found


def draw_weights(chain):
    """Of the scaled functions."""
    active_set = chain.active_set
    noise = chain.rng.standard_normal(active_set.size) / np.sqrt(chain.beta)
    return active_set.mean + active_set.root @ noise


def simulate(name, slab, rng):
    """A chain for data drawn from the prior, the state they came from, and f; (6 functions)."""
    matrix = functions(np.linspace(-1.0, 1.0, 10))[:, 1:7]
    norms = (matrix**2).sum(axis=0)
    scaled = matrix / np.sqrt(norms)
    inclusion = InclusionPrior(2.0, 2.0)
    beta = rng.gamma(PROPER.shape) / PROPER.scale
    size = pick(size_chances(inclusion, 6), rng)
    active = rng.permutation(6)[:size]
    grid = np.linspace(*slab.ends, 501)
    x = np.array([grid[pick(np.exp(slab.log_density(grid, beta * norms[m])), rng)] for m in active])
    weights = rng.standard_normal(size) * np.exp(-0.5 * x) / np.sqrt(beta)
    f = scaled[:, active] @ weights
    values = f + rng.standard_normal(10) / np.sqrt(beta)
    posterior = make_posterior(matrix, values, slab, inclusion=inclusion, noise=PROPER)
    return BOTH[name](posterior, rng), (active, x, beta), f, values, scaled


@pytest.mark.sampled
@pytest.mark.parametrize("slab", ["flat", "gamma"])
@pytest.mark.parametrize("name", BOTH)
def test_sweeps_from_the_truth_leave_parameters_and_data_jointly_as_they_were(name, slab):
    """However short a chain is: parameters and data remain a draw from their joint prior."""
    rng = np.random.default_rng(0)
    sizes, variances, residuals = np.zeros(7), [], []
    for _ in range(120):
        chain, truth, _, values, scaled = simulate(name, WIDE[slab], rng)
        chain.start(*truth)
        chain.tries = chain.steps = 4  # may not depend on the truth
        chain.sweep()
        chain.sweep()
        f = scaled[:, chain.active_set.active] @ draw_weights(chain)
        sizes[chain.active_set.size] += 1
        variances.append(1.0 / chain.beta)
        residuals.append((values[4] - f[4]) * np.sqrt(chain.beta))
    assert chisquare(sizes, 120 * size_chances(chain.posterior.inclusion, 6)).pvalue > 1e-3
    assert kstest(variances, invgamma(PROPER.shape, scale=PROPER.scale).cdf).pvalue > 1e-3
    assert kstest(residuals, "norm").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("slab", ["smooth", "gamma"])
@pytest.mark.parametrize("name", BOTH)
def test_truth_is_as_likely_at_any_rank_among_draws(name, slab):
    rng = np.random.default_rng(0)
    n_draws, ranks = 23, []
    for _ in range(160):
        chain, (active, _, beta), f, _, scaled = simulate(name, WIDE[slab], rng)
        rows = []
        for number in range(20 + 4 * n_draws):
            chain.sweep()
            if number >= 20 and number % 4 == 0:
                drawn = scaled[4, chain.active_set.active] @ draw_weights(chain)
                rows.append([chain.active_set.size, 1.0 / chain.beta, drawn])
        draws, truth = np.array(rows), np.array([active.size, 1.0 / beta, f[4]])
        ties = rng.random(3) * (draws == truth).sum(axis=0)
        ranks.append((draws < truth).sum(axis=0) + ties)
    for column in np.array(ranks).T:
        counts = np.histogram(column, bins=8, range=(0, n_draws))[0]
        assert chisquare(counts).pvalue > 1e-3, counts


@pytest.mark.sampled
@pytest.mark.parametrize("name", CHAINS)
def test_same_seed_same_chain(name):
    posterior = small_posterior("smooth")
    first, second, other = (
        draw_moments(CHAINS[name](posterior, np.random.default_rng(seed)), 20) for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
