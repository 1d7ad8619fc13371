"""The sampler that draws functions by what they add."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from sparsebayes.engine.mcmc.chain import Cells, pick
from sparsebayes.engine.mcmc.gibbs import GibbsChain
from sparsebayes.engine.mcmc.posterior import slice_sample
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness
from tests.engine.mcmc.enumeration import make_posterior, no_data, small_posterior


def bumps(n_functions=40, n_samples=40, *, noise=0.1, seed=0):
    """A wave, with functions that overlap so much that many sets explain it."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-1.0, 1.0, n_samples)
    matrix = np.exp(-0.5 * ((x[:, None] - np.linspace(-1.0, 1.0, n_functions)) / 0.2) ** 2)
    return matrix, np.sin(5.0 * x) + noise * rng.standard_normal(n_samples)


def run(chain, length):
    """Numbers of functions and log β."""
    rows = []
    for _ in range(length):
        chain.sweep()
        rows.append([chain.active_set.size, np.log(chain.beta)])
    return np.array(rows)


def test_cells_cover_the_interval_evenly():
    cells = Cells(-2.0, 1.0, width=0.4)
    assert cells.count == 8 and cells.width == pytest.approx(0.375)
    assert [cells.cell(c) for c in cells.centres] == list(range(8))
    assert cells.cell(-2.0) == 0 and cells.cell(1.0) == 7
    rng = np.random.default_rng(0)
    draws = np.array([cells.within(3, rng) for _ in range(500)])
    assert {cells.cell(x) for x in draws} == {3}
    low = -2.0 + 3 * 0.375
    assert kstest(draws, "uniform", (low, 0.375)).pvalue > 1e-3


def test_a_point_is_one_cell():
    cells = Cells(0.7, 0.7)
    assert cells.count == 1 and cells.log_width == 0.0
    assert cells.cell(0.7) == 0
    assert cells.within(0, np.random.default_rng(0)) == 0.7


def test_pick_follows_the_weights():
    weights = np.array([0.0, 2.0, 0.0, 5.0, 3.0, 0.0])
    rng = np.random.default_rng(0)
    counts = np.bincount([pick(weights, rng) for _ in range(2000)], minlength=6)
    assert counts[weights == 0].sum() == 0
    assert chisquare(counts[weights > 0], [400, 1000, 600]).pvalue > 1e-3


def test_slices_follow_the_density():
    """Of a skewed density, that of log γ with γ ~ Gamma(2)."""
    rng = np.random.default_rng(0)
    x, draws = 0.0, []
    for number in range(3000):
        x = slice_sample(lambda v: 2.0 * v - np.exp(v), x, 1.0, rng)
        if number % 6 == 0:
            draws.append(np.exp(x))
    assert kstest(draws, "gamma", (2.0,)).pvalue > 1e-3


def test_slices_do_not_step_out_for_ever():
    """A start that is a million nats below the top moves on, not to the end of all numbers."""
    rng = np.random.default_rng(0)
    seen = []

    def density(v):
        seen.append(v)
        return v - np.exp(v)

    assert slice_sample(density, 14.0, 1.0, rng) < 14.0
    assert min(seen) > -20.0


def size_p_value(follows):
    """That all numbers of functions are equally likely without data, as they are in the prior."""
    posterior = no_data(12, Slab(Flat(), 1.0, 1.0), InclusionPrior(), NoisePrior(3.0, 1.0))
    chain = GibbsChain(posterior, np.random.default_rng(0), tries=16)
    counts = np.zeros(13)
    for number in range(360):
        if follows:
            chain.tries = 1 + 2 * chain.active_set.size
        chain.sweep()
        if number % 6 == 0:
            counts[chain.active_set.size] += 1
    return chisquare(counts).pvalue


@pytest.mark.slow
def test_tries_may_not_follow_the_size():
    """Large models would be left sooner than small ones."""
    assert size_p_value(follows=False) > 1e-3
    assert size_p_value(follows=True) < 1e-5


