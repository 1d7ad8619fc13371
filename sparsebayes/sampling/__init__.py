"""Draws from the posterior of a regression: which functions, their precisions, the noise."""

from sparsebayes._support.homes import settle
from sparsebayes.sampling.methods import Gibbs, ReversibleJump
from sparsebayes.sampling.sampler import sample_posterior
from sparsebayes.sampling.samples import PosteriorSamples

__all__ = ["Gibbs", "PosteriorSamples", "ReversibleJump", "sample_posterior"]

settle(globals())
