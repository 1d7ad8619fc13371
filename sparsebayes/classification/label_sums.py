"""What is summed over the chunks of labelled rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsebayes._rvm.summing import columns_of, sums_over
from sparsebayes.basis import Basis
from sparsebayes.classification.least_squares import label_targets
from sparsebayes.classification.likelihood import Samples, make_sites
from sparsebayes.engine.model.sums import LabelSums, Sums
from sparsebayes.rows.chunk import Chunk
from sparsebayes.rows.sample import Sample

Array = np.ndarray

_FEW_OF_A_CLASS = 10  # rows of each class are always in the sample


@dataclass(frozen=True, eq=False)
class Survey:
    """What is to be known of labelled rows before a fit.

    Attributes
    ----------
    sample : Sample
    totals : dict
        From label to the weight of its rows.
    of_class : dict
        From label to a few of its rows.
    input_range : ndarray, (2, D)
    """

    sample: Sample
    totals: dict[Any, float]
    of_class: dict[Any, Sample]
    input_range: Array

    def __add__(self, other: Survey) -> Survey:
        totals, of_class = dict(self.totals), dict(self.of_class)
        for label, total in other.totals.items():
            known = label in totals
            totals[label] = totals[label] + total if known else total
            few = other.of_class[label]
            of_class[label] = of_class[label] + few if known else few
        low, high = np.stack([self.input_range, other.input_range], axis=1)
        both = np.stack([low.min(axis=0), high.max(axis=0)])
        return Survey(self.sample + other.sample, totals, of_class, both)


@dataclass(frozen=True)
class SurveyOf:
    """From a chunk to its survey."""

    size: int

    def __call__(self, chunk: Chunk) -> Survey:
        X, seen = chunk.X, chunk.weights > 0
        totals, of_class = {}, {}
        classes, labels = np.unique(chunk.y[seen], return_inverse=True)
        weights = np.bincount(labels, chunk.weights[seen], classes.size)
        for label, total in zip(classes.tolist(), weights.tolist(), strict=True):
            totals[label] = total
            own = replace(chunk, weights=np.where(chunk.y == label, chunk.weights, 0.0))
            of_class[label] = Sample.of(own, _FEW_OF_A_CLASS)
        found = np.array([np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)])
        if seen.any():
            found = np.stack([X[seen].min(axis=0), X[seen].max(axis=0)])
        return Survey(Sample.of(chunk, self.size), totals, of_class, found)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Classes, and by how much each counts.

    Attributes
    ----------
    classes : ndarray, (K,)
        In order.
    factors, totals : ndarray, (K,)
        By which the weights of rows are multiplied, and their sum before that.
    """

    classes: Array
    factors: Array
    totals: Array

    def numbered(self, chunk: Chunk) -> tuple[Array, Array, Array]:
        """Rows with weight, the numbers of their classes, and their weights."""
        seen = np.flatnonzero(chunk.weights > 0)
        labels = np.searchsorted(self.classes, chunk.y[seen])
        weights = chunk.weights[seen] * self.factors[labels]
        kept = weights > 0
        return chunk.X[seen[kept]], labels[kept], weights[kept]


@dataclass(frozen=True, eq=False)
class LeastSquaresOf:
    """From a chunk to the sums of a regression on its labels."""

    basis: Basis
    labelled: Labelled

    def __call__(self, chunk: Chunk) -> Sums:
        X, labels, weights = self.labelled.numbered(chunk)
        targets = label_targets(labels, self.labelled.classes.size)
        found = sums_over(self.basis, X, targets.reshape(len(X), -1), weights)
        if found is None:
            count, width = self.basis.distinct_.size, targets.shape[1:] or (1,)
            found = Sums.of(np.zeros((1, count)), np.zeros((1, *width)), np.ones(1)).times(0.0)
            found = replace(found, n_rows=0)
        return found


@dataclass(frozen=True, eq=False)
class LabelSumsOf:
    """From a chunk to the sums of its labels, expanded about a model.

    Attributes
    ----------
    active : ndarray of int, (S,)
        Functions of the model, among the distinct ones.
    weights : ndarray, (P, S)
        About the first of which it is expanded; at the others the likelihood is told.
    """

    basis: Basis
    labelled: Labelled
    link: str
    active: Array
    weights: Array

    def __call__(self, chunk: Chunk) -> LabelSums:
        X, labels, weights = self.labelled.numbered(chunk)
        total = LabelSums.nothing(self.basis.distinct_.size, len(self.weights))
        for part, columns in columns_of(self.basis, X):
            some = Samples(X[part], X[part], labels[part], weights[part])
            sites = make_sites(some, 2, self.link, "laplace")
            total = total + LabelSums.of(columns, sites, columns[:, self.active] @ self.weights.T)
        return total