def test_a_start_is_moved_into_the_slab():
    posterior = small_posterior("flat", noise="free")
    chain = GibbsChain(posterior, np.random.default_rng(0))
    chain.start(np.arange(7), np.linspace(-20.0, 20.0, 7), 3.0)
    low, high = posterior.slab.ends
    assert chain.active_set.x.min() == low and chain.active_set.x.max() == high
    assert chain.beta == 3.0
    given = GibbsChain(small_posterior("flat", noise="given"), np.random.default_rng(0))
    given.start(np.arange(2), np.zeros(2), 3.0)
    assert given.beta == pytest.approx(10.0)


def test_only_warm_sweeps_change_the_number_of_tries():
    posterior = no_data(30, Slab(Flat(), 1.0, 1.0), InclusionPrior(fixed=0.9), NoisePrior(3.0, 1.0))
    chain = GibbsChain(posterior, np.random.default_rng(0))
    for _ in range(12):
        chain.warm()
    settled = chain.tries
    assert 20 <= settled <= 30
    run(chain, 10)
    assert chain.tries == settled


def test_x_stays_in_the_slab():
    posterior = small_posterior("smooth")
    chain = GibbsChain(posterior, np.random.default_rng(0))
    low, high = posterior.slab.ends
    for _ in range(50):
        chain.sweep()
        assert np.all((chain.active_set.x >= low) & (chain.active_set.x <= high))
        assert np.unique(chain.active_set.active).size == chain.active_set.size


def r_hat(make, starts, length, warmup):
    """The worst R-hat of the number of functions and log β over chains from these starts."""
    arviz = pytest.importorskip("arviz")
    draws = []
    for number, start in enumerate(starts):
        chain = make(np.random.default_rng(number))
        chain.start(*start)
        for _ in range(warmup):
            chain.warm()
        draws.append(run(chain, length))
    return max(float(arviz.rhat(column)) for column in np.moveaxis(draws, 2, 0))


def far_starts(n_functions):
    """Nothing and much noise; everything and little; a few functions, hardly held."""
    every = np.arange(n_functions)
    return [
        (every[:0], np.empty(0), 0.1),
        (every, np.full(n_functions, -3.0), 1e6),
        (every[::5], np.full(every[::5].size, -12.0), 10.0),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("prior", [Smoothness(1.5), Gamma(1e-2, 1e-2)], ids=repr)
def test_chains_from_far_apart_agree(prior):
    matrix, values = bumps()
    slab = Slab(prior, 1e-6, 1e3)
    inclusion, noise = InclusionPrior(fixed=0.2), NoisePrior(1e-3, 1e-3)
    posterior = make_posterior(matrix, values, slab, inclusion=inclusion, noise=noise)

    def make(rng):
        return GibbsChain(posterior, rng)

    assert r_hat(make, far_starts(40), 400, 100) < 1.05


HARD = {
    "one function": (np.ones((5, 1)), np.arange(5.0)),
    "more functions than samples": bumps(30, 8),
    "next to no noise": bumps(15, 30, noise=1e-9),
    "a function is the target": (bumps(10, 20)[0], bumps(10, 20)[0][:, 3]),
    "twice the same": (np.repeat(bumps(6, 20)[0], 2, axis=1), bumps(6, 20)[1]),
    "targets are zero": (bumps(10, 20)[0], np.zeros(20)),
    "large targets": (bumps(10, 20)[0], 1e9 * bumps(10, 20)[1]),
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("prior", [Flat(), Gamma(1e-3, 1e-3)], ids=repr)
def test_hard_cases_stay_finite(case, prior):
    matrix, values = HARD[case]
    scale = 1e-4 * max(values.var(), 1e-6)
    posterior = make_posterior(
        matrix, values, Slab(prior, 1e-8, 1e3), noise=NoisePrior(1e-4, scale)
    )
    chain = GibbsChain(posterior, np.random.default_rng(0))
    assert np.isfinite(run(chain, 8)).all()
    assert np.isfinite(chain.active_set.s).all() and np.isfinite(chain.active_set.q).all()
    assert np.isfinite(posterior.log_joint(chain.active_set, chain.beta))
