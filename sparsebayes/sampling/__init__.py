"""Draws from the posterior: which functions, their precisions, the noise."""

from sparsebayes._support.homes import settle
from sparsebayes.sampling.class_samples import ClassificationSamples
from sparsebayes.sampling.methods import Gibbs, ReversibleJump
from sparsebayes.sampling.regression_samples import PosteriorSamples
from sparsebayes.sampling.sampler import sample_posterior

__all__ = [
    "ClassificationSamples",
    "Gibbs",
    "PosteriorSamples",
    "ReversibleJump",
    "sample_posterior",
]

settle(globals())
