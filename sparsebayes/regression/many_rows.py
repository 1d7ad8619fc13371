"""A fit to many rows: a start from some of them, then sums over all.

With more rows than have a function each, length scales are learned from a fixed choice of rows, and
the rows that a fit to these keeps are among the centres of all. The functions are then fixed and
fewer than the rows, and the fit needs nothing of these but sums (`Statistics`), which are formed
in one pass. Evidence, weights and error bars are exact for these functions.

The rows may be held in memory, or be read chunk by chunk (`sparsebayes.rows`). Then a sample of
them stands for all where rows are looked at one by one: for length scales, centres, and error bars.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsebayes._rvm.noise import StudentT
from sparsebayes._rvm.options import Noise, as_noise_model
from sparsebayes._rvm.parts import refuse_all_rows, sample_size
from sparsebayes._rvm.progress import Progress
from sparsebayes._support.calibration import as_folds, is_splitter
from sparsebayes.basis import Basis
from sparsebayes.basis.centres import MOST_ROWS, Some, smallest
from sparsebayes.engine import Solution, Solver, Stop
from sparsebayes.engine.solvers.driver import quick
from sparsebayes.engine.solvers.refine import to_the_end
from sparsebayes.regression.held_out import HeldOut
from sparsebayes.regression.statistics import Statistics, StatisticsOf
from sparsebayes.regression.summed import likelihood_slopes, summed_problem
from sparsebayes.regression.targets import as_targets, given_variances, relative_weights
from sparsebayes.rows.source import Arrays, Rows

if TYPE_CHECKING:
    from sparsebayes.regression.rvr import RVR

Array = np.ndarray

_START = 1500  # rows from which length scales are learned
_FEW = 4  # rows for each function, at least


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows that are looked at by themselves: all, or some.

    Attributes
    ----------
    X, y, weights : ndarray
    some : Some or None
        Which of many rows these are; None if they are all.
    """

    X: Array
    y: Array
    weights: Array
    some: Some | None = None

    @property
    def numbers(self) -> Array:
        """Of the rows with weight."""
        rows = np.flatnonzero(self.weights)
        return rows if self.some is None else self.some.numbers[rows]

    @property
    def n_rows(self) -> int:
        return int(np.count_nonzero(self.weights)) if self.some is None else self.some.n_rows


def from_sums(basis: Basis, weights: Array, noise: Noise) -> bool:
    """Whether sums over the rows are to stand for them."""
    n_rows = int(np.count_nonzero(weights))
    equal = noise.tails is None and not noise.varying
    return equal and n_rows > MOST_ROWS and n_rows >= _FEW * basis.distinct_.size


def fit_arrays(
    model: RVR, solver: Solver, X: Array, y: Array, weights: Array, noise: Noise, folds: Any,
    progress: Progress,
) -> None:  # fmt: skip
    """Fit to rows that are held: the same functions as if they were read in chunks."""
    sample = Arrays(X, y, weights, labels=False).sample(sample_size(model.basis))
    some = None if sample.complete else sample.some
    basis = model._fit_basis(sample.X, sample.weights, some)
    first = HeldRows(sample.X, sample.y, sample.weights, some)
    basis, told = begin(model, solver, basis, first, noise)
    statistics = Statistics(basis).add_rows(X, y, weights)
    solve(model, solver, statistics, HeldRows(X, y, weights), noise, folds, progress)
    model.approximation_ = "; ".join([*told, f"sums over all {statistics.n_rows} rows"])


def fit_rows(model: RVR, solver: Solver, rows: Rows) -> None:
    """Fit to rows that are read in chunks; few of them are held."""
    basis, told = choose_functions(model, solver, rows)
    fit_statistics(model, solver, rows.total(StatisticsOf(basis)), told, rows.feature_names)


def choose_functions(
    model: RVR, solver: Solver, rows: Rows, *, first: bool = False
) -> tuple[Basis, list[str]]:
    """The functions of a fit to rows in chunks, and what was done to find them.

    `first` if others follow these rows.
    """
    refuse(model)
    refuse_all_rows(model.basis, type(model).__name__, rows)
    sample = rows.sample(sample_size(model.basis))
    some = None if sample.complete else sample.some
    if first:
        some = replace(sample.some, n_rows=max(MOST_ROWS + 1, sample.n_rows))
    held = HeldRows(sample.X, sample.y, sample.weights, some)
    model.n_features_in_ = held.X.shape[1]
    basis = model._fit_basis(held.X, held.weights, some)
    n_targets = held.y.shape[1] if held.y.ndim == 2 else None
    return begin(model, solver, basis, held, as_noise_model(model.noise, n_targets))


