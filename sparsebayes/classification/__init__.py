"""Relevance vector classification."""

from sparsebayes.classification.rvc import RVC

__all__ = ["RVC"]
