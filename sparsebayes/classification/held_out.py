"""Fits to some of the rows, and what they say of the labels of others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparsebayes._support.calibration import Fold
from sparsebayes._support.equal_rows import distinct_rows
from sparsebayes.basis import Basis
from sparsebayes.classification import latent, least_squares
from sparsebayes.classification.likelihood import Samples
from sparsebayes.classification.temperature import Temperature, find_temperature
from sparsebayes.engine import Solver

if TYPE_CHECKING:
    from sparsebayes.classification.rvc import RVC

Array = np.ndarray

_FOLD_TOL = 1.0  # nats for 1000 samples at which a fit to some folds ends
_FEW_OF_A_CLASS = 10  # are always among some of the samples


class Candidate(NamedTuple):
    """A likelihood, and length scales.

    Attributes
    ----------
    link : str
    log_scales : ndarray
    n_learned : int
        How many of them were learned from the labels.
    """

    link: str
    log_scales: Array
    n_learned: int = 0


class Held(NamedTuple):
    """Outputs for each class at rows that were held out, with what is known of these rows.

    Attributes
    ----------
    outputs, variance : ndarray, (n, K) and (n,)
    labels, weights : ndarray, (n,)
    """

    outputs: Array
    variance: Array
    labels: Array
    weights: Array

    def temperature(self, link: str) -> Temperature:
        return find_temperature(*self, log_odds=link != "least_squares")

    def losses(self, link: str) -> Array:
        """Minus the log probability of each label."""
        logs = self.temperature(link).log_probability(self.outputs, self.variance)
        return -logs[np.arange(len(logs)), self.labels]


def joined(parts: list[Held]) -> Held:
    """The rows of all folds."""
    return Held(*map(np.concatenate, zip(*parts, strict=True)))


def held_out(
    model: RVC, solver: Solver, candidate: Candidate, samples: Samples, fold: Fold
) -> Held:
    """What a fit to the first rows of a fold says of the others."""
    train, test = fold
    rows, n_classes = samples.rows[test], model.classes_.size
    known = samples.labels[test], samples.weights[test]
    by_least_squares = candidate.link == "least_squares"
    seen, labels = np.unique(samples.labels[train], return_inverse=True)
    if seen.size == 1:  # all that was seen is one class: in the units of other folds
        alone = (
            np.eye(n_classes)[seen]
            if by_least_squares
            else latent.log_probability(np.eye(n_classes)[seen])
        )
        return Held(np.tile(alone, (len(rows), 1)), np.zeros(len(rows)), *known)
    parameters = model.get_params(deep=False) | {
        "link": candidate.link, "adapt": None, "calibrate": None,
        "tol": max(model.tol, _FOLD_TOL), "verbose": 0,
    }  # fmt: skip
    part = type(model)(**parameters)
    part.n_features_in_ = model.n_features_in_
    part.link_, part.multi_class_ = candidate.link, model.multi_class_
    # A target of a class without a sample is constant; a likelihood has none for it.
    part.classes_ = np.arange(n_classes) if by_least_squares else seen
    labels = samples.labels[train] if by_least_squares else labels
    X, weights = samples.rows[train], samples.weights[train]
    part.class_prior_ = np.bincount(labels, weights, part.classes_.size) / weights.sum()
    basis = at_scales(part._fit_basis(X, weights), candidate.log_scales)
    part._fit_samples(solver, basis, Samples(X, X, labels, weights), None, learn=False)
    if by_least_squares:
        return Held(*least_squares.class_outputs(part, rows), *known)
    probability = np.zeros((len(rows), n_classes))
    probability[:, seen] = latent.probabilities(part, rows)
    return Held(latent.log_probability(probability), np.zeros(len(rows)), *known)


def at_scales(basis: Basis, log_scales: Array) -> Basis:
    """The same basis, where it has these scales already: a logarithm would change a last digit."""
    same = np.array_equal(basis.log_scales(), log_scales)
    return basis if same else basis.rescaled(log_scales)


def latent_outputs(model: RVC, X: Array) -> tuple[Array, Array]:
    """Log probabilities as they are, which a `Temperature` of held-out rows corrects."""
    logs = latent.log_probability(latent.probabilities(model, X))
    return logs, np.zeros(len(logs))


def temperature_of(model: RVC) -> Temperature | None:
    """What corrects the outputs of a fitted model; None if nothing does."""
    return model._temperature


def spread_sample(samples: Samples, most: int) -> Samples:
    """At most about so many of the samples, of all classes, whatever their order."""
    count = len(samples.rows)
    if count <= most:
        return samples
    first, place = distinct_rows(samples.rows)
    key = np.random.default_rng(0).permutation(len(first))[place]
    chosen = []
    for k in np.unique(samples.labels):
        own = np.flatnonzero(samples.labels == k)
        size = max(int(np.ceil(most * own.size / count)), min(own.size, _FEW_OF_A_CLASS))
        chosen.append(own[np.argsort(key[own], kind="stable")[:size]])
    index = np.sort(np.concatenate(chosen))
    return replace(
        samples, X=samples.rows[index], rows=samples.rows[index], labels=samples.labels[index],
        weights=samples.weights[index],
    )  # fmt: skip
