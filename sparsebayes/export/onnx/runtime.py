"""ONNX models in onnxruntime, to see what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsebayes._support.optional import require

Array = np.ndarray

_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}


def run_onnx(model: Any, X: Array, outputs: Sequence[str]) -> dict[str, Array]:
    """Outputs of an ONNX model at the rows of X, in the type that it takes.

    Parameters
    ----------
    model : onnx.ModelProto
    X : ndarray, (n, D)
    outputs : sequence of str
    """
    runtime = require("onnxruntime", "a comparison with ONNX")
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors only
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (given,) = session.get_inputs()
    found = session.run(list(outputs), {given.name: X.astype(_TYPES[given.type])})
    return dict(zip(outputs, found, strict=True))
