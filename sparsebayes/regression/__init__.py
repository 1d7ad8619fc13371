"""Relevance vector regression."""

from sparsebayes._rvm.noise import StudentT
from sparsebayes._support.homes import settle
from sparsebayes.regression.inverse.detection import DetectionLimit, detection_limit
from sparsebayes.regression.inverse.prediction import Branch, InversePrediction, inverse_predict
from sparsebayes.regression.rvr import RVR
from sparsebayes.regression.statistics import Statistics

__all__ = [
    "RVR",
    "Branch",
    "DetectionLimit",
    "InversePrediction",
    "Statistics",
    "StudentT",
    "detection_limit",
    "inverse_predict",
]

StudentT.__module__ = __name__
settle(globals())
