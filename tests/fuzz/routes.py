"""The ways data come in: every public function and method with a parameter that holds data.

Found by their signatures, so that a new one is included without anybody remembering.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from sparsebayes import RVR, Forecaster, StudentT
from sparsebayes.uncertain import Imputation, StochasticEM
from tests.fuzz.public import (
    LABELS,
    LINE,
    MADE,
    NAMES,
    QUICK,
    ROWS,
    SERIES,
    X,
    Y,
    arguments,
    call,
    fitted,
    is_called,
    is_estimator,
    made,
)

Array = np.ndarray
AHEAD = 3
WEIGHT = np.linspace(0.5, 1.5, ROWS)
EXOGENOUS = np.stack([np.cos(np.arange(24)), np.arange(24) / 24], axis=1)

GOOD: dict[str, Array] = {
    "X": X,
    "y": Y,
    "sample_weight": WEIGHT,
    "X_val": X,
    "y_val": LABELS.astype(float),
    "mean": X,
    "cov": np.array([0.1, 0.2]),
    "series": SERIES,
    "fpr": LINE,
    "tpr": np.sqrt(LINE),
    "y_new": SERIES[:6],
    "X_new": EXOGENOUS[:6],
}
"""Parameters that hold data, with good values."""

GOOD_FOR: dict[str, dict[str, Any]] = {
    "denoising.Denoiser": {"X": SERIES.reshape(2, 12)},
    "denoising.denoise": {"y": SERIES, "t": np.arange(24.0)},
    "forecasting.Forecaster": {"y": SERIES, "X": EXOGENOUS},
    "export.ExportedModel": {"X": X},
    "gp.loo_log_predictive": {"noise": WEIGHT},
    "regression.inverse_predict": {"y": LINE, "X": None},
    "regression.detection_limit": {},
    "regression.InversePrediction": {},
    "plots.RegressionDisplay": {"X": LINE[:, None], "y": LINE},
    "plots.DenoiseDisplay": {"y": SERIES},
    "plots.ForecastDisplay": {},
    "scores.crps": {"mean": Y, "std": WEIGHT},
    "scores.interval_coverage": {"mean": Y, "std": WEIGHT},
    "scores.interval_width": {"std": WEIGHT},
    "scores.interval_score": {"mean": Y, "std": WEIGHT},
    "scores.negative_log_predictive_density": {"mean": Y, "std": WEIGHT},
    "scores.pit_values": {"mean": Y, "std": WEIGHT},
}
"""Where other values are good, or none; an empty table leaves a name out."""

LEFT_OUT = {"sktime.SparseBayesForecaster"}  # sktime checks the data before we see them
METHODS_LEFT_OUT = {
    "Statistics.add_rows",  # of rows that were checked before
    "ExportedModel.predict_proba",  # ours is a regression
}

SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "regression.RVR": {
        "em": {"solver": "em", "max_iter": 50},
        "mackay": {"solver": "mackay", "max_iter": 50},
        "subspace": {"solver": "subspace"},
        "linear": {"basis": "linear"},
        "polynomial": {"basis": "polynomial"},
        "laplacian": {"basis": "laplacian"},
        "linear_spline": {"basis": "linear_spline"},
        "thin_plate": {"basis": "thin_plate"},
        "bic": {"prior": "bic"},
        "fixed noise": {"noise": 0.1},
        "varying noise": {"noise": "varying"},
        "Student": {"noise": StudentT()},
        "augment": {"augment": True},
        "isotropic": {"adapt": "isotropic"},
        "folds": {"calibrate": 2},
    },
    "classification.RVC": {
        "probit": {"link": "probit"},
        "least squares": {"link": "least_squares"},
        "ovr": {"multi_class": "ovr"},
        "linear": {"basis": "linear"},
        "em": {"solver": "em", "max_iter": 50},
        "balanced": {"class_weight": "balanced"},
        "isotropic": {"adapt": "isotropic"},
    },
    "gp.ReducedRankGPR": {
        "as it is": {"optimize": False},
        "plain": {"augment": False},
        "fixed noise": {"noise": 0.1},
        "folds": {"calibrate": 2},
    },
    "gp.LeaveOneOutGPR": {"noise": {"alpha": 0.1}, "as it is": {"optimizer": None}},
    "uncertain.NoisyInputGPR": {
        "imputation": {"method": Imputation(n_levels=3, n_folds=2, max_iter=5)},
        "stochastic": {"method": StochasticEM(n_samples=4, n_chains=2, thin=1, max_iter=2)},
    },
    "forecasting.Forecaster": {
        "all": {"lags": "auto", "difference": "auto", "transform": "auto", "seasons": "auto"},
        "machine": {"estimator": RVR(adapt=None, calibrate=None)},
        "log": {"transform": "log"},
        "differences": {"difference": 1},
    },
    "denoising.Denoiser": {
        "sparse": {"method": "sparse", "dictionary": "dct"},
        "wavelets": {"dictionary": "haar"},
    },
    "pareto.ParetoClassifier": {
        "seeds": {"seeds": "rvc"},
        "smoothness": {"penalty": "smoothness"},
    },
}
"""Other settings of estimators, besides the quick one."""


@dataclass(frozen=True, eq=False)
class Route:
    """A call that takes data.

    Parameters
    ----------
    label : str
        Which.
    good : dict of str to ndarray
        Good values of the parameters that hold data.
    run : callable
        The call, given the data by keyword; what it returns must be finite.
    named : bool, default=True
        Whether errors are ours, and name the parameter.
    """

    label: str
    good: dict[str, Array]
    run: Callable[..., Any]
    named: bool = True


@cache
def routes() -> list[Route]:
    """All routes; making them fits each estimator once."""
    return [*_functions(), *_fits(), *_methods()]


def _data_of(function: Any, name: str) -> dict[str, Array]:
    """The parameters of a function that hold data, with good values."""
    good = {**GOOD, **GOOD_FOR.get(name, {})} if GOOD_FOR.get(name, True) else {}
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: good[parameter.name]
        for parameter in parameters
        if good.get(parameter.name) is not None
        and parameter.annotation not in ("Array", "Array | None")
    }


def _functions() -> Iterator[Route]:
    for name, found in NAMES.items():
        if not is_called(name) or inspect.isclass(found):
            continue
        given = arguments(name)
        good = {
            key: given[key] if isinstance(given.get(key), np.ndarray) else value
            for key, value in _data_of(found, name).items()
        }
        if good:

            def run(name: str = name, **data: Any) -> Any:
                return numbers(call(name, **data))

            yield Route(name, good, run)


def _settings(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield name, {}
    for label, settings in SETTINGS.get(name, {}).items():
        yield f"{name} ({label})", settings


def _fits() -> Iterator[Route]:
    for name in filter(is_estimator, NAMES):
        if name in LEFT_OUT:
            continue
        for label, settings in _settings(name):
            good = _data_of(NAMES[name].fit, name)
            if name == "uncertain.NoisyInputGPR":
                good |= {"input_noise": np.array([0.1, 0.2])}
            if is_classifier(call(name)):
                good |= {"y": LABELS.astype(float)}
            if name == "denoising.Denoiser":
                del good["y"]  # ignored

            def run(name: str = name, settings: dict[str, Any] = settings, **data: Any) -> Any:
                options = {key: data.pop(key) for key in ("input_noise",) if key in data}
                return learned(call(name, **settings, **options).fit(**data), data)

            yield Route(f"{label}.fit", good, run)
            if name == "regression.RVR" or name == "gp.LeaveOneOutGPR":
                several = {**good, "y": np.stack([Y, Y[::-1]], axis=1)}
                yield Route(f"{label}.fit of two targets", several, run)
            if name == "classification.RVC":
                three = {**good, "y": np.arange(ROWS) % 3.0}
                yield Route(f"{label}.fit of three classes", three, run)
            if "X" in good and name == "forecasting.Forecaster":
                yield Route(f"{label}.fit of a series alone", {"y": SERIES}, run)
            elif "sample_weight" in good:
                plain = {key: good[key] for key in ("X", "y")}
                yield Route(f"{label}.fit without weights", plain, run)


def _owners() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Fitted estimators and other objects with methods that take data."""
    for name, found in NAMES.items():
        if not inspect.isclass(found) or not is_called(name) or name in LEFT_OUT:
            continue
        if name.startswith(("plots.", "basis.", "dictionaries.", "engine.", "rows.")):
            continue
        if is_estimator(name):
            yield name, lambda name=name: _fitted(name)
        elif name in MADE or name in QUICK:
            yield name, lambda name=name: made(name)


