"""Every argument of every public function, and of the methods that users call, with bad values."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import basis, dictionaries, engine, sampling, uncertain
from tests.fuzz.law import Case
from tests.fuzz.parameters import SECONDS, quiet
from tests.fuzz.public import (
    LABELS,
    LINE,
    NAMES,
    SERIES,
    X,
    Y,
    arguments,
    curve,
    fitted,
    is_called,
    is_estimator,
    made,
)
from tests.fuzz.values import BAD, shown

INPUTS = {"X", "y", "X_val", "y_val", "X_new", "y_new", "sample_weight"}
"""Data of models, which the part "inputs" tries."""

WITHOUT_MODEL = {
    "scores.crps", "scores.interval_coverage", "scores.interval_score", "scores.interval_width",
    "scores.negative_log_predictive_density", "scores.pit_values", "datasets.gauss_snake_proba",
}  # fmt: skip
"""Functions of data alone."""

GOOD: dict[str, dict[str, Any]] = {"datasets.load_benchmark": {"name": "boston"}}
"""Arguments of functions that are not called without care."""

NOT_CALLED = {"cli.main", "export.register_onnx"}
"""Functions without arguments of their own; the command line has its own tests."""

CALLED_BY_US = (
    basis.Basis,
    dictionaries.Dictionary,
    dictionaries.Band,
    engine.EM,
    engine.Prior,
    engine.Sequential,
    engine.Subspace,
    sampling.Gibbs,
    sampling.ReversibleJump,
    uncertain.Imputation,
    uncertain.Slope,
    uncertain.StochasticEM,
)
"""Methods of these are asked by estimators, with arrays that were checked before."""

LEARNING = {
    "add_rows", "fit", "fit_statistics", "get_metadata_routing", "get_test_params", "partial_fit",
    "predictive", "problem", "set_params", "set_score_request", "times", "update",
}  # fmt: skip
"""Methods that change a model, or are no users' business."""


_ROWS = {"X": X[:3]}
_RVR = {"estimator": lambda: fitted("regression.RVR")}

METHODS: dict[str, dict[str, Any]] = {
    "predict": _ROWS,
    "predict_proba": _ROWS,
    "decision_function": _ROWS,
    "predict_interval": _ROWS,
    "sample_y": _ROWS,
    "predict_uncertain": {"mean": X[:2], "cov": 0.01},
    "inverse_predict": {"y": [0.1], "X": [np.nan, 0.0]},
    "detection_limit": {"X": [np.nan, 0.0]},
    "contains": {"x": 0.1},
    "pdf": {"x": 0.1},
    "quantile": {"q": 0.5},
    "reconstruct": {"keep": 3},
    "Forecaster.predict": {"horizon": 3},
    "Forecaster.predict_interval": {"horizon": 3},
    "Forecaster.simulate": {"horizon": 3, "n_paths": 5, "random_state": 0},
    "Forecaster.backtest": {"y": SERIES, "horizon": 2, "start": 20, "n_paths": 5},
    "CalibrationDisplay.from_estimator": _RVR | {"X": X, "y": Y},
    "CalibrationDisplay.from_predictions": {"y": Y, "mean": Y + 0.1, "std": 0.2 + 0.0 * Y},
    "ClassificationDisplay.from_estimator": {
        "estimator": lambda: fitted("classification.RVC"), "X": X, "y": LABELS,
        "grid_resolution": 5,
    },
    "DenoiseDisplay.from_denoised": {"denoised": lambda: made("denoising.Denoised"), "y": SERIES},
    "EffectsDisplay.from_estimator": _RVR | {"X": X, "n_grid": 5},
    "EvidenceDisplay.from_estimator": _RVR,
    "ForecastDisplay.from_forecaster": {
        "forecaster": lambda: fitted("forecasting.Forecaster"), "horizon": 3,
    },
    "InclusionDisplay.from_samples": {"samples": lambda: made("sampling.PosteriorSamples")},
    "ParetoDisplay.from_estimator": {"estimator": lambda: fitted("pareto.ParetoClassifier")},
    "RegressionDisplay.from_estimator": {
        "estimator": curve, "X": LINE[:, None], "y": 3.0 * LINE, "n_grid": 5,
    },
}  # fmt: skip
"""Arguments that work, by the name of a method or of class and method; what is fitted is called."""


