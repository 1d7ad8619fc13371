"""What a model can be written as."""

FORMATS = ("c", "onnx", "json")
