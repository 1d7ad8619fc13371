"""The explorer: models that follow the data while points are dragged on a local page."""

from sparsebayes._support.homes import settle
from sparsebayes.explore.requests import explore

__all__ = ["explore"]

settle(globals())
