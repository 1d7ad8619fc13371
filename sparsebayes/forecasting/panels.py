"""Panels: forecasters of several series, fitted and asked one after the other or at once."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sparsebayes._support.validation import as_n_jobs, as_random_state, whole_number
from sparsebayes.forecasting.pooling import learn_together
from sparsebayes.forecasting.tables.panel import Panel, as_panel, together
from sparsebayes.forecasting.tables.panel_inputs import inputs_of_each, later_inputs

_PERIOD = 0.2  # seconds between two lines on a terminal
_LINES = 10  # elsewhere
_SEEDS = 2**31 - 1
_TOLD = (UserWarning, RuntimeWarning)  # others are about code, not about series


def fit_each(
    forecaster: Any, names: Sequence[Any], series: Sequence[Any], inputs: Sequence[Any]
) -> dict[Any, Any]:
    """Copies of a forecaster, each fitted to one of several series, by name.

    Parameters
    ----------
    forecaster : Forecaster
        Its `n_jobs`, `verbose` and `pool` say how. A generator as `random_state` gives each series
        a seed, so that results do not depend on the order in which they are fitted.
    names, series, inputs : sequence
        Name, values and exogenous inputs, or None, of each series.
    """
    if forecaster.pool:
        return learn_together(forecaster, names, series, inputs)
    seeds = [forecaster.random_state] * len(names)
    if isinstance(forecaster.random_state, np.random.RandomState):
        seeds = forecaster.random_state.randint(_SEEDS, size=len(names)).tolist()
    copies = [
        clone(forecaster).set_params(n_jobs=None, verbose=0, random_state=seed) for seed in seeds
    ]
    given = list(zip(copies, series, inputs, strict=True))
    return dict(zip(names, run_each(forecaster, "fitted", _fit, names, given), strict=True))


def _fit(forecaster: Any, series: Any, X: Any) -> Any:
    return forecaster.fit(series, X)


def predict_each(forecaster: Any, panel: Panel, ask: str, X: Any, options: dict[str, Any]) -> Any:
    """Results of a method of the forecasters of all series, in the form of the panel.

    Parameters
    ----------
    forecaster : Forecaster
        Of the panel.
    panel : Panel
    ask : str
        Name of the method.
    X : array-like, DataFrame or None
        Exogenous inputs, of all series or of each.
    options : dict
        Its other arguments.
    """
    found = _ask_each(forecaster, panel, ask, X, [options] * len(panel.names))
    return together(panel, dict(zip(panel.names, found, strict=True)))


def simulate_each(
    forecaster: Any, panel: Panel, horizon: Any, n_paths: Any, X: Any, random_state: Any
) -> dict[Any, Any]:
    """Paths of all series, each drawn with a seed of its own, by name."""
    state = forecaster.random_state if random_state is None else random_state
    seeds = as_random_state(state).randint(_SEEDS, size=len(panel.names)).tolist()
    several = [{"horizon": horizon, "n_paths": n_paths, "random_state": seed} for seed in seeds]
    found = _ask_each(forecaster, panel, "simulate", X, several)
    return dict(zip(panel.names, found, strict=True))


def _ask_each(
    forecaster: Any, panel: Panel, ask: str, X: Any, options: Sequence[dict[str, Any]]
) -> list[Any]:
    models = [forecaster.forecasters_[name] for name in panel.names]
    inputs = later_inputs(panel, X, [model._one.timeline for model in models])
    given = [
        (getattr(model, ask), own, more)
        for model, own, more in zip(models, inputs, options, strict=True)
    ]
    return run_each(forecaster, "forecast", _ask, panel.names, given)


def _ask(method: Callable[..., Any], X: Any, options: dict[str, Any]) -> Any:
    return method(X=X, **options)


def update_each(forecaster: Any, panel: Panel, y_new: Any, X_new: Any) -> None:
    """Append observations to the series of a panel, to all or, after an error, to none."""
    new = as_panel(y_new, panel.labels[0] if panel.form == "long" else None, trim=False)
    by_rows = panel.form in ("levels", "long")  # series may have none
    known = set(panel.names)
    unknown = [] if new is None else [name for name in new.names if name not in known]
    if new is None or unknown or not (by_rows or len(new.names) == len(panel.names)):
        more = f", got {unknown[0]!r}" if unknown else ""
        raise ValueError(
            f"y_new must have the {len(panel.names)} series of fit, in the same form{more}."
        )
    models = [forecaster.forecasters_[name] for name in new.names]
    inputs = inputs_of_each(new, X_new, "X_new")
    longer = []
    for name, model, series, X in zip(new.names, models, new.series, inputs, strict=True):
        if panel.counted:
            times = model._one.timeline.ahead(len(series))
            series, X = (None if one is None else one.set_axis(times) for one in (series, X))
        longer.append(_named(name, model._one.longer, series, X))
    known_since = zip(new.names, models, longer, strict=True)
    changed = {name: copy(model)._learned(one) for name, model, one in known_since}
    forecaster.forecasters_ = forecaster.forecasters_ | changed  # at once, for all of them


def run_each(
    forecaster: Any,
    done: str,
    work: Callable[..., Any],
    names: Sequence[Any],
    given: Sequence[tuple[Any, ...]],
) -> list[Any]:
    """Results of some work for each series of a panel, in their order.

    An error names its series, and warnings, wherever they arise, are given here and name it too.

    Parameters
    ----------
    forecaster : Forecaster
        Its `n_jobs` and `verbose` say how.
    done : str
        What is told of the series that are done.
    work : callable
        A function that a process may import.
    names : sequence
        Of the series.
    given : sequence of tuple
        Arguments of `work` for each series.
    """
    parallel = Parallel(n_jobs=as_n_jobs(forecaster.n_jobs, len(names)), return_as="generator")
    tasks = (delayed(_watched)(name, work, *one) for name, one in zip(names, given, strict=True))
    found = []
    with SeriesCounter(len(names), done, forecaster.verbose) as counter:
        for one in parallel(tasks):
            found.append(one)
            counter.count()
    for name, (_, caught) in zip(names, found, strict=True):
        for message, category in caught:
            warnings.warn(f"Series {name!r}: {message}", category, stacklevel=7)
    return [result for result, _ in found]


def _watched(name: Any, work: Callable[..., Any], *given: Any) -> tuple[Any, list[Any]]:
    """A result, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = _named(name, work, *given)
    told = dict.fromkeys(
        (str(warning.message), warning.category)
        for warning in caught
        if issubclass(warning.category, _TOLD)
    )
    return result, list(told)


