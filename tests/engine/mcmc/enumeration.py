"""Linear models so small that their posterior is a sum over all sets of functions."""

from functools import cache
from itertools import combinations

import numpy as np
from scipy.special import logsumexp

from sparsebayes.engine.mcmc.hamiltonian import effective_sample_size
from sparsebayes.engine.mcmc.posterior import SparsePosterior
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.mcmc.products import GramProducts
from sparsebayes.engine.model.priors import Flat, Gamma, Smoothness

LOW, HIGH = 0.02, 0.5
SLABS = {
    "flat": Slab(Flat(), LOW, HIGH),
    "smooth": Slab(Smoothness(1.5), LOW, HIGH),
    "gamma": Slab(Gamma(1.0, 0.1), LOW, HIGH),
    "per_alpha": Slab(Smoothness(1.5), LOW, HIGH, per_alpha=True),
    "point": Slab(Flat(), 0.1, 0.1),
}
INCLUSIONS = {"fixed": InclusionPrior(fixed=0.3), "beta": InclusionPrior()}
NOISES = {"free": NoisePrior(), "proper": NoisePrior(2.0, 0.5), "given": NoisePrior(fixed=0.1)}

N_FUNCTIONS = 8
INPUTS = np.linspace(-1.0, 1.0, 12)
NEW_INPUTS = np.array([-0.7, 0.1, 1.3])
WEIGHTS = np.arange(12) % 2 + 1.0


def functions(x):
    """Bumps of unequal heights that overlap, (n, 8)."""
    bumps = np.exp(-0.5 * ((x[:, None] - np.linspace(-1.0, 1.0, N_FUNCTIONS)) / 0.35) ** 2)
    return bumps * np.linspace(0.5, 2.0, N_FUNCTIONS)


def make_posterior(matrix, values, slab, *, weights=None, inclusion=None, noise=None):
    """The posterior for these functions (N, M) and targets; a row of weight 2 counts twice."""
    weights = np.ones(len(matrix)) if weights is None else weights
    norms = weights @ matrix**2
    scaled = matrix / np.sqrt(norms)
    weighted = weights[:, None] * scaled
    return SparsePosterior(
        products=GramProducts(scaled.T @ weighted, weighted.T @ values, weights @ values**2),
        norms=norms,
        n_samples=float(weights.sum()),
        slab=slab,
        inclusion=inclusion or InclusionPrior(),
        noise=noise or NoisePrior(),
    )


def no_data(n_functions, slab, inclusion, noise):
    """A posterior that is the prior; no two functions are as long."""
    nothing = np.zeros((n_functions, n_functions))
    norms = np.linspace(0.5, 2.0, n_functions)
    return SparsePosterior(
        GramProducts(nothing, nothing[0], 0.0), norms, 0.0, slab, inclusion, noise
    )


def small_posterior(slab="flat", inclusion="beta", noise="free", *, weights=None):
    """Eight functions and twelve samples, by names in the tables above."""
    rng = np.random.default_rng(3)
    wave = 0.6 * np.sin(3.0 * INPUTS) + 0.3 * rng.standard_normal(INPUTS.size)
    return make_posterior(
        functions(INPUTS),
        wave,
        SLABS[slab],
        weights=weights,
        inclusion=INCLUSIONS[inclusion],
        noise=NOISES[noise],
    )


def new_columns(posterior):
    """The scaled functions at new inputs, (3, M)."""
    return functions(NEW_INPUTS) / np.sqrt(posterior.norms)


class Names:
    """Where in a vector of moments what is; `predicted` are means and mean squares of f."""

    included = slice(0, N_FUNCTIONS)
    sizes = slice(N_FUNCTIONS, 2 * N_FUNCTIONS + 1)
    variance = 2 * N_FUNCTIONS + 1
    predicted = slice(2 * N_FUNCTIONS + 2, 2 * N_FUNCTIONS + 8)