def _fitted(name: str) -> Any:
    if name == "forecasting.Forecaster":
        return call(name).fit(SERIES, EXOGENOUS)
    if name == "denoising.Denoiser":
        return call(name).fit(GOOD_FOR[name]["X"])
    return fitted(name)


def _methods() -> Iterator[Route]:
    for name, make in _owners():
        owner = make()
        for method, _ in inspect.getmembers(type(owner), callable):
            if method.startswith(("_", "set_")) or method == "fit":
                continue
            if f"{type(owner).__name__}.{method}" in METHODS_LEFT_OUT:
                continue
            if not hasattr(owner, method):
                continue
            bound = getattr(owner, method)
            good = _data_of(bound, name)
            if not good:
                continue
            if hasattr(owner, "classes_") and "y" in good:
                good["y"] = LABELS.astype(float)
            if method in ("inverse_predict", "detection_limit"):
                continue  # the function of this name does it
            if name == "forecasting.Forecaster" and method != "backtest":
                good |= {"X": EXOGENOUS[:AHEAD]} if "X" in good else {}
            if not good:
                continue
            for keywords in _keywords(bound):

                def run(
                    owner: Any = owner, method: str = method, keywords: Any = keywords, **data: Any
                ) -> Any:
                    model = copy.deepcopy(owner)
                    answer = getattr(model, method)(**data, **keywords)
                    return learned(model, data) if answer is model else numbers(answer)

                told = "".join(f", {key}={value}" for key, value in keywords.items())
                home = str(inspect.getmodule(getattr(type(owner), method)).__name__)
                yield Route(
                    f"{name}.{method}{told}", good, run, named=home.startswith("sparsebayes")
                )


