"""What is sampled: the model of a fitted RVR or RVC, as the engine's samplers see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._rvm.base import RelevanceVectorMachine
from sparsebayes._rvm.options import as_noise_model
from sparsebayes._support.batching import memory_budget
from sparsebayes.basis import Basis
from sparsebayes.classification import RVC
from sparsebayes.classification.class_weight import weigh_classes
from sparsebayes.classification.latent import latent_problem
from sparsebayes.classification.likelihood import Samples
from sparsebayes.engine import Design, Exact, Latent, make_design
from sparsebayes.engine.mcmc.chain import ModelSampler
from sparsebayes.engine.mcmc.labels import Labels, LabelSampler
from sparsebayes.engine.mcmc.posterior import SparsePosterior
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.engine.mcmc.products import GramProducts, SiteProducts
from sparsebayes.engine.model.prior import Separable
from sparsebayes.regression import RVR
from sparsebayes.regression.targets import as_targets
from sparsebayes.sampling.methods import Bounds, SamplingMethod, Start
from sparsebayes.sampling.options import as_separable

Array = np.ndarray

_MOST = 20_000  # functions: the products of all pairs are 3.2 GB
# The usual bounds of α/g. Above the upper one a weight is shrunk to less than a tenth of what the
# data say; at the lower one a function could explain a thousand times the energy of the targets.
_HIGH = 10.0
_ENERGIES = 1000.0
_LOW_RANGE = (1e-10, 1e-4)  # of the lower one: factors that can be told from 0, and room below 1


@dataclass(frozen=True, eq=False)
class Observed:
    """The training samples that have weight.

    Attributes
    ----------
    rows, targets, weights : ndarray, (n, D), (n,) and (n,)
        Targets are numbers, of classes those of the classes.
    places : ndarray of int, (n,)
        Which of all rows they are.
    """

    rows: Array
    targets: Array
    weights: Array
    places: Array

    @classmethod
    def of(cls, X: Array, y: Array, weights: Array) -> Observed:
        places = np.flatnonzero(weights)
        return cls(X[places], y[places], weights[places], places)


@dataclass(frozen=True, eq=False)
class Priors:
    """What the caller says of the model, besides the estimator."""

    inclusion: InclusionPrior
    bounds: Bounds
    noise: tuple[float, float]
    per_alpha: bool

    def slab(self, prior: Separable, energy: float, beta: float) -> Slab:
        """The density of precisions, with the usual bounds where none are given."""
        low, high = _usual_bounds(energy, beta) if self.bounds is None else self.bounds
        return Slab(prior, low, high, self.per_alpha)


@dataclass(frozen=True, eq=False)
class SampledModel:
    """A model for the samplers and for the solvers that find their starts.

    Attributes
    ----------
    basis : Basis
        With the length scales of the optimum.
    functions : ndarray of int, (M,)
        The candidates, as the basis numbers them.
    posterior : SparsePosterior
        Of these functions.
    problem : Exact or Latent
        The same model for the solvers, to find starts.
    optimum : tuple
        The first start: active functions, their log(α/g), β.
    max_iter, tol : int, float
        Of the solver that finds the other starts.
    observed : Observed
    """

    basis: Basis
    functions: Array
    posterior: SparsePosterior
    problem: Exact | Latent
    optimum: Start
    max_iter: int
    tol: float
    observed: Observed

    @property
    def outputs(self) -> int:
        """How many functions f there are."""
        return 1

    def sampler(
        self, method: SamplingMethod, rng: np.random.Generator, start: Start
    ) -> ModelSampler:
        """A chain at its start."""
        return method.chain(self.posterior, rng, start)


@dataclass(frozen=True, eq=False)
class LabelModel(SampledModel):
    """The model of a classification: functions of each output, numbered one after the other.

    Attributes
    ----------
    labels : Labels
    matrix : ndarray, (n, M)
        The functions at the samples, scaled as the posterior has them.
    """

    labels: Labels
    matrix: Array

    @property
    def outputs(self) -> int:
        return self.labels.outputs

    def sampler(
        self, method: SamplingMethod, rng: np.random.Generator, start: Start
    ) -> ModelSampler:
        active, x, beta = start
        output, function = np.divmod(active, max(1, self.functions.size))
        parts = [output == k for k in range(self.outputs)]
        chains = [
            method.chain(self.posterior, rng, (function[part], x[part], beta)) for part in parts
        ]
        return LabelSampler(chains, self.matrix, self.labels)


def build(model: RVR, samples: tuple[Array, Array, Array], priors: Priors) -> SampledModel:
    """The model of a fitted RVR, whose length scales are held.

    The samples are X, y and their weights.
    """
    basis = _held_basis(model, samples[0], samples[2])
    observed = Observed.of(*samples)
    weights = observed.weights
    sites = as_targets(observed.targets, weights, as_noise_model(model.noise)).sites
    prior = as_separable(model.prior, sites.size)
    functions, design = _candidates(basis, observed)
    problem = Exact(design, prior, sites, memory_budget())
    energy, beta, norms = problem.energy, 1.0 / float(model.noise_variance_), problem.norms
    places = np.searchsorted(functions, model.relevance_)
    shape, scale = priors.noise
    posterior = SparsePosterior(
        products=GramProducts(
            _gram(design, weights, norms), problem.moments / np.sqrt(norms), energy
        ),
        norms=norms,
        n_samples=sites.size,
        slab=priors.slab(prior, energy, beta),
        inclusion=priors.inclusion,
        noise=NoisePrior(
            shape + sites.noise_shape,
            scale * energy / sites.size + sites.noise_rate,
            sites.noise_variance,
        ),
    )
    return SampledModel(
        basis,
        functions,
        posterior,
        problem,
        (places, np.log(model.alpha_ / (beta * norms[places])), beta),
        model.max_iter,
        model.tol * max(1.0, sites.size / 1000.0),
        observed,
    )


def build_labels(model: RVC, samples: tuple[Array, Array, Array], priors: Priors) -> LabelModel:
    """The model of a fitted RVC with a logit or softmax, whose length scales are held.

    Precisions are compared with what the labels say where f = 0: there a sample's precision is 1/4
    of its weight, (K − 1)/K² for K classes, and no target of a site is off by more than 2.
    """
    X, y, weights = samples
    weights = weigh_classes(model.class_weight, y, weights)
    basis = _held_basis(model, X, weights)
    labels = np.searchsorted(model.classes_, np.where(weights > 0, y, model.classes_[0]))
    observed = Observed.of(X, labels, weights)
    functions, design = _candidates(basis, observed)
    problem = latent_problem(
        model, design, Samples(X, observed.rows, observed.targets, observed.weights)
    )
    prior = as_separable(model.prior, problem.n_samples, labels=True)
    count, n_classes = functions.size, model.classes_.size
    if count * len(observed.rows) > _MOST**2:
        raise ValueError(
            f"The values of {count} functions at {len(observed.rows)} samples would fill the "
            "memory; give fewer rows, or a basis with fewer functions."
        )
    norms = problem.norms[:count]  # the same for all classes
    matrix = np.asfortranarray(design.columns(np.arange(count)) / np.sqrt(norms))
    flat = (n_classes - 1.0) / n_classes**2 * observed.weights
    posterior = SparsePosterior(
        products=SiteProducts(matrix, flat, np.zeros(flat.size)),
        norms=norms,
        n_samples=problem.n_samples,
        slab=priors.slab(prior, problem.energy, 1.0),
        inclusion=priors.inclusion,
        noise=NoisePrior(fixed=1.0),
    )
    alpha = np.atleast_2d(model.alpha_)
    output, column = np.nonzero(np.isfinite(alpha))
    active = output * count + np.searchsorted(functions, model.relevance_)[column]
    inside = observed.targets[:, None] == np.arange(n_classes)
    return LabelModel(
        basis,
        functions,
        posterior,
        problem,
        (active, np.log(alpha[output, column] / problem.norms[active]), 1.0),
        model.max_iter,
        model.tol * max(1.0, problem.n_samples / 1000.0),
        observed,
        Labels(inside[:, 1:] if n_classes == 2 else inside, observed.weights),
        matrix,
    )


def _held_basis(model: RelevanceVectorMachine, X: Array, weights: Array) -> Basis:
    basis = model._fit_basis(X, weights).rescaled(model.basis_.log_scales())
    rows = model._first_centres
    return basis if rows is None else basis.recentred(X, rows, X[rows])


def _candidates(basis: Basis, observed: Observed) -> tuple[Array, Design]:
    """The distinct functions that are not zero at all samples, and their design."""
    functions = basis.distinct_
    norms = _design(basis, functions, observed.rows).squared_norms(observed.weights)
    functions = functions[norms > np.finfo(np.float64).tiny]
    if functions.size > _MOST:
        raise ValueError(
            f"The basis has {functions.size} functions, and the products of all pairs of them "
            f"would fill the memory; give fewer rows or another basis, for {_MOST} at most."
        )
    return functions, _design(basis, functions, observed.rows)


def _design(basis: Basis, functions: Array, X: Array) -> Design:
    return make_design(
        lambda index: basis.columns(X, functions[index]), (len(X), functions.size), memory_budget()
    )


def _gram(design: Design, weights: Array, norms: Array) -> Array:
    """``ΦᵀWΦ`` of functions scaled to ``φᵀWφ = 1``."""
    total = norms.size
    gram = np.empty((total, total), order="F")
    width = max(1, design.capacity)
    for first in range(0, total, width):
        part = np.arange(first, min(first + width, total))
        gram[:, part] = design.project(weights[:, None] * design.columns(part))
    root = np.sqrt(norms)
    gram /= root[:, None]
    gram /= root
    gram.flat[:: total + 1] = 1.0
    return gram


def _usual_bounds(energy: float, beta: float) -> tuple[float, float]:
    low = 1.0 / (_ENERGIES * beta * energy) if energy > 0 else np.inf
    return float(np.clip(low, *_LOW_RANGE)), _HIGH
