"""Relevance vector classification."""

from sparsebayes._support.homes import settle
from sparsebayes.classification.rvc import RVC

__all__ = ["RVC"]

settle(globals())
