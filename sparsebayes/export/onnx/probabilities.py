"""The normal distribution function, and averages of a logistic function and of a softmax over
Gaussians, as nodes of ONNX."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import erfcx

from sparsebayes.classification.class_probability import (
    KEPT,
    LOGIT_NODES,
    N_NODES,
    SCALES,
    SHARES,
    TIE,
    hermite,
    logistic_nodes,
)
from sparsebayes.export.onnx.graph import OnnxGraph
from sparsebayes.export.programs.program import Value

Array = np.ndarray

_FARTHEST = 40.0  # standard deviations: beyond, a tail of the normal is 0 in double too
_CENTRE = 3.75  # of the variable in which the tail of the normal is a polynomial
_WIDE = 1.5  # standard deviations of f from which its logistic is averaged the other way
_DEGREES = {np.dtype(np.float32): 12, np.dtype(np.float64): 20}  # errors 6e-9 and 2e-13


@lru_cache(maxsize=2)
def _tail_polynomial(degree: int) -> Array:
    """Of ``(1 + 2z) erfcx(z)`` for z from 0 on, as a polynomial in ``(z − c)/(z + c)``.

    The variable is that of Shepherd and Laframboise (1981).
    """

    def scaled(t: Any) -> Any:
        z = _CENTRE * (1.0 + t) / (1.0 - t)
        return (1.0 + 2.0 * z) * erfcx(z)

    return chebyshev.cheb2poly(chebyshev.chebinterpolate(scaled, degree))


def normal(graph: OnnxGraph, v: str) -> str:
    """Φ with the same relative accuracy in both tails: from ``1 − Φ(|v|)``."""
    away = graph.add("Min", graph.add("Abs", v), _FARTHEST)
    z = graph.add("Mul", away, np.sqrt(0.5))
    t = graph.add("Div", graph.add("Sub", z, _CENTRE), graph.add("Add", z, _CENTRE))
    first, *rest = _tail_polynomial(_DEGREES[graph.dtype])[::-1]
    out = graph.numbers(first)
    for factor in rest:
        out = graph.add("Add", graph.add("Mul", out, t), factor)
    out = graph.add("Div", out, graph.add("Add", graph.add("Mul", z, 4.0), 2.0))
    tail = graph.add("Mul", out, graph.add("Exp", graph.add("Mul", graph.add("Mul", away, away),
                                                            -0.5)))  # fmt: skip
    return graph.add("Where", graph.add("Less", v, 0.0), tail, graph.add("Sub", 1.0, tail))


def logit_average(graph: OnnxGraph, mean: Value, variance: Value) -> str:
    """As `class_probability.logit`: over the normal, and where that is wide over the logistic."""
    middle, std = mean.name, graph.add("Sqrt", graph.add("Max", variance.name, 0.0))
    if mean.size < variance.size:
        middle = graph.add("Expand", middle, graph.add("Shape", std))
    elif mean.size > variance.size:
        std = graph.add("Expand", std, graph.add("Shape", middle))
    center, width = (graph.add("Unsqueeze", v, graph.whole([2])) for v in (middle, std))
    nodes, weights = hermite(LOGIT_NODES)
    f = graph.add("Add", center, graph.add("Mul", width, nodes))
    chance = graph.add("Div", 1.0, graph.add("Add", graph.add("Exp", graph.add("Neg", f)), 1.0))
    narrow = graph.sum(graph.add("Mul", chance, weights), 2)
    wide = graph.add("NonZero", graph.add("Not", graph.add("Less", std, _WIDE)))
    places = graph.add("Transpose", wide, perm=[1, 0])
    center, width = (
        graph.add("Unsqueeze", graph.add("GatherND", v, places), graph.whole([1]))
        for v in (middle, std)
    )
    nodes, weights = logistic_nodes()
    away = graph.add("Div", graph.add("Sub", center, nodes), width)
    chance = graph.sum(graph.add("Mul", normal(graph, away), weights), 1)
    return graph.add("ScatterND", narrow, places, chance)


def softmax_average(graph: OnnxGraph, mean: Value, covariance: Value) -> str:
    """As `class_probability.softmax`, all nodes of its direction and all classes at once."""
    count, own = mean.size, np.arange(mean.size)
    distance = _distances(graph, covariance.name, count)  # (n, K, K)
    direction = _direction(graph, mean.name, distance, count)  # (n, K)
    apart = graph.add("Sub", _unsqueezed(graph, direction, 2), _unsqueezed(graph, direction, 1))
    left = graph.add("Sub", distance, graph.add("Mul", apart, apart))
    left = graph.add("Max", left, 0.0)
    nodes, weights = hermite(N_NODES)
    away = graph.add("Mul", _unsqueezed(graph, direction, 1), nodes[:, None])
    f = graph.add("Add", _unsqueezed(graph, mean.name, 1), away)  # (n, nodes, K)
    first = graph.whole((own + 1) % count)
    middle = graph.add("Gather", f, first, axis=2)
    spread = _unsqueezed(graph, graph.add("Gather", left, first, axis=1), 1)  # (n, 1, K, K)
    for step in range(2, count):
        other = (own + step) % count
        variance = _entries(graph, spread, own * count + other, count)
        moved = graph.add("Sub", graph.add("Gather", f, graph.whole(other), axis=2), middle)
        share, rise, slope = _smooth(graph, moved, variance)
        bent = graph.add("Mul", variance, slope)
        bend = graph.add("Mul", graph.add("Mul", bent, bent), 0.5)
        mixed = graph.add("Mul", share, graph.add("Sub", 1.0, share))
        bend = graph.add("Sub", bend, graph.add("Mul", mixed, variance))
        theirs = _unsqueezed(graph, graph.add("Gather", left, graph.whole(other), axis=1), 1)
        towards = graph.add("Mul", _unsqueezed(graph, share, 3), graph.add("Sub", theirs, spread))
        spread = graph.add("Add", graph.add("Add", spread, towards), _unsqueezed(graph, bend, 3))
        spread = graph.add("Max", spread, 0.0)
        middle = graph.add("Add", middle, rise)
    variance = _entries(graph, spread, own * count + own, count)
    chance = _smooth(graph, graph.add("Sub", f, middle), variance)[0]
    shares = graph.add("Div", chance, graph.sum(chance, 2, keepdims=True))
    return graph.sum(graph.add("Mul", shares, weights[:, None]), 1)


def _unsqueezed(graph: OnnxGraph, value: str, axis: int) -> str:
    return graph.add("Unsqueeze", value, graph.whole([axis]))


def _entries(graph: OnnxGraph, matrices: str, index: Array, count: int) -> str:
    """Some entries of matrices (n, nodes, K, K)."""
    flat = graph.add("Reshape", matrices, graph.whole([0, 0, count * count]))
    return graph.add("Gather", flat, graph.whole(index), axis=2)


def _distances(graph: OnnxGraph, covariance: str, count: int) -> str:
    """Variances of the differences between classes, (n, K, K)."""
    number = np.arange(count * count).reshape(count, count)
    own, other = (np.repeat(np.arange(count), count), np.tile(np.arange(count), count))
    parts = [
        graph.add("Gather", covariance, graph.whole(index), axis=1)
        for index in (own * (count + 1), other * (count + 1), number.T.ravel())
    ]
    total = graph.add("Sub", graph.add("Add", parts[0], parts[1]), covariance)
    total = graph.add("Max", graph.add("Sub", total, parts[2]), 0.0)
    return graph.add("Reshape", total, graph.whole([0, count, count]))


def _direction(graph: OnnxGraph, mean: str, distance: str, count: int) -> str:
    """How f moves with the difference that matters most, (n, K)."""
    flat = graph.add("Reshape", distance, graph.whole([0, count * count]))
    widest = _largest(graph, flat, count * count)
    scale = graph.add("Sqrt", graph.add("Add", graph.add("Mul", widest, np.pi / 8.0), 1.0))
    rough = graph.add("Softmax", graph.add("Div", mean, scale), axis=1)
    to_mean = graph.sum(graph.add("Mul", distance, _unsqueezed(graph, rough, 1)), 2)
    common = graph.sum(graph.add("Mul", rough, to_mean), 1, keepdims=True)
    variance = graph.add("Sub", to_mean, graph.add("Mul", common, 0.5))
    score = graph.add("Mul", rough, variance)
    enough = graph.add("Mul", _largest(graph, score, count), 1.0 - TIE)
    near = graph.cast(graph.add("GreaterOrEqual", score, enough), graph.dtype)
    one = graph.add("ArgMax", near, axis=1, keepdims=1)  # the first of them
    chosen = graph.cast(graph.add("Equal", one, graph.whole(np.arange(count))), graph.dtype)
    most = graph.sum(graph.add("Mul", chosen, variance), 1, keepdims=True)
    some = graph.add("Greater", most, 0.0)
    ratio = graph.add("Div", 0.25 * (1.0 - KEPT), graph.add("Where", some, most, 1.0))
    half = graph.add("Where", some, graph.add("Sqrt", ratio), 0.0)
    theirs = graph.sum(graph.add("Mul", distance, _unsqueezed(graph, chosen, 2)), 1)
    return graph.add("Mul", half, graph.add("Sub", to_mean, theirs))


def _largest(graph: OnnxGraph, value: str, size: int) -> str:
    """The largest entry of each row, (n, 1)."""
    while size > 1:
        half, odd = divmod(size, 2)
        pair = graph.slice(value, 0, half, 1), graph.slice(value, size - half, size, 1)
        larger = graph.add("Max", *pair)
        if odd:
            larger = graph.add("Concat", larger, graph.slice(value, half, half + 1, 1), axis=1)
        value, size = larger, half + odd
    return value


def _smooth(graph: OnnxGraph, mean: str, variance: str) -> tuple[str, str, str]:
    """Of ``σ(d)``, ``softplus(d)`` and ``σ'(d)`` the averages over ``d ~ N(mean, variance)``."""
    scales, shares = np.array(SCALES), np.array(SHARES)
    decay = graph.add("Exp", graph.add("Neg", graph.add("Abs", mean)))
    share = graph.add("Div", 1.0, graph.add("Add", graph.add("Exp", graph.add("Neg", mean)), 1.0))
    rise = graph.add(
        "Add", graph.add("Max", mean, 0.0), graph.add("Log", graph.add("Add", decay, 1.0))
    )
    center, spread = (_unsqueezed(graph, value, 3) for value in (mean, variance))
    wide = graph.add("Sqrt", graph.add("Add", spread, scales**2))
    relative = graph.add(
        "Concat", graph.add("Div", center, wide), graph.add("Div", center, scales), axis=3
    )
    below, square = normal(graph, relative), graph.add("Mul", relative, relative)
    bells = graph.add(
        "Mul", graph.add("Exp", graph.add("Mul", square, -0.5)), (2.0 * np.pi) ** -0.5
    )
    above = graph.add("Sub", graph.slice(below, 0, 3, 3), graph.slice(below, 3, 6, 3))
    density = graph.slice(bells, 0, 3, 3)
    share = graph.add("Add", share, graph.sum(graph.add("Mul", above, shares), 3))
    lifted = graph.add("Add", graph.add("Mul", center, above), graph.add("Mul", wide, density))
    lifted = graph.add("Sub", lifted, graph.add("Mul", graph.slice(bells, 3, 6, 3), scales))
    rise = graph.add("Add", rise, graph.sum(graph.add("Mul", lifted, shares), 3))
    slope = graph.sum(graph.add("Mul", graph.add("Div", density, wide), shares), 3)
    return share, rise, slope
