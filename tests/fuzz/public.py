"""The public names, found by walking the public modules, and a quick way to call each.

A new name is found without anybody remembering. If it has required arguments, or takes long with
its defaults, `QUICK` has arguments for it; if users are given one and never make it, `MADE` does.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import tempfile
from collections.abc import Callable
from enum import EnumMeta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.gaussian_process.kernels import RBF

import sparsebayes
from sparsebayes import (
    basis,
    dictionaries,
    engine,
    export,
    persistence,
    plots,
    regression,
    sampling,
    uncertain,
)

MODULES = tuple(
    module.name
    for module in pkgutil.iter_modules(sparsebayes.__path__)
    if not module.name.startswith("_")
)
"""Public modules and packages."""

ROWS = 12
_rng = np.random.default_rng(0)
X = _rng.uniform(-2.0, 2.0, (ROWS, 2))
Y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * _rng.standard_normal(ROWS)
LABELS = (np.sort(Y)[ROWS // 2] <= Y).astype(int)
LINE = np.linspace(0.0, 1.0, ROWS)
SERIES = 3.0 + np.sin(0.8 * np.arange(24)) + 0.1 * _rng.standard_normal(24)


def _walk() -> dict[str, Any]:
    found = {}
    for place in MODULES:
        module = importlib.import_module(f"sparsebayes.{place}")
        for name in module.__all__:
            public = getattr(module, name)
            # The engine's own parts take arrays that were checked before.
            if callable(public) and (place != "engine" or name in sparsebayes.__all__):
                found[f"{place}.{name}"] = public
    return dict(sorted(found.items()))


NAMES = _walk()
"""Public classes and functions: {"regression.RVR": RVR, ...}."""


FAR = {"datasets.load_benchmark"}
"""Names whose data do not come with the package."""


def is_called(name: str) -> bool:
    """Whether users call a name or are given one, rather than subclass or catch it."""
    found = NAMES[name]
    if not inspect.isclass(found):
        return name not in FAR
    return not (
        inspect.isabstract(found)
        or getattr(found, "_is_protocol", False)
        or issubclass(found, BaseException)
        or isinstance(found, EnumMeta)
        or found in (basis.Basis, dictionaries.Dictionary, dictionaries.Transform)
    )


def is_estimator(name: str) -> bool:
    """Whether a name is a class with `fit` that follows scikit-learn."""
    found = NAMES[name]
    learns = inspect.isclass(found) and hasattr(found, "fit") and hasattr(found, "get_params")
    return learns and not issubclass(found, basis.Basis)


def arguments(name: str) -> dict[str, Any]:
    """The arguments of a quick call, by keyword."""
    return QUICK[name]() if name in QUICK else {}


def call(name: str, **others: Any) -> Any:
    """What a quick call of a public name gives, with other arguments if there are some."""
    return NAMES[name](**{**arguments(name), **others})


def fit(estimator: Any) -> Any:
    """Fit an estimator to small data of its kind."""
    kind = type(estimator).__name__
    if kind in ("Forecaster", "SparseBayesForecaster"):
        return estimator.fit(SERIES)
    if kind == "Denoiser":
        return estimator.fit(SERIES[None])
    return estimator.fit(X, LABELS if is_classifier(estimator) else Y)


@cache
def fitted(name: str) -> Any:
    """A quick estimator, fitted to small data of its kind; leave it as it is."""
    return fit(call(name))


@cache
def curve() -> Any:
    """A regressor of one input that rises, so that it can be inverted."""
    y = 3.0 * LINE + 0.05 * np.cos(9.0 * LINE)
    return call("regression.RVR", basis="linear").fit(LINE[:, None], y)


@cache
def made(name: str) -> Any:
    """An object of a public class, made by a quick call or as users are given it."""
    return MADE[name]() if name in MADE else call(name)


def try_out(found: Any) -> Any:
    """Numbers that an object leads to: predictions of an estimator, or of what takes an option."""
    for kinds, use in USES:
        if isinstance(found, kinds):
            return use(found)
    return _predict(fit(found)) if hasattr(found, "fit") else None


def _predict(model: Any) -> Any:
    kind = type(model).__name__
    if kind == "SparseBayesForecaster":
        return model.predict([1, 2])
    if kind == "Forecaster":
        return model.predict(2, return_std=True)
    if kind == "Denoiser":
        return model.transform(SERIES[None])
    if kind == "ParetoClassifier":
        return model.decision_function(X)
    return model.predict_proba(X) if is_classifier(model) else model.predict(X, return_std=True)


def _with(name: str, argument: str) -> Callable[[Any], Any]:
    """Use an option in an estimator."""
    return lambda option: _predict(fit(call(name, **{argument: option})))


def _model(name: str = "regression.RVR") -> dict[str, Any]:
    return {"model": fitted(name)}


def _samples(kind: str = "regression.RVR", y: Any = Y) -> dict[str, Any]:
    settings = {"n_samples": 8, "n_chains": 1, "n_warmup": 4, "random_state": 0}
    return {"estimator": call(kind), "X": X, "y": y, **settings}


def _predictions() -> dict[str, Any]:
    mean, std = fitted("regression.RVR").predict(X, return_std=True)
    return {"y": Y, "mean": mean, "std": std}


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sparsebayes-fuzz-")


def path_of(name: str) -> Path:
    """Where a file may be written; gone when the process ends."""
    return Path(_folder().name) / name


def _table() -> dict[str, Any]:
    path = path_of("table.csv")
    lines = [f"{a},{b},{y}" for (a, b), y in zip(X.tolist(), Y.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    return {"path": path, "target": "y"}


def _parquet() -> dict[str, Any]:
    import pyarrow
    import pyarrow.parquet

    path = path_of("table.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"a": X[:, 0], "y": Y}), path)
    return {"path": path, "target": "y"}


def _stored() -> Path:
    path = path_of("model.skops")
    persistence.save(fitted("regression.RVR"), path)
    return path


_FORECASTER = {"lags": 2, "difference": None, "transform": None, "seasons": None, "calibrate": None}

QUICK: dict[str, Callable[[], dict[str, Any]]] = {
    "basis.KernelFunction": lambda: {"function": lambda A, B: A @ B.T},
    "basis.Union": lambda: {"left": basis.Linear(), "right": basis.RBF()},
    "basis.as_basis": lambda: {"basis": "rbf"},
    "classification.RVC": lambda: {"adapt": None, "calibrate": None, "link": "logit"},
    "cli.main": lambda: {"argv": ["inspect", str(_stored()), "--quiet"]},
    "comparison.compare": lambda: {"models": [fitted("regression.RVR")], "X": X, "y": Y},
    "datasets.gauss_snake_proba": lambda: {"X": X},
    "datasets.lagged": lambda: {"series": SERIES, "lags": 2, "step": 1, "horizon": 1},
    "datasets.make_mackey_glass": lambda: {"n_samples": 10, "burn_in": 5.0},
    "datasets.make_signal": lambda: {"name": "doppler", "n_samples": 32},
    "denoising.denoise": lambda: {"y": SERIES},
    "dictionaries.Union": lambda: {"parts": (dictionaries.DCT(), dictionaries.Wavelet("haar"))},
    "dictionaries.as_dictionary": lambda: {"dictionary": "dct"},
    "engine.Gamma": lambda: {"a": 1e-3, "b": 1e-3},
    "engine.Smoothness": lambda: {"c": 1.0},
    "engine.Trace": lambda: {"c": 1.0},
    "explore.explore": lambda: {
        "request": {"kind": "regression", "x": LINE, "y": Y, "width": 0.3, "calibrate": None}
    },
    "export.from_json": lambda: {"text": export.to_json(fitted("regression.RVR"))},
    "export.to_c": _model,
    "export.to_json": _model,
    "export.to_onnx": _model,
    "forecasting.Forecaster": lambda: dict(_FORECASTER),
    "gp.ReducedRankGPR": lambda: {"n_cycles": 2, "max_iter": 20, "calibrate": None},
    "gp.loo_log_predictive": lambda: {"kernel": RBF(), "X": X, "y": Y, "noise": 0.1},
    "pareto.ParetoClassifier": lambda: {"n_evaluations": 200, "population": 10, "seeds": None},
    "pareto.hull_area": lambda: {"fpr": [0.2], "tpr": [0.7]},
    "pareto.roc_hull": lambda: {"fpr": [0.2], "tpr": [0.7]},
    "persistence.StoredModel": _model,
    "persistence.load": lambda: {"path": _stored()},
    "persistence.load_record": lambda: {"path": _stored()},
    "persistence.save": lambda: {**_model(), "path": path_of("saved.skops")},
    "regression.RVR": lambda: {"adapt": None, "calibrate": None},
    "regression.Statistics": lambda: {"basis": basis.Polynomial(2)},
    "regression.detection_limit": lambda: {"model": curve()},
    "regression.inverse_predict": lambda: {"model": curve(), "y": [1.0, 2.0]},
    "rows.CSV": _table,
    "rows.Parquet": _parquet,
    "sampling.sample_posterior": _samples,
    "scores.PredictiveScorer": lambda: {"name": "error", "score": lambda y, mean, std: 0.0},
    "scores.crps": _predictions,
    "scores.crps_scorer": lambda: {"estimator": fitted("regression.RVR"), "X": X, "y": Y},
    "scores.interval_coverage": _predictions,
    "scores.interval_score": _predictions,
    "scores.interval_width": lambda: {"std": _predictions()["std"]},
    "scores.negative_log_predictive_density": _predictions,
    "scores.nlpd_scorer": lambda: {"estimator": fitted("regression.RVR"), "X": X, "y": Y},
    "scores.pit_values": _predictions,
    "sktime.SparseBayesForecaster": lambda: dict(_FORECASTER),
    "uncertain.Imputation": lambda: {"n_levels": 3, "n_folds": 2, "max_iter": 5},
    "uncertain.NoisyInputGPR": lambda: {"input_noise": 0.1, "method": uncertain.Slope(max_iter=3)},
    "uncertain.Slope": lambda: {"max_iter": 3},
    "uncertain.StochasticEM": lambda: {"n_samples": 8, "n_chains": 2, "thin": 1, "max_iter": 3},
    "uncertain.predict_uncertain": lambda: {**_model(), "mean": X, "cov": 0.1},
}
"""Arguments that a name must have, or that make it quick."""

MADE: dict[str, Callable[[], Any]] = {
    "comparison.Comparison": lambda: call("comparison.compare"),
    "denoising.Denoised": lambda: call("denoising.denoise"),
    "dictionaries.Band": lambda: dictionaries.Wavelet("haar").bind((8,)).bands()[0],
    "export.ExportedModel": lambda: call("export.from_json"),
    "forecasting.Backtest": lambda: fitted("forecasting.Forecaster").backtest(SERIES, 2, 4),
    "plots.CalibrationDisplay": lambda: plots.CalibrationDisplay.from_estimator(
        fitted("regression.RVR"), X, Y
    ),
    "plots.ClassificationDisplay": lambda: plots.ClassificationDisplay.from_estimator(
        fitted("classification.RVC"), X, LABELS, grid_resolution=5
    ),
    "plots.DenoiseDisplay": lambda: plots.DenoiseDisplay.from_denoised(
        made("denoising.Denoised"), SERIES
    ),
    "plots.EffectsDisplay": lambda: plots.EffectsDisplay.from_estimator(
        fitted("regression.RVR"), X, n_grid=5
    ),
    "plots.EvidenceDisplay": lambda: plots.EvidenceDisplay.from_estimator(fitted("regression.RVR")),
    "plots.ForecastDisplay": lambda: plots.ForecastDisplay.from_forecaster(
        fitted("forecasting.Forecaster"), 3
    ),
    "plots.InclusionDisplay": lambda: plots.InclusionDisplay.from_samples(
        made("sampling.PosteriorSamples")
    ),
    "plots.ParetoDisplay": lambda: plots.ParetoDisplay.from_estimator(
        fitted("pareto.ParetoClassifier")
    ),
    "plots.RegressionDisplay": lambda: plots.RegressionDisplay.from_estimator(
        curve(), LINE[:, None], 3.0 * LINE, n_grid=5
    ),
    "regression.Branch": lambda: call("regression.inverse_predict").branches[0][0],
    "regression.DetectionLimit": lambda: call("regression.detection_limit"),
    "regression.InversePrediction": lambda: call("regression.inverse_predict"),
    "sampling.ClassificationSamples": lambda: call(
        "sampling.sample_posterior", **_samples("classification.RVC", LABELS)
    ),
    "sampling.PosteriorSamples": lambda: call("sampling.sample_posterior"),
    "summaries.Summary": lambda: fitted("regression.RVR").summary(),
}
"""How users are given what they do not make themselves."""

USES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (basis.Basis, _with("regression.RVR", "basis")),
    (engine.Prior, _with("regression.RVR", "prior")),
    ((engine.EM, engine.Sequential, engine.Subspace), _with("regression.RVR", "solver")),
    (regression.StudentT, _with("regression.RVR", "noise")),
    (
        (uncertain.Imputation, uncertain.Slope, uncertain.StochasticEM),
        _with("uncertain.NoisyInputGPR", "method"),
    ),
    (
        (sampling.Gibbs, sampling.ReversibleJump),
        lambda method: call("sampling.sample_posterior", method=method).predict(X, return_std=True),
    ),
    (dictionaries.Dictionary, lambda found: call("denoising.denoise", dictionary=found).signal),
)
"""What an option of a kind is for; the first kind that fits counts."""
