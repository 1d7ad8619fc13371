"""Models as ONNX graphs: operations as nodes, and converters for skl2onnx."""
