"""The command line."""

from sparsebayes._support.homes import settle
from sparsebayes.cli.parser import main

__all__ = ["main"]

settle(globals())
