"""The posterior of a regression for the samplers of the engine, and chains that run on it."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from sparsebayes._rvm.options import as_noise
from sparsebayes._support.batching import memory_budget
from sparsebayes._support.reporting import Reporter
from sparsebayes.basis import Basis
from sparsebayes.engine import Design, Exact, Sequential, Stop, linalg, make_design, run
from sparsebayes.engine.mcmc.chain import Chain
from sparsebayes.engine.mcmc.posterior import SparsePosterior
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.regression import RVR
from sparsebayes.sampling.draws import Draws
from sparsebayes.sampling.methods import Bounds, Method, Start
from sparsebayes.sampling.options import Length, as_separable

Array = np.ndarray

_MOST = 20_000  # functions: the products of all pairs are 3.2 GB
# The usual bounds of α/g. Above the upper one a weight is shrunk to less than a tenth of what the
# data say; at the lower one a function could explain a thousand times the energy of the targets.
_HIGH = 10.0
_ENERGIES = 1000.0
_LOW_RANGE = (1e-10, 1e-4)  # of the lower one: factors that can be told from 0, and room below 1


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is sampled.

    Attributes
    ----------
    basis : Basis
        With the length scales of the optimum.
    functions : ndarray of int, (M,)
        The candidates, as the basis numbers them.
    target : SparsePosterior
    problem : Exact
        The same model for the solvers, to find starts.
    optimum : tuple
        The first start.
    """

    basis: Basis
    functions: Array
    target: SparsePosterior
    problem: Exact
    optimum: Start
    max_iter: int
    tol: float


def build(
    model: RVR,
    samples: tuple[Array, Array, Array],
    *,
    inclusion: InclusionPrior,
    bounds: Bounds,
    noise_prior: tuple[float, float],
    per_alpha: bool,
) -> Posterior:
    """The posterior of the model of a fitted RVR, whose length scales are held.

    The samples are X, y and their weights.
    """
    X, y, weights = samples
    basis = model._fit_basis(X, weights).rescaled(model.basis_.log_scales())
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    sites = model._sites(y - model.offset_, weights, as_noise(model.noise))
    prior = as_separable(model.prior, sites.size)
    functions = _candidates(basis, X, weights)
    if functions.size > _MOST:
        raise ValueError(
            f"The basis has {functions.size} functions, and the products of all pairs of them "
            f"would fill the memory; give fewer rows or another basis, for {_MOST} at most."
        )
    design = _design(basis, functions, X)
    problem = Exact(design, prior, sites, memory_budget())
    energy, beta = problem.energy, 1.0 / model.noise_variance_
    low, high = _usual_bounds(energy, beta) if bounds is None else bounds
    norms = problem.norms
    places = np.searchsorted(functions, model.relevance_)
    shape, scale = noise_prior
    target = SparsePosterior(
        gram=_gram(design, weights, norms),
        moments=problem.moments / np.sqrt(norms),
        energy=energy,
        norms=norms,
        n_samples=sites.size,
        slab=Slab(prior, low, high, per_alpha),
        inclusion=inclusion,
        noise=NoisePrior(shape, scale * energy / sites.size, sites.noise_variance),
    )
    return Posterior(
        basis,
        functions,
        target,
        problem,
        (places, np.log(model.alpha_ / (beta * norms[places])), beta),
        model.max_iter,
        model.tol * max(1.0, sites.size / 1000.0),
    )


def _candidates(basis: Basis, X: Array, weights: Array) -> Array:
    """The distinct functions that are not zero at all samples."""
    functions = basis.distinct_
    norms = _design(basis, functions, X).squared_norms(weights)
    return functions[norms > np.finfo(np.float64).tiny]


def _design(basis: Basis, functions: Array, X: Array) -> Design:
    return make_design(
        lambda index: basis.columns(X, functions[index]), (len(X), functions.size), memory_budget()
    )


def _gram(design: Design, weights: Array, norms: Array) -> Array:
    """``ΦᵀWΦ`` of functions scaled to ``φᵀWφ = 1``."""
    total = norms.size
    gram = np.empty((total, total), order="F")
    width = max(1, design.capacity)
    for first in range(0, total, width):
        part = np.arange(first, min(first + width, total))
        gram[:, part] = design.project(weights[:, None] * design.columns(part))
    root = np.sqrt(norms)
    gram /= root[:, None]
    gram /= root
    gram.flat[:: total + 1] = 1.0
    return gram


def _usual_bounds(energy: float, beta: float) -> tuple[float, float]:
    low = 1.0 / (_ENERGIES * beta * energy) if energy > 0 else np.inf
    return float(np.clip(low, *_LOW_RANGE)), _HIGH


def run_chain(
    number: int,
    posterior: Posterior,
    method: Method,
    length: Length,
    seed: np.random.SeedSequence,
    verbose: int,
) -> Draws:
    """One chain from its own start; the first begins at the optimum."""
    begun = time.monotonic()
    rng = np.random.default_rng(seed)
    reporter = Reporter("sample_posterior", verbose, total=length.total)
    with linalg.one_thread():
        start = posterior.optimum if number == 0 else _other_optimum(posterior, rng)
        chain = method.chain(posterior.target, rng, start)
        draws = []
        for sweep in range(1, length.total + 1):
            (chain.sweep if sweep > length.n_warmup else chain.warm)()
            if sweep > length.n_warmup and (sweep - length.n_warmup) % length.thin == 0:
                draws.append(_draw(chain, rng))
            if reporter.due(sweep):
                reporter.tell(
                    f"chain {number}  {100 * sweep // length.total:3d} %  "
                    f"functions {chain.active_set.size}  noise variance {1.0 / chain.beta:.3g}  "
                    f"{time.monotonic() - begun:.1f} s"
                )
    return Draws.of(draws, posterior.target.n_functions)


def _other_optimum(posterior: Posterior, rng: np.random.Generator) -> Start:
    """Where the sequential solver ends with a random half of the functions."""
    problem, total = posterior.problem, posterior.functions.size
    half = np.sort(rng.permutation(total)[: (total + 1) // 2])
    part = problem.restrict(half)
    end = run(Sequential(), part, max_iter=posterior.max_iter, tol=posterior.tol, rng=rng)
    if end.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    state = end.state
    active = half[state.active]
    return active, np.log(state.alpha / (state.beta * problem.norms[active])), float(state.beta)


def _draw(chain: Chain, rng: np.random.Generator) -> tuple[Array, ...]:
    """The state of a chain after a sweep, weights in the user's units."""
    target, active_set, beta = chain.posterior, chain.active_set, chain.beta
    units = np.sqrt(target.norms[active_set.active])
    mean = active_set.mean
    spread = active_set.root @ rng.standard_normal(active_set.size) / np.sqrt(beta)
    return (
        active_set.active.copy(),
        active_set.x.copy(),
        mean / units,
        (mean + spread) / units,
        np.array([beta, target.log_joint(active_set, beta)]),
    )
