"""The end of a fit whose time is limited."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.fits.clock import STOPPED, time_limit
from sparsebayes._support.fits.whole import all_or_nothing

Fit = TypeVar("Fit", bound=Callable[..., Any])


def timed(fit: Fit) -> Fit:
    """Decorate `fit` of an estimator with `max_time`: a warning is given if it was cut short.

    After an error or Ctrl-C the estimator is as it was.
    """
    whole = all_or_nothing(fit)

    @wraps(fit)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        with time_limit(self.max_time) as limit:
            whole(self, *args, **kwargs)
        if limit.reached:
            if hasattr(self, "converged_"):
                self.converged_ = False
            warnings.warn(f"{type(self).__name__} {STOPPED}.", ConvergenceWarning, stacklevel=2)
        return self

    return wrapper  # type: ignore[return-value]
