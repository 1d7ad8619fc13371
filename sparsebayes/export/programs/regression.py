"""Predictive distributions of regressors as steps of a program: mean and standard deviation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparsebayes._rvm.left_out import LeftOut
from sparsebayes._rvm.noise import NoiseVariance
from sparsebayes._rvm.predictive import LinearPredictive
from sparsebayes.export.programs.augmentation import effective, write_gain
from sparsebayes.export.programs.functions import FunctionValues, write_functions
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.program import Value

Array = np.ndarray


class MeanAndVariance(NamedTuple):
    """Mean and variance, of each of K targets.

    Attributes
    ----------
    mean, variance : Value
    unit : ndarray, (K,)
        The square root of what the variance is in units of: then neither it nor its parts
        are too small or too large a number, whatever the units of the targets.
    """

    mean: Value
    variance: Value
    unit: Array


def write_linear(inputs: Inputs, model: LinearPredictive) -> MeanAndVariance:
    """Of a new observation, noise included."""
    builder = inputs.builder
    functions = write_functions(inputs, model.basis)
    weights = model.weights if model.weights.ndim == 2 else model.weights[:, None]  # (S, K)
    n_targets = weights.shape[1]

    def each(values: float | Array) -> Array:
        return np.broadcast_to(np.asarray(values, dtype=np.float64), n_targets)

    unit, noise = each(model.unit), each(model.noise)
    mean = functions.linear("center", weights.T, each(model.offset))
    factor = unit * each(model.widening)
    in_noise = np.sqrt(noise) if np.all(noise > 0) else np.ones(n_targets)
    relative = factor / in_noise
    # Of the spread in units of the noise, which the targets share but for these factors.
    common = float(np.exp(np.mean(np.log(relative)))) if np.all(relative > 0) else 1.0
    spreads = [functions.energy("spread", common * model.sigma.some_root())]
    squares = np.square(relative / common)
    shares = [squares]
    extra = effective(model.extra)
    if extra is not None:
        gain = write_gain(inputs, extra, functions)
        shift = gain.mean
        if np.any(unit != 1.0):
            shift = builder.scaled("shift", shift, unit)
        mean = builder.add("shifted", "add", mean, shift)
        root = builder.scaled("gain_root", gain.root, common)
        spreads.append(builder.add("extra", "squares", root))
        shares.append(squares)
    if model.left_out is not None and np.any(each(model.left_out_variance)):
        spreads.append(_left_out(inputs, model.left_out, functions))
        shares.append(each(model.left_out_variance) / in_noise**2)
    offset = noise / in_noise**2
    if model.varying is not None:
        spreads.append(_varying(inputs, model.varying))
        shares.append(offset)
        offset = np.zeros(n_targets)
    variance = builder.add(
        "variance", "matrix", builder.join("spreads", spreads),
        matrix=np.column_stack(shares), offset=offset,
    )  # fmt: skip
    return MeanAndVariance(mean, variance, in_noise)


def _left_out(inputs: Inputs, model: LeftOut, functions: FunctionValues) -> Value:
    """The variance of what the kept functions leave out, relative to its largest."""
    builder, kept = inputs.builder, functions.varying.size + functions.constant.size
    further = write_functions(inputs, model.kernel)
    parts = [part.value for part in (functions, further) if part.value is not None]
    every = FunctionValues(
        builder,
        builder.join("all_functions", parts) if parts else None,
        np.append(functions.varying, kept + further.varying),
        functions.constant,
    )
    known = every.energy("known", model.root)
    left = builder.scaled("unknown", known, -1.0, 1.0)
    return builder.add("left_out", "clip", left, low=0.0)


def _varying(inputs: Inputs, noise: NoiseVariance) -> Value:
    """The noise variance at x, relative to the common one."""
    builder = inputs.builder
    if not noise.weights.size:
        return builder.constant("relative_noise", np.exp(noise.level))
    functions = write_functions(inputs, noise.basis)
    values, vectors = np.linalg.eigh(noise.sigma)
    root = vectors * np.sqrt(0.5 * np.maximum(values, 0.0))
    bent = builder.add(
        "bent", "add", functions.linear("log_noise", noise.weights[None], np.zeros(1)),
        functions.energy("doubt", root),
    )  # fmt: skip
    bent = builder.add("bounded", "clip", bent, low=-noise.steepest, high=noise.steepest)
    return builder.add("relative_noise", "exp", builder.scaled("level", bent, 1.0, -noise.level))
