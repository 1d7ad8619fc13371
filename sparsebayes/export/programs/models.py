"""Fitted models as programs."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from sparsebayes._rvm.input_range import training_range
from sparsebayes.classification import RVC
from sparsebayes.export.exported import ExportedModel
from sparsebayes.export.programs.classification import write_classes
from sparsebayes.export.programs.columns import parts_of, undone
from sparsebayes.export.programs.forecasting import step_names, write_step
from sparsebayes.export.programs.functions import NotExportableError
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.processes import write_process
from sparsebayes.export.programs.program import Program, ProgramBuilder
from sparsebayes.export.programs.regression import MeanAndVariance, write_linear
from sparsebayes.forecasting import Forecaster
from sparsebayes.forecasting.one_step import OneStep, one_step
from sparsebayes.gp import ReducedRankGPR
from sparsebayes.regression import RVR

Array = np.ndarray

_KNOWN = "RVR, RVC, ReducedRankGPR, Forecaster with one autoregression, or a Pipeline of these"
WITHOUT_STEPS = (
    "The last step alone can be: export model[-1], and give it what model[:-1].transform makes of "
    "the inputs."
)
_EXAMPLES = 16  # inputs of which a program keeps what it says


def program_of(model: Any, feature_names: Any = None, target_names: Any = None) -> Program:
    """The program of a fitted model, of a Pipeline that ends in one, or that was read back.

    Parameters
    ----------
    model : RVR, RVC, ReducedRankGPR, Forecaster, Pipeline or ExportedModel
    feature_names, target_names : sequence of str, default=None
        None takes the names that the model knows.
    """
    if isinstance(model, ExportedModel):
        return _named(model.program, feature_names, target_names)
    steps, final = _unfolded(model)
    if not isinstance(final, (RVR, RVC, ReducedRankGPR, Forecaster)):
        raise NotExportableError(
            f"A model of type {type(final).__name__} cannot be exported; what can: {_KNOWN}."
        )
    check_is_fitted(final)
    builder = ProgramBuilder(_n_inputs(steps, final))
    if isinstance(final, Forecaster):
        if steps:
            raise NotExportableError("A Forecaster inside a Pipeline cannot be exported.")
        moments = write_step(builder, _step_of(final), _regressor)
    else:
        inputs = Inputs(builder, builder.x)
        for step in steps:
            inputs = _transform(step, inputs)
        if isinstance(final, RVC):
            program = builder.program(probabilities=write_classes(inputs, final))
            classes = [
                label.item() if hasattr(label, "item") else label for label in final.classes_
            ]
            return _described(replace(program, classes=classes), model, feature_names, None)
        moments = _regressor(inputs, final)
    std = builder.add("relative_std", "sqrt", moments.variance)
    if np.any(moments.unit != 1.0):
        std = builder.scaled("deviation", std, moments.unit)
    program = builder.program(mean=moments.mean, std=std)
    return _described(program, model, feature_names, target_names)


def _unfolded(model: Any) -> tuple[list[Any], Any]:
    """The steps before the model, and the model: of pipelines, and of what a search found best."""
    if hasattr(model, "best_estimator_"):
        return _unfolded(model.best_estimator_)
    if not isinstance(model, Pipeline):
        return [], model
    parts = [_unfolded(step) for _, step in model.steps if step is not None]
    every = [one for before, last in parts for one in [*before, last]]
    *steps, final = [one for one in every if not (isinstance(one, str) and one == "passthrough")]
    return steps, final


def one_pipeline(model: Any) -> Any:
    """Pipelines within pipelines, and what a search found best, as one pipeline."""
    steps, final = _unfolded(model)
    return make_pipeline(*steps, final) if steps else final


def _step_of(forecaster: Forecaster) -> OneStep:
    try:
        return one_step(forecaster)
    except ValueError as error:
        raise NotExportableError(str(error)) from error


def _n_inputs(steps: list[Any], final: Any) -> int:
    if isinstance(final, Forecaster):
        return len(step_names(_step_of(final)))
    return int((steps[0] if steps else final).n_features_in_)


def _described(program: Program, model: Any, features: Any, targets: Any) -> Program:
    steps, final = _unfolded(model)
    if features is None:
        if isinstance(final, Forecaster):
            features = step_names(_step_of(final))
        else:
            features = getattr(steps[0] if steps else final, "feature_names_in_", [])
    return replace(
        _named(program, features, targets),
        examples=_examples(steps, final),
        kind=type(final).__name__,
    )


def _named(program: Program, features: Any, targets: Any) -> Program:
    """With these names, where they are given."""
    found = {}
    size = 0 if program.is_classifier else program.size("mean")
    for key, given, count, of in (
        ("feature_names", features, program.n_inputs, "input"),
        ("target_names", targets, size, "target"),
    ):
        if given is None or len(given := _texts(key, given)) == 0:
            continue
        if len(given) != count:
            raise ValueError(f"{key} has {len(given)} name(s), but the model has {count} {of}(s).")
        found[key] = given
    return replace(program, **found)


def _texts(key: str, given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    try:
        return [str(name) for name in given]
    except TypeError:
        raise ValueError(f"{key} must be a sequence of names, got {given!r}.") from None


def _examples(steps: list[Any], final: Any) -> Array:
    """Some inputs in the range of the training, the same each time."""
    if isinstance(final, Forecaster):
        step, y = _step_of(final), final.y_[np.isfinite(final.y_)]
        starts = np.linspace(0, max(len(y) - step.n_past, 0), _EXAMPLES).astype(int)
        windows = np.array([y[start : start + step.n_past][::-1] for start in starts])
        others = final.X_[np.minimum(starts + step.n_past - 1, len(final.X_) - 1)]
        return np.hstack([windows, np.tile(others, (1, len(step.exog_lags)))])
    if isinstance(final, ReducedRankGPR):
        low, high = final.X_train_.min(axis=0), final.X_train_.max(axis=0)
    else:
        low, high = training_range(final)
    rows = np.random.default_rng(0).uniform(size=(_EXAMPLES, low.size))
    X = low + rows * (high - low)
    for step in reversed(steps):
        X = undone(step, X)
    return np.asarray(X, dtype=np.float64)


@singledispatch
def _regressor_parts(final: Any, inputs: Inputs) -> MeanAndVariance:
    raise NotExportableError(
        f"A model of type {type(final).__name__} cannot be exported; what can: {_KNOWN}."
    )


def _regressor(inputs: Inputs, final: Any) -> MeanAndVariance:
    """Mean and variance of a new observation, of a regressor or a Pipeline that ends in one."""
    steps, final = _unfolded(final)
    for step in steps:
        inputs = _transform(step, inputs)
    return _regressor_parts(final, inputs)


@_regressor_parts.register
def _(final: RVR, inputs: Inputs) -> MeanAndVariance:
    return write_linear(inputs, final.predictive())


@_regressor_parts.register
def _(final: ReducedRankGPR, inputs: Inputs) -> MeanAndVariance:
    return write_process(inputs, final.predictive())


@singledispatch
def _transform(step: TransformerMixin, inputs: Inputs) -> Inputs:
    known = (
        "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, selections of features and "
        "a ColumnTransformer of these"
    )
    raise NotExportableError(
        f"The step {' '.join(repr(step).split())} of the Pipeline cannot be exported; what can: "
        f"{known}. {WITHOUT_STEPS} export.to_onnx also takes other steps that skl2onnx knows, if "
        "all columns are numbers and given by position."
    )


@_transform.register
def _(step: ColumnTransformer, inputs: Inputs) -> Inputs:
    parts = []
    for _, steps, places in parts_of(step):
        part = inputs.picked(places)
        for one in steps:
            part = _transform(one, part)
        parts.append(part)
    return Inputs.joined(parts)


@_transform.register
def _(step: FunctionTransformer, inputs: Inputs) -> Inputs:
    if step.func is None:  # what "passthrough" becomes
        return inputs
    return _transform.dispatch(object)(step, inputs)


@_transform.register
def _(step: StandardScaler, inputs: Inputs) -> Inputs:
    shift = step.mean_ if step.with_mean else np.zeros(inputs.size)
    scale = step.scale_ if step.with_std else np.ones(inputs.size)
    return inputs.scaled(shift, 1.0 / scale)


@_transform.register
def _(step: RobustScaler, inputs: Inputs) -> Inputs:
    shift = step.center_ if step.with_centering else np.zeros(inputs.size)
    scale = step.scale_ if step.with_scaling else np.ones(inputs.size)
    return inputs.scaled(shift, 1.0 / scale)


@_transform.register
def _(step: MaxAbsScaler, inputs: Inputs) -> Inputs:
    return inputs.scaled(np.zeros(inputs.size), 1.0 / step.scale_)


@_transform.register
def _(step: MinMaxScaler, inputs: Inputs) -> Inputs:
    scaled = inputs.scaled(-step.min_ / step.scale_, step.scale_)
    if not step.clip:
        return scaled
    low, high = (float(limit) for limit in step.feature_range)
    bounded = inputs.builder.add("clipped", "clip", scaled.plain(), low=low, high=high)
    return Inputs(inputs.builder, bounded)


@_transform.register
def _(step: PCA, inputs: Inputs) -> Inputs:
    turn = step.components_
    if step.whiten:
        turn = turn / np.sqrt(step.explained_variance_)[:, None]
    parts = inputs.builder.add(
        "components", "matrix", inputs.plain(), matrix=turn, offset=-turn @ step.mean_
    )
    return Inputs(inputs.builder, parts)


@_transform.register
def _(step: SelectorMixin, inputs: Inputs) -> Inputs:
    index = np.flatnonzero(step.get_support())
    picked = inputs.builder.add("picked", "pick", inputs.plain(), index=index)
    return Inputs(inputs.builder, picked)
