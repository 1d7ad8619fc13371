"""Every argument of every public function, and of the methods that users call, with bad values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from sparsebayes import basis, dictionaries, engine, export, sampling, uncertain
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

Call = tuple[Callable[..., Any], Mapping[str, Any]]

INPUTS = {"X", "y", "X_val", "y_val", "X_new", "y_new", "sample_weight"}
"""Data of models, which the part "inputs" tries."""

WITHOUT_MODEL = {
    "scores.crps", "scores.interval_coverage", "scores.interval_score", "scores.interval_width",
    "scores.negative_log_predictive_density", "scores.pit_values", "datasets.gauss_snake_proba",
}  # fmt: skip
"""Functions of data alone."""

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


def _arguments_of_methods() -> dict[str, dict[str, Any]]:
    """Arguments that work, by the name of a method or of class and method."""
    rows = {"X": X[:3]}
    display = {"estimator": fitted("regression.RVR"), "X": X, "y": Y}
    return {
        "predict": rows,
        "predict_proba": rows,
        "predict_log_proba": rows,
        "decision_function": rows,
        "predict_interval": rows,
        "predictions": rows,
        "sample_y": rows,
        "inside": rows,
        "predict_uncertain": {"mean": X[:2], "cov": 0.01},
        "inverse_predict": {"y": [0.1], "X": [np.nan, 0.0]},
        "detection_limit": {"X": [np.nan, 0.0]},
        "evaluate": {"X": X, "y": LABELS},
        "contains": {"x": 0.1},
        "pdf": {"x": 0.1},
        "quantile": {"q": 0.5},
        "reconstruct": {"keep": 3},
        "PosteriorSamples.log_density": {"X": X[:3], "y": Y[:3]},
        "ClassificationSamples.log_density": {"X": X[:3], "y": LABELS[:3]},
        "Denoiser.transform": {"X": SERIES[None]},
        "Forecaster.predict": {"horizon": 3},
        "Forecaster.predict_interval": {"horizon": 3},
        "Forecaster.simulate": {"horizon": 3, "n_paths": 5, "random_state": 0},
        "Forecaster.backtest": {"y": SERIES, "horizon": 2, "start": 20, "n_paths": 5},
        "CalibrationDisplay.from_estimator": display,
        "CalibrationDisplay.from_predictions": {"y": Y, "mean": Y + 0.1, "std": 0.2 + 0.0 * Y},
        "ClassificationDisplay.from_estimator": {
            "estimator": fitted("classification.RVC"), "X": X, "y": LABELS, "grid_resolution": 5,
        },
        "DenoiseDisplay.from_denoised": {"denoised": made("denoising.Denoised"), "y": SERIES},
        "EffectsDisplay.from_estimator": {
            "estimator": fitted("regression.RVR"), "X": X, "n_grid": 5,
        },
        "EvidenceDisplay.from_estimator": {"estimator": fitted("regression.RVR")},
        "ForecastDisplay.from_forecaster": {
            "forecaster": fitted("forecasting.Forecaster"), "horizon": 3,
        },
        "InclusionDisplay.from_samples": {"samples": made("sampling.PosteriorSamples")},
        "ParetoDisplay.from_estimator": {"estimator": fitted("pareto.ParetoClassifier")},
        "RegressionDisplay.from_estimator": {
            "estimator": curve(), "X": LINE[:, None], "y": 3.0 * LINE, "n_grid": 5,
        },
    }  # fmt: skip


@cache
def calls() -> dict[str, Call]:
    """Calls that work, by the name of what is called."""
    found: dict[str, Call] = {
        name: (function, arguments(name))
        for name, function in NAMES.items()
        if not inspect.isclass(function) and is_called(name) and name not in NOT_CALLED
    }
    found["export.ExportedModel.predict_proba"] = (_exported().predict_proba, {"X": X[:3]})
    found["datasets.load_benchmark"] = (NAMES["datasets.load_benchmark"], {"name": "boston"})
    known = _arguments_of_methods()
    for name, kind in NAMES.items():
        if not inspect.isclass(kind) or not is_called(name) or issubclass(kind, CALLED_BY_US):
            continue
        owner = kind.__name__
        one = fitted(name) if is_estimator(name) else made(name)
        for method in _methods(kind):
            if f"{name}.{method}" in found:
                continue
            function = getattr(one, method)
            needed = [
                argument.name
                for argument in inspect.signature(function).parameters.values()
                if argument.default is argument.empty
                and argument.kind not in (argument.VAR_KEYWORD, argument.VAR_POSITIONAL)
            ]
            good = known.get(f"{owner}.{method}", known.get(method, {}))
            if not set(needed) <= set(good):
                raise LookupError(f"{name}.{method}({', '.join(needed)}): say how it is called.")
            found[f"{name}.{method}"] = (function, good)
    return found


def _exported() -> export.ExportedModel:
    return export.from_json(export.to_json(fitted("classification.RVC")))


def _methods(kind: type) -> list[str]:
    return [
        name
        for name, member in inspect.getmembers(kind)
        if (inspect.isfunction(member) or inspect.ismethod(member))
        and member.__module__.startswith("sparsebayes")
        and not name.startswith("_")
        and name not in LEARNING
    ]


def arguments_of(name: str) -> list[str]:
    """The arguments of a function that are tried."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = inspect.signature(calls()[name][0]).parameters.values()
    left_out = set() if name in WITHOUT_MODEL else INPUTS
    return [one.name for one in found if one.kind not in kinds and one.name not in left_out]


def called(name: str, given: Mapping[str, str]) -> Case:
    """A case of values, by their names in `BAD`, for some arguments of a function."""
    function, good = calls()[name]
    values = {argument: BAD[value]() for argument, value in given.items()}

    def run() -> Any:
        with quiet():
            try:
                return _numbers(function(**dict(good) | values))
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
    tried = {name: arguments_of(name) for name in calls()}
    for value in BAD:
        for name, of_one in tried.items():
            for argument in of_one:
                yield called(name, {argument: value})
    several = [name for name, of_one in tried.items() if len(of_one) > 1]
    while True:
        name = str(rng.choice(several))
        pair = map(str, rng.choice(tried[name], 2, replace=False))
        yield called(name, dict(zip(pair, map(str, rng.choice(list(BAD), 2)), strict=True)))
