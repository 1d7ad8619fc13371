"""Every parameter of every public class, set to values that it should not have, and then used."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import joblib
import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import engine, scores
from tests.fuzz.law import Case
from tests.fuzz.public import (
    MADE,
    NAMES,
    X,
    Y,
    arguments,
    call,
    fitted,
    is_called,
    made,
    path_of,
    try_out,
)
from tests.fuzz.values import BAD, shown

SECONDS = 10.0

NAMES_OF_OPTIONS = {"engine.Effort": engine.Effort, "engine.Policy": engine.Policy}
"""Options of solvers, which users may give although they are the engine's."""


GIVEN = {"persistence.StoredModel"}
"""Users are given these, besides those in `MADE`."""

QUICKER: dict[str, dict[str, Any]] = {
    "denoising.Denoiser": {"dictionary": "haar", "method": "sparse"},
    "engine.Effort": {"threshold": 0.5},
    "forecasting.Forecaster": {"estimator": call("regression.RVR", basis="linear", noise=0.01)},
    "regression.RVR": {"noise": 0.01},
    "scores.PredictiveScorer": {"score": scores.crps},
    "sktime.SparseBayesForecaster": {
        "estimator": call("regression.RVR", basis="linear", noise=0.01)
    },
}
"""Arguments that are good for this part: what is tried otherwise is other parameters."""


def _searched(policy: engine.Policy) -> Any:
    solver = engine.Sequential(policy)
    return call("regression.RVR", basis="linear", solver=solver).fit(X, Y).weights_


def _read(table: Any) -> Any:
    return call("regression.RVR", noise=0.01).fit(table).weights_


def _plotted(display: Any) -> None:
    try:
        display.plot()
    finally:
        plt.close("all")


USES: dict[str, Callable[[Any], Any]] = {
    "basis.Precomputed": lambda one: call("regression.RVR", basis=one).fit(np.eye(12), Y).weights_,
    "engine.Effort": lambda effort: _searched(engine.Policy(rough=effort)),
    "engine.Policy": _searched,
    "regression.Statistics": lambda sums: call("regression.RVR").fit_statistics(sums.update(X, Y)),
    "rows.CSV": _read,
    "rows.Parquet": _read,
    "scores.PredictiveScorer": lambda scorer: scorer(fitted("regression.RVR"), X, Y),
}
"""What is done with an object that `try_out` has no use for."""


def kinds() -> dict[str, type]:
    """The public classes that users make: estimators, options and displays."""
    found = {
        name: kind
        for name, kind in NAMES.items()
        if inspect.isclass(kind)
        and is_called(name)
        and (_is_display(name) or name not in {*MADE, *GIVEN})
    }
    return found | NAMES_OF_OPTIONS


def _is_display(name: str) -> bool:
    return name.startswith("plots.")


def good(name: str) -> dict[str, Any]:
    """Arguments that work; of a display, those that it was made with."""
    if _is_display(name):
        display = made(name)
        return {one: getattr(display, one) for one in inspect.signature(NAMES[name]).parameters}
    return arguments(name) | QUICKER.get(name, {})


def use(name: str, found: Any) -> Any:
    """Numbers that an object leads to."""
    if _is_display(name):
        return _plotted(found)
    return USES.get(name, try_out)(found)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No prints, threads in place of joblib's processes, and files in a folder that is removed."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.chdir(path_of("")),
        joblib.parallel_config("threading"),
    ):
        yield


def constructed(name: str, given: Mapping[str, str], *, by_setting: bool = False) -> Case:
    """A case of values, by their names in `BAD`, for some parameters of a class."""
    kind = kinds()[name]
    values = {parameter: BAD[value]() for parameter, value in given.items()}

    def run() -> Any:
        with quiet():
            if by_setting:
                return use(name, kind(**good(name)).set_params(**values))
            return use(name, kind(**good(name) | values))

    way = ".set_params" if by_setting else ""
    label = f"{name}{way}({', '.join(f'{key}={value}' for key, value in given.items())})"
    parts = tuple(part for value in values.values() for part in shown(value))
    # Errors in a file begin with its name, and name the column.
    known = ("column", str(values.get("path"))) if name.startswith("rows.") else ()
    return Case(label, run, names=(*values, *known), shown=parts, seconds=SECONDS)


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Each value for each parameter, in both ways; then pairs without an end."""
    parameters = {name: list(inspect.signature(kind).parameters) for name, kind in kinds().items()}
    for value in BAD:
        for name, of_one in parameters.items():
            for parameter in of_one:
                yield constructed(name, {parameter: value})
                if hasattr(kinds()[name], "set_params"):
                    yield constructed(name, {parameter: value}, by_setting=True)
    several = [name for name, of_one in parameters.items() if len(of_one) > 1]
    while True:
        name = str(rng.choice(several))
        pair = map(str, rng.choice(parameters[name], 2, replace=False))
        given = dict(zip(pair, map(str, rng.choice(list(BAD), 2)), strict=True))
        setting = hasattr(kinds()[name], "set_params") and bool(rng.integers(2))
        yield constructed(name, given, by_setting=setting)
