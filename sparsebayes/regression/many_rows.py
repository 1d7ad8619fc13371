"""A fit to many rows: a start from some of them, then sums over all.

With more rows than have a function each, length scales are learned from a fixed choice of rows, and
the rows that a fit to these keeps are among the centres of all. The functions are then fixed and
fewer than the rows, and the fit needs nothing of these but sums (`Statistics`), which are formed
in one pass. Evidence, weights and error bars are exact for these functions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparsebayes._rvm.options import Noise
from sparsebayes.basis import Basis
from sparsebayes.basis.centres import MOST_ROWS, drawn_rows
from sparsebayes.engine import Gaussian, Solver
from sparsebayes.engine.model.sums import GaussianSums, Sums
from sparsebayes.regression.statistics import Statistics
from sparsebayes.regression.targets import Targets

if TYPE_CHECKING:
    from sparsebayes.regression.rvr import RVR

Array = np.ndarray

_START = 1500  # rows from which length scales are learned
_FEW = 4  # rows for each function, at least


def from_sums(basis: Basis, weights: Array, noise: Noise) -> bool:
    """Whether sums over the rows are to stand for them."""
    n_rows = int(np.count_nonzero(weights))
    equal = noise.tails is None and not noise.varying
    return equal and n_rows > MOST_ROWS and n_rows >= _FEW * basis.distinct_.size


def begin(
    model: RVR, solver: Solver, basis: Basis, X: Array, y: Array, weights: Array, noise: Noise
) -> tuple[Basis, str]:
    """The basis with its length scales and centres, and what was done to find them."""
    rows = np.flatnonzero(weights)
    n_rows = rows.size
    summed = f"sums over all {n_rows} rows"
    learns = model._learns(basis)
    chosen = _left_to_rule(basis, n_rows)
    if not (learns or chosen):
        return basis, summed
    some = drawn_rows(rows, _START)
    some = rows if some is None else some
    part = X[some], weights[some]
    few = model._fit_basis(*part).rescaled(basis.log_scales())
    problem = model._problem(few, part[0], y[some], part[1], noise)[1]
    if problem.energy == 0 and noise.variance is None:  # these rows tell nothing
        return basis, summed
    quick = solver.quick() if hasattr(solver, "quick") else solver
    few, solution = model._climb(quick, problem, few, *part, None)
    basis = basis.rescaled(few.log_scales())
    told = [f"length scales from {some.size} rows"] if learns else []
    if chosen:
        kept = few.center_index_[few.distinct_[solution.state.active]]
        model._first_centres = np.unique(some[kept[kept >= 0]])
        basis = basis.recentred(X, model._first_centres)
        n_kept = model._first_centres.size
        n_centres = np.unique(basis.center_index_[basis.center_index_ >= 0]).size
        told.append(f"{n_centres} centres, {n_kept} of them kept by a fit to {some.size} rows")
    return basis, "; ".join([*told, summed])


def _left_to_rule(basis: Basis, n_rows: int) -> bool:
    """Whether some kernel has fewer centres than rows because nobody said how many."""
    return any(kernel.centres is None and kernel.n_functions_ < n_rows for kernel in basis.centred)


def sums_of(statistics: Statistics, X: Array, y: Array, weights: Array, rows: Array) -> Sums:
    """Those of some of the rows, as the sums over all less those over the others."""
    others = np.ones(len(X), dtype=bool)
    others[rows] = False
    rest = np.flatnonzero(others)
    if rest.size > rows.size:
        return Statistics(statistics.basis).add_rows(X[rows], y[rows], weights[rows]).sums
    left = Statistics(statistics.basis).add_rows(X[rest], y[rest], weights[rest])
    return (statistics - left).sums


def summed_sites(sums: Sums, targets: Targets) -> Gaussian:
    """The sites of targets, from sums over them."""
    sites = targets.sites
    return sums.sites(
        targets.offset,
        targets.varying,
        noise_variance=sites.noise_variance,
        noise_shape=sites.noise_shape,
        noise_rate=sites.noise_rate,
        levels=sites.levels,
    )


def with_rows(found: Gaussian, targets: Targets) -> Gaussian:
    """Sites after a fit, with their samples where only sums were used."""
    if not isinstance(found, GaussianSums):
        return found
    sites = targets.sites
    if sites.levels is None or found.levels is None:
        return sites
    target = sites.target * (sites.levels / found.levels)
    return replace(sites, target=target, levels=found.levels)
