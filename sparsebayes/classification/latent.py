"""Latent functions behind a likelihood of labels: the fit of one model, and its probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sparsebayes._rvm.augment import Augmentation, KeptWeights
from sparsebayes._rvm.options import as_prior
from sparsebayes._rvm.progress import Progress
from sparsebayes._support.batching import batches
from sparsebayes.basis import Basis
from sparsebayes.classification import class_probability
from sparsebayes.classification.likelihood import (
    Samples,
    label_noise,
    make_sites,
    prior_of,
)
from sparsebayes.classification.temperature import Temperature, find_temperature
from sparsebayes.engine import Design, Latent, Solution, Solver
from sparsebayes.engine.model.sites import SiteExpansion

if TYPE_CHECKING:
    from sparsebayes.classification.rvc import RVC

Array = np.ndarray
Block = tuple[slice, Array, Array, Array, Array]

_LEAST_LEFT = 1e-3  # of the variance without a row, beside that with it
LEAST = 1e-6  # of a probability, where its logarithm is taken
_MOST_NOISE = 3.0  # of the variance of an extra weight, in units of that of the noise of labels


def latent_problem(model: RVC, design: Design, samples: Samples) -> Latent:
    """What is maximised: all classes in one model."""
    prior = prior_of(model.prior, model.link_)
    sites = make_sites(samples, model.classes_.size, model.link_, model.inference)
    return Latent(
        design,
        as_prior(prior, float(samples.weights.sum()), labels=True),
        sites,
        share=model.share_alpha and sites.outputs > 1,
    )


def fit_latent(
    model: RVC,
    solver: Solver,
    basis: Basis,
    design: Design,
    samples: Samples,
    progress: Progress | None,
    *,
    learn: bool,
) -> Basis:
    """One model of all classes: set the attributes of `model`; the basis at its length scales."""
    problem = latent_problem(model, design, samples)
    basis, solution = model._climb(
        solver, problem, basis, samples.rows, samples.weights, progress, learn=learn
    )
    store(model, basis, solution)
    assert solution.state.local is not None
    prepare_augment(model, samples, solution.state.local.expansion)
    return basis


def store(model: RVC, basis: Basis, solution: Solution) -> None:
    """Set the attributes of the model."""
    state = solution.state
    n_outputs = 1 if model.classes_.size == 2 else model.classes_.size
    if state.group > 1:
        function = np.repeat(state.active, n_outputs)
        output = np.tile(np.arange(n_outputs), state.active.size)
    else:
        output, function = np.divmod(state.active, basis.distinct_.size)
    function = basis.distinct_[function]
    order = np.lexsort((function, output))
    kept, column = np.unique(function, return_inverse=True)
    model._keep(basis, kept)
    model.sigma_ = state.cov[order][:, order]
    alpha = state.precisions[order]
    set_weights(
        model,
        state.mean[order], alpha, 1.0 - alpha * model.sigma_.diagonal(),
        output[order], column[order], (n_outputs, kept.size),
    )  # fmt: skip
    model._store_search(solution)


def set_weights(
    model: RVC,
    mean: Array,
    alpha: Array,
    determined: Array,
    output: Array,
    column: Array,
    shape: tuple[int, int],
) -> None:
    """From the values of the kept weights to arrays of all outputs and functions."""

    def spread(values: Array, others: float) -> Array:
        out = np.full(shape, others)
        out[output, column] = values
        return out[0] if shape[0] == 1 else out

    model.weights_ = spread(mean, 0.0)
    model.alpha_ = spread(alpha, np.inf)
    model.determined_ = spread(determined, 0.0)


def prepare_augment(model: RVC, samples: Samples, expansion: SiteExpansion) -> None:
    """Keep what `augment` needs of the rows, about whose f the likelihood is expanded."""
    latent = model.basis_.columns(samples.rows) @ np.atleast_2d(model.weights_).T
    outputs = latent.shape[1]
    curvature = np.stack([expansion.curvature(k) for k in range(outputs)], axis=1)
    center = np.average(latent, 0, samples.weights)
    spread = np.average((latent - center) ** 2, 0, samples.weights).mean()
    # Where classes can be separated f is as large as one likes; the noise of labels is not.
    variance = float(min(spread, _MOST_NOISE * label_noise(model.link_, outputs)))
    model._store_training_rows(samples.rows, expansion.slope, curvature, variance)


def probabilities(model: RVC, X: Array) -> Array:
    """Of the classes, averaged over the weight posterior, (n, K)."""
    if model.classes_.size > 2 and not hasattr(model, "estimators_"):
        return _softmax(model, X)
    average = class_probability.logit if model.link_ == "logit" else class_probability.probit
    mean, variance = marginal(model, X)
    if model.classes_.size == 2:
        both = np.concatenate([-mean, mean], axis=1)
        probability = average(both, np.repeat(variance, 2, axis=1))
    else:
        probability = average(mean, variance)
    total = probability.sum(axis=1, keepdims=True)
    # Where every class is as good as impossible, none is preferred.
    return np.divide(
        probability, total, out=np.full_like(probability, 1.0 / model.classes_.size),
        where=total > 0,
    )  # fmt: skip


def left_out_temperature(model: RVC, samples: Samples) -> Temperature:
    """From what a model of two classes says of each row without it, in closed form.

    With v the variance of f and B the curvature of the row's own likelihood, f without it has the
    variance ``v/(1 − Bv)``, and is less by that times the slope.
    """
    sites = make_sites(samples, 2, model.link_, model.inference)
    mean, variance = marginal(model, samples.rows)
    expansion = sites.expand(mean, None)
    curve = expansion.curvature(0)
    without = variance / np.maximum(1.0 - curve * variance, _LEAST_LEFT)
    mean = mean - expansion.slope * without
    average = class_probability.logit if model.link_ == "logit" else class_probability.probit
    both = np.concatenate([-mean, mean], axis=1)
    logs = log_probability(average(both, np.repeat(without, 2, axis=1)))
    none = np.zeros(len(logs))
    return find_temperature(logs, none, samples.labels, samples.weights, log_odds=True)


def log_probability(probability: Array) -> Array:
    """Logarithms that are finite."""
    return np.log(np.maximum(probability, LEAST))


def marginal(model: RVC, X: Array, *, with_variance: bool = True) -> tuple[Array, Array]:
    """Mean and variance of the latent functions, (n, K) or (n, 1)."""
    n_outputs = np.atleast_2d(model.weights_).shape[0]
    if hasattr(model, "estimators_") and hasattr(model, "augment_variance_"):
        parts = [marginal(one, X, with_variance=with_variance) for one in model.estimators_]
        return np.hstack([m for m, _ in parts]), np.hstack([v for _, v in parts])
    mean = np.empty((len(X), n_outputs))
    variance = np.zeros((len(X), n_outputs))
    for part, output, columns, center, root in _blocks(model, X):
        mean[part] = center
        for k in range(n_outputs) if with_variance else ():
            own = np.flatnonzero(output == k)
            some = columns[:, own]
            spread = np.einsum("ns,ns->n", some @ model.sigma_[np.ix_(own, own)], some)
            variance[part, k] = np.maximum(spread, 0.0) + (root[:, k] ** 2).sum(axis=1)
    return mean, variance


def latent_parts(model: RVC) -> list[tuple[KeptWeights, Augmentation | None]]:
    """The weights behind the latent functions, and the extra ones: of one model, or of several
    whose functions stand beside each other."""
    if hasattr(model, "estimators_") and hasattr(model, "augment_variance_"):
        return [part for one in model.estimators_ for part in latent_parts(one)]
    return [(model._kept_weights(), model._augmentation())]


def _blocks(model: RVC, X: Array) -> Iterator[Block]:
    """For parts of X: the slice, the kept weights' outputs and functions, latent means, roots.

    A root, (n, K, L), is that of the covariance which augmentation adds.
    """
    alpha, weights = np.atleast_2d(model.alpha_), np.atleast_2d(model.weights_)
    output, column = np.nonzero(np.isfinite(alpha))
    numbers = 4 * column.size + 10 * alpha.shape[0] ** 2
    numbers *= 8  # an eighth of the budget
    extra = model._augmentation()
    for part in batches(len(X), numbers + (0 if extra is None else extra.numbers)):
        values = model.basis_.columns(X[part])
        columns, mean = values[:, column], values @ weights.T
        root = np.zeros((*mean.shape, 0))
        if extra is not None:
            shift, root = extra.correct(X[part], columns)
            mean += shift
        yield part, output, columns, mean, root


def joint(model: RVC, X: Array) -> Iterator[tuple[slice, Array, Array]]:
    """For parts of X: the slice, means and covariances of the latent functions of a softmax."""
    n_classes = model.classes_.size
    for part, output, columns, mean, extra in _blocks(model, X):
        of_class = (output[:, None] == np.arange(n_classes)).astype(float)
        covariance = extra @ extra.transpose(0, 2, 1)
        for k in range(n_classes):
            own = np.flatnonzero(output == k)
            covariance[:, k] += (columns * (columns[:, own] @ model.sigma_[own])) @ of_class
        yield part, mean, covariance


def _softmax(model: RVC, X: Array) -> Array:
    probability = np.empty((len(X), model.classes_.size))
    for part, mean, covariance in joint(model, X):
        probability[part] = class_probability.softmax(mean, covariance)
    return probability
