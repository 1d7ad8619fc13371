"""Packages that are not needed by everybody: imported where used, or an error with the remedy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# The extra of this package that brings a package.
_EXTRAS = {
    "arviz": "sampling",
    "dask": "dask",
    "imagecodecs": "images",
    "matplotlib": "plots",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "openpyxl": "excel",
    "pandas": "pandas",
    "pyarrow": "parquet",
    "pymoo": "pareto",
    "scoringrules": "scores",
    "shtab": "completion",
    "skl2onnx": "onnx",
    "skops": "persistence",
    "skpro": "sktime",
    "sktime": "sktime",
    "soundfile": "sound",
    "tifffile": "images",
}


def require(module: str, caller: str) -> Any:
    """The module, or an ImportError that says who needs it and which extra brings it."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        extra = f'pip install "sparsebayes[{_EXTRAS[package]}]"'
        raise ImportError(f"{caller} needs {package}: {extra}") from error
