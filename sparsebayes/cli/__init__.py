"""The command line."""

from sparsebayes.cli.parser import main

__all__ = ["main"]
