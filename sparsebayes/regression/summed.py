"""A regression from sums over its rows: the problem, sums over some rows, and slopes at rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparsebayes._rvm.augment import KeptWeights
from sparsebayes._rvm.options import Noise, as_prior
from sparsebayes.engine import Exact, Gaussian, Solution
from sparsebayes.engine.model.sums import GaussianSums, Sums
from sparsebayes.regression.statistics import Statistics
from sparsebayes.regression.targets import Targets, summed_targets

if TYPE_CHECKING:
    from sparsebayes.regression.rvr import RVR

Array = np.ndarray


def summed_problem(model: RVR, sums: Sums, noise: Noise, *, several: bool) -> tuple[Targets, Exact]:
    """The targets, centred, and what is to be maximised for them."""
    targets = summed_targets(sums, noise, several=several)
    prior = as_prior(model.prior, targets.sites.size)
    return targets, Exact(sums.design(), prior, targets.sites)


def sums_of(statistics: Statistics, X: Array, y: Array, weights: Array, rows: Array) -> Sums:
    """Those without the rows of X that are not among `rows`; X has all rows, or some."""
    others = np.ones(len(X), dtype=bool)
    others[rows] = False
    rest = np.flatnonzero(others & (weights > 0))
    every = np.count_nonzero(weights) == statistics.n_rows
    if every and rest.size > rows.size:
        return Statistics(statistics.basis).add_rows(X[rows], y[rows], weights[rows]).sums
    if not rest.size:
        return statistics.sums
    left = Statistics(statistics.basis).add_rows(X[rest], y[rest], weights[rest])
    return (statistics - left).sums


def with_rows(found: Gaussian, targets: Targets) -> Gaussian:
    """Sites after a fit, with their samples where only sums were used."""
    if not isinstance(found, GaussianSums):
        return found
    sites = targets.sites
    if sites.levels is None or found.levels is None:
        return sites
    target = sites.target * (sites.levels / found.levels)
    return replace(sites, target=target, levels=found.levels)


def likelihood_slopes(
    kept: KeptWeights, X: Array, targets: Targets, solution: Solution
) -> tuple[Array, Array, float]:
    """Derivatives of the log likelihood at X, (N, K) and (N, 1, 1), and the targets' variance."""
    assert isinstance(solution.problem, Exact)
    sites = with_rows(solution.problem.sites, targets)
    residual = targets.filled(sites.target) - kept.basis.columns(X) @ kept.mean
    curve = (sites.weights / float(1.0 / solution.state.beta))[:, None]
    variance = float(sites.energies.mean() / sites.weights.sum())
    return curve * residual.reshape(len(residual), -1), curve[:, None], variance
