"""How much memory a computation may take, and how it is divided to stay within it."""

from __future__ import annotations

from sklearn import get_config


def memory_budget() -> int:
    """Bytes that an array of a fit may take, by scikit-learn's configuration."""
    return int(get_config()["working_memory"] * 2**20)
