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
from sparsebayes.basis import Basis
from sparsebayes.classification.likelihood import Samples
from sparsebayes.classification.temperature import find_temperature
from sparsebayes.engine import Exact, Gaussian, Solution, Solver
from sparsebayes.engine.model.unequal_noise import Given

if TYPE_CHECKING:
    from sparsebayes.classification.rvc import RVC

Array = np.ndarray

_MOST_OWN = 0.999  # of h: beyond it a row is predicted by itself alone


def fit_least_squares(
    model: RVC, solver: Solver, basis: Basis, samples: Samples, progress: Progress
) -> None:
    """Fit all classes, and set the attributes of the model."""
    n_classes, samples = model.classes_.size, _merged(samples)
    targets = np.eye(n_classes)[samples.labels]
    if n_classes == 2:
        targets = targets[:, 1] - targets[:, 0]
    offset = np.average(targets, axis=0, weights=samples.weights)
    once, precisions = np.ones(len(targets)), samples.weights / samples.weights.mean()
    n_targets = 1 if n_classes == 2 else n_classes
    unequal = None if np.all(precisions == 1.0) else Given(precisions, once, n_targets)
    sites = Gaussian(targets - offset, once, unequal=unequal)
    prior = as_prior(model.prior, sites.size)
    problem = Exact(model._design(basis, samples.rows), prior, sites, memory_budget())
    basis, solution = model._climb(solver, problem, basis, samples.rows, samples.weights, progress)
    _store(model, basis, samples, offset, solution)
    kept = kept_weights(model)
    residual = sites.target - kept.basis.columns(samples.rows) @ kept.mean
    curve = (solution.state.beta * sites.weights)[:, None]
    variance = float(sites.energies.mean() / sites.weights.sum())
    slope = curve * residual.reshape(len(residual), -1)
    model._store_training_rows(samples.rows, slope, curve[:, None], variance)
    model._temperature = _left_out_temperature(model, samples, targets)


def _merged(samples: Samples) -> Samples:
    """Equal rows with equal labels as one sample with their weight.

    Were they kept apart they would say that there is no noise at all; a weight of 2 is the same.
    """
    both = np.column_stack([samples.rows, samples.labels])
    _, first, place = np.unique(both, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # that of the samples
    weights = np.bincount(place.ravel(), samples.weights)
    first, weights = first[order], weights[order]
    return replace(samples, rows=samples.rows[first], labels=samples.labels[first], weights=weights)


def _store(model: RVC, basis: Basis, samples: Samples, offset: Array, solution: Solution) -> None:
    state = solution.state
    functions = basis.distinct_[state.active]
    order = np.argsort(functions)
    model._keep(basis, samples.X, functions[order])
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


def log_probabilities(model: RVC, X: Array) -> Array:
    """Of the classes at the rows of X, (n, K)."""
    mean, variance = outputs(model).marginal(X)
    variance = variance if variance.ndim == 1 else variance[:, 0]  # the same for all classes
    return model._temperature.log_probability(_by_class(mean), variance)


def _by_class(mean: Array) -> Array:
    """An output for each class; of two classes there is one, of the second."""
    return mean if mean.ndim == 2 else np.column_stack([-0.5 * mean, 0.5 * mean])


def _left_out_temperature(model: RVC, samples: Samples, targets: Array) -> object:
    """From what the model says of each row without it."""
    mean, variance = outputs(model).marginal(samples.rows)
    spread = variance if variance.ndim == 1 else variance[:, 0]
    precisions = samples.weights / samples.weights.mean()
    own = np.minimum(precisions * spread / model.noise_variance_, _MOST_OWN)
    left = (targets - mean) / (1.0 - own if mean.ndim == 1 else (1.0 - own)[:, None])
    return find_temperature(
        _by_class(targets - left), spread / (1.0 - own), samples.labels, samples.weights
    )
