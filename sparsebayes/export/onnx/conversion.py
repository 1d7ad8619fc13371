"""Fitted models as ONNX models."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from sparsebayes._support.optional import require
from sparsebayes._support.validation import check_choice, check_switches
from sparsebayes.classification import RVC
from sparsebayes.export.formats import PRECISIONS, Precision
from sparsebayes.export.onnx.graph import OnnxGraph
from sparsebayes.export.onnx.outputs import label_tensor, numbers_for, write_outputs
from sparsebayes.export.onnx.registration import (
    LOWEST_OPSET,
    convert_imputer,
    open_tensor,
    register_onnx,
)
from sparsebayes.export.programs.functions import NotExportableError
from sparsebayes.export.programs.models import WITHOUT_STEPS, one_pipeline, program_of
from sparsebayes.export.programs.program import Program
from sparsebayes.gp import ReducedRankGPR
from sparsebayes.regression import RVR

Array = np.ndarray

OPSET = 18
_DTYPES: dict[str, np.dtype[Any]] = {"float": np.dtype(np.float32), "double": np.dtype(np.float64)}
_INPUT = "X"


def to_onnx(
    model: Any,
    *,
    dtype: Precision = "float",
    std: bool = True,
    opset: int = OPSET,
    feature_names: Any = None,
    target_names: Any = None,
) -> Any:
    """Convert a fitted model to ONNX, for onnxruntime and others.

    The input is "X", (n, D), with n open. The outputs of a regression are "mean" and "std", (n, K)
    of K targets, the noise included; of a classification "label", (n,), and "probabilities",
    (n, K). Labels are text, or int64 (of True and False too), or of `dtype` if they are fractions.

    Parameters
    ----------
    model : RVR, RVC, ReducedRankGPR, Forecaster, Pipeline, search or ExportedModel
        A Forecaster with one autoregression. A Pipeline, GridSearchCV or RandomizedSearchCV that
        ends in a model of this package and whose other steps take numbers.
    dtype : "float" or "double", default="float"
        Of the input and the outputs, float32 or float64. Where float32 would lose digits, because
        large weights cancel, a graph of dtype "float" computes in float64 inside.
    std : bool, default=True
        Whether a regression gives "std" too.
    opset : int, default=18
        From 13 on. The model has the lowest IR version that the opset allows: 8 for opset 18.
        Tested with onnxruntime from 1.19 on.
    feature_names, target_names : sequence of str, default=None
        For the metadata. None takes those that the model knows, if any.

    Returns
    -------
    onnx.ModelProto
        ``model.SerializeToString()`` are the bytes of a file. ``metadata_props`` has "kind",
        "version", and as JSON "feature_names", "target_names" and "classes".

    Raises
    ------
    NotExportableError
        If a part of the model has no form in ONNX.

    See Also
    --------
    register_onnx : For skl2onnx's own converter.
    to_json : Steps and numbers, for any language.

    Notes
    -----
    Scalers, PCA, selections of features and a ColumnTransformer of these become a part of the graph
    of the model. Pipelines
    with other steps are converted by skl2onnx, in `dtype`, after :func:`register_onnx`.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from sparsebayes import RVR
    >>> from sparsebayes.export import to_onnx
    >>> X = np.linspace(-10, 10, 100, dtype=np.float32)[:, None]
    >>> model = RVR().fit(X, np.sinc(X[:, 0] / np.pi))
    >>> content = to_onnx(model).SerializeToString()
    >>> session = onnxruntime.InferenceSession(content)
    >>> mean, std = session.run(["mean", "std"], {"X": X})
    >>> bool(np.abs(mean[:, 0] - model.predict(X)).max() < 1e-5)
    True
    """
    check_choice("dtype", dtype, PRECISIONS)
    check_switches(std=std, verbose=0)
    onnx = require("onnx", "export.to_onnx")
    newest = onnx.defs.onnx_opset_version()
    whole = isinstance(opset, (int, np.integer)) and not isinstance(opset, bool)
    if not whole or not LOWEST_OPSET <= opset <= newest:
        raise ValueError(
            f"opset must be a whole number from {LOWEST_OPSET} to {newest}, the newest that onnx "
            f"{onnx.__version__} knows; got {opset!r}."
        )
    try:
        program = program_of(model, feature_names, target_names)
    except NotExportableError:
        model = one_pipeline(model)
        final = model[-1] if isinstance(model, Pipeline) else model
        if final is model or not isinstance(final, (RVR, RVC, ReducedRankGPR)):
            raise
        # Of the final model the program knows sizes and labels, of the names none.
        program = replace(
            program_of(final, target_names=target_names),
            feature_names=_feature_names(model, feature_names),
        )
        found = _by_skl2onnx(model, _DTYPES[dtype], bool(std), int(opset))
    else:
        found = _direct(program, _DTYPES[dtype], bool(std), int(opset))
    return _described(found, program)


def _feature_names(model: Any, given: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", []) if given is None else given
    names = [str(name) for name in names]
    if names and len(names) != model.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} name(s), but the model has {model.n_features_in_} "
            "input(s)."
        )
    return names


def _direct(program: Program, dtype: np.dtype[Any], std: bool, opset: int) -> Any:
    """The whole program as a graph."""
    from onnx import TensorProto, helper, numpy_helper

    if not program.is_classifier and not std:
        program = program.only("mean")
    graph = OnnxGraph(numbers_for(program, dtype))
    x = _INPUT if graph.dtype == dtype else graph.cast(_INPUT, graph.dtype)
    labels = None
    if program.is_classifier:
        classes = program.classes or range(program.size("probabilities"))
        labels = label_tensor(classes, dtype)
    outputs = write_outputs(graph, program, x, dtype, labels)
    kind, described = helper.np_dtype_to_tensor_dtype(dtype), []
    for name, value in outputs.items():
        graph.publish(value, name)
        if labels is not None and name == "label":
            text = labels.dtype == object
            code = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(labels.dtype)
            described.append(helper.make_tensor_value_info(name, code, ["n"]))
        else:
            info = helper.make_tensor_value_info(name, kind, ["n", program.size(name)])
            described.append(info)
    return helper.make_model(
        helper.make_graph(
            [
                helper.make_node(
                    node.operator, node.inputs, [node.output], node.output, **node.attributes
                )
                for node in graph.nodes
            ],
            program.kind or "model",
            [helper.make_tensor_value_info(_INPUT, kind, ["n", program.n_inputs])],
            described,
            [numpy_helper.from_array(values, name) for name, values in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
    )


def _by_skl2onnx(model: Any, dtype: np.dtype[Any], std: bool, opset: int) -> Any:
    """A Pipeline with steps that skl2onnx knows."""
    skl2onnx = require("skl2onnx", "export.to_onnx of this Pipeline")
    register_onnx()
    try:
        return _converted(skl2onnx, model, dtype, std, opset)
    except RuntimeError as error:  # what skl2onnx does not know is one, or derived from it
        told = " ".join(str(error).split())[:300]
        raise NotExportableError(
            f"skl2onnx cannot convert {' '.join(repr(model).split())}: {told.rstrip('.')}. It "
            "takes columns of numbers, which a ColumnTransformer must name by position. "
            f"{WITHOUT_STEPS}"
        ) from error


def _converted(skl2onnx: Any, model: Any, dtype: np.dtype[Any], std: bool, opset: int) -> Any:
    return skl2onnx.convert_sklearn(
        model,
        name=type(model).__name__,
        initial_types=[(_INPUT, open_tensor(dtype, None, model.n_features_in_))],
        options={
            RVR: {"return_std": std},
            ReducedRankGPR: {"return_std": std},
            RVC: {"zipmap": False},
        },
        custom_conversion_functions={SimpleImputer: convert_imputer},
        target_opset=opset,
    )


def _described(found: Any, program: Program) -> Any:
    """With names, versions, and the lowest IR version."""
    from onnx import helper

    version = import_module(__name__.partition(".")[0]).__version__
    found.producer_name, found.producer_version = "sparsebayes", version
    found.ir_version = helper.find_min_ir_version_for(found.opset_import)
    found.doc_string = f"{program.kind}, written by sparsebayes {version}"
    lists = {
        "feature_names": program.feature_names,
        "target_names": program.target_names,
        "classes": label_tensor(program.classes, float).tolist(),
    }
    record = {"kind": program.kind, "version": version}
    record |= {name: json.dumps(one, ensure_ascii=False) for name, one in lists.items() if one}
    helper.set_model_props(found, record)
    return found
