"""Classes by least squares: a regression on labels, and probabilities from its outputs.

Each class has a target that is 1 for its samples and 0 for the others, or ±1 for two classes. All
of them are fitted at once, with one precision for each function and a common noise (`Exact` with
several targets). A likelihood of labels has nothing more to learn once the classes are separated;
Gaussian noise goes on asking for functions, which is where the accuracy comes from. Probabilities
are made of the outputs by a `Temperature`, found at outputs for each row with itself left out, in
closed form: ``y − (y − f)/(1 − h)`` with h the row's own share in its output.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparsebayes._rvm.augment import KeptWeights
from sparsebayes._rvm.covariance import Covariance
from sparsebayes._rvm.options import as_prior
from sparsebayes._rvm.predictive import LinearPredictive
from sparsebayes._rvm.progress import Progress
from sparsebayes._support.batching import memory_budget
from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes.basis import Basis
from sparsebayes.classification.likelihood import FEW_CLASSES, Samples, prior_of
from sparsebayes.classification.temperature import Temperature, find_temperature
from sparsebayes.classification.thinning import thinned
from sparsebayes.engine import Exact, Gaussian, Solution, Solver, State
from sparsebayes.engine.model.unequal_noise import Given
from sparsebayes.engine.solvers.driver import quick

if TYPE_CHECKING:
    from sparsebayes.classification.rvc import RVC

Array = np.ndarray

_MOST_OWN = 0.999  # of h: beyond it a row is predicted by itself alone


def label_targets(labels: Array, n_classes: int) -> Array:
    """A column for each class, (N, K); for two classes ±1, (N,)."""
    targets = np.eye(n_classes)[labels]
    return targets[:, 1] - targets[:, 0] if n_classes == 2 else targets


def label_sites(model: RVC, samples: Samples) -> tuple[Gaussian, Array, Array]:
    """Those of the regression on labels, its targets, and their means."""
    n_classes = model.classes_.size
    targets = label_targets(samples.labels, n_classes)
    offset = np.asarray(np.average(targets, axis=0, weights=samples.weights))[()]
    once, precisions = np.ones(len(targets)), samples.weights / samples.weights.mean()
    n_targets = 1 if n_classes == 2 else n_classes
    unequal = None if np.all(precisions == 1.0) else Given(precisions, once, n_targets)
    return Gaussian(targets - offset, once, unequal=unequal), targets, offset


def label_problem(model: RVC, basis: Basis, samples: Samples) -> tuple[Exact, Array, Array]:
    """The regression on labels, its targets, and their means."""
    sites, targets, offset = label_sites(model, samples)
    prior = as_prior(prior_of(model.prior, "least_squares"), sites.size)
    design = model._design(basis, samples.rows)
    return Exact(design, prior, sites, memory_budget()), targets, offset


def fit_least_squares(
    model: RVC,
    solver: Solver,
    basis: Basis,
    samples: Samples,
    progress: Progress | None,
    *,
    learn: bool,
) -> Basis:
    """Fit all classes, and set the attributes of the model; the basis at its length scales."""
    samples = merged(samples)
    problem, targets, offset = label_problem(model, basis, samples)
    if model.classes_.size > FEW_CLASSES:
        solver = quick(solver)  # more functions than are kept are found all the same
    basis, solution = model._climb(
        solver, problem, basis, samples.rows, samples.weights, progress, learn=learn
    )
    if solution.theta is not None:
        problem = problem.rebase(model._design(basis, samples.rows))

    def loss(state: State) -> float:
        columns = problem.design.columns(state.active)
        spread = np.einsum("ns,ns->n", columns @ state.cov, columns)
        left = _left_out(columns @ state.mean + offset, spread, state.beta, samples, targets)
        found = find_temperature(*left, samples.labels, samples.weights)
        logs = found.log_probability(*left)[np.arange(len(targets)), samples.labels]
        return -float(np.average(logs, weights=samples.weights))

    solution = thinned(problem, solution, loss)
    store(model, basis, offset, solution)
    prepare_augment(model, samples, problem.sites, solution)
    return basis


def prepare_augment(model: RVC, samples: Samples, sites: Gaussian, solution: Solution) -> None:
    """Keep what `augment` needs of the rows."""
    kept = kept_weights(model)
    residual = sites.target - kept.basis.columns(samples.rows) @ kept.mean
    curve = (solution.state.beta * sites.weights)[:, None]
    variance = float(sites.energies.mean() / sites.weights.sum())
    slope = curve * residual.reshape(len(residual), -1)
    model._store_training_rows(samples.rows, slope, curve[:, None], variance)


def merged(samples: Samples) -> Samples:
    """Equal rows with equal labels as one sample with their weight.

    Were they kept apart they would say that there is no noise at all; a weight of 2 is the same.
    """
    both = np.column_stack([samples.rows, samples.labels])
    first, place = distinct_rows(both)
    order = np.argsort(first)  # that of the samples
    weights = np.bincount(place, samples.weights)
    first, weights = first[order], weights[order]
    return replace(samples, rows=samples.rows[first], labels=samples.labels[first], weights=weights)


def store(model: RVC, basis: Basis, offset: Array, solution: Solution) -> None:
    """Set the attributes of the model."""
    state = solution.state
    functions = basis.distinct_[state.active]
    order = np.argsort(functions)
    model._keep(basis, functions[order])
    model.offset_, model.noise_variance_ = offset, float(1.0 / state.beta)
    model.weights_ = state.mean[order].T
    shape = model.weights_.shape
    model.alpha_ = np.broadcast_to(state.alpha[order], shape).copy()
    model.determined_ = np.broadcast_to(state.determined[order], shape).copy()
    model.sigma_ = state.cov[order][:, order]
    model._sigma_root = None if state.residual is None else state.root[order]
    model._store_search(solution, 1 if len(shape) == 1 else shape[0])


def kept_weights(model: RVC) -> KeptWeights:
    """Means of each class, and a covariance that all classes have."""
    alpha = np.atleast_2d(model.alpha_)[0]
    every = np.arange(alpha.size)
    covariance = Covariance(model.sigma_, model._sigma_root)
    return KeptWeights(
        model.basis_, model.weights_.T, covariance, alpha, np.zeros_like(every), every
    )


def outputs(model: RVC) -> LinearPredictive:
    """The predictive distribution of the outputs, without the noise."""
    kept = kept_weights(model)
    unit = np.ones(len(model.weights_)) if model.weights_.ndim == 2 else 1.0
    return LinearPredictive(
        kept.basis, kept.mean, kept.sigma, model.offset_, 0.0, model._augmentation(), unit=unit
    )


def class_outputs(model: RVC, X: Array) -> tuple[Array, Array]:
    """An output for each class at the rows of X, (n, K), and their common variance, (n,)."""
    mean, variance = outputs(model).marginal(X)
    return by_class(mean), variance if variance.ndim == 1 else variance[:, 0]


def by_class(mean: Array) -> Array:
    """An output for each class; of two classes there is one, of the second."""
    return mean if mean.ndim == 2 else np.column_stack([-0.5 * mean, 0.5 * mean])


def left_out_temperature(model: RVC, samples: Samples) -> Temperature:
    """From what the model says of each row without it, in closed form."""
    samples = merged(samples)
    targets = label_targets(samples.labels, model.classes_.size)
    mean, variance = outputs(model).marginal(samples.rows)
    spread = variance if variance.ndim == 1 else variance[:, 0]
    left = _left_out(mean, spread, 1.0 / model.noise_variance_, samples, targets)
    return find_temperature(*left, samples.labels, samples.weights)


def _left_out(
    mean: Array, spread: Array, beta: float, samples: Samples, targets: Array
) -> tuple[Array, Array]:
    """An output for each class and row, and its variance, without that row."""
    own = np.minimum(samples.weights / samples.weights.mean() * spread * beta, _MOST_OWN)
    left = (targets - mean) / (1.0 - own if mean.ndim == 1 else (1.0 - own)[:, None])
    return by_class(targets - left), spread / (1.0 - own)
