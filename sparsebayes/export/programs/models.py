"""Fitted models as programs."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from sparsebayes._rvm.input_range import training_range
from sparsebayes.classification import RVC
from sparsebayes.export.exported import ExportedModel
from sparsebayes.export.programs.classification import write_classes
from sparsebayes.export.programs.forecasting import step_names, write_step
from sparsebayes.export.programs.functions import NotExportableError
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.processes import write_process
from sparsebayes.export.programs.program import Program, ProgramBuilder
from sparsebayes.export.programs.regression import MeanAndVariance, write_linear
from sparsebayes.forecasting import Forecaster
from sparsebayes.forecasting.one_step import one_step
from sparsebayes.gp import ReducedRankGPR
from sparsebayes.regression import RVR

Array = np.ndarray

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
        return model.program
    steps, final = _unfolded(model)
    check_is_fitted(final)
    builder = ProgramBuilder(_n_inputs(steps, final))
    if isinstance(final, Forecaster):
        if steps:
            raise NotExportableError("A Forecaster inside a Pipeline cannot be exported.")
        moments = write_step(builder, one_step(final), _regressor)
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
    std = builder.add("deviation", "sqrt", moments.variance)
    program = builder.program(mean=moments.mean, std=std)
    return _described(program, model, feature_names, target_names)


def _unfolded(model: Any) -> tuple[list[Any], Any]:
    """The steps before the model, and the model."""
    if not isinstance(model, Pipeline):
        return [], model
    steps = [step for _, step in model.steps[:-1] if step is not None and step != "passthrough"]
    before, final = _unfolded(model.steps[-1][1])
    return [*steps, *before], final


def _n_inputs(steps: list[Any], final: Any) -> int:
    if isinstance(final, Forecaster):
        return len(step_names(one_step(final)))
    return int((steps[0] if steps else final).n_features_in_)


def _described(program: Program, model: Any, features: Any, targets: Any) -> Program:
    steps, final = _unfolded(model)
    if features is None:
        if isinstance(final, Forecaster):
            features = step_names(one_step(final))
        else:
            features = getattr(steps[0] if steps else final, "feature_names_in_", [])
    features = [str(name) for name in features]
    if features and len(features) != program.n_inputs:
        raise ValueError(
            f"feature_names has {len(features)} names, but the model has {program.n_inputs} inputs."
        )
    targets = [targets] if isinstance(targets, str) else list(targets or [])
    size = program.size("mean") if "mean" in program.outputs else 0
    if targets and len(targets) != size:
        raise ValueError(f"target_names has {len(targets)} names for {size} target(s).")
    return replace(
        program,
        feature_names=features,
        target_names=[str(name) for name in targets],
        examples=_examples(steps, final),
        kind=type(final).__name__,
    )


def _examples(steps: list[Any], final: Any) -> Array:
    """Some inputs in the range of the training, the same each time."""
    if isinstance(final, Forecaster):
        step, y = one_step(final), final.y_[np.isfinite(final.y_)]
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
        X = step.inverse_transform(X)
    return np.asarray(X, dtype=np.float64)


@singledispatch
def _regressor_parts(final: Any, inputs: Inputs) -> MeanAndVariance:
    known = "RVR, RVC, ReducedRankGPR, Forecaster with one autoregression, or a Pipeline of these"
    raise NotExportableError(f"{type(final).__name__} cannot be exported; what can: {known}.")


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
        "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA and selections of features"
    )
    raise NotExportableError(
        f"The step {step!r} of the Pipeline cannot be exported; what can: {known}. "
        "export.to_onnx takes every step that skl2onnx knows."
    )


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