class Call(NamedTuple):
    """A function, or a method of a public class.

    Parameters
    ----------
    owner : str
        The public name.
    method : str
        Empty for a function.
    """

    owner: str
    method: str = ""

    @property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """Those that have names."""
        found = NAMES[self.owner]
        found = inspect.signature(getattr(found, self.method) if self.method else found).parameters
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        return {
            name: one for name, one in found.items() if one.kind not in kinds and name != "self"
        }

    @property
    def tried(self) -> list[str]:
        """The arguments that are given bad values."""
        left_out = set() if self.owner in WITHOUT_MODEL else INPUTS
        return [name for name in self.arguments if name not in left_out]

    @property
    def known(self) -> dict[str, Any]:
        """Arguments of a method that work, or makers of them."""
        owner = NAMES[self.owner].__name__
        found = METHODS.get(f"{owner}.{self.method}", METHODS.get(self.method, {}))
        needed = {name for name, one in self.arguments.items() if one.default is one.empty}
        if not needed <= set(found):
            raise LookupError(f"{self.owner}.{self.method} needs {needed}: say how it is called.")
        return found

    @property
    def good(self) -> dict[str, Any]:
        """Arguments that work."""
        if not self.method:
            return GOOD.get(self.owner) or arguments(self.owner)
        return {name: one() if callable(one) else one for name, one in self.known.items()}

    def __call__(self, **given: Any) -> Any:
        """What it gives with these arguments, and those that work for the others."""
        if not self.method:
            return NAMES[self.owner](**self.good | given)
        one = (fitted if is_estimator(self.owner) else made)(self.owner)
        return getattr(one, self.method)(**self.good | given)


def calls() -> dict[str, Call]:
    """Everything that is tried, by name."""
    found = {}
    for name, public in NAMES.items():
        if inspect.isclass(public):
            if is_called(name) and not issubclass(public, CALLED_BY_US):
                found |= {f"{name}.{method}": Call(name, method) for method in _methods(public)}
        elif (is_called(name) or name in GOOD) and name not in NOT_CALLED:
            found[name] = Call(name)
    return {name: one for name, one in found.items() if one.tried}


def _methods(kind: type) -> list[str]:
    return [
        name
        for name, member in inspect.getmembers(kind)
        if (inspect.isfunction(member) or inspect.ismethod(member))
        and member.__module__.startswith("sparsebayes")
        and not name.startswith("_")
        and name not in LEARNING
    ]


def called(name: str, given: Mapping[str, str]) -> Case:
    """A case of values, by their names in `BAD`, for some arguments of a function."""
    owner, _, method = name.rpartition(".")
    call = Call(name) if name in NAMES else Call(owner, method)
    values = {argument: BAD[value]() for argument, value in given.items()}

    def run() -> Any:
        with quiet():
            try:
                return _numbers(call(**values))
            finally:
                plt.close("all")

    label = f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})"
    parts = tuple(part for value in values.values() for part in shown(value))
    return Case(label, run, names=tuple(values), shown=parts, seconds=SECONDS)


def _numbers(answer: Any) -> Any:
    """The part of an answer that must be finite."""
    return answer if isinstance(answer, np.ndarray | tuple | list | float) else None


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Each value for each argument; then pairs without an end."""
    tried = {name: call.tried for name, call in calls().items()}
    for value in BAD:
        for name, of_one in tried.items():
            for argument in of_one:
                yield called(name, {argument: value})
    several = [name for name, of_one in tried.items() if len(of_one) > 1]
    while True:
        name = str(rng.choice(several))
        pair = map(str, rng.choice(tried[name], 2, replace=False))
        yield called(name, dict(zip(pair, map(str, rng.choice(list(BAD), 2)), strict=True)))
