"""Public names report the package that users import them from, and say what they do."""

from __future__ import annotations

from functools import cached_property
from types import FunctionType
from typing import Any


def settle(namespace: dict[str, Any]) -> None:
    """Set `__module__` of a package's public classes and functions to the package.

    Called at the end of its ``__init__``. Names, pickles and model files then show the public
    path, whichever file of the package a name is defined in. A method that has no docstring of
    its own gets that of the method it overrides, as `help` shows it.
    """
    package = namespace["__name__"]
    for name in namespace["__all__"]:
        public = namespace[name]
        if getattr(public, "__module__", "").startswith(f"{package}."):
            public.__module__ = package
        if isinstance(public, type):
            _inherit_docstrings(public)


def _inherit_docstrings(public: type) -> None:
    """Fill in those of methods and properties, also of the internal classes that it is made of."""
    line = public.__mro__
    for place, owner in enumerate(line):
        for name, member in vars(owner).items():
            ours = isinstance(member, (FunctionType, property, cached_property))
            if not ours or name.startswith("_") or member.__doc__:
                continue
            above = (vars(base).get(name) for base in line[place + 1 :])
            docs = (getattr(method, "__doc__", None) for method in above)
            member.__doc__ = next((doc for doc in docs if doc), None)
