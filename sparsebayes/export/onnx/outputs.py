"""What a graph gives, and in which numbers it is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes.export.onnx.graph import OnnxGraph
from sparsebayes.export.onnx.nodes import write_nodes
from sparsebayes.export.programs.differences import tried_inputs
from sparsebayes.export.programs.program import Program

Array = np.ndarray

# What rounding to seven digits may change before a graph computes in sixteen: of the predictive
# standard deviation, and of probabilities.
_OF_STD, _OF_PROBABILITY = 1e-5, 1e-6


def write_outputs(
    graph: OnnxGraph, program: Program, x: str, dtype: Any, labels: Array | None = None
) -> dict[str, str]:
    """All outputs of a program at inputs that are in the type of the graph.

    Parameters
    ----------
    graph : OnnxGraph
    program : Program
    x : str
        The inputs, (n, D).
    dtype : float32 or float64
        Of the outputs.
    labels : ndarray, default=None
        Of a classification.

    Returns
    -------
    outputs : dict of str to str
        The value of "mean" and "std", or of "label" and "probabilities".
    """
    found = write_nodes(graph, program, x)
    graph.name_after("result")
    outputs = {}
    if labels is not None:
        best = graph.add("ArgMax", found["probabilities"], axis=1, keepdims=0)
        outputs["label"] = graph.add("Gather", graph.tensor(labels), best, axis=0)
    other = graph.dtype != np.dtype(dtype)
    for name, value in found.items():
        outputs[name] = graph.cast(value, dtype) if other else value
    return outputs


def label_tensor(classes: Any, dtype: Any) -> Array:
    """Labels as ONNX has them: whole numbers (of True and False too), numbers, or text."""
    values = [label.item() if hasattr(label, "item") else label for label in classes]
    if all(isinstance(label, int) for label in values):
        return np.array(values, dtype=np.int64)
    if all(isinstance(label, (int, float)) for label in values):
        return np.array(values, dtype=dtype)
    return np.array([str(label) for label in values], dtype=object)


def numbers_for(program: Program, dtype: Any) -> np.dtype[Any]:
    """The type to compute in, such that the outputs have the digits of their own type.

    Where large weights cancel, numbers of seven digits lose too many. Examples and the points
    half-way between them show it.
    """
    dtype, double = np.dtype(dtype), np.dtype(np.float64)
    if dtype == double or not len(program.examples):
        return dtype
    X = tried_inputs(program).astype(dtype)
    with np.errstate(all="ignore"):
        short, exact = program.run(X, dtype), program.run(X.astype(double))
        limit: Any = _OF_PROBABILITY
        if "std" in exact:
            limit = _OF_STD * exact["std"]
        elif "mean" in exact:
            limit = _OF_STD * exact["mean"].std(axis=0)
        good = True
        for name, values in exact.items():
            # No result of the shorter type is nearer than its own rounding.
            rounding = np.finfo(dtype).eps * np.abs(values)
            good = good and bool(np.all(np.abs(short[name] - values) <= limit + rounding))
    return dtype if good else double
