"""Fits that succeed, or leave the estimator as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Decorate `fit` of an estimator: after an error or Ctrl-C its attributes are as before."""

    @wraps(fit)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before  # one step, which no second Ctrl-C divides
            raise

    return wrapper  # type: ignore[return-value]
