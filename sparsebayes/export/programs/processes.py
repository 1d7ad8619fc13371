"""Gaussian processes of reduced rank, and scikit-learn's kernels, as steps of a program."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from sklearn.gaussian_process import kernels

from sparsebayes.export.programs.functions import NotExportableError
from sparsebayes.export.programs.inputs import Inputs
from sparsebayes.export.programs.program import Value
from sparsebayes.export.programs.regression import MeanAndVariance
from sparsebayes.gp.predictive import SupportPredictive
from sparsebayes.gp.support import DEPENDENT, solve
from sparsebayes.gp.trained import TrainedSupport

Array = np.ndarray

_LEAST = 1e-30  # of a variance that is divided by


def write_process(inputs: Inputs, model: SupportPredictive) -> MeanAndVariance:
    """Mean and variance of a new observation."""
    builder, trained = inputs.builder, model.trained
    posterior, size = trained.posterior, len(trained.rows)
    near = write_gp_kernel(inputs, trained.kernel, trained.support)
    lower = np.tril_indices(size)
    white = builder.add("white", "solve_triangle", near, triangle=posterior.factor[lower])
    mean = builder.add(
        "center", "matrix", white, matrix=posterior.latent[None], offset=np.array([model.offset])
    )
    half = builder.add("half", "solve_triangle", white, triangle=posterior.precision[lower])
    spread = builder.add("spread", "squares", half)
    if model.augment:
        shift, extra = _extra(inputs, trained, white)
        mean = builder.add("shifted", "add", mean, shift)
        spread = builder.add("spread_sum", "add", spread, extra)
    noise = float(trained.noise)
    variance = builder.scaled("variance", spread, 1.0 / noise, -noise)
    return MeanAndVariance(mean, variance, np.array([model.factor * np.sqrt(noise)]))


def _extra(inputs: Inputs, model: TrainedSupport, white: Value) -> tuple[Value, Value]:
    """What the extra weight adds to mean and variance; see `TrainedSupport`.

    With white the kernel to the support in units of its factor and V that of the training inputs,
    y = (σ² + VVᵀ)⁻¹V (κ − Vᵀ white): all sums of squares are written as such.
    """
    builder, posterior, noise = inputs.builder, model.posterior, model.noise
    V = solve(posterior.factor, model.kernel(model.support, model.X))  # (M, N)
    inner = solve(posterior.precision, np.eye(len(V)))
    inner = inner.T @ inner  # B⁻¹
    kappa = write_gp_kernel(inputs, model.kernel, model.X)
    said = builder.add("said", "matrix", white, matrix=V.T)
    left_over = builder.add("left_over", "subtract", kappa, said)
    y = builder.add("y", "matrix", left_over, matrix=inner @ V / noise)
    rest = builder.add(
        "rest", "subtract", left_over, builder.add("more_said", "matrix", y, matrix=V.T)
    )
    spread = builder.add(
        "rest_squares", "add", builder.scaled("far", builder.add("far_squares", "squares", rest),
                                              1.0 / noise),
        builder.add("y_squares", "squares", y),
    )  # fmt: skip
    signal = builder.add("signal", "matrix", left_over, matrix=posterior.alpha[None])
    prior = write_gp_peak(inputs, model.kernel)
    left = builder.add("left", "subtract", prior, builder.add("white_squares", "squares", white))
    cross = builder.add("cross", "products", white, y, rows=1, columns=1)
    share = builder.add("share", "divide", left, prior)
    new = builder.add("new", "above", share, threshold=DEPENDENT)
    change = builder.add("change", "multiply", new, builder.add("missed", "subtract", left, cross))
    total = builder.add("total", "clip", builder.add("left_sum", "add", left, spread), low=_LEAST)
    ratio = builder.add("ratio", "divide", change, total)
    return (
        builder.add("shift", "multiply", signal, ratio),
        builder.add("extra", "multiply", change, ratio),
    )


def write_gp_kernel(inputs: Inputs, kernel: kernels.Kernel, points: Array) -> Value:
    """``k(x, points)``, one number if it is the same for all."""
    value = _between(kernel, inputs, points)
    if value.size < len(points):
        ones = np.ones((len(points), 1))
        return inputs.builder.add("constant_kernel", "matrix", value, matrix=ones)
    return value


def write_gp_peak(inputs: Inputs, kernel: kernels.Kernel) -> Value:
    """``k(x, x)``."""
    if isinstance(kernel, kernels.StationaryKernelMixin) and not isinstance(
        kernel, (kernels.KernelOperator, kernels.Exponentiation)
    ):
        return inputs.builder.constant("peak", float(kernel.diag(np.zeros((1, inputs.size)))[0]))
    builder = inputs.builder
    if isinstance(kernel, (kernels.Sum, kernels.Product)):
        name = "add" if isinstance(kernel, kernels.Sum) else "multiply"
        return builder.add(
            "peak", name, write_gp_peak(inputs, kernel.k1), write_gp_peak(inputs, kernel.k2)
        )
    if isinstance(kernel, kernels.Exponentiation):
        inner = write_gp_peak(inputs, kernel.kernel)
        return builder.add("peak", "power", inner, exponent=float(kernel.exponent))
    squares = builder.add("input_squares", "squares", inputs.plain())
    return builder.scaled("peak", squares, 1.0, -(float(kernel.sigma_0) ** 2))


@singledispatch
def _between(kernel: kernels.Kernel, inputs: Inputs, points: Array) -> Value:
    raise NotExportableError(
        f"kernel_={kernel} cannot be exported: {type(kernel).__name__} is not among RBF, Matern "
        "with nu 0.5, 1.5 or 2.5, RationalQuadratic, ExpSineSquared, DotProduct, ConstantKernel, "
        "their sums, products and powers."
    )


def _stationary(
    name: str, inputs: Inputs, points: Array, scale: float | Array, **constants: float
) -> Value:
    scale = np.broadcast_to(np.asarray(scale, dtype=np.float64), inputs.size)
    value, origin = inputs.in_units(scale, points)
    centres = (points - origin) / scale
    return inputs.builder.add(name, name, value, centres=centres, **constants)


@_between.register
def _(kernel: kernels.RBF, inputs: Inputs, points: Array) -> Value:
    return _stationary("rbf", inputs, points, kernel.length_scale)


@_between.register
def _(kernel: kernels.Matern, inputs: Inputs, points: Array) -> Value:
    if kernel.nu == np.inf:
        return _stationary("rbf", inputs, points, kernel.length_scale)
    if kernel.nu not in (0.5, 1.5, 2.5):
        raise NotExportableError(
            f"kernel_={kernel} cannot be exported: of Matern kernels nu may be 0.5, 1.5, 2.5 or "
            f"infinite, got {kernel.nu}."
        )
    return _stationary("matern", inputs, points, kernel.length_scale, nu=float(kernel.nu))


@_between.register
def _(kernel: kernels.RationalQuadratic, inputs: Inputs, points: Array) -> Value:
    alpha = float(kernel.alpha)
    return _stationary("rational_quadratic", inputs, points, kernel.length_scale, alpha=alpha)


@_between.register
def _(kernel: kernels.ExpSineSquared, inputs: Inputs, points: Array) -> Value:
    shape = {"period": float(kernel.periodicity), "length_scale": float(kernel.length_scale)}
    return _stationary("periodic", inputs, points, 1.0, **shape)


@_between.register
def _(kernel: kernels.ConstantKernel, inputs: Inputs, points: Array) -> Value:
    return inputs.builder.constant("height", float(kernel.constant_value))


@_between.register
def _(kernel: kernels.DotProduct, inputs: Inputs, points: Array) -> Value:
    offset = np.full(len(points), float(kernel.sigma_0) ** 2)
    return inputs.builder.add("dots", "matrix", inputs.plain(), matrix=points, offset=offset)


@_between.register
def _(kernel: kernels.Sum, inputs: Inputs, points: Array) -> Value:
    return inputs.builder.add(
        "sum_kernel",
        "add",
        _between(kernel.k1, inputs, points),
        _between(kernel.k2, inputs, points),
    )


@_between.register
def _(kernel: kernels.Product, inputs: Inputs, points: Array) -> Value:
    pair = _between(kernel.k1, inputs, points), _between(kernel.k2, inputs, points)
    return inputs.builder.add("product_kernel", "multiply", *pair)


@_between.register
def _(kernel: kernels.Exponentiation, inputs: Inputs, points: Array) -> Value:
    inner = _between(kernel.kernel, inputs, points)
    return inputs.builder.add("power_kernel", "power", inner, exponent=float(kernel.exponent))
