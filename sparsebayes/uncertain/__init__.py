"""Prediction at Gaussian inputs, and regression with noisy training inputs."""

from sparsebayes._support.homes import settle
from sparsebayes.uncertain.noisy.imputation import Imputation
from sparsebayes.uncertain.noisy.regressor import NoisyInputGPR
from sparsebayes.uncertain.noisy.slope import Slope
from sparsebayes.uncertain.noisy.stochastic_em import StochasticEM
from sparsebayes.uncertain.predict import predict_uncertain

__all__ = ["Imputation", "NoisyInputGPR", "Slope", "StochasticEM", "predict_uncertain"]

settle(globals())
