"""How a fit ends: in full, with a warning, or by Ctrl-C."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from sparsebayes._support.fits.clock import time_limit
from sparsebayes._support.fits.whole import all_or_nothing
from sparsebayes.engine import Stop

Fit = TypeVar("Fit", bound=Callable[..., Any])


def interruptible(fit: Fit) -> Fit:
    """Decorate `fit` of an estimator that sets `converged_` and `stop_reason_`.

    After Ctrl-C the search ends with the best model found until then, which is stored like any
    other; then KeyboardInterrupt is raised here. Where there is no such model (while data are
    prepared, or one of several models is fitted), and after an error, the estimator is as it was
    before. At `max_time` the search ends with the best model too, and what would follow is left
    out. A search that did not converge, for this or another reason, gives a warning.
    """

    whole = all_or_nothing(fit)

    @wraps(fit)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        with time_limit(self.max_time) as limit:
            whole(self, *args, **kwargs)
        if limit.reached and self.stop_reason_ != Stop.INTERRUPTED.value:
            self.converged_, self.stop_reason_ = False, Stop.MAX_TIME.value
        text = f"{type(self).__name__} {self.stop_reason_}."
        if self.stop_reason_ == Stop.INTERRUPTED.value:
            raise KeyboardInterrupt(text)
        if not self.converged_:
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    return wrapper  # type: ignore[return-value]
