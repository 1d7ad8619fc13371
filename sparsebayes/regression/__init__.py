"""Relevance vector regression."""

from sparsebayes._rvm.noise import StudentT
from sparsebayes._support.homes import settle
from sparsebayes.regression.rvr import RVR
from sparsebayes.regression.statistics import Statistics

__all__ = ["RVR", "Statistics", "StudentT"]

StudentT.__module__ = __name__
settle(globals())
