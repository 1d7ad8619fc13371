"""What answers unknown attributes of models and results, and unknown parameters of estimators."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.exceptions import NotFittedError

from sparsebayes._support.guesses.answers import (
    after_semicolon,
    guided,
    lookup,
    nearest,
    unknown_arguments,
)
from sparsebayes._support.guesses.attributes import ATTRIBUTES


class GuidedAttributes:
    """Answers unknown attributes: by ours, or by what the documentation says of them."""

    if not TYPE_CHECKING:  # type checkers and editors are to see the attributes that there are

        def __getattr__(self, name: str) -> Any:
            # Asked for only after the usual search failed. Where the class has the name, a property
            # of a fitted model raised an error of its own, which is raised again.
            _check_fitted(self, name)
            if any(name in vars(kind) for kind in type(self).__mro__):
                return object.__getattribute__(self, name)
            raise _unknown_attribute(self, name)


def _check_fitted(model: Any, name: str) -> None:
    """What `fit` sets is there, or an error that says that it will be."""
    kind: Any = type(model)
    if is_learned(name) and name in _documented(kind) and not any(map(is_learned, vars(model))):
        raise NotFittedError(
            f"{kind.__name__} has no attribute {name!r} before it is fitted; call fit first."
        )


def _unknown_attribute(model: Any, name: str) -> AttributeError:
    kind: Any = type(model)
    start = f"{kind.__name__} has no attribute {name!r}"
    if name.startswith("_") or name in _parameters(kind):  # of copies and pickles, for example
        return AttributeError(start)
    documented = _documented(kind)
    if documented.get(name):
        return AttributeError(f"{start} after this fit. What it is: {documented[name]}")
    remedy = lookup(ATTRIBUTES, [one.__name__ for one in kind.__mro__], name, kind.__name__)
    if remedy is None:
        methods = [one for one in dir(kind) if not one.startswith(("_", "set_", "get_"))]
        known = [*documented, *(one for one in methods if one not in documented)]
        near = nearest(name, known)
        alike = [one for one in known if is_learned(one) == is_learned(name)]
        remedy = f"{near}It has {', '.join(alike or known)}"
    return AttributeError(f"{start}; {after_semicolon(remedy)}.")


def is_learned(name: str) -> bool:
    """Whether a name is one that `fit` sets."""
    return name.endswith("_") and not name.startswith("_")


@functools.cache
def _parameters(kind: type) -> frozenset[str]:
    return frozenset(inspect.signature(kind.__init__).parameters)  # type: ignore[misc]


@functools.cache
def _documented(kind: type) -> dict[str, str]:
    """The attributes that docstrings of a class and its bases list, with the first sentence."""
    found: dict[str, str] = {}
    for one in kind.__mro__:
        text = inspect.cleandoc(one.__doc__ or "")
        section = re.search(r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n--|\Z)", text, re.S | re.M)
        listed = f"{section[1]}\n" if section else ""
        for head, body in re.findall(r"^(\w.*)\n((?:[ \t]+.*\n|\n)*)", listed, re.M):
            told = re.match(r"(.*?[^.\s]\.)(?:\s|$)", " ".join(body.split()))
            for name in head.partition(" :")[0].split(", "):
                found.setdefault(name, told[1].replace("``", "").replace("`", "") if told else "")
    return found


class GuidedMixin(GuidedAttributes):
    """Answers names that users of an estimator guess: arguments, parameters and attributes."""

    # What makes an object of a parameter that may be its name; its own parameters can then be set.
    _named_parts: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Without a constructor scikit-learn takes that of object as a sign.
        own = cls.__init__ is not object.__init__
        if own and not hasattr(cls.__init__, "is_guided"):
            guided(cls)

    def set_params(self, **params: Any) -> Any:
        """Set parameters, and with ``part__parameter=value`` those of the objects among them.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        estimator
            This one.
        """
        model: Any = self
        valid, called = model.get_params(deep=False), type(self).__name__
        unknown = {key.partition("__")[0] for key in params}.difference(valid)
        if unknown:
            classes = [one.__name__ for one in type(self).__mro__]
            # One level deeper counts, too: the parameters of a union are left__length_scale, ...
            raise ValueError(
                unknown_arguments(called, classes, sorted(unknown), model.get_params())
            )
        for key in list(params):
            name, nested, _ = key.partition("__")
            part = params.get(name, valid[name])
            if nested and (isinstance(part, type) or not hasattr(part, "set_params")):
                if name not in self._named_parts:
                    raise ValueError(
                        f"{called} cannot set {key}, since {name}={part!r} has no parameters of "
                        f"its own; set {name} to an object that has them."
                    )
                params[name] = self._named_parts[name](part)
        return super().set_params(**params)  # type: ignore[misc]
