"""Prediction at Gaussian inputs, and regression with noisy training inputs."""

from sparsebayes._noisy_inputs import NoisyInputGPR
from sparsebayes._predict_uncertain import predict_uncertain

__all__ = ["NoisyInputGPR", "predict_uncertain"]
