"""Class probabilities as steps of a program."""

from __future__ import annotations

import numpy as np

from sparsebayes._rvm.augment import Augmentation, KeptWeights
from sparsebayes.classification import RVC
from sparsebayes.classification.held_out import temperature_of
from sparsebayes.classification.latent import LEAST, latent_parts
from sparsebayes.classification.least_squares import outputs
from sparsebayes.classification.temperature import Temperature
from sparsebayes.engine.linalg import symmetric_root
from sparsebayes.export.programs.augmentation import ExtraGain, effective, write_gain
from sparsebayes.export.programs.functions import FunctionValues, write_functions
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.program import ProgramBuilder, Value
from sparsebayes.export.programs.regression import MeanAndVariance, write_linear

Array = np.ndarray


def write_classes(inputs: Inputs, model: RVC) -> Value:
    """The probabilities of the classes, (K,)."""
    builder, temperature = inputs.builder, temperature_of(model)
    if model.link_ == "least_squares":
        assert temperature is not None
        found = write_linear(inputs, outputs(model))
        mean = found.mean
        if mean.size == 1:  # of two classes there is one output, of the second
            mean = builder.add("by_class", "matrix", mean, matrix=np.array([[-0.5], [0.5]]))
        variance = found.variance
        if variance.size > 1:  # the same for all
            variance = builder.add("common_variance", "pick", variance, index=np.zeros(1))
        return _tempered(builder, temperature, mean, variance)
    probability = _averaged(inputs, model)
    if temperature is None:
        return probability
    seen = builder.add("seen", "clip", probability, low=LEAST)
    return _tempered(builder, temperature, builder.add("logs", "log", seen), None)


def _tempered(
    builder: ProgramBuilder, temperature: Temperature, mean: Value, variance: Value | None
) -> Value:
    """Probabilities from outputs, or from log probabilities."""
    slope, offsets = temperature.slope, temperature.offsets
    scores = builder.scaled("log_odds", mean, slope, -offsets / slope)
    if variance is not None:
        doubt = builder.scaled("doubt", variance, np.pi / 8.0 * slope**2, -8.0 / np.pi / slope**2)
        scores = builder.add("shrunk", "divide", scores, builder.add("shrink", "sqrt", doubt))
    return builder.add("probability", "softmax", scores)


def _averaged(inputs: Inputs, model: RVC) -> Value:
    """Probabilities averaged over the latent functions."""
    builder, n_classes = inputs.builder, model.classes_.size
    several = hasattr(model, "estimators_")
    if n_classes > 2 and not several:
        ((kept, extra),) = latent_parts(model)
        return _softmax(inputs, kept, extra, n_classes)
    parts = [
        _marginal(inputs, kept, extra, 1 if n_classes == 2 else n_classes)
        for kept, extra in latent_parts(model)
    ]
    mean = builder.join("latent_means", [part.mean for part in parts])
    variance = builder.join("latent_variances", [part.variance for part in parts])
    if n_classes == 2:
        mean = builder.add("both", "matrix", mean, matrix=np.array([[-1.0], [1.0]]))
    if model.link_ == "logit":
        chance = builder.add("chances", "logit_average", mean, variance)
    else:
        wide = builder.add("width", "sqrt", builder.scaled("noisy", variance, 1.0, -1.0))
        chance = builder.add("chances", "normal", builder.add("relative", "divide", mean, wide))
    return builder.add("probability", "normalise", chance)


def _marginal(
    inputs: Inputs, kept: KeptWeights, extra: Augmentation | None, n_outputs: int
) -> MeanAndVariance:
    """Mean and variance of each latent function."""
    builder = inputs.builder
    n_outputs = n_outputs if extra is None else extra.outputs
    functions, mean = _latent_mean(inputs, kept, n_outputs)
    spreads = []
    for k in range(n_outputs):
        own = np.flatnonzero(kept.output == k)
        root = np.zeros((functions.varying.size + functions.constant.size, own.size))
        root[kept.column[own]] = symmetric_root(kept.sigma.matrix[np.ix_(own, own)])
        spreads.append(functions.energy("spread", root))
    variance = builder.join("spreads", spreads)
    extra = effective(extra)
    if extra is not None:
        gain = write_gain(inputs, extra, functions)
        mean = builder.add("shifted", "add", mean, gain.mean)
        rows = [_gain_energy(builder, gain, k) for k in range(n_outputs)]
        variance = builder.add("spread_sum", "add", variance, builder.join("extras", rows))
    return MeanAndVariance(mean, variance, np.ones(n_outputs))


def _gain_energy(builder: ProgramBuilder, gain: ExtraGain, k: int) -> Value:
    width = gain.root.size // gain.outputs
    row = gain.root
    if gain.outputs > 1:
        row = builder.add("gain_row", "pick", row, index=np.arange(k * width, (k + 1) * width))
    return builder.add("extra", "squares", row)


def _latent_mean(inputs: Inputs, kept: KeptWeights, n_outputs: int) -> tuple[FunctionValues, Value]:
    functions = write_functions(inputs, kept.basis)
    weights = np.zeros((n_outputs, functions.varying.size + functions.constant.size))
    weights[kept.output, kept.column] = kept.mean
    return functions, functions.linear("latent", weights, np.zeros(n_outputs))


def _softmax(
    inputs: Inputs, kept: KeptWeights, extra: Augmentation | None, n_classes: int
) -> Value:
    """Averaged over all latent functions together."""
    builder = inputs.builder
    functions, mean = _latent_mean(inputs, kept, n_classes)
    root = np.asarray(np.linalg.qr(symmetric_root(kept.sigma.matrix).T, mode="r"))  # RᵀR is Σ
    cov = builder.constant("covariance", np.zeros(n_classes**2))
    if len(root):
        halves = []
        for k in range(n_classes):
            own = np.flatnonzero(kept.output == k)
            half = np.zeros((len(root), functions.varying.size + functions.constant.size))
            half[:, kept.column[own]] = root[:, own]
            halves.append(functions.linear("half", half, np.zeros(len(root))))
        both = builder.join("halves", halves)
        cov = builder.add("covariance", "products", both, both, rows=n_classes, columns=n_classes)
    extra = effective(extra)
    if extra is not None:
        gain = write_gain(inputs, extra, functions)
        mean = builder.add("shifted", "add", mean, gain.mean)
        more = builder.add(
            "extra", "products", gain.root, gain.root, rows=n_classes, columns=n_classes
        )
        cov = builder.add("covariance_sum", "add", cov, more)
    return builder.add("probability", "softmax_average", mean, cov)
