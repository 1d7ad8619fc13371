"""Chains: each from its own start, to draws."""

from __future__ import annotations

import time

import numpy as np

from sparsebayes._support.reporting import Reporter
from sparsebayes.engine import Sequential, linalg, run
from sparsebayes.engine.mcmc.chain import Chain
from sparsebayes.sampling.draws import Draws
from sparsebayes.sampling.methods import SamplingMethod, Start
from sparsebayes.sampling.options import Length
from sparsebayes.sampling.sampled_model import SampledModel

Array = np.ndarray


def run_chain(
    number: int,
    model: SampledModel,
    method: SamplingMethod,
    length: Length,
    seed: np.random.SeedSequence,
    verbose: int,
) -> Draws:
    """One chain from its own start; the first begins at the optimum."""
    begun = time.monotonic()
    rng = np.random.default_rng(seed)
    reporter = Reporter("sample_posterior", verbose, total=length.total)
    with linalg.one_thread():
        start = model.optimum if number == 0 else _other_optimum(model, rng)
        chain = method.chain(model.posterior, rng, start)
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
    return Draws.of(draws, model.posterior.n_functions)


def _other_optimum(model: SampledModel, rng: np.random.Generator) -> Start:
    """Where the sequential solver ends with a random half of the functions."""
    problem, total = model.problem, model.functions.size
    half = np.sort(rng.permutation(total)[: (total + 1) // 2])
    part = problem.restrict(half)
    end = run(Sequential(), part, max_iter=model.max_iter, tol=model.tol, rng=rng)
    state = end.state
    active = half[state.active]
    return active, np.log(state.alpha / (state.beta * problem.norms[active])), float(state.beta)


def _draw(chain: Chain, rng: np.random.Generator) -> tuple[Array, ...]:
    """The state of a chain after a sweep, weights in the user's units."""
    posterior, active_set, beta = chain.posterior, chain.active_set, chain.beta
    units = np.sqrt(posterior.norms[active_set.active])
    mean = active_set.mean
    spread = active_set.root @ rng.standard_normal(active_set.size) / np.sqrt(beta)
    return (
        active_set.active.copy(),
        active_set.x.copy(),
        mean / units,
        (mean + spread) / units,
        np.array([beta, posterior.log_joint(active_set, beta)]),
    )
