"""Chains: each from its own start, to draws."""

from __future__ import annotations

import time

import numpy as np

from sparsebayes._support.reporting import Reporter
from sparsebayes.engine import Sequential, linalg, run
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
        sampler = model.sampler(method, rng, start)
        draws = []
        for sweep in range(1, length.total + 1):
            (sampler.sweep if sweep > length.n_warmup else sampler.warm)()
            if sweep > length.n_warmup and (sweep - length.n_warmup) % length.thin == 0:
                draws.append(sampler.draw())
            if reporter.due(sweep):
                reporter.tell(
                    f"chain {number}  {100 * sweep // length.total:3d} %  "
                    f"{sampler.status}  {time.monotonic() - begun:.1f} s"
                )
    return Draws.of(draws, model.problem.norms.size, model.outputs)


def _other_optimum(model: SampledModel, rng: np.random.Generator) -> Start:
    """Where the sequential solver ends with a random half of the functions."""
    problem, total = model.problem, model.problem.norms.size
    if not total:
        return model.optimum
    half = np.sort(rng.permutation(total)[: (total + 1) // 2])
    part = problem.restrict(half)
    end = run(Sequential(), part, max_iter=model.max_iter, tol=model.tol, rng=rng)
    state = end.state
    active = half[state.active]
    return active, np.log(state.alpha / (state.beta * problem.norms[active])), float(state.beta)
