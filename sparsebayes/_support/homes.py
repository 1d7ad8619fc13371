"""Public names report the package that users import them from."""

from __future__ import annotations

from typing import Any


def settle(namespace: dict[str, Any]) -> None:
    """Set `__module__` of a package's public classes and functions to the package.

    Called at the end of its ``__init__``. Names, pickles and model files then show the public
    path, whichever file of the package a name is defined in.
    """
    package = namespace["__name__"]
    for name in namespace["__all__"]:
        public = namespace[name]
        if getattr(public, "__module__", "").startswith(f"{package}."):
            public.__module__ = package
