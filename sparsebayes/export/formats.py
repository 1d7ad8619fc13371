"""What a model can be written as, and in which precision."""

from typing import Literal, get_args

FormatName = Literal["c", "onnx", "json"]
Precision = Literal["double", "float"]
FORMATS: tuple[str, ...] = get_args(FormatName)
PRECISIONS: tuple[str, ...] = get_args(Precision)