def begin(
    model: RVR, solver: Solver, basis: Basis, held: HeldRows, noise: Noise
) -> tuple[Basis, list[str]]:
    """The basis with its length scales and centres, and what was done to find them."""
    model._first_centres = None
    learns = model._learns(basis)
    chosen = any(
        kernel.centres is None and kernel.n_functions_ < held.n_rows for kernel in basis.centred
    )
    if not (learns or chosen):
        return basis, []
    rows, numbers = np.flatnonzero(held.weights), held.numbers
    place = smallest(numbers, _START)
    rows, numbers = rows[place], numbers[place]
    part = held.X[rows], held.weights[rows]
    few = model._fit_basis(*part).rescaled(basis.log_scales())
    problem = model._problem(few, part[0], held.y[rows], part[1], noise)[1]
    if problem.energy == 0 and noise.variance is None:  # these rows tell nothing
        return basis, []
    few, solution = model._climb(quick(solver), problem, few, *part, None, first=True)
    basis = basis.rescaled(few.log_scales())
    told = [f"length scales from {rows.size} rows"] if learns else []
    if chosen:
        kept = few.center_index_[few.distinct_[solution.state.active]]
        kept = np.unique(kept[kept >= 0])
        model._first_centres = numbers[kept]
        basis = basis.recentred(held.X, numbers[kept], part[0][kept])
        n_centres = np.unique(basis.center_index_[basis.center_index_ >= 0]).size
        told.append(f"{n_centres} centres, {kept.size} of them kept by a fit to {rows.size} rows")
    return basis, told


def solve(
    model: RVR, solver: Solver, statistics: Statistics, held: HeldRows, noise: Noise, folds: Any,
    progress: Progress,
) -> None:  # fmt: skip
    """Find the model from sums, and set its attributes; rows that are held tell error bars."""
    several, seen = statistics.several, held.weights > 0
    X, y, weights = held.X[seen], held.y[seen], held.weights[seen]
    targets, problem = summed_problem(model, statistics.sums, noise, several=several)
    basis, solution = model._climb(
        solver, problem, statistics.basis, X, weights, progress, learn=False
    )
    solution = ended(solution)
    model._store(basis, solution, targets)
    model._store_inputs(X, relative_weights(model.weights_, targets).T, weights)
    model._n_rows, model._input_range = statistics.n_rows, statistics.input_range
    model._drop_training_rows()
    if model.augment:
        rows = as_targets(y, weights, noise)
        kept = model._kept_weights()
        model._store_training_rows(X, *likelihood_slopes(kept, X, rows, solution))
    each = statistics.n_rows / len(X)
    model._calibrate(
        HeldOut(
            model, solver, basis, held.X, held.y, held.weights, noise, model._sites(solution),
            folds, statistics, each,
        )
    )  # fmt: skip


def ended(solution: Solution) -> Solution:
    """The same with the maximum that the search has come near, where it has converged."""
    if solution.stop is not Stop.CONVERGED:
        return solution
    return replace(solution, state=to_the_end(solution.problem, solution.state))


def fit_statistics(
    model: RVR,
    solver: Solver,
    statistics: Statistics,
    told: list[str],
    names: list[str] | None = None,
) -> None:
    """Fit to sums."""
    refuse(model)
    sample = statistics.sample
    held = HeldRows(sample.X, sample.y, sample.weights, None if sample.complete else sample.some)
    n_targets = held.y.shape[1] if held.y.ndim == 2 else None
    noise = as_noise_model(model.noise, n_targets)
    folds = as_folds(model.calibrate, held.X, held.y)
    if folds is not None and is_splitter(folds):
        raise ValueError(
            f"calibrate={model.calibrate!r} divides rows that are held in memory; for rows in "
            "chunks give 'auto', None, or a number of folds."
        )
    model.n_features_in_ = held.X.shape[1]
    model._store_names(names)
    model._noise_given = noise.variance is not None
    progress = Progress(model, held.X, held.y, model.max_iter)
    if noise.variance is not None:
        # Weights of 1 on average: a precision is no number of samples, and has a unit.
        typical = statistics.n / statistics.n_rows
        statistics = statistics.times(1.0 / typical)
        held = replace(held, weights=held.weights / typical)
        noise = Noise(noise.variance / typical)
    solve(model, solver, statistics, held, noise, folds, progress)
    model.approximation_ = "; ".join([*told, f"sums over all {statistics.n_rows} rows"])
    if model._noise_given:
        model.noise_variance_ = given_variances(model.noise, held.y)
    progress.end()


def refuse(model: RVR) -> None:
    """A clear error for what needs rows one by one."""
    found = obstacle(model)
    if found is not None:
        raise ValueError(found)


def obstacle(model: RVR) -> str | None:
    """Why sums over rows are not enough; None if they are."""
    noise, augment = model.noise, model.augment
    if isinstance(noise, StudentT) or (isinstance(noise, str) and noise in ("student", "varying")):
        return (
            f"noise={noise!r} weighs the rows one by one, which needs all of them in memory; give "
            "arrays to fit, or another noise."
        )
    if augment is not False:
        return (
            f"augment={augment!r} keeps training rows, which needs all of them in memory; give "
            "arrays to fit, or augment=False: calibrate='auto' widens the error bars too."
        )
    return None
