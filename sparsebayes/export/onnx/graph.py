"""Nodes and constants of an ONNX graph, before there is a model that holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class OnnxNode:
    """An operator of ONNX with its inputs, its one output and its attributes."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


class OnnxGraph:
    """A graph that grows node by node, its numbers all of one type.

    The nodes are those of opset 13 that did not change their form since.

    Parameters
    ----------
    dtype : float32 or float64

    Attributes
    ----------
    nodes : list of OnnxNode
    constants : dict of str to ndarray
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.nodes: list[OnnxNode] = []
        self.constants: dict[str, Array] = {}
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._prefix = "value"

    def name_after(self, step: str) -> None:
        """Nodes that follow are named after a step of the program."""
        self._prefix = step

    def add(self, operator: str, *inputs: str | float | Array, **attributes: Any) -> str:
        """One more node, and the name of its output; numbers become constants."""
        names = tuple(one if isinstance(one, str) else self.numbers(one) for one in inputs)
        output = f"{self._prefix}.{len(self.nodes)}"
        self.nodes.append(OnnxNode(operator, names, output, attributes))
        return output

    def numbers(self, values: Any) -> str:
        """A constant in the type of the graph."""
        return self.tensor(np.asarray(values, dtype=self.dtype))

    def whole(self, values: Any) -> str:
        """A constant of whole numbers: axes, shapes, indices."""
        return self.tensor(np.asarray(values, dtype=np.int64))

    def tensor(self, values: Array) -> str:
        """A constant as it is; the same numbers are kept once."""
        key = values.dtype.str, values.shape, values.tobytes()
        if values.dtype == object:
            key = key[0], key[1], repr(values.tolist()).encode()
        if key not in self._known:
            name = f"constant.{len(self.constants)}"
            self.constants[name], self._known[key] = values, name
        return self._known[key]

    def publish(self, value: str, name: str) -> None:
        """Give a value under a name of its own."""
        self.nodes.append(OnnxNode("Identity", (value,), name, {}))

    def cast(self, value: str, dtype: Any) -> str:
        """The value in another type."""
        return self.add("Cast", value, to=TYPES[np.dtype(dtype)])

    def slice(self, value: str, start: int, stop: int, axis: int) -> str:
        """A part of a value along one axis."""
        return self.add("Slice", value, self.whole([start]), self.whole([stop]), self.whole([axis]))

    def sum(self, value: str, axis: int, keepdims: bool = False) -> str:
        return self.add("ReduceSum", value, self.whole([axis]), keepdims=int(keepdims))

    def product(self, value: str, size: int, axis: int) -> str:
        """The product along an axis of so many entries, which remains with one."""
        while size > 1:
            half, odd = divmod(size, 2)
            value, rest = (
                self.add(
                    "Mul",
                    self.slice(value, 0, half, axis),
                    self.slice(value, half, 2 * half, axis),
                ),
                self.slice(value, size - 1, size, axis) if odd else "",
            )
            if odd:
                value = self.add("Concat", value, rest, axis=axis)
            size = half + odd
        return value


# Numbers of types in ONNX (TensorProto.DataType).
TYPES = {np.dtype(np.float32): 1, np.dtype(np.int64): 7, np.dtype(np.float64): 11}