def _keywords(function: Any) -> Iterator[dict[str, Any]]:
    """Keywords that a method must have, and each of its switches on."""
    parameters = inspect.signature(function).parameters
    must = {"horizon": AHEAD} if "horizon" in parameters else {}
    must |= {"n_paths": 10} if "n_paths" in parameters else {}
    must |= {"start": 12} if "start" in parameters else {}
    yield must
    for parameter in parameters.values():
        if parameter.default is False:
            yield {**must, parameter.name: True}
    if "include_noise" in parameters:
        yield {"return_std": True, "include_noise": False}


def learned(model: Any, data: dict[str, Any]) -> dict[str, Any]:
    """What a fitted model says of the data it was fitted to; all of it must be finite."""
    told = {
        name: getattr(model, name)
        for name in ("weights_", "sigma_", "noise_variance_", "log_evidence_", "front_")
        if hasattr(model, name)
    }
    if isinstance(model, Forecaster):
        first = next(iter(model.forecasters_.values())) if hasattr(model, "forecasters_") else model
        future = {"X": EXOGENOUS[:AHEAD, : first.n_features_in_]} if first.n_inputs_ else {}
        told["forecast"] = _with_std(model.predict(AHEAD, return_std=True, **future))
        return told | {"interval": model.predict_interval(AHEAD, **future)}
    inputs = data.get("X")
    if inspect.isgenerator(inputs) or inputs is None:
        inputs = np.zeros((2, getattr(model, "n_features_in_", 2)))
    if hasattr(model, "transform"):
        return told | {"signals": model.transform(inputs)}
    if hasattr(model, "predict_proba"):
        return told | {"proba": _probabilities(model.predict_proba(inputs))}
    if hasattr(model, "front_"):
        return told | {"decision": model.decision_function(inputs)}
    if hasattr(model, "predict"):
        return told | {"prediction": _with_std(model.predict(inputs, return_std=True))}
    return told | {"numbers": numbers(model)}


def _with_std(prediction: Any) -> Any:
    if not (np.asarray(prediction[1]) >= 0).all() and np.isfinite(np.asarray(prediction[1])).all():
        raise AssertionError(f"std < 0: {prediction[1]}")
    return prediction


def _probabilities(found: Any) -> Any:
    if np.isfinite(found).all() and np.abs(found.sum(axis=1) - 1.0).max(initial=0.0) > 1e-6:
        raise AssertionError(f"probabilities sum to {found.sum(axis=1)}")
    return found


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "Denoised": lambda found: [found.signal, found.std, found.noise_variance],
    "Comparison": lambda found: found.to_dict(),
    "Statistics": lambda found: [found.n, found.energy, found.moments, found.gram],
    "PosteriorSamples": lambda found: found.predict(X, return_std=True),
    "ClassificationSamples": lambda found: _probabilities(found.predict_proba(X)),
    "DetectionLimit": lambda found: [found.critical_value, found.detection_limit],
    "InversePrediction": lambda found: [found.mean, found.std],
}


def numbers(answer: Any) -> Any:
    """The numbers of an answer that is an object of ours, or the answer itself."""
    kind = type(answer).__name__
    if kind in NUMBERS:
        return NUMBERS[kind](answer)
    return answer if isinstance(answer, dict | list | tuple | np.ndarray | float) else str(answer)
