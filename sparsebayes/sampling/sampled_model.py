"""What is sampled: the model of a fitted RVR, as the engine's samplers see it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsebayes._rvm.options import as_noise_model
from sparsebayes._support.batching import memory_budget
from sparsebayes.basis import Basis
from sparsebayes.engine import Design, Exact, make_design
from sparsebayes.engine.mcmc.posterior import SparsePosterior
from sparsebayes.engine.mcmc.priors import InclusionPrior, NoisePrior, Slab
from sparsebayes.regression import RVR
from sparsebayes.regression.targets import as_targets
from sparsebayes.sampling.methods import Bounds, Start
from sparsebayes.sampling.options import as_separable

Array = np.ndarray

_MOST = 20_000  # functions: the products of all pairs are 3.2 GB
# The usual bounds of α/g. Above the upper one a weight is shrunk to less than a tenth of what the
# data say; at the lower one a function could explain a thousand times the energy of the targets.
_HIGH = 10.0
_ENERGIES = 1000.0
_LOW_RANGE = (1e-10, 1e-4)  # of the lower one: factors that can be told from 0, and room below 1


@dataclass(frozen=True, eq=False)
class SampledModel:
    """The model of a regression, for the samplers and for the solvers that find their starts.

    Attributes
    ----------
    basis : Basis
        With the length scales of the optimum.
    functions : ndarray of int, (M,)
        The candidates, as the basis numbers them.
    posterior : SparsePosterior
        Of these functions.
    problem : Exact
        The same model for the solvers, to find starts.
    optimum : tuple
        The first start: active functions, their log(α/g), β.
    max_iter, tol : int, float
        Of the solver that finds the other starts.
    """

    basis: Basis
    functions: Array
    posterior: SparsePosterior
    problem: Exact
    optimum: Start
    max_iter: int
    tol: float


def build(
    model: RVR,
    samples: tuple[Array, Array, Array],
    *,
    inclusion: InclusionPrior,
    bounds: Bounds,
    noise_prior: tuple[float, float],
    per_alpha: bool,
) -> SampledModel:
    """The model of a fitted RVR, whose length scales are held.

    The samples are X, y and their weights.
    """
    X, y, weights = samples
    basis = model._fit_basis(X, weights).rescaled(model.basis_.log_scales())
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    sites = as_targets(y, weights, as_noise_model(model.noise)).sites
    prior = as_separable(model.prior, sites.size)
    functions = _candidates(basis, X, weights)
    if functions.size > _MOST:
        raise ValueError(
            f"The basis has {functions.size} functions, and the products of all pairs of them "
            f"would fill the memory; give fewer rows or another basis, for {_MOST} at most."
        )
    design = _design(basis, functions, X)
    problem = Exact(design, prior, sites, memory_budget())
    energy, beta = problem.energy, 1.0 / float(model.noise_variance_)
    low, high = _usual_bounds(energy, beta) if bounds is None else bounds
    norms = problem.norms
    places = np.searchsorted(functions, model.relevance_)
    shape, scale = noise_prior
    posterior = SparsePosterior(
        gram=_gram(design, weights, norms),
        moments=problem.moments / np.sqrt(norms),
        energy=energy,
        norms=norms,
        n_samples=sites.size,
        slab=Slab(prior, low, high, per_alpha),
        inclusion=inclusion,
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
    )


def _candidates(basis: Basis, X: Array, weights: Array) -> Array:
    """The distinct functions that are not zero at all samples."""
    functions = basis.distinct_
    norms = _design(basis, functions, X).squared_norms(weights)
    return functions[norms > np.finfo(np.float64).tiny]


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
