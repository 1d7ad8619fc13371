"""Which version of the package is installed."""

from __future__ import annotations

from importlib import metadata


def package_version() -> str:
    """The installed version of the package."""
    try:
        return metadata.version("sparsebayes")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"
