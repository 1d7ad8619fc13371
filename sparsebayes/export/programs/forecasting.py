"""One step of an autoregression as steps of a program: from past values to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsebayes.export.programs.functions import NotExportableError
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.program import ProgramBuilder, Value
from sparsebayes.export.programs.regression import MeanAndVariance
from sparsebayes.forecasting.one_step import OneStep

Array = np.ndarray
_LARGE = 200.0  # logarithms whose products have a number, as in `ValueTransform.moments`


def step_names(step: OneStep) -> list[str]:
    """What the inputs are: the last values, the latest first, then those of other series."""
    names = [f"lag_{k}" for k in range(1, step.n_past + 1)]
    columns = step.exogenous.columns or [f"input_{k}" for k in range(step.exogenous.count)]
    return names + [f"{column}_lag_{lag}" for lag in step.exog_lags for column in columns]


def write_step(
    builder: ProgramBuilder, step: OneStep, write_model: Callable[[Inputs, Any], MeanAndVariance]
) -> MeanAndVariance:
    """Mean and variance of the next value."""
    recursion, n_past = step.recursion, step.n_past
    transform = recursion.transform.name
    if transform == "bounded":
        raise NotExportableError(
            "A Forecaster of counts cannot be exported, since its mean is found by a search; fit "
            "it with transform=None."
        )
    past: Value = builder.x
    if builder.x.size > n_past:
        past = builder.add("past", "pick", builder.x, index=np.arange(n_past))
    if transform in ("log", "sqrt"):
        past = builder.add("transformed", transform, past)
    back = recursion.differences.polynomial()  # of z_t, z_{t-1}, ...
    rows = np.zeros((len(recursion.lags), n_past))
    for row, lag in zip(rows, recursion.lags, strict=True):
        row[lag - 1 : lag - 1 + back.size] = back
    center, scale = recursion.center, recursion.scale
    lagged = builder.add(
        "lagged", "matrix", past, matrix=rows / scale, offset=np.full(len(rows), -center / scale)
    )
    if step.exog_lags:
        others = builder.add("inputs", "pick", builder.x, index=np.arange(n_past, builder.x.size))
        times = len(step.exog_lags)
        others = builder.scaled(
            "scaled_inputs", others, np.tile(1.0 / step.exogenous.scale, times),
            np.tile(step.exogenous.center, times),
        )  # fmt: skip
        lagged = builder.join("row", [lagged, others])
    found = write_model(Inputs(builder, lagged), recursion.model)
    mean = builder.scaled("change", found.mean, scale, -center / scale)
    if back.size > 1:
        level = np.zeros((1, n_past))
        level[0, : back.size - 1] = -back[1:]
        before = builder.add("before", "matrix", past, matrix=level)
        mean = builder.add("next", "add", mean, before)
    unit = scale * step.factor * found.unit
    if transform == "level":
        return MeanAndVariance(mean, found.variance, unit)
    variance = builder.scaled("next_variance", found.variance, unit**2)
    return _of_series(builder, transform, mean, variance)


def _of_series(
    builder: ProgramBuilder, transform: str, mean: Value, variance: Value
) -> MeanAndVariance:
    """MeanAndVariance of the series itself; see `ValueTransform.moments`."""
    one = np.ones(1)
    if transform == "sqrt":
        square = builder.add("mean_square", "power", mean, exponent=2.0)
        double = builder.scaled("double", variance, 2.0)
        inner = builder.add("inner", "add", variance, builder.scaled("twice", square, 2.0))
        return MeanAndVariance(
            builder.add("level_mean", "add", square, variance),
            builder.add("level_variance", "multiply", double, inner),
            one,
        )
    half = builder.scaled("half_variance", variance, 0.5)
    log_mean = builder.add("log_mean", "clip", builder.add("total", "add", mean, half), high=_LARGE)
    level = builder.add("level_mean", "exp", log_mean)
    spread = builder.add("grown", "expm1", builder.add("limited", "clip", variance, high=_LARGE))
    square = builder.add("square_level", "power", level, exponent=2.0)
    return MeanAndVariance(level, builder.add("level_variance", "multiply", square, spread), one)
