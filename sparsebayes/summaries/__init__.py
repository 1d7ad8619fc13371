"""What fitted models say of themselves; every estimator has a method `summary`."""

from sparsebayes._support.homes import settle
from sparsebayes.summaries.summary import Summary

__all__ = ["Summary"]

settle(globals())
