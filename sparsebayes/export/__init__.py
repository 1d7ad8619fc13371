"""Models that leave Python: C for devices, ONNX for services, JSON for any language."""

from sparsebayes._support.homes import settle
from sparsebayes.export.c.source import to_c
from sparsebayes.export.exported import ExportedModel
from sparsebayes.export.formats import FORMATS
from sparsebayes.export.json import from_json, to_json
from sparsebayes.export.onnx.conversion import to_onnx
from sparsebayes.export.onnx.registration import register_onnx
from sparsebayes.export.programs.functions import NotExportableError

__all__ = [
    "FORMATS",
    "ExportedModel",
    "NotExportableError",
    "from_json",
    "register_onnx",
    "to_c",
    "to_json",
    "to_onnx",
]

settle(globals())
