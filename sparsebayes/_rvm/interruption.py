"""How a fit ends: in full, with a warning, or by Ctrl-C."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.whole_fits import all_or_nothing
from sparsebayes.engine import Stop

Fit = TypeVar("Fit", bound=Callable[..., Any])


def interruptible(fit: Fit) -> Fit:
    """Decorate `fit` of an estimator that sets `converged_` and `stop_reason_`.

    After Ctrl-C the search ends with the best model found until then, which is stored like any
    other; then KeyboardInterrupt is raised here. Where there is no such model (while data are
    prepared, or one of several models is fitted), and after an error, the estimator is as it was
    before. A search that did not converge for another reason gives a warning.
    """

    whole = all_or_nothing(fit)

    @wraps(fit)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        whole(self, *args, **kwargs)
        text = f"{type(self).__name__} {self.stop_reason_}."
        if self.stop_reason_ == Stop.INTERRUPTED.value:
            raise KeyboardInterrupt(text)
        if not self.converged_:
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    return wrapper  # type: ignore[return-value]
