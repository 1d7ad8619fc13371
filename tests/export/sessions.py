"""Graphs in onnxruntime."""

import onnx
import onnxruntime

from sparsebayes.export import to_onnx

DTYPES = {"float": "float32", "double": "float64"}


def session_of(graph):
    """A session of a checked graph; what onnxruntime says beside errors is not wanted."""
    onnx.checker.check_model(graph, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(graph, X):
    """The outputs by name."""
    session = session_of(graph)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


def exported(model, X, dtype="float", **options):
    """The outputs of an exported model by name."""
    return run(to_onnx(model, dtype=dtype, **options), X.astype(DTYPES[dtype]))