def _named(name: Any, work: Callable[..., Any], *given: Any) -> Any:
    """The result of some work for a series, or an error that names it."""
    try:
        return work(*given)
    except Exception as error:
        for kind in (ValueError, TypeError, NotImplementedError):
            if isinstance(error, kind):
                raise kind(f"Series {name!r}: {error}") from error
        raise RuntimeError(f"Series {name!r}: {type(error).__name__}: {error}") from error


class SeriesCounter:
    """Tells on stderr how many series are done: on a terminal in one line, elsewhere in ten.

    Parameters
    ----------
    total : int
    done : str
        What they are when they are done.
    verbose : int
        0 tells nothing.
    """

    def __init__(self, total: int, done: str, verbose: Any) -> None:
        self.total, self.done = total, done
        self.verbose = whole_number("verbose", int(verbose), 0)
        self.number, self._told = 0, -np.inf

    def __enter__(self) -> SeriesCounter:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.verbose and self.number and sys.stderr.isatty():
            sys.stderr.write("\n")

    def count(self) -> None:
        """One more is done."""
        self.number += 1
        if not self.verbose:
            return
        text = f"{self.number} of {self.total} series {self.done}"
        last = self.number == self.total
        if sys.stderr.isatty():
            if last or time.monotonic() - self._told >= _PERIOD:
                self._told = time.monotonic()
                sys.stderr.write(f"\r{text}\x1b[K")
        elif self.number * _LINES // self.total > (self.number - 1) * _LINES // self.total:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
