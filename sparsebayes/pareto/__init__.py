"""Fronts of sparse classifiers, none of which is worse than another."""

from sparsebayes._support.homes import settle
from sparsebayes.pareto.classifier import ParetoClassifier
from sparsebayes.pareto.front import hull_area, roc_hull

__all__ = ["ParetoClassifier", "hull_area", "roc_hull"]

settle(globals())
