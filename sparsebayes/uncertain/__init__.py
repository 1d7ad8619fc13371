"""Prediction at Gaussian inputs, and regression with noisy training inputs."""

from sparsebayes._support.homes import settle
from sparsebayes.uncertain.noisy.regressor import NoisyInputGPR
from sparsebayes.uncertain.predict import predict_uncertain

__all__ = ["NoisyInputGPR", "predict_uncertain"]

settle(globals())
