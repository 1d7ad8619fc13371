"""Where a fit with outliers begins: a first guess of which samples are far from the others.

A search that takes all samples as equal puts functions where the outliers are, and no later turn
takes them away. So before it, functions that share one precision are fitted to some of the samples
with Student's t, at several scales and precisions; each has its weights found in turns with the
noise of the samples. The one with most evidence says how far every sample is off. Where inputs have
length scales of their own these are then learned with what is known by now, and the same is done
once more there: with one scale for all inputs too much looks far off. This is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sparsebayes._support.fits.clock import share_of_time, time_is_up
from sparsebayes.engine.model.design import Dense
from sparsebayes.engine.model.exact import Exact
from sparsebayes.engine.model.gaussian import Gaussian
from sparsebayes.engine.model.posterior import State
from sparsebayes.engine.model.priors import Flat
from sparsebayes.engine.model.unequal_noise import Tails
from sparsebayes.engine.solvers.scales.adaptive import as_process, learn
from sparsebayes.engine.solvers.scales.family import Family
from sparsebayes.engine.solvers.trials import spread_over

Array = np.ndarray
Columns = Callable[[Array], Array]  # the functions of an index at all samples

_ROWS, _FUNCTIONS = 256, 96  # of those that are looked at, at first
_MORE = 2  # times as many at the scales that were learned
_RATIOS = (1e-1, 1e-2, 1e-4)  # of the shared precision and β N
_FEW, _MANY = 4, 25  # turns for each start, and for the best of them
_BEST = 3
_SHARE = 0.5  # of the time of a fit, where that is limited
_AT_ONCE = 16  # functions evaluated at all samples: of a million, 128 MB
_NU = 4.0  # at first
_ENOUGH = 1e-3  # nats in a turn, at which they end


def robust_start(problem: Exact, family: Family | None, nu: float | None) -> Tails:
    """The precisions of all samples to begin with; `nu` if it is known."""
    with share_of_time(_SHARE):
        return _robust_start(problem, family, nu)


def _robust_start(problem: Exact, family: Family | None, nu: float | None) -> Tails:
    if family is None or not family.start.size:
        return _guess(problem, None, np.empty((1, 0)), nu)
    tails = _guess(problem, family, family.trials, nu)
    if family.start.size == 1 or not as_process(problem, family) or time_is_up():
        return tails
    seen = replace(problem.sites, unequal=tails)
    theta = learn(Exact(problem.design, problem.prior, seen), family)
    return _guess(problem, family, theta[None], nu, _MORE)


def _guess(
    problem: Exact, family: Family | None, thetas: Array, nu: float | None, more: int = 1
) -> Tails:
    """The same from functions at some scales, (k, T), with so many times the usual number."""
    sites = problem.sites
    index = spread_over(problem, min(problem.n_functions, more * _FUNCTIONS))
    n_rows = len(sites.counts)
    chosen = np.sort(np.random.default_rng(0).permutation(n_rows)[: more * _ROWS])
    some = sites.rows(chosen)
    start = some.counts, np.zeros(chosen.size), nu or _NU, nu is None, sites.n_targets
    some = Gaussian(some.target, some.counts, None, 0.0, 0.0, some.levels, Tails(*start))
    ends: list[tuple[tuple[Exact, State], float, Columns]] = []
    for columns, at_chosen in _designs(problem, family, thetas, index, chosen):
        if ends and time_is_up():
            break
        at_rows = Exact(Dense(at_chosen), Flat(), some)
        for ratio in _RATIOS:
            end = _turns(at_rows, ratio, _FEW)
            if end is not None:
                ends.append((end, ratio, columns))
    ends = sorted(ends, key=lambda each: -each[0][1].objective)[:_BEST]
    best: tuple[Exact, State] | None = None
    for (at_rows, _), ratio, columns in ends:
        if best is not None and time_is_up():
            break
        found = _turns(at_rows, ratio, _MANY)
        if found is not None and (best is None or found[1].objective > best[1].objective):
            best, seen = found, columns
    if best is None:  # no function differs from rounding: the targets alone tell
        squares = problem.beta * (sites.target**2).reshape(n_rows, -1).sum(axis=1)
        return Tails(sites.counts, squares, *start[2:])
    at_rows, state = best
    tails = at_rows.sites.unequal
    assert isinstance(tails, Tails)
    factor = 1.0
    if sites.levels is not None and at_rows.sites.levels is not None:
        factor = at_rows.sites.levels / sites.levels
    residual = sites.target / factor
    for first in range(0, index.size, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        residual = residual - seen(index[part]) @ state.mean[part]
    squares = state.beta * (residual**2).reshape(n_rows, -1).sum(axis=1)
    return Tails(sites.counts, squares, tails.nu, *start[3:])


def _designs(
    problem: Exact, family: Family | None, thetas: Array, index: Array, rows: Array
) -> Iterator[tuple[Columns, Array]]:
    """What gives functions at all samples, and those of an index at some of them; at each scale."""
    if family is None:
        yield problem.design.columns, problem.design.columns(index)[rows]
        return
    for theta in thetas:
        yield partial(family.columns, theta), family.columns(theta, index, rows)


def _turns(problem: Exact, ratio: float, count: int) -> tuple[Exact, State] | None:
    """Weights, noise and the precisions of the samples in turns, none of which falls."""
    every = np.arange(problem.n_functions)
    beta, state = problem.beta, None
    for _ in range(count):
        alpha = np.full(every.size, ratio * beta * float(problem.norms.mean()))
        new = problem.evaluate(every, alpha, beta)
        if new is None:
            break
        gain = np.inf if state is None else new.objective - state.objective
        state = new
        if gain < _ENOUGH:
            break
        problem = problem.revised(state)
        spread = problem.scatter(state) + state.n_determined / beta
        beta = min(problem.count / spread, problem.max_beta) if spread > 0 else beta
    return None if state is None else (problem, state)
