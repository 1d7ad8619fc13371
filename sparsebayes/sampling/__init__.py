"""Draws from the posterior of a regression: which functions, their precisions, the noise."""

from sparsebayes._support.homes import settle
from sparsebayes.sampling.sampler import sample_posterior
from sparsebayes.sampling.samples import PosteriorSamples

__all__ = ["PosteriorSamples", "sample_posterior"]

settle(globals())