def exact_moments(posterior, order=3, n_beta=40):
    """By Gauss-Legendre rules for x, a trapezoidal rule for log β, and a sum over sets."""
    slab, noise, total = posterior.slab, posterior.noise, posterior.n_functions
    new = new_columns(posterior)
    low, high = slab.ends
    places, masses = np.polynomial.legendre.leggauss(1 if slab.point else order)
    x = 0.5 * (low + high) + 0.5 * (high - low) * places
    masses = np.ones(1) if slab.point else 0.5 * (high - low) * masses
    beta = _betas(posterior, n_beta)
    rates = np.outer(posterior.norms, beta)[:, :, None]
    table = slab.log_density(x, rates) + np.log(masses)
    table = np.broadcast_to(table, (total, beta.size, x.size))
    logs, parts = [], []
    for size in range(total + 1):
        grid = np.indices((len(x),) * size).reshape(size, len(x) ** size)  # (S, n)
        for chosen in combinations(range(total), size):
            active = np.array(chosen, dtype=int)
            fit, mean, spread = _fits(posterior, active, x[grid].T, new)
            prior = posterior.inclusion.log_prior(size, total) + np.zeros((beta.size, 1))
            for function, index in zip(chosen, grid, strict=True):
                prior = prior + table[function][:, index]
            rate = noise.scale + 0.5 * fit[1]
            shape = noise.shape + 0.5 * posterior.n_samples
            log = prior + fit[0] + shape * np.log(beta)[:, None] - beta[:, None] * rate
            top = log.max()
            mass = np.exp(log - top)  # (B, n)
            of_set = np.isin(np.arange(total), active)
            of_size = np.arange(total + 1) == size
            variance = mass.sum(axis=1) @ (1.0 / beta)
            means = mean.T @ mass.sum(axis=0)
            squares = (mean**2).T @ mass.sum(axis=0) + spread.T @ (mass.T @ (1.0 / beta))
            counts = mass.sum() * np.concatenate([of_set, of_size])
            logs.append(top)
            parts.append(np.concatenate([counts, [variance], means, squares]))
    scale = np.exp(np.array(logs) - logsumexp(logs))
    moments = scale @ np.array(parts)
    return moments / moments[Names.sizes].sum()


def _betas(posterior, count):
    if posterior.noise.fixed is not None:
        return np.array([1.0 / posterior.noise.fixed])
    shape = posterior.noise.shape + 0.5 * posterior.n_samples
    everything = np.linalg.solve(
        posterior.products.gram + posterior.slab.low * np.eye(posterior.n_functions),
        posterior.products.moments,
    )
    rates = posterior.noise.scale + 0.5 * np.array(
        [
            posterior.products.energy,
            posterior.products.energy - posterior.products.moments @ everything,
        ]
    )
    ends = np.log(shape / rates) + np.array([-8.0, 5.0]) / np.sqrt(shape)
    return np.exp(np.linspace(*ends, count))


def _fits(posterior, active, x, new):
    """``½ log|ρ| − ½ log|H|`` and residual, (2, n); mean and variance/σ² of f, (n, P)."""
    hessian = np.tile(posterior.products.gram[np.ix_(active, active)], (len(x), 1, 1))
    hessian += np.exp(x)[:, :, None] * np.eye(active.size)
    factor = np.linalg.cholesky(hessian)
    right = np.column_stack([posterior.products.moments[active], new[:, active].T])
    half = np.linalg.solve(factor, np.broadcast_to(right, (len(x), *right.shape)))
    seen, across = half[:, :, 0], half[:, :, 1:]
    logs = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    fit = np.array([0.5 * x.sum(axis=1) - logs, posterior.products.energy - (seen**2).sum(axis=1)])
    return fit, np.einsum("ns,nsp->np", seen, across), (across**2).sum(axis=1)


@cache
def small_moments(slab, inclusion, noise):
    """Of `small_posterior` by names."""
    return exact_moments(small_posterior(slab, inclusion, noise))


def draw_moments(chain, length, *, burn=50):
    """One row for each sweep, in the order of `Names`; weights are integrated out."""
    posterior, new = chain.posterior, new_columns(chain.posterior)
    rows = []
    for number in range(burn + length):
        chain.sweep()
        if number < burn:
            continue
        active_set = chain.active_set
        columns = new[:, active_set.active]
        mean = columns @ active_set.mean
        spread = ((columns @ active_set.root) ** 2).sum(axis=1) / chain.beta
        included = np.zeros(posterior.n_functions)
        included[active_set.active] = 1.0
        sizes = np.arange(posterior.n_functions + 1) == active_set.size
        rows.append(np.concatenate([included, sizes, [1.0 / chain.beta], mean, mean**2 + spread]))
    return np.array(rows)


def scores(draws, expected):
    """Differences in standard errors, of all but events too rare or too common to count."""
    error = draws.std(axis=0) / np.sqrt(effective_sample_size(draws[None]))
    events = np.zeros(expected.size, dtype=bool)
    events[: Names.variance] = True
    told = ~events | ((expected > 0.05) & (expected < 0.95))
    told &= error > 1e-12  # not a given noise
    return (draws.mean(axis=0) - expected)[told] / error[told]
