"""Converters for skl2onnx: its pipelines may then end in the models of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsebayes._support.optional import require
from sparsebayes.classification import RVC
from sparsebayes.export.onnx.graph import OnnxGraph
from sparsebayes.export.onnx.outputs import label_tensor, numbers_for, write_outputs
from sparsebayes.export.programs.functions import NotExportableError
from sparsebayes.export.programs.models import program_of
from sparsebayes.gp import ReducedRankGPR
from sparsebayes.regression import RVR

LOWEST_OPSET = 13  # sums and shapes with axes as inputs


def register_onnx() -> None:
    """Make `RVR`, `RVC` and `ReducedRankGPR` known to skl2onnx.

    Afterwards ``skl2onnx.to_onnx`` converts them, alone or in a Pipeline, ColumnTransformer,
    GridSearchCV and so on. `RVR` and `ReducedRankGPR` have the option ``return_std``; `RVC` those
    of scikit-learn's classifiers, ``zipmap``, ``nocl`` and ``output_class_labels``. The opset must
    be 13 or later. :func:`to_onnx` calls this itself; to call it again does no harm.

    See Also
    --------
    to_onnx : Converts a model without skl2onnx, where it can.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from sparsebayes import RVR
    >>> from sparsebayes.export import register_onnx
    >>> register_onnx()
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> y = X[:, 0] ** 2 + 0.1 * np.sin(50 * X[:, 0])
    >>> model = make_pipeline(PolynomialFeatures(3, include_bias=False), RVR("linear")).fit(X, y)
    >>> graph = to_onnx(model, X[:1].astype(np.float32), options={RVR: {"return_std": True}},
    ...                 target_opset=18).graph
    >>> [output.name for output in graph.output]
    ['mean', 'std']
    """
    update = require("skl2onnx", "export.register_onnx").update_registered_converter
    for kind in (RVR, ReducedRankGPR):
        update(
            kind,
            f"Sparsebayes{kind.__name__}",
            _regressor_shapes,
            _convert,
            parser=_parse_regressor,
            options={"return_std": [True, False]},
        )
    update(
        RVC,
        "SparsebayesRVC",
        _classifier_shapes,
        _convert,
        options={
            "zipmap": [True, False, "columns"],
            "nocl": [True, False],
            "output_class_labels": [True, False],
        },
    )


def open_tensor(dtype: np.dtype[Any], *shape: int | None) -> Any:
    """skl2onnx's type of a tensor of floats, doubles, whole numbers, or text."""
    from skl2onnx.common import data_types

    kinds = {"f4": data_types.FloatTensorType, "f8": data_types.DoubleTensorType,
             "i8": data_types.Int64TensorType}  # fmt: skip
    return kinds.get(dtype.str[1:], data_types.StringTensorType)(list(shape))


def _number_type(operator: Any) -> np.dtype[Any]:
    """Of the outputs: double for double, else float."""
    from skl2onnx.common.data_types import DoubleTensorType

    double = any(isinstance(one.type, DoubleTensorType) for one in operator.inputs)
    return np.dtype(np.float64 if double else np.float32)


def _parse_regressor(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """The operator with its outputs, one or two by the option."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import guess_tensor_type

    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs = inputs
    std = scope.get_options(model, {"return_std": False})["return_std"]
    for name in ("mean", "std") if std else ("mean",):
        kind = guess_tensor_type(inputs[0].type)
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _rows(operator: Any) -> Any:
    return operator.inputs[0].get_first_dimension()


def _regressor_shapes(operator: Any) -> None:
    size = program_of(operator.raw_operator).size("mean")
    for output in operator.outputs:
        output.type = open_tensor(_number_type(operator), _rows(operator), size)


def _labels(operator: Any, scope: Any) -> np.ndarray:
    from skl2onnx.common.utils_classifier import get_label_classes

    return label_tensor(get_label_classes(scope, operator.raw_operator), _number_type(operator))


def _classifier_shapes(operator: Any) -> None:
    labels, dtype = _labels(operator, operator.scope_inst), _number_type(operator)
    operator.outputs[0].type = open_tensor(labels.dtype, _rows(operator))
    operator.outputs[1].type = open_tensor(dtype, _rows(operator), labels.size)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the nodes of the model of an operator."""
    opset = container.target_opset
    if opset < LOWEST_OPSET:
        raise ValueError(f"target_opset must be {LOWEST_OPSET} or later, got {opset}.")
    model, outputs = operator.raw_operator, operator.outputs
    names = ("label", "probabilities") if isinstance(model, RVC) else ("mean", "std")
    program = program_of(model)
    program = program.only(*(name for name in names[: len(outputs)] if name != "label"))
    dtype = _number_type(operator)
    graph = OnnxGraph(numbers_for(program, dtype))
    x = _input(graph, operator)
    labels = _labels(operator, scope) if program.is_classifier else None
    found = write_outputs(graph, program, x, dtype, labels)
    for name, output in zip(names, outputs, strict=False):
        graph.publish(found[name], output.full_name)
    _add(graph, scope, container, {one.full_name for one in (*operator.inputs, *outputs)}, opset)


def _input(graph: OnnxGraph, operator: Any) -> str:
    """The inputs of an operator in the type of the graph, as one tensor."""
    graph.name_after("inputs")
    given = [graph.cast(one.full_name, graph.dtype) for one in operator.inputs]
    return given[0] if len(given) == 1 else graph.add("Concat", *given, axis=1)


def convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Write the nodes of a SimpleImputer: onnxruntime has no Imputer for double."""
    imputer, dtype = operator.raw_operator, _number_type(operator)
    gap = imputer.missing_values
    if imputer.add_indicator or not isinstance(gap, (int, float, np.number)):
        raise NotExportableError(
            f"{imputer} cannot be exported: SimpleImputer may have add_indicator=False and numbers."
        )
    graph = OnnxGraph(dtype)
    x, fills = _input(graph, operator), np.asarray(imputer.statistics_, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(fills))  # columns without any number are left out
    if kept.size < fills.size:
        x = graph.add("Gather", x, graph.whole(kept), axis=1)
    missing = graph.add("IsNaN", x) if np.isnan(gap) else graph.add("Equal", x, float(gap))
    filled = graph.add("Where", missing, fills[kept], x)
    graph.publish(filled, operator.outputs[0].full_name)
    outer = {one.full_name for one in (*operator.inputs, *operator.outputs)}
    _add(graph, scope, container, outer, container.target_opset)


def _add(graph: OnnxGraph, scope: Any, container: Any, outer: set[str], opset: int) -> None:
    """Nodes and constants into a container, under names that are free there."""
    from onnx import TensorProto, numpy_helper

    own = {name: name for name in outer}
    for name, values in graph.constants.items():
        own[name] = scope.get_unique_variable_name(name)
        if values.dtype == object:
            text = [label.encode() for label in values]
            container.add_initializer(own[name], TensorProto.STRING, list(values.shape), text)
        else:
            tensor = numpy_helper.from_array(np.ascontiguousarray(values))
            container.add_initializer(own[name], tensor.data_type, list(values.shape), tensor)
    for node in graph.nodes:
        if node.output not in outer:
            own[node.output] = scope.get_unique_variable_name(node.output)
        container.add_node(
            node.operator,
            [own[name] for name in node.inputs],
            [own[node.output]],
            op_version=opset,
            name=scope.get_unique_operator_name(node.operator),
            **node.attributes,
        )
