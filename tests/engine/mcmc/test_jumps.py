"""Reversible jumps: what is proposed, and with what chances."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest, truncnorm

from sparsebayes.engine.mcmc.jumps import Births, JumpChain, LogNormalBirths, chances, log_choices
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness
from tests.engine.mcmc.enumeration import INPUTS, functions, make_posterior, small_posterior
from tests.engine.mcmc.test_gibbs import HARD, bumps, far_starts, r_hat, run

VALUES = np.sin(3 * INPUTS)


def posterior_of(slab, **options):
    return make_posterior(functions(INPUTS), VALUES, slab, **options)


def test_chances_add_up_and_a_jump_can_be_undone():
    for total in (1, 2, 7):
        table = np.array([chances(size, total) for size in range(total + 1)])
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        birth, death, move = table.T
        assert np.all(birth[:-1] > 0) and np.all(death[1:] > 0)
        assert birth[-1] == death[0] == move[0] == move[-1] == 0


def test_choices_cancel_the_odds_of_sets_where_all_numbers_are_equally_likely():
    for size in range(9):
        assert InclusionPrior().log_odds(size, 9) + log_choices(size, 9) == pytest.approx(0.0)
    assert InclusionPrior(fixed=0.3).log_odds(4, 9) + log_choices(4, 9) != pytest.approx(0.0)


@pytest.mark.parametrize("per_alpha", [False, True])
@pytest.mark.parametrize("prior", [Flat(), Smoothness(4.0), Gamma(2.0, 1.0)], ids=repr)
def test_births_come_from_nearly_the_slab(prior, per_alpha):
    """Their density integrates to one, and is that of the draws."""
    slab = Slab(prior, 1e-3, 1e2, per_alpha)
    births = Births(posterior_of(slab))
    edges = np.linspace(*slab.ends, births._cells.count + 1)
    middles = 0.5 * (edges[1:] + edges[:-1])
    logs = np.array([births.log_density(3, x, 2.0) for x in middles])
    assert np.exp(logs) @ np.diff(edges) == pytest.approx(1.0)
    ratio = logs - slab.log_density(middles, 2.0 * posterior_of(slab).norms[3])
    assert np.ptp(ratio) < 1e-9
    rng = np.random.default_rng(0)
    draws = [births.draw(3, 2.0, rng) for _ in range(400)]
    below = np.append(0.0, np.cumsum(np.exp(logs) * np.diff(edges)))
    assert kstest(draws, lambda x: np.interp(x, edges, below)).pvalue > 1e-3


def test_births_of_a_slab_with_next_to_no_mass_above():
    """Where the density of whole cells is below the smallest number."""
    births = Births(posterior_of(Slab(Gamma(1.0, 5.0), 1e-3, 1e6)))
    assert births.log_density(3, np.log(1e6), 50.0) < -1e6
    assert births.draw(3, 50.0, np.random.default_rng(0)) < 2.0


def test_births_at_a_point():
    births = Births(posterior_of(Slab(Flat(), 0.1, 0.1)))
    assert births.draw(0, 1.0, np.random.default_rng(0)) == np.log(0.1)
    assert births.log_density(0, np.log(0.1), 1.0) == 0.0


def test_log_normal_births_are_cut_off_at_the_ends():
    slab = Slab(Flat(), 0.02, 30.0)
    births = LogNormalBirths(posterior_of(slab), 1.5)
    low, high = slab.ends
    mass = quad(lambda x: np.exp(births.log_density(0, x, 1.0)), low, high)[0]
    assert mass == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    draws = [births.draw(0, 1.0, rng) for _ in range(500)]
    assert min(draws) >= low and max(draws) <= high
    expected = truncnorm(low / 1.5, high / 1.5, scale=1.5)
    assert births.log_density(0, 0.4, 1.0) == pytest.approx(expected.logpdf(0.4))
    assert kstest(draws, expected.cdf).pvalue > 1e-3


@pytest.mark.parametrize("slab", ["smooth", "gamma", "point"])
def test_ratio_of_a_birth_is_that_of_the_joint_densities(slab):
    """With the chances of the birth and of the death that undoes it."""
    posterior = small_posterior(slab, "fixed")
    chain = JumpChain(posterior, np.random.default_rng(0))
    low, high = posterior.slab.ends
    for active in ([], [2], [5, 1, 6], [0, 1, 2, 4, 5, 6, 7]):
        active = np.array(active, dtype=int)
        x = np.linspace(low, high, active.size)
        new_x = 0.3 * low + 0.7 * high
        chain.start(active, x, 4.0)
        before = posterior.log_joint(chain.active_set, 4.0)
        found = chain._log_birth(3, new_x)
        chain.active_set.set(np.append(active, 3), np.append(x, new_x))
        expected = posterior.log_joint(chain.active_set, 4.0) - before
        size = active.size
        there = chances(size, 8)[0] / (8 - size) * np.exp(chain.births.log_density(3, new_x, 4.0))
        back = chances(size + 1, 8)[1] / (size + 1)
        assert found == pytest.approx(expected + np.log(back / there))


@pytest.mark.parametrize("slab", ["flat", "gamma"])
def test_the_noise_is_renewed_by_its_conditional(slab):
    """The set and x held, log β has the moments of the joint density."""
    posterior = small_posterior(slab, "beta", "proper")
    chain = JumpChain(posterior, np.random.default_rng(0), steps=0)
    x = np.full(3, np.mean(posterior.slab.ends))
    chain.start(np.array([1, 4, 6]), x, 4.0)
    grid = np.linspace(-3.0, 5.0, 401)
    logs = np.array([posterior.log_joint(chain.active_set, np.exp(v)) - v for v in grid])
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    mean = weights @ grid
    spread = np.sqrt(weights @ (grid - mean) ** 2)
    draws = run(chain, 2000)[:, 1]
    assert draws.mean() == pytest.approx(mean, abs=0.12 * spread)
    assert draws.std() == pytest.approx(spread, rel=0.1)


def test_without_jumps_only_precisions_and_noise_move():
    posterior = small_posterior("flat")
    chain = JumpChain(posterior, np.random.default_rng(0), walk=0.5, jump=False)
    chain.start(np.array([6, 2]), np.full(2, -2.0), 4.0)
    low, high = posterior.slab.ends
    seen = set()
    for _ in range(40):
        chain.sweep()
        assert sorted(chain.active_set.active) == [2, 6]
        assert np.all((chain.active_set.x >= low) & (chain.active_set.x <= high))
        seen.update(chain.active_set.x)
    assert len(seen) > 20


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("prior", [Flat(), Gamma(1e-3, 1e-3)], ids=repr)
def test_hard_cases_stay_finite(case, prior):
    matrix, values = HARD[case]
    scale = 1e-4 * max(values.var(), 1e-6)
    posterior = make_posterior(
        matrix, values, Slab(prior, 1e-8, 1e3), noise=NoisePrior(1e-4, scale)
    )
    for births in (Births(posterior), LogNormalBirths(posterior, 5.0)):
        chain = JumpChain(posterior, np.random.default_rng(0), births, walk=1.0)
        assert np.isfinite(run(chain, 5)).all()
        assert np.isfinite(posterior.log_joint(chain.active_set, chain.beta))


@pytest.mark.slow
def test_chains_from_far_apart_agree():
    matrix, values = bumps(15, 30, noise=0.3)
    slab = Slab(Smoothness(1.5), 1e-4, 1e3)
    inclusion, noise = InclusionPrior(fixed=0.2), NoisePrior(1e-3, 1e-3)
    posterior = make_posterior(matrix, values, slab, inclusion=inclusion, noise=noise)

    def make(rng):
        return JumpChain(posterior, rng, walk=1.0, steps=60)

    assert r_hat(make, far_starts(15), 400, 100) < 1.05
